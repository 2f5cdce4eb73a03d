//! Does really what a strategy is otherwise only said to do: hashes every topic from its partitions, builds and compares the
//! maps. Slow, and written apart from the fast path, to check it: both must see the same and count the same.

use super::{Covers, Design, MemoTable, Seen, Stores, Work};
use crate::cluster::{History, ImageNumber, TopicVersion};
use crate::kafka::JString;
use crate::kafka::hash::{EncodedRack, HashedRacks, TopicHasher, group_hash};
use crate::kafka::records::{PartitionMetadata, TopicHash, TopicMetadata, Value};
use std::sync::Arc;

/// What a refresh sees if all of it is done.
#[derive(Debug)]
pub struct Anew<'h> {
    design: Design,
    history: &'h History,
    racks: Vec<EncodedRack>,
    topics: Vec<(JString, Content)>,
    group_hash: i64,
    work: Work,
}

/// What is known of a topic.
#[derive(Debug, PartialEq)]
enum Content {
    Hash(i64),
    Entry(TopicMetadata),
}

impl Content {
    /// Whether a group that stored the one is to be bumped for the other: the order of a partition's replicas does not count.
    fn equals(&self, other: &Content) -> bool {
        let (Content::Entry(one), Content::Entry(other)) = (self, other) else { return self == other };
        let partitions = |entry: &TopicMetadata| -> Vec<(i32, Vec<JString>)> {
            let sorted = |partition: &PartitionMetadata| {
                let mut racks = partition.racks.clone();
                racks.sort();
                (partition.partition, racks)
            };
            entry.partition_metadata.iter().map(sorted).collect()
        };
        (one.topic_id, one.num_partitions) == (other.topic_id, other.num_partitions)
            && partitions(one) == partitions(other)
    }
}

