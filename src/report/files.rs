//! The files of a run as they are read again.

use crate::results::OutputFile;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Why something cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read.
    #[error("{file}: {reason}")]
    File {
        /// Which.
        file: String,
        /// Why.
        reason: String,
    },
    /// A picture cannot be rendered.
    #[error(transparent)]
    Render(#[from] super::plot::RenderError),
    /// Files of a run that do not fit together: something has been taken out of them.
    #[error("{file}: {what}")]
    Missing {
        /// In which file.
        file: String,
        /// What is not there.
        what: String,
    },
}

/// The tables that are read again. `run.json` is read beside them.
const TABLES: [&str; 6] = ["summary.csv", "timeline.csv", "bumps.csv", "records.csv", "operations.csv", "delays.csv"];

/// The files of a run, from memory or from its folder.
#[derive(Debug)]
pub struct RunFiles<'a> {
    folder: String,
    files: BTreeMap<String, Cow<'a, [u8]>>,
    manifest: serde_json::Value,
}

impl<'a> RunFiles<'a> {
    /// Files that are about to be written.
    ///
    /// # Errors
    /// If one is missing or not understood.
    pub fn of(files: &'a [OutputFile]) -> Result<RunFiles<'a>, ReportError> {
        let files = files.iter().map(|file| (file.name.to_owned(), Cow::Borrowed(file.bytes.as_slice()))).collect();
        RunFiles::new(String::new(), files)
    }

    /// The files of a folder.
    ///
    /// # Errors
    /// If one is missing or not understood.
    pub fn read(folder: &Path) -> Result<RunFiles<'static>, ReportError> {
        let mut files = BTreeMap::new();
        for name in TABLES.into_iter().chain(["run.json"]) {
            let path = folder.join(name);
            let bytes = fs::read(&path).map_err(|error| {
                let reason = match error.kind() {
                    io::ErrorKind::NotFound => "no such file; expected the folder of a run".to_owned(),
                    _ => error.to_string(),
                };
                ReportError::File { file: path.display().to_string(), reason }
            })?;
            files.insert(name.to_owned(), Cow::Owned(bytes));
        }
        RunFiles::new(format!("{}/", folder.display()), files)
    }

    fn new(folder: String, files: BTreeMap<String, Cow<'a, [u8]>>) -> Result<RunFiles<'a>, ReportError> {
        let mut run = RunFiles { folder, files, manifest: serde_json::Value::Null };
        let manifest = serde_json::from_slice(run.bytes("run.json")?);
        run.manifest = manifest.map_err(|error| run.error("run.json", error.to_string()))?;
        if run.strategies().is_empty() {
            return Err(run.missing("run.json", "no strategies"));
        }
        Ok(run)
    }

    /// An error about a file of this run.
    pub(super) fn error(&self, name: &str, reason: String) -> ReportError {
        ReportError::File { file: format!("{}{name}", self.folder), reason }
    }

    /// Something is not in a file.
    pub(super) fn missing(&self, name: &str, what: impl Into<String>) -> ReportError {
        ReportError::Missing { file: format!("{}{name}", self.folder), what: what.into() }
    }

    fn bytes(&self, name: &str) -> Result<&[u8], ReportError> {
        self.files.get(name).map(AsRef::as_ref).ok_or_else(|| self.missing(name, "no such file"))
    }

    /// The rows of a table.
    pub(super) fn rows<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, ReportError> {
        let mut reader = csv::Reader::from_reader(self.bytes(name)?);
        reader.deserialize().collect::<Result<_, _>>().map_err(|error| self.error(name, error.to_string()))
    }

    /// The columns and cells of a table.
    pub(super) fn cells(&self, name: &str) -> Result<(Vec<String>, Vec<Vec<String>>), ReportError> {
        let mut reader = csv::Reader::from_reader(self.bytes(name)?);
        let texts = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let wrong = |error: csv::Error| self.error(name, error.to_string());
        let columns = texts(reader.headers().map_err(wrong)?);
        let rows: Result<Vec<_>, _> = reader.records().map(|row| row.map(|row| texts(&row))).collect();
        Ok((columns, rows.map_err(wrong)?))
    }

    /// What made the run.
    pub fn manifest(&self) -> &serde_json::Value {
        &self.manifest
    }

    /// A text of `run.json`, by its path.
    pub(super) fn said(&self, pointer: &str) -> &str {
        self.manifest.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    /// The strategies, in their order.
    pub fn strategies(&self) -> Vec<String> {
        let list = self.manifest.get("strategies").and_then(serde_json::Value::as_array);
        let names = list.into_iter().flatten().filter_map(|strategy| strategy.get("name")?.as_str());
        names.map(str::to_owned).collect()
    }

    /// The seeds, in their order.
    pub fn seeds(&self) -> Vec<u64> {
        let list = self.manifest.get("seeds").and_then(serde_json::Value::as_array);
        list.into_iter().flatten().filter_map(serde_json::Value::as_u64).collect()
    }

    /// The end of the run.
    pub(super) fn until_ms(&self) -> i64 {
        self.manifest.get("until_ms").and_then(serde_json::Value::as_i64).unwrap_or(0)
    }
}
