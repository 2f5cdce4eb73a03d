//! The plots of a run.

use super::chart::{Axis, Bars, Chart, Content, Event, Figure, Line, Marks, Name, Part, Scaling, Unit};
use super::scale::in_words;
use super::style::{Style, styles_of};
use crate::report::files::{ReportError, RunFiles};
use crate::report::rows::{Bump, Delays, OfStrategy, Records, Summary, Timeline};
use std::collections::{BTreeMap, BTreeSet};

macro_rules! name {
    ($name:literal) => {
        Name { name: $name, svg: concat!("plots/", $name, ".svg"), png: concat!("plots/", $name, ".png") }
    };
}

/// More parts of a bar than that are added up.
const PARTS: usize = 8;

/// What all plots of a run have in common: the first seed of it.
struct Run<'r> {
    files: &'r RunFiles<'r>,
    strategies: Vec<String>,
    styles: Vec<Style>,
    seed: u64,
    until_ms: f64,
    subtitle: String,
    timeline: Vec<Timeline>,
    bumps: Vec<Bump>,
}

/// The plots of a run, those too of which there is nothing to show.
///
/// # Errors
/// If the files do not have what `run.json` says, so that a picture would lack something.
pub fn figures(files: &RunFiles<'_>) -> Result<Vec<Figure>, ReportError> {
    let run = Run::new(files)?;
    Ok(vec![
        run.appended()?,
        run.log()?,
        run.bumps()?,
        run.causes()?,
        run.delays()?,
        run.records()?,
        run.cpu()?,
        run.cpu_per_refresh()?,
    ])
}

