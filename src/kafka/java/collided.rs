//! The order in which Java walks a `HashSet` of objects that all have one hash code and cannot be compared (Java 17).

/// How many such objects a set can hold before their bucket becomes a tree: the ninth and the tenth still double the
/// table.
const LIST_LEN_MAX: usize = 10;

/// A node on the way from the root of the tree to its leftmost node.
struct Node {
    element: usize,
    red: bool,
    /// The colour of its right child, if it has one.
    right_is_red: Option<bool>,
}

/// The red-black tree of such a bucket. Ties are broken by identity hash codes, which are equal here: every element becomes
/// the leftmost one, so that only the way there matters.
#[derive(Default)]
struct Tree {
    /// From the root to the leftmost node.
    path: Vec<Node>,
}

impl Tree {
    /// `TreeNode.balanceInsertion`, as far as it concerns the way to the leftmost node.
    fn insert(&mut self, element: usize) {
        self.path.push(Node { element, red: true, right_is_red: None });
        let mut at = self.path.len() - 1;
        while at >= 2 && self.path[at - 1].red {
            let grandparent = at - 2;
            self.path[at - 1].red = false;
            if self.path[grandparent].right_is_red == Some(true) {
                self.path[grandparent].right_is_red = Some(false);
                self.path[grandparent].red = true;
                at = grandparent;
            } else {
                // The parent takes the grandparent's place, and has it to its right, red.
                self.path[at - 1].right_is_red = Some(true);
                self.path.remove(grandparent);
                break;
            }
        }
        self.path[0].red = false;
    }
}

/// The elements, given in the order in which they are put into the set, in the order in which it is walked.
pub fn in_collided_set<T: Copy>(elements: &[T]) -> Vec<T> {
    let mut tree = Tree::default();
    let mut order: Vec<usize> = Vec::with_capacity(elements.len());
    for element in 0..elements.len() {
        // A list is appended to; in a tree's list, an element stands behind its parent.
        let parent = tree.path.last().map(|node| node.element).filter(|_| element > LIST_LEN_MAX);
        let behind = parent.and_then(|parent| order.iter().position(|other| *other == parent));
        order.insert(behind.map_or(order.len(), |place| place + 1), element);
        tree.insert(element);
        if element >= LIST_LEN_MAX {
            // `moveRootToFront`.
            let root = tree.path[0].element;
            order.retain(|other| *other != root);
            order.insert(0, root);
        }
    }
    order.into_iter().map(|element| elements[element]).collect()
}
