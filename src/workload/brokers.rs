//! What happens to brokers: stops, crashes, returns (perhaps in another rack), rolling restarts, and preferred leaders.
//!
//! The times are those of the lab's Kafka 4.3.1: fenced 2 to 4 s after a clean stop (at once if it led nothing) and 9 s
//! after a crash, unfenced 50 to 2,900 ms after its registration, back in the ISR in 2 to 4 images, the first 40 to
//! 500 ms after that, the others 30 to 430 ms apart. A broker that returns within 9 s is refused and tries again every
//! 2 s.

use super::director::{Director, Effect, Happening};
use crate::kernel::TimeMs;
use crate::kernel::random::Stream;
use crate::scenario::{Cluster, NewRack, Restart};

/// `broker.session.timeout.ms`.
const SESSION_MS: TimeMs = 9_000;
/// How often a broker that is refused tries to register.
const REGISTER_RETRY_MS: TimeMs = 2_000;

/// A step of a restart.
#[derive(Debug, Clone)]
pub(super) enum BrokerHappening {
    /// The broker stops, or dies. `then` are restarted after it.
    Stop { broker: i32, restart: Restart, then: Vec<i32>, pause_ms: TimeMs },
    /// The controller fences it.
    Fence { broker: i32 },
    /// It registers.
    Register { broker: i32, restart: Restart },
    /// It is unfenced.
    Unfence { broker: i32, then: Vec<i32>, pause_ms: TimeMs, restart: Restart },
    /// Its partitions catch up, in so many images from this one on.
    Expand { broker: i32, images: usize, then: Vec<i32>, pause_ms: TimeMs, restart: Restart },
    /// Brokers get back what they should lead.
    Elect { brokers: Vec<i32> },
}

