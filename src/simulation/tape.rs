//! Everything that happens to one shard from outside, written down while it happens.

use crate::cluster::ImageNumber;
use crate::coordinator::protocol::HeartbeatRequest;
use crate::kernel::TimeMs;

/// Something that happens to a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// An image is published.
    Image(ImageNumber),
    /// A member sends a heartbeat.
    Heartbeat(Box<HeartbeatRequest>),
    /// Another incarnation loads the shard.
    Failover,
    /// The shard has no leader from now on: nobody answers, and no timer fires.
    Leaderless,
    /// The end of the run.
    End,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Tape {
    /// What happened, in order of time.
    pub happenings: Vec<(TimeMs, Happening)>,
}

impl Tape {
    pub(super) fn image(&mut self, now_ms: TimeMs, image: ImageNumber) {
        self.happenings.push((now_ms, Happening::Image(image)));
    }

    pub(super) fn heartbeat(&mut self, now_ms: TimeMs, request: HeartbeatRequest) {
        self.happenings.push((now_ms, Happening::Heartbeat(Box::new(request))));
    }

    /// The first incarnation loads an empty log, which is how a trace begins anyway.
    pub(super) fn failover(&mut self, now_ms: TimeMs, is_first: bool) {
        if !is_first {
            self.happenings.push((now_ms, Happening::Failover));
        }
    }

    pub(super) fn leaderless(&mut self, now_ms: TimeMs) {
        self.happenings.push((now_ms, Happening::Leaderless));
    }

    pub(super) fn end(&mut self, end_ms: TimeMs) {
        self.happenings.push((end_ms - 1, Happening::End));
    }
}
