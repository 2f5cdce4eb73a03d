//! The broker configuration of a random trace.

use super::rng::Rng;
use super::{ConfigValue, GeneratorOptions};
use crate::kernel::TimeMs;
use crate::trace::GroupKind;

/// The configuration of a seed, and what members should know of it.
pub struct Config {
    /// Names and values.
    pub entries: Vec<(String, ConfigValue)>,
    /// The session timeout of each kind, in the order of [`GroupKind`].
    pub session_ms: [TimeMs; 3],
    /// The smallest group size limit that is configured.
    pub max_size: Option<i64>,
    /// The consumer groups' assignors.
    pub assignors: &'static [&'static str],
}

impl Config {
    /// What consumer groups are configured with.
    pub fn draw(rng: &mut Rng, options: &GeneratorOptions) -> Self {
        let mut config =
            Config { entries: Vec::new(), session_ms: [45_000; 3], max_size: None, assignors: &["range", "uniform"] };
        config.draw_common(GroupKind::Consumer, rng);
        if !options.replayable_by_3_9 && rng.chance(300) {
            config.set(GroupKind::Consumer, "regex.refresh.interval.ms", *rng.pick(&[10_000, 30_000]));
        }
        config.draw_assignors(rng, options);
        config
    }

    /// What the other kinds are configured with.
    pub fn draw_kind(&mut self, kind: GroupKind, rng: &mut Rng) {
        match kind {
            GroupKind::Consumer => {}
            GroupKind::Share => {
                self.draw_common(kind, rng);
                if rng.chance(200) {
                    self.set(kind, "initialize.retry.interval.ms", *rng.pick(&[1, 10_000, 60_000]));
                }
            }
            GroupKind::Streams => {
                self.draw_common(kind, rng);
                self.draw_streams(rng);
            }
        }
    }

    /// What all kinds have: timeouts, the group size limit, the assignment interval.
    fn draw_common(&mut self, kind: GroupKind, rng: &mut Rng) {
        let session_ms = *rng.pick(&[45_000, 45_000, 45_000, 45_000, 10_000, 60_000]);
        self.session_ms[kind as usize] = session_ms;
        if session_ms != 45_000 {
            self.set(kind, "session.timeout.ms", session_ms);
            self.set(kind, "min.session.timeout.ms", session_ms.min(45_000));
        }
        match rng.below(5) {
            0 => self.set(kind, "heartbeat.interval.ms", 6_000),
            1 => {
                self.set(kind, "heartbeat.interval.ms", 500);
                self.set(kind, "min.heartbeat.interval.ms", 500);
            }
            _ => {}
        }
        if rng.chance(250) {
            let max_size = rng.within(1, 5);
            self.set(kind, "max.size", max_size);
            self.max_size = Some(self.max_size.map_or(max_size, |least| least.min(max_size)));
        }
        if rng.chance(600) {
            self.set(kind, "assignment.interval.ms", *rng.pick(&[0, 0, 1_000, 5_000]));
        }
    }

    fn draw_streams(&mut self, rng: &mut Rng) {
        let kind = GroupKind::Streams;
        if rng.chance(600) {
            let replicas = *rng.pick(&[1, 1, 1, 2, 3]);
            self.set(kind, "num.standby.replicas", replicas);
            if replicas > 2 {
                self.set(kind, "max.standby.replicas", replicas);
            }
        }
        if rng.chance(600) {
            self.set(kind, "initial.rebalance.delay.ms", *rng.pick(&[0, 0, 100, 1_000, 10_000]));
        }
        // Only 4.4 knows these.
        if rng.chance(300) {
            self.set(kind, "num.warmup.replicas", *rng.pick(&[0, 1, 2, 5]));
        }
        if rng.chance(150) {
            let tags = ConfigValue::Text((*rng.pick(&["zone", "zone,cluster"])).to_owned());
            self.entries.push(("group.streams.rack.aware.assignment.tags".to_owned(), tags));
        }
    }

    fn set(&mut self, kind: GroupKind, name: &str, value: i64) {
        self.entries.push((format!("group.{}.{name}", kind.name()), ConfigValue::Int(value)));
    }

    fn draw_assignors(&mut self, rng: &mut Rng, options: &GeneratorOptions) {
        const CLASSES: [(&str, &str); 2] = [
            ("range", "org.apache.kafka.coordinator.group.assignor.RangeAssignor"),
            ("uniform", "org.apache.kafka.coordinator.group.assignor.UniformAssignor"),
        ];
        // Kafka 3.9 only takes the names of classes here.
        let as_classes = options.replayable_by_3_9 || rng.chance(300);
        self.assignors = match rng.below(8) {
            0 => &["range"],
            1 => &["uniform"],
            2 => &["range", "uniform"],
            3 => &["uniform", "range"],
            _ => return,
        };
        let named = self.assignors.iter().map(|name| {
            let class = CLASSES.iter().find(|(known, _)| as_classes && known == name);
            class.map_or(*name, |(_, class)| class)
        });
        let text = named.collect::<Vec<&str>>().join(",");
        self.entries.push(("group.consumer.assignors".to_owned(), ConfigValue::Text(text)));
    }
}
