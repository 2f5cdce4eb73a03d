//! How large a log is over time.

/// The sizes of a log in a bucket of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SizesOfBucket {
    /// The log's bytes at its end.
    pub log_bytes: u64,
    /// The most bytes that it took on the disk: with the segments that a cleaning has replaced and that are not deleted yet.
    pub peak_bytes: u64,
}

/// The sizes so far.
#[derive(Debug)]
pub(super) struct Sizes {
    start_ms: i64,
    bucket_ms: i64,
    buckets: Vec<SizesOfBucket>,
    /// When the last bucket ends.
    end_ms: i64,
    /// What is on the disk since the last note.
    disk_bytes: u64,
}

impl Sizes {
    /// Nothing is there yet.
    pub fn new(start_ms: i64, bucket_ms: i64) -> Sizes {
        let bucket_ms = bucket_ms.max(1);
        let buckets = vec![SizesOfBucket::default()];
        Sizes { start_ms, bucket_ms, buckets, end_ms: start_ms + bucket_ms, disk_bytes: 0 }
    }

    /// From a time on, which is not before the last one, the log has so many bytes and takes so many on the disk.
    pub fn note(&mut self, now_ms: i64, log_bytes: u64, disk_bytes: u64) {
        if now_ms >= self.end_ms {
            self.begin_bucket(now_ms, disk_bytes);
        }
        if let Some(last) = self.buckets.last_mut() {
            last.log_bytes = log_bytes;
            last.peak_bytes = last.peak_bytes.max(disk_bytes);
        }
        self.disk_bytes = disk_bytes;
    }

    /// Begins the bucket of a time. What was on the disk before still was when it began, unless it begins at that time.
    fn begin_bucket(&mut self, now_ms: i64, disk_bytes: u64) {
        let log_bytes = self.buckets.last().map_or(0, |last| last.log_bytes);
        let unchanged = SizesOfBucket { log_bytes, peak_bytes: self.disk_bytes };
        self.end_ms = self.bucket_end_ms(now_ms);
        let begin_ms = self.end_ms - self.bucket_ms;
        self.buckets.resize(((begin_ms - self.start_ms) / self.bucket_ms) as usize + 1, unchanged);
        if let (Some(last), true) = (self.buckets.last_mut(), now_ms == begin_ms) {
            last.peak_bytes = disk_bytes;
        }
    }

    /// When the bucket of a time ends.
    pub fn bucket_end_ms(&self, now_ms: i64) -> i64 {
        let buckets = (now_ms - self.start_ms).div_euclid(self.bucket_ms);
        self.start_ms + (buckets + 1) * self.bucket_ms
    }

    /// All of it.
    pub fn take(&mut self) -> Vec<SizesOfBucket> {
        std::mem::take(&mut self.buckets)
    }
}
