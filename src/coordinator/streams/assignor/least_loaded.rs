//! `StickyTaskAssignor` from 4.2 on: tasks stay where they were as long as a member has less than its share; the others
//! go, by subtopology, to the least loaded process, and in it to the least loaded member.

use super::process::Load;
use super::{GroupSpec, NoMember, Processes, Task, share};
use crate::coordinator::streams::tasks::Tasks;
use crate::kafka::java::{HashMap, PriorityQueue};
use crate::kernel::lookup::Lookup;
use std::cmp::Reverse;

/// How many tasks members may have: a share of those that are left.
struct Quota {
    tasks: i32,
    members: i32,
    per_member: i32,
}

impl Quota {
    fn new(tasks: i32, members: usize) -> Quota {
        let members = members as i32;
        Quota { tasks, members, per_member: share(tasks, members) }
    }

    /// A member has reached a number of tasks; if that is its share, the others share the rest.
    fn note(&mut self, count: i32) {
        if count == self.per_member {
            self.members -= 1;
            self.tasks -= count;
            self.per_member = share(self.tasks, self.members);
        }
    }
}

struct Sticky<'a> {
    skips_owners: bool,
    load: Load<'a>,
    active: Quota,
    total: Quota,
    /// Who had each task.
    former_active: Lookup<Task, usize>,
    former_standby: Lookup<Task, Vec<usize>>,
}

pub(super) fn assign(
    group: &GroupSpec<'_>,
    skips_owners: bool,
    computes_processes: bool,
) -> Result<Vec<Tasks>, NoMember> {
    let (active, stateful) = (group.tasks(false), group.tasks(true));
    let standby_tasks = (stateful.len() as i32).wrapping_mul(group.standby_replicas);
    let (former_active, former_standby) = group.former_owners();
    let processes = Processes::new(group, HashMap::with_capacity(group.members.len()), computes_processes);
    let mut sticky = Sticky {
        skips_owners,
        load: Load::new(group, processes),
        active: Quota::new(active.len() as i32, group.members.len()),
        total: Quota::new((active.len() as i32).wrapping_add(standby_tasks), group.members.len()),
        former_active,
        former_standby,
    };
    sticky.assign_active(active)?;
    if group.standby_replicas > 0 {
        sticky.assign_standby(stateful, group.standby_replicas);
    }
    Ok(sticky.load.into_tasks())
}

impl Sticky<'_> {
    fn assign_active(&mut self, mut tasks: Vec<Task>) -> Result<(), NoMember> {
        tasks.sort_by_key(|task| (task.partition, task.subtopology));
        tasks.retain(|&task| {
            let member = self.former_active.get(&task).copied();
            !self.give_back(task, member)
        });
        tasks.retain(|&task| {
            let member = self.least_loaded_standby(task, false);
            !self.give_back(task, member)
        });
        tasks.sort();
        let mut queue = self.processes_by_load();
        for task in tasks {
            let process = queue.poll(|a, b| self.load.compare(*a, *b)).ok_or(NoMember)?;
            let count = self.load.give_to_least_loaded(process, task, true);
            self.active.note(count);
            self.total.note(count);
            queue.add(process, |a, b| self.load.compare(*a, *b));
        }
        Ok(())
    }

    fn processes_by_load(&self) -> PriorityQueue<usize> {
        let mut queue = PriorityQueue::default();
        for &process in &self.load.processes.order {
            queue.add(process, |a, b| self.load.compare(*a, *b));
        }
        queue
    }

    /// Gives an active task to a member that had it, if that has less than its share of them.
    fn give_back(&mut self, task: Task, member: Option<usize>) -> bool {
        let has_room = |member: &usize| self.load.task_counts[*member] < self.active.per_member;
        let Some(member) = member.filter(has_room) else {
            return false;
        };
        let count = self.load.give(member, task, true);
        self.active.note(count);
        self.total.note(count);
        true
    }

    /// The former standby that is less loaded than those before it, process and member; `as_standby`: on a process that
    /// does not have the task (`findPrevMemberWithLeastLoad`).
    fn least_loaded_standby(&self, task: Task, as_standby: bool) -> Option<usize> {
        let former = self.former_standby.get(&task)?;
        let process = |member: usize| self.load.processes.of_member[member];
        let is_owner = |member: usize| as_standby && self.load.has_task(process(member), task);
        let mut candidate = None;
        for &member in former {
            let process_load = self.load.of(process(member));
            let member_load = self.load.task_counts[member];
            let better = match candidate {
                // Up to 4.3 the first one is taken as it is.
                None => !(self.skips_owners && is_owner(member)),
                Some((_, candidate_process_load, candidate_load)) => {
                    process_load < candidate_process_load && member_load < candidate_load && !is_owner(member)
                }
            };
            if better {
                candidate = Some((member, process_load, member_load));
            }
        }
        // Up to 4.3 it is the first one's process that must not have the task.
        let (member, ..) = candidate?;
        (self.skips_owners || !is_owner(former[0])).then_some(member)
    }

    fn assign_standby(&mut self, mut tasks: Vec<Task>, replicas: i32) {
        tasks.sort_by_key(|task| Reverse((task.partition, task.subtopology)));
        let mut left: Vec<(Task, i32)> = Vec::new();
        for task in tasks {
            let given_back = (0..replicas).take_while(|_| self.give_standby_back(task)).count() as i32;
            if given_back < replicas {
                left.push((task, replicas - given_back));
            }
        }
        left.sort_by_key(|(task, _)| Reverse(*task));
        let mut queue = self.processes_by_load();
        for (task, replicas) in left {
            for _ in 0..replicas {
                if !self.give_to_least_loaded_standby(&mut queue, task) {
                    break;
                }
            }
        }
    }

    /// Gives a replica to a member that had the task and has less than its share.
    fn give_standby_back(&mut self, task: Task) -> bool {
        let has_room = |member: &usize| self.load.task_counts[*member] < self.total.per_member;
        let is_free = |member: &usize| !self.load.has_task(self.load.processes.of_member[*member], task);
        let former = self.former_active.get(&task).copied().filter(is_free).filter(has_room);
        let Some(member) = former.or_else(|| self.least_loaded_standby(task, true).filter(has_room)) else {
            return false;
        };
        let count = self.load.give(member, task, false);
        self.total.note(count);
        true
    }

    /// Gives a replica to the least loaded process that does not have the task; false if there is none.
    fn give_to_least_loaded_standby(&mut self, queue: &mut PriorityQueue<usize>, task: Task) -> bool {
        let mut owners = Vec::new();
        let mut found = false;
        while let Some(process) = queue.poll(|a, b| self.load.compare(*a, *b)) {
            owners.push(process);
            if !self.load.has_task(process, task) {
                let count = self.load.give_to_least_loaded(process, task, false);
                self.total.note(count);
                found = true;
                break;
            }
        }
        // Kafka recurses: the last one polled goes back first.
        for process in owners.into_iter().rev() {
            queue.add(process, |a, b| self.load.compare(*a, *b));
        }
        found
    }
}
