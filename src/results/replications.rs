//! What many seeds say together: the mean of each metric with its confidence interval, and that of the difference between
//! strategies, paired by seed, since both have seen the same history.

use super::statistics::{CONFIDENCE, Sample, student_t};
use super::tables::{csv_bytes, summary_file, timeline_file};
use super::{OutputFile, RunResults};
use crate::kernel::TimeMs;

/// The strategy that others are compared with, if it is there; else the first one is.
const REFERENCE: &str = "cached-hash";
/// The columns of tables before their figures.
const KEYS: [&str; 5] = ["scenario", "seed", "strategy", "kafka", "time_ms"];
/// The figures of a bucket of time that are sums of what happened in it: a warm-up can be left out of them.
pub const SUMS: [&str; 5] = ["heartbeats", "refreshes", "epoch_bumps", "appended_bytes", "topic_hashes"];

const REPLICATIONS: &str = "scenario,strategy,metric,seeds,mean,sd,low,high,min,max";
const DIFFERENCES: &str =
    "scenario,strategy,reference,metric,seeds,mean,sd,low,high,unpaired_low,unpaired_high,narrowing";

/// The figures of some seeds.
#[derive(Debug)]
pub struct Replications {
    scenario: String,
    seeds: usize,
    warm_up_ms: Option<TimeMs>,
    strategies: Vec<String>,
    metrics: Vec<Metric>,
}

#[derive(Debug)]
struct Metric {
    name: String,
    /// By strategy, then by seed; `None` is not known.
    values: Vec<Vec<Option<i64>>>,
}

/// A pair of strategies.
struct Difference {
    paired: Sample,
    /// The samples of both by themselves.
    alone: [Sample; 2],
}

impl Replications {
    /// Of no seed yet. With a warm-up, the metrics are the sums of `timeline.csv` from then on, else the integers of
    /// `summary.csv`.
    pub fn new(warm_up_ms: Option<TimeMs>) -> Replications {
        Replications { scenario: String::new(), seeds: 0, warm_up_ms, strategies: Vec::new(), metrics: Vec::new() }
    }

    /// Adds a seed.
    ///
    /// # Errors
    /// Only if rows and columns do not fit together, which tests rule out.
    pub fn add(&mut self, run: &RunResults) -> csv::Result<()> {
        self.scenario.clone_from(&run.scenario);
        self.strategies = run.strategies.iter().map(|(strategy, _)| strategy.name.clone()).collect();
        let runs = std::slice::from_ref(run);
        let file = if self.warm_up_ms.is_some() { timeline_file(runs)? } else { summary_file(runs)? };
        self.add_table(&file.bytes)
    }