impl Director<'_> {
    fn broker_stream(&self, broker: i32, purpose: &str) -> Stream {
        let restarts = self.restarts.get(&broker).copied().unwrap_or(0);
        self.streams.stream(&format!("broker {broker}"), restarts, purpose)
    }

    /// Restarts a broker that an event names.
    pub fn restart_one(&self, now_ms: TimeMs, broker: i32, restart: &Restart) -> Effect {
        match self.builder.broker(broker) {
            None => Effect::impossible(format!("there is no broker {broker} then")),
            Some(_) if self.restarting.contains(&broker) => {
                Effect::impossible(format!("broker {broker} is being restarted then; expected a later time"))
            }
            Some(state) if state.fenced => Effect::impossible(format!("broker {broker} is down then")),
            Some(_) => self.stop_next(now_ms, vec![broker], restart, 0),
        }
    }

    /// Restarts one of some brokers; `None` if none of them runs.
    pub fn restart_any(&self, now_ms: TimeMs, among: &[i32], restart: &Restart, stream: &mut Stream) -> Option<Effect> {
        let runs = |id: &i32| self.builder.broker(*id).is_some_and(|b| !b.fenced) && !self.restarting.contains(id);
        let wanted = self.builder.brokers().map(|(id, _)| id).filter(|id| among.is_empty() || among.contains(id));
        let running: Vec<i32> = wanted.filter(runs).collect();
        let broker = *stream.choose(&running)?;
        Some(self.stop_next(now_ms, vec![broker], restart, 0))
    }

    /// Restarts all brokers, in order of their ids.
    pub fn start_rolling(&self, now_ms: TimeMs, restart: &Restart, pause_ms: TimeMs) -> Effect {
        let brokers: Vec<i32> = self.builder.brokers().map(|(id, _)| id).collect();
        self.stop_next(now_ms, brokers, restart, pause_ms)
    }

    /// The next broker of a list stops.
    fn stop_next(&self, time_ms: TimeMs, mut brokers: Vec<i32>, restart: &Restart, pause_ms: TimeMs) -> Effect {
        if brokers.is_empty() {
            return Effect::default();
        }
        let broker = brokers.remove(0);
        let stop = BrokerHappening::Stop { broker, restart: restart.clone(), then: brokers, pause_ms };
        Effect::default().then(time_ms, Happening::Broker(stop))
    }

    /// All brokers get back what they should lead.
    pub fn elect_everywhere(&self, now_ms: TimeMs) -> Effect {
        let brokers = self.builder.brokers().map(|(id, _)| id).collect();
        Effect::default().then(now_ms, Happening::Broker(BrokerHappening::Elect { brokers }))
    }

    /// What a step of a restart does.
    pub fn broker_effect(&self, now_ms: TimeMs, happening: &BrokerHappening) -> Effect {
        match happening {
            BrokerHappening::Stop { broker, restart, then, pause_ms } => {
                self.stop(now_ms, *broker, restart, then, *pause_ms)
            }
            BrokerHappening::Fence { broker } => Effect::with("fence", self.builder.fence(*broker)),
            BrokerHappening::Register { broker, restart } => {
                let before =
                    self.builder.broker(*broker).and_then(|state| state.rack.as_ref()).map(ToString::to_string);
                let rack = match &restart.rack {
                    NewRack::Same => before,
                    NewRack::Given(rack) => rack.clone(),
                    NewRack::OneOf(racks) => self.broker_stream(*broker, "rack").choose(racks).cloned(),
                };
                Effect::with("register", self.builder.register(*broker, rack.as_deref()))
            }
            BrokerHappening::Unfence { broker, then, pause_ms, restart } => {
                let mut stream = self.broker_stream(*broker, "expand");
                let images = stream.between(2, 4) as usize;
                let expand_ms = now_ms + stream.between(40, 500) + restart.catch_up_ms;
                let (then, restart) = (then.clone(), restart.clone());
                let expand = BrokerHappening::Expand { broker: *broker, images, then, pause_ms: *pause_ms, restart };
                Effect::with("unfence", self.builder.unfence(*broker)).then(expand_ms, Happening::Broker(expand))
            }
            BrokerHappening::Expand { broker, images, then, pause_ms, restart } => {
                self.expand_isr(now_ms, *broker, *images, then, *pause_ms, restart)
            }
            BrokerHappening::Elect { brokers } => self.elect(now_ms, brokers),
        }
    }

    fn stop(&self, now_ms: TimeMs, broker: i32, restart: &Restart, then: &[i32], pause_ms: TimeMs) -> Effect {
        if self.builder.broker(broker).is_none_or(|state| state.fenced) || self.restarting.contains(&broker) {
            // Another restart has it: go on with the others.
            return self.stop_next(now_ms + pause_ms, then.to_vec(), restart, pause_ms);
        }
        let mut stream = self.broker_stream(broker, "restart");
        let (fence_after_ms, unfence_after_ms) = (stream.between(2_000, 4_000), stream.between(50, 2_900));
        let leads = self.builder.partitions_on(broker).any(|(_, _, partition)| partition.leader == broker);
        let (mut effect, fenced_ms) = if restart.crash {
            (Effect::default(), now_ms + SESSION_MS)
        } else if leads {
            (Effect::on_partitions("isr-shrink", self.builder.shrink_isr(broker)), now_ms + fence_after_ms)
        } else {
            (Effect::with("isr-shrink", self.builder.fence(broker)), now_ms)
        };
        if fenced_ms > now_ms {
            effect = effect.then(fenced_ms, Happening::Broker(BrokerHappening::Fence { broker }));
        }
        let mut back_ms = now_ms + restart.down_ms;
        if back_ms <= now_ms + SESSION_MS {
            let tries = (now_ms + SESSION_MS - back_ms) / REGISTER_RETRY_MS + 1;
            back_ms += tries * REGISTER_RETRY_MS;
        }
        let register = BrokerHappening::Register { broker, restart: restart.clone() };
        let unfence = BrokerHappening::Unfence { broker, then: then.to_vec(), pause_ms, restart: restart.clone() };
        effect.then(back_ms, Happening::Broker(register)).then(back_ms + unfence_after_ms, Happening::Broker(unfence))
    }

    fn expand_isr(
        &self,
        now_ms: TimeMs,
        broker: i32,
        images: usize,
        then: &[i32],
        pause_ms: TimeMs,
        restart: &Restart,
    ) -> Effect {
        let mut effect = Effect::on_partitions("isr-expand", self.builder.expand_isr(broker, images));
        if images > 1 {
            let gap_ms = self.broker_stream(broker, &format!("expand {images}")).between(30, 430);
            let (then, restart) = (then.to_vec(), restart.clone());
            let next = BrokerHappening::Expand { broker, images: images - 1, then, pause_ms, restart };
            return effect.then(now_ms + gap_ms, Happening::Broker(next));
        }
        if let Cluster::Synthetic { leader_rebalance_ms: Some(interval_ms), .. } = self.scenario.cluster {
            // The controller checks at regular times; `Elect` does nothing if an earlier one has done it.
            let check_ms = (now_ms / interval_ms + 1) * interval_ms;
            let elect = BrokerHappening::Elect { brokers: vec![broker] };
            effect = effect.then(check_ms, Happening::Broker(elect));
        }
        let next = self.stop_next(now_ms + pause_ms.max(1), then.to_vec(), restart, pause_ms);
        effect.follow.extend(next.follow);
        effect
    }

    /// The first broker of the list that has something to get back gets it, in images of up to 1,000 partitions.
    fn elect(&self, now_ms: TimeMs, brokers: &[i32]) -> Effect {
        for (index, broker) in brokers.iter().enumerate() {
            let changes = self.builder.elect_preferred(*broker);
            if !changes.is_empty() {
                let rest = BrokerHappening::Elect { brokers: brokers[index..].to_vec() };
                return Effect::on_partitions("elect", changes).then(now_ms, Happening::Broker(rest));
            }
        }
        Effect::default()
    }

    /// Notes which brokers are being restarted.
    pub fn note_broker(&mut self, happening: &BrokerHappening) {
        match happening {
            BrokerHappening::Stop { broker, .. } if self.builder.broker(*broker).is_some_and(|state| !state.fenced) => {
                self.restarting.insert(*broker);
            }
            BrokerHappening::Expand { broker, images: 1, .. } => {
                self.restarting.remove(broker);
                *self.restarts.entry(*broker).or_default() += 1;
            }
            _ => {}
        }
    }
}
