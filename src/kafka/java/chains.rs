//! A table of chains: the storage under the maps. Which end of a chain is first, when the table grows and which
//! slot a key belongs to is the business of the map on top.

/// No node.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Node<E> {
    /// The next node of the chain, or of the list of free nodes.
    next: u32,
    /// `None` in a free node.
    entry: Option<E>,
}

/// Chains of entries; all nodes live in one vector.
#[derive(Debug, Clone)]
pub(super) struct Chains<E> {
    heads: Vec<u32>,
    nodes: Vec<Node<E>>,
    free: u32,
    len: usize,
}

impl<E> Chains<E> {
    /// `slots` empty chains.
    pub(super) fn new(slots: usize) -> Self {
        Chains { heads: vec![NONE; slots], nodes: Vec::new(), free: NONE, len: 0 }
    }

    pub(super) fn slots(&self) -> usize {
        self.heads.len()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn node(&self, at: u32) -> Option<&Node<E>> {
        // `NONE` is beyond every vector that fits.
        self.nodes.get(at as usize)
    }

    /// The chain of a slot, from its head.
    pub(super) fn chain(&self, slot: usize) -> impl Iterator<Item = &E> {
        let head = self.heads.get(slot).and_then(|&head| self.node(head));
        std::iter::successors(head, |node| self.node(node.next)).filter_map(|node| node.entry.as_ref())
    }

    /// All entries, slot by slot, each chain from its head.
    pub(super) fn iter(&self) -> Iter<'_, E> {
        Iter { chains: self, slot: 0, at: NONE, left: self.len }
    }

    /// All entries in no useful order.
    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut E> {
        self.nodes.iter_mut().filter_map(|node| node.entry.as_mut())
    }

    fn position(&self, slot: usize, wanted: impl Fn(&E) -> bool) -> Option<usize> {
        let mut at = self.heads.get(slot).copied().unwrap_or(NONE);
        while let Some(node) = self.node(at) {
            if node.entry.as_ref().is_some_and(&wanted) {
                return Some(at as usize);
            }
            at = node.next;
        }
        None
    }

    pub(super) fn find(&self, slot: usize, wanted: impl Fn(&E) -> bool) -> Option<&E> {
        self.position(slot, wanted).and_then(|at| self.nodes[at].entry.as_ref())
    }

    pub(super) fn find_mut(&mut self, slot: usize, wanted: impl Fn(&E) -> bool) -> Option<&mut E> {
        self.position(slot, wanted).and_then(|at| self.nodes[at].entry.as_mut())
    }

    fn allocate(&mut self, entry: E, next: u32) -> u32 {
        self.len += 1;
        let node = Node { next, entry: Some(entry) };
        let at = self.free;
        if let Some(free) = self.nodes.get_mut(at as usize) {
            self.free = free.next;
            *free = node;
            return at;
        }
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("Java's maps hold at most 2^31 - 1 entries")
    }

    /// Adds an entry at the head of a chain.
    pub(super) fn push_front(&mut self, slot: usize, entry: E) {
        self.heads[slot] = self.allocate(entry, self.heads[slot]);
    }

    /// Adds an entry at the end of a chain.
    pub(super) fn push_back(&mut self, slot: usize, entry: E) {
        let new = self.allocate(entry, NONE);
        self.append(slot, new);
    }

    fn append(&mut self, slot: usize, new: u32) {
        let mut last = self.heads[slot];
        if last == NONE {
            self.heads[slot] = new;
            return;
        }
        while self.nodes[last as usize].next != NONE {
            last = self.nodes[last as usize].next;
        }
        self.nodes[last as usize].next = new;
    }

    /// Takes out every entry of a chain that is unwanted; the others keep their order.
    fn drain_chain(&mut self, slot: usize, unwanted: &mut impl FnMut(&mut E) -> bool, mut taken: impl FnMut(E)) {
        let (mut before, mut at) = (NONE, self.heads[slot]);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            let next = node.next;
            if node.entry.as_mut().is_some_and(&mut *unwanted) {
                taken(node.entry.take().expect("a node in a chain is in use"));
                node.next = self.free;
                self.free = at;
                self.len -= 1;
                match before {
                    NONE => self.heads[slot] = next,
                    _ => self.nodes[before as usize].next = next,
                }
            } else {
                before = at;
            }
            at = next;
        }
    }

    /// Takes out the entry that is wanted.
    pub(super) fn remove(&mut self, slot: usize, wanted: impl Fn(&E) -> bool) -> Option<E> {
        if slot >= self.heads.len() {
            return None;
        }
        let mut found = None;
        self.drain_chain(slot, &mut |entry| wanted(entry), |entry| found = Some(entry));
        found
    }

    /// Takes out every entry that is unwanted.
    pub(super) fn drain(&mut self, mut unwanted: impl FnMut(&mut E) -> bool) -> Vec<E> {
        let mut out = Vec::new();
        for slot in 0..self.heads.len() {
            self.drain_chain(slot, &mut unwanted, |entry| out.push(entry));
        }
        out
    }

    /// Spreads the entries over another number of slots. Entries that share a slot then are in the order of
    /// their old slots, and within those in the order of the old chain.
    pub(super) fn respread(&mut self, slots: usize, slot_of: impl Fn(&E) -> usize) {
        let old = std::mem::replace(&mut self.heads, vec![NONE; slots]);
        for head in old {
            let mut at = head;
            while at != NONE {
                let node = &mut self.nodes[at as usize];
                let next = std::mem::replace(&mut node.next, NONE);
                let slot = slot_of(node.entry.as_ref().expect("a node in a chain is in use"));
                self.append(slot, at);
                at = next;
            }
        }
    }
}

/// A walk over all entries.
#[derive(Debug, Clone)]
pub(super) struct Iter<'a, E> {
    chains: &'a Chains<E>,
    slot: usize,
    at: u32,
    left: usize,
}

impl<'a, E> Iterator for Iter<'a, E> {
    type Item = &'a E;

    fn next(&mut self) -> Option<&'a E> {
        while self.at == NONE {
            self.at = *self.chains.heads.get(self.slot)?;
            self.slot += 1;
        }
        let node = self.chains.node(self.at)?;
        self.at = node.next;
        self.left -= 1;
        node.entry.as_ref()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<E> ExactSizeIterator for Iter<'_, E> {}
