//! `MemberAssignmentBalancer` of Kafka's `UniformHeterogeneousAssignmentBuilder` (4.0 and later).

/// Hands out the least and the most loaded of some members, assuming that each one it gives is then given or
/// relieved of a partition.
///
/// The members are sorted by load when it starts. At the low end is a range of members that are filled up, one
/// level after the other; the range grows when its level reaches the next member's load. At the high end a range is
/// worn down likewise; members that have nothing to give are swapped behind its end.
#[derive(Debug, Default)]
pub(super) struct Balancer {
    members: Vec<usize>,
    least: Least,
    most: Most,
}

#[derive(Debug, Default)]
struct Least {
    end: usize,
    level: i32,
    next: usize,
}

#[derive(Debug, Default)]
struct Most {
    start: usize,
    end: usize,
    level: i32,
    /// How many members lie before the one that was given last: the next one is at `next - 1`.
    next: usize,
}

impl Balancer {
    /// Starts with other members, of which there is at least one. Gives the difference between the greatest and
    /// the smallest load.
    pub(super) fn start(&mut self, members: &[usize], loads: &[i32]) -> i32 {
        self.members.clear();
        self.members.extend_from_slice(members);
        self.members.sort_by_key(|&member| (loads[member], member));
        let count = members.len();
        let (lowest, highest) = (loads[self.members[0]], loads[self.members[count - 1]]);
        self.least = Least { end: 0, level: lowest - 1, next: 0 };
        self.most = Most { start: count, end: count, level: highest + 1, next: count };
        highest - lowest
    }

    /// The member that gets the next partition.
    pub(super) fn least_loaded(&mut self, loads: &[i32]) -> usize {
        let least = &mut self.least;
        if least.next >= least.end {
            least.level += 1;
            while self.members.get(least.end).is_some_and(|&member| loads[member] == least.level) {
                least.end += 1;
            }
            least.next = 0;
        }
        least.next += 1;
        self.members[least.next - 1]
    }

    /// The member that gives the next partition away; `None` if nobody is left.
    pub(super) fn most_loaded(&mut self, loads: &[i32]) -> Option<usize> {
        let most = &mut self.most;
        if most.next <= most.start {
            if most.end <= most.start && most.start > 0 {
                // All of the range have been excluded: go on at the load of the next member, whatever it is.
                most.level = loads[self.members[most.start - 1]];
            } else {
                most.level -= 1;
            }
            while most.start > 0 && loads[self.members[most.start - 1]] == most.level {
                most.start -= 1;
            }
            most.next = most.end;
        }
        most.next = most.next.checked_sub(1)?;
        Some(self.members[most.next])
    }

    /// The member that was given last by [`most_loaded`](Self::most_loaded) has nothing to give.
    pub(super) fn exclude_most_loaded(&mut self) {
        self.most.end -= 1;
        self.members.swap(self.most.next, self.most.end);
    }

    /// Whether no move could improve the balance.
    pub(super) fn is_balanced(&self) -> bool {
        self.most.level - self.least.level <= 1
    }
}
