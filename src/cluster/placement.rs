//! Where KRaft places the replicas of new partitions: its only placer, `StripedReplicaPlacer` (the same in Kafka 3.9.1,
//! 4.0.0, 4.1.1 and 4.3.1).
//!
//! Partition by partition, replicas go round the racks, each partition starting one rack further; inside a rack they go
//! round its brokers, fenced ones last. The starts are random. After as many partitions as there are unfenced
//! brokers, racks and brokers are shuffled.

use crate::kafka::JString;
use crate::kafka::java::{JavaHash, compare_utf16};

/// A broker that replicas can be placed on. Kafka leaves out those in a controlled shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsableBroker<'a> {
    /// Its id.
    pub id: i32,
    /// Its rack.
    pub rack: Option<&'a str>,
    /// Whether it is fenced: it then gets replicas only when its rack has no other broker left, and never leads.
    pub fenced: bool,
}

/// Why replicas cannot be placed (`InvalidReplicationFactorException`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// The replication factor is 0 or less.
    #[error("replication factor {0} is impossible; give 1 or more")]
    NotPositive(i32),
    /// There is no broker that could lead.
    #[error("there is no unfenced broker to lead a partition; unfence or register one")]
    NoUnfencedBroker,
    /// There are fewer brokers than replicas.
    #[error("replication factor {replication_factor} needs as many brokers, but there are {brokers}")]
    TooFewBrokers {
        /// The replication factor asked for.
        replication_factor: i32,
        /// The number of usable brokers.
        brokers: usize,
    },
}