impl<'r> Run<'r> {
    fn new(files: &'r RunFiles<'r>) -> Result<Run<'r>, ReportError> {
        let (strategies, seeds) = (files.strategies(), files.seeds());
        let Some(&seed) = seeds.first() else { return Err(files.missing("run.json", "no seeds")) };
        let of_seeds = if seeds.len() > 1 { format!(" (the first of {})", seeds.len()) } else { String::new() };
        let subtitle =
            format!("{}, Kafka {}, seed {seed}{of_seeds}", files.said("/scenario/name"), files.said("/kafka"));
        Ok(Run {
            styles: styles_of(&strategies),
            timeline: of_seed(files.rows("timeline.csv")?, seed),
            bumps: of_seed(files.rows("bumps.csv")?, seed),
            until_ms: files.until_ms() as f64,
            files,
            strategies,
            seed,
            subtitle,
        })
    }

    /// The rows of a strategy: at least one.
    fn rows_of<'t, T: OfStrategy>(&self, file: &str, rows: &'t [T], strategy: &str) -> Result<Vec<&'t T>, ReportError> {
        let own: Vec<&T> = rows.iter().filter(|row| row.strategy() == strategy).collect();
        if own.is_empty() {
            let what = format!("no row of strategy {strategy} and seed {}, which run.json names", self.seed);
            return Err(self.files.missing(file, what));
        }
        Ok(own)
    }

    fn time(&self) -> Axis {
        axis("time since the start", Unit::Ms)
    }

    fn figure(&self, name: Name, title: &str, source: &'static str, content: Result<Chart, &str>) -> Figure {
        let content = match content {
            Ok(chart) => Content::Chart(Box::new(chart)),
            Err(why) => Content::Nothing(why.to_owned()),
        };
        Figure { name, title: title.to_owned(), source, content }
    }

    /// A line for each strategy, with what its legend says of the last value.
    fn lines(
        &self,
        mut points: impl FnMut(&str) -> Result<Vec<(f64, f64)>, ReportError>,
        unit: Unit,
    ) -> Result<Vec<Line>, ReportError> {
        let mut lines = Vec::new();
        for (name, &style) in self.strategies.iter().zip(&self.styles) {
            let points = points(name)?;
            let note = points.last().map_or(String::new(), |last| format!(" ({})", in_words(unit, last.1)));
            lines.push(Line { name: name.clone(), note, style, steps: true, points });
        }
        Ok(lines)
    }

    /// Sums of a column over time: what a bucket counts is there at its end.
    fn sums(&self, value: fn(&Timeline) -> u64, unit: Unit) -> Result<Vec<Line>, ReportError> {
        self.lines(
            |strategy| {
                let rows = self.rows_of("timeline.csv", &self.timeline, strategy)?;
                let mut sum = 0;
                let mut points = vec![(0.0, 0.0)];
                for (row, end_ms) in rows.iter().zip(self.ends(&rows)) {
                    sum += value(row);
                    points.push((end_ms, sum as f64));
                }
                Ok(points)
            },
            unit,
        )
        .map(|lines| lines.into_iter().map(|line| Line { steps: false, ..line }).collect())
    }

    /// Where buckets end.
    fn ends(&self, rows: &[&Timeline]) -> Vec<f64> {
        let next = rows.iter().skip(1).map(|row| row.time_ms as f64);
        next.chain([self.until_ms]).collect()
    }

    fn over_time(&self, label: &str, unit: Unit, lines: Vec<Line>) -> Chart {
        Chart {
            subtitle: self.subtitle.clone(),
            x: self.time(),
            y: axis(label, unit),
            marks: Marks::Lines(lines),
            events: self.events(),
        }
    }

    fn appended(&self) -> Result<Figure, ReportError> {
        let lines = self.sums(|row| row.appended_bytes, Unit::Bytes)?;
        let nothing = "no strategy appended anything";
        let chart =
            if is_flat(&lines) { Err(nothing) } else { Ok(self.over_time("bytes appended", Unit::Bytes, lines)) };
        let source = "timeline.csv: appended_bytes, added up over time";
        Ok(self.figure(name!("appended"), "Bytes appended to __consumer_offsets", source, chart))
    }

    fn log(&self) -> Result<Figure, ReportError> {
        let lines = self.lines(
            |strategy| {
                let rows = self.rows_of("timeline.csv", &self.timeline, strategy)?;
                let ends = self.ends(&rows);
                let held = rows.iter().zip(ends).map(|(row, end_ms)| (end_ms, row.log_bytes as f64));
                Ok([(0.0, 0.0)].into_iter().chain(held).collect())
            },
            Unit::Bytes,
        )?;
        let lines: Vec<Line> = lines.into_iter().map(|line| Line { steps: false, ..line }).collect();
        let nothing = "the logs are empty all the time";
        let chart =
            if is_flat(&lines) { Err(nothing) } else { Ok(self.over_time("bytes in the logs", Unit::Bytes, lines)) };
        Ok(self.figure(name!("log"), "Bytes that the logs hold", "timeline.csv: log_bytes", chart))
    }

    fn bumps(&self) -> Result<Figure, ReportError> {
        // That each has rows is known from the timeline: a strategy may have no bump.
        let lines = self.lines(
            |strategy| {
                let expected = self.rows_of("timeline.csv", &self.timeline, strategy)?;
                let expected: u64 = expected.iter().map(|row| row.epoch_bumps).sum();
                let own: Vec<&Bump> = self.bumps.iter().filter(|bump| bump.strategy == strategy).collect();
                if own.len() as u64 != expected {
                    let what = format!("{} rows of strategy {strategy}; timeline.csv counts {expected}", own.len());
                    return Err(self.files.missing("bumps.csv", what));
                }
                let counted = own.iter().zip(1..).map(|(bump, count)| (bump.time_ms as f64, f64::from(count)));
                let end = (self.until_ms, own.len() as f64);
                Ok([(0.0, 0.0)].into_iter().chain(counted).chain([end]).collect())
            },
            Unit::Count,
        )?;
        let nothing = "no group's epoch was bumped";
        let chart = if is_flat(&lines) { Err(nothing) } else { Ok(self.over_time("epoch bumps", Unit::Count, lines)) };
        let source = "bumps.csv: its rows, counted by time_ms; dotted: images whose changes bumped groups (event)";
        Ok(self.figure(name!("bumps"), "Epoch bumps", source, chart))
    }

    fn causes(&self) -> Result<Figure, ReportError> {
        let mut counts: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        let bars = self.strategies.len();
        for bump in &self.bumps {
            let Some(bar) = self.strategies.iter().position(|name| *name == bump.strategy) else { continue };
            let values = counts.entry(cause_of(bump)).or_insert_with(|| vec![Some(0.0); bars]);
            values.get_mut(bar).into_iter().flatten().for_each(|value| *value += 1.0);
        }
        let chart = if counts.is_empty() {
            Err("no group's epoch was bumped")
        } else {
            Ok(self.bars("epoch bumps", Unit::Count, counts))
        };
        let source = "bumps.csv: its rows, counted by cause, those of refreshes by field";
        Ok(self.figure(name!("causes"), "Why epochs were bumped", source, chart))
    }

    /// Bars with parts, the largest first; those that are too many are added up.
    fn bars(&self, label: &str, unit: Unit, counts: BTreeMap<String, Vec<Option<f64>>>) -> Chart {
        let total = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>();
        let mut parts: Vec<Part> = counts.into_iter().map(|(name, values)| Part { name, values }).collect();
        parts.sort_by(|a, b| total(&b.values).total_cmp(&total(&a.values)));
        if parts.len() > PARTS {
            let others = parts.split_off(PARTS - 1);
            let sum = |bar: usize| Some(others.iter().filter_map(|part| part.values.get(bar).copied().flatten()).sum());
            let values = (0..self.strategies.len()).map(sum).collect();
            parts.push(Part { name: format!("{} others", others.len()), values });
        }
        Chart {
            subtitle: self.subtitle.clone(),
            x: axis(label, unit),
            y: axis("strategy", Unit::Count),
            marks: Marks::Bars(Bars { bars: self.strategies.clone(), parts }),
            events: Vec::new(),
        }
    }

    fn delays(&self) -> Result<Figure, ReportError> {
        let counted: Vec<Delays> = of_seed(self.files.rows("delays.csv")?, self.seed);
        let mut lines = Vec::new();
        for (name, &style) in self.strategies.iter().zip(&self.styles) {
            let changes: u64 = self.rows_of("delays.csv", &counted, name)?.iter().map(|row| row.changes).sum();
            let own = self.bumps.iter().filter(|bump| bump.strategy == *name);
            let mut delays: Vec<i64> = own.filter_map(|bump| bump.delay_ms).collect();
            delays.sort_unstable();
            if delays.is_empty() != (changes == 0) {
                let what = format!("no delay_ms of strategy {name}; delays.csv counts {changes} changes");
                return Err(self.files.missing("bumps.csv", what));
            }
            let part = |index: usize| 100.0 * index as f64 / delays.len().max(1) as f64;
            let steps = delays.iter().enumerate().map(|(index, delay)| (*delay as f64, part(index + 1)));
            let points: Vec<(f64, f64)> = match delays.is_empty() {
                true => Vec::new(),
                false => [(0.0, 0.0)].into_iter().chain(steps).collect(),
            };
            let note = match delays.len() {
                0 => " (found no change)".to_owned(),
                found => format!(" ({found})"),
            };
            lines.push(Line { name: name.clone(), note, style, steps: true, points });
        }
        // A line goes on to the longest delay of all: by then its strategy has found all that it finds.
        let longest = lines.iter().filter_map(|line| line.points.last()).map(|last| last.0).fold(0.0, f64::max);
        for line in lines.iter_mut().filter(|line| !line.points.is_empty()) {
            line.points.push((longest, 100.0));
        }
        let chart = Chart {
            subtitle: self.subtitle.clone(),
            x: axis("delay from the change to the bump", Unit::Ms),
            y: axis("bumps with at most that delay", Unit::Percent),
            marks: Marks::Lines(lines.clone()),
            events: Vec::new(),
        };
        let chart = if lines.iter().all(|line| line.points.is_empty()) {
            Err("no bump was for a change of a topic")
        } else {
            Ok(chart)
        };
        let source = "bumps.csv: delay_ms, sorted; in brackets the number of bumps that found a change";
        Ok(self.figure(name!("delays"), "How soon changes of topics are found", source, chart))
    }

    fn records(&self) -> Result<Figure, ReportError> {
        let rows: Vec<Records> = of_seed(self.files.rows("records.csv")?, self.seed);
        let mut bytes: BTreeMap<String, Vec<Option<f64>>> = BTreeMap::new();
        for (bar, name) in self.strategies.iter().enumerate() {
            let own = self.rows_of("records.csv", &rows, name)?;
            let of_first = rows.iter().filter(|row| Some(&row.strategy) == self.strategies.first()).count();
            if own.len() != of_first {
                let what = format!("{} record types of strategy {name}, {of_first} of the first one", own.len());
                return Err(self.files.missing("records.csv", what));
            }
            for row in own {
                if row.batch_bytes > 0 {
                    let values = bytes.entry(row.record_type.clone()).or_default();
                    values.resize(self.strategies.len(), Some(0.0));
                    values[bar] = Some(row.batch_bytes as f64);
                }
            }
        }
        let chart = if bytes.is_empty() {
            Err("no records were written")
        } else {
            Ok(self.bars("bytes of records in their batches", Unit::Bytes, bytes))
        };
        Ok(self.figure(name!("records"), "Bytes appended by record type", "records.csv: batch_bytes", chart))
    }

    fn cpu(&self) -> Result<Figure, ReportError> {
        let is_known = !self.timeline.is_empty() && self.timeline.iter().all(|row| row.cpu_model_ns.is_some());
        let chart = match is_known {
            true => {
                let lines = self.sums(|row| row.cpu_model_ns.unwrap_or(0), Unit::Ns)?;
                Ok(self.over_time("CPU time (model)", Unit::Ns, lines))
            }
            false => Err("this run has no CPU figures: cpu_model_ns is empty"),
        };
        let source = "timeline.csv: cpu_model_ns, added up over time";
        Ok(self.figure(name!("cpu"), "CPU time of coordinators", source, chart))
    }

    fn cpu_per_refresh(&self) -> Result<Figure, ReportError> {
        let rows: Vec<Summary> = of_seed(self.files.rows("summary.csv")?, self.seed);
        let mut values = Vec::new();
        for name in &self.strategies {
            let rows = self.rows_of("summary.csv", &rows, name)?;
            let each =
                |row: &&Summary| Some(row.cpu_model_ns? as f64 / row.refreshes as f64).filter(|ns| ns.is_finite());
            values.push(rows.first().and_then(each));
        }
        let parts = BTreeMap::from([("CPU time per refresh".to_owned(), values.clone())]);
        let chart = match values.iter().any(Option::is_some) {
            true => Ok(self.bars("CPU time per refresh (model)", Unit::Ns, parts)),
            false => Err("this run has no CPU figures, or no refreshes: cpu_model_ns or refreshes are empty"),
        };
        let source = "summary.csv: cpu_model_ns divided by refreshes";
        Ok(self.figure(name!("cpu-per-refresh"), "CPU time for each refresh", source, chart))
    }

    /// The images whose changes made some strategy bump: when they came, and their words.
    fn events(&self) -> Vec<Event> {
        let images: BTreeSet<(i64, &str)> = self.bumps.iter().filter_map(image_of).collect();
        images.into_iter().map(|(at, label)| Event { at: at as f64, label: label.to_owned() }).collect()
    }
}

/// When the image came that brought what was found, and its word.
fn image_of(bump: &Bump) -> Option<(i64, &str)> {
    Some((bump.time_ms - bump.delay_ms?, bump.event.as_str()))
}

/// Why a group was bumped, in a word or two.
fn cause_of(bump: &Bump) -> String {
    let first = |words: &str| words.split(';').next().unwrap_or_default().to_owned();
    let is_refresh = bump.cause.split(';').any(|cause| cause == "refresh");
    if is_refresh && !bump.field.is_empty() { format!("topic {}", first(&bump.field)) } else { first(&bump.cause) }
}

fn is_flat(lines: &[Line]) -> bool {
    lines.iter().all(|line| line.points.iter().all(|point| point.1 == 0.0))
}

fn axis(label: &str, unit: Unit) -> Axis {
    Axis { label: label.to_owned(), unit, scaling: Scaling::Linear }
}

fn of_seed<T: OfStrategy>(rows: Vec<T>, seed: u64) -> Vec<T> {
    rows.into_iter().filter(|row| row.seed() == seed).collect()
}
