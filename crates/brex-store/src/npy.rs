//! Reads and writes NumPy's `.npy`.
//!
//! Written by hand, because the header is a Python literal and general parsers of those recurse:
//! a header of a hundred thousand brackets overflows their stack, and that cannot be caught. This
//! one knows the three keys that a header has and nothing else. Arrays of Python objects are
//! pickles and are refused.

use std::io::{self, Read, Write};
use std::path::Path;

use half::f16;

use crate::StoreError;
use crate::array::{Array, Values};
use crate::guard::{check_claim, element_count};
use crate::npy_header::{Element, Header};

pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read. NumPy itself stops at 10,000.
const MAX_HEADER: usize = 1 << 16;

/// Bytes that are decoded at a time.
const BLOCK: usize = 1 << 18;

/// Reads one array. `total` is how many bytes the reader has to offer, and `stored` how many bytes
/// of a file stand behind them (fewer, if they are compressed).
pub(crate) fn read_npy(
    path: &Path,
    name: &str,
    reader: &mut dyn Read,
    total: u64,
    stored: u64,
) -> Result<Array, StoreError> {
    let malformed = |problem: String| StoreError::Malformed {
        path: path.to_owned(),
        format: "npy",
        problem,
    };
    let (header, header_bytes) =
        read_header(reader).map_err(|error| malformed(describe(&error)))?;
    let count = element_count(&header.shape);
    let bytes = count.and_then(|count| count.checked_mul(header.element.size()));
    let (Some(count), Some(bytes)) = (count, bytes) else {
        let claimed = format!("{:?} times {}", header.shape, header.element.size());
        return Err(StoreError::Inflated {
            path: path.to_owned(),
            claimed,
            size: stored,
        });
    };
    let available = total.saturating_sub(header_bytes);
    if bytes as u64 != available {
        return Err(malformed(format!(
            "{name}: shape {:?} needs {bytes} bytes of data, found {available}",
            header.shape
        )));
    }
    check_claim(path, count as u128 * header.element.decoded_size(), stored)?;
    let values = read_values(reader, &header, count).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData
        | io::ErrorKind::UnexpectedEof
        | io::ErrorKind::OutOfMemory
        | io::ErrorKind::InvalidInput => malformed(format!("{name}: {}", describe(&error))),
        _ => crate::error::read_error(path)(error),
    })?;
    let values = if header.fortran_order {
        match values {
            Values::Numbers(numbers) => Values::Numbers(to_row_major(&numbers, &header.shape)),
            Values::Text(text) => Values::Text(to_row_major(&text, &header.shape)),
        }
    } else {
        values
    };
    Ok(Array {
        name: name.to_owned(),
        shape: header.shape,
        values,
    })
}

/// The header alone, and how many bytes it took.
pub(crate) fn read_header(reader: &mut dyn Read) -> io::Result<(Header, u64)> {
    let mut start = [0_u8; 8];
    reader.read_exact(&mut start)?;
    if &start[..6] != MAGIC {
        return Err(invalid("does not start with the NumPy signature"));
    }
    let (length, taken) = match start[6] {
        1 => {
            let mut bytes = [0_u8; 2];
            reader.read_exact(&mut bytes)?;
            (u32::from(u16::from_le_bytes(bytes)), 10)
        }
        2 | 3 => {
            let mut bytes = [0_u8; 4];
            reader.read_exact(&mut bytes)?;
            (u32::from_le_bytes(bytes), 12)
        }
        other => return Err(invalid(&format!("unknown format version {other}"))),
    };
    let length = length as usize;
    if length > MAX_HEADER {
        return Err(invalid(&format!("a header of {length} bytes is too long")));
    }
    let mut text = vec![0_u8; length];
    reader.read_exact(&mut text)?;
    let text = std::str::from_utf8(&text).map_err(|_| invalid("the header is not text"))?;
    let header = Header::parse(text).map_err(|problem| invalid(&problem))?;
    Ok((header, (taken + length) as u64))
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
        io::ErrorKind::OutOfMemory => "does not fit in memory".to_owned(),
        _ => error.to_string(),
    }
}

fn read_values(reader: &mut dyn Read, header: &Header, count: usize) -> io::Result<Values> {
    let size = header.element.size();
    let per_block = (BLOCK / size.max(1)).max(1);
    let mut block = vec![0_u8; per_block.min(count) * size];
    let mut numbers = Vec::new();
    let mut text = Vec::new();
    let is_text = header.element.is_text();
    let room = if is_text {
        text.try_reserve_exact(count)
    } else {
        numbers.try_reserve_exact(count)
    };
    room.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let mut left = count;
    while left > 0 {
        let now = left.min(per_block);
        let bytes = &mut block[..now * size];
        reader.read_exact(bytes)?;
        if is_text {
            for index in 0..now {
                text.push(decode_text(&bytes[index * size..][..size], header)?);
            }
        } else {
            decode_numbers(bytes, header, &mut numbers);
        }
        left -= now;
    }
    // Only at the end does an archive compare its checksum.
    if reader.read(&mut [0])? != 0 {
        return Err(invalid("data after the end of the array"));
    }
    Ok(if is_text {
        Values::Text(text)
    } else {
        Values::Numbers(numbers)
    })
}

