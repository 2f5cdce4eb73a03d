//! What members of random share groups send.

use super::clients::Group;
use super::rng::Rng;
use super::swarm::Swarm;
use crate::trace::{EpochSpec, Heartbeat, HeartbeatBody};

impl Group {
    /// Another subscription, or another rack.
    pub(super) fn changed_share(&mut self, at: usize, rng: &mut Rng, swarm: &Swarm) -> Heartbeat {
        let member = &mut self.members[at];
        match rng.below(8) {
            0 => member.topics = Some(Vec::new()),
            1 => member.rack = Some((*rng.pick(&["a", "b", "c"])).to_owned()),
            _ => member.change_subscription(rng, swarm),
        }
        self.full(at, EpochSpec::Last)
    }

    /// A request that Kafka refuses without looking at the group.
    pub(super) fn invalid_share(&self, at: usize, rng: &mut Rng) -> Heartbeat {
        let epoch = *rng.pick(&[EpochSpec::Number(0), EpochSpec::Number(self.epoch.max(1)), EpochSpec::Last]);
        let mut heartbeat = self.full(at, epoch);
        match rng.below(6) {
            0 => heartbeat.body = HeartbeatBody::Share(Some(Vec::new())),
            1 => heartbeat.body = HeartbeatBody::Share(None),
            2 => heartbeat.member = String::new(),
            3 => heartbeat.rack = Some(String::new()),
            4 => heartbeat.epoch = EpochSpec::Number(-2),
            _ => heartbeat.group = String::new(),
        }
        heartbeat
    }
}
