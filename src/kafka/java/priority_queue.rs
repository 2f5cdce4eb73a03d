//! `java.util.PriorityQueue`: which of several least elements comes first (Java 17).

use std::cmp::Ordering;

/// A binary heap with the very swaps of Java's, so that equal elements leave it in Java's order.
///
/// It is told how to compare with every call: what elements weigh may live outside of them, as long as it does not
/// change while they are in the queue.
#[derive(Debug, Clone)]
pub struct PriorityQueue<T> {
    heap: Vec<T>,
}

impl<T> Default for PriorityQueue<T> {
    fn default() -> Self {
        PriorityQueue { heap: Vec::new() }
    }
}

impl<T> PriorityQueue<T> {
    /// Whether nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// `add`.
    pub fn add(&mut self, element: T, compare: impl Fn(&T, &T) -> Ordering) {
        self.heap.push(element);
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if compare(&self.heap[at], &self.heap[parent]).is_ge() {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    /// `poll`: takes a least element out.
    pub fn poll(&mut self, compare: impl Fn(&T, &T) -> Ordering) -> Option<T> {
        if self.heap.is_empty() {
            return None;
        }
        let least = self.heap.swap_remove(0);
        let (mut at, len) = (0, self.heap.len());
        while at < len / 2 {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let child = if right < len && compare(&self.heap[left], &self.heap[right]).is_gt() { right } else { left };
            if compare(&self.heap[at], &self.heap[child]).is_le() {
                break;
            }
            self.heap.swap(at, child);
            at = child;
        }
        Some(least)
    }
}
