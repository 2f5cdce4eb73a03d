//! The load of processes and their members while tasks are given out (`ProcessState`).

use super::{GroupSpec, Processes, Task};
use crate::coordinator::streams::tasks::Tasks;
use crate::kafka::java::PriorityQueue;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A process.
#[derive(Debug, Default)]
struct Process {
    /// The tasks of its members; no process gets a task twice.
    active: BTreeSet<Task>,
    standby: BTreeSet<Task>,
    /// Its members and how many tasks they had when they were queued; `None` after a task was given past the queue.
    by_load: Option<PriorityQueue<(usize, i32)>>,
}

/// All processes of a group, and what their members have been given.
pub(super) struct Load<'a> {
    group: &'a GroupSpec<'a>,
    /// Who is where.
    pub(super) processes: Processes,
    states: Vec<Process>,
    /// How many tasks each member has.
    pub(super) task_counts: Vec<i32>,
    given: Vec<Tasks>,
}

impl<'a> Load<'a> {
    pub(super) fn new(group: &'a GroupSpec<'a>, processes: Processes) -> Self {
        Load {
            group,
            states: processes.members.iter().map(|_| Process::default()).collect(),
            processes,
            task_counts: vec![0; group.members.len()],
            given: vec![Tasks::default(); group.members.len()],
        }
    }

    pub(super) fn into_tasks(self) -> Vec<Tasks> {
        self.given
    }

    /// How many tasks a process has.
    pub(super) fn task_count(&self, process: usize) -> usize {
        self.states[process].active.len() + self.states[process].standby.len()
    }

    /// `ProcessState.load`: tasks for each member.
    pub(super) fn of(&self, process: usize) -> f64 {
        self.task_count(process) as f64 / self.processes.members[process].len() as f64
    }

    pub(super) fn compare(&self, a: usize, b: usize) -> Ordering {
        self.of(a).total_cmp(&self.of(b))
    }

    pub(super) fn has_task(&self, process: usize, task: Task) -> bool {
        self.states[process].active.contains(&task) || self.states[process].standby.contains(&task)
    }

    /// `assignedTasks`.
    pub(super) fn tasks(&self, process: usize) -> impl Iterator<Item = Task> {
        self.states[process].active.union(&self.states[process].standby).copied()
    }

    pub(super) fn active_tasks(&self, process: usize) -> usize {
        self.states[process].active.len()
    }

    /// Gives a task to a member: how many it then has.
    pub(super) fn give(&mut self, member: usize, task: Task, active: bool) -> i32 {
        self.states[self.processes.of_member[member]].by_load = None;
        self.add(member, task, active)
    }

    fn add(&mut self, member: usize, task: Task, active: bool) -> i32 {
        let state = &mut self.states[self.processes.of_member[member]];
        let (of_process, of_member) = if active {
            (&mut state.active, &mut self.given[member].active)
        } else {
            (&mut state.standby, &mut self.given[member].standby)
        };
        of_process.insert(task);
        self.group.give(of_member, task);
        self.task_counts[member] += 1;
        self.task_counts[member]
    }

    /// Gives a task to the member of a process that has the fewest (`addTaskToLeastLoadedMember`).
    pub(super) fn give_to_least_loaded(&mut self, process: usize, task: Task, active: bool) -> i32 {
        let members = &self.processes.members[process];
        if let [member] = members[..] {
            return self.add(member, task, active);
        }
        let compare = |a: &(usize, i32), b: &(usize, i32)| a.1.cmp(&b.1);
        let mut queue = self.states[process].by_load.take().unwrap_or_else(|| {
            let mut queue = PriorityQueue::default();
            for &member in members {
                queue.add((member, self.task_counts[member]), compare);
            }
            queue
        });
        let (member, _) = queue.poll(compare).expect("a process has members");
        let count = self.add(member, task, active);
        queue.add((member, count), compare);
        self.states[process].by_load = Some(queue);
        count
    }
}
