//! Which process runs which task now (`StreamsGroup.currentActiveTaskToProcessId` and its like).

use super::tasks::{ActiveTasks, AssignedTasks, TaskSet};
use crate::kafka::JString;
use crate::kafka::java::TimelineMap;
use std::collections::BTreeSet;

/// A task is taken from a process that does not run it, or given to one while another runs it (`IllegalStateException`,
/// Kafka 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task is not run by the process that it was thought to be run by")]
pub struct OwnerMismatch;

/// Processes of tasks that one process runs at a time.
type Single = TimelineMap<JString, TimelineMap<i32, JString>>;

/// Processes of tasks that several run. Kafka keeps them in plain hash sets inside its timeline maps: what a failed write
/// changes in a set that was there before stays changed.
type Several = TimelineMap<JString, TimelineMap<i32, BTreeSet<JString>>>;

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
        remove_single(&mut self.active, &tasks.active, process, strict, epoch)?;
        remove_several(&mut self.standby, &tasks.standby, process, strict, epoch)?;
        remove_several(&mut self.warmup, &tasks.warmup, process, strict, epoch)
    }

    /// A member of a process now has these tasks.
    pub fn add(
        &mut self,
        tasks: &AssignedTasks,
        process: &JString,
        strict: bool,
        epoch: u64,
    ) -> Result<(), OwnerMismatch> {
        add_single(&mut self.active, &tasks.active, process, strict, epoch)?;
        add_several(&mut self.standby, &tasks.standby, process, epoch);
        add_several(&mut self.warmup, &tasks.warmup, process, epoch);
        Ok(())
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

fn remove_single(
    owners: &mut Single,
    tasks: &ActiveTasks,
    process: Option<&JString>,
    strict: bool,
    epoch: u64,
) -> Result<(), OwnerMismatch> {
    for (subtopology, partitions) in tasks {
        let Some(of_subtopology) = owners.get_mut(subtopology) else {
            if strict {
                return Err(OwnerMismatch);
            }
            continue;
        };
        for partition in partitions.keys() {
            let matches = of_subtopology.get(partition) == process;
            if matches || strict {
                of_subtopology.remove(partition, epoch);
            }
            if strict && !matches {
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

fn remove_several(
    owners: &mut Several,
    tasks: &TaskSet,
    process: Option<&JString>,
    strict: bool,
    epoch: u64,
) -> Result<(), OwnerMismatch> {
    for (subtopology, partitions) in tasks {
        let Some(of_subtopology) = owners.get_mut(subtopology) else {
            if strict {
                return Err(OwnerMismatch);
            }
            continue;
        };
        for partition in partitions {
            let processes = of_subtopology.get_mut(partition);
            let removed = processes.zip(process).is_some_and(|(processes, process)| processes.remove(process));
            if strict && !removed {
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

fn add_single(
    owners: &mut Single,
    tasks: &ActiveTasks,
    process: &JString,
    strict: bool,
    epoch: u64,
) -> Result<(), OwnerMismatch> {
    for (subtopology, partitions) in tasks {
        if !owners.touch(subtopology, epoch) {
            owners.insert(subtopology.clone(), TimelineMap::new(partitions.len()), epoch);
        }
        let of_subtopology = owners.get_mut(subtopology).expect("it has just been put there");
        for &partition in partitions.keys() {
            if of_subtopology.insert(partition, process.clone(), epoch) && strict {
                return Err(OwnerMismatch);
            }
        }
    }
    Ok(())
}

fn add_several(owners: &mut Several, tasks: &TaskSet, process: &JString, epoch: u64) {
    for (subtopology, partitions) in tasks {
        if !owners.touch(subtopology, epoch) {
            owners.insert(subtopology.clone(), TimelineMap::new(partitions.len()), epoch);
        }
        let of_subtopology = owners.get_mut(subtopology).expect("it has just been put there");
        for &partition in partitions {
            match of_subtopology.get_mut(&partition) {
                Some(processes) => {
                    processes.insert(process.clone());
                }
                None => {
                    of_subtopology.insert(partition, BTreeSet::from([process.clone()]), epoch);
                }
            }
        }
    }
}
