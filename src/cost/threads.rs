//! Coordinator threads: how long operations wait. Each broker serves its shards with a few threads
//! (`MultiThreadedEventProcessor`, `group.coordinator.threads`), a shard with one at a time, in the order of arrival.
//!
//! What is simulated takes no time, and so arrives when it would if nothing ever had to wait: that waiting changes what happens next is left out.
//! Heartbeats that find nothing to do are not served one by one; what they take is spread evenly and slows everything else down.

use super::{Operation, Profile};
use crate::kernel::TimeMs;
use hdrhistogram::Histogram;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

const NS_PER_MS: u64 = 1_000_000;

/// Operations of a shard in order of time, each with what it takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Jobs {
    /// For each the time since the one before, in ms, and what it takes, in ns; both in groups of seven bits.
    bytes: Vec<u8>,
    last_ms: TimeMs,
}

impl Jobs {
    /// Adds an operation, not earlier than the last one.
    pub fn push(&mut self, time_ms: TimeMs, cost_ns: u64) {
        let since_ms = (time_ms - self.last_ms).unsigned_abs();
        self.last_ms = time_ms;
        for mut number in [since_ms, cost_ns] {
            while number >= 0x80 {
                self.bytes.push(number as u8 | 0x80);
                number >>= 7;
            }
            self.bytes.push(number as u8);
        }
    }

    /// When each arrives, and what it takes.
    pub fn iter(&self) -> impl Iterator<Item = (TimeMs, u64)> {
        let (mut bytes, mut time_ms) = (self.bytes.iter(), 0);
        std::iter::from_fn(move || {
            let mut number = || {
                let (mut number, mut shift) = (0, 0);
                loop {
                    let byte = *bytes.next()?;
                    number |= u64::from(byte & 0x7f) << shift;
                    shift += 7;
                    if byte < 0x80 {
                        return Some(number);
                    }
                }
            };
            let (since_ms, cost_ns) = (number()?, number()?);
            time_ms += since_ms as TimeMs;
            Some((time_ms, cost_ns))
        })
    }
}

/// The time in which a broker led a shard, and what there was to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tenure {
    /// The broker, if there was one.
    pub broker: Option<i32>,
    /// Heartbeats that found nothing to do.
    pub idle_heartbeats: u64,
    /// What else there was to do.
    pub jobs: Jobs,
}

/// How long operations waited for a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many operations did more than an idle heartbeat.
    pub jobs: u64,
    /// Half of them waited no longer.
    pub p50_ns: u64,
    /// 99 % of them waited no longer.
    pub p99_ns: u64,
    /// None waited longer.
    pub max_ns: u64,
    /// When the one that waited longest arrived.
    pub max_at_ms: Option<TimeMs>,
}

/// What the threads of a broker did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokerThreads {
    /// The broker.
    pub broker: i32,
    /// How many threads it has.
    pub threads: u32,
    /// What operations took that did more than an idle heartbeat.
    pub busy_ns: u64,
    /// What idle heartbeats took.
    pub idle_heartbeats_ns: u64,
    /// How long operations waited.
    pub waiting: Waiting,
}

impl BrokerThreads {
    /// Which part of the time until the end the threads had nothing to do, in millionths.
    pub fn idle_millionths(&self, end_ms: TimeMs) -> u64 {
        let capacity_ns = capacity_ns(self.threads, end_ms);
        let free_ns = capacity_ns.saturating_sub(self.busy_ns + self.idle_heartbeats_ns);
        (u128::from(free_ns) * 1_000_000 / u128::from(capacity_ns)) as u64
    }
}

/// What the threads of all brokers did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Threads {
    /// In order of brokers: those that ever led a shard.
    pub brokers: Vec<BrokerThreads>,
    /// The operations of all of them.
    pub waiting: Waiting,
}

