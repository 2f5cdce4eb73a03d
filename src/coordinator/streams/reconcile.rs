//! Moves a member from the tasks that it owns towards its target (the streams `CurrentAssignmentBuilder`).
//!
//! A task that another process still runs must be released first; and of the tasks of one partition of a subtopology
//! (active, standby, warm-up) a process has one at a time.

use super::owners::TaskOwners;
use super::tasks::{ActiveTasks, AssignedTasks, TaskSet, Tasks, has_task, without_epochs};
use crate::kafka::JString;
use std::collections::{BTreeMap, BTreeSet};

/// `MemberState` of streams groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(i8)]
pub enum MemberState {
    /// The member has its target.
    #[default]
    Stable = 1,
    /// It must give up tasks first.
    UnrevokedTasks = 2,
    /// It waits for tasks that others have not released.
    UnreleasedTasks = 3,
}

impl MemberState {
    /// The state that a record of type 22 names.
    pub fn from_record(state: i8) -> MemberState {
        match state {
            2 => MemberState::UnrevokedTasks,
            3 => MemberState::UnreleasedTasks,
            // The coordinator writes no other state; Kafka's UNKNOWN is for records of later versions.
            _ => MemberState::Stable,
        }
    }
}

/// What a record of type 22 holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CurrentAssignment {
    /// The member's epoch.
    pub epoch: i32,
    /// The one before.
    pub previous_epoch: i32,
    /// Where the member is in its reconciliation.
    pub state: MemberState,
    /// The tasks that it has.
    pub assigned: AssignedTasks,
    /// The tasks that it must give up.
    pub pending_revocation: AssignedTasks,
}

/// What a reconciliation looks at.
#[derive(Debug, Clone, Copy)]
pub struct Reconciliation<'a> {
    /// Whether tasks know at which epoch they were assigned (4.3 on).
    pub assignment_epochs: bool,
    /// Whether a member's task changes its role at once (4.4); before, the member gives it up and gets it anew.
    pub roles_change: bool,
    /// The epoch of the target assignment.
    pub target_epoch: i32,
    /// The member's target.
    pub target: &'a Tasks,
    /// The member's process.
    pub process: &'a JString,
    /// Who runs what.
    pub owners: &'a TaskOwners,
    /// What the member says it owns, if it said so.
    pub owned: Option<&'a Tasks>,
}

/// The difference between what a member has and what it is to have.
#[derive(Default)]
struct Difference {
    kept: AssignedTasks,
    revoked: AssignedTasks,
    gained: AssignedTasks,
    waits: bool,
}

