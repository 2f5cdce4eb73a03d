//! The queue of future events: earliest first, and among equals the one that was put first.

use super::TimeMs;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

#[derive(Debug)]
struct Entry<T> {
    time_ms: TimeMs,
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
        (other.time_ms, other.sequence).cmp(&(self.time_ms, self.sequence))
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

    /// Puts an event at a time.
    pub fn push(&mut self, time_ms: TimeMs, event: T) {
        self.heap.push(Entry { time_ms, sequence: self.sequence, event });
        self.sequence += 1;
    }

    /// When the next event is.
    pub fn next_time_ms(&self) -> Option<TimeMs> {
        self.heap.peek().map(|entry| entry.time_ms)
    }

    /// The next event.
    pub fn peek(&self) -> Option<(TimeMs, &T)> {
        self.heap.peek().map(|entry| (entry.time_ms, &entry.event))
    }

    /// Takes the next event out.
    pub fn pop(&mut self) -> Option<(TimeMs, T)> {
        self.heap.pop().map(|entry| (entry.time_ms, entry.event))
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
    fn earliest_first_and_equals_in_order() {
        let mut queue = EventQueue::new();
        for (time_ms, event) in [(5, "c"), (1, "a"), (5, "d"), (1, "b")] {
            queue.push(time_ms, event);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(1, "a"), (1, "b"), (5, "c"), (5, "d")]);
    }
}
