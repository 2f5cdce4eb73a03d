//! What KRaft's controller writes when brokers stop, fall silent and come back, and when partitions move: the changes
//! of each image, computed from the state at that moment.
//!
//! A stop of a broker is [`HistoryBuilder::shrink_isr`] in one image (controlled shutdown), then
//! [`HistoryBuilder::fence`] some seconds later; a crash is the latter alone. The way back is
//! [`HistoryBuilder::register`], [`HistoryBuilder::unfence`], then [`HistoryBuilder::expand_isr`] in a few images, and
//! at last [`HistoryBuilder::elect_preferred`]: until then leadership stays where it is.
//!
//! Source: `ReplicationControlManager`, `PartitionChangeBuilder`, `PartitionReassignmentReplicas` of Kafka 4.3.1, with
//! unclean leader election off and without eligible leader replicas (`eligible.leader.replicas.version=0`): the last
//! in-sync replica then stays in the ISR of a partition without leader. Which broker is in a controlled shutdown is
//! not kept; its own effects leave it out.

use super::{BrokerIds, Change, Changes, HistoryBuilder, PartitionChange, PartitionState, TopicIndex};
use crate::kafka::Uuid;

/// How many leaders one run of the preferred election moves (`MAX_ELECTIONS_PER_IMBALANCE`).
const MAX_ELECTIONS_PER_IMAGE: usize = 1_000;

/// What a partition shall become; the leader follows.
#[derive(Debug)]
pub(super) struct Target {
    /// The replicas, the preferred leader first.
    pub replicas: BrokerIds,
    /// The in-sync replicas.
    pub isr: BrokerIds,
    /// Whether the preferred leader is elected even though another one leads.
    pub elect_preferred: bool,
}

/// What of a partition changes.
struct Difference {
    replicas: Option<BrokerIds>,
    isr: Option<BrokerIds>,
    leader: Option<i32>,
}

impl Target {
    /// The partition as it is, with other in-sync replicas.
    fn with_isr(partition: &PartitionState, isr: BrokerIds) -> Self {
        Target { replicas: partition.replicas.clone(), isr, elect_preferred: false }
    }

    /// `PartitionChangeBuilder.electLeader`: who leads stays; else the first in-sync replica that is active.
    fn leader(&self, now: i32, is_active: &dyn Fn(i32) -> bool) -> i32 {
        let valid = |replica: &i32| self.isr.contains(replica) && is_active(*replica);
        let preferred = self.replicas.first().filter(|_| self.elect_preferred);
        let first_choice = preferred.into_iter().chain([&now]);
        first_choice.chain(self.replicas.iter()).copied().find(valid).unwrap_or(-1)
    }

    /// `PartitionChangeBuilder.build`; `None` if nothing changes.
    fn difference(self, now: &PartitionState, is_active: &dyn Fn(i32) -> bool) -> Option<Difference> {
        let leader = Some(self.leader(now.leader, is_active)).filter(|leader| *leader != now.leader);
        let isr = Some(self.isr).filter(|isr| !isr.is_empty() && *isr != now.isr);
        let replicas = Some(self.replicas).filter(|replicas| *replicas != now.replicas);
        let changes = leader.is_some() || isr.is_some() || replicas.is_some();
        changes.then_some(Difference { replicas, isr, leader })
    }

    /// The change that makes a partition so; `None` if nothing changes.
    pub(super) fn change(
        self,
        topic: &str,
        partition: i32,
        now: &PartitionState,
        is_active: &dyn Fn(i32) -> bool,
    ) -> Option<Change> {
        let Difference { replicas, isr, leader } = self.difference(now, is_active)?;
        let [replicas, isr] = [replicas, isr].map(|list| list.map(|list| list.to_vec()));
        Some(Change::ChangePartition { topic: topic.to_owned(), partition, replicas, isr, leader, elr: None })
    }

    /// The same by index, of a partition whose replicas stay.
    fn change_in_place(
        self,
        topic: TopicIndex,
        partition: i32,
        now: &PartitionState,
        is_active: &dyn Fn(i32) -> bool,
    ) -> Option<PartitionChange> {
        let Difference { isr, leader, .. } = self.difference(now, is_active)?;
        Some(PartitionChange { topic, partition, isr, leader })
    }
}

impl HistoryBuilder {
    fn is_active(&self, broker: i32) -> bool {
        self.broker(broker).is_some_and(|broker| !broker.fenced)
    }