/// Lets threads serve what there was to do: for each shard, in order of shards, the times in which it had the same leader.
pub fn serve(shards: &[&[Tenure]], profile: &Profile, threads: u32, end_ms: TimeMs) -> Threads {
    let mut by_broker: BTreeMap<i32, Vec<(usize, &Tenure)>> = BTreeMap::new();
    for (shard, tenures) in shards.iter().enumerate() {
        for tenure in *tenures {
            if let Some(broker) = tenure.broker {
                by_broker.entry(broker).or_default().push((shard, tenure));
            }
        }
    }
    let (mut all, mut brokers) = (Delays::new(), Vec::new());
    for (broker, tenures) in by_broker {
        let idle: u64 = tenures.iter().map(|(_, tenure)| tenure.idle_heartbeats).sum();
        let idle_heartbeats_ns = profile.nanoseconds(Operation::Heartbeat, idle).unwrap_or(0);
        let capacity_ns = capacity_ns(threads, end_ms);
        // However many there are, something is left for the rest.
        let left_ns = capacity_ns.saturating_sub(idle_heartbeats_ns).max(capacity_ns / 1_000).max(1);
        let slowed = |cost_ns: u64| (u128::from(cost_ns) * u128::from(capacity_ns) / u128::from(left_ns)) as u64;
        let (mut delays, mut busy_ns) = (Delays::new(), 0);
        let mut free_at = vec![0; threads.max(1) as usize];
        let mut shard_free_at: BTreeMap<usize, u64> = BTreeMap::new();
        for (time_ms, shard, cost_ns) in merged(&tenures) {
            let arrives_at = time_ms.unsigned_abs() * NS_PER_MS;
            let of_shard = shard_free_at.entry(shard).or_default();
            let ready_at = arrives_at.max(*of_shard);
            // The thread that is free then and was free for the shortest time, so that those that are idle can serve what
            // is ready before; if none is, the first that will be.
            let best =
                |free_at: &u64| if *free_at <= ready_at { (0, Reverse(*free_at)) } else { (*free_at, Reverse(0)) };
            let Some(thread) = free_at.iter_mut().min_by_key(|free_at| best(free_at)) else { continue };
            let starts_at = ready_at.max(*thread);
            let ends_at = starts_at + slowed(cost_ns);
            (*of_shard, *thread) = (ends_at, ends_at);
            busy_ns += cost_ns;
            delays.add(time_ms, starts_at - arrives_at);
        }
        brokers.push(BrokerThreads { broker, threads, busy_ns, idle_heartbeats_ns, waiting: delays.waiting() });
        all.append(&delays);
    }
    Threads { brokers, waiting: all.waiting() }
}

fn capacity_ns(threads: u32, end_ms: TimeMs) -> u64 {
    (u64::from(threads.max(1)) * end_ms.unsigned_abs() * NS_PER_MS).max(1)
}

