//! How a log grows: batches, segments, commits, sizes.

use super::*;
use std::sync::Arc;

/// A batch of one value has 80 bytes, of two 99. A segment takes no batch that would make it larger than it may be.
#[test]
fn segments_roll_by_size() {
    let mut log = log(240);
    for at_ms in 0..4 {
        append(&mut log, at_ms, &[(1, true)]);
    }
    append(&mut log, 4, &[(2, true), (3, true)]);
    log.flush();
    assert_eq!(shown(&log), ["0 240 [0:1] [1:1] [2:1]", "3 179 [3:1] [4:2 5:3]"]);
    assert_eq!((log.bytes(), log.next_offset()), (419, 6));
    // A batch that is larger than a segment has one for itself.
    let mut log = super::log(70);
    append(&mut log, 0, &[(1, true)]);
    append(&mut log, 1, &[(1, true)]);
    log.flush();
    assert_eq!(shown(&log), ["0 80 [0:1]", "1 80 [1:1]"]);
}

/// By the timestamps of what is appended, and only when something is.
#[test]
fn segments_roll_by_time() {
    let mut log = log_with(LogSettings { cleaner_stops_at_ms: Some(0), ..LogSettings::default() });
    append(&mut log, 5, &[(1, true)]);
    append(&mut log, 5 + 7 * DAY_MS, &[(1, true)]);
    append(&mut log, 6 + 7 * DAY_MS, &[(1, true)]);
    append(&mut log, 30 * DAY_MS, &[(1, true)]);
    log.flush();
    assert_eq!(shown(&log), ["0 160 [0:1] [1:1]", "2 80 [2:1]", "3 80 [3:1]"]);
}

/// Operations that linger together are one batch, at the time of the first.
#[test]
fn operations_share_a_batch() {
    let rules = BatchRules { linger_ms: Some(10), max_bytes: BatchRules::DEFAULT_MAX_BYTES };
    let mut log = OffsetsLog::new(LogSettings::default(), rules, 0, 1_000);
    append(&mut log, 100, &[(1, true)]);
    append(&mut log, 109, &[(2, true)]);
    assert_eq!((log.bytes(), log.segments()[0].bytes), (99, 0));
    log.flush();
    assert_eq!(shown(&log), ["0 99 [0:1 1:2]"]);
    let (info, _) = log.segments()[0].batches().next().expect("a batch");
    assert_eq!((info.base_timestamp_ms, info.max_timestamp_ms), (100, 109));
}

fn commit(key: u32) -> Record<u32> {
    Record {
        key: KeyId(key),
        record_type: None,
        offset_delta: 0,
        timestamp_ms: 0,
        key_bytes: 4,
        value_bytes: Some(8),
        hash_bytes: 0,
        payload: 0,
    }
}

/// Counted commits are what they would be if each were written: the same bytes, offsets and segments.
#[test]
fn counted_commits_are_what_written_ones_would_be() {
    let members = [vec![commit(10), commit(11)], vec![commit(12)]];
    let mut counted = log(4_000);
    counted.start_commits(5_000, 5_000);
    for (member, records) in (0..).zip(&members) {
        counted.set_commits(KeyId(member), records.clone());
    }
    let mut written = log(4_000);
    let mut rounds = 0;
    for at_ms in [12_000, 58_000, 93_000, 300_000] {
        append(&mut counted, at_ms, &[(1, true)]);
        counted.flush();
        while (rounds + 1) * 5_000 <= at_ms {
            rounds += 1;
            append(&mut written, rounds * 5_000, &[(10, true), (11, true)]);
            append(&mut written, rounds * 5_000, &[(12, true)]);
        }
        append(&mut written, at_ms, &[(1, true)]);
        written.flush();
    }
    assert_eq!(shown(&counted), shown(&written));
    assert_eq!(counted.finish_sizes(301_000), written.finish_sizes(301_000));
    let totals = counted.totals();
    assert_eq!((totals.commit_records, totals.commit_batches, totals.commit_bytes), (180, 120, 60 * 179));
    let counted_alone = counted.segments().iter().flat_map(Segment::items).filter(|(item, _)| match item {
        Item::Commits(run) => run.rounds > 1,
        Item::Batch { .. } => false,
    });
    assert!(counted_alone.count() > 0);
}

/// What a member commits may change, and stop.
#[test]
fn commits_follow_their_members() {
    let mut log = log(10_000);
    log.start_commits(5_000, 5_000);
    log.advance(9_999);
    log.set_commits(KeyId(0), vec![commit(10)]);
    log.advance(15_000);
    log.set_commits(KeyId(0), vec![commit(11)]);
    log.advance(20_000);
    log.set_commits(KeyId(0), Vec::new());
    log.advance(90_000);
    assert_eq!(shown(&log), ["0 240 [0:10] [1:10] [2:11]"]);
    let Item::Commits(run) = log.segments()[0].items().next().expect("a run").0 else { panic!("counted") };
    assert_eq!((run.rounds, Arc::strong_count(&run.round)), (2, 1));
}

/// The size at the end of each bucket, and the most that there was on the disk.
#[test]
fn sizes_over_time() {
    let mut log = log(160);
    append(&mut log, 500, &[(1, true)]);
    append(&mut log, 2_999, &[(1, true)]);
    append(&mut log, 4_000, &[(2, true)]);
    // At 15000 the first segment loses a batch; until 75000 it also lies there as it was.
    let sizes: Vec<_> = log.finish_sizes(77_000).iter().map(|s| (s.log_bytes, s.peak_bytes)).collect();
    assert_eq!(sizes[..5], [(80, 80), (80, 80), (160, 160), (160, 160), (240, 240)]);
    assert_eq!(sizes[14..16], [(240, 240), (160, 320)]);
    assert_eq!(sizes[74..], [(160, 320), (160, 160), (160, 160)]);
}
