//! Runs as CSV files.

use super::RunResults;
use super::files::OutputFile;
use super::rows::{
    BumpRow, DelaysRow, HeapRow, KindRow, LoadRow, LogRow, OperationRow, RecordRow, ShardRow, Summary, ThreadsRow,
    TimelineRow, WorkRow,
};
use crate::kafka::records::RecordType;
use crate::simulation::Totals;
use crate::strategy::Strategy;

/// The columns of each file: the first ones are a contract, more may follow.
const SUMMARY: &str = "scenario,seed,strategy,kafka,groups,members,topics,partitions,heartbeats,metadata_images,refreshes,\
epoch_bumps,idle_bumps,needless_bumps,missed_changes,records,appended_bytes,strategy_bytes,rebalance_bytes,\
log_peak_bytes,log_final_bytes,topic_hashes,hash_bytes,cpu_model_ns,heap_model_bytes,unjudged_bumps,\
commit_records,commit_bytes,cleaner_read_bytes,cleaner_written_bytes,removed_bytes,replicated_bytes,\
log_strategy_bytes,log_rebalance_bytes,log_commit_bytes,load_model_ms,load_max_model_ms,busiest_shard,\
busiest_shard_cpu_model_ns,waiting_p50_model_ns,waiting_p99_model_ns,waiting_max_model_ns";
const TIMELINE: &str = "scenario,seed,strategy,time_ms,heartbeats,refreshes,epoch_bumps,appended_bytes,log_bytes,\
topic_hashes,cpu_model_ns,log_peak_bytes";
const BUMPS: &str = "scenario,seed,strategy,time_ms,kind,group,old_epoch,new_epoch,cause,topic,field,event,delay_ms,\
assignment_changed,needless,image,before,after,wrote,followed";
const RECORDS: &str = "scenario,seed,strategy,record_type,records,tombstones,key_bytes,value_bytes,batch_bytes,\
log_records,log_tombstones,log_batch_bytes";
const KINDS: &str = "scenario,seed,strategy,kind,groups,members,heartbeats,epoch_bumps,idle_bumps,needless_bumps,\
unjudged_bumps,records,batch_bytes,strategy_bytes,rebalance_bytes";
const OPERATIONS: &str = "scenario,seed,strategy,operation,count,cpu_model_ns";
const HEAP: &str = "scenario,seed,strategy,component,objects,bytes,bytes_without_compressed_references";
const WORK: &str = "scenario,seed,strategy,cause,operation,count,cpu_model_ns";
const SHARDS: &str = "scenario,seed,strategy,shard,broker,heartbeats,refreshes,epoch_bumps,topic_hashes,hash_bytes,\
records,cpu_model_ns";
const THREADS: &str = "scenario,seed,strategy,broker,threads,idle_ratio,busy_model_ns,idle_heartbeats_model_ns,jobs,\
waiting_p50_model_ns,waiting_p99_model_ns,waiting_max_model_ns,waiting_max_at_ms";
const DELAYS: &str = "scenario,seed,strategy,changes,p50_ms,p90_ms,p99_ms,max_ms";

const LOGS: &str = "scenario,seed,strategy,shard,broker,groups,replicas,appended_bytes,commit_bytes,cleanings,\
cleaner_read_bytes,cleaner_written_bytes,removed_bytes,log_peak_bytes,log_bytes,segments,batches,records,strategy_bytes,\
rebalance_bytes,load_model_ms";
const LOADS: &str = "scenario,seed,strategy,time_ms,shard,broker,bytes,records,replayed_records,load_model_ms,error";

