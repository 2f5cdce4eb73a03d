//! Members whose heartbeats change nothing are parked: their heartbeats are counted by arithmetic, and their session timers
//! taken out of the shard. Whatever may make a difference wakes them: a step of their own, another's write to
//! their group, a roll-back, the move of their coordinator, a time of the group's own. After an image it is enough that the
//! first member to heartbeat looks.

use super::fold::first_image_at;
use super::world::World;
use crate::coordinator::Outcome;
use crate::kafka::GroupKind;
use crate::strategy::Work;

impl World<'_> {
    /// Parks a member that has just had an answer, if its next heartbeats change nothing.
    pub(super) fn park_if_idle(&mut self, client: usize) {
        if !self.parks() {
            return;
        }
        let Some(request) = self.clients.emulator(client).idle_request() else { return };
        let place = self.groups[self.clients.group_of(client)].place;
        let Some(shard) = &mut self.places[place].shard else { return };
        let Some(until_ms) = shard.idle_until(self.now.time_ms, &request) else { return };
        self.clients.park(client, self.now, until_ms, self.subject.end_ms);
        if self.clients.is_parked(client) {
            self.groups[self.clients.group_of(client)].num_parked += 1;
            shard.park(request.group(), request.member());
        }
    }

    /// Processes a member's heartbeats again.
    pub(super) fn wake(&mut self, client: usize) {
        let now = self.now;
        let Some(idle) = self.clients.unpark(client, now) else { return };
        let group = &mut self.groups[self.clients.group_of(client)];
        group.num_parked -= 1;
        let place = &mut self.places[group.place];
        place.fold.add_idle_heartbeats(group.kind, &idle);
        if idle.count > 0 {
            let image = first_image_at(self.subject.history, idle.last.time_ms + 1) - 1;
            group.heard_at = group.heard_at.max(Some(image));
        }
        if let (Some(shard), Some(member)) = (&mut place.shard, self.clients.emulator(client).member_id()) {
            shard.unpark(group.kind, group.name, member, idle.last);
        }
    }

    /// At the end of the run: counts what was not processed.
    pub(super) fn count_parked(&mut self) {
        (0..self.groups.len()).for_each(|group| self.wake_group(group));
    }

    fn wake_group(&mut self, group: usize) {
        if self.groups[group].num_parked == 0 {
            return;
        }
        self.groups[group].clients.clone().for_each(|client| self.wake(client));
    }

    /// Wakes all members of a shard.
    pub(super) fn wake_shard(&mut self, place: usize) {
        for group in 0..self.groups.len() {
            if self.groups[group].place == place {
                self.wake_group(group);
            }
        }
    }

    /// Wakes the members of the groups that an operation wrote records of.
    pub(super) fn wake_written(&mut self, place: usize, outcome: &Outcome) {
        if !self.parks() {
            return;
        }
        let reverts = self.places[place].shard.as_ref().map_or(0, |shard| shard.num_reverts());
        if reverts != self.places[place].reverts {
            self.places[place].reverts = reverts;
            self.wake_shard(place);
        }
        for (index, entry) in outcome.entries.iter().enumerate() {
            let name = &entry.record.key.group;
            if index > 0 && outcome.entries[index - 1].record.key.group == *name {
                continue;
            }
            if let Some(&group) = self.by_name.get(name) {
                self.wake_group(group);
            }
        }
    }

    /// Wakes the members of a group that was to be looked at, if it still is to be. A streams group looks again at every
    /// heartbeat until it is bumped.
    pub(super) fn wake_after_heartbeat(&mut self, client: usize, outcome: &Outcome) {
        let group = self.clients.group_of(client);
        if self.groups[group].scout == Some(client) {
            self.groups[group].scout = None;
        }
        let looks_again = self.groups[group].kind == GroupKind::Streams && outcome.work != Work::default();
        if outcome.error.is_some() || looks_again {
            self.wake_group(group);
        }
    }

    /// An image has been published to a shard: the first member to heartbeat of each group that it touches will see it.
    pub(super) fn wake_touched(&mut self, place: usize) {
        if !self.parks() {
            return;
        }
        let touched = self.places[place].shard.as_ref().map(|shard| shard.touched()).unwrap_or_default();
        for name in touched {
            let Some(&group) = self.by_name.get(&name) else { continue };
            match self.groups[group].kind {
                GroupKind::Consumer | GroupKind::Share => self.send_scout(group),
                GroupKind::Streams => self.wake_group(group),
            }
        }
    }

    /// A member takes a step: if it was to look at what an image changed, another one has to.
    pub(super) fn replace_scout(&mut self, client: usize) {
        let group = self.clients.group_of(client);
        if self.groups[group].scout == Some(client) {
            self.groups[group].scout = None;
            self.send_scout(group);
        }
    }

    fn send_scout(&mut self, group: usize) {
        if self.groups[group].scout.is_some() || self.groups[group].num_parked == 0 {
            return;
        }
        let clients = self.groups[group].clients.clone();
        if let Some(scout) = self.clients.first_parked(clients, self.now) {
            self.wake(scout);
            self.groups[group].scout = Some(scout);
        }
    }
}
