//! Checks the schema in a parquet file's footer before the decoder builds it.
//!
//! The schema is a tree, written as a list in which every group says how many children follow. The
//! decoder makes room for as many children as a group claims, and recurses as deep as the tree
//! claims to be: both can bring the process down in ways that cannot be caught.

use std::path::Path;

use crate::StoreError;
use crate::parquet_table::malformed;
use crate::thrift::{Compact, Field, I32_TYPE, Kind, LIST_TYPE, STRUCT_TYPE, field};

/// Tables of features are flat; lists of numbers need three levels.
const MAX_DEPTH: usize = 16;

const NOTHING: Kind = Kind::Struct(&[]);
const DECIMAL: Kind = Kind::Struct(&[field(1, Kind::I32), field(2, Kind::I32)]);
const UNIT: Kind = Kind::Struct(&[field(1, NOTHING), field(2, NOTHING), field(3, NOTHING)]);
const TIME: Kind = Kind::Struct(&[field(1, Kind::Bool), field(2, UNIT)]);
const INTEGER: Kind = Kind::Struct(&[field(1, Kind::Byte), field(2, Kind::Bool)]);

/// The logical types: text, map, list, enumeration, decimal, date, time, timestamp, integer,
/// nothing, JSON, BSON, UUID, half float.
const LOGICAL: Kind = Kind::Struct(&[
    field(1, NOTHING),
    field(2, NOTHING),
    field(3, NOTHING),
    field(4, NOTHING),
    field(5, DECIMAL),
    field(6, NOTHING),
    field(7, TIME),
    field(8, TIME),
    field(10, INTEGER),
    field(11, NOTHING),
    field(12, NOTHING),
    field(13, NOTHING),
    field(14, NOTHING),
    field(15, NOTHING),
]);

const CHILDREN: i64 = 5;

/// One column or group: type, length, repetition, name, number of children, and more about its
/// type.
const ELEMENT: &[Field] = &[
    field(1, Kind::I32),
    field(2, Kind::I32),
    field(3, Kind::I32),
    field(4, Kind::Binary),
    field(CHILDREN, Kind::I32),
    field(6, Kind::I32),
    field(7, Kind::I32),
    field(8, Kind::I32),
    field(9, Kind::I32),
    field(10, LOGICAL),
];

/// Checks the footer at the end of `bytes`.
pub(crate) fn check_footer(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let footer = footer(bytes)
        .ok_or_else(|| malformed(path, "it does not end in a parquet footer".to_owned()))?;
    let children =
        children(footer).ok_or_else(|| malformed(path, "its schema is damaged".to_owned()))?;
    check_tree(&children).ok_or_else(|| {
        let problem = format!("its schema is not a tree of at most {MAX_DEPTH} levels");
        malformed(path, problem)
    })
}

/// The footer: its length and a signature follow it.
fn footer(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_suffix(b"PAR1")?;
    let (rest, length) = rest.split_last_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    rest.get(rest.len().checked_sub(length)?..)
}

/// How many children each element of the schema claims. The schema follows right after the
/// version.
fn children(footer: &[u8]) -> Option<Vec<usize>> {
    let mut input = Compact::new(footer);
    if input.next_field(0)?? != (1, I32_TYPE) {
        return None;
    }
    input.i32()?;
    if input.next_field(1)?? != (2, LIST_TYPE) {
        return None;
    }
    let (kind, count) = input.list()?;
    if kind != STRUCT_TYPE {
        return None;
    }
    let mut all = Vec::new();
    for _ in 0..count {
        let mut claimed = 0;
        input.read_struct(ELEMENT, &mut |place, number| {
            if place == [CHILDREN] {
                claimed = number;
            }
        })?;
        all.push(usize::try_from(claimed).ok()?);
    }
    Some(all)
}

/// Whether the claims make up one tree that is not too deep.
fn check_tree(children: &[usize]) -> Option<()> {
    // How many children are still to come on each level.
    let mut open = vec![1_usize];
    for (index, claimed) in children.iter().enumerate() {
        while open.last() == Some(&0) {
            open.pop();
        }
        *open.last_mut()? -= 1;
        if *claimed > children.len() - index - 1 || open.len() > MAX_DEPTH {
            return None;
        }
        if *claimed > 0 {
            open.push(*claimed);
        }
    }
    open.iter().all(|left| *left == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_one_tree() {
        assert!(check_tree(&[2, 0, 0]).is_some());
        assert!(check_tree(&[2, 1, 1, 0, 0]).is_some());
        assert!(check_tree(&[0]).is_some());
        for wrong in [&[][..], &[2, 0], &[1, 0, 0], &[usize::MAX, 0], &[1, 1]] {
            assert!(check_tree(wrong).is_none(), "{wrong:?}");
        }
        let mut deep = vec![1; 100_000];
        deep.push(0);
        assert!(check_tree(&deep).is_none());
    }

    #[test]
    fn a_footer_must_lie_inside_the_file() {
        assert_eq!(footer(b"xyz\x02\0\0\0PAR1"), Some(&b"yz"[..]));
        assert_eq!(footer(b"xyz\x04\0\0\0PAR1"), None);
        assert_eq!(footer(b"\xff\xff\xff\xffPAR1"), None);
        assert_eq!(footer(b"PAR1"), None);
        assert_eq!(footer(b""), None);
    }
}