/// The CSV files of runs, in the order of the runs.
///
/// # Errors
/// Only if rows and columns do not fit together, which tests rule out.
pub fn csv_files(runs: &[RunResults]) -> Result<Vec<OutputFile>, csv::Error> {
    Ok(vec![
        summary_file(runs)?,
        timeline_file(runs)?,
        table("bumps.csv", BUMPS, runs, |run, strategy, totals, rows| {
            totals.bumps.iter().try_for_each(|bump| rows.serialize(BumpRow::new(run, strategy, bump)))
        })?,
        table("records.csv", RECORDS, runs, |run, strategy, totals, rows| {
            let mut types = RecordType::ALL.into_iter().filter(|of_type| totals.has_kind(of_type.kind()));
            types.try_for_each(|of_type| rows.serialize(RecordRow::new(run, strategy, totals, of_type)))
        })?,
        table("operations.csv", OPERATIONS, runs, |run, strategy, totals, rows| {
            OperationRow::all(run, strategy, totals).into_iter().try_for_each(|row| rows.serialize(row))
        })?,
        table("delays.csv", DELAYS, runs, |run, strategy, totals, rows| {
            rows.serialize(DelaysRow::new(run, strategy, totals))
        })?,
        table("logs.csv", LOGS, runs, |run, strategy, totals, rows| {
            totals.logs.iter().try_for_each(|log| rows.serialize(LogRow::new(run, strategy, log)))
        })?,
        table("loads.csv", LOADS, runs, |run, strategy, totals, rows| {
            totals.loads.iter().try_for_each(|load| rows.serialize(LoadRow::new(run, strategy, load)))
        })?,
        table("kinds.csv", KINDS, runs, |run, strategy, totals, rows| {
            KindRow::all(run, strategy, totals).into_iter().try_for_each(|row| rows.serialize(row))
        })?,
        table("work.csv", WORK, runs, |run, strategy, totals, rows| {
            WorkRow::all(run, strategy, totals).into_iter().try_for_each(|row| rows.serialize(row))
        })?,
        table("shards.csv", SHARDS, runs, |run, strategy, totals, rows| {
            ShardRow::all(run, strategy, totals).try_for_each(|row| rows.serialize(row))
        })?,
        table("threads.csv", THREADS, runs, |run, strategy, totals, rows| {
            ThreadsRow::all(run, strategy, totals).try_for_each(|row| rows.serialize(row))
        })?,
        table("heap.csv", HEAP, runs, |run, strategy, totals, rows| {
            HeapRow::all(run, strategy, totals).into_iter().try_for_each(|row| rows.serialize(row))
        })?,
    ])
}

/// `summary.csv` alone.
///
/// # Errors
/// As [`csv_files`].
pub fn summary_file(runs: &[RunResults]) -> csv::Result<OutputFile> {
    table("summary.csv", SUMMARY, runs, |run, strategy, totals, rows| {
        rows.serialize(Summary::new(run, strategy, totals))
    })
}

/// `timeline.csv` alone.
///
/// # Errors
/// As [`csv_files`].
pub(super) fn timeline_file(runs: &[RunResults]) -> csv::Result<OutputFile> {
    table("timeline.csv", TIMELINE, runs, |run, strategy, totals, rows| {
        TimelineRow::all(run, strategy, totals).try_for_each(|row| rows.serialize(row))
    })
}

type Writer = csv::Writer<Vec<u8>>;

/// A file with its columns, though there may be no row.
fn table<'r>(
    name: &'static str,
    columns: &str,
    runs: &'r [RunResults],
    add: impl Fn(&'r RunResults, &'r Strategy, &'r Totals, &mut Writer) -> Result<(), csv::Error>,
) -> Result<OutputFile, csv::Error> {
    let mut rows = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    rows.write_record(columns.split(','))?;
    for run in runs {
        for (strategy, totals) in &run.strategies {
            add(run, strategy, totals, &mut rows)?;
        }
    }
    Ok(OutputFile { name, bytes: csv_bytes(rows)? })
}

