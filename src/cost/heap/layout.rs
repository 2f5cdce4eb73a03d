//! How large Java's objects are: HotSpot of Java 15 and later on 64 bits, 8-byte alignment, compressed class pointers, with
//! and without compressed references. (Before Java 15 a class could not fill the gaps that its superclass left.)

/// An object's header: the mark word and a compressed class pointer.
const HEADER: u64 = 12;
/// An array's header, which ends with its length.
const ARRAY_HEADER: u64 = 16;

/// Bytes with compressed references (heaps below 32 GiB), and without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bytes {
    /// With compressed references.
    pub compressed: u64,
    /// Without.
    pub plain: u64,
}

/// The fields of a class and of those that it extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields {
    /// References to objects.
    pub references: u64,
    /// `long`, `double`.
    pub longs: u64,
    /// `int`, `float`.
    pub ints: u64,
    /// `byte`, `boolean`.
    pub bytes: u64,
}

impl Fields {
    /// No field.
    pub const NONE: Fields = Fields { references: 0, longs: 0, ints: 0, bytes: 0 };

    /// So many references more.
    pub const fn references(self, more: u64) -> Fields {
        Fields { references: self.references + more, ..self }
    }

    /// So many `long`s more.
    pub const fn longs(self, more: u64) -> Fields {
        Fields { longs: self.longs + more, ..self }
    }

    /// So many `int`s more.
    pub const fn ints(self, more: u64) -> Fields {
        Fields { ints: self.ints + more, ..self }
    }

    /// So many `byte`s more.
    pub const fn bytes(self, more: u64) -> Fields {
        Fields { bytes: self.bytes + more, ..self }
    }

    /// An object of the class.
    pub const fn object(self) -> Bytes {
        let small = 4 * self.ints + self.bytes;
        Bytes {
            compressed: object(self.longs, small + 4 * self.references),
            plain: object(self.longs + self.references, small),
        }
    }
}

/// An object with fields of 8 bytes, and with so many bytes of smaller ones, which fill the gap that alignment leaves after
/// the header.
const fn object(fields_of_8: u64, smaller: u64) -> u64 {
    let gap = if fields_of_8 > 0 { aligned(HEADER) - HEADER } else { 0 };
    aligned(HEADER + 8 * fields_of_8 + if smaller > gap { smaller } else { gap })
}

const fn aligned(bytes: u64) -> u64 {
    bytes.div_ceil(8) * 8
}

/// An array of references.
pub const fn reference_array(len: u64) -> Bytes {
    Bytes { compressed: aligned(ARRAY_HEADER + 4 * len), plain: aligned(ARRAY_HEADER + 8 * len) }
}

/// An array of bytes.
pub const fn byte_array(len: u64) -> Bytes {
    let bytes = aligned(ARRAY_HEADER + len);
    Bytes { compressed: bytes, plain: bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(bytes: Bytes) -> [u64; 2] {
        [bytes.compressed, bytes.plain]
    }

    /// What JOL 0.17 says of Java 17 with `-XX:+UseCompressedOops` and `-XX:-UseCompressedOops`.
    #[test]
    fn objects_are_as_large_as_jol_says() {
        let integer = Fields::NONE.ints(1);
        let long = Fields::NONE.longs(1);
        let string = Fields::NONE.references(1).ints(1).bytes(2);
        let hash_map = Fields::NONE.references(4).ints(4);
        let node = Fields::NONE.references(3).ints(1);
        let entry = Fields::NONE.references(2).longs(1);
        assert_eq!(both(integer.object()), [16, 16]);
        assert_eq!(both(long.object()), [24, 24]);
        assert_eq!(both(string.object()), [24, 32]);
        assert_eq!(both(hash_map.object()), [48, 64]);
        assert_eq!(both(node.object()), [32, 40]);
        assert_eq!(both(entry.object()), [32, 40]);
        assert_eq!(both(Fields::NONE.references(1).object()), [16, 24]);
    }

    #[test]
    fn arrays_have_a_header_of_16_bytes() {
        assert_eq!([both(byte_array(0)), both(byte_array(1)), both(byte_array(9))], [[16, 16], [24, 24], [32, 32]]);
        assert_eq!([both(reference_array(2)), both(reference_array(5))], [[24, 32], [40, 56]]);
    }
}
