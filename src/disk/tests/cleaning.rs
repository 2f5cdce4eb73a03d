//! What the cleaner does, and when. The rules are those of `Cleaner` and `LogCleanerManager` of 4.3.1.

use super::*;

/// A log with a dirty segment of keys 1 to 3 and an active one; each segment holds three batches of one record.
fn dirty() -> OffsetsLog<u32> {
    let mut log = log(240);
    for (at_ms, key) in [1, 2, 1, 3].into_iter().enumerate() {
        append(&mut log, at_ms as i64, &[(key, true)]);
    }
    log.flush();
    log
}

/// The last of each key stays, the active segment as it is; what is cleaned reaches up to the active segment.
#[test]
fn keeps_the_last_of_each_key() {
    let mut log = dirty();
    let cleaning = log.clean(10);
    assert_eq!(shown(&log), ["0 160 [1:2] [2:1]", "3 80 [3:3]"]);
    let expected = Cleaning {
        cleanings: 1,
        read_bytes: 480,
        replaced_bytes: 240,
        written_bytes: 160,
        removed_records: 1,
        removed_tombstones: 0,
        full_maps: 0,
    };
    assert_eq!((cleaning, log.bytes()), (expected, 240));
}

/// Every 15 s, if more than half is dirty; the active segment does not count.
#[test]
fn cleans_when_enough_is_dirty() {
    let mut log = dirty();
    log.advance(14_999);
    assert_eq!(log.totals().cleaned.cleanings, 0);
    log.advance(15_000);
    assert_eq!(log.totals().cleaned.cleanings, 1);
    // 160 clean bytes, then a dirty segment of two batches, 160 too: not more than half.
    append(&mut log, 16_000, &[(4, true)]);
    append(&mut log, 16_001, &[(4, true), (5, true), (6, true), (7, true)]);
    log.flush();
    assert_eq!(shown(&log), ["0 160 [1:2] [2:1]", "3 160 [3:3] [4:4]", "5 137 [5:4 6:5 7:6 8:7]"]);
    log.advance(100_000);
    assert_eq!(log.totals().cleaned.cleanings, 1);
    append(&mut log, 100_001, &[(4, true), (5, true), (6, true)]);
    log.advance(DAY_MS);
    assert_eq!(log.totals().cleaned.cleanings, 2);
    // Two segments of 160 bytes are too large for one.
    assert_eq!(shown(&log)[..2], ["0 160 [1:2] [2:1]", "3 80 [3:3]"]);
}

#[test]
fn lags_of_the_cleaner() {
    let settings = LogSettings { segment_bytes: 240, min_compaction_lag_ms: 60_000, ..LogSettings::default() };
    let grow = |settings| {
        let mut log = log_with(settings);
        (0..4).for_each(|at_ms| append(&mut log, at_ms, &[(1, true)]));
        log.flush();
        log
    };
    // The last of its first segment is of 2 ms: it is cleaned at 75 s, not yet at 60 s.
    let mut log = grow(settings);
    log.advance(74_999);
    assert_eq!(log.totals().cleaned.cleanings, 0);
    log.advance(75_000);
    assert_eq!(log.totals().cleaned.cleanings, 1);
    // Clean enough, but too old.
    let settings = LogSettings {
        segment_bytes: 240,
        min_cleanable_dirty_ratio: 1.0,
        max_compaction_lag_ms: 3_600_000,
        ..LogSettings::default()
    };
    let mut log = log_with(settings);
    (1..5).for_each(|at_ms| append(&mut log, at_ms, &[(1, true)]));
    log.advance(3_600_000);
    assert_eq!(log.totals().cleaned.cleanings, 0);
    log.advance(3_615_000);
    assert_eq!(log.totals().cleaned.cleanings, 1);
}

/// A tombstone goes with the second cleaning, once `delete.retention.ms` has passed since the first one.
#[test]
fn tombstones_go_in_two_passes() {
    let mut log = log(243);
    append(&mut log, 0, &[(1, true), (2, false)]);
    append(&mut log, 1, &[(1, false)]);
    append(&mut log, 2, &[(6, true)]);
    append(&mut log, 3, &[(3, true), (4, true)]);
    log.flush();
    assert_eq!(shown(&log), ["0 243 [0:1 1:-2] [2:-1] [3:6]", "4 99 [4:3 5:4]"]);
    // Both tombstones now count their time from the horizon: -DAY takes 4 bytes and not 1.
    log.clean(10);
    let horizon = DAY_MS + 10;
    let cleaned = format!("0 230 [1:-2]@{horizon} [2:-1]@{horizon} [3:6]");
    assert_eq!(shown(&log), [cleaned.as_str(), "4 99 [4:3 5:4]"]);
    // Nothing is cleaned without something dirty.
    assert_eq!(log.clean(horizon), Cleaning::default());
    append(&mut log, 20, &[(5, true); 9]);
    append(&mut log, 20, &[(5, true); 9]);
    log.flush();
    log.clean(horizon - 1);
    assert_eq!(shown(&log)[0], cleaned);
    append(&mut log, horizon, &[(5, true); 9]);
    log.flush();
    log.clean(horizon);
    assert_eq!(shown(&log)[0], "0 80 [3:6]");
    assert_eq!(log.totals().cleaned.removed_tombstones, 2);
}

