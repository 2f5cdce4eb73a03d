//! Changes that groups have missed at the end of a run.

use crate::cluster::{History, ImageNumber};
use crate::coordinator::{Group, Shard};
use crate::kafka::JString;
use crate::kernel::lookup::Lookup;

/// How many subscribed topics of all groups have another fresh `rack-list` hash than what the group stored, although
/// it has heartbeat since. `heard_at` has the image of each group's last heartbeat.
pub fn changes(history: &History, shard: &Shard, heard_at: &Lookup<JString, ImageNumber>) -> u64 {
    let of_group = |group: &Group| {
        let Some(&heard_at) = heard_at.get(&group.base().id) else { return 0 };
        group.subscribed().into_iter().filter(|topic| is_missed(history, shard.image(), group, topic, heard_at)).count()
            as u64
    };
    shard.groups().map(of_group).sum()
}

/// A change back before the group's heartbeat is none.
fn is_missed(history: &History, image: ImageNumber, group: &Group, topic: &JString, heard_at: ImageNumber) -> bool {
    let Some(index) = history.index_of(topic) else { return false };
    let stored =
        group.base().stored.get().topics.iter().find(|(name, _)| name == topic).map(|(_, version)| version.hash);
    history.differs_since(index, stored, image).is_some_and(|changed_at| changed_at <= heard_at)
}
