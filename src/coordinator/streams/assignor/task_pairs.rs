//! `StickyTaskAssignor` of Kafka 4.1: members that had a task get it back as long as they have less than their share;
//! the others go to a process on which they meet tasks that they have not met yet, the least loaded of those.

use super::process::Load;
use super::{GroupSpec, NoMember, Processes, Task, share};
use crate::coordinator::streams::tasks::Tasks;
use crate::kafka::JString;
use crate::kafka::java::{HashMap, HashSet, JavaHash, in_collided_set};
use crate::kernel::lookup::Lookup;

/// A task with its hash code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TaskId {
    task: Task,
    hash: i32,
}

impl JavaHash for TaskId {
    fn java_hash(&self) -> i32 {
        self.hash
    }
}

struct Sticky<'a> {
    group: &'a GroupSpec<'a>,
    load: Load<'a>,
    /// Tasks that are or were to be on one process, the lesser one first.
    pairs: Lookup<(Task, Task), ()>,
    max_pairs: usize,
    tasks: i32,
    members: i32,
    per_member: i32,
    former_active: Lookup<Task, usize>,
    former_standby: Lookup<Task, Vec<usize>>,
}

pub(super) fn assign(group: &GroupSpec<'_>) -> Result<Vec<Tasks>, NoMember> {
    let (tasks, members) = (group.tasks(false).len(), group.members.len() as i32);
    let (former_active, former_standby) = group.former_owners();
    let mut sticky = Sticky {
        group,
        load: Load::new(group, Processes::new(group, HashMap::new(), false)),
        pairs: Lookup::new(),
        max_pairs: tasks * tasks.saturating_sub(1) / 2,
        tasks: tasks as i32,
        members,
        per_member: share(tasks as i32, members),
        former_active,
        former_standby,
    };
    sticky.assign_active()?;
    if group.standby_replicas > 0 {
        sticky.assign_standby();
    }
    Ok(sticky.load.into_tasks())
}

impl Sticky<'_> {
    /// The tasks in the order of a hash set.
    fn hash_set(&self, stateful_only: bool) -> Vec<Task> {
        let hashes = self.group.subtopology_hashes();
        let mut set = HashSet::new();
        for task in self.group.tasks(stateful_only) {
            set.insert(TaskId { task, hash: hashes[task.subtopology].wrapping_add(task.partition) });
        }
        set.iter().map(|id| id.task).collect()
    }

    fn assign_active(&mut self) -> Result<(), NoMember> {
        let mut tasks = self.hash_set(false);
        tasks.retain(|&task| {
            let member = self.former_active.get(&task).copied();
            !self.give_back(task, member)
        });
        tasks.retain(|&task| {
            let former = self.former_standby.get(&task).cloned().unwrap_or_default();
            let member = self.least_loaded_former(&former, task);
            !self.give_back(task, member)
        });
        for task in tasks {
            let processes = &self.load.processes;
            let all = processes.order.iter().flat_map(|&process| processes.members[process].iter().copied()).collect();
            let member = self.least_loaded(all, task).ok_or(NoMember)?;
            self.give(member, task, true);
        }
        Ok(())
    }

    fn give_back(&mut self, task: Task, member: Option<usize>) -> bool {
        let Some(member) = member.filter(|member| self.load.task_counts[*member] < self.per_member) else {
            return false;
        };
        self.give(member, task, true);
        true
    }

    /// Gives a task, and notes which others it has met (`updateHelpers`). The share of the others falls when the *process*
    /// has as many active tasks as a member's share.
    fn give(&mut self, member: usize, task: Task, active: bool) {
        self.load.give(member, task, active);
        let process = self.load.processes.of_member[member];
        for other in self.load.tasks(process).filter(|other| *other != task) {
            self.pairs.insert((task.min(other), task.max(other)), ());
        }
        let count = self.load.active_tasks(process) as i32;
        if active && count == self.per_member {
            self.members -= 1;
            self.tasks -= count;
            self.per_member = share(self.tasks, self.members);
        }
    }

    /// Whether the task would meet one on the process that it has not met yet.
    fn meets_new(&self, process: usize, task: Task) -> bool {
        let mut others = self.load.tasks(process).peekable();
        self.pairs.len() != self.max_pairs
            && (others.peek().is_none()
                || others.any(|other| !self.pairs.contains(&(task.min(other), task.max(other)))))
    }

    /// The least loaded process of a set of members, of those where the task meets another one if there are any.
    fn least_loaded_process(&self, members: &[usize], task: Task) -> Option<usize> {
        let process = |member: &usize| self.load.processes.of_member[*member];
        let members = in_collided_set(members);
        let meeting: Vec<usize> =
            members.iter().copied().filter(|member| self.meets_new(process(member), task)).collect();
        let candidates = if meeting.is_empty() { members } else { in_collided_set(&meeting) };
        candidates.iter().map(process).min_by(|&a, &b| self.load.compare(a, b))
    }

    /// The least loaded member of that process.
    fn least_loaded(&self, members: Vec<usize>, task: Task) -> Option<usize> {
        let process = self.least_loaded_process(&members, task)?;
        let members = self.load.processes.members[process].iter().copied();
        members.min_by_key(|&member| self.load.task_counts[member])
    }

    /// The first of these members on that process.
    fn least_loaded_former(&self, members: &[usize], task: Task) -> Option<usize> {
        let process = self.least_loaded_process(members, task)?;
        members.iter().copied().find(|&member| self.load.processes.of_member[member] == process)
    }

    fn assign_standby(&mut self) {
        for task in self.hash_set(true) {
            for _ in 0..self.group.standby_replicas {
                let Some(member) = self.standby(task) else { break };
                self.give(member, task, false);
            }
        }
    }

    /// The member that gets a replica of a task; `None` if every process has it.
    fn standby(&mut self, task: Task) -> Option<usize> {
        let order = &self.load.processes.order;
        let available: Vec<usize> =
            order.iter().copied().filter(|&process| !self.load.has_task(process, task)).collect();
        if available.is_empty() {
            return None;
        }
        let of_member = &self.load.processes.of_member;
        if let Some(&member) = self.former_active.get(&task) {
            let process = of_member[member];
            if available.contains(&process) && self.is_balanced(process) && self.meets_new(process, task) {
                return Some(member);
            }
        }
        if let Some(former) = self.former_standby.get_mut(&task) {
            former.retain(|&member| available.contains(&of_member[member]));
            let former = former.clone();
            let member = self.least_loaded_former(&former, task);
            if let Some(member) = member.filter(|&member| self.is_balanced(of_member[member])) {
                return Some(member);
            }
        }
        let members = self.in_hash_set(&available).into_iter();
        let members = members.flat_map(|process| self.load.processes.members[process].iter().copied()).collect();
        self.least_loaded(members, task)
    }

    /// Processes in the order of a hash set of their ids.
    fn in_hash_set(&self, processes: &[usize]) -> Vec<usize> {
        let mut set: HashMap<JString, usize> = HashMap::new();
        for &process in processes {
            let member = self.load.processes.members[process][0];
            set.insert(self.group.members[member].1.process_id.clone(), process);
        }
        set.values().copied().collect()
    }

    /// `isLoadBalanced`: less tasks than members, or no process is less loaded.
    fn is_balanced(&self, process: usize) -> bool {
        let processes = &self.load.processes;
        let has_capacity = self.load.task_count(process) < processes.members[process].len();
        has_capacity || processes.order.iter().all(|&other| self.load.of(other) >= self.load.of(process))
    }
}
