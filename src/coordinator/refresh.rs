//! Refreshing a group's metadata: the one place where the coordinator meets the strategy. Looks at the subscribed
//! topics, bumps the group if they differ from what it stored, and says why.

use super::effects::{Bump, Cause, Field, FoundChange};
use super::group::{Group, SubscribedTopics};
use super::member::Member;
use super::operation::{Operation, Refreshed, Refusal};
use super::protocol::HeartbeatError;
use super::shard::Shard;
use super::target::num_partitions;
use crate::cluster::{ImageNumber, TopicVersion};
use crate::kafka::JString;
use crate::kafka::records::{GroupMetadata, RecordType, Value};
use crate::kernel::TimeMs;
use crate::strategy::{Covers, Design, MemoTable, Seen, Stores, Work};
use std::sync::Arc;

/// `METADATA_REFRESH_INTERVAL_MS`, the same in all versions: refreshes come from image changes.
const METADATA_REFRESH_INTERVAL_MS: TimeMs = i32::MAX as TimeMs;

impl Shard<'_> {
    /// Refreshes the group (`updateSubscriptionMetadata`); with a cause it is bumped in any case. Gives its epoch.
    pub(super) fn refresh(
        &self,
        operation: &mut Operation,
        group: &Group,
        topics: &SubscribedTopics,
        cause: Option<Cause>,
        homogeneous: bool,
    ) -> Result<i32, Refusal> {
        let seen = self.look(operation, topics)?;
        let differs = self.differs(operation, group, &seen, homogeneous);
        let mut epoch = *group.epoch.get();
        let bumps = cause.is_some() || differs;
        if bumps {
            epoch += 1;
            let explained = self.explain(group, topics, &seen, cause, epoch);
            self.add_bump_records(operation, group, seen, differs, explained);
        }
        self.note_refresh(operation, group, epoch);
        if self.settings.design.stores(Stores::Hash) && *group.has_map_record.get() {
            operation.add_group(RecordType::ConsumerGroupPartitionMetadata, &group.id, None);
        }
        Ok(epoch)
    }

    /// Refreshes the group as it is without a member that leaves, and bumps it. Leaves the refresh deadline alone.
    pub(super) fn refresh_without(
        &self,
        operation: &mut Operation,
        group: &Group,
        member: &Member,
        topics: &SubscribedTopics,
        cause: Cause,
    ) -> Result<i32, Refusal> {
        let seen = self.look(operation, topics)?;
        let differs = self.settings.design.differs(group.stored.get(), &seen, &mut operation.work);
        let epoch = *group.epoch.get() + 1;
        let mut bump = self.explain(group, topics, &seen, Some(cause), epoch);
        bump.removes_assignment = group.target.get(&member.id).is_some_and(|target| num_partitions(target) > 0);
        self.add_bump_records(operation, group, seen, differs, bump);
        Ok(epoch)
    }

    /// Refreshes the group after its regular expressions were resolved.
    pub(super) fn refresh_resolved(
        &self,
        operation: &mut Operation,
        group: &Group,
        topics: &SubscribedTopics,
        matches_changed: bool,
    ) -> Result<(), Refusal> {
        let seen = self.look(operation, topics)?;
        let differs = self.differs(operation, group, &seen, *group.homogeneous.get());
        if matches_changed || differs {
            let epoch = *group.epoch.get() + 1;
            let bump = self.explain(group, topics, &seen, matches_changed.then_some(Cause::Regex), epoch);
            self.add_bump_records(operation, group, seen, differs, bump);
            self.note_refresh(operation, group, epoch);
        }
        Ok(())
    }

    /// Notes that the group has seen the current image at that epoch, and when it must look again.
    fn note_refresh(&self, operation: &mut Operation, group: &Group, epoch: i32) {
        operation.refreshed = Some(Refreshed {
            group: group.id.clone(),
            deadline_ms: operation.now_ms + METADATA_REFRESH_INTERVAL_MS,
            epoch,
            image: self.image,
        });
    }

    fn look(&self, operation: &mut Operation, topics: &SubscribedTopics) -> Result<Arc<Seen>, Refusal> {
        let design = self.settings.design;
        let seen = design.look(topics.keys(), self.history, self.image, &mut operation.memo, &mut operation.work);
        let maps_racks = design.stores(Stores::Map) && design.covers() != Covers::Partitions;
        if maps_racks
            && self.settings.behaviour.throws_on_unregistered_replica
            && seen.topics.iter().any(|(_, version)| version.has_unregistered_replica)
        {
            return Err(Refusal(HeartbeatError::UnknownServerError));
        }
        Ok(Arc::new(seen))
    }

    fn differs(&self, operation: &mut Operation, group: &Group, seen: &Seen, homogeneous: bool) -> bool {
        let design = self.settings.design;
        let differs = design.differs(group.stored.get(), seen, &mut operation.work);
        if design != Design::Ideal || !differs {
            return differs;
        }
        // The bound: only another assignment is worth a bump. One that is still to be computed will see the change.
        if group.assignment.get().0 < *group.epoch.get() {
            return false;
        }
        let default = self.settings.config.assignors.first().copied();
        let Some(assignor) = self.group_assignor(group).or(default) else { return false };
        self.target_builder(group, homogeneous).build(assignor, None).is_ok_and(|target| target.differs)
    }

    fn add_bump_records(&self, operation: &mut Operation, group: &Group, seen: Arc<Seen>, differs: bool, bump: Bump) {
        let design = self.settings.design;
        let stores_apart = design.stores(Stores::Map) || design.stores(Stores::Hashes);
        if stores_apart && differs {
            let value = design.stored_record(&seen, self.history);
            let record_type = RecordType::ConsumerGroupPartitionMetadata;
            operation.add_seen(record_type, &group.id, value, Some(seen.clone()));
        }
        let value =
            Value::GroupMetadata(GroupMetadata { epoch: bump.new_epoch, metadata_hash: design.metadata_hash(&seen) });
        operation.add_seen(RecordType::ConsumerGroupMetadata, &group.id, Some(value), (!stores_apart).then_some(seen));
        operation.bump = Some(bump);
    }

    fn explain(
        &self,
        group: &Group,
        topics: &SubscribedTopics,
        seen: &Seen,
        cause: Option<Cause>,
        new_epoch: i32,
    ) -> Bump {
        let found = self.found_changes(group, topics, seen);
        let mut causes: Vec<Cause> = cause.into_iter().collect();
        if !found.is_empty() || cause.is_none() {
            causes.push(Cause::Refresh);
        }
        Bump {
            group: group.id.clone(),
            old_epoch: *group.epoch.get(),
            new_epoch,
            causes,
            found,
            needless: cause.is_none() && !self.fresh_differs(group, topics),
            removes_assignment: false,
        }
    }

    /// The topics that the group subscribes to before and after, and that are not as it stored them.
    fn found_changes(&self, group: &Group, topics: &SubscribedTopics, seen: &Seen) -> Vec<FoundChange> {
        let stored = group.stored.get();
        let covers = self.settings.design.covers();
        let mut found = Vec::new();
        for (name, old, new) in merged(&stored.topics, &seen.topics) {
            if !group.subscribed.contains(name) || !topics.contains(name) {
                continue;
            }
            let field = match (old, new) {
                (None, Some(_)) => Field::Created,
                (Some(_), None) => Field::Deleted,
                (Some(old), Some(new)) if covers.class(old) == covers.class(new) => continue,
                (Some(old), Some(new)) if old.id != new.id => Field::Id,
                (Some(old), Some(new)) if old.num_partitions() != new.num_partitions() => Field::Partitions,
                _ => Field::Racks,
            };
            let Some(since_ms) = self.first_change(name, old) else { continue };
            let Some(visible) = self.first_visible_change(name, old) else { continue };
            let looked_past = group.refreshed_at_image.is_some_and(|at| at >= visible);
            let unheard = visible <= self.loaded_at_image && !self.is_named_in(name, visible);
            let field = if looked_past || unheard { Field::Stale } else { field };
            found.push(FoundChange { topic: name.clone(), field, since_ms });
        }
        found
    }

    /// When the first image was published since which a topic has not been as `old`.
    fn first_change(&self, name: &JString, old: Option<&Arc<TopicVersion>>) -> Option<TimeMs> {
        let topic = self.history.index_of(name)?;
        let since = self.history.differs_since(topic, old.map(|version| version.hash), self.image)?;
        Some(self.history.image(since).time_ms)
    }

    /// The same, as far as the strategy covers the topic: a change that it cannot see is not one that it looked past.
    fn first_visible_change(&self, name: &JString, old: Option<&Arc<TopicVersion>>) -> Option<ImageNumber> {
        let covers = self.settings.design.covers();
        let class = |version: Option<&Arc<TopicVersion>>| version.map(|version| covers.class(version));
        let versions = self.history.versions(self.history.index_of(name)?);
        let published = &versions[..versions.partition_point(|(image, _)| *image <= self.image)];
        let differs = |(_, version): &&(ImageNumber, Option<Arc<TopicVersion>>)| class(version.as_ref()) != class(old);
        published.iter().rev().take_while(differs).last().map(|(image, _)| *image)
    }

    fn is_named_in(&self, name: &JString, image: ImageNumber) -> bool {
        let delta = self.history.image(image);
        self.history.index_of(name).is_some_and(|t| delta.changed.contains(&t) || delta.deleted.contains(&t))
    }

    /// Whether a subscribed topic's fresh value, as far as the strategy covers it, is not what the group stored.
    fn fresh_differs(&self, group: &Group, topics: &SubscribedTopics) -> bool {
        let covers = self.settings.design.covers();
        let point = Design::Point {
            covers,
            stores: Stores::Map,
            memo: crate::strategy::Memo::None,
            forgets: crate::strategy::Forgets::Topic,
        };
        let (mut memo, mut work) = (MemoTable::default(), Work::default());
        let fresh = point.look(topics.keys(), self.history, self.image, &mut memo, &mut work);
        point.differs(group.stored.get(), &fresh, &mut work)
    }
}

type Topics = [(JString, Arc<TopicVersion>)];

/// Walks two lists of topics, both in order of names, side by side.
fn merged<'a>(
    old: &'a Topics,
    new: &'a Topics,
) -> impl Iterator<Item = (&'a JString, Option<&'a Arc<TopicVersion>>, Option<&'a Arc<TopicVersion>>)> {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return None,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((a, _)), Some((b, _))) => a.cmp(b),
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        let name = before.or(after).map(|(name, _)| name)?;
        Some((name, before.map(|(_, v)| v), after.map(|(_, v)| v)))
    })
}