/// Places new partitions: for each the brokers, the leader first. Give brokers in order of their ids; their order matters
/// only between racks that share a bucket of Kafka's hash map. (Kafka's `PlacementSpec` also has a start partition, which
/// the placer does not read.)
///
/// `random` is `Random.nextInt`: it is asked for numbers from 0 up to its argument, exclusively, as often and in the
/// same order as Kafka's.
pub fn place(
    num_partitions: usize,
    replication_factor: i32,
    brokers: &[UsableBroker<'_>],
    random: &mut dyn FnMut(i32) -> i32,
) -> Result<Vec<Vec<i32>>, PlacementError> {
    let mut racks = RackList::new(brokers, random);
    if replication_factor <= 0 {
        return Err(PlacementError::NotPositive(replication_factor));
    }
    if racks.num_unfenced == 0 {
        return Err(PlacementError::NoUnfencedBroker);
    }
    if replication_factor as usize > brokers.len() {
        return Err(PlacementError::TooFewBrokers { replication_factor, brokers: brokers.len() });
    }
    Ok((0..num_partitions).map(|_| racks.place(replication_factor as usize, random)).collect())
}

/// The brokers of a rack, fenced or not, that are gone round.
#[derive(Debug, Default)]
struct BrokerList {
    brokers: Vec<i32>,
    /// How many were given in this epoch.
    index: usize,
    offset: usize,
    epoch: usize,
}

impl BrokerList {
    fn initialize(&mut self, random: &mut dyn FnMut(i32) -> i32) {
        if !self.brokers.is_empty() {
            self.brokers.sort_unstable();
            self.offset = random(self.brokers.len() as i32) as usize;
        }
    }

    fn next(&mut self, epoch: usize) -> Option<i32> {
        if self.brokers.is_empty() {
            return None;
        }
        if self.epoch != epoch {
            self.epoch = epoch;
            self.index = 0;
            self.offset = (self.offset + 1) % self.brokers.len();
        }
        if self.index >= self.brokers.len() {
            return None;
        }
        self.index += 1;
        Some(self.brokers[(self.index - 1 + self.offset) % self.brokers.len()])
    }
}

#[derive(Debug)]
struct Rack {
    name: Option<JString>,
    fenced: BrokerList,
    unfenced: BrokerList,
}

impl Rack {
    fn next(&mut self, epoch: usize) -> Option<i32> {
        self.unfenced.next(epoch).or_else(|| self.fenced.next(epoch))
    }
}

struct RackList {
    /// In the order in which Kafka's `HashMap` gives them: the order of the random draws.
    racks: Vec<Rack>,
    /// Kafka's `rackNames`, as places in `racks`: the order of going round.
    order: Vec<usize>,
    num_unfenced: usize,
    epoch: usize,
    offset: usize,
}

impl RackList {
    fn new(brokers: &[UsableBroker<'_>], random: &mut dyn FnMut(i32) -> i32) -> Self {
        let mut racks: Vec<Rack> = Vec::new();
        for broker in brokers {
            let known = racks.iter().position(|rack| rack.name.as_deref() == broker.rack);
            let place = known.unwrap_or_else(|| {
                let name = broker.rack.map(JString::from);
                racks.push(Rack { name, fenced: BrokerList::default(), unfenced: BrokerList::default() });
                racks.len() - 1
            });
            let list = if broker.fenced { &mut racks[place].fenced } else { &mut racks[place].unfenced };
            list.brokers.push(broker.id);
        }
        sort_as_hash_map(&mut racks);
        for rack in &mut racks {
            rack.fenced.initialize(random);
            rack.unfenced.initialize(random);
        }
        let mut order: Vec<usize> = (0..racks.len()).collect();
        // No rack comes first, then names as Java sorts them (`OptionalStringComparator`).
        order.sort_by(|a, b| match (&racks[*a].name, &racks[*b].name) {
            (Some(a), Some(b)) => compare_utf16(a, b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        let offset = if order.is_empty() { 0 } else { random(order.len() as i32) as usize };
        let num_unfenced = brokers.iter().filter(|broker| !broker.fenced).count();
        RackList { racks, order, num_unfenced, epoch: 0, offset }
    }

    /// Places a partition. There must be an unfenced broker, and no fewer brokers than replicas.
    fn place(&mut self, replicas: usize, random: &mut dyn FnMut(i32) -> i32) -> Vec<i32> {
        if self.epoch == self.num_unfenced && self.num_unfenced > 1 {
            self.shuffle(random);
            self.epoch = 0;
        }
        if self.offset == self.order.len() {
            self.offset = 0;
        }
        let (leader, leader_rack) = self.leader();
        let mut brokers = vec![leader];
        // The rack of the leader is passed over when it is met first.
        let mut passed_over = Some(leader_rack);
        let mut rack = self.offset;
        while brokers.len() < replicas {
            if passed_over == Some(rack) {
                passed_over = None;
            } else {
                brokers.extend(self.racks[self.order[rack]].next(self.epoch));
            }
            rack = (rack + 1) % self.order.len();
        }
        self.epoch += 1;
        self.offset += 1;
        brokers
    }

    /// The first unfenced broker from the offset on, and the place of its rack in the order.
    fn leader(&mut self) -> (i32, usize) {
        let mut rack = self.offset;
        loop {
            if let Some(broker) = self.racks[self.order[rack]].unfenced.next(self.epoch) {
                return (broker, rack);
            }
            rack = (rack + 1) % self.order.len();
        }
    }

    fn shuffle(&mut self, random: &mut dyn FnMut(i32) -> i32) {
        shuffle(&mut self.order, random);
        for rack in &mut self.racks {
            shuffle(&mut rack.fenced.brokers, random);
            shuffle(&mut rack.unfenced.brokers, random);
        }
    }
}

/// `Collections.shuffle`.
fn shuffle<T>(list: &mut [T], random: &mut dyn FnMut(i32) -> i32) {
    for size in (2..=list.len()).rev() {
        list.swap(size - 1, random(size as i32) as usize);
    }
}

/// The order of a `HashMap` whose keys are `Optional<String>` (hash 0 if empty), filled in this order: by bucket of a
/// table of 16 that doubles above three quarters. (Trees, for eight colliding racks, are ignored.)
fn sort_as_hash_map(racks: &mut [Rack]) {
    let mut capacity = 16;
    while racks.len() > capacity / 4 * 3 {
        capacity *= 2;
    }
    racks.sort_by_key(|rack| {
        let hash = rack.name.as_ref().map_or(0, JavaHash::java_hash) as u32;
        (hash ^ (hash >> 16)) as usize & (capacity - 1)
    });
}
