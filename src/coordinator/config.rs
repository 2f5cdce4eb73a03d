//! The coordinator's configuration: Kafka's broker configuration names, defaults and rules (`GroupCoordinatorConfig`).

use super::assignor::Assignor;
use super::behaviour::Behaviour;
use crate::kafka::GroupKind;

/// What the shard takes from the broker's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Consumer groups, `group.consumer.…`.
    pub consumer: KindConfig,
    /// `group.consumer.assignors`; the first is the default.
    pub assignors: Vec<Assignor>,
    /// `group.consumer.regex.refresh.interval.ms`.
    pub regex_refresh_interval_ms: i32,
    /// Share groups, `group.share.…`.
    pub share: KindConfig,
    /// `group.share.initialize.retry.interval.ms`, at least `offsets.commit.timeout.ms`. Before 4.3 it cannot be set and is
    /// twice that timeout.
    pub share_initialize_retry_interval_ms: i64,
    /// Streams groups, `group.streams.…`.
    pub streams: KindConfig,
    /// `group.streams.num.standby.replicas`.
    pub streams_num_standby_replicas: i32,
    /// `group.streams.initial.rebalance.delay.ms` (4.3 on).
    pub streams_initial_rebalance_delay_ms: i32,
    /// `group.streams.num.warmup.replicas` (4.4 on).
    pub streams_num_warmup_replicas: i32,
    /// `group.streams.rack.aware.assignment.tags` (4.4 on).
    pub streams_rack_aware_assignment_tags: Vec<String>,
}

/// What each kind of group is configured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindConfig {
    /// `session.timeout.ms`.
    pub session_timeout_ms: i32,
    /// `heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `max.size`: how many members a group may have.
    pub max_size: i32,
    /// `assignment.interval.ms` (4.3 on).
    pub assignment_interval_ms: i32,
}

/// A configuration that a broker of that version would refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("config {name}: {message}")]
pub struct ConfigError {
    /// The configuration's name.
    pub name: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Config {
    /// What groups of a kind are configured with.
    pub fn of(&self, kind: GroupKind) -> &KindConfig {
        match kind {
            GroupKind::Consumer => &self.consumer,
            GroupKind::Share => &self.share,
            GroupKind::Streams => &self.streams,
        }
    }

    /// The configuration of a broker with these settings; names that the version does not know are ignored, and so are
    /// those of kinds of group that it does not have. All errors at once.
    pub fn new<'a>(
        behaviour: &Behaviour,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Config, Vec<ConfigError>> {
        let mut draft = Draft::new(behaviour);
        let mut errors = Vec::new();
        for (name, value) in settings {
            if let Err(message) = draft.set(name, value, behaviour) {
                errors.push(error(name, message));
            }
        }
        if errors.is_empty() {
            draft.check(&mut errors);
        }
        if errors.is_empty() { Ok(draft.finish(behaviour)) } else { Err(errors) }
    }
}

/// A configuration while it is read, with what is only needed to check it.
struct Draft {
    config: Config,
    /// Of consumer, share and streams groups.
    bounds: [Bounds; 3],
    offsets_commit_timeout_ms: i32,
    initialize_retry_interval_ms: i32,
    max_standby_replicas: i32,
    max_warmup_replicas: i32,
    task_offset_interval_ms: i32,
    min_task_offset_interval_ms: i32,
}

/// The least and the greatest value of what each kind has.
#[derive(Clone, Copy)]
struct Bounds {
    session_timeout_ms: (i32, i32),
    heartbeat_interval_ms: (i32, i32),
    assignment_interval_ms: (i32, i32),
}

/// The kinds' names, in the order of [`Draft::bounds`].
const KINDS: [&str; 3] = ["consumer", "share", "streams"];

impl Draft {
    fn new(behaviour: &Behaviour) -> Self {
        let kind = KindConfig {
            session_timeout_ms: 45_000,
            heartbeat_interval_ms: 5_000,
            max_size: i32::MAX,
            assignment_interval_ms: behaviour.default_assignment_interval_ms,
        };
        let bounds = Bounds {
            session_timeout_ms: (45_000, 60_000),
            heartbeat_interval_ms: (5_000, 15_000),
            assignment_interval_ms: (0, 15_000),
        };
        let config = Config {
            consumer: kind,
            assignors: vec![Assignor::Uniform, Assignor::Range],
            regex_refresh_interval_ms: 600_000,
            share: KindConfig { max_size: 200, ..kind },
            share_initialize_retry_interval_ms: 0,
            streams: kind,
            streams_num_standby_replicas: 0,
            streams_initial_rebalance_delay_ms: if behaviour.assignment_timestamps { 3_000 } else { 0 },
            streams_num_warmup_replicas: if behaviour.streams_warmups { 2 } else { 0 },
            streams_rack_aware_assignment_tags: Vec::new(),
        };
        Draft {
            config,
            bounds: [bounds; 3],
            offsets_commit_timeout_ms: 5_000,
            initialize_retry_interval_ms: 30_000,
            max_standby_replicas: 2,
            max_warmup_replicas: 20,
            task_offset_interval_ms: 60_000,
            min_task_offset_interval_ms: 15_000,
        }
    }

