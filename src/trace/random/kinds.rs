//! Which kinds of group a random trace may have.

use super::rng::Rng;
use crate::trace::GroupKind;
use std::fmt;
use std::str::FromStr;

const ALL: [GroupKind; 3] = [GroupKind::Consumer, GroupKind::Share, GroupKind::Streams];

/// Some kinds of group. A trace has groups of one of them, of some, or of all: its seed says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds([bool; 3]);

impl Kinds {
    /// Consumer groups only, which every version of Kafka has.
    pub const CONSUMER: Kinds = Kinds([true, false, false]);

    /// Whether a kind is among them.
    pub fn has(self, kind: GroupKind) -> bool {
        self.0[kind as usize]
    }

    /// The kinds of a trace: one or more of these.
    pub(super) fn draw(self, rng: &mut Rng) -> Vec<GroupKind> {
        let mut kinds: Vec<GroupKind> = ALL.into_iter().filter(|kind| self.has(*kind)).collect();
        rng.shuffle(&mut kinds);
        kinds.truncate(*rng.pick(&[1, 1, 2, 3]));
        kinds
    }
}

impl FromStr for Kinds {
    type Err = String;

    /// Reads `consumer`, `share,streams`, `all`.
    fn from_str(text: &str) -> Result<Kinds, String> {
        if text == "all" {
            return Ok(Kinds([true; 3]));
        }
        let mut kinds = Kinds([false; 3]);
        for name in text.split(',') {
            match ALL.iter().find(|kind| kind.name() == name) {
                Some(kind) => kinds.0[*kind as usize] = true,
                None => {
                    return Err("must be all, or some of consumer, share and streams with commas between".to_owned());
                }
            }
        }
        Ok(kinds)
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = ALL.iter().filter(|kind| self.has(**kind)).map(|kind| kind.name()).collect();
        f.write_str(&names.join(","))
    }
}