impl Reconciliation<'_> {
    /// The member's next state; `None` when it stays as it is.
    pub fn next(&self, current: &CurrentAssignment) -> Option<CurrentAssignment> {
        let epoch = match current.state {
            MemberState::Stable if current.epoch == self.target_epoch => return None,
            MemberState::UnrevokedTasks if self.may_own(&current.pending_revocation) => return None,
            MemberState::UnrevokedTasks => current.epoch.wrapping_add(1),
            MemberState::Stable | MemberState::UnreleasedTasks => current.epoch,
        };
        let next = self.towards_target(current, epoch);
        (next != *current).then_some(next)
    }

    /// Whether the member may still own one of these tasks; one that does not say what it owns may.
    fn may_own(&self, tasks: &AssignedTasks) -> bool {
        self.owned.is_none_or(|owned| owned.contains_any(tasks))
    }

    fn towards_target(&self, current: &CurrentAssignment, epoch: i32) -> CurrentAssignment {
        let mut difference = self.difference(&current.assigned);
        let revokes = if self.roles_change {
            self.change_roles(&current.assigned, &mut difference)
        } else {
            !difference.revoked.is_empty() && self.may_own(&difference.revoked)
        };
        let Difference { mut kept, revoked, gained, waits } = difference;
        if revokes {
            return CurrentAssignment {
                epoch,
                previous_epoch: current.epoch,
                state: MemberState::UnrevokedTasks,
                assigned: kept,
                pending_revocation: revoked,
            };
        }
        kept.merge(gained);
        CurrentAssignment {
            epoch: self.target_epoch,
            previous_epoch: current.epoch,
            state: if waits { MemberState::UnreleasedTasks } else { MemberState::Stable },
            assigned: kept,
            pending_revocation: AssignedTasks::default(),
        }
    }

    fn difference(&self, assigned: &AssignedTasks) -> Difference {
        let target_epoch = if self.assignment_epochs { self.target_epoch } else { 0 };
        let mut all = Difference::default();
        let active = split(&assigned.active, &self.target.active, |id, p| self.is_active_unreleased(assigned, id, p));
        all.kept.active = active.kept;
        all.revoked.active = active.revoked;
        all.gained.active = with_epoch(active.gained, target_epoch);
        let standby = unordered(&assigned.standby);
        let standby = split(&standby, &self.target.standby, |id, p| self.is_standby_unreleased(assigned, id, p));
        all.kept.standby = without_epochs(&standby.kept);
        all.revoked.standby = without_epochs(&standby.revoked);
        all.gained.standby = standby.gained;
        let warmup = unordered(&assigned.warmup);
        let warmup = split(&warmup, &self.target.warmup, |id, p| self.is_warmup_unreleased(assigned, id, p));
        all.kept.warmup = without_epochs(&warmup.kept);
        all.revoked.warmup = without_epochs(&warmup.revoked);
        all.gained.warmup = warmup.gained;
        all.waits = active.waits || standby.waits || warmup.waits;
        all
    }

    fn runs_here(&self, subtopology: &str, partition: i32) -> bool {
        self.owners.active(subtopology, partition) == Some(self.process)
    }

    /// Whether the process has the standby task; where roles change, not if it is this member that has it.
    fn standby_here(&self, assigned: &AssignedTasks, subtopology: &str, partition: i32) -> bool {
        self.owners.has_standby(subtopology, partition, self.process)
            && !(self.roles_change && has_task(&assigned.standby, subtopology, partition))
    }

    /// The same for warm-up tasks.
    fn warmup_here(&self, assigned: &AssignedTasks, subtopology: &str, partition: i32) -> bool {
        self.owners.has_warmup(subtopology, partition, self.process)
            && !(self.roles_change && has_task(&assigned.warmup, subtopology, partition))
    }

    fn is_active_unreleased(&self, assigned: &AssignedTasks, subtopology: &str, partition: i32) -> bool {
        self.owners.active(subtopology, partition).is_some()
            || self.standby_here(assigned, subtopology, partition)
            || self.warmup_here(assigned, subtopology, partition)
    }

    fn is_standby_unreleased(&self, assigned: &AssignedTasks, subtopology: &str, partition: i32) -> bool {
        let own = self.roles_change && has_task(&assigned.active, subtopology, partition);
        (self.runs_here(subtopology, partition) && !own)
            || self.owners.has_standby(subtopology, partition, self.process)
            || self.warmup_here(assigned, subtopology, partition)
    }

    fn is_warmup_unreleased(&self, assigned: &AssignedTasks, subtopology: &str, partition: i32) -> bool {
        self.runs_here(subtopology, partition)
            || self.standby_here(assigned, subtopology, partition)
            || self.owners.has_warmup(subtopology, partition, self.process)
    }

    /// What changes its role changes it at once, instead of being revoked. Whether the member has tasks to give up.
    fn change_roles(&self, assigned: &AssignedTasks, difference: &mut Difference) -> bool {
        let Difference { kept, revoked, gained, .. } = difference;
        for (id, partition) in each(&assigned.active, |partitions| partitions.keys()) {
            move_task(&mut gained.standby, &mut kept.standby, id, partition);
        }
        for (id, partition) in each(&assigned.standby, |partitions| partitions) {
            if move_task(&mut gained.warmup, &mut kept.warmup, id, partition) {
                remove_task(&mut revoked.standby, id, partition);
            }
        }
        for (id, partition) in each(&assigned.warmup, |partitions| partitions) {
            if move_task(&mut gained.standby, &mut kept.standby, id, partition) {
                remove_task(&mut revoked.warmup, id, partition);
            }
        }
        // A task that becomes active stays what it was until it is.
        let promoted = |tasks: &TaskSet| -> Vec<(JString, i32)> {
            let tasks = each(tasks, |partitions| partitions).map(|(id, partition)| (id.clone(), partition));
            tasks.filter(|(id, partition)| has_task(&self.target.active, id, *partition)).collect()
        };
        let (standby, warmup) = (promoted(&assigned.standby), promoted(&assigned.warmup));
        for (id, partition) in &standby {
            remove_task(&mut revoked.standby, id, *partition);
        }
        for (id, partition) in &warmup {
            remove_task(&mut revoked.warmup, id, *partition);
        }
        let revokes = !revoked.is_empty() && self.may_own(revoked);
        let waits = |(id, partition): &(JString, i32)| revokes || !has_task(&gained.active, id, *partition);
        for (id, partition) in standby.into_iter().filter(|task| waits(task)) {
            kept.standby.entry(id).or_default().insert(partition);
        }
        for (id, partition) in warmup.into_iter().filter(|task| waits(task)) {
            kept.warmup.entry(id).or_default().insert(partition);
        }
        revokes
    }
}

