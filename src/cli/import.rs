//! `coordsim import`: a real cluster's files as a scenario.

use super::error::CliError;
use crate::import::kraft;
use crate::scenario::counted;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Reads files of a real cluster and writes a scenario of it
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  coordsim import kraft __cluster_metadata-0/*.log --out scenarios/mine.toml\n  coordsim run scenarios/mine.toml"
)]
pub struct ImportArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Kraft(KraftArgs),
}

/// Reads the metadata log of a KRaft cluster: the segments and snapshots of `__cluster_metadata-0`
///
/// Takes any mix of segments (*.log) and snapshots (*.checkpoint). Segments may overlap but must not have a gap; a
/// snapshot is used where they do not reach back to offset 0. Without options, says what was found.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  coordsim import kraft __cluster_metadata-0/*.log --out scenarios/mine.toml --topics hashes.csv"
)]
struct KraftArgs {
    /// Segments and snapshots
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write a scenario whose cluster comes from these files; files that are not beneath its folder are copied
    /// beside it
    #[arg(long, value_name = "SCENARIO")]
    out: Option<PathBuf>,
    /// Write a row whenever a topic's fresh hash changes: offset,unix_ms,topic,topic_id,partitions,hash (empty where
    /// the topic is deleted)
    #[arg(long, value_name = "FILE.csv")]
    topics: Option<PathBuf>,
}

/// Runs `coordsim import`.
pub fn run(args: &ImportArgs) -> Result<(), CliError> {
    let What::Kraft(kraft) = &args.what;
    let lines = import_kraft(kraft).map_err(CliError::Input)?;
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Reads, writes what was asked for, and says what was found.
fn import_kraft(args: &KraftArgs) -> Result<Vec<String>, Vec<String>> {
    let texts = |errors: Vec<kraft::ImportError>| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
    let cluster = kraft::read(&args.files).map_err(texts)?;
    let mut lines = kraft::summary(&cluster).map_err(texts)?;
    let mut outputs = Outputs::default();
    if let Some(path) = &args.topics {
        let rows = kraft::topic_hash_rows(&cluster).map_err(texts)?;
        let mut csv = Vec::new();
        kraft::write_topic_hash_rows(&rows, &mut csv).map_err(|error| vec![error.to_string()])?;
        outputs.add(path, &csv)?;
        lines.push(format!("wrote {} ({})", path.display(), counted(rows.len() as u64, "row")));
    }
    if let Some(path) = &args.out {
        let path = with_toml(path);
        let used: Vec<&PathBuf> = args.files.iter().filter(|file| !cluster.unused.contains(file)).collect();
        let names = place_files(&path, &used, &mut outputs)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = kraft::to_scenario(&cluster, &name, &names).map_err(texts)?;
        outputs.add(&path, text.as_bytes())?;
        lines.push(format!("wrote {}", path.display()));
    }
    outputs.finish()?;
    Ok(lines)
}

fn with_toml(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "toml") {
        return path.to_owned();
    }
    let mut name = OsString::from(path);
    name.push(".toml");
    PathBuf::from(name)
}

/// How the scenario names its files. One that is not beneath the scenario's folder is copied into a folder beside the
/// scenario that is named like it.
fn place_files(scenario: &Path, files: &[&PathBuf], outputs: &mut Outputs) -> Result<Vec<String>, Vec<String>> {
    let folder = folder_of(scenario);
    let mut names: Vec<String> = Vec::new();
    for file in files {
        if let Some(name) = beneath(folder, file) {
            names.push(name);
            continue;
        }
        let file_name = file.file_name().unwrap_or_default().to_string_lossy();
        let copy_folder = scenario.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{copy_folder}/{file_name}");
        if names.contains(&name) {
            let why =
                "is the second file of that name; give them different names, or put them beneath the scenario's folder";
            return Err(vec![format!("{}: {why}", file.display())]);
        }
        let bytes = std::fs::read(file).map_err(|error| vec![format!("{}: {error}", file.display())])?;
        outputs.add(&folder.join(&name), &bytes)?;
        names.push(name);
    }
    Ok(names)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The path of a file from a folder, with `/` between folders; `None` if it is not beneath it.
fn beneath(folder: &Path, file: &Path) -> Option<String> {
    let (folder, file) = (folder.canonicalize().ok()?, file.canonicalize().ok()?);
    let parts = file.strip_prefix(folder).ok()?.components();
    let parts: Option<Vec<_>> = parts
        .map(|part| match part {
            Component::Normal(part) => part.to_str(),
            _ => None,
        })
        .collect();
    Some(parts?.join("/"))
}

/// Files that are written under temporary names beside their own, and renamed when all are there.
#[derive(Debug, Default)]
struct Outputs {
    written: Vec<(PathBuf, PathBuf)>,
}

impl Outputs {
    fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Vec<String>> {
        let wrong = |error: io::Error| vec![format!("{}: cannot be written: {error}", path.display())];
        std::fs::create_dir_all(folder_of(path)).map_err(wrong)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let temporary = path.with_file_name(name);
        self.written.push((temporary.clone(), path.to_owned()));
        std::fs::write(temporary, bytes).map_err(wrong)
    }

    fn finish(mut self) -> Result<(), Vec<String>> {
        for (temporary, path) in std::mem::take(&mut self.written) {
            std::fs::rename(&temporary, &path).map_err(|error| {
                let _ = std::fs::remove_file(&temporary);
                vec![format!("{}: cannot be written: {error}", path.display())]
            })?;
        }
        Ok(())
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        for (temporary, _) in &self.written {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: ImportArgs,
    }

    fn kraft(arguments: &[&Path]) -> Result<Vec<String>, Vec<String>> {
        let command = [Path::new("coordsim"), Path::new("kraft")];
        let arguments = command.iter().chain(arguments).map(|path| path.as_os_str());
        let What::Kraft(args) = Line::parse_from(arguments).args.what;
        import_kraft(&args)
    }

    fn log() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/lab-cluster/00000000000000000000.log")
    }

    fn tree(folder: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            if entry.path().is_dir() {
                names.extend(tree(&entry.path()).iter().map(|inner| format!("{name}/{inner}")));
            } else {
                names.push(name);
            }
        }
        names.sort();
        names
    }

    fn files_of(scenario: &Path) -> toml::Value {
        let table: toml::Table = std::fs::read_to_string(scenario).unwrap().parse().unwrap();
        table["cluster"]["kraft"]["files"].clone()
    }

    #[test]
    fn outputs() {
        let folder = tempfile::tempdir().unwrap();
        let (out, csv) = (folder.path().join("deep/mine"), folder.path().join("hashes.csv"));
        let checkpoint = log().with_file_name("bootstrap.checkpoint");
        let lines = kraft(&[&log(), &checkpoint, Path::new("--out"), &out, Path::new("--topics"), &csv]).unwrap();
        assert_eq!(lines.last(), Some(&format!("wrote {}.toml", out.display())));
        assert_eq!(tree(folder.path()), ["deep/mine.toml", "deep/mine/00000000000000000000.log", "hashes.csv"]);
        assert_eq!(files_of(&out.with_extension("toml")), toml::Value::from(vec!["mine/00000000000000000000.log"]));
        assert_eq!(
            std::fs::read(folder.path().join("deep/mine/00000000000000000000.log")).unwrap(),
            std::fs::read(log()).unwrap()
        );
        // A header, and a row for each change of a hash, Kafka's own topics included.
        assert_eq!(std::fs::read_to_string(csv).unwrap().lines().count(), 1 + 164);
    }

    #[test]
    fn files_beneath_the_scenario_stay() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("a/b.log");
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::copy(log(), &there).unwrap();
        kraft(&[&there, Path::new("--out"), &folder.path().join("x.toml")]).unwrap();
        assert_eq!(tree(folder.path()), ["a/b.log", "x.toml"]);
        assert_eq!(files_of(&folder.path().join("x.toml")), toml::Value::from(vec!["a/b.log"]));
    }

    #[test]
    fn bad_input_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let cut = folder.path().join("cut.log");
        let bytes = std::fs::read(log()).unwrap();
        std::fs::write(&cut, &bytes[..1000]).unwrap();
        let (out, csv) = (folder.path().join("x.toml"), folder.path().join("x.csv"));
        let errors = kraft(&[&cut, Path::new("--out"), &out, Path::new("--topics"), &csv]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains("cut.log: record batch at byte 995: the file ends after 5 of"), "{errors:?}");
        // An output that cannot be written takes the others with it.
        let errors =
            kraft(&[&log(), Path::new("--topics"), &csv, Path::new("--out"), &cut.join("x.toml")]).unwrap_err();
        assert!(errors[0].contains("cannot be written"), "{errors:?}");
        assert_eq!(tree(folder.path()), ["cut.log"]);
    }
}
