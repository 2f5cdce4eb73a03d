//! Random changes of the cluster's metadata. Every change that is made can be applied.

use super::rng::Rng;
use super::swarm::Swarm;
use crate::cluster::Change;
use crate::kafka::Uuid;
use crate::trace::Names;
use std::collections::BTreeMap;

/// Racks: none, empty, equal ones, some that UTF-8 and UTF-16 order differently.
const RACKS: [Option<&str>; 12] = [
    None,
    None,
    Some(""),
    Some("a"),
    Some("a"),
    Some("b"),
    Some("b"),
    Some("c"),
    Some("😀"),
    Some("～"),
    Some("zürich-2b"),
    Some("a-rack-with-a-name-of-more-than-sixteen-bytes"),
];
const BROKERS: [i32; 8] = [0, 1, 2, 3, 4, 5, 6, 2_147_483_647];

/// The cluster so far.
#[derive(Debug, Default)]
pub struct Cluster {
    names: Names,
    racks: BTreeMap<i32, Option<String>>,
    /// The replicas of every partition of every topic.
    replicas: BTreeMap<String, Vec<Vec<i32>>>,
    /// All ids that topics have, or had.
    ids: Vec<Uuid>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Register,
    Reregister,
    Vanish,
    Create,
    Grow,
    Touch,
    Isr,
    Move,
    Delete,
    Recreate,
}

impl Cluster {
    /// The first image: brokers and some of the topics.
    pub fn first_image(&mut self, rng: &mut Rng, swarm: &Swarm) -> Vec<Change> {
        let mut changes = Vec::new();
        for _ in 0..rng.within(2, 6) {
            self.make(Kind::Register, &mut changes, rng, swarm);
        }
        for _ in 0..rng.within(1, swarm.topics.len() as i64) {
            self.make(Kind::Create, &mut changes, rng, swarm);
        }
        changes
    }

    /// The changes of a further image: mostly one, sometimes several or none.
    pub fn next_image(&mut self, rng: &mut Rng, swarm: &Swarm) -> Vec<Change> {
        let mut changes = Vec::new();
        let count = *rng.pick(&[0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 5]);
        for _ in 0..count {
            let kind = rng.weighted(&[
                (4, Kind::Register),
                (10, Kind::Reregister),
                (swarm.vanishing, Kind::Vanish),
                (14, Kind::Create),
                (14, Kind::Grow),
                (6, Kind::Touch),
                (10, Kind::Isr),
                (12, Kind::Move),
                (6, Kind::Delete),
                (5, Kind::Recreate),
            ]);
            self.make(kind, &mut changes, rng, swarm);
        }
        changes
    }

    /// The id of a topic that is or was there, or else one that never was.
    pub fn some_id(&self, rng: &mut Rng) -> Uuid {
        if self.ids.is_empty() || rng.chance(100) { random_id(rng) } else { *rng.pick(&self.ids) }
    }

    /// How many partitions a topic has.
    pub fn num_partitions(&self, topic: &str) -> Option<i64> {
        self.replicas.get(topic).map(|partitions| partitions.len() as i64)
    }

    /// An image that brings what a streams group waits for: mostly all of its internal topics, with the partitions that
    /// they should have; else some of them, or one that is wrong.
    pub fn internal_image(
        &mut self,
        internal: &[(String, i64)],
        sources: Vec<&str>,
        rng: &mut Rng,
        swarm: &Swarm,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        if rng.chance(500) {
            for name in sources {
                let change = self.created(name, rng.within(1, swarm.partitions_max), rng, swarm);
                self.take(change, &mut changes);
            }
        }
        let some_only = rng.chance(300);
        for (name, count) in internal {
            if some_only && rng.chance(500) {
                continue;
            }
            let count = if rng.chance(60) { count + rng.within(-1, 2) } else { *count }.max(1);
            let made = match self.num_partitions(name) {
                None => self.created(name, count, rng, swarm).into_iter().collect(),
                Some(there) if there < count && rng.chance(800) => {
                    let replicas = self.partitions(count - there, rng, swarm);
                    vec![Change::AddPartitions { topic: name.clone(), replicas }]
                }
                Some(there) if there != count => {
                    let delete = Change::DeleteTopic { topic: name.clone() };
                    self.take([delete], &mut changes);
                    self.created(name, count, rng, swarm).into_iter().collect()
                }
                Some(_) if rng.chance(20) => vec![Change::DeleteTopic { topic: name.clone() }],
                Some(_) => Vec::new(),
            };
            self.take(made, &mut changes);
        }
        changes
    }

