//! Refreshing a group's metadata: the one place where the coordinator meets the strategy. Looks at the subscribed
//! topics, bumps the group if they differ from what it stored, and says why.

use super::effects::{Bump, Cause, Field, FoundChange};
use super::group::GroupBase;
use super::modern::{Modern, ModernMember, SubscribedTopics};
use super::operation::{Operation, Refreshed, Refusal};
use super::protocol::HeartbeatError;
use super::shard::Shard;
use super::target::num_partitions;
use crate::cluster::{ImageNumber, TopicVersion};
use crate::kafka::JString;
use crate::kafka::records::{RecordType, Value};
use crate::kernel::TimeMs;
use crate::strategy::{Anew, Covers, Design, MemoTable, Seen, Stores, Work};
use std::sync::Arc;

/// `METADATA_REFRESH_INTERVAL_MS`, the same in all versions: refreshes come from image changes.
const METADATA_REFRESH_INTERVAL_MS: TimeMs = i32::MAX as TimeMs;

/// The topics that a group subscribes to, as a refresh looks at them.
pub(super) struct Subscriptions<'a> {
    after: Vec<&'a JString>,
    before: &'a dyn Fn(&JString) -> bool,
}

impl<'a> Subscriptions<'a> {
    /// From the topics that it will subscribe to after the operation, in any order, and whether it subscribes to a topic
    /// before.
    pub fn new(after: impl Iterator<Item = &'a JString>, before: &'a dyn Fn(&JString) -> bool) -> Subscriptions<'a> {
        let mut after: Vec<&JString> = after.collect();
        after.sort();
        Subscriptions { after, before }
    }
}

/// What a refresh saw.
pub(super) struct Look {
    /// The topics.
    pub seen: Arc<Seen>,
    /// Whether they are not as the group stored them.
    pub differs: bool,
}

