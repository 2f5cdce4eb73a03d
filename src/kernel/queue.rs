//! The queue of future events: earliest first, at equal times in order of turns, and among equals the one that was put
//! first.

use super::TimeMs;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A place in the order of events: a time, and whose turn it is then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The time.
    pub time_ms: TimeMs,
    /// The least comes first.
    pub turn: u64,
}

impl Moment {
    /// A moment.
    pub const fn new(time_ms: TimeMs, turn: u64) -> Moment {
        Moment { time_ms, turn }
    }
}

#[derive(Debug)]
struct Entry<T> {
    moment: Moment,
    sequence: u64,
    event: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        // `BinaryHeap` gives the greatest first.
        (other.moment, other.sequence).cmp(&(self.moment, self.sequence))
    }
}

/// A priority queue of events with a stable order.
#[derive(Debug)]
pub struct EventQueue<T> {
    heap: BinaryHeap<Entry<T>>,
    sequence: u64,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { heap: BinaryHeap::new(), sequence: 0 }
    }
}

impl<T> EventQueue<T> {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an event at a time, in the first turn.
    pub fn push(&mut self, time_ms: TimeMs, event: T) {
        self.push_at(Moment::new(time_ms, 0), event);
    }

    /// Puts an event at a moment.
    pub fn push_at(&mut self, moment: Moment, event: T) {
        self.heap.push(Entry { moment, sequence: self.sequence, event });
        self.sequence += 1;
    }

    /// When the next event is.
    pub fn next_time_ms(&self) -> Option<TimeMs> {
        self.heap.peek().map(|entry| entry.moment.time_ms)
    }

    /// The next event.
    pub fn peek(&self) -> Option<(TimeMs, &T)> {
        self.heap.peek().map(|entry| (entry.moment.time_ms, &entry.event))
    }

    /// Takes the next event out.
    pub fn pop(&mut self) -> Option<(TimeMs, T)> {
        self.pop_at().map(|(moment, event)| (moment.time_ms, event))
    }

    /// Takes the next event out, with its moment.
    pub fn pop_at(&mut self) -> Option<(Moment, T)> {
        self.heap.pop().map(|entry| (entry.moment, entry.event))
    }

    /// How many events are pending.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earliest_first_then_in_turn_and_equals_in_order() {
        let mut queue = EventQueue::new();
        for (time_ms, turn, event) in [(5, 1, "d"), (1, 7, "a"), (5, 0, "c"), (5, 1, "e"), (1, 7, "b")] {
            queue.push_at(Moment::new(time_ms, turn), event);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(1, "a"), (1, "b"), (5, "c"), (5, "d"), (5, "e")]);
    }
}