/// The operations of several shards in order of time, at equal times of shards.
fn merged<'a>(tenures: &'a [(usize, &'a Tenure)]) -> impl Iterator<Item = (TimeMs, usize, u64)> + 'a {
    let mut sources: Vec<_> = tenures.iter().map(|(_, tenure)| tenure.jobs.iter()).collect();
    let mut heads = BinaryHeap::new();
    for (source, jobs) in sources.iter_mut().enumerate() {
        heads.extend(jobs.next().map(|(time_ms, cost_ns)| Reverse((time_ms, source, cost_ns))));
    }
    std::iter::from_fn(move || {
        let Reverse((time_ms, source, cost_ns)) = heads.pop()?;
        heads.extend(sources[source].next().map(|(time_ms, cost_ns)| Reverse((time_ms, source, cost_ns))));
        Some((time_ms, tenures[source].0, cost_ns))
    })
}

/// Delays in the making: percentiles to three digits.
struct Delays {
    histogram: Histogram<u64>,
    longest: Option<(u64, TimeMs)>,
}

impl Delays {
    fn new() -> Delays {
        let histogram = Histogram::new_with_bounds(1, u64::MAX / 2, 3).expect("bounds that are right");
        Delays { histogram, longest: None }
    }

    fn add(&mut self, time_ms: TimeMs, delay_ns: u64) {
        self.histogram.saturating_record(delay_ns);
        if self.longest.is_none_or(|(longest_ns, _)| longest_ns < delay_ns) {
            self.longest = Some((delay_ns, time_ms));
        }
    }

    fn append(&mut self, other: &Delays) {
        self.histogram.add(&other.histogram).expect("the same bounds");
        if let Some((delay_ns, time_ms)) = other.longest
            && self.longest.is_none_or(|(longest_ns, _)| longest_ns < delay_ns)
        {
            self.longest = Some((delay_ns, time_ms));
        }
    }

    fn waiting(&self) -> Waiting {
        let max_ns = self.longest.map_or(0, |(delay_ns, _)| delay_ns);
        // The histogram answers with the end of the range that a delay is in.
        let percentile = |percent: f64| self.histogram.value_at_percentile(percent).min(max_ns);
        Waiting {
            jobs: self.histogram.len(),
            p50_ns: percentile(50.0),
            p99_ns: percentile(99.0),
            max_ns,
            max_at_ms: self.longest.map(|(_, time_ms)| time_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenure(broker: i32, jobs: &[(TimeMs, u64)]) -> Tenure {
        let mut tenure = Tenure { broker: Some(broker), ..Tenure::default() };
        jobs.iter().for_each(|&(time_ms, cost_ns)| tenure.jobs.push(time_ms, cost_ns));
        tenure
    }

    #[test]
    fn jobs_are_kept_as_they_came() {
        let jobs = [(0, 0), (0, 127), (5, 128), (5, 16_384), (86_400_000, 5_000_000_000)];
        assert_eq!(tenure(1, &jobs).jobs.iter().collect::<Vec<_>>(), jobs);
    }

    /// Two shards and a burst of three operations at 1 ms: with one thread they wait for each other; with two only those
    /// of the same shard do.
    #[test]
    fn a_shard_is_served_by_one_thread_at_a_time() {
        let first = [tenure(7, &[(1, 2_000_000), (1, 1_000_000)])];
        let second = [tenure(7, &[(1, 500_000)])];
        let shards = [&first[..], &second[..]];
        let serve = |threads| serve(&shards, &Profile::shipped(), threads, 1_000);
        let waiting = |threads: u32| serve(threads).waiting;
        // At equal times in order of shards: the second of shard 0 waits 2 ms, that of shard 1 for both.
        let one = waiting(1);
        assert_eq!((one.jobs, one.max_ns, one.max_at_ms), (3, 3_000_000, Some(1)));
        assert_eq!(one.p50_ns / 10_000, 200);
        let two = waiting(2);
        assert_eq!((two.p50_ns, two.max_ns), (0, 2_000_000));
        let broker = serve(2).brokers[0];
        assert_eq!((broker.broker, broker.busy_ns), (7, 3_500_000));
        // 2 threads for 1 s, of which 3.5 ms.
        assert_eq!(broker.idle_millionths(1_000), 998_250);
    }

    /// Another broker has threads of its own; without a broker nothing is done.
    #[test]
    fn brokers_do_not_wait_for_each_other() {
        let moved = [tenure(1, &[(1, 4_000_000)]), tenure(2, &[(2, 1_000)]), Tenure::default()];
        let threads = serve(&[&moved], &Profile::shipped(), 1, 10);
        let brokers: Vec<_> = threads.brokers.iter().map(|one| (one.broker, one.busy_ns, one.waiting.max_ns)).collect();
        assert_eq!(brokers, [(1, 4_000_000, 0), (2, 1_000, 0)]);
    }

    /// Where idle heartbeats take half of the only thread, all else takes twice as long.
    #[test]
    fn idle_heartbeats_slow_the_rest_down() {
        let others: Vec<&str> =
            Operation::ALL.into_iter().map(Operation::name).filter(|name| *name != "heartbeat").collect();
        let text = format!("name = \"p\"\nnot_measured = {others:?}\n[picoseconds]\nheartbeat = 1_000_000\n");
        let profile = Profile::parse("p.toml", &text).expect("a profile");
        let idle = Tenure { idle_heartbeats: 5_000, ..tenure(1, &[(1, 1_000_000), (1, 1)]) };
        let threads = serve(&[&[idle]], &profile, 1, 10);
        assert_eq!(threads.waiting.max_ns, 2_000_000);
        assert_eq!(
            (threads.brokers[0].idle_heartbeats_ns, threads.brokers[0].idle_millionths(10)),
            (5_000_000, 399_999)
        );
    }
}
