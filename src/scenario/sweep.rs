//! A sweep: a scenario, and what of it is varied. `docs/sweep.md` describes the file.

use super::diagnostic::{Diagnostic, Place, Problems};
use super::reader::{LONGEST_MS, Table, Value};
use super::{KAFKA_VERSIONS, syntax};
use crate::kernel::TimeMs;
use std::collections::BTreeSet;

/// The most runs of a sweep.
const MAX_RUNS: usize = 1_000_000;

/// A sweep as it is written.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The file, for errors.
    pub file: String,
    /// Its name.
    pub name: String,
    /// The scenario's file, from the folder of this one.
    pub scenario: String,
    /// The strategies; empty: the scenario's.
    pub strategies: Vec<String>,
    /// The Kafka versions; empty: the scenario's.
    pub kafka: Vec<String>,
    /// Which seeds.
    pub seeds: Seeds,
    /// What happens before this time is simulated, if not all of it.
    pub until_ms: Option<TimeMs>,
    /// What is varied, in order.
    pub parameters: Vec<Parameter>,
    /// The values of the parameters at each point, in order; a single point without values if nothing is varied.
    pub points: Vec<Vec<toml::Value>>,
}

/// The seeds of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seeds {
    /// So many from the scenario's on.
    Count(u64),
    /// These.
    List(Vec<u64>),
}

/// Something that is varied.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its path in the scenario, such as `topics[0].count`.
    pub path: String,
    /// Where the sweep names it.
    pub place: Place,
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    Field(String),
    Item(usize),
}

impl Sweep {
    /// Reads a sweep.
    ///
    /// # Errors
    /// Everything that is wrong in order of position, but first the errors of syntax.
    pub fn parse(file: &str, text: &str) -> Result<Sweep, Vec<Diagnostic>> {
        syntax::read(file, text, |root, sound, problems| {
            let plain = sound.parse::<toml::Table>().unwrap_or_default();
            read(root, &plain, problems, file)
        })
    }

    /// The scenario at a point.
    ///
    /// # Errors
    /// A parameter has no place in the scenario.
    pub fn scenario_at(&self, base: &toml::Table, point: &[toml::Value]) -> Result<toml::Table, Diagnostic> {
        let mut scenario = toml::Value::Table(base.clone());
        for (parameter, value) in self.parameters.iter().zip(point) {
            let placed = parameter.put(&mut scenario, value);
            placed.map_err(|message| self.diagnostic(&parameter.place, message))?;
        }
        Ok(scenario.try_into().unwrap_or_default())
    }

    /// An error about something of the sweep.
    pub fn diagnostic(&self, place: &Place, message: impl Into<String>) -> Diagnostic {
        let Place { line, column, field } = place.clone();
        Diagnostic { file: self.file.clone(), line, column, field, message: message.into() }
    }

    /// The parameter that an error about a field of the scenario is about.
    pub fn parameter_of(&self, field: &str) -> Option<&Parameter> {
        let is_in = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let mut parameters = self.parameters.iter();
        parameters.find(|parameter| is_in(field, &parameter.path) || is_in(&parameter.path, field))
    }
}

fn read(mut root: Table, plain: &toml::Table, problems: &mut Problems, file: &str) -> Sweep {
    let name = super::general::read_name(&mut root, problems, file);
    let scenario = root.require(problems, "scenario", "the file of a scenario");
    let scenario = scenario.and_then(|value| value.text(problems, "the file of a scenario")).unwrap_or_default();
    let strategies = root.get("strategies").and_then(|v| v.texts(problems, "a list of strategies")).unwrap_or_default();
    let mut sweep = Sweep {
        file: file.to_owned(),
        name,
        scenario: scenario.to_owned(),
        strategies,
        kafka: root.get("kafka").map(|value| read_versions(&value, problems)).unwrap_or_default(),
        seeds: root.get("seeds").and_then(|value| read_seeds(&value, problems)).unwrap_or(Seeds::Count(1)),
        until_ms: root.get("until").and_then(|value| value.duration(problems, 1..=LONGEST_MS)),
        parameters: Vec::new(),
        points: vec![Vec::new()],
    };
    read_points(&mut root, plain, problems, &mut sweep);
    read_grid(&mut root, plain, problems, &mut sweep);
    let mut paths = BTreeSet::new();
    for parameter in &sweep.parameters {
        if !paths.insert(&parameter.path) {
            problems.add_at(&parameter.place, "", format!("{} is varied twice; expected once", parameter.path));
        }
    }
    root.finish(problems);
    sweep
}

fn read_versions(value: &Value, problems: &mut Problems) -> Vec<String> {
    let names = KAFKA_VERSIONS.map(|version| (version, version));
    let items = value.items(problems, "a list of Kafka versions such as [\"3.9.1\", \"4.3.1\"]").unwrap_or_default();
    distinct(&items, problems, |item, problems| item.one_of(problems, &names).map(str::to_owned))
}

fn read_seeds(value: &Value, problems: &mut Problems) -> Option<Seeds> {
    if !value.is_list() {
        return value.integer(problems, 1..=100_000).map(|count| Seeds::Count(count as u64));
    }
    let items = value.items(problems, "a number of seeds or a list of them")?;
    let seeds = distinct(&items, problems, |item, problems| item.integer(problems, 0..=i64::MAX));
    Some(Seeds::List(seeds.into_iter().map(|seed| seed as u64).collect()))
}

