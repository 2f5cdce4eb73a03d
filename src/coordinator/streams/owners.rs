//! Which process runs which task now (`StreamsGroup.currentActiveTaskToProcessId` and its like).

use super::tasks::{AssignedTasks, Partitions};
use crate::kafka::JString;
use crate::kafka::java::TimelineMap;
use std::collections::{BTreeMap, BTreeSet};

/// A task is taken from a process that does not run it, or given to one while another runs it (`IllegalStateException`,
/// Kafka 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task is not run by the process that it was thought to be run by")]
pub struct OwnerMismatch;

/// Processes of tasks that one process runs at a time.
pub type Single = TimelineMap<JString, TimelineMap<i32, JString>>;

/// Processes of tasks that several run. Kafka keeps them in plain hash sets inside its timeline maps: what a failed write
/// changes in a set that was there before stays changed.
pub type Several = TimelineMap<JString, TimelineMap<i32, BTreeSet<JString>>>;

/// The processes of all tasks of a group.
#[derive(Debug)]
pub struct TaskOwners {
    active: Single,
    standby: Several,
    warmup: Several,
}

impl Default for TaskOwners {
    fn default() -> Self {
        TaskOwners { active: TimelineMap::new(0), standby: TimelineMap::new(0), warmup: TimelineMap::new(0) }
    }
}

impl TaskOwners {
    /// The processes of active tasks, and of standby and warm-up tasks.
    pub fn all(&self) -> (&Single, [&Several; 2]) {
        (&self.active, [&self.standby, &self.warmup])
    }

    /// The process that runs an active task.
    pub fn active(&self, subtopology: &str, partition: i32) -> Option<&JString> {
        self.active.get(subtopology)?.get(&partition)
    }

    /// Whether a process has a standby task.
    pub fn has_standby(&self, subtopology: &str, partition: i32, process: &JString) -> bool {
        has(&self.standby, subtopology, partition, process)
    }

    /// Whether a process has a warm-up task.
    pub fn has_warmup(&self, subtopology: &str, partition: i32, process: &JString) -> bool {
        has(&self.warmup, subtopology, partition, process)
    }

    /// A member of a process no longer has these tasks (`None`: its process was not known when it got them, because its
    /// record of type 22 was loaded before that of type 19). `strict`: as in Kafka 4.1.
    pub fn remove(
        &mut self,
        tasks: &AssignedTasks,
        process: Option<&JString>,
        strict: bool,
        epoch: u64,
    ) -> Result<(), OwnerMismatch> {
        remove(&mut self.active, &tasks.active, (strict, epoch), |partitions, partition| {
            let matches = partitions.get(&partition) == process;
            if matches || strict {
                partitions.remove(&partition, epoch);
            }
            matches
        })?;
        let take = |partitions: &mut TimelineMap<i32, BTreeSet<JString>>, partition: i32| {
            partitions.get_mut(&partition).zip(process).is_some_and(|(processes, process)| processes.remove(process))
        };
        remove(&mut self.standby, &tasks.standby, (strict, epoch), take)?;
        remove(&mut self.warmup, &tasks.warmup, (strict, epoch), take)
    }

    /// A member of a process now has these tasks.
    pub fn add(
        &mut self,
        tasks: &AssignedTasks,
        process: &JString,
        strict: bool,
        epoch: u64,
    ) -> Result<(), OwnerMismatch> {
        add(&mut self.active, &tasks.active, epoch, |partitions, partition| {
            let replaces = partitions.insert(partition, process.clone(), epoch);
            !(replaces && strict)
        })?;
        let give = |partitions: &mut TimelineMap<i32, BTreeSet<JString>>, partition: i32| {
            match partitions.get_mut(&partition) {
                Some(processes) => {
                    processes.insert(process.clone());
                }
                None => {
                    partitions.insert(partition, BTreeSet::from([process.clone()]), epoch);
                }
            }
            true
        };
        add(&mut self.standby, &tasks.standby, epoch, give)?;
        add(&mut self.warmup, &tasks.warmup, epoch, give)
    }

    /// Goes back to the snapshot.
    pub fn revert(&mut self, epoch: u64) {
        self.active.revert_with(epoch, |partitions| partitions.revert(epoch));
        self.standby.revert_with(epoch, |partitions| partitions.revert(epoch));
        self.warmup.revert_with(epoch, |partitions| partitions.revert(epoch));
    }
}

fn has(owners: &Several, subtopology: &str, partition: i32, process: &JString) -> bool {
    owners.get(subtopology).and_then(|tasks| tasks.get(&partition)).is_some_and(|processes| processes.contains(process))
}

/// Takes tasks out, each with `take`, which says whether the process had it.
fn remove<T, P: Partitions>(
    owners: &mut TimelineMap<JString, TimelineMap<i32, T>>,
    tasks: &BTreeMap<JString, P>,
    (strict, epoch): (bool, u64),
    take: impl Fn(&mut TimelineMap<i32, T>, i32) -> bool,
) -> Result<(), OwnerMismatch> {
    for (subtopology, partitions) in tasks {
        let Some(of_subtopology) = owners.get_mut(subtopology) else {
            if strict {
                return Err(OwnerMismatch);
            }
            continue;
        };
        for partition in partitions.all() {
            if !take(of_subtopology, partition) && strict {
                return Err(OwnerMismatch);
            }
        }
        if of_subtopology.is_empty() {
            owners.remove(subtopology, epoch);
        } else {
            owners.touch(subtopology, epoch);
        }
    }
    Ok(())
}

/// Puts tasks in, each with `give`, which says whether nothing is wrong with that.
fn add<T, P: Partitions>(
    owners: &mut TimelineMap<JString, TimelineMap<i32, T>>,
    tasks: &BTreeMap<JString, P>,
    epoch: u64,
    give: impl Fn(&mut TimelineMap<i32, T>, i32) -> bool,
) -> Result<(), OwnerMismatch> {
    for (subtopology, partitions) in tasks {
        if !owners.touch(subtopology, epoch) {
            owners.insert(subtopology.clone(), TimelineMap::new(partitions.all().count()), epoch);
        }
        let of_subtopology = owners.get_mut(subtopology).expect("it has just been put there");
        for partition in partitions.all() {
            if !give(of_subtopology, partition) {
                return Err(OwnerMismatch);
            }
        }
    }
    Ok(())
}
