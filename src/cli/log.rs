//! `coordsim log`: what a strategy leaves in `__consumer_offsets`, as the files of a broker.

use super::error::CliError;
use super::inputs::{Input, parse_duration};
use super::progress::Progress;
use crate::cluster::HistoryBuilder;
use crate::disk::segment_file::file_name;
use crate::kernel::TimeMs;
use crate::results::{csv_bytes, write_tree};
use crate::scenario::counted;
use crate::simulation::{ShardFiles, logs, num_worlds};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Writes the log of a scenario's coordinators, the topic __consumer_offsets, as Kafka has it on a broker's disk.
///
/// Each partition is a folder of segments, as they are at the end under one strategy: what the cleaner has removed by then is
/// not there. Kafka's tools read them, and a broker loads them (it makes the indexes anew), unless the strategy stores topic
/// hashes one by one (stored-hash), which no Kafka does. groups.csv says which groups they hold, with their epochs and numbers
/// of members.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  coordsim log scenarios/quickstart.toml --strategy full-map --kafka 3.9.1 --out logs\n  \
    kafka-dump-log.sh --offsets-decoder --files logs/__consumer_offsets-0/00000000000000000000.log"
)]
pub struct LogArgs {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The strategy: a preset or one that the scenario defines
    #[arg(long, value_name = "S", default_value = "cached-hash")]
    strategy: String,
    /// The Kafka version that brokers follow [default: the scenario's]
    #[arg(long, value_name = "V")]
    kafka: Option<String>,
    /// The seed [default: the scenario's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only what happens before this time, such as 10m; not longer than the scenario [default: the whole scenario]
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    until: Option<TimeMs>,
    /// The folder to write to: a new or an empty one
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &LogArgs, quiet: bool) -> Result<(), CliError> {
    let (partitions, groups) = args.partitions(quiet).map_err(CliError::Input)?;
    let segments = partitions.values().map(Vec::len).sum::<usize>() as u64;
    let bytes = partitions.values().flatten().map(|(_, file)| file.len()).sum::<usize>() as u64;
    let num_partitions = partitions.len() as u64;
    let folder = |number: i32| PathBuf::from(format!("__consumer_offsets-{number}"));
    let segment = |number, (base_offset, file)| (folder(number).join(file_name(base_offset)), file);
    let files =
        partitions.into_iter().flat_map(|(number, files)| files.into_iter().map(move |file| segment(number, file)));
    let files = files.chain([(PathBuf::from("groups.csv"), groups)]);
    write_tree(&args.out, files).map_err(|error| CliError::Failed(error.to_string()))?;
    if !quiet {
        let (partitions, segments) = (counted(num_partitions, "partition"), counted(segments, "segment"));
        let (bytes, out) = (counted(bytes, "byte"), args.out.display());
        writeln!(std::io::stdout().lock(), "wrote {out}: {partitions}, {segments}, {bytes}")?;
    }
    Ok(())
}

/// The segments of each partition.
type Partitions = BTreeMap<i32, Vec<(i64, Vec<u8>)>>;

impl LogArgs {
    /// The segments of all partitions, and groups.csv.
    fn partitions(&self, quiet: bool) -> Result<(Partitions, Vec<u8>), Vec<String>> {
        let input = Input::read(&self.scenario, self.kafka.as_deref(), self.until)?;
        let strategies = input.strategies(std::slice::from_ref(&self.strategy))?;
        let is_empty = |out: &PathBuf| std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_none());
        if self.out.exists() && !is_empty(&self.out) {
            let out = self.out.display();
            return Err(vec![format!(
                "--out: {out} is there already; name a new folder, so that no two logs get mixed up"
            )]);
        }
        let workload = input.workload(HistoryBuilder::new(), self.seed.unwrap_or(input.scenario.seed))?;
        let subject = input.subject(&workload);
        let Some(strategy) = strategies.first() else { return Err(Vec::new()) };
        let progress = Progress::new(quiet, &input.scenario.name, "shards");
        progress.0.inc_length(num_worlds(&subject, std::slice::from_ref(strategy)) as u64);
        let shards = logs(&subject, strategy, &|| progress.0.inc(1));
        progress.0.finish_and_clear();
        let groups = groups_csv(&shards).map_err(|error| vec![error.to_string()])?;
        // A partition without groups has an empty segment.
        let mut partitions: Partitions =
            (0..subject.num_shards()).map(|number| (number, vec![(0, Vec::new())])).collect();
        partitions.extend(shards.into_iter().map(|shard| (shard.number, shard.segments)));
        Ok((partitions, groups))
    }
}

fn groups_csv(shards: &[ShardFiles]) -> Result<Vec<u8>, csv::Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(["partition", "group", "kind", "epoch", "members"])?;
    for shard in shards {
        for group in &shard.groups {
            out.serialize((shard.number, &*group.name, group.kind.name(), group.epoch, group.members))?;
        }
    }
    csv_bytes(out)
}
