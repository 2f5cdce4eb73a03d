//! The coordinator's configuration: Kafka's broker configuration names, defaults and rules (`GroupCoordinatorConfig`).

use super::assignor::Assignor;
use super::behaviour::Behaviour;

/// What the shard takes from the broker's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `group.consumer.session.timeout.ms`.
    pub session_timeout_ms: i32,
    /// `group.consumer.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `group.consumer.max.size`.
    pub max_size: i32,
    /// `group.consumer.assignors`; the first is the default.
    pub assignors: Vec<Assignor>,
    /// `group.consumer.assignment.interval.ms`.
    pub assignment_interval_ms: i32,
    /// `group.consumer.regex.refresh.interval.ms`.
    pub regex_refresh_interval_ms: i32,
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
    /// The configuration of a broker with these settings; names that the version does not know are ignored.
    /// All errors at once.
    pub fn new<'a>(
        behaviour: &Behaviour,
        settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Config, Vec<ConfigError>> {
        let mut config = Config {
            session_timeout_ms: 45_000,
            heartbeat_interval_ms: 5_000,
            max_size: i32::MAX,
            assignors: vec![Assignor::Uniform, Assignor::Range],
            assignment_interval_ms: behaviour.default_assignment_interval_ms,
            regex_refresh_interval_ms: 600_000,
        };
        // minimum and maximum of the session timeout, the heartbeat interval and the assignment interval
        let mut bounds = [(45_000, 60_000), (5_000, 15_000), (0, 15_000)];
        let mut errors = Vec::new();
        for (name, value) in settings {
            let mut integer = |target: &mut i32, least: i32| match value.trim().parse::<i32>() {
                Ok(number) if number >= least => *target = number,
                Ok(number) => errors.push(error(name, format!("{number} is too small: at least {least}"))),
                Err(_) => errors.push(error(name, format!("{value:?} is not a 32-bit integer"))),
            };
            match name {
                "group.consumer.session.timeout.ms" => integer(&mut config.session_timeout_ms, 1),
                "group.consumer.min.session.timeout.ms" => integer(&mut bounds[0].0, 1),
                "group.consumer.max.session.timeout.ms" => integer(&mut bounds[0].1, 1),
                "group.consumer.heartbeat.interval.ms" => integer(&mut config.heartbeat_interval_ms, 1),
                "group.consumer.min.heartbeat.interval.ms" => integer(&mut bounds[1].0, 1),
                "group.consumer.max.heartbeat.interval.ms" => integer(&mut bounds[1].1, 1),
                "group.consumer.max.size" => integer(&mut config.max_size, 1),
                "group.consumer.assignors" => match assignors(value, behaviour) {
                    Ok(list) => config.assignors = list,
                    Err(message) => errors.push(error(name, message)),
                },
                "group.consumer.assignment.interval.ms" if behaviour.assignment_timestamps => {
                    integer(&mut config.assignment_interval_ms, 0);
                }
                "group.consumer.min.assignment.interval.ms" if behaviour.assignment_timestamps => {
                    integer(&mut bounds[2].0, 0);
                }
                "group.consumer.max.assignment.interval.ms" if behaviour.assignment_timestamps => {
                    integer(&mut bounds[2].1, 0);
                }
                "group.consumer.regex.refresh.interval.ms" if behaviour.regex_refresh_interval => {
                    integer(&mut config.regex_refresh_interval_ms, 10_000);
                }
                _ => {}
            }
        }
        if errors.is_empty() {
            config.check_bounds(bounds, &mut errors);
        }
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    fn check_bounds(&self, bounds: [(i32, i32); 3], errors: &mut Vec<ConfigError>) {
        let values = [
            ("group.consumer.session.timeout.ms", self.session_timeout_ms),
            ("group.consumer.heartbeat.interval.ms", self.heartbeat_interval_ms),
            ("group.consumer.assignment.interval.ms", self.assignment_interval_ms),
        ];
        for ((name, value), (least, most)) in values.into_iter().zip(bounds) {
            if least > most {
                errors.push(error(name, format!("its minimum {least} is above its maximum {most}")));
            } else if value < least || value > most {
                errors.push(error(name, format!("{value} is not between its minimum {least} and its maximum {most}")));
            }
        }
        if self.heartbeat_interval_ms >= self.session_timeout_ms {
            errors.push(error(
                "group.consumer.heartbeat.interval.ms",
                format!(
                    "{} must be less than group.consumer.session.timeout.ms, {}",
                    self.heartbeat_interval_ms, self.session_timeout_ms
                ),
            ));
        }
    }
}

fn error(name: &str, message: String) -> ConfigError {
    ConfigError { name: name.to_owned(), message }
}

/// The package of the assignors' classes.
const ASSIGNOR_PACKAGE: &str = "org.apache.kafka.coordinator.group.assignor";

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
        assert_eq!((config.session_timeout_ms, config.assignment_interval_ms), (45_000, 1_000));
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
}
