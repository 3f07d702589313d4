//! A strict reader of Thrift's compact protocol, for the parts of a parquet file that are checked
//! before the decoder sees them.
//!
//! A check is worth something only if the decoder reads the same thing as the check did. So a
//! struct is read by a list of the fields that it may have: one that is unknown, of another type,
//! out of order or there twice is refused, and what passes has only one reading.

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Bool,
    Byte,
    I32,
    I64,
    Binary,
    Struct(&'static [Field]),
}

/// A field that a struct may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) id: i64,
    pub(crate) kind: Kind,
}

/// Shorthand for the tables of fields.
pub(crate) const fn field(id: i64, kind: Kind) -> Field {
    Field { id, kind }
}

/// What the protocol writes for a list, which only the outermost struct of a footer has here.
pub(crate) const LIST_TYPE: u8 = 9;
pub(crate) const STRUCT_TYPE: u8 = 12;
pub(crate) const I32_TYPE: u8 = 5;

impl Kind {
    fn fits(self, wire: u8) -> bool {
        match self {
            // A boolean field has its value in its type.
            Self::Bool => wire == 1 || wire == 2,
            Self::Byte => wire == 3,
            Self::I32 => wire == I32_TYPE,
            Self::I64 => wire == 6,
            Self::Binary => wire == 8,
            Self::Struct(_) => wire == STRUCT_TYPE,
        }
    }
}

/// The bytes, and how far they have been read. Every method gives nothing if they are damaged.
pub(crate) struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Compact<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes have been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// A number of 32 bits.
    pub(crate) fn i32(&mut self) -> Option<i32> {
        self.zigzag()?.try_into().ok()
    }

    /// The next field's id and type, or `Some(None)` at the end of the struct.
    #[expect(
        clippy::option_option,
        reason = "damage and the end of a struct are different things"
    )]
    pub(crate) fn next_field(&mut self, last: i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        let id = match byte >> 4 {
            0 => self.zigzag()?,
            delta => last + i64::from(delta),
        };
        let in_order = last < id && id <= i64::from(i16::MAX);
        in_order.then_some(Some((id, byte & 0x0f)))
    }

    /// The head of a list: the type of its elements and how many they are.
    pub(crate) fn list(&mut self) -> Option<(u8, usize)> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.varint()?,
            few => u64::from(few),
        };
        Some((byte & 0x0f, usize::try_from(count).ok()?))
    }

    /// Reads a struct of these fields, and calls `found` with the place of every number: the ids
    /// of the fields that lead to it, from the outside.
    pub(crate) fn read_struct(
        &mut self,
        fields: &[Field],
        found: &mut dyn FnMut(&[i64], i64),
    ) -> Option<()> {
        self.read_fields(fields, &mut Vec::new(), found)
    }

    /// Recursion goes no deeper than the tables of fields.
    fn read_fields(
        &mut self,
        fields: &[Field],
        place: &mut Vec<i64>,
        found: &mut dyn FnMut(&[i64], i64),
    ) -> Option<()> {
        let mut last = 0;
        while let Some((id, wire)) = self.next_field(last)? {
            last = id;
            let field = fields.iter().find(|field| field.id == id)?;
            if !field.kind.fits(wire) {
                return None;
            }
            place.push(id);
            match field.kind {
                Kind::Bool => {}
                Kind::Byte => drop(self.byte()?),
                Kind::I32 => found(place, self.i32()?.into()),
                Kind::I64 => found(place, self.zigzag()?),
                Kind::Binary => {
                    let length = usize::try_from(self.varint()?).ok()?;
                    self.at = self.at.checked_add(length)?;
                    if self.at > self.bytes.len() {
                        return None;
                    }
                }
                Kind::Struct(inner) => self.read_fields(inner, place, found)?,
            }
            place.pop();
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INNER: &[Field] = &[field(1, Kind::I64), field(2, Kind::Bool)];
    const OUTER: &[Field] = &[
        field(1, Kind::I32),
        field(2, Kind::Binary),
        field(3, Kind::Struct(INNER)),
        field(4, Kind::Byte),
    ];

    fn read(bytes: &[u8]) -> Option<Vec<(Vec<i64>, i64)>> {
        let mut numbers = Vec::new();
        let mut input = Compact::new(bytes);
        input.read_struct(OUTER, &mut |place, number| {
            numbers.push((place.to_vec(), number));
        })?;
        (input.position() == bytes.len()).then_some(numbers)
    }

    const GOOD: [u8; 14] = [
        0x15, 0x05, 0x18, 2, b'h', b'i', 0x1c, 0x16, 0xac, 0x02, 0x11, 0, 0x13, 7,
    ];

    #[test]
    fn a_struct_is_read_with_the_places_of_its_numbers() {
        let mut bytes = GOOD.to_vec();
        bytes.push(0);
        let numbers = read(&bytes).unwrap();
        assert_eq!(numbers, [(vec![1], -3), (vec![3, 1], 150)]);
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_none(), "{length}");
        }
    }

    #[test]
    fn whatever_could_be_read_otherwise_is_refused() {
        for (what, bytes) in [
            ("an unknown field", &[0x55, 2, 0][..]),
            ("a field of another type", &[0x16, 2, 0]),
            ("a field twice", &[0x15, 2, 0x05, 2, 2, 0]),
            ("an id that wraps around", &[0x05, 0x82, 0x80, 0x08, 2, 0]),
            (
                "a number of more than 32 bits",
                &[0x15, 0xfe, 0xff, 0xff, 0xff, 0x7f, 0],
            ),
            (
                "a number without end",
                &[
                    0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0,
                ],
            ),
            ("text past the end", &[0x28, 0x7f, b'x', 0]),
        ] {
            assert!(read(bytes).is_none(), "{what}");
        }
    }
}