    fn take(&mut self, made: impl IntoIterator<Item = Change>, changes: &mut Vec<Change>) {
        for change in made {
            self.apply(&change);
            changes.push(change);
        }
    }

    /// A topic of this name, if it is not there, and somewhere is a place for it.
    fn created(&mut self, name: &str, count: i64, rng: &mut Rng, swarm: &Swarm) -> Option<Change> {
        let possible = !self.names.topics.contains_key(name) && !self.names.brokers.is_empty();
        let id = possible.then(|| self.new_id(rng))?;
        Some(Change::CreateTopic { name: name.to_owned(), id, replicas: self.partitions(count, rng, swarm) })
    }

    /// Adds changes of a kind, if there can be one now.
    fn make(&mut self, kind: Kind, changes: &mut Vec<Change>, rng: &mut Rng, swarm: &Swarm) {
        // Without a broker, partitions could only be on ones that are not registered.
        let kind = if self.names.brokers.is_empty() { Kind::Register } else { kind };
        let made = match kind {
            Kind::Register => {
                let id = *rng.pick(&BROKERS);
                vec![Change::RegisterBroker { id, rack: rng.pick(&RACKS).map(str::to_owned) }]
            }
            Kind::Reregister => self.reregister(rng).into_iter().collect(),
            Kind::Vanish => {
                let brokers: Vec<i32> = self.names.brokers.iter().copied().collect();
                // One always stays, so that new partitions have a place.
                let gone = if brokers.len() > 1 { vec![*rng.pick(&brokers)] } else { Vec::new() };
                gone.into_iter().map(|id| Change::UnregisterBroker { id }).collect()
            }
            Kind::Create => self.create(rng, swarm).into_iter().collect(),
            Kind::Grow => self.grow(rng, swarm).into_iter().collect(),
            Kind::Touch | Kind::Isr | Kind::Move => self.change_partition(kind, rng, swarm).into_iter().collect(),
            Kind::Delete => self.topic(rng).map(|topic| Change::DeleteTopic { topic }).into_iter().collect(),
            Kind::Recreate => self.recreate(rng, swarm),
        };
        self.take(made, changes);
    }

    fn reregister(&self, rng: &mut Rng) -> Option<Change> {
        let brokers: Vec<i32> = self.racks.keys().copied().collect();
        let id = *brokers.get(rng.index(brokers.len()))?;
        let rack = match rng.below(10) {
            0 => None,
            1 => self.racks[&id].clone(),
            _ => rng.pick(&RACKS).map(str::to_owned),
        };
        Some(Change::RegisterBroker { id, rack })
    }

    fn create(&mut self, rng: &mut Rng, swarm: &Swarm) -> Option<Change> {
        let absent: Vec<&str> =
            swarm.topics.iter().copied().filter(|name| !self.names.topics.contains_key(*name)).collect();
        let name = (*absent.get(rng.index(absent.len()))?).to_owned();
        let count = rng.within(1, swarm.partitions_max);
        Some(Change::CreateTopic { name, id: self.new_id(rng), replicas: self.partitions(count, rng, swarm) })
    }

    fn grow(&self, rng: &mut Rng, swarm: &Swarm) -> Option<Change> {
        let topic = self.topic(rng)?;
        let count = *rng.pick(&[1, 1, 1, 2, 3, 7]);
        Some(Change::AddPartitions { topic, replicas: self.partitions(count, rng, swarm) })
    }