/// All tasks of a set.
fn each<'a, P, I: IntoIterator<Item = &'a i32>>(
    tasks: &'a BTreeMap<JString, P>,
    partitions: impl Fn(&'a P) -> I,
) -> impl Iterator<Item = (&'a JString, i32)> {
    tasks.iter().flat_map(move |(id, of_id)| partitions(of_id).into_iter().map(move |&partition| (id, partition)))
}

/// Takes a task out, and the subtopology with its last one. Whether the task was there.
fn remove_task(tasks: &mut TaskSet, subtopology: &str, partition: i32) -> bool {
    let Some(partitions) = tasks.get_mut(subtopology) else { return false };
    let removed = partitions.remove(&partition);
    if removed && partitions.is_empty() {
        tasks.remove(subtopology);
    }
    removed
}

/// Moves a task from one set to another, if it is there.
fn move_task(from: &mut TaskSet, to: &mut TaskSet, subtopology: &JString, partition: i32) -> bool {
    let moves = remove_task(from, subtopology, partition);
    if moves {
        to.entry(subtopology.clone()).or_default().insert(partition);
    }
    moves
}

/// The tasks of one role, split.
struct Split {
    kept: ActiveTasks,
    revoked: ActiveTasks,
    gained: TaskSet,
    waits: bool,
}

fn split(assigned: &ActiveTasks, target: &TaskSet, is_unreleased: impl Fn(&JString, i32) -> bool) -> Split {
    let mut split = Split { kept: BTreeMap::new(), revoked: BTreeMap::new(), gained: BTreeMap::new(), waits: false };
    for (id, partitions) in assigned {
        for (&partition, &epoch) in partitions {
            let to = if has_task(target, id, partition) { &mut split.kept } else { &mut split.revoked };
            to.entry(id.clone()).or_default().insert(partition, epoch);
        }
    }
    for (id, partition) in each(target, |partitions| partitions) {
        if has_task(&split.kept, id, partition) {
            continue;
        }
        if is_unreleased(id, partition) {
            split.waits = true;
        } else {
            split.gained.entry(id.clone()).or_default().insert(partition);
        }
    }
    split
}

/// Tasks of roles that know no epochs, as the others are kept.
fn unordered(tasks: &TaskSet) -> ActiveTasks {
    with_epoch(tasks.clone(), 0)
}

fn with_epoch(tasks: TaskSet, epoch: i32) -> ActiveTasks {
    let with_epoch = |partitions: BTreeSet<i32>| partitions.into_iter().map(|partition| (partition, epoch)).collect();
    tasks.into_iter().map(|(id, partitions)| (id, with_epoch(partitions))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::KafkaVersion;
    use serde::Deserialize;

    type Listed = BTreeMap<String, BTreeSet<i32>>;
    /// Active (with epochs), standby and warm-up tasks.
    type ListedAssigned = (BTreeMap<String, BTreeMap<i32, i32>>, Listed, Listed);

    #[derive(Deserialize)]
    struct Line {
        kafka: String,
        epoch: i32,
        state: i8,
        assigned: ListedAssigned,
        pending: ListedAssigned,
        target_epoch: i32,
        target: (Listed, Listed, Listed),
        owned: Option<(Listed, Listed, Listed)>,
        /// Other members: their process and tasks.
        others: Vec<(String, Listed, Listed, Listed)>,
        /// Epoch, epoch before, state, assigned and pending tasks.
        next: Option<(i32, i32, i8, ListedAssigned, ListedAssigned)>,
    }

    fn set(listed: &Listed) -> TaskSet {
        listed.iter().map(|(id, partitions)| (id.as_str().into(), partitions.clone())).collect()
    }

    fn tasks((active, standby, warmup): &(Listed, Listed, Listed)) -> Tasks {
        Tasks { active: set(active), standby: set(standby), warmup: set(warmup) }
    }

    fn assigned((active, standby, warmup): &ListedAssigned) -> AssignedTasks {
        AssignedTasks {
            active: active.iter().map(|(id, partitions)| (id.as_str().into(), partitions.clone())).collect(),
            standby: set(standby),
            warmup: set(warmup),
        }
    }

    fn check(text: &str) -> Result<(), String> {
        let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let version: KafkaVersion = line.kafka.parse().map_err(|_| line.kafka)?;
        let behaviour = version.behaviour();
        let current = CurrentAssignment {
            epoch: line.epoch,
            previous_epoch: 3,
            state: MemberState::from_record(line.state),
            assigned: assigned(&line.assigned),
            pending_revocation: assigned(&line.pending),
        };
        let process = JString::from("p1");
        let mut owners = TaskOwners::default();
        let mut own = |tasks: &AssignedTasks, process: &JString| owners.add(tasks, process, false, 1);
        for (process, active, standby, warmup) in &line.others {
            let tasks =
                AssignedTasks { active: with_epoch(set(active), 0), standby: set(standby), warmup: set(warmup) };
            own(&tasks, &process.as_str().into()).map_err(|error| error.to_string())?;
        }
        own(&current.assigned, &process).map_err(|error| error.to_string())?;
        own(&current.pending_revocation, &process).map_err(|error| error.to_string())?;
        let owned = line.owned.as_ref().map(tasks);
        let reconciliation = Reconciliation {
            assignment_epochs: behaviour.assignment_epochs,
            roles_change: behaviour.streams.roles_change,
            target_epoch: line.target_epoch,
            target: &tasks(&line.target),
            process: &process,
            owners: &owners,
            owned: owned.as_ref(),
        };
        let expected = line.next.map(|(epoch, previous_epoch, state, tasks, pending)| CurrentAssignment {
            epoch,
            previous_epoch,
            state: MemberState::from_record(state),
            assigned: assigned(&tasks),
            pending_revocation: assigned(&pending),
        });
        let got = reconciliation.next(&current);
        if got == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {got:?}")) }
    }

    /// `tests/golden/streams/reconciliations.jsonl`: what the streams `CurrentAssignmentBuilder` of each version made of
    /// random members.
    #[test]
    fn members_move_as_in_kafka() {
        let text = include_str!("../../../tests/golden/streams/reconciliations.jsonl");
        assert_eq!(text.lines().count(), 90);
        for (number, line) in text.lines().enumerate() {
            assert_eq!(check(line), Ok(()), "line {}", number + 1);
        }
    }
}
