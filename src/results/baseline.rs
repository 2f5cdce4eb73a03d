//! What of a run is kept and compared with later: every figure, and fingerprints of what happened and of the tables behind
//! pictures. `docs/check.md` says how it is used.

mod chain;
mod compare;
mod file;
mod sanity;

pub use chain::Chain;
pub use compare::{Difference, Kind, Parting, change, compare, is_within};
pub use file::{BaselineError, read, to_text};
pub use sanity::insanities;

use super::{OutputFile, RunResults, csv_files};
use xxhash_rust::xxh3::xxh3_64;

/// The name under which the chain of effects stands among a strategy's chains.
pub const EVENTS: &str = "events";
/// The tables behind pictures; the others are figures.
const TABLES: [&str; 8] = ["timeline", "bumps", "logs", "loads", "kinds", "work", "shards", "threads"];

/// What is kept of one run of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The scenario.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The Kafka version.
    pub kafka: String,
    /// The strategies, in order.
    pub strategies: Vec<StrategyBaseline>,
}

/// What is kept of a strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrategyBaseline {
    /// Its name.
    pub name: String,
    /// The figures that are known, each with its name.
    pub figures: Vec<(String, i64)>,
    /// The chain of its effects, and one of the rows of each table.
    pub chains: Vec<(String, Chain)>,
}

impl StrategyBaseline {
    /// A figure.
    pub fn figure(&self, name: &str) -> Option<i64> {
        self.figures.iter().find(|(of, _)| of == name).map(|(_, value)| *value)
    }

    /// A chain.
    pub fn chain(&self, name: &str) -> Option<&Chain> {
        self.chains.iter().find(|(of, _)| of == name).map(|(_, chain)| chain)
    }
}

impl Baseline {
    /// What is kept of a run whose effects were watched.
    ///
    /// # Errors
    /// Only if rows and columns do not fit together, which tests rule out.
    pub fn new(run: &RunResults) -> Result<Baseline, csv::Error> {
        let files = csv_files(std::slice::from_ref(run))?;
        let mut strategies: Vec<StrategyBaseline> = Vec::new();
        for (strategy, totals) in &run.strategies {
            let effects = Chain::new(totals.effects.iter().map(|effect| effect.digest));
            let name = strategy.name.clone();
            strategies.push(StrategyBaseline { name, figures: Vec::new(), chains: vec![(EVENTS.to_owned(), effects)] });
        }
        for kept in &mut strategies {
            files.iter().try_for_each(|file| kept.add_file(file))?;
        }
        Ok(Baseline { scenario: run.scenario.clone(), seed: run.seed, kafka: run.kafka.clone(), strategies })
    }

    /// A strategy.
    pub fn strategy(&self, name: &str) -> Option<&StrategyBaseline> {
        self.strategies.iter().find(|strategy| strategy.name == name)
    }
}

/// The rows of a table that are about a strategy, with the columns' names; each without the scenario, the seed and the
/// strategy.
pub fn rows_of(file: &OutputFile, strategy: &str) -> Result<(Vec<String>, Vec<Vec<String>>), csv::Error> {
    let mut reader = csv::ReaderBuilder::new().from_reader(file.bytes.as_slice());
    let cells = |record: &csv::StringRecord| record.iter().skip(3).map(str::to_owned).collect::<Vec<_>>();
    let columns = cells(reader.headers()?);
    let rows = reader.records().filter(|row| row.as_ref().map_or(true, |row| row.get(2) == Some(strategy)));
    Ok((columns, rows.map(|row| row.map(|row| cells(&row))).collect::<Result<_, _>>()?))
}

impl StrategyBaseline {
    fn add_file(&mut self, file: &OutputFile) -> Result<(), csv::Error> {
        let (columns, rows) = rows_of(file, &self.name)?;
        let table = file.name.trim_end_matches(".csv");
        if TABLES.contains(&table) {
            let digests = rows.iter().map(|row| xxh3_64(row.join("\u{1f}").as_bytes()));
            self.chains.push((table.to_owned(), Chain::new(digests)));
            return Ok(());
        }
        for row in rows {
            // The rows of some tables have a name before the figures.
            let (prefix, cells) = match table {
                "summary" => (String::new(), &row[..]),
                "records" => (format!("records.{}.", row[0]), &row[1..]),
                "operations" => (format!("operations.{}.", row[0]), &row[1..]),
                _ => (format!("{table}."), &row[..]),
            };
            let names = &columns[columns.len() - cells.len()..];
            for (name, cell) in names.iter().zip(cells) {
                if let Ok(value) = cell.parse::<i64>() {
                    let name = format!("{prefix}{name}");
                    self.figures.push((name.strip_suffix(".count").unwrap_or(&name).to_owned(), value));
                }
            }
        }
        Ok(())
    }
}
