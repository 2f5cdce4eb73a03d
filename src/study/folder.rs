//! The folder of a study: `plan.csv`, `sweep.json`, `runs/ID.csv` for each run that is done, and `sweep.csv` with all of them. A run's
//! file appears whole or not at all, so that a program that is killed loses no run that was done.

use super::plan::{Plan, PlanError, Run};
use crate::results::{FileError, csv_bytes, write_file};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The column of a run's table that names the strategy.
const STRATEGY: &str = "strategy";

/// What is wrong with a folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another program writes to it.
    #[error("{}: another sweep or merge is writing here; give each a folder of its own", .0.display())]
    Busy(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no plan.
    #[error("{}: not the folder of a sweep: it has no plan.csv", .0.display())]
    NoPlan(PathBuf),
    /// A plan cannot be read.
    #[error("{}: {source}", path.display())]
    Plan {
        /// Which.
        path: PathBuf,
        /// Why.
        source: PlanError,
    },
    /// A run's file is not what this program writes.
    #[error("{}: {message}; remove the file, and the run is made again", path.display())]
    Run {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

impl From<FileError> for FolderError {
    fn from(error: FileError) -> FolderError {
        FolderError::Io { path: error.path, source: error.source }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folder of runs, locked as long as this is open for writing; the operating system unlocks it if the program is killed.
    _lock: Option<File>,
}

/// A run's table: a row for each strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RunTable {
    header: csv::StringRecord,
    rows: Vec<csv::StringRecord>,
}

impl Folder {
    /// Opens a folder for writing, or makes it. What a killed program left half-written is removed.
    ///
    /// # Errors
    /// Another program writes to it, or it cannot be written.
    pub fn open(path: &Path) -> Result<Folder, FolderError> {
        let runs = path.join("runs");
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Io { path, source }
        };
        fs::create_dir_all(&runs).map_err(at(&runs))?;
        let lock = File::open(&runs).map_err(at(&runs))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => FolderError::Busy(path.to_owned()),
            TryLockError::Error(source) => FolderError::Io { path: runs.clone(), source },
        })?;
        for folder in [path, &runs] {
            for entry in fs::read_dir(folder).map_err(at(folder))? {
                let entry = entry.map_err(at(folder))?;
                let name = entry.file_name();
                let name = name.to_string_lossy();
                if name.starts_with('.') && name.ends_with(".partial") && entry.path().is_file() {
                    fs::remove_file(entry.path()).map_err(at(&entry.path()))?;
                }
            }
        }
        Ok(Folder { path: path.to_owned(), _lock: Some(lock) })
    }

    /// A folder to read from.
    pub fn of(path: &Path) -> Folder {
        Folder { path: path.to_owned(), _lock: None }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn run_path(&self, id: &str) -> PathBuf {
        self.path.join("runs").join(format!("{id}.csv"))
    }

    /// The file that says what the sweep is.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn manifest(&self) -> Result<Vec<u8>, FolderError> {
        let path = self.path.join("sweep.json");
        fs::read(&path).map_err(|source| FolderError::Io { path, source })
    }

    /// Its plan.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn plan(&self) -> Result<Plan, FolderError> {
        let path = self.path.join("plan.csv");
        let bytes = fs::read(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => FolderError::NoPlan(self.path.clone()),
            _ => FolderError::Io { path: path.clone(), source },
        })?;
        Plan::from_csv(&bytes).map_err(|source| FolderError::Plan { path, source })
    }

    /// Keeps a plan, and what says where it is from.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep_plan(&self, plan: &Plan, manifest: &[u8]) -> Result<(), FolderError> {
        write_file(&self.path.join("sweep.json"), manifest)?;
        Ok(write_file(&self.path.join("plan.csv"), &self.csv(plan.to_csv())?)?)
    }

    fn csv<T>(&self, table: csv::Result<T>) -> Result<T, FolderError> {
        table.map_err(|error| FolderError::Io { path: self.path.clone(), source: io::Error::other(error) })
    }

    /// The bytes of a run, if any of it is done.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn run_bytes(&self, id: &str) -> Result<Option<Vec<u8>>, FolderError> {
        let path = self.run_path(id);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FolderError::Io { path, source }),
        }
    }

    fn table(&self, id: &str) -> Result<Option<RunTable>, FolderError> {
        let Some(bytes) = self.run_bytes(id)? else { return Ok(None) };
        let table = RunTable::read(&bytes);
        table.map(Some).map_err(|message| FolderError::Run { path: self.run_path(id), message })
    }

    /// The strategies of a run that are not done.
    ///
    /// # Errors
    /// Its file cannot be read, or is not of a run.
    pub fn missing(&self, run: &Run) -> Result<Vec<String>, FolderError> {
        let table = self.table(&run.id)?;
        let is_done = |name: &String| table.as_ref().is_some_and(|table| table.row(name).is_some());
        Ok(run.strategies.iter().filter(|name| !is_done(name)).cloned().collect())
    }

    /// Keeps what came of a run: a table with a row for each strategy. What is there of others stays: strategies are in the order
    /// of the run, then those that it does not have.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn keep_run(&self, run: &Run, bytes: &[u8]) -> Result<(), FolderError> {
        let path = self.run_path(&run.id);
        let new = RunTable::read(bytes).map_err(|message| FolderError::Run { path: path.clone(), message })?;
        let mut rows = self.table(&run.id)?.map_or_else(Vec::new, |old| old.rows);
        rows.retain(|row| new.strategy(row).is_none_or(|strategy| new.row(strategy).is_none()));
        rows.extend(new.rows.iter().cloned());
        let place = |name: &str| run.strategies.iter().position(|of| of == name).unwrap_or(run.strategies.len());
        rows.sort_by_key(|row| new.strategy(row).map(|name| (place(name), name.to_owned())));
        let mut writer = csv::Writer::from_writer(Vec::new());
        self.csv(writer.write_record(&new.header))?;
        rows.iter().try_for_each(|row| self.csv(writer.write_record(row)))?;
        let bytes = self.csv(csv_bytes(writer))?;
        Ok(write_file(&path, &bytes)?)
    }

    /// Keeps the bytes of a run of another folder.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn copy_run(&self, id: &str, bytes: &[u8]) -> Result<(), FolderError> {
        Ok(write_file(&self.run_path(id), bytes)?)
    }

    /// Writes `sweep.csv`: a row for each run and strategy that is done, in the order of the plan. Gives how many are not.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn write_table(&self, plan: &Plan) -> Result<usize, FolderError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let (mut has_header, mut missing) = (false, 0);
        for run in &plan.runs {
            let Some(table) = self.table(&run.id)? else {
                missing += run.strategies.len();
                continue;
            };
            if !has_header {
                let names = plan.parameters.iter().map(String::as_str);
                self.csv(writer.write_record(std::iter::once("run").chain(names).chain(&table.header)))?;
                has_header = true;
            }
            for strategy in &run.strategies {
                let Some(row) = table.row(strategy) else {
                    missing += 1;
                    continue;
                };
                let values = run.values.iter().map(String::as_str);
                self.csv(writer.write_record(std::iter::once(run.id.as_str()).chain(values).chain(row)))?;
            }
        }
        let bytes = self.csv(csv_bytes(writer))?;
        write_file(&self.path.join("sweep.csv"), &bytes)?;
        Ok(missing)
    }

    /// The ids of runs that are kept and not in a plan.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn others(&self, plan: &Plan) -> Result<usize, FolderError> {
        let known: BTreeSet<&str> = plan.runs.iter().map(|run| run.id.as_str()).collect();
        let runs = self.path.join("runs");
        let at = |source| FolderError::Io { path: runs.clone(), source };
        let mut others = 0;
        for entry in fs::read_dir(&runs).map_err(at)? {
            let name = entry.map_err(at)?.file_name();
            let name = name.to_string_lossy();
            others += usize::from(name.strip_suffix(".csv").is_some_and(|id| !known.contains(id)));
        }
        Ok(others)
    }
}

