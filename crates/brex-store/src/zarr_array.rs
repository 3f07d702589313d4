//! Reads one array of a Zarr store, treating it as hostile.
//!
//! The crate that writes is not used to read, because its decompressors allocate what a chunk
//! claims to hold. Here the number of chunks, the size of a chunk and the size of the array are
//! checked against the files first, and a chunk is inflated into exactly the room it must fill.

use std::path::Path;

use serde_json::Value;

use crate::StoreError;
use crate::guard::{check_claim, element_count};
use crate::posterior::StatArray;
use crate::zarr_metadata::{Layout, Number};
use crate::zarr_read::Store;

/// More chunks than this are not read.
const MAX_CHUNKS: usize = 100_000;

/// An array that is understood and can be read.
pub(crate) struct ZarrArray<'a> {
    path: &'a Path,
    store: &'a dyn Store,
    name: String,
    layout: Layout,
}

impl<'a> ZarrArray<'a> {
    /// Opens the array called `name`, if there is one.
    pub(crate) fn open(
        path: &'a Path,
        store: &'a dyn Store,
        name: &str,
    ) -> Result<Option<Self>, StoreError> {
        let Some(text) = store.read(&format!("{name}/zarr.json"))? else {
            return Ok(None);
        };
        let layout = Layout::parse(&text)
            .map_err(|problem| zarr_error(path, format!("{name}: {problem}")))?;
        Ok(Some(Self {
            path,
            store,
            name: name.to_owned(),
            layout,
        }))
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// The names of the dimensions; empty if they have none.
    pub(crate) fn dimensions(&self) -> &[String] {
        &self.layout.dimensions
    }

    fn refuse(&self, problem: &str) -> StoreError {
        zarr_error(self.path, format!("{}: {problem}", self.name))
    }

    /// Reads all values, row-major.
    pub(crate) fn read(&self) -> Result<StatArray, StoreError> {
        let count = self.check_size()?;
        let fill = &self.layout.fill;
        match self.layout.number {
            Number::F32 => {
                let read = |b| f64::from(f32::from_le_bytes(b));
                self.read_chunks(count, fill_f64(fill), read)
                    .map(StatArray::F64)
            }
            Number::F64 => self
                .read_chunks(count, fill_f64(fill), f64::from_le_bytes)
                .map(StatArray::F64),
            Number::I8 => self.read_whole(count, i8::from_le_bytes),
            Number::I16 => self.read_whole(count, i16::from_le_bytes),
            Number::I32 => self.read_whole(count, i32::from_le_bytes),
            Number::I64 => self.read_whole(count, i64::from_le_bytes),
            Number::U8 => self.read_whole(count, u8::from_le_bytes),
            Number::U16 => self.read_whole(count, u16::from_le_bytes),
            Number::U32 => self.read_whole(count, u32::from_le_bytes),
            Number::Bool => self
                .read_chunks(count, fill.as_bool(), |[byte]: [u8; 1]| byte != 0)
                .map(StatArray::Bool),
        }
    }

    fn read_whole<const N: usize, T: Into<i64>>(
        &self,
        count: usize,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<StatArray, StoreError> {
        let fill = self.layout.fill.as_i64();
        self.read_chunks(count, fill, |bytes| decode(bytes).into())
            .map(StatArray::I64)
    }

    /// Compares what the metadata claim with the chunks that are there.
    fn check_size(&self) -> Result<usize, StoreError> {
        let Layout {
            shape,
            chunk,
            number,
            ..
        } = &self.layout;
        let inflated = |what: &[usize]| StoreError::Inflated {
            path: self.path.to_owned(),
            claimed: what
                .iter()
                .fold(8_u128, |n, size| n.saturating_mul(*size as u128))
                .to_string(),
            size: 0,
        };
        let count = element_count(shape).ok_or_else(|| inflated(shape))?;
        let in_chunk = element_count(chunk).ok_or_else(|| inflated(chunk))?;
        let grid = self.layout.grid();
        let chunks = element_count(&grid)
            .filter(|chunks| *chunks <= MAX_CHUNKS)
            .ok_or_else(|| self.refuse(&format!("more than {MAX_CHUNKS} chunks")))?;
        let mut stored = 0_u64;
        let mut index = vec![0; grid.len()];
        for _ in 0..chunks {
            stored = stored.saturating_add(self.store.size(&self.chunk_key(&index))?);
            advance(&mut index, &grid);
        }
        check_claim(self.path, count as u128 * 8, stored)?;
        check_claim(self.path, in_chunk as u128 * number.size() as u128, stored)?;
        Ok(count)
    }

    fn chunk_key(&self, index: &[usize]) -> String {
        let mut key = format!("{}/c", self.name);
        for part in index {
            key.push(self.layout.separator);
            key.push_str(&part.to_string());
        }
        key
    }

    /// Decodes every chunk that is there into its place; the others keep the fill value.
    fn read_chunks<const N: usize, T: Copy>(
        &self,
        count: usize,
        fill: Option<T>,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, StoreError> {
        let fill = fill.ok_or_else(|| self.refuse("its fill value is of another kind"))?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(count)
            .map_err(|_| self.refuse("does not fit in memory"))?;
        values.resize(count, fill);
        let grid = self.layout.grid();
        let mut index = vec![0; grid.len()];
        let chunks = if count == 0 { 0 } else { grid.iter().product() };
        for _ in 0..chunks {
            if let Some(stored) = self.store.read(&self.chunk_key(&index))? {
                let bytes = self.decompress(stored)?;
                let (words, _) = bytes.as_chunks::<N>();
                self.place(&mut values, &index, words, &decode);
            }
            advance(&mut index, &grid);
        }
        Ok(values)
    }

    fn decompress(&self, stored: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let elements: usize = self.layout.chunk.iter().product();
        let expected = elements * self.layout.number.size();
        let bytes = if self.layout.zstd {
            zstd::bulk::decompress(&stored, expected)
                .map_err(|_| self.refuse("a chunk is damaged"))?
        } else {
            stored
        };
        if bytes.len() == expected {
            return Ok(bytes);
        }
        let found = bytes.len();
        Err(self.refuse(&format!("a chunk has {found} bytes, expected {expected}")))
    }

    /// Copies the part of a chunk that lies inside the array, line by line.
    fn place<const N: usize, T>(
        &self,
        values: &mut [T],
        chunk_index: &[usize],
        words: &[[u8; N]],
        decode: impl Fn([u8; N]) -> T,
    ) {
        let Layout { shape, chunk, .. } = &self.layout;
        let origin = |axis: usize| chunk_index[axis] * chunk[axis];
        let mut inside: Vec<usize> = (0..shape.len())
            .map(|axis| chunk[axis].min(shape[axis] - origin(axis)))
            .collect();
        // The last dimension is the line; the others are counted through.
        let line = inside
            .last_mut()
            .map_or(1, |last| std::mem::replace(last, 1));
        let mut index = vec![0; shape.len()];
        for _ in 0..inside.iter().product() {
            let (mut from, mut to) = (0, 0);
            for axis in 0..shape.len() {
                from = from * chunk[axis] + index[axis];
                to = to * shape[axis] + origin(axis) + index[axis];
            }
            for (value, word) in values[to..][..line].iter_mut().zip(&words[from..][..line]) {
                let mut bytes = *word;
                if self.layout.big_endian {
                    bytes.reverse();
                }
                *value = decode(bytes);
            }
            advance(&mut index, &inside);
        }
    }
}

fn fill_f64(fill: &Value) -> Option<f64> {
    match fill {
        Value::String(word) => match word.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        other => other.as_f64(),
    }
}

/// Counts up, last dimension first.
fn advance(index: &mut [usize], shape: &[usize]) {
    for axis in (0..index.len()).rev() {
        index[axis] += 1;
        if index[axis] < shape[axis] {
            return;
        }
        index[axis] = 0;
    }
}

pub(crate) fn zarr_error(path: &Path, problem: String) -> StoreError {
    StoreError::Malformed {
        path: path.to_owned(),
        format: "zarr",
        problem,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn metadata(data_type: &str, fill: &Value, codecs: &Value) -> Vec<u8> {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [3, 5], "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
            "fill_value": fill, "codecs": codecs,
        })
        .to_string()
        .into_bytes()
    }

    /// The element at row r, column c is 10 r + c; what lies outside the array is 99.
    fn chunk_values(row: usize, column: usize) -> Vec<u8> {
        let mut values = Vec::new();
        for r in 2 * row..2 * row + 2 {
            for c in 2 * column..2 * column + 2 {
                values.push(if r < 3 && c < 5 { 10 * r + c } else { 99 } as u8);
            }
        }
        values
    }

    fn read(
        metadata: Vec<u8>,
        encode: impl Fn(Vec<u8>) -> Vec<u8>,
    ) -> Result<StatArray, StoreError> {
        let mut store = BTreeMap::from([("a/zarr.json".to_owned(), metadata)]);
        for row in 0..2 {
            for column in 0..3 {
                // One chunk is missing.
                if (row, column) != (1, 0) {
                    let bytes = encode(chunk_values(row, column));
                    store.insert(format!("a/c.{row}.{column}"), bytes);
                }
            }
        }
        let path = Path::new("x");
        ZarrArray::open(path, &store, "a")?.unwrap().read()
    }

    fn expected() -> Vec<i64> {
        let mut all: Vec<i64> = (0..15).map(|i| 10 * (i / 5) + i % 5).collect();
        // The missing chunk holds row 2, columns 0 and 1.
        all[10..12].fill(-7);
        all
    }

    #[test]
    fn chunks_find_their_place_in_every_type_and_order() {
        let plain = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
        let big = json!([{"name": "bytes", "configuration": {"endian": "big"}}]);
        let zstd = json!([{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 1}}]);
        let fill = json!(-7);
        let whole = StatArray::I64(expected());
        let real = StatArray::F64(expected().iter().map(|v| *v as f64).collect());
        let wide = |values: Vec<u8>, width: usize| -> Vec<u8> {
            let word = |value| (0..width).map(move |byte| if byte == 0 { value } else { 0 });
            values.into_iter().flat_map(word).collect()
        };
        for (name, width) in [("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8)] {
            let found = read(metadata(name, &fill, &plain), |v| wide(v, width));
            assert_eq!(found.unwrap(), whole, "{name}");
        }
        let found = read(metadata("uint16", &fill, &big), |values| {
            values.into_iter().flat_map(|v| [0, v]).collect()
        });
        assert_eq!(found.unwrap(), whole);
        let doubles = |values: Vec<u8>| -> Vec<u8> {
            let words = values.into_iter().flat_map(|v| f64::from(v).to_le_bytes());
            words.collect()
        };
        let found = read(metadata("float64", &fill, &plain), doubles);
        assert_eq!(found.unwrap(), real);
        let found = read(metadata("float64", &fill, &zstd), |values| {
            zstd::bulk::compress(&doubles(values), 1).unwrap()
        });
        assert_eq!(found.unwrap(), real);
        let found = read(metadata("bool", &json!(true), &plain), |v| v);
        let StatArray::Bool(found) = found.unwrap() else {
            panic!("expected booleans");
        };
        assert!(!found[0] && found[1..].iter().all(|value| *value));
    }

    #[test]
    fn a_chunk_that_inflates_too_far_is_refused() {
        let zstd = json!([{"name": "bytes"}, {"name": "zstd"}]);
        let found = read(metadata("int8", &json!(0), &zstd), |_| {
            zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap()
        });
        assert!(found.unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn a_fill_value_of_another_kind_is_refused() {
        let plain = json!([{"name": "bytes"}]);
        for (data_type, fill) in [
            ("int8", json!(0.5)),
            ("bool", json!(0)),
            ("float64", json!("x")),
        ] {
            assert!(read(metadata(data_type, &fill, &plain), |v| v).is_err());
        }
    }
}
