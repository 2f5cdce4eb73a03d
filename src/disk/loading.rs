//! How long a coordinator takes to load its log.

/// A modelled broker: how fast it reads a log and replays it (`CoordinatorLoaderImpl`: one thread reads, decodes and replays).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadModel {
    /// Bytes read and decoded in a second.
    pub bytes_per_second: u64,
    /// The time that each record takes beside that, in ns.
    pub record_ns: u64,
}

impl LoadModel {
    /// The time to load so much, in ms, rounded up.
    pub fn time_ms(&self, bytes: u64, records: u64) -> u64 {
        let reading_ns = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second.max(1));
        let replaying_ns = u128::from(records) * u128::from(self.record_ns);
        (reading_ns + replaying_ns).div_ceil(1_000_000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_records_take_time() {
        let model = LoadModel { bytes_per_second: 100_000_000, record_ns: 2_000 };
        assert_eq!(model.time_ms(0, 0), 0);
        assert_eq!(model.time_ms(1, 0), 1);
        // 100 MB are a second, 250,000 records half of one.
        assert_eq!(model.time_ms(100_000_000, 250_000), 1_500);
    }
}