    /// A broker leaves every ISR and leads nothing any more (`handleBrokerInControlledShutdown`). A partition of which it
    /// is the last in-sync replica keeps it in the ISR and has no leader.
    pub fn shrink_isr(&self, broker: i32) -> Vec<PartitionChange> {
        let in_isr = self.partitions_on(broker).filter(|(_, _, partition)| partition.isr.contains(&broker));
        let shrunk = in_isr.filter_map(|(topic, number, partition)| {
            let isr = without(&partition.isr, &[broker]);
            let is_active = |other| other != broker && self.is_active(other);
            Target::with_isr(partition, isr).change_in_place(topic, number, partition, &is_active)
        });
        shrunk.collect()
    }

    /// A broker is fenced: after a controlled shutdown, or because it fell silent (`handleBrokerFenced`).
    pub fn fence(&self, broker: i32) -> Vec<Changes> {
        let shrunk = Changes::Partitions(self.shrink_isr(broker));
        vec![shrunk, Changes::One(Change::FenceBroker { id: broker, fenced: true })]
    }

    /// A broker is unregistered (`handleBrokerUnregistered`).
    pub fn unregister(&self, broker: i32) -> Vec<Changes> {
        let shrunk = Changes::Partitions(self.shrink_isr(broker));
        vec![shrunk, Changes::One(Change::UnregisterBroker { id: broker })]
    }

    /// A broker registers after a start, fenced (`handleBrokerShutdown`, `ClusterControlManager.registerBroker`).
    pub fn register(&self, broker: i32, rack: Option<&str>) -> Vec<Changes> {
        let registered = Change::RegisterBroker { id: broker, rack: rack.map(str::to_owned) };
        let fenced = Change::FenceBroker { id: broker, fenced: true };
        vec![Changes::Partitions(self.shrink_isr(broker)), Changes::One(registered), Changes::One(fenced)]
    }

    /// A broker is unfenced and leads the partitions that have no leader and have it in their ISR
    /// (`handleBrokerUnfenced`).
    pub fn unfence(&self, broker: i32) -> Vec<Changes> {
        let leaderless = self.partitions_on(broker).filter(|(_, _, partition)| partition.leader == -1);
        let elected = leaderless.filter_map(|(topic, number, partition)| {
            let is_active = |other| other == broker || self.is_active(other);
            Target::with_isr(partition, partition.isr.clone()).change_in_place(topic, number, partition, &is_active)
        });
        let unfenced = Changes::One(Change::FenceBroker { id: broker, fenced: false });
        vec![unfenced, Changes::Partitions(elected.collect())]
    }

    /// A broker catches up: the first of `images` images that bring it back into the ISR of all its partitions. Call it
    /// with 4, 3, 2, 1 for four images. The leaders report their partitions one after the other (`AlterPartition`), so a
    /// topic with several leaders is in several images. Nothing comes of a fenced broker, or of a partition without
    /// leader.
    pub fn expand_isr(&self, broker: i32, images: usize) -> Vec<PartitionChange> {
        if !self.is_active(broker) {
            return Vec::new();
        }
        let out = self.partitions_on(broker).filter(|(_, _, partition)| !partition.isr.contains(&broker));
        let mut out: Vec<_> = out.filter(|(_, _, partition)| self.is_active(partition.leader)).collect();
        out.sort_by_key(|(_, _, partition)| partition.leader);
        let now = out.len().div_ceil(images.max(1));
        let joined = out.into_iter().take(now).filter_map(|(topic, number, partition)| {
            let target = Target::with_isr(partition, with(&partition.isr, broker));
            target.change_in_place(topic, number, partition, &|other| self.is_active(other))
        });
        joined.collect()
    }

    /// A broker gets back what it should lead (`maybeBalancePartitionLeaders`; by default every five minutes), at most
    /// 1,000 partitions an image: until nothing is left.
    pub fn elect_preferred(&self, broker: i32) -> Vec<PartitionChange> {
        let preferred =
            self.partitions_on(broker).filter(|(_, _, partition)| partition.replicas.first() == Some(&broker));
        let preferred = preferred.filter(|(_, _, partition)| partition.leader != broker);
        let elected = preferred.filter_map(|(topic, number, partition)| {
            let target = Target { elect_preferred: true, ..Target::with_isr(partition, partition.isr.clone()) };
            target.change_in_place(topic, number, partition, &|other| self.is_active(other))
        });
        elected.take(MAX_ELECTIONS_PER_IMAGE).collect()
    }

    /// Creates a topic; replicas on fenced brokers are not in sync at first (`createTopic`).
    pub fn create_topic(&self, name: &str, id: Uuid, replicas: Vec<Vec<i32>>) -> Vec<Change> {
        let fenced = self.leave_fenced_out(name, 0, &replicas);
        [vec![Change::CreateTopic { name: name.to_owned(), id, replicas }], fenced].concat()
    }

