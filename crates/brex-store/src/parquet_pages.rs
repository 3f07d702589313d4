//! Checks the page headers of a parquet file before anything is decompressed.
//!
//! The decoder allocates what a page header claims, up to 2 GiB a page, whatever the size of the
//! file. So every column chunk is walked first, header by header, and the claims are added up. A
//! header is a Thrift struct in the compact protocol; the few fields that matter are read and the
//! others skipped.

use std::path::Path;

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use crate::StoreError;
use crate::guard::check_claim;
use crate::parquet_table::malformed;

/// Walks all pages of all columns and refuses claims that the file cannot account for.
pub(crate) fn check_pages(
    path: &Path,
    bytes: &[u8],
    metadata: &ParquetMetaData,
) -> Result<(), StoreError> {
    let size = bytes.len() as u64;
    let mut claimed = 0_u128;
    for group in metadata.row_groups() {
        for column in group.columns() {
            check_codec(path, column)?;
            let values = u128::try_from(column.num_values())
                .map_err(|_| malformed(path, "a column has a negative size".to_owned()))?;
            check_claim(path, 4 * values, size)?;
            let mut rest = column_bytes(bytes, column)
                .ok_or_else(|| malformed(path, "a column lies outside the file".to_owned()))?;
            while !rest.is_empty() {
                let (page, header_bytes) = PageHeader::read(rest)
                    .ok_or_else(|| malformed(path, "a page header is damaged".to_owned()))?;
                rest = rest
                    .get(header_bytes + page.compressed..)
                    .ok_or_else(|| malformed(path, "a page ends too early".to_owned()))?;
                // Two levels of two bytes stand beside every value.
                claimed += page.uncompressed as u128 + 4 * page.values as u128;
                check_claim(path, claimed, size)?;
            }
        }
    }
    Ok(())
}

/// The codecs whose decoders stop at the size that the page header claims. Those of gzip and
/// brotli do not, so a small page could inflate without bound.
fn check_codec(path: &Path, column: &ColumnChunkMetaData) -> Result<(), StoreError> {
    match column.compression() {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::LZ4
        | Compression::LZ4_RAW
        | Compression::ZSTD(_) => Ok(()),
        other => Err(malformed(
            path,
            format!("it is compressed with {other}; write it with snappy, zstd or lz4"),
        )),
    }
}

fn column_bytes<'a>(bytes: &'a [u8], column: &ColumnChunkMetaData) -> Option<&'a [u8]> {
    let first = column
        .dictionary_page_offset()
        .unwrap_or_else(|| column.data_page_offset());
    let start = usize::try_from(first).ok()?;
    let length = usize::try_from(column.compressed_size()).ok()?;
    bytes.get(start..start.checked_add(length)?)
}

/// What matters of a page header.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageHeader {
    uncompressed: usize,
    compressed: usize,
    values: usize,
}

impl PageHeader {
    /// Reads the header at the start of `bytes`, and says how long it is.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut input = Compact { bytes, at: 0 };
        let (mut uncompressed, mut compressed, mut values) = (None, None, None);
        let mut last = 0;
        while let Some((id, kind)) = input.field(last)? {
            // Fields in order and none twice, so that there is only one reading of a header.
            if id <= last {
                return None;
            }
            last = id;
            match (id, kind) {
                (2, I32) => uncompressed = usize::try_from(input.zigzag()?).ok(),
                (3, I32) => compressed = usize::try_from(input.zigzag()?).ok(),
                // The header of a data page, a dictionary page or a second data page format.
                (5 | 7 | 8, STRUCT) => values = Some(input.first_number()?),
                _ => input.skip(kind, 0)?,
            }
        }
        let header = Self {
            uncompressed: uncompressed?,
            compressed: compressed?,
            values: values.unwrap_or(0),
        };
        Some((header, input.at))
    }
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I32: u8 = 5;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Structs nested deeper than this are refused; page headers need three.
const MAX_DEPTH: usize = 8;

/// A reader of Thrift's compact protocol.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
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

    /// The next field's id and type, or the end of the struct. The outer `None` is damage.
    #[expect(
        clippy::option_option,
        reason = "damage and the end are different things"
    )]
    fn field(&mut self, last: i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        let id = match byte >> 4 {
            0 => self.zigzag()?,
            delta => last + i64::from(delta),
        };
        Some(Some((id, byte & 0x0f)))
    }

    /// Reads a whole struct and gives back its field 1, a number that is not negative.
    fn first_number(&mut self) -> Option<usize> {
        let mut number = 0;
        let mut last = 0;
        while let Some((id, kind)) = self.field(last)? {
            if id <= last {
                return None;
            }
            last = id;
            if (id, kind) == (1, I32) {
                number = usize::try_from(self.zigzag()?).ok()?;
            } else {
                self.skip(kind, 0)?;
            }
        }
        Some(number)
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            TRUE | FALSE => {}
            BYTE => self.at += 1,
            4..=6 => drop(self.varint()?),
            DOUBLE => self.at += 8,
            BINARY => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            LIST | SET => {
                let byte = self.byte()?;
                let count = match byte >> 4 {
                    15 => self.varint()?,
                    few => u64::from(few),
                };
                self.skip_many(byte & 0x0f, count, depth)?;
            }
            MAP => {
                let count = self.varint()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..count {
                        self.skip_element(kinds >> 4, depth)?;
                        self.skip_element(kinds & 0x0f, depth)?;
                    }
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    last = id;
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }

    fn skip_many(&mut self, kind: u8, count: u64, depth: usize) -> Option<()> {
        for _ in 0..count {
            self.skip_element(kind, depth)?;
        }
        Some(())
    }

    /// In lists and maps a boolean takes a byte; as a field it takes none.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        let kind = if kind == FALSE { BYTE } else { kind };
        self.skip(if kind == TRUE { BYTE } else { kind }, depth + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page: type 0, 100 bytes, compressed to 40, with a struct of 25 values.
    fn header() -> Vec<u8> {
        let mut bytes = vec![0x15, 0, 0x15, 0xc8, 1, 0x15, 80];
        bytes.extend([0x2c, 0x15, 50, 0x15, 0, 0x15, 6, 0x15, 6, 0]);
        bytes.push(0);
        bytes
    }

    #[test]
    fn a_page_header_is_understood() {
        let bytes = header();
        let (page, length) = PageHeader::read(&bytes).unwrap();
        assert_eq!(length, bytes.len());
        let expected = PageHeader {
            uncompressed: 100,
            compressed: 40,
            values: 25,
        };
        assert_eq!(page, expected);
    }

    #[test]
    fn damaged_headers_are_refused() {
        let bytes = header();
        for length in 0..bytes.len() {
            assert!(PageHeader::read(&bytes[..length]).is_none(), "{length}");
        }
        // A field that comes twice.
        assert!(PageHeader::read(&[0x25, 2, 0x05, 4, 2, 0x15, 2, 0]).is_none());
        // Structs in structs without end.
        assert!(PageHeader::read(&[0x9c; 100]).is_none());
        // A list of endless booleans in a field that is not known.
        let endless = [0x99, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0];
        assert!(PageHeader::read(&endless).is_none());
    }
}
