//! The axes of the design space, and the presets.

use serde::{Deserialize, Serialize};

/// What of a topic is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covers {
    /// Its id and its number of partitions.
    Partitions,
    /// Also each partition's set of racks.
    RackSet,
    /// Also how often each rack occurs.
    RackList,
}

/// What a group persists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stores {
    /// The content itself (type 4 record).
    Map,
    /// Topic → hash (a type 4 record of ours).
    Hashes,
    /// One hash (in the group's metadata record).
    Hash,
}

/// Where computed topic hashes are kept for the next refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memo {
    /// Nowhere.
    None,
    /// Once a coordinator shard.
    Shard,
    /// Once a broker: all its shards share it.
    Broker,
}

/// What makes a memo forget a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgets {
    /// A change of the topic itself.
    Topic,
    /// Also the registration of a broker that hosts it.
    TopicOrBroker,
}

/// A point in the design space, or the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// Bumps exactly when the group's assignor would give another assignment; stores and computes nothing.
    Ideal,
    /// A design that could be built.
    Point {
        /// What of a topic is looked at.
        covers: Covers,
        /// What a group persists.
        stores: Stores,
        /// Where topic hashes are remembered.
        memo: Memo,
        /// What drops a remembered hash (without a memo: meaningless).
        forgets: Forgets,
    },
}

/// A named design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    /// Its name, as in results.
    pub name: String,
    /// What it does.
    pub design: Design,
}

/// The names of the presets, in the order of the architecture document.
pub const PRESETS: [&str; 6] = ["full-map", "count-map", "stored-hash", "recompute", "cached-hash", "ideal"];

impl Strategy {
    /// The preset of that name.
    pub fn preset(name: &str) -> Option<Strategy> {
        use {Covers::*, Stores::*};
        let point = |covers, stores, memo| Design::Point { covers, stores, memo, forgets: Forgets::Topic };
        let design = match name {
            "full-map" => point(RackSet, Map, Memo::None),
            "count-map" => point(Partitions, Map, Memo::None),
            "stored-hash" => point(RackList, Hashes, Memo::None),
            "recompute" => point(RackList, Hash, Memo::None),
            "cached-hash" => point(RackList, Hash, Memo::Shard),
            "ideal" => Design::Ideal,
            _ => return None,
        };
        Some(Strategy { name: name.to_owned(), design })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_named_once() {
        for name in PRESETS {
            assert_eq!(Strategy::preset(name).map(|s| s.name).as_deref(), Some(name));
        }
        assert_eq!(Strategy::preset("fullmap"), None);
    }
}
