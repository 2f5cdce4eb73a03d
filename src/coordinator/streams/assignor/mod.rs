//! `StickyTaskAssignor`: which member runs which task. Every tie and every iteration order is Kafka's, so that each
//! member gets the very tasks that it gets there.

mod least_loaded;
mod process;
mod task_pairs;
#[cfg(test)]
mod tests;

use super::internal_topics::ConfiguredSubtopology;
use super::tasks::{TaskSet, Tasks};
use crate::kafka::JString;
use crate::kafka::java::{HashMap, JavaHash};
use crate::kernel::lookup::Lookup;
use std::collections::BTreeMap;

/// How Kafka assigns tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StickyAlgorithm {
    /// 4.1: tasks that were not yet together on a process are put together.
    ///
    /// Kafka walks hash sets of objects that have no hash code of their own. That is modelled for constant identity hash
    /// codes (`-XX:hashCode=2`); on a usual Java machine each run may differ.
    TaskPairs,
    /// From 4.2 on: heaps of processes and members by load.
    LeastLoaded {
        /// A former standby's process that has the task already is passed over (4.4); before, only the last one looked
        /// at is, or none.
        skips_owners: bool,
        /// Processes are put into their hash map with `computeIfAbsent` (4.4), not with `putIfAbsent`.
        computes_processes: bool,
    },
}

/// What the assignor is told of a member.
#[derive(Debug, Clone, Copy)]
pub struct MemberSpec<'a> {
    /// The process that it runs in.
    pub process_id: &'a JString,
    /// The active tasks that it had.
    pub active: &'a TaskSet,
    /// The standby tasks that it had.
    pub standby: &'a TaskSet,
}

/// What the assignor is told of a group.
#[derive(Debug, Clone, Copy)]
pub struct GroupSpec<'a> {
    /// The members, in the order in which Kafka's map gives them.
    pub members: &'a [(&'a JString, MemberSpec<'a>)],
    /// `num.standby.replicas`.
    pub standby_replicas: i32,
    /// The subtopologies.
    pub subtopologies: &'a BTreeMap<JString, ConfiguredSubtopology>,
}

/// No member could take a task (`TaskAssignorException`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no member is available to assign a task to")]
pub struct NoMember;

impl StickyAlgorithm {
    /// The tasks of each member, in their order.
    pub fn assign(self, group: &GroupSpec<'_>) -> Result<Vec<Tasks>, NoMember> {
        match self {
            StickyAlgorithm::TaskPairs => task_pairs::assign(group),
            StickyAlgorithm::LeastLoaded { skips_owners, computes_processes } => {
                least_loaded::assign(group, skips_owners, computes_processes)
            }
        }
    }
}

/// A task: a subtopology (its place among the sorted ids) and a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Task {
    subtopology: usize,
    partition: i32,
}

impl GroupSpec<'_> {
    /// All tasks, by subtopology and partition; the stateful ones only, if so asked.
    fn tasks(&self, stateful_only: bool) -> Vec<Task> {
        let places = self.subtopologies.values().enumerate();
        let wanted = places.filter(|(_, configured)| configured.stateful || !stateful_only);
        wanted
            .flat_map(|(subtopology, configured)| {
                (0..configured.tasks).map(move |partition| Task { subtopology, partition })
            })
            .collect()
    }

    /// `TaskId.hashCode`: that of a record of a string and an int.
    fn subtopology_hashes(&self) -> Vec<i32> {
        self.subtopologies.keys().map(|id| id.java_hash().wrapping_mul(31)).collect()
    }

    /// Which members had each task: the last one of an active task, all of a standby one.
    fn former_owners(&self) -> (Lookup<Task, usize>, Lookup<Task, Vec<usize>>) {
        let mut places = Lookup::<&str, usize>::new();
        for (place, id) in self.subtopologies.keys().enumerate() {
            places.insert(id, place);
        }
        let tasks_of = |tasks: &TaskSet| -> Vec<Task> {
            let known = tasks.iter().filter_map(|(id, partitions)| Some((*places.get(id.as_str())?, partitions)));
            known
                .flat_map(|(subtopology, partitions)| {
                    partitions.iter().map(move |&partition| Task { subtopology, partition })
                })
                .collect()
        };
        let (mut active, mut standby) = (Lookup::new(), Lookup::<Task, Vec<usize>>::new());
        for (member, (_, spec)) in self.members.iter().enumerate() {
            for task in tasks_of(spec.active) {
                active.insert(task, member);
            }
            for task in tasks_of(spec.standby) {
                match standby.get_mut(&task) {
                    Some(members) => members.push(member),
                    None => {
                        standby.insert(task, vec![member]);
                    }
                }
            }
        }
        (active, standby)
    }

    /// Adds a task to a member's set.
    fn give(&self, tasks: &mut TaskSet, task: Task) {
        if let Some(id) = self.subtopologies.keys().nth(task.subtopology) {
            tasks.entry(id.clone()).or_default().insert(task.partition);
        }
    }
}

/// The processes, and which members run in them: numbers in place of ids, and the orders of Kafka's maps.
struct Processes {
    /// The process of each member.
    of_member: Vec<usize>,
    /// The members of each process, in the order of its map.
    members: Vec<Vec<usize>>,
    /// The processes in the order of their map.
    order: Vec<usize>,
}

impl Processes {
    /// `processes` is the empty map that Kafka would put them into.
    fn new(group: &GroupSpec<'_>, mut processes: HashMap<JString, usize>, computes: bool) -> Processes {
        let mut maps: Vec<HashMap<JString, usize>> = Vec::new();
        let mut of_member = Vec::new();
        for (member, (id, spec)) in group.members.iter().enumerate() {
            let process = match processes.get(spec.process_id) {
                Some(&process) => process,
                None => {
                    maps.push(HashMap::new());
                    maps.len() - 1
                }
            };
            if computes {
                processes.get_or_insert_with(spec.process_id.clone(), || process);
            } else {
                processes.insert(spec.process_id.clone(), process);
            }
            maps[process].insert((*id).clone(), member);
            of_member.push(process);
        }
        Processes {
            of_member,
            members: maps.iter().map(|members| members.values().copied().collect()).collect(),
            order: processes.values().copied().collect(),
        }
    }
}

/// `computeTasksPerMember`: the share of a member, rounded up.
fn share(tasks: i32, members: i32) -> i32 {
    match members {
        0 => 0,
        _ => tasks / members + i32::from(tasks % members > 0),
    }
}