/// What was written.
///
/// # Errors
/// None that can happen: memory is written to.
pub fn csv_bytes(rows: csv::Writer<Vec<u8>>) -> csv::Result<Vec<u8>> {
    rows.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::{Cause, Field, FoundChange};
    use crate::cost::{BrokerThreads, Counts, Operation, Profile, Threads, Trigger, Waiting};
    use crate::disk::LoadModel;
    use crate::results::RunSize;
    use crate::simulation::{Bucket, BumpTotals, LoadTotals, ShardLog, ShardWork, Values, Written};

    fn profile() -> Profile {
        let prices = "heartbeat = 1_400\ntimer = 300\n";
        let others = Operation::ALL.into_iter().filter(|operation| !prices.contains(operation.name()));
        let others: Vec<&str> = others.map(Operation::name).collect();
        let text = format!("name = \"p\"\nnot_measured = {others:?}\n[picoseconds]\n{prices}");
        Profile::parse("p.toml", &text).expect("a profile")
    }

    fn run() -> RunResults {
        let found = |topic: &str, since_ms| FoundChange { topic: topic.into(), field: Field::Racks, since_ms };
        let bump = BumpTotals {
            time_ms: 5_000,
            shard: 0,
            kind: crate::kafka::GroupKind::Consumer,
            group: "a,b".into(),
            old_epoch: 1,
            new_epoch: 2,
            causes: vec![Cause::Join, Cause::Refresh],
            found: vec![found("x", 4_000), found("y", 1_500)],
            event: "reassign".into(),
            needless: false,
            assignment_changed: None,
            values: [("0: a", "0: b"), ("1", "2")]
                .map(|(before, after)| Values { image: 3, before: before.to_owned(), after: after.to_owned() })
                .into(),
            wrote: vec![Written { record_type: RecordType::ConsumerGroupMetadata, records: 1, bytes: 33 }],
            followed: Vec::new(),
        };
        let log = ShardLog { shard: 0, replicas: 3, ..ShardLog::default() };
        let load = LoadTotals {
            time_ms: 3,
            shard: 0,
            broker: 1,
            bytes: 2_000,
            records: 50,
            replayed_records: 20,
            error: None,
        };
        // Heartbeats take 1.4 ns and timers 0.3; nothing else has a price.
        let mut counts = [Counts::default(); Trigger::ALL.len()];
        counts[Trigger::Heartbeat as usize] = Counts::of(Operation::Heartbeat, 3);
        counts[Trigger::Timer as usize] = Counts::of(Operation::Timer, 1);
        counts[Trigger::Timer as usize].add(Operation::Record, 7);
        let bucket = |counts| Bucket { counts, ..Bucket::default() };
        let timeline = vec![bucket(Counts::of(Operation::Heartbeat, 1)), bucket(Counts::of(Operation::Heartbeat, 2))];
        let shard = |shard, counts| ShardWork { shard, broker: Some(4), counts, epoch_bumps: 1, tenures: Vec::new() };
        let shards = vec![shard(0, counts[1]), shard(5, counts[0])];
        let (logs, loads) = (vec![log], vec![load]);
        let waiting = Waiting { jobs: 9, p50_ns: 1, p99_ns: 2, max_ns: 3, max_at_ms: Some(8_000) };
        let broker = BrokerThreads { broker: 4, threads: 2, busy_ns: 30, idle_heartbeats_ns: 70, waiting };
        let threads = Some(Threads { brokers: vec![broker], waiting: Waiting { max_ns: 5, ..waiting } });
        let totals = Totals { counts, bumps: vec![bump], timeline, logs, loads, shards, threads, ..Totals::default() };
        RunResults {
            scenario: "s".to_owned(),
            seed: 7,
            kafka: "4.3.1".to_owned(),
            size: RunSize { kinds: [(1, 2), (0, 0), (0, 0)], ..RunSize::default() },
            start_unix_ms: 0,
            timeline_ms: 5_000,
            end_ms: 10_000,
            max_message_bytes: 1_048_588,
            profile: profile(),
            loading: LoadModel { bytes_per_second: 1_000, record_ns: 1_000_000 },
            strategies: ["ideal", "cached-hash"]
                .map(|name| (Strategy::preset(name).expect("a preset"), totals.clone()))
                .into(),
        }
    }

    fn files(runs: &[RunResults]) -> Vec<(&'static str, Vec<String>)> {
        let files = csv_files(runs).expect("rows fit columns").into_iter();
        let lines =
            |file: OutputFile| String::from_utf8(file.bytes).expect("text").lines().map(str::to_owned).collect();
        files.map(|file| (file.name, lines(file))).collect()
    }

    /// The columns that scripts outside rely on, at the beginning of each file, and the same ones without a run.
    #[test]
    fn columns_are_the_contract() {
        let contract = [
            (
                "summary.csv",
                "scenario,seed,strategy,kafka,groups,members,topics,partitions,heartbeats,metadata_images,refreshes,\
                 epoch_bumps,idle_bumps,needless_bumps,missed_changes,records,appended_bytes,strategy_bytes,\
                 rebalance_bytes,log_peak_bytes,log_final_bytes,topic_hashes,hash_bytes,cpu_model_ns,heap_model_bytes",
            ),
            (
                "timeline.csv",
                "scenario,seed,strategy,time_ms,heartbeats,refreshes,epoch_bumps,appended_bytes,log_bytes,topic_hashes,\
                 cpu_model_ns",
            ),
            (
                "bumps.csv",
                "scenario,seed,strategy,time_ms,kind,group,old_epoch,new_epoch,cause,topic,field,event,delay_ms,\
                 assignment_changed",
            ),
            ("records.csv", "scenario,seed,strategy,record_type,records,tombstones,key_bytes,value_bytes"),
            ("operations.csv", "scenario,seed,strategy,operation,count,cpu_model_ns"),
            ("delays.csv", "scenario,seed,strategy,changes,p50_ms,p90_ms,p99_ms,max_ms"),
            ("logs.csv", "scenario,seed,strategy,shard,broker"),
            ("loads.csv", "scenario,seed,strategy,time_ms,shard,broker,bytes,records"),
            (
                "kinds.csv",
                "scenario,seed,strategy,kind,groups,members,heartbeats,epoch_bumps,idle_bumps,needless_bumps",
            ),
            ("work.csv", "scenario,seed,strategy,cause,operation,count,cpu_model_ns"),
            ("shards.csv", "scenario,seed,strategy,shard,broker,heartbeats"),
            ("threads.csv", "scenario,seed,strategy,broker,threads,idle_ratio"),
            ("heap.csv", "scenario,seed,strategy,component,objects,bytes,bytes_without_compressed_references"),
        ];
        for (with, without) in files(&[run()]).iter().zip(files(&[])) {
            assert_eq!((with.0, &with.1[..1]), (without.0, &without.1[..]));
        }
        for ((name, columns), (written_name, lines)) in contract.iter().zip(files(&[run()])) {
            assert_eq!(*name, written_name);
            assert!(format!("{},", lines[0]).starts_with(&format!("{columns},")), "{name}: {}", lines[0]);
        }
    }

    /// Each cell stands under the name of its field.
    #[test]
    fn cells_are_in_their_columns() {
        fn header(row: impl serde::Serialize) -> String {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.serialize(row).expect("a row");
            let text = String::from_utf8(writer.into_inner().expect("bytes")).expect("text");
            text.lines().next().unwrap_or_default().to_owned()
        }
        let run = run();
        let (strategy, totals) = &run.strategies[0];
        assert_eq!(header(Summary::new(&run, strategy, totals)), SUMMARY);
        assert_eq!(header(TimelineRow::all(&run, strategy, totals).next().expect("a bucket")), TIMELINE);
        assert_eq!(header(BumpRow::new(&run, strategy, &totals.bumps[0])), BUMPS);
        assert_eq!(header(RecordRow::new(&run, strategy, totals, RecordType::ALL[0])), RECORDS);
        assert_eq!(header(OperationRow::all(&run, strategy, totals).remove(0)), OPERATIONS);
        assert_eq!(header(DelaysRow::new(&run, strategy, totals)), DELAYS);
        assert_eq!(header(LogRow::new(&run, strategy, &totals.logs[0])), LOGS);
        assert_eq!(header(KindRow::all(&run, strategy, totals).remove(0)), KINDS);
        assert_eq!(header(WorkRow::all(&run, strategy, totals).remove(0)), WORK);
        assert_eq!(header(ShardRow::all(&run, strategy, totals).next().expect("a shard")), SHARDS);
        assert_eq!(header(ThreadsRow::all(&run, strategy, totals).next().expect("a broker")), THREADS);
        assert_eq!(header(LoadRow::new(&run, strategy, &totals.loads[0])), LOADS);
    }

    #[test]
    fn what_is_not_known_is_empty() {
        let files = files(&[run()]);
        let row = |file: usize, row: usize| files[file].1[row].as_str();
        assert_eq!(
            row(0, 1),
            "s,7,ideal,4.3.1,0,0,0,0,3,0,0,1,0,0,,0,0,0,0,0,0,0,0,4,0,1,0,0,0,0,0,0,0,0,0,0,2050,5,4,1,2,5"
        );
        assert_eq!(
            row(0, 2),
            "s,7,cached-hash,4.3.1,0,0,0,0,3,0,0,1,0,0,0,0,0,0,0,0,0,0,0,4,0,1,0,0,0,0,0,0,0,0,0,0,2050,5,4,1,2,5"
        );
        assert_eq!([row(1, 1), row(1, 2)], ["s,7,ideal,0,1,0,0,0,0,0,1,0", "s,7,ideal,5000,2,0,0,0,0,0,3,0"]);
        // The delay is that of the earliest change.
        let bump = "s,7,ideal,5000,consumer,\"a,b\",1,2,join;refresh,x;y,racks;racks,reassign,3500,,false,3,0: a;1,0: b;2,ConsumerGroupMetadata 1 33,";
        assert_eq!(row(2, 1), bump);
        let operation = |name: &str| {
            let has_name = |line: &&String| line.split(',').nth(3) == Some(name);
            files[4].1.iter().find(has_name).map(String::as_str)
        };
        assert_eq!(operation("heartbeat"), Some("s,7,ideal,heartbeat,3,4"));
        assert_eq!(operation("timer"), Some("s,7,ideal,timer,1,0"));
        assert_eq!(operation("record"), Some("s,7,ideal,record,7,"));
        assert_eq!(operation("load"), Some("s,7,ideal,load,0,"));
        assert_eq!(
            files[9].1[1..4],
            ["s,7,ideal,heartbeat,heartbeat,3,4", "s,7,ideal,timer,timer,1,0", "s,7,ideal,timer,record,7,"]
        );
        assert_eq!(files[10].1[1..3], ["s,7,ideal,0,4,0,0,1,0,0,7,0", "s,7,ideal,5,4,3,0,1,0,0,0,4"]);
        // 100 ns of 20 s leave 0.999999995.
        assert_eq!(row(11, 1), "s,7,ideal,4,2,0.999999,30,70,9,1,2,3,8000");
        assert_eq!(row(5, 1), "s,7,ideal,2,1000,3500,3500,3500");
        assert_eq!(row(6, 1), "s,7,ideal,0,,0,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
        assert_eq!(row(7, 1), "s,7,ideal,3,0,1,2000,50,20,2050,");
        // Kinds of which there are no groups have no row.
        assert_eq!(
            files[8].1[1..],
            ["s,7,ideal,consumer,1,2,0,1,0,0,1,0,0,0,0", "s,7,cached-hash,consumer,1,2,0,1,0,0,1,0,0,0,0"]
        );
    }
}
