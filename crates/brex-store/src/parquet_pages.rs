//! Checks the page headers of a parquet file before anything is decompressed.
//!
//! The decoder allocates what a page header claims, up to 2 GiB a page, whatever the size of the
//! file. So every column chunk is walked first, header by header, and the claims are added up.

use std::path::Path;

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use crate::StoreError;
use crate::guard::check_claim;
use crate::parquet_table::malformed;
use crate::thrift::{Compact, Field, Kind, field};

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

const STATISTICS: Kind = Kind::Struct(&[
    field(1, Kind::Binary),
    field(2, Kind::Binary),
    field(3, Kind::I64),
    field(4, Kind::I64),
    field(5, Kind::Binary),
    field(6, Kind::Binary),
    field(7, Kind::Bool),
    field(8, Kind::Bool),
    field(9, Kind::I64),
]);

/// A data page: number of values, three encodings, statistics.
const DATA: Kind = Kind::Struct(&[
    field(1, Kind::I32),
    field(2, Kind::I32),
    field(3, Kind::I32),
    field(4, Kind::I32),
    field(5, STATISTICS),
]);

/// A dictionary: number of values, encoding, whether it is sorted.
const DICTIONARY: Kind = Kind::Struct(&[
    field(1, Kind::I32),
    field(2, Kind::I32),
    field(3, Kind::Bool),
]);

/// A data page of the second format: values, nulls, rows, encoding, the lengths of the levels,
/// whether it is compressed, statistics.
const DATA_2: Kind = Kind::Struct(&[
    field(1, Kind::I32),
    field(2, Kind::I32),
    field(3, Kind::I32),
    field(4, Kind::I32),
    field(5, Kind::I32),
    field(6, Kind::I32),
    field(7, Kind::Bool),
    field(8, STATISTICS),
]);

/// A page header: kind of page, sizes, checksum, and the header of its kind.
const HEADER: &[Field] = &[
    field(1, Kind::I32),
    field(2, Kind::I32),
    field(3, Kind::I32),
    field(4, Kind::I32),
    field(5, DATA),
    field(6, Kind::Struct(&[])),
    field(7, DICTIONARY),
    field(8, DATA_2),
];

impl PageHeader {
    /// Reads the header at the start of `bytes`, and says how long it is.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut input = Compact::new(bytes);
        let (mut uncompressed, mut compressed, mut values) = (None, None, Some(0));
        input.read_struct(HEADER, &mut |place, number| match place {
            [2] => uncompressed = usize::try_from(number).ok(),
            [3] => compressed = usize::try_from(number).ok(),
            [5 | 7 | 8, 1] => values = usize::try_from(number).ok(),
            _ => {}
        })?;
        let header = Self {
            uncompressed: uncompressed?,
            compressed: compressed?,
            values: values?,
        };
        Some((header, input.position()))
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
    }
}
