//! Sets of tasks: what a member of a streams group is to run, and what it runs.
//!
//! Kafka keeps them in hash maps. Here they are sorted, as records list them: no choice depends on their order.

use crate::kafka::JString;
use std::collections::{BTreeMap, BTreeSet};

/// The partitions of each subtopology.
pub type TaskSet = BTreeMap<JString, BTreeSet<i32>>;

/// The partitions of each subtopology, each with the epoch at which it was assigned (0 in versions that keep none).
pub type ActiveTasks = BTreeMap<JString, BTreeMap<i32, i32>>;

/// Tasks of a target, or those that a member says it owns (`TasksTuple`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Those that process records.
    pub active: TaskSet,
    /// Those that keep a copy of a state.
    pub standby: TaskSet,
    /// Those that catch up to become active; no assignor of Kafka's gives any.
    pub warmup: TaskSet,
}

/// Tasks that a member owns or must give up (`TasksTupleWithEpochs`; `TasksTuple` before 4.3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssignedTasks {
    /// Those that process records.
    pub active: ActiveTasks,
    /// Those that keep a copy of a state.
    pub standby: TaskSet,
    /// Those that catch up to become active.
    pub warmup: TaskSet,
}

/// Anything that partitions can be looked up in.
pub trait Partitions {
    /// Whether the partition is there.
    fn has(&self, partition: i32) -> bool;

    /// All of them, ascending.
    fn all(&self) -> impl Iterator<Item = i32>;
}

impl Partitions for BTreeSet<i32> {
    fn has(&self, partition: i32) -> bool {
        self.contains(&partition)
    }

    fn all(&self) -> impl Iterator<Item = i32> {
        self.iter().copied()
    }
}

impl Partitions for BTreeMap<i32, i32> {
    fn has(&self, partition: i32) -> bool {
        self.contains_key(&partition)
    }

    fn all(&self) -> impl Iterator<Item = i32> {
        self.keys().copied()
    }
}

/// Whether a task is there.
pub fn has_task<P: Partitions>(tasks: &BTreeMap<JString, P>, subtopology: &str, partition: i32) -> bool {
    tasks.get(subtopology).is_some_and(|partitions| partitions.has(partition))
}

impl Tasks {
    /// Whether there is no subtopology in it.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty() && self.standby.is_empty() && self.warmup.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        [&self.active, &self.standby, &self.warmup]
            .into_iter()
            .flat_map(|tasks| tasks.values())
            .map(|p| p.len() as u64)
            .sum()
    }

    /// Whether these are just the tasks assigned (`sameTasks`).
    pub fn are(&self, other: &AssignedTasks) -> bool {
        let partitions = |assigned: &BTreeMap<i32, i32>| assigned.keys().copied().collect::<BTreeSet<i32>>();
        self.standby == other.standby
            && self.warmup == other.warmup
            && self.active.len() == other.active.len()
            && self.active.iter().all(|(id, tasks)| other.active.get(id).is_some_and(|o| partitions(o) == *tasks))
    }

    /// Whether a task is in both.
    pub fn contains_any(&self, other: &AssignedTasks) -> bool {
        meet(&self.active, &other.active) || meet(&self.standby, &other.standby) || meet(&self.warmup, &other.warmup)
    }
}

impl AssignedTasks {
    /// Whether there is no subtopology in it.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty() && self.standby.is_empty() && self.warmup.is_empty()
    }

    /// Adds the tasks of another.
    pub fn merge(&mut self, other: AssignedTasks) {
        for (subtopology, partitions) in other.active {
            self.active.entry(subtopology).or_default().extend(partitions);
        }
        for (subtopology, partitions) in other.standby {
            self.standby.entry(subtopology).or_default().extend(partitions);
        }
        for (subtopology, partitions) in other.warmup {
            self.warmup.entry(subtopology).or_default().extend(partitions);
        }
    }
}

fn meet<P: Partitions>(tasks: &TaskSet, other: &BTreeMap<JString, P>) -> bool {
    tasks.iter().any(|(subtopology, partitions)| partitions.iter().any(|&p| has_task(other, subtopology, p)))
}

/// Tasks as a request lists them, subtopology by subtopology.
pub type TaskList = [(JString, Vec<i32>)];

/// Whether all the tasks of a list are assigned (`areOwnedTasksContainedInAssignedTasks`).
pub fn contained<P: Partitions>(list: &TaskList, assigned: &BTreeMap<JString, P>) -> bool {
    list.iter().all(|(subtopology, partitions)| {
        assigned.get(subtopology).is_some_and(|assigned| partitions.iter().all(|&p| assigned.has(p)))
    })
}

/// The tasks of a list; `None` if it names a subtopology twice (`Collectors.toMap` throws).
pub fn from_list(list: &TaskList) -> Option<TaskSet> {
    let tasks: TaskSet = list
        .iter()
        .map(|(subtopology, partitions)| (subtopology.clone(), partitions.iter().copied().collect()))
        .collect();
    (tasks.len() == list.len()).then_some(tasks)
}

/// The tasks without the epochs at which they were assigned.
pub fn without_epochs(tasks: &ActiveTasks) -> TaskSet {
    tasks.iter().map(|(id, partitions)| (id.clone(), partitions.keys().copied().collect())).collect()
}