/// The last batch of what is cleaned stays as a header, so that its offset is known. That can only be a batch of tombstones
/// that an earlier cleaning, whose map was full before them, has given a horizon.
#[test]
fn the_last_batch_stays_without_records() {
    let settings = LogSettings { segment_bytes: 240, dedupe_buffer_bytes: 72, ..LogSettings::default() };
    let keeps = |keeps_last_batch| {
        let mut log = log_with(LogSettings { keeps_last_batch, ..settings.clone() });
        for (key, value) in [(1, true), (2, true), (3, false), (4, true)] {
            append(&mut log, 0, &[(key, value)]);
        }
        log.flush();
        assert_eq!(log.clean(10).full_maps, 1);
        assert_eq!(shown(&log), [format!("0 235 [0:1] [1:2] [2:-3]@{}", DAY_MS + 10), "3 80 [3:4]".to_owned()]);
        log.clean(DAY_MS + 10);
        log
    };
    let log = keeps(true);
    assert_eq!(shown(&log), ["0 221 [0:1] [1:2] []", "3 80 [3:4]"]);
    let (info, _) = log.segments()[0].batches().last().expect("a batch");
    assert_eq!((info.last_offset(), info.base_timestamp_ms, info.max_timestamp_ms), (2, -1, 0));
    assert_eq!(shown(&keeps(false)), ["0 160 [0:1] [1:2]", "3 80 [3:4]"]);
}

/// A map with room for two keys takes the records up to the third key's first one; what is beyond stays as it is.
#[test]
fn a_full_offset_map_cleans_in_part() {
    let settings = LogSettings { segment_bytes: 400, dedupe_buffer_bytes: 72, ..LogSettings::default() };
    assert_eq!(settings.max_map_keys(), 2);
    let mut log = log_with(settings);
    for (at_ms, key) in [1, 1, 2, 1, 1, 3].into_iter().enumerate() {
        append(&mut log, at_ms as i64, &[(key, true)]);
    }
    log.flush();
    // Full with the third record, so that not even the fourth is taken, though its key is known.
    assert_eq!(log.clean(10).full_maps, 1);
    assert_eq!(shown(&log), ["0 320 [1:1] [2:2] [3:1] [4:1]", "5 80 [5:3]"]);
    assert_eq!(log.clean(10).full_maps, 0);
    assert_eq!(shown(&log), ["0 160 [2:2] [4:1]", "5 80 [5:3]"]);
}

/// Segments are put together as long as what they were before is no larger than one may be.
#[test]
fn cleaned_segments_are_put_together() {
    let mut log = log(240);
    for at_ms in 0..12 {
        append(&mut log, at_ms, &[(1, true)]);
    }
    append(&mut log, 12, &[(2, true)]);
    log.flush();
    log.clean(20);
    assert_eq!(shown(&log), ["0 0 ", "3 0 ", "6 0 ", "9 80 [11:1]", "12 80 [12:2]"]);
    append(&mut log, 21, &[(3, true); 9]);
    log.flush();
    log.clean(30);
    assert_eq!(shown(&log)[..2], ["0 160 [11:1] [12:2]", "13 232 [13:3 14:3 15:3 16:3 17:3 18:3 19:3 20:3 21:3]"]);
}

/// A cleaner that has stopped: everything stays.
#[test]
fn a_dead_cleaner_cleans_nothing() {
    let mut log =
        log_with(LogSettings { segment_bytes: 80, cleaner_stops_at_ms: Some(20_000), ..LogSettings::default() });
    for at_ms in 0..200 {
        append(&mut log, at_ms * 1_000, &[(1, true)]);
    }
    log.advance(DAY_MS);
    assert_eq!(log.totals().cleaned.cleanings, 1);
    assert_eq!(log.bytes(), 187 * 80);
}
