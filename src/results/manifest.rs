//! `run.json`: what made the files beside it. Nothing in it depends on the machine, the clock or the number of threads.

use super::files::OutputFile;
use crate::cost::{Operation, Profile};
use crate::strategy::{Design, Strategy};
use serde::Serialize;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_128;

/// What made the files of a run.
#[derive(Debug, Serialize)]
pub struct Manifest {
    /// The program's version.
    pub coordsim: &'static str,
    /// The command, as far as it makes a difference to the results; files without their folders.
    pub command: Vec<String>,
    /// The scenario.
    pub scenario: ManifestScenario,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The Kafka version.
    pub kafka: String,
    /// The strategies, in order.
    pub strategies: Vec<ManifestStrategy>,
    /// The broker's configuration where it is not the default.
    pub config: BTreeMap<String, serde_json::Value>,
    /// The Unix time of time 0, in ms.
    pub start_unix_ms: i64,
    /// What happens before this time is simulated.
    pub until_ms: i64,
    /// The cost profile.
    pub profile: ManifestProfile,
}

/// The cost profile of a run.
#[derive(Debug, Serialize)]
pub struct ManifestProfile {
    name: String,
    provenance: BTreeMap<String, String>,
    /// How far predictions were from measurements, in thousandths; `null`: not known.
    median_error_permille: Option<u64>,
    worst_error_permille: Option<u64>,
    /// XXH3-128 of the prices in the order of the operations, in hexadecimal.
    prices_xxh3_128: String,
}

impl From<&Profile> for ManifestProfile {
    fn from(profile: &Profile) -> ManifestProfile {
        let prices = Operation::ALL.map(|operation| match profile.picoseconds(operation) {
            Some(picoseconds) => format!("{} {picoseconds}\n", operation.name()),
            None => format!("{} not measured\n", operation.name()),
        });
        ManifestProfile {
            name: profile.name().to_owned(),
            provenance: profile.provenance().iter().cloned().collect(),
            median_error_permille: profile.error().map(|error| error.median_permille),
            worst_error_permille: profile.error().map(|error| error.worst_permille),
            prices_xxh3_128: hexadecimal(prices.concat().as_bytes()),
        }
    }
}

/// The scenario of a run.
#[derive(Debug, Serialize)]
pub struct ManifestScenario {
    /// Its name.
    pub name: String,
    /// Its file, without folders.
    pub file: String,
    /// XXH3-128 of its text, in hexadecimal.
    pub text_xxh3_128: String,
    /// The metadata files that it names, without folders.
    pub metadata_files: Vec<ManifestFile>,
}

/// A metadata file of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ManifestFile {
    /// Its name.
    pub file: String,
    /// XXH3-128 of what is in it, in hexadecimal.
    pub xxh3_128: String,
}

impl ManifestFile {
    /// The file with these bytes.
    pub fn new(file: String, bytes: &[u8]) -> ManifestFile {
        ManifestFile { file, xxh3_128: hexadecimal(bytes) }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

impl ManifestScenario {
    /// The scenario with a text.
    pub fn new(name: &str, file: String, text: &str, metadata_files: Vec<ManifestFile>) -> ManifestScenario {
        let text_xxh3_128 = hexadecimal(text.as_bytes());
        ManifestScenario { name: name.to_owned(), file, text_xxh3_128, metadata_files }
    }
}

/// A strategy of a run; the bound has no axes.
#[derive(Debug, Serialize)]
pub struct ManifestStrategy {
    name: String,
    #[serde(flatten)]
    design: Option<Axes>,
}

#[derive(Debug, Serialize)]
struct Axes {
    covers: crate::strategy::Covers,
    stores: crate::strategy::Stores,
    memo: crate::strategy::Memo,
    forgets: crate::strategy::Forgets,
}

impl From<&Strategy> for ManifestStrategy {
    fn from(strategy: &Strategy) -> ManifestStrategy {
        let design = match strategy.design {
            Design::Ideal => None,
            Design::Point { covers, stores, memo, forgets } => Some(Axes { covers, stores, memo, forgets }),
        };
        ManifestStrategy { name: strategy.name.clone(), design }
    }
}

impl Manifest {
    /// The file.
    pub fn file(&self) -> serde_json::Result<OutputFile> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(OutputFile { name: "run.json", bytes })
    }
}