impl Shard<'_> {
    /// Looks at the topics of a group and compares them with what it stored. `reassigns` says whether the group's assignor
    /// would give another assignment now: for the bound, which bumps for nothing else.
    pub(super) fn look(
        &self,
        operation: &mut Operation,
        group: &GroupBase,
        topics: &Subscriptions<'_>,
        reassigns: impl FnOnce() -> bool,
    ) -> Result<Look, Refusal> {
        let design = self.settings.design;
        let names = || topics.after.iter().copied();
        let anew = self.settings.does_work.then(|| {
            let anew = Anew::look(design, names(), self.history, self.image, &operation.memo);
            (anew, std::mem::take(&mut operation.work))
        });
        let seen = design.look(names(), self.history, self.image, &mut operation.memo, &mut operation.work);
        let maps_racks = design.stores(Stores::Map) && design.covers() != Covers::Partitions;
        if maps_racks
            && self.settings.behaviour.throws_on_unregistered_replica
            && seen.topics.iter().any(|(_, version)| version.has_unregistered_replica)
        {
            return Err(Refusal(HeartbeatError::UnknownServerError));
        }
        let mut differs = design.differs(group.stored.get(), &seen, &mut operation.work);
        if let Some((anew, work_before)) = anew {
            operation.wrong.extend(anew.compare(group.stored.get(), &seen, differs, operation.work));
            operation.work += work_before;
        }
        if design == Design::Ideal && differs {
            // An assignment that is still to be computed will see the change.
            differs = group.assignment.get().0 >= *group.epoch.get() && reassigns();
        }
        Ok(Look { seen: Arc::new(seen), differs })
    }

    /// What is seen of no topics at all.
    pub(super) fn nothing(&self, operation: &mut Operation, group: &GroupBase) -> Look {
        let seen = Arc::<Seen>::default();
        Look { differs: self.settings.design.differs(group.stored.get(), &seen, &mut operation.work), seen }
    }

    /// What is seen without looking: what the group stored.
    pub(super) fn stored(&self, group: &GroupBase) -> Look {
        Look { seen: group.stored.get().clone(), differs: false }
    }

    /// Looks at the topics of a group, bumps it if they differ or there is a cause, and notes when. Gives its epoch.
    pub(super) fn refresh(
        &self,
        operation: &mut Operation,
        group: &GroupBase,
        topics: &Subscriptions<'_>,
        cause: Option<Cause>,
        reassigns: impl FnOnce() -> bool,
        metadata: impl FnOnce(i32, i64) -> Value,
    ) -> Result<i32, Refusal> {
        let look = self.look(operation, group, topics, reassigns)?;
        let epoch = if cause.is_some() || look.differs {
            self.bump(operation, group, topics, look, cause.as_slice(), metadata)
        } else {
            *group.epoch.get()
        };
        self.note_refresh(operation, group, epoch);
        self.drop_old_map(operation, group);
        Ok(epoch)
    }

    /// Bumps a group: the records of its epoch and of what it saw, and why. `metadata` makes the value of the group's
    /// metadata record from the hash that it stores. Gives the new epoch.
    pub(super) fn bump(
        &self,
        operation: &mut Operation,
        group: &GroupBase,
        topics: &Subscriptions<'_>,
        look: Look,
        causes: &[Cause],
        metadata: impl FnOnce(i32, i64) -> Value,
    ) -> i32 {
        let design = self.settings.design;
        let bump = self.explain(group, topics, &look.seen, causes);
        let new_epoch = bump.new_epoch;
        operation.bump = Some(bump);
        let stores_apart = design.stores(Stores::Map) || design.stores(Stores::Hashes);
        if stores_apart && look.differs {
            let value = design.stored_record(&look.seen, self.history);
            let record_type = RecordType::partition_metadata(group.kind);
            operation.add_seen(record_type, &group.id, value, Some(look.seen.clone()));
        }
        let value = metadata(new_epoch, design.metadata_hash(&look.seen));
        let seen = (!stores_apart).then_some(look.seen);
        operation.add_seen(RecordType::group_metadata(group.kind), &group.id, Some(value), seen);
        new_epoch
    }

    /// Bumps a consumer or share group that a member leaves; its tombstones have been added. `topics` are those that the
    /// group then subscribes to.
    pub(super) fn bump_without_member<G: Modern>(
        &self,
        operation: &mut Operation,
        group: &G,
        member: &G::Member,
        topics: &SubscribedTopics,
        cause: Cause,
        metadata: impl FnOnce(i32, i64) -> Value,
    ) -> Result<(), Refusal> {
        let (base, modern, member) = (group.base(), group.modern(), member.id());
        let before = |topic: &JString| modern.subscribed.contains(topic);
        let topics = Subscriptions::new(topics.keys(), &before);
        let look = self.look(operation, base, &topics, || true)?;
        let epoch = self.bump(operation, base, &topics, look, &[cause], metadata);
        let removes_assignment = modern.target.get(member).is_some_and(|target| num_partitions(target) > 0);
        operation.bump.iter_mut().for_each(|bump| bump.removes_assignment = removes_assignment);
        if self.settings.behaviour.empty_group_assignment_epoch && modern.members.len() == 1 {
            operation.add_assignment_epoch(base.kind, &base.id, epoch, 0);
        }
        Ok(())
    }

    /// After a refresh: the map of an older version is taken back.
    pub(super) fn drop_old_map(&self, operation: &mut Operation, group: &GroupBase) {
        if self.settings.design.stores(Stores::Hash) && *group.has_map_record.get() {
            operation.add_group(RecordType::partition_metadata(group.kind), &group.id, None);
        }
    }

    /// Notes that the group has seen the current image at that epoch, and when it must look again.
    pub(super) fn note_refresh(&self, operation: &mut Operation, group: &GroupBase, epoch: i32) {
        operation.refreshed = Some(Refreshed {
            group: group.id.clone(),
            deadline_ms: operation.now_ms + METADATA_REFRESH_INTERVAL_MS,
            epoch,
            image: self.image,
        });
    }

    /// Notes that the group has looked at the current image; it must look again when it had to before.
    pub(super) fn note_look(&self, operation: &mut Operation, group: &GroupBase) {
        let (deadline_ms, epoch) = group.refresh_deadline;
        operation.refreshed = Some(Refreshed { group: group.id.clone(), deadline_ms, epoch, image: self.image });
    }

    fn explain(&self, group: &GroupBase, topics: &Subscriptions<'_>, seen: &Seen, causes: &[Cause]) -> Bump {
        let found = self.found_changes(group, topics, seen);
        let mut all_causes = causes.to_vec();
        if !found.is_empty() || causes.is_empty() {
            all_causes.push(Cause::Refresh);
        }
        let old_epoch = *group.epoch.get();
        Bump {
            kind: group.kind,
            group: group.id.clone(),
            old_epoch,
            new_epoch: old_epoch + 1,
            causes: all_causes,
            found,
            needless: causes.is_empty() && !self.fresh_differs(group, topics),
            removes_assignment: false,
        }
    }

    /// The topics that the group subscribes to before and after, and that are not as it stored them.
    fn found_changes(&self, group: &GroupBase, topics: &Subscriptions<'_>, seen: &Seen) -> Vec<FoundChange> {
        let stored = group.stored.get();
        let covers = self.settings.design.covers();
        let mut found = Vec::new();
        for (name, old, new) in merged(&stored.topics, &seen.topics) {
            if !(topics.before)(name) || topics.after.binary_search(&name).is_err() {
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
    fn fresh_differs(&self, group: &GroupBase, topics: &Subscriptions<'_>) -> bool {
        let covers = self.settings.design.covers();
        let point = Design::Point {
            covers,
            stores: Stores::Map,
            memo: crate::strategy::Memo::None,
            forgets: crate::strategy::Forgets::Topic,
        };
        let (mut memo, mut work) = (MemoTable::default(), Work::default());
        let fresh = point.look(topics.after.iter().copied(), self.history, self.image, &mut memo, &mut work);
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
