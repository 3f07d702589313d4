//! Reads one array of a Zarr store, treating it as hostile.
//!
//! The crate that writes is not used to read, because its decompressors allocate what a chunk
//! claims to hold. Here the number of chunks, the size of a chunk and the size of the array are
//! checked against the files first, and a chunk is inflated into exactly the room it must fill.
//! What ArviZ and xarray write by default is understood: plain or zstd-compressed chunks of
//! numbers on a regular grid.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::StoreError;
use crate::guard::{check_claim, element_count};
use crate::zarr_read::Store;

/// More chunks than this are not read.
const MAX_CHUNKS: usize = 100_000;

/// The values of an array, row-major.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ZarrValues {
    F64(Vec<f64>),
    I64(Vec<i64>),
    Bool(Vec<bool>),
}

/// An array's metadata, as far as it is needed.
#[derive(Debug, Deserialize)]
pub(crate) struct ArrayJson {
    zarr_format: u64,
    node_type: String,
    pub(crate) shape: Vec<usize>,
    data_type: Value,
    chunk_grid: Extension,
    chunk_key_encoding: Extension,
    fill_value: Value,
    codecs: Vec<Extension>,
    #[serde(default)]
    storage_transformers: Vec<Value>,
    #[serde(default)]
    pub(crate) dimension_names: Option<Vec<Option<String>>>,
}

#[derive(Debug, Deserialize)]
struct Extension {
    name: String,
    #[serde(default)]
    configuration: Value,
}

/// How an element is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    F32,
    F64,
    Int { bytes: usize, signed: bool },
    Bool,
}

impl Number {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "float32" => Self::F32,
            "float64" => Self::F64,
            "bool" => Self::Bool,
            "int8" => Self::Int {
                bytes: 1,
                signed: true,
            },
            "int16" => Self::Int {
                bytes: 2,
                signed: true,
            },
            "int32" => Self::Int {
                bytes: 4,
                signed: true,
            },
            "int64" => Self::Int {
                bytes: 8,
                signed: true,
            },
            "uint8" => Self::Int {
                bytes: 1,
                signed: false,
            },
            "uint16" => Self::Int {
                bytes: 2,
                signed: false,
            },
            "uint32" => Self::Int {
                bytes: 4,
                signed: false,
            },
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
            Self::Bool => 1,
            Self::Int { bytes, .. } => bytes,
        }
    }
}