    /// How many seeds.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    fn add_table(&mut self, bytes: &[u8]) -> csv::Result<()> {
        let seed = self.seeds;
        self.seeds += 1;
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers()?.clone();
        let time = header.iter().position(|name| name == "time_ms");
        for row in reader.records() {
            let row = row?;
            let number = |at: usize| row.get(at).and_then(|cell| cell.parse::<i64>().ok());
            if time.and_then(number).zip(self.warm_up_ms).is_some_and(|(time_ms, warm_up_ms)| time_ms < warm_up_ms) {
                continue;
            }
            let strategy = header.iter().zip(&row).find(|(name, _)| *name == "strategy").map(|(_, cell)| cell);
            let Some(strategy) = self.strategies.iter().position(|name| Some(name.as_str()) == strategy) else {
                continue;
            };
            for (at, name) in header.iter().enumerate() {
                if KEYS.contains(&name) || (time.is_some() && !SUMS.contains(&name)) {
                    continue;
                }
                let value = number(at);
                let place = self.place(name, strategy, seed);
                *place = place.map_or(value, |sum| value.map(|value| sum + value));
            }
        }
        Ok(())
    }

    /// Where a value is kept.
    fn place(&mut self, name: &str, strategy: usize, seed: usize) -> &mut Option<i64> {
        let known = self.metrics.iter().position(|metric| metric.name == name);
        let metric = known.unwrap_or_else(|| {
            let values = vec![Vec::new(); self.strategies.len()];
            self.metrics.push(Metric { name: name.to_owned(), values });
            self.metrics.len() - 1
        });
        let values = &mut self.metrics[metric].values[strategy];
        if values.len() <= seed {
            values.resize(seed + 1, None);
        }
        &mut values[seed]
    }

    /// Whether the interval of a metric is at most that part of the mean to each side, for every strategy; `None` if there is no
    /// such metric.
    pub fn is_precise(&self, metric: &str, relative: f64) -> Option<bool> {
        let metric = self.metrics.iter().find(|known| known.name == metric)?;
        Some(metric.values.iter().map(|values| sample(values)).all(|sample| sample.is_precise(relative)))
    }

    /// The names of the metrics.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|metric| metric.name.as_str())
    }

    /// A metric of each strategy in words: its name, the mean with half its interval, the difference to the reference paired, and
    /// half the interval as if it were not. Empty if there is no such metric.
    pub fn in_words(&self, metric: &str) -> Vec<[String; 4]> {
        let reference = self.reference();
        let Some(metric) = self.metrics.iter().find(|known| known.name == metric) else { return Vec::new() };
        let around =
            |mean: f64, half: Option<f64>| half.map_or_else(String::new, |half| format!("{mean:.1} ± {half:.1}"));
        let row = |(at, strategy): (usize, &String)| {
            let sample = sample(&metric.values[at]);
            let difference = metric.difference(at, reference).filter(|_| at != reference);
            let paired = difference.as_ref().map(|both| around(both.paired.mean(), both.paired.half_width()));
            let unpaired = difference.as_ref().and_then(Difference::unpaired).map(|half| format!("± {half:.1}"));
            let (paired, unpaired) = (paired.unwrap_or_default(), unpaired.unwrap_or_default());
            let mean = around(sample.mean(), sample.half_width());
            [strategy.clone(), mean, paired, unpaired]
        };
        self.strategies.iter().enumerate().map(row).collect()
    }

    /// The strategy that others are compared with, if any was run.
    pub fn reference_name(&self) -> Option<&str> {
        self.strategies.get(self.reference()).map(String::as_str)
    }

    fn reference(&self) -> usize {
        self.strategies.iter().position(|name| name == REFERENCE).unwrap_or(0)
    }

    /// `replications.csv` and `differences.csv`.
    ///
    /// # Errors
    /// None that can happen: memory is written to.
    pub fn files(&self) -> csv::Result<Vec<OutputFile>> {
        let mut means = csv::Writer::from_writer(Vec::new());
        let mut differences = csv::Writer::from_writer(Vec::new());
        means.write_record(REPLICATIONS.split(','))?;
        differences.write_record(DIFFERENCES.split(','))?;
        let reference = self.reference();
        for (at, strategy) in self.strategies.iter().enumerate() {
            for metric in &self.metrics {
                let sample = sample(&metric.values[at]);
                if sample.len == 0 {
                    continue;
                }
                let known = || metric.values[at].iter().flatten();
                let number = |number: Option<&i64>| number.map_or_else(String::new, i64::to_string);
                let row = [&self.scenario, strategy, &metric.name];
                let figures = [figures(&sample), vec![number(known().min()), number(known().max())]].concat();
                means.write_record(row.into_iter().chain(&figures))?;
                let Some(difference) = metric.difference(at, reference).filter(|_| at != reference) else { continue };
                let row = [&self.scenario, strategy, &self.strategies[reference], &metric.name];
                differences.write_record(row.into_iter().chain(&difference.figures()))?;
            }
        }
        let file = |name, writer| csv_bytes(writer).map(|bytes| OutputFile { name, bytes });
        Ok(vec![file("replications.csv", means)?, file("differences.csv", differences)?])
    }
}

impl Metric {
    /// A strategy's values less another's, of the seeds of which both are known.
    fn difference(&self, strategy: usize, reference: usize) -> Option<Difference> {
        let pairs = self.values[strategy].iter().zip(&self.values[reference]);
        let pairs: Vec<(i64, i64)> = pairs.filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
        let alone = [pairs.iter().map(|(a, _)| *a).collect(), pairs.iter().map(|(_, b)| *b).collect()];
        let paired = pairs.iter().map(|(a, b)| a - b).collect();
        (!pairs.is_empty()).then_some(Difference { paired, alone })
    }
}