    fn kinds(&self) -> [KindConfig; 3] {
        [self.config.consumer, self.config.share, self.config.streams]
    }

    fn set(&mut self, name: &str, value: &str, behaviour: &Behaviour) -> Result<(), String> {
        if let Some((place, least, most)) = self.integer(name, behaviour) {
            return match value.trim().parse::<i32>() {
                Ok(number) if number < least => Err(format!("{number} is too small: at least {least}")),
                Ok(number) if number > most => Err(format!("{number} is too great: at most {most}")),
                Ok(number) => {
                    *place = number;
                    Ok(())
                }
                Err(_) => Err(format!("{value:?} is not a 32-bit integer")),
            };
        }
        match name {
            "group.consumer.assignors" => self.config.assignors = assignors(value, behaviour)?,
            "group.share.assignors" if behaviour.share_and_streams => {
                built_in(value, behaviour, &["simple", SIMPLE_ASSIGNOR])?;
            }
            "group.streams.assignors" if behaviour.streams_warmups => {
                built_in(value, behaviour, &["sticky", STICKY_TASK_ASSIGNOR])?;
            }
            "group.streams.rack.aware.assignment.tags" if behaviour.streams_warmups => {
                let tags = list(value);
                if tags.iter().any(|tag| tag.is_empty()) {
                    return Err(format!("{value:?} has an empty tag"));
                }
                if (1..tags.len()).any(|at| tags[..at].contains(&tags[at])) {
                    return Err(format!("{value:?} has a tag twice"));
                }
                self.config.streams_rack_aware_assignment_tags = tags.into_iter().map(str::to_owned).collect();
            }
            // It only goes into answers.
            "group.streams.acceptable.recovery.lag" if behaviour.streams_warmups => {
                value
                    .trim()
                    .parse::<i64>()
                    .ok()
                    .filter(|lag| *lag >= 0)
                    .ok_or_else(|| format!("{value:?} is not a 64-bit integer of at least 0"))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Where an integer goes, and the least and the greatest that it may be.
    fn integer(&mut self, name: &str, behaviour: &Behaviour) -> Option<(&mut i32, i32, i32)> {
        let config = &mut self.config;
        let (share, streams) = (behaviour.share_and_streams, behaviour.share_and_streams);
        let (later, last) = (behaviour.assignment_timestamps, behaviour.streams_warmups);
        let place = match name {
            "group.consumer.regex.refresh.interval.ms" if behaviour.regex_refresh_interval => {
                (&mut config.regex_refresh_interval_ms, 10_000)
            }
            "offsets.commit.timeout.ms" => (&mut self.offsets_commit_timeout_ms, 1),
            "group.share.initialize.retry.interval.ms" if later => (&mut self.initialize_retry_interval_ms, 1),
            "group.streams.num.standby.replicas" if streams => (&mut config.streams_num_standby_replicas, 0),
            "group.streams.max.standby.replicas" if streams => (&mut self.max_standby_replicas, 0),
            "group.streams.initial.rebalance.delay.ms" if later => (&mut config.streams_initial_rebalance_delay_ms, 0),
            "group.streams.num.warmup.replicas" if last => (&mut config.streams_num_warmup_replicas, 0),
            "group.streams.max.warmup.replicas" if last => (&mut self.max_warmup_replicas, 0),
            "group.streams.task.offset.interval.ms" if last => (&mut self.task_offset_interval_ms, 1),
            "group.streams.min.task.offset.interval.ms" if last => (&mut self.min_task_offset_interval_ms, 1),
            _ => {
                let (kind, name) = name.strip_prefix("group.")?.split_once('.')?;
                let at = KINDS.iter().position(|known| *known == kind).filter(|at| *at == 0 || share)?;
                let bounds = &mut self.bounds[at];
                let values = match at {
                    0 => &mut config.consumer,
                    1 => &mut config.share,
                    _ => &mut config.streams,
                };
                match name {
                    "session.timeout.ms" => (&mut values.session_timeout_ms, 1),
                    "min.session.timeout.ms" => (&mut bounds.session_timeout_ms.0, 1),
                    "max.session.timeout.ms" => (&mut bounds.session_timeout_ms.1, 1),
                    "heartbeat.interval.ms" => (&mut values.heartbeat_interval_ms, 1),
                    "min.heartbeat.interval.ms" => (&mut bounds.heartbeat_interval_ms.0, 1),
                    "max.heartbeat.interval.ms" => (&mut bounds.heartbeat_interval_ms.1, 1),
                    "max.size" if at == 1 => return Some((&mut values.max_size, 1, 1_000)),
                    "max.size" => (&mut values.max_size, 1),
                    "assignment.interval.ms" if later => (&mut values.assignment_interval_ms, 0),
                    "min.assignment.interval.ms" if later => (&mut bounds.assignment_interval_ms.0, 0),
                    "max.assignment.interval.ms" if later => (&mut bounds.assignment_interval_ms.1, 0),
                    _ => return None,
                }
            }
        };
        Some((place.0, place.1, i32::MAX))
    }

    fn check(&self, errors: &mut Vec<ConfigError>) {
        for ((kind, values), bounds) in KINDS.iter().zip(self.kinds()).zip(self.bounds) {
            values.check(kind, bounds, errors);
        }
        let mut ordered = |name: &str, less: i32, greater: i32, than: &str| {
            if less > greater {
                errors.push(error(name, format!("{less} is above {than}, {greater}")));
            }
        };
        let (config, prefix) = (&self.config, "group.streams");
        for (what, number, most) in [
            ("standby", config.streams_num_standby_replicas, self.max_standby_replicas),
            ("warmup", config.streams_num_warmup_replicas, self.max_warmup_replicas),
        ] {
            let name = format!("{prefix}.num.{what}.replicas");
            ordered(&name, number, most, &format!("{prefix}.max.{what}.replicas"));
        }
        ordered(
            "group.streams.min.task.offset.interval.ms",
            self.min_task_offset_interval_ms,
            self.task_offset_interval_ms,
            "group.streams.task.offset.interval.ms",
        );
    }

    fn finish(mut self, behaviour: &Behaviour) -> Config {
        let timeout_ms = i64::from(self.offsets_commit_timeout_ms);
        let later = behaviour.assignment_timestamps;
        let retry_ms = i64::from(self.initialize_retry_interval_ms);
        self.config.share_initialize_retry_interval_ms = if later { retry_ms.max(timeout_ms) } else { 2 * timeout_ms };
        self.config
    }
}

impl KindConfig {
    fn check(&self, kind: &str, bounds: Bounds, errors: &mut Vec<ConfigError>) {
        for (what, value, (least, most)) in [
            ("session.timeout.ms", self.session_timeout_ms, bounds.session_timeout_ms),
            ("heartbeat.interval.ms", self.heartbeat_interval_ms, bounds.heartbeat_interval_ms),
            ("assignment.interval.ms", self.assignment_interval_ms, bounds.assignment_interval_ms),
        ] {
            let name = &format!("group.{kind}.{what}");
            if least > most {
                errors.push(error(name, format!("its minimum {least} is above its maximum {most}")));
            } else if value < least || value > most {
                errors.push(error(name, format!("{value} is not between its minimum {least} and its maximum {most}")));
            }
        }
        if self.heartbeat_interval_ms >= self.session_timeout_ms {
            let (heartbeat_ms, session_ms) = (self.heartbeat_interval_ms, self.session_timeout_ms);
            let message = format!("{heartbeat_ms} must be less than group.{kind}.session.timeout.ms, {session_ms}");
            errors.push(error(&format!("group.{kind}.heartbeat.interval.ms"), message));
        }
    }
}

fn error(name: &str, message: String) -> ConfigError {
    ConfigError { name: name.to_owned(), message }
}

/// The package of the assignors' classes.
const ASSIGNOR_PACKAGE: &str = "org.apache.kafka.coordinator.group.assignor";

const SIMPLE_ASSIGNOR: &str = "org.apache.kafka.coordinator.group.assignor.SimpleAssignor";
const STICKY_TASK_ASSIGNOR: &str = "org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor";

/// The parts of a list, as `ConfigDef` finds them.
fn list(value: &str) -> Vec<&str> {
    let value = value.trim();
    if value.is_empty() { Vec::new() } else { value.split(',').map(str::trim).collect() }
}

/// Checks the assignor of a kind that has only one: it must be there exactly once, by name or by class.
fn built_in(value: &str, behaviour: &Behaviour, known: &[&str; 2]) -> Result<(), String> {
    let mut names = list(value);
    if behaviour.assignors_may_repeat {
        let mut before = Vec::new();
        names.retain(|name| {
            !before.contains(name) && {
                before.push(*name);
                true
            }
        });
    }
    match names[..] {
        [name] if known.contains(&name) => Ok(()),
        _ => Err(format!("must be {} or {}, not {value:?}", known[0], known[1])),
    }
}

fn assignors(value: &str, behaviour: &Behaviour) -> Result<Vec<Assignor>, String> {
    let by_class = behaviour.assignors_by_class;
    let mut list = Vec::new();
    for name in value.split(',').map(str::trim) {
        let class = name.strip_prefix(ASSIGNOR_PACKAGE).and_then(|rest| rest.strip_prefix('.'));
        let assignor = match class {
            Some("UniformAssignor") => Some(Assignor::Uniform),
            Some("RangeAssignor") => Some(Assignor::Range),
            None if !by_class => Assignor::from_name(name),
            _ => None,
        };
        let Some(assignor) = assignor else {
            let names = if by_class { "" } else { "uniform, range, or a class: " };
            let classes = format!("{ASSIGNOR_PACKAGE}.UniformAssignor or {ASSIGNOR_PACKAGE}.RangeAssignor");
            return Err(format!("unknown assignor {name:?}: {names}{classes}"));
        };
        match list.contains(&assignor) {
            false => list.push(assignor),
            true if behaviour.assignors_may_repeat => {}
            true => return Err(format!("assignor {name:?} is named twice")),
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::behaviour::KafkaVersion;

    #[test]
    fn defaults_and_errors() {
        let behaviour = KafkaVersion::V4_3_1.behaviour();
        let config = Config::new(&behaviour, []).expect("the defaults are right");
        assert_eq!((config.consumer.session_timeout_ms, config.consumer.assignment_interval_ms), (45_000, 1_000));
        let errors = Config::new(
            &behaviour,
            [("group.consumer.max.size", "0"), ("group.consumer.assignors", "range,sticky"), ("log.dirs", "x")],
        )
        .expect_err("two are wrong");
        assert_eq!(
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "config group.consumer.max.size: 0 is too small: at least 1",
                "config group.consumer.assignors: unknown assignor \"sticky\": uniform, range, or a class: \
                 org.apache.kafka.coordinator.group.assignor.UniformAssignor or \
                 org.apache.kafka.coordinator.group.assignor.RangeAssignor",
            ]
        );
        let errors = Config::new(&behaviour, [("group.consumer.session.timeout.ms", "70000")]).expect_err("too long");
        assert_eq!(
            errors[0].to_string(),
            "config group.consumer.session.timeout.ms: 70000 is not between its minimum 45000 and its maximum 60000"
        );
    }

    /// `x` where the real broker's `GroupCoordinatorConfig` of 4.1.1, 4.3.1, 4.4.0 throws.
    #[test]
    fn as_brokers_judge() {
        const CLASSES: &str = "org.apache.kafka.coordinator.group";
        let judged: &[(&str, &[(&str, &str)])] = &[
            ("xxx", &[("group.share.session.timeout.ms", "70000")]),
            ("xxx", &[("group.share.session.timeout.ms", "0")]),
            ("...", &[("group.share.session.timeout.ms", "60000")]),
            ("xxx", &[("group.share.session.timeout.ms", "60001")]),
            ("xxx", &[("group.share.min.session.timeout.ms", "61000")]),
            ("xxx", &[("group.share.max.session.timeout.ms", "44000")]),
            ("...", &[("group.share.max.session.timeout.ms", "45000")]),
            ("xxx", &[("group.share.heartbeat.interval.ms", "16000")]),
            ("xxx", &[("group.share.heartbeat.interval.ms", "4999")]),
            ("...", &[("group.share.heartbeat.interval.ms", "15000")]),
            (
                "xxx",
                &[
                    ("group.share.heartbeat.interval.ms", "5000"),
                    ("group.share.session.timeout.ms", "5000"),
                    ("group.share.min.session.timeout.ms", "1"),
                ],
            ),
            ("xxx", &[("group.share.max.size", "0")]),
            ("...", &[("group.share.max.size", "1")]),
            ("...", &[("group.share.max.size", "1000")]),
            ("xxx", &[("group.share.max.size", "1001")]),
            ("...", &[("group.share.assignors", "simple")]),
            ("...", &[("group.share.assignors", "{}.assignor.SimpleAssignor")]),
            ("x..", &[("group.share.assignors", "simple,simple")]),
            ("xxx", &[("group.share.assignors", "")]),
            ("xxx", &[("group.share.assignors", "range")]),
            ("xxx", &[("group.share.assignors", "simple,{}.assignor.SimpleAssignor")]),
            ("xxx", &[("group.share.assignors", "{}.assignor.RangeAssignor")]),
            ("...", &[("group.share.assignment.interval.ms", "15000")]),
            (".xx", &[("group.share.assignment.interval.ms", "15001")]),
            (".xx", &[("group.share.assignment.interval.ms", "-1")]),
            (".xx", &[("group.share.min.assignment.interval.ms", "1001")]),
            (".xx", &[("group.share.max.assignment.interval.ms", "999")]),
            (".xx", &[("group.share.initialize.retry.interval.ms", "0")]),
            ("...", &[("group.share.initialize.retry.interval.ms", "1")]),
            ("xxx", &[("offsets.commit.timeout.ms", "0")]),
            ("...", &[("offset.commit.timeout.ms", "0")]),
            ("xxx", &[("group.streams.session.timeout.ms", "70000")]),
            ("...", &[("group.streams.session.timeout.ms", "60000")]),
            ("xxx", &[("group.streams.max.session.timeout.ms", "44000")]),
            ("xxx", &[("group.streams.heartbeat.interval.ms", "16000")]),
            ("xxx", &[("group.streams.heartbeat.interval.ms", "4999")]),
            (
                "xxx",
                &[
                    ("group.streams.heartbeat.interval.ms", "5000"),
                    ("group.streams.session.timeout.ms", "5000"),
                    ("group.streams.min.session.timeout.ms", "1"),
                ],
            ),
            ("xxx", &[("group.streams.max.size", "0")]),
            ("...", &[("group.streams.max.size", "1")]),
            ("xxx", &[("group.streams.num.standby.replicas", "3")]),
            ("...", &[("group.streams.num.standby.replicas", "2")]),
            ("xxx", &[("group.streams.num.standby.replicas", "-1")]),
            ("...", &[("group.streams.num.standby.replicas", "3"), ("group.streams.max.standby.replicas", "3")]),
            ("xxx", &[("group.streams.max.standby.replicas", "-1")]),
            (".xx", &[("group.streams.initial.rebalance.delay.ms", "-1")]),
            ("...", &[("group.streams.initial.rebalance.delay.ms", "0")]),
            (".xx", &[("group.streams.assignment.interval.ms", "15001")]),
            (".xx", &[("group.streams.min.assignment.interval.ms", "1001")]),
            (".xx", &[("group.streams.max.assignment.interval.ms", "-1")]),
            ("..x", &[("group.streams.num.warmup.replicas", "21")]),
            ("..x", &[("group.streams.num.warmup.replicas", "-1")]),
            ("...", &[("group.streams.num.warmup.replicas", "21"), ("group.streams.max.warmup.replicas", "21")]),
            ("..x", &[("group.streams.max.warmup.replicas", "1")]),
            ("..x", &[("group.streams.acceptable.recovery.lag", "-1")]),
            ("...", &[("group.streams.acceptable.recovery.lag", "9223372036854775807")]),
            ("..x", &[("group.streams.acceptable.recovery.lag", "x")]),
            ("..x", &[("group.streams.task.offset.interval.ms", "14999")]),
            ("..x", &[("group.streams.task.offset.interval.ms", "0")]),
            ("..x", &[("group.streams.min.task.offset.interval.ms", "60001")]),
            ("...", &[("group.streams.rack.aware.assignment.tags", "a,b")]),
            ("..x", &[("group.streams.rack.aware.assignment.tags", "a,a")]),
            ("..x", &[("group.streams.rack.aware.assignment.tags", "a,,b")]),
            ("...", &[("group.streams.rack.aware.assignment.tags", "")]),
            ("...", &[("group.streams.rack.aware.assignment.tags", " a , b ")]),
            ("...", &[("group.streams.assignors", "sticky")]),
            ("...", &[("group.streams.assignors", "sticky,sticky")]),
            ("..x", &[("group.streams.assignors", "")]),
            ("..x", &[("group.streams.assignors", "simple")]),
            ("...", &[("group.streams.assignors", "{}.streams.assignor.StickyTaskAssignor")]),
            ("..x", &[("group.streams.assignors", "sticky,{}.streams.assignor.StickyTaskAssignor")]),
            ("xxx", &[("group.streams.max.size", "x")]),
            ("xxx", &[("group.share.max.size", "2147483648")]),
            ("...", &[("group.share.max.size", " 7 ")]),
            ("..x", &[("group.streams.rack.aware.assignment.tags", "a, a")]),
        ];
        for (verdicts, settings) in judged {
            let texts: Vec<(&str, String)> =
                settings.iter().map(|(name, value)| (*name, value.replace("{}", CLASSES))).collect();
            let settings = || texts.iter().map(|(name, value)| (*name, value.as_str()));
            let versions = [KafkaVersion::V4_1_1, KafkaVersion::V4_3_1, KafkaVersion::V4_4_0];
            let ours: String = versions
                .iter()
                .map(|version| if Config::new(&version.behaviour(), settings()).is_ok() { '.' } else { 'x' })
                .collect();
            assert_eq!(ours, *verdicts, "{texts:?}");
        }
    }

    #[test]
    fn what_the_other_kinds_take() {
        let settings = [
            ("group.share.session.timeout.ms", "50000"),
            ("group.share.max.size", " 7 "),
            ("group.share.initialize.retry.interval.ms", "1"),
            ("group.streams.assignment.interval.ms", "0"),
            ("group.streams.rack.aware.assignment.tags", "zone, cluster"),
        ];
        let config = |version: KafkaVersion| Config::new(&version.behaviour(), settings).expect("all are right");
        let last = config(KafkaVersion::V4_4_0);
        assert_eq!((last.consumer.session_timeout_ms, last.share.session_timeout_ms), (45_000, 50_000));
        assert_eq!((last.share.max_size, last.streams.max_size), (7, i32::MAX));
        assert_eq!((last.share.assignment_interval_ms, last.streams.assignment_interval_ms), (1_000, 0));
        assert_eq!((last.streams_num_standby_replicas, last.streams_num_warmup_replicas), (0, 2));
        assert_eq!(last.streams_rack_aware_assignment_tags, ["zone", "cluster"]);
        assert_eq!((last.streams_initial_rebalance_delay_ms, last.share_initialize_retry_interval_ms), (3_000, 5_000));
        let first = config(KafkaVersion::V4_1_1);
        assert_eq!((first.streams_initial_rebalance_delay_ms, first.share_initialize_retry_interval_ms), (0, 10_000));
        assert_eq!(first.streams_rack_aware_assignment_tags, [""; 0]);
        assert_eq!(config(KafkaVersion::V4_0_0).share.max_size, 200);
    }
}