/// An array that is understood and can be read.
pub(crate) struct ZarrArray<'a> {
    path: &'a Path,
    store: &'a dyn Store,
    name: String,
    json: ArrayJson,
    number: Number,
    big_endian: bool,
    zstd: bool,
    chunk: Vec<usize>,
    separator: String,
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
        let refuse = |problem: String| zarr_error(path, format!("{name}: {problem}"));
        let json: ArrayJson =
            serde_json::from_slice(&text).map_err(|error| refuse(error.to_string()))?;
        if json.zarr_format != 3 || json.node_type != "array" {
            return Err(refuse("expected an array of Zarr version 3".to_owned()));
        }
        let number = json
            .data_type
            .as_str()
            .and_then(Number::of)
            .ok_or_else(|| {
                refuse(format!(
                    "elements of type {} are not supported",
                    json.data_type
                ))
            })?;
        let chunk: Vec<usize> = json.chunk_grid.configuration["chunk_shape"]
            .as_array()
            .filter(|_| json.chunk_grid.name == "regular")
            .map(|sizes| sizes.iter().filter_map(Value::as_u64).collect::<Vec<_>>())
            .into_iter()
            .flatten()
            .filter_map(|size| usize::try_from(size).ok())
            .collect();
        if chunk.len() != json.shape.len() || chunk.contains(&0) {
            return Err(refuse("its chunk grid is not regular".to_owned()));
        }
        let (big_endian, zstd) = codecs(&json.codecs).map_err(refuse)?;
        let separator = match json.chunk_key_encoding.configuration.get("separator") {
            None => "/",
            Some(Value::String(text)) if text == "/" || text == "." => text,
            Some(_) => return Err(refuse("its chunk separator is unknown".to_owned())),
        }
        .to_owned();
        if json.chunk_key_encoding.name != "default" || !json.storage_transformers.is_empty() {
            return Err(refuse("its chunks are stored in an unknown way".to_owned()));
        }
        Ok(Some(Self {
            path,
            store,
            name: name.to_owned(),
            json,
            number,
            big_endian,
            zstd,
            chunk,
            separator,
        }))
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.json.shape
    }

    /// The names of the dimensions, where they have names.
    pub(crate) fn dimensions(&self) -> Vec<&str> {
        let names = self.json.dimension_names.iter().flatten();
        names.map(|name| name.as_deref().unwrap_or("")).collect()
    }

    fn refuse(&self, problem: &str) -> StoreError {
        zarr_error(self.path, format!("{}: {problem}", self.name))
    }

    /// Reads all values.
    pub(crate) fn read(&self) -> Result<ZarrValues, StoreError> {
        let count = self.check_size()?;
        let too_large = |_| self.refuse("does not fit in memory");
        match self.number {
            Number::F32 | Number::F64 => {
                let mut values = Vec::new();
                values.try_reserve_exact(count).map_err(too_large)?;
                values.resize(count, self.fill_f64()?);
                self.read_chunks(&mut values, |bytes| self.float(bytes))?;
                Ok(ZarrValues::F64(values))
            }
            Number::Int { .. } => {
                let fill = self.json.fill_value.as_i64();
                let fill = fill.ok_or_else(|| self.refuse("its fill value is not a number"))?;
                let mut values = Vec::new();
                values.try_reserve_exact(count).map_err(too_large)?;
                values.resize(count, fill);
                self.read_chunks(&mut values, |bytes| self.int(bytes))?;
                Ok(ZarrValues::I64(values))
            }
            Number::Bool => {
                let fill = self.json.fill_value.as_bool();
                let fill = fill.ok_or_else(|| self.refuse("its fill value is not a boolean"))?;
                let mut values = Vec::new();
                values.try_reserve_exact(count).map_err(too_large)?;
                values.resize(count, fill);
                self.read_chunks(&mut values, |bytes| bytes[0] != 0)?;
                Ok(ZarrValues::Bool(values))
            }
        }
    }

    fn fill_f64(&self) -> Result<f64, StoreError> {
        match &self.json.fill_value {
            Value::Number(number) => number.as_f64(),
            Value::String(word) => match word.as_str() {
                "NaN" => Some(f64::NAN),
                "Infinity" => Some(f64::INFINITY),
                "-Infinity" => Some(f64::NEG_INFINITY),
                _ => None,
            },
            _ => None,
        }
        .ok_or_else(|| self.refuse("its fill value is not a number"))
    }

    /// Compares what the metadata claim with the chunks that are there.
    fn check_size(&self) -> Result<usize, StoreError> {
        let claimed = |what: &[usize]| {
            let bytes = what
                .iter()
                .fold(8_u128, |n, size| n.saturating_mul(*size as u128));
            bytes.to_string()
        };
        let inflated = |what: &[usize]| StoreError::Inflated {
            path: self.path.to_owned(),
            claimed: claimed(what),
            size: 0,
        };
        let count = element_count(&self.json.shape).ok_or_else(|| inflated(&self.json.shape))?;
        let chunk_elements = element_count(&self.chunk).ok_or_else(|| inflated(&self.chunk))?;
        let grid = self.grid();
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
        let chunk_bytes = chunk_elements as u128 * self.number.size() as u128;
        check_claim(self.path, chunk_bytes, stored)?;
        Ok(count)
    }

    fn grid(&self) -> Vec<usize> {
        let sizes = self.json.shape.iter().zip(&self.chunk);
        sizes.map(|(size, chunk)| size.div_ceil(*chunk)).collect()
    }

    fn chunk_key(&self, index: &[usize]) -> String {
        let mut key = format!("{}/c", self.name);
        for part in index {
            key.push_str(&self.separator);
            key.push_str(&part.to_string());
        }
        key
    }

    /// Decodes every chunk that is there into its place; the others keep the fill value.
    fn read_chunks<T: Copy>(
        &self,
        values: &mut [T],
        decode: impl Fn(&[u8]) -> T,
    ) -> Result<(), StoreError> {
        if values.is_empty() {
            return Ok(());
        }
        let size = self.number.size();
        let expected = self.chunk.iter().product::<usize>() * size;
        let grid = self.grid();
        let mut index = vec![0; grid.len()];
        for _ in 0..grid.iter().product() {
            if let Some(stored) = self.store.read(&self.chunk_key(&index))? {
                let bytes = if self.zstd {
                    zstd::bulk::decompress(&stored, expected)
                        .map_err(|_| self.refuse("a chunk is damaged"))?
                } else {
                    stored
                };
                if bytes.len() != expected {
                    return Err(self.refuse(&format!(
                        "a chunk has {} bytes, expected {expected}",
                        bytes.len()
                    )));
                }
                self.place(values, &index, &bytes, &decode);
            }
            advance(&mut index, &grid);
        }
        Ok(())
    }

    /// Copies the part of a chunk that lies inside the array.
    fn place<T>(
        &self,
        values: &mut [T],
        chunk_index: &[usize],
        bytes: &[u8],
        decode: impl Fn(&[u8]) -> T,
    ) {
        let shape = &self.json.shape;
        let size = self.number.size();
        let origin: Vec<usize> = chunk_index
            .iter()
            .zip(&self.chunk)
            .map(|(index, chunk)| index * chunk)
            .collect();
        let inside: Vec<usize> = (0..shape.len())
            .map(|axis| self.chunk[axis].min(shape[axis] - origin[axis]))
            .collect();
        let mut index = vec![0; shape.len()];
        for _ in 0..inside.iter().product() {
            let (mut from, mut to) = (0, 0);
            for axis in 0..shape.len() {
                from = from * self.chunk[axis] + index[axis];
                to = to * shape[axis] + origin[axis] + index[axis];
            }
            values[to] = decode(&bytes[from * size..][..size]);
            advance(&mut index, &inside);
        }
    }

    fn word<const N: usize>(&self, bytes: &[u8]) -> [u8; N] {
        // The caller cuts exactly one element, so only its order of bytes is left to see to.
        let mut word = [0; N];
        word[..bytes.len().min(N)].copy_from_slice(&bytes[..bytes.len().min(N)]);
        if self.big_endian {
            word.reverse();
        }
        word
    }

    fn float(&self, bytes: &[u8]) -> f64 {
        match self.number {
            Number::F32 => f64::from(f32::from_le_bytes(self.word(bytes))),
            _ => f64::from_le_bytes(self.word(bytes)),
        }
    }

    fn int(&self, bytes: &[u8]) -> i64 {
        match self.number {
            Number::Int {
                bytes: 1,
                signed: true,
            } => i8::from_le_bytes(self.word(bytes)).into(),
            Number::Int {
                bytes: 2,
                signed: true,
            } => i16::from_le_bytes(self.word(bytes)).into(),
            Number::Int {
                bytes: 4,
                signed: true,
            } => i32::from_le_bytes(self.word(bytes)).into(),
            Number::Int { bytes: 1, .. } => u8::from_le_bytes(self.word(bytes)).into(),
            Number::Int { bytes: 2, .. } => u16::from_le_bytes(self.word(bytes)).into(),
            Number::Int { bytes: 4, .. } => u32::from_le_bytes(self.word(bytes)).into(),
            _ => i64::from_le_bytes(self.word(bytes)),
        }
    }
}

/// Whether the elements are big-endian and whether chunks are compressed by zstd.
fn codecs(list: &[Extension]) -> Result<(bool, bool), String> {
    let names: Vec<&str> = list.iter().map(|codec| codec.name.as_str()).collect();
    let zstd = match names[..] {
        ["bytes"] => false,
        ["bytes", "zstd"] => true,
        _ => {
            return Err(format!(
                "chunks are encoded by {}; save them plain or with zstd",
                crate::error::excerpt(&names.join(", "))
            ));
        }
    };
    match list[0].configuration.get("endian").and_then(Value::as_str) {
        None | Some("little") => Ok((false, zstd)),
        Some("big") => Ok((true, zstd)),
        Some(_) => Err("its order of bytes is unknown".to_owned()),
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
