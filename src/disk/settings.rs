//! How a log rolls its segments and how it is cleaned: the configuration of `__consumer_offsets` and of the brokers' cleaner.

/// The configuration of the topic and of the cleaner, by Kafka's names and with its defaults (`LogConfig`,
/// `CleanerConfig`, `GroupCoordinatorConfig`; the same in 3.9.1 to 4.4.0). The limits of the indexes
/// (`segment.index.bytes`, 10 MiB) are left out: at an entry for 4 KiB (`index.interval.bytes`) no segment reaches them.
#[derive(Debug, Clone, PartialEq)]
pub struct LogSettings {
    /// `offsets.topic.segment.bytes`, the topic's `segment.bytes`: a segment takes no batch that would make it larger.
    pub segment_bytes: u64,
    /// `segment.ms`: nor a batch so much later than its first one.
    pub segment_ms: i64,
    /// `min.cleanable.dirty.ratio`: a log is cleaned once more than this part of it is dirty.
    pub min_cleanable_dirty_ratio: f64,
    /// `min.compaction.lag.ms`: what is younger stays as it is.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`: what is older is cleaned whatever the ratio.
    pub max_compaction_lag_ms: i64,
    /// `delete.retention.ms`: how long a tombstone stays after the first cleaning that has met it.
    pub delete_retention_ms: i64,
    /// `file.delete.delay.ms`: how long a segment's file stays on the disk after a cleaned one has replaced it.
    pub file_delete_delay_ms: i64,
    /// `log.cleaner.backoff.ms`: how long the cleaner sleeps when it finds nothing to do.
    pub cleaner_backoff_ms: i64,
    /// `log.cleaner.dedupe.buffer.size`: the memory of the offset maps of all threads.
    pub dedupe_buffer_bytes: u64,
    /// `log.cleaner.io.buffer.load.factor`: how full an offset map may become.
    pub dedupe_load_factor: f64,
    /// `log.cleaner.threads`.
    pub cleaner_threads: u32,
    /// From when on nothing is cleaned any more (Unix time in ms): the cleaner is off or has died. `None`: it never is.
    pub cleaner_stops_at_ms: Option<i64>,
    /// Whether the last batch that a cleaning has looked at stays, though no record of it does.
    pub keeps_last_batch: bool,
}

/// The bytes of an entry of the offset map: an MD5 digest and an offset (`SkimpyOffsetMap`).
const OFFSET_MAP_ENTRY_BYTES: u64 = 24;

impl Default for LogSettings {
    fn default() -> Self {
        LogSettings {
            segment_bytes: 100 * 1024 * 1024,
            segment_ms: 7 * 24 * 3_600_000,
            min_cleanable_dirty_ratio: 0.5,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            delete_retention_ms: 24 * 3_600_000,
            file_delete_delay_ms: 60_000,
            cleaner_backoff_ms: 15_000,
            dedupe_buffer_bytes: 128 * 1024 * 1024,
            dedupe_load_factor: 0.9,
            cleaner_threads: 1,
            cleaner_stops_at_ms: None,
            keeps_last_batch: true,
        }
    }
}

impl LogSettings {
    /// How much later than a segment's first batch another one may be and still be in it: what must be cleaned by a time must not
    /// be in the active segment then (`LogConfig.maxSegmentMs`).
    pub fn max_segment_ms(&self) -> i64 {
        if self.max_compaction_lag_ms > 0 { self.max_compaction_lag_ms.min(self.segment_ms) } else { self.segment_ms }
    }

    /// How many keys the offset map of one cleaning holds.
    pub fn max_map_keys(&self) -> u64 {
        let bytes = (self.dedupe_buffer_bytes / u64::from(self.cleaner_threads.max(1))).min(i32::MAX as u64);
        let slots = bytes / OFFSET_MAP_ENTRY_BYTES;
        (slots as f64 * self.dedupe_load_factor) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 128 MiB / 24 = 5,592,405 slots, of which nine tenths are used.
    #[test]
    fn the_map_is_bounded_by_its_memory() {
        assert_eq!(LogSettings::default().max_map_keys(), 5_033_164);
        let two = LogSettings { cleaner_threads: 2, ..LogSettings::default() };
        assert_eq!(two.max_map_keys(), 2_516_581);
    }
}