impl Difference {
    /// Half the interval if the strategies had not seen the same histories.
    fn unpaired(&self) -> Option<f64> {
        let [a, b] = self.alone;
        let (variance, n) = (a.variance()? + b.variance()?, self.paired.len);
        // With as many seeds of each, there are 2(n-1) degrees of freedom.
        Some(student_t(2 * (n - 1), CONFIDENCE) * (variance / n as f64).sqrt())
    }

    /// The paired figures; the interval as it would be if the strategies had not seen the same histories; how many times
    /// wider that is.
    fn figures(&self) -> Vec<String> {
        let mut cells = figures(&self.paired);
        let unpaired = self.unpaired();
        let mean = self.paired.mean();
        cells.extend([unpaired.map(|half| mean - half), unpaired.map(|half| mean + half)].map(show));
        let paired = self.paired.half_width().filter(|half| *half > 0.0);
        cells.push(show(unpaired.zip(paired).map(|(unpaired, paired)| unpaired / paired)));
        cells
    }
}

/// How many, mean, standard deviation, both ends of the interval.
fn figures(sample: &Sample) -> Vec<String> {
    let (mean, half) = (sample.mean(), sample.half_width());
    let (low, high) = (half.map(|half| mean - half), half.map(|half| mean + half));
    let sd = sample.variance().map(f64::sqrt);
    let figures = [Some(mean), sd, low, high].map(show);
    std::iter::once(sample.len.to_string()).chain(figures).collect()
}

fn sample(values: &[Option<i64>]) -> Sample {
    values.iter().flatten().copied().collect()
}

/// Three decimals; nothing where nothing is known.
fn show(number: Option<f64>) -> String {
    let text = number.map_or_else(String::new, |number| format!("{number:.3}"));
    if text == "-0.000" { "0.000".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replications(tables: &[&str], warm_up_ms: Option<TimeMs>) -> Replications {
        let strategies = ["full-map", "cached-hash"].map(str::to_owned).to_vec();
        let mut all = Replications { scenario: "s".to_owned(), strategies, ..Replications::new(warm_up_ms) };
        for table in tables {
            all.add_table(table.as_bytes()).expect("a table");
        }
        all
    }

    fn texts(all: &Replications) -> Vec<String> {
        let files = all.files().expect("written");
        files.into_iter().map(|file| String::from_utf8(file.bytes).expect("a text")).collect()
    }

    #[test]
    fn differences_are_paired_by_seed() {
        let table = |a, b| {
            format!(
                "scenario,seed,strategy,kafka,records,missed\ns,1,full-map,4.3.1,{a},\ns,1,cached-hash,4.3.1,{b},0\n"
            )
        };
        let tables = [table(110, 10), table(220, 121), table(330, 229)];
        let all = replications(&tables.each_ref().map(String::as_str), None);
        let [means, differences] = &texts(&all)[..] else { panic!("two files") };
        let expected = "\
s,full-map,records,3,220.000,110.000,-53.255,493.255,110,330
s,cached-hash,records,3,120.000,109.503,-152.022,392.022,10,229
s,cached-hash,missed,3,0.000,0.000,0.000,0.000,0,0
";
        assert_eq!(means, &format!("{REPLICATIONS}\n{expected}"));
        // 100, 99, 101: t(2) = 4.3027, t(4) = 2.7764.
        let expected = "s,full-map,cached-hash,records,3,100.000,1.000,97.516,102.484,-148.803,348.803,100.157\n";
        assert_eq!(differences, &format!("{DIFFERENCES}\n{expected}"));
        assert_eq!(all.is_precise("records", 3.0), Some(true));
        assert_eq!(all.is_precise("records", 2.0), Some(false));
        assert_eq!(all.is_precise("recrods", 2.0), None);
    }

    #[test]
    fn a_warm_up_is_left_out() {
        let header = "scenario,seed,strategy,time_ms,refreshes,log_bytes\n";
        let rows = "s,1,full-map,0,50,9\ns,1,full-map,10,3,9\ns,1,full-map,20,4,9\ns,1,cached-hash,20,1,9\n";
        let all = replications(&[&format!("{header}{rows}")], Some(10));
        let means = "s,full-map,refreshes,1,7.000,,,,7,7\ns,cached-hash,refreshes,1,1.000,,,,1,1\n";
        assert_eq!(texts(&all)[0], format!("{REPLICATIONS}\n{means}"));
    }
}
