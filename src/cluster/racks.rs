//! The names of racks, numbered.

use crate::kafka::JString;
use crate::kafka::hash::EncodedRack;
use crate::kernel::lookup::Lookup;

/// How many names of racks a history can tell apart: they are numbered with 16 bits.
pub(super) const MAX_RACKS: usize = 1 << 16;

/// All racks that any broker ever had.
#[derive(Debug, Default)]
pub(super) struct Racks {
    racks: Vec<EncodedRack>,
    numbers: Lookup<JString, u16>,
}

impl Racks {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.racks.len()
    }

    /// The number of a rack, if it has one yet.
    pub fn number_of(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    /// The number of a rack, given on first use. There must be room (see [`MAX_RACKS`]).
    pub fn number(&mut self, name: &str) -> u16 {
        if let Some(number) = self.number_of(name) {
            return number;
        }
        let number = u16::try_from(self.racks.len()).expect("the number of racks was checked before");
        self.racks.push(EncodedRack::new(name));
        self.numbers.insert(JString::from(name), number);
        number
    }

    /// A rack as it is hashed.
    pub fn encoded(&self, rack: u16) -> &EncodedRack {
        &self.racks[usize::from(rack)]
    }

    /// The names, by number.
    pub fn into_names(self) -> Vec<JString> {
        self.racks.iter().map(|rack| rack.name().clone()).collect()
    }
}