    fn change_partition(&self, kind: Kind, rng: &mut Rng, swarm: &Swarm) -> Option<Change> {
        let topic = self.topic(rng)?;
        let partitions = self.replicas.get(&topic)?;
        let partition = rng.index(partitions.len());
        let mut replicas = None;
        let (mut isr, mut leader, mut elr) = (None, None, None);
        match kind {
            Kind::Isr => {
                let mut in_sync = partitions[partition].clone();
                in_sync.truncate(rng.index(in_sync.len() + 1));
                if rng.chance(300) {
                    leader = Some(in_sync.first().copied().unwrap_or(-1));
                }
                if rng.chance(300) {
                    elr = Some(partitions[partition][in_sync.len()..].to_vec());
                }
                isr = Some(in_sync);
            }
            Kind::Move => {
                let mut moved = partitions[partition].clone();
                if rng.chance(300) {
                    rng.shuffle(&mut moved);
                } else {
                    moved = self.partition(rng, swarm);
                }
                if rng.chance(500) {
                    isr = Some(moved.clone());
                    leader = moved.first().copied();
                }
                replicas = Some(moved);
            }
            _ => {}
        }
        Some(Change::ChangePartition { topic, partition: partition as i32, replicas, isr, leader, elr })
    }

    fn recreate(&mut self, rng: &mut Rng, swarm: &Swarm) -> Vec<Change> {
        let Some(topic) = self.topic(rng) else {
            return Vec::new();
        };
        let before = &self.replicas[&topic];
        // Half of the time only the id is another one.
        let replicas = if rng.chance(500) {
            before.clone()
        } else {
            self.partitions(rng.within(1, swarm.partitions_max), rng, swarm)
        };
        let id = self.new_id(rng);
        vec![Change::DeleteTopic { topic: topic.clone() }, Change::CreateTopic { name: topic, id, replicas }]
    }

    fn topic(&self, rng: &mut Rng) -> Option<String> {
        self.replicas.keys().nth(rng.index(self.replicas.len())).cloned()
    }

    fn partitions(&self, count: i64, rng: &mut Rng, swarm: &Swarm) -> Vec<Vec<i32>> {
        (0..count).map(|_| self.partition(rng, swarm)).collect()
    }

    /// The brokers of a partition: mostly registered ones, each once.
    fn partition(&self, rng: &mut Rng, swarm: &Swarm) -> Vec<i32> {
        let mut brokers: Vec<i32> = self.names.brokers.iter().copied().collect();
        if rng.chance(swarm.unregistered) {
            brokers.extend(BROKERS.iter().filter(|id| !self.names.brokers.contains(id)));
        }
        rng.shuffle(&mut brokers);
        brokers.truncate(*rng.pick(&[1, 2, 2, 3, 3, 4]));
        brokers
    }

    fn new_id(&mut self, rng: &mut Rng) -> Uuid {
        let id = random_id(rng);
        self.ids.push(id);
        id
    }

    fn apply(&mut self, change: &Change) {
        self.names.apply(change).expect("only changes that can be applied are made");
        match change {
            Change::RegisterBroker { id, rack } => {
                self.racks.insert(*id, rack.clone());
            }
            Change::UnregisterBroker { id } => {
                self.racks.remove(id);
            }
            Change::CreateTopic { name, replicas, .. } => {
                self.replicas.insert(name.clone(), replicas.clone());
            }
            Change::AddPartitions { topic, replicas } => {
                self.replicas.entry(topic.clone()).or_default().extend(replicas.iter().cloned());
            }
            Change::ChangePartition { topic, partition, replicas: Some(moved), .. } => {
                if let Some(place) =
                    self.replicas.get_mut(topic).and_then(|partitions| partitions.get_mut(*partition as usize))
                {
                    place.clone_from(moved);
                }
            }
            Change::DeleteTopic { topic } => {
                self.replicas.remove(topic);
            }
            Change::ChangePartition { .. } | Change::FenceBroker { .. } => {}
        }
    }
}

fn random_id(rng: &mut Rng) -> Uuid {
    Uuid::from_halves(rng.bits(), rng.bits())
}
