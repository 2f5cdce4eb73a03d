//! `coordsim merge`: the shards of a sweep become one.

use super::error::CliError;
use super::sweep::failed;
use crate::scenario::counted;
use crate::study::{Folder, Plan};
use std::io::Write;
use std::path::PathBuf;

/// The most missing runs that are named.
const NAMED: usize = 10;

/// Joins the folders of the shards of a sweep.
///
/// The folder that it makes has the bytes of the sweep that was not cut into shards.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  coordsim merge out/grid-0 out/grid-1 --out out/grid")]
pub struct MergeArgs {
    /// The folders of the shards
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &MergeArgs) -> Result<(), CliError> {
    let shards: Vec<Folder> = args.shards.iter().map(|path| Folder::of(path)).collect();
    let (plan, manifest) = common_plan(&shards)?;
    let found = find_runs(&shards, &plan)?;
    let folder = Folder::open(&args.out).map_err(failed)?;
    folder.keep_plan(&plan, &manifest).map_err(failed)?;
    for (run, bytes) in plan.runs.iter().zip(&found) {
        folder.copy_run(&run.id, bytes).map_err(failed)?;
    }
    folder.write_table(&plan).map_err(failed)?;
    let mut text = std::io::stdout().lock();
    let (runs, shards) = (counted(plan.runs.len() as u64, "run"), counted(shards.len() as u64, "folder"));
    writeln!(text, "{runs} of {shards}, {} rows", plan.num_rows())?;
    Ok(writeln!(text, "Table: {}", args.out.join("sweep.csv").display())?)
}

/// The plan that all shards have, and what says where it is from.
fn common_plan(shards: &[Folder]) -> Result<(Plan, Vec<u8>), CliError> {
    let mut errors = Vec::new();
    let mut common: Option<(Plan, Vec<u8>)> = None;
    for shard in shards {
        let read = shard.plan().and_then(|plan| Ok((plan, shard.manifest()?)));
        match (read, &common) {
            (Err(error), _) => errors.push(error.to_string()),
            (Ok(read), None) => common = Some(read),
            (Ok(read), Some(first)) if read != *first => errors.push(format!(
                "{}: a shard of another sweep than {}: their plan.csv or sweep.json differ",
                shard.path().display(),
                shards[0].path().display()
            )),
            (Ok(_), Some(_)) => {}
        }
    }
    common.filter(|_| errors.is_empty()).ok_or(CliError::Input(errors))
}

/// The runs of a plan, each from the shard that has all of it.
fn find_runs(shards: &[Folder], plan: &Plan) -> Result<Vec<Vec<u8>>, CliError> {
    let (mut found, mut errors, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for run in &plan.runs {
        let mut of_run: Option<(&Folder, Vec<u8>)> = None;
        for shard in shards {
            if !shard.missing(run).map_err(failed)?.is_empty() {
                continue;
            }
            let Some(bytes) = shard.run_bytes(&run.id).map_err(failed)? else { continue };
            match &of_run {
                None => of_run = Some((shard, bytes)),
                Some((_, same)) if *same == bytes => {}
                Some((other, _)) => errors.push(format!(
                    "runs/{}.csv differs between {} and {}; remove the one that is wrong",
                    run.id,
                    other.path().display(),
                    shard.path().display()
                )),
            }
        }
        match of_run {
            Some((_, bytes)) => found.push(bytes),
            None => missing.push(run),
        }
    }
    if !missing.is_empty() {
        let named: Vec<String> = missing.iter().take(NAMED).map(|run| run.id.clone()).collect();
        let more = missing.len().checked_sub(NAMED).filter(|more| *more > 0);
        let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
        let (missing, all) = (missing.len(), counted(plan.runs.len() as u64, "run"));
        errors.push(format!("{missing} of {all} are in no folder: {}{more}; run their shards", named.join(", ")));
    }
    if errors.is_empty() { Ok(found) } else { Err(CliError::Input(errors)) }
}