/// The values of a list, which must be there once each, and one at least.
fn distinct<T: PartialEq>(
    items: &[Value],
    problems: &mut Problems,
    read: impl Fn(&Value, &mut Problems) -> Option<T>,
) -> Vec<T> {
    let mut values: Vec<T> = Vec::new();
    for item in items {
        match read(item, problems) {
            Some(value) if values.contains(&value) => item.complain(problems, "is in the list twice; expected once"),
            value => values.extend(value),
        }
    }
    values
}

/// `[[points]]`: parameters that change together.
fn read_points(root: &mut Table, plain: &toml::Table, problems: &mut Problems, sweep: &mut Sweep) {
    let tables = root.tables(problems, "points");
    let plain = plain.get("points").and_then(toml::Value::as_array);
    let mut points = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let fields = table.fields();
        if index == 0 {
            sweep.parameters = fields.iter().filter_map(|(name, at, v)| parameter(name, *at, v, problems)).collect();
        }
        let names: BTreeSet<&str> = fields.iter().map(|(name, ..)| *name).collect();
        let expected: Vec<&str> = sweep.parameters.iter().map(|parameter| parameter.path.as_str()).collect();
        if index > 0 && names != expected.iter().copied().collect() {
            let message = format!("has other parameters than the first point; expected {}", expected.join(", "));
            problems.add_at(&table.place(problems), "", message);
            continue;
        }
        let values = plain.and_then(|points| points.get(index)).and_then(toml::Value::as_table);
        let value = |name: &&str| values.and_then(|values| values.get(*name)).cloned();
        let values: Vec<toml::Value> = expected.iter().filter_map(value).collect();
        if points.contains(&values) {
            problems.add_at(&table.place(problems), "", "is there twice; expected each point once");
        }
        points.push(values);
    }
    if !points.is_empty() {
        sweep.points = points;
    }
}

/// `[grid]`: every combination of values, the first parameter's changing slowest.
fn read_grid(root: &mut Table, plain: &toml::Table, problems: &mut Problems, sweep: &mut Sweep) {
    let expected = "a table with lists of values, such as \"topics[0].count\" = [10, 100]";
    let Some(table) = root.get("grid").and_then(|value| value.table(problems, expected)) else { return };
    let plain = plain.get("grid").and_then(toml::Value::as_table);
    for (name, at, value) in table.fields() {
        let Some(parameter) = parameter(name, at, &value, problems) else { continue };
        let Some(items) = value.items(problems, "a list of values") else { continue };
        if items.is_empty() {
            value.complain(problems, "found an empty list; expected a value at least");
        }
        let plain = plain.and_then(|grid| grid.get(name)).and_then(toml::Value::as_array);
        let values: Vec<toml::Value> = plain.cloned().unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            if values.get(index).is_some_and(|value| values[..index].contains(value)) {
                item.complain(problems, "is in the list twice; expected once");
            }
        }
        if sweep.points.len().saturating_mul(values.len()) > MAX_RUNS {
            value.complain(problems, format!("makes more than {MAX_RUNS} points; expected fewer"));
            return;
        }
        sweep.parameters.push(parameter);
        let with = |point: &Vec<toml::Value>| {
            let point = point.clone();
            values.iter().map(move |value| [&point[..], std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
        };
        sweep.points = sweep.points.iter().flat_map(with).collect();
    }
}

fn parameter(path: &str, at: usize, value: &Value, problems: &mut Problems) -> Option<Parameter> {
    let instead = match path {
        "seed" => Some("use seeds"),
        "kafka" => Some("use kafka beside the grid"),
        "compare" => Some("use strategies"),
        "name" => Some("a name makes no difference"),
        _ => None,
    };
    if let Some(instead) = instead {
        problems.add(at, &value.path, format!("cannot be varied here; {instead}"));
        return None;
    }
    let steps = steps(path);
    if steps.is_none() {
        let expected = "the path of a field, such as cluster.brokers, topics[0].count or config.NAME";
        problems.add(at, &value.path, format!("is not a path; expected {expected}"));
    }
    let place = problems.place(at, &value.path);
    Some(Parameter { path: path.to_owned(), place, steps: steps? })
}

/// `a.b[0].c`; what follows `config.` is one name, dots included.
fn steps(path: &str) -> Option<Vec<Step>> {
    if let Some(name) = path.strip_prefix("config.") {
        return Some(vec![Step::Field("config".to_owned()), Step::Field(name.to_owned())]);
    }
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, items) = part.split_once('[').map_or((part, None), |(name, items)| (name, Some(items)));
        if name.is_empty() || name.contains(']') {
            return None;
        }
        steps.push(Step::Field(name.to_owned()));
        let Some(items) = items else { continue };
        for item in items.strip_suffix(']')?.split("][") {
            steps.push(Step::Item(item.parse().ok()?));
        }
    }
    Some(steps)
}

impl Parameter {
    fn put(&self, scenario: &mut toml::Value, value: &toml::Value) -> Result<(), String> {
        let mut at = scenario;
        let mut path = String::new();
        for step in &self.steps {
            match step {
                Step::Field(name) => {
                    let Some(table) = at.as_table_mut() else {
                        return Err(format!("the scenario's {path} is not a table"));
                    };
                    at = table.entry(name.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(name);
                }
                Step::Item(index) => {
                    let items = at.as_array_mut();
                    let Some(items) = items else { return Err(format!("the scenario's {path} is not a list")) };
                    let len = items.len();
                    let Some(item) = items.get_mut(*index) else {
                        return Err(format!("the scenario's {path} has {len} items, counted from 0"));
                    };
                    at = item;
                    path.push_str(&format!("[{index}]"));
                }
            }
        }
        *at = value.clone();
        Ok(())
    }
}
