//! Which runs a study has, in order.

use crate::results::csv_bytes;
use xxhash_rust::xxh3::xxh3_128;

/// The columns of a plan beside those of the parameters.
const FIRST: &str = "run";
const LAST: [&str; 3] = ["kafka", "seed", "strategy"];

/// A run of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: String,
    /// The values of the parameters.
    pub values: Vec<String>,
    /// The Kafka version.
    pub kafka: String,
    /// The seed.
    pub seed: u64,
    /// The strategies, in order.
    pub strategies: Vec<String>,
}

/// The runs of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// The runs, in order.
    pub runs: Vec<Run>,
}

/// A file that is not a plan.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct PlanError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
}

/// The id of a run: XXH3-128 of all that makes a difference to it, in 32 hexadecimal digits.
pub fn run_id<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    format!("{:032x}", xxh3_128(&bytes))
}

impl Plan {
    /// How many rows its table has.
    pub fn num_rows(&self) -> usize {
        self.runs.iter().map(|run| run.strategies.len()).sum()
    }

    /// A row for each run and strategy.
    ///
    /// # Errors
    /// None that can happen: memory is written to.
    pub fn to_csv(&self) -> csv::Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let names = self.parameters.iter().map(String::as_str);
        writer.write_record(std::iter::once(FIRST).chain(names).chain(LAST))?;
        for run in &self.runs {
            let seed = run.seed.to_string();
            for strategy in &run.strategies {
                let values = run.values.iter().map(String::as_str);
                let last = [run.kafka.as_str(), &seed, strategy];
                writer.write_record(std::iter::once(run.id.as_str()).chain(values).chain(last))?;
            }
        }
        csv_bytes(writer)
    }

    /// Reads what [`Plan::to_csv`] wrote.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn from_csv(bytes: &[u8]) -> Result<Plan, PlanError> {
        let wrong = |line: u64, message: String| PlanError { line, message };
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
        let num_parameters = header.len().saturating_sub(1 + LAST.len());
        let is_plan = header.get(0) == Some(FIRST) && header.iter().skip(1 + num_parameters).eq(LAST);
        if !is_plan {
            return Err(wrong(1, format!("not a plan; expected the columns run, parameters, {}", LAST.join(", "))));
        }
        let parameters = header.iter().skip(1).take(num_parameters).map(str::to_owned).collect();
        let mut runs: Vec<Run> = Vec::new();
        for row in reader.records() {
            let row = row.map_err(|error| wrong(error.position().map_or(0, csv::Position::line), error.to_string()))?;
            let line = row.position().map_or(0, csv::Position::line);
            let cell = |at: usize| row.get(at).unwrap_or_default().to_owned();
            let id = cell(0);
            if id.len() != 32 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(wrong(line, format!("run: found {id:?}; expected 32 hexadecimal digits")));
            }
            let (kafka, seed, strategy) =
                (cell(num_parameters + 1), cell(num_parameters + 2), cell(num_parameters + 3));
            let seed = seed.parse().map_err(|_| wrong(line, format!("seed: found {seed:?}; expected a number")))?;
            match runs.last_mut() {
                Some(run) if run.id == id => run.strategies.push(strategy),
                _ => {
                    let values = (1..=num_parameters).map(cell).collect();
                    runs.push(Run { id, values, kafka, seed, strategies: vec![strategy] });
                }
            }
        }
        Ok(Plan { parameters, runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: u8, value: &str, strategies: &[&str]) -> Run {
        Run {
            id: format!("{id:032x}"),
            values: vec![value.to_owned()],
            kafka: "4.3.1".to_owned(),
            seed: 7,
            strategies: strategies.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn plans_are_tables() {
        let runs = vec![run(1, "[3, 6]", &["full-map", "ideal"]), run(2, "x", &["ideal"])];
        let plan = Plan { parameters: vec!["topics[0].partitions".to_owned()], runs };
        let text = String::from_utf8(plan.to_csv().expect("written")).expect("a text");
        let expected = "run,topics[0].partitions,kafka,seed,strategy\n\
            00000000000000000000000000000001,\"[3, 6]\",4.3.1,7,full-map\n\
            00000000000000000000000000000001,\"[3, 6]\",4.3.1,7,ideal\n\
            00000000000000000000000000000002,x,4.3.1,7,ideal\n";
        assert_eq!(text, expected);
        assert_eq!(Plan::from_csv(text.as_bytes()).expect("a plan"), plan);
        let wrong = |text: &str| Plan::from_csv(text.as_bytes()).expect_err("wrong").to_string();
        assert_eq!(wrong("a,b\n"), "line 1: not a plan; expected the columns run, parameters, kafka, seed, strategy");
        let seed = expected.replace(",7,ideal", ",x,ideal");
        assert_eq!(wrong(&seed), "line 3: seed: found \"x\"; expected a number");
    }

    #[test]
    fn ids_keep_parts_apart() {
        // As the reference implementation of XXH3-128 gives it.
        assert_eq!(run_id(["a", "bc"]), "f310f4d71be93bc46456c91685adede6");
        assert_ne!(run_id(["a", "bc"]), run_id(["ab", "c"]));
    }
}