impl<'h> Anew<'h> {
    /// Looks at the topics that a group subscribes to. `memo` is as it is before that.
    pub fn look<'n>(
        design: Design,
        names: impl Iterator<Item = &'n JString>,
        history: &'h History,
        image: ImageNumber,
        memo: &MemoTable,
    ) -> Anew<'h> {
        let racks = history.racks().map(|rack| EncodedRack::new(rack.clone())).collect();
        let (topics, work) = (Vec::new(), Work::default());
        let mut anew = Anew { design, history, racks, topics, group_hash: 0, work };
        if design == Design::Ideal {
            return anew;
        }
        anew.work.refreshes = 1;
        let mut names: Vec<&JString> = names.collect();
        names.sort();
        for name in names {
            let version = history.index_of(name).and_then(|topic| history.version_at(topic, image));
            let Some(version) = version else { continue };
            anew.work.topics_looked_up += 1;
            let mut work = anew.work;
            let content = match memo.remembered(name) {
                Some(remembered) => {
                    work.memo_hits += 1;
                    anew.content(remembered, &mut Work::default())
                }
                None => anew.content(version, &mut work),
            };
            anew.work = work;
            anew.topics.push((name.clone(), content));
        }
        if design.stores(Stores::Hash) {
            anew.work.group_hashes = 1;
            anew.work.group_hash_topics = anew.topics.len() as u64;
            anew.group_hash = group_hash(anew.topics.iter().map(|(_, content)| match content {
                Content::Hash(hash) => *hash,
                Content::Entry(_) => 0,
            }));
        }
        anew
    }

    fn content(&self, version: &TopicVersion, work: &mut Work) -> Content {
        if self.design.stores(Stores::Map) { self.entry(version, work) } else { self.hash(version, work) }
    }

    fn entry(&self, version: &TopicVersion, work: &mut Work) -> Content {
        work.map_entries += 1;
        if self.design.covers() != Covers::Partitions {
            for partition in 0..version.partition_ends.len() {
                work.map_partitions += 1;
                work.map_replicas += version.partition_racks(partition).len() as u64;
            }
        }
        Content::Entry(version.map_entry(self.design.covers().racks(), self.history))
    }

    fn hash(&self, version: &TopicVersion, work: &mut Work) -> Content {
        let hashed = match self.design.covers() {
            Covers::Partitions => HashedRacks::None,
            Covers::RackSet => HashedRacks::Set,
            Covers::RackList => HashedRacks::List,
        };
        let (mut visited, mut replicas) = (0, 0);
        let partitions = (0..version.partition_ends.len()).map(|partition| {
            let racks = version.partition_racks(partition);
            visited += 1;
            replicas += racks.len() as u64;
            racks.iter().map(|rack| &self.racks[usize::from(*rack)]).collect::<Vec<_>>()
        });
        let (hash, bytes) = TopicHasher::new().topic_hash(&version.name, version.id, hashed, partitions);
        work.topic_hashes += 1;
        work.hash_partitions += visited;
        work.hash_replicas += if hashed == HashedRacks::None { 0 } else { replicas };
        work.hash_bytes += bytes;
        Content::Hash(hash)
    }

    /// Compares with what the group stored, and says how what was `seen` instead, at the cost of `work`, differs from this.
    pub fn compare(mut self, stored: &Seen, seen: &Seen, differs: bool, work: Work) -> Vec<String> {
        if self.design == Design::Ideal {
            return Vec::new();
        }
        let found = self.differs(stored);
        let mut wrong = Vec::new();
        let mut check = |what: &str, model: String, real: String| {
            if model != real {
                wrong.push(format!("{what}: modelled {model}, really {real}"));
            }
        };
        check("whether the topics are as stored", (!differs).to_string(), (!found).to_string());
        check("the group hash", seen.group_hash.to_string(), self.group_hash.to_string());
        let value = self.design.stored_record(seen, self.history);
        check("what is stored", format!("{value:?}"), format!("{:?}", self.stored_value()));
        check("the work", format!("{work:?}"), format!("{:?}", self.work));
        wrong
    }

    fn stored_value(&self) -> Option<Value> {
        let hashes = self.topics.iter().filter_map(|(name, content)| match content {
            Content::Hash(hash) => Some(TopicHash { topic_name: name.clone(), hash: *hash }),
            Content::Entry(_) => None,
        });
        let entries = self.topics.iter().filter_map(|(_, content)| match content {
            Content::Entry(entry) => Some(entry.clone()),
            Content::Hash(_) => None,
        });
        match self.design {
            Design::Point { stores: Stores::Map, .. } => Some(Value::PartitionMetadata(Arc::new(entries.collect()))),
            Design::Point { stores: Stores::Hashes, .. } => Some(Value::TopicHashes(Arc::new(hashes.collect()))),
            _ => None,
        }
    }

    /// Whether the topics are not as stored, compared one by one up to the first difference.
    fn differs(&mut self, stored: &Seen) -> bool {
        if self.design.stores(Stores::Hash) {
            self.work.entries_compared += 1;
            return stored.group_hash != self.group_hash;
        }
        if stored.topics.len() != self.topics.len() {
            return true;
        }
        let mut work = self.work;
        let mut pairs = stored.topics.iter().zip(&self.topics);
        let differs = pairs.any(|((old_name, old), (name, content))| {
            work.entries_compared += 1;
            if old_name != name {
                return true;
            }
            let old = self.content(old, &mut Work::default());
            if let (Content::Entry(old), Content::Entry(new)) = (&old, content)
                && (old.topic_id, old.num_partitions) == (new.topic_id, new.num_partitions)
            {
                work.partitions_compared += new.partition_metadata.len() as u64;
            }
            !old.equals(content)
        });
        self.work = work;
        differs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Change, HistoryBuilder};
    use crate::kafka::Uuid;
    use crate::strategy::Strategy;

    fn history() -> History {
        let broker = |id, rack: &str| Change::RegisterBroker { id, rack: Some(rack.to_owned()) };
        let topic = |name: &str, id, replicas: &[&[i32]]| {
            let replicas = replicas.iter().map(|brokers| brokers.to_vec()).collect();
            Change::CreateTopic { name: name.to_owned(), id: Uuid(id), replicas }
        };
        let changes = [broker(1, "a"), broker(2, "b"), topic("bar", 2, &[&[2]]), topic("foo", 1, &[&[1, 2], &[2, 1]])];
        let mut builder = HistoryBuilder::new();
        builder.publish(0, "start", &changes).expect("right changes");
        let moved = Change::ChangePartition {
            topic: "foo".to_owned(),
            partition: 1,
            replicas: Some(vec![2]),
            isr: Some(vec![2]),
            leader: None,
            elr: None,
        };
        builder.publish(1, "reassign", &[moved]).expect("right changes");
        builder.finish()
    }

    /// Nothing differs where both do the same; where one of the figures or the verdict is another one, that is told.
    #[test]
    fn what_differs_is_told() {
        let history = history();
        let names = ["foo", "bar"].map(JString::from);
        for (name, hashes, partitions) in [("full-map", 0, 3), ("stored-hash", 2, 0), ("cached-hash", 1, 0)] {
            let design = Strategy::preset(name).expect("a preset").design;
            let (mut memo, mut work) = (MemoTable::default(), Work::default());
            let stored = design.look(names.iter(), &history, 1, &mut memo, &mut work);
            memo.forget("foo", &mut work);
            let anew = || Anew::look(design, names.iter(), &history, 2, &memo);
            let mut checks = vec![anew(), anew(), anew(), anew()];
            let mut work = Work::default();
            let mut seen = design.look(names.iter(), &history, 2, &mut memo, &mut work);
            let differs = design.differs(&stored, &seen, &mut work);
            assert!(differs);
            assert_eq!((work.topic_hashes, work.map_partitions), (hashes, partitions), "{name}");
            let mut check =
                |seen: &Seen, differs, work| checks.pop().expect("one").compare(&stored, seen, differs, work);
            assert_eq!(check(&seen, true, work), Vec::<String>::new(), "{name}");
            let wrong = check(&seen, false, work);
            assert_eq!(wrong, ["whether the topics are as stored: modelled true, really false"], "{name}");
            let wrong = check(&seen, true, Work { map_replicas: work.map_replicas + 1, ..work });
            assert!(wrong.len() == 1 && wrong[0].starts_with("the work: modelled Work"), "{name}: {wrong:?}");
            seen.group_hash += 1;
            let wrong = check(&seen, true, work);
            assert!(wrong.len() == 1 && wrong[0].starts_with("the group hash: modelled"), "{name}: {wrong:?}");
        }
    }
}