/// Widens a block of numbers. The block is a whole number of elements.
fn decode_numbers(bytes: &[u8], header: &Header, out: &mut Vec<f64>) {
    macro_rules! widen {
        ($kind:ty, $widen:expr) => {{
            let (chunks, _) = bytes.as_chunks::<{ size_of::<$kind>() }>();
            let widen = $widen;
            if header.big_endian {
                out.extend(chunks.iter().map(|b| widen(<$kind>::from_be_bytes(*b))));
            } else {
                out.extend(chunks.iter().map(|b| widen(<$kind>::from_le_bytes(*b))));
            }
        }};
    }
    match header.element {
        Element::Bool => out.extend(bytes.iter().map(|b| f64::from(u8::from(*b != 0)))),
        Element::I8 => widen!(i8, f64::from),
        Element::I16 => widen!(i16, f64::from),
        Element::I32 => widen!(i32, f64::from),
        Element::I64 => widen!(i64, |v| v as f64),
        Element::U8 => widen!(u8, f64::from),
        Element::U16 => widen!(u16, f64::from),
        Element::U32 => widen!(u32, f64::from),
        Element::U64 => widen!(u64, |v| v as f64),
        Element::F16 => widen!(f16, f64::from),
        Element::F32 => widen!(f32, f64::from),
        Element::F64 => widen!(f64, |v| v),
        Element::Bytes(_) | Element::Unicode(_) => {}
    }
}

/// Text is padded with zeros: `S` holds bytes, `U` four bytes per character.
fn decode_text(bytes: &[u8], header: &Header) -> io::Result<String> {
    let not_text = || invalid("text that is not valid Unicode");
    let mut text = match header.element {
        Element::Unicode(_) => bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| {
                let code = if header.big_endian {
                    u32::from_be_bytes(*b)
                } else {
                    u32::from_le_bytes(*b)
                };
                char::from_u32(code).ok_or_else(not_text)
            })
            .collect::<io::Result<String>>()?,
        _ => std::str::from_utf8(bytes)
            .map_err(|_| not_text())?
            .to_owned(),
    };
    text.truncate(text.trim_end_matches('\0').len());
    Ok(text)
}

/// Reorders values stored first index fastest into last index fastest.
fn to_row_major<T: Clone>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut stride = 1_usize;
    let strides: Vec<usize> = shape
        .iter()
        .map(|dim| {
            let this = stride;
            stride = stride.saturating_mul(*dim);
            this
        })
        .collect();
    let mut index = vec![0_usize; shape.len()];
    let mut at = 0;
    let mut out = Vec::with_capacity(values.len());
    while out.len() < values.len() {
        out.push(values[at].clone());
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

/// Writes `values` of the given shape as little-endian `f64`, row-major.
pub(crate) fn write_array(
    writer: &mut dyn Write,
    shape: &[usize],
    values: &[f64],
) -> io::Result<()> {
    let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
    let tuple = match &dims[..] {
        [only] => format!("({only},)"),
        _ => format!("({})", dims.join(", ")),
    };
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {tuple}, }}");
    // NumPy pads so that the data starts at a multiple of 64 bytes.
    let used = MAGIC.len() + 4 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', used.next_multiple_of(64) - used));
    header.push('\n');
    writer.write_all(MAGIC)?;
    writer.write_all(&[1, 0])?;
    // Three dimensions of twenty digits fit in two bytes of length many times over.
    writer.write_all(&(header.len() as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    let mut block = Vec::with_capacity(BLOCK);
    for some in values.chunks(BLOCK / 8) {
        block.clear();
        block.extend(some.iter().flat_map(|value| value.to_le_bytes()));
        writer.write_all(&block)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Array, StoreError> {
        let size = bytes.len() as u64;
        read_npy(Path::new("x.npy"), "array", &mut &bytes[..], size, size)
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut bytes = Vec::new();
        let values: Vec<f64> = (0..6).map(f64::from).collect();
        write_array(&mut bytes, &[2, 3], &values).unwrap();
        assert_eq!(bytes.len(), 128 + 48);
        let array = read(&bytes).unwrap();
        assert_eq!(array.shape, [2, 3]);
        assert_eq!(array.values, Values::Numbers(values));
    }

    #[test]
    fn both_byte_orders_and_both_axis_orders() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
        let data: Vec<u8> = (0..6_i16).flat_map(i16::to_be_bytes).collect();
        let array = read(&file(header, &data)).unwrap();
        let expected = vec![0.0, 2.0, 4.0, 1.0, 3.0, 5.0];
        assert_eq!(array.values, Values::Numbers(expected));
    }

    #[test]
    fn row_major_order_in_three_dimensions() {
        // The value at (i, j, k) is 100 i + 10 j + k, stored first index fastest.
        let mut stored = Vec::new();
        for k in 0..4 {
            for j in 0..3 {
                for i in 0..2 {
                    stored.push(100 * i + 10 * j + k);
                }
            }
        }
        let mut sorted = stored.clone();
        sorted.sort_unstable();
        assert_eq!(to_row_major(&stored, &[2, 3, 4]), sorted);
    }

    #[test]
    fn text_loses_its_padding() {
        let header = "{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }";
        let array = read(&file(header, b"ab\0xyz")).unwrap();
        assert_eq!(array.values, Values::Text(vec!["ab".into(), "xyz".into()]));
    }

    #[test]
    fn claims_that_do_not_fit_the_file_are_refused() {
        for shape in [
            "(1000000000000,)",
            "(2,)",
            "(4611686018427387904, 8)",
            "(18446744073709551615, 18446744073709551615)",
        ] {
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}");
            assert!(read(&file(&header, &[0; 8])).is_err(), "{shape}");
        }
        // Elements without size could be claimed without end.
        let header = "{'descr': '|S0', 'fortran_order': False, 'shape': (9999999999,)}";
        assert!(read(&file(header, &[])).is_err());
    }
}