    /// Appends partitions to a topic; replicas on fenced brokers are not in sync at first (`createPartitions`).
    pub fn add_partitions(&self, topic: &str, replicas: Vec<Vec<i32>>) -> Vec<Change> {
        let first = self.topic(topic).map_or(0, |topic| topic.partitions.len() as i32);
        let fenced = self.leave_fenced_out(topic, first, &replicas);
        [vec![Change::AddPartitions { topic: topic.to_owned(), replicas }], fenced].concat()
    }

    fn leave_fenced_out(&self, topic: &str, first: i32, replicas: &[Vec<i32>]) -> Vec<Change> {
        let changes = (first..).zip(replicas).filter_map(|(number, replicas)| {
            let partition = PartitionState::new(replicas);
            let isr = replicas.iter().copied().filter(|replica| self.is_active(*replica)).collect();
            Target::with_isr(&partition, isr).change(topic, number, &partition, &|other| self.is_active(other))
        });
        changes.collect()
    }

    /// Plans to move a partition to other brokers; `None` if there is no such partition.
    pub fn reassignment(&self, topic: &str, partition: i32, target: &[i32]) -> Option<Reassignment> {
        let now = &self.partition(topic, partition)?.replicas;
        let mut removing = without(now, target).to_vec();
        let mut adding = without(target, now).to_vec();
        removing.sort_unstable();
        adding.sort_unstable();
        Some(Reassignment { topic: topic.to_owned(), partition, target: target.to_vec(), adding, removing })
    }

    fn partition(&self, topic: &str, partition: i32) -> Option<&PartitionState> {
        self.topic(topic)?.partitions.get(usize::try_from(partition).ok()?)
    }
}

/// A reassignment of a partition: first the new replicas are added, then they join the ISR one by one; with the last
/// the old ones go. (Kafka also completes it when another change of the partition makes it complete; here only
/// [`Reassignment::begin`] and [`Reassignment::join`] do.)
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reassignment {
    /// The topic's name.
    pub topic: String,
    /// The partition.
    pub partition: i32,
    /// Its replicas in the end.
    pub target: Vec<i32>,
    /// The brokers that are new, ascending: they are to join.
    pub adding: Vec<i32>,
    /// The brokers that go, ascending.
    pub removing: Vec<i32>,
}

impl Reassignment {
    /// Adds the new replicas: the target's, then those that go. If none is new, that completes it. `None` if nothing
    /// changes.
    pub fn begin(&self, builder: &HistoryBuilder) -> Option<Change> {
        let now = builder.partition(&self.topic, self.partition)?;
        let replicas = self.target.iter().chain(&self.removing).copied().collect();
        self.change(builder, now, replicas, now.isr.clone())
    }

    /// A new replica has caught up and joins the ISR; the last one completes the reassignment. `None` if that changes
    /// nothing: the broker is fenced or in the ISR already, or the partition is no longer there or has no leader.
    pub fn join(&self, builder: &HistoryBuilder, broker: i32) -> Option<Change> {
        let now = builder.partition(&self.topic, self.partition)?;
        let can_join = builder.is_active(broker) && builder.is_active(now.leader) && now.replicas.contains(&broker);
        if !can_join || now.isr.contains(&broker) {
            return None;
        }
        self.change(builder, now, now.replicas.clone(), with(&now.isr, broker))
    }

    fn change(
        &self,
        builder: &HistoryBuilder,
        now: &PartitionState,
        replicas: BrokerIds,
        isr: BrokerIds,
    ) -> Option<Change> {
        let target = self.target(replicas, isr);
        target.change(&self.topic, self.partition, now, &|broker| builder.is_active(broker))
    }

    /// `PartitionReassignmentReplicas.maybeCompleteReassignment`: complete once all new replicas are in sync, at least
    /// one replica stays so, and, when there will be fewer replicas, all of them are.
    pub(super) fn target(&self, replicas: BrokerIds, isr: BrokerIds) -> Target {
        let isr_after = without(&isr, &self.removing);
        let in_sync = |brokers: &[i32]| brokers.iter().all(|broker| isr_after.contains(broker));
        let stays_in_sync = self.removing.is_empty() || !isr_after.is_empty();
        let may_shrink = self.adding.len() >= self.removing.len() || in_sync(&self.target);
        if stays_in_sync && in_sync(&self.adding) && may_shrink {
            Target { replicas: without(&replicas, &self.removing), isr: isr_after, elect_preferred: false }
        } else {
            Target { replicas, isr, elect_preferred: false }
        }
    }
}

fn without(list: &[i32], brokers: &[i32]) -> BrokerIds {
    list.iter().copied().filter(|broker| !brokers.contains(broker)).collect()
}

fn with(list: &[i32], broker: i32) -> BrokerIds {
    list.iter().copied().chain([broker]).collect()
}