impl RunTable {
    fn read(bytes: &[u8]) -> Result<RunTable, String> {
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        if !header.iter().any(|name| name == STRATEGY) {
            return Err("not the table of a run".to_owned());
        }
        let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        Ok(RunTable { header, rows })
    }

    fn strategy<'r>(&self, row: &'r csv::StringRecord) -> Option<&'r str> {
        row.get(self.header.iter().position(|name| name == STRATEGY)?)
    }

    fn row(&self, strategy: &str) -> Option<&csv::StringRecord> {
        self.rows.iter().find(|row| self.strategy(row) == Some(strategy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(strategies: &[&str]) -> Run {
        Run {
            id: "a".repeat(32),
            values: vec!["3".to_owned()],
            kafka: "4.3.1".to_owned(),
            seed: 1,
            strategies: strategies.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn a_run_grows_by_strategies() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let path = home.path().join("study");
        let folder = Folder::open(&path).expect("made");
        let run = run(&["full-map", "ideal"]);
        let plan = Plan { parameters: vec!["cluster.brokers".to_owned()], runs: vec![run.clone()] };
        assert_eq!(folder.missing(&run).expect("read"), ["full-map", "ideal"]);
        folder.keep_run(&run, b"seed,strategy,records\n1,mine,5\n1,ideal,7\n").expect("written");
        assert_eq!(folder.missing(&run).expect("read"), ["full-map"]);
        folder.keep_run(&run, b"seed,strategy,records\n1,full-map,9\n").expect("written");
        let text = |name: String| fs::read_to_string(path.join(name)).expect("a file");
        let kept = text(format!("runs/{}.csv", run.id));
        assert_eq!(kept, "seed,strategy,records\n1,full-map,9\n1,ideal,7\n1,mine,5\n");
        assert_eq!(folder.write_table(&plan).expect("written"), 0);
        let id = &run.id;
        let expected = format!("run,cluster.brokers,seed,strategy,records\n{id},3,1,full-map,9\n{id},3,1,ideal,7\n");
        assert_eq!(text("sweep.csv".to_owned()), expected);
    }

    #[test]
    fn one_at_a_time_and_leftovers_go() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let first = Folder::open(home.path()).expect("made");
        let busy = Folder::open(home.path()).expect_err("locked");
        assert!(busy.to_string().ends_with("another sweep or merge is writing here; give each a folder of its own"));
        drop(first);
        fs::write(home.path().join("runs/.b.csv.12.partial"), "half").expect("written");
        fs::write(home.path().join("runs/c.csv"), "half").expect("written");
        let folder = Folder::open(home.path()).expect("unlocked");
        assert!(!home.path().join("runs/.b.csv.12.partial").exists());
        let damaged = folder.missing(&Run { id: "c".to_owned(), ..run(&["ideal"]) }).expect_err("not a run");
        assert!(damaged.to_string().contains("c.csv: not the table of a run; remove the file"), "{damaged}");
    }
}
