//! The metadata of a Zarr array, version 3, as far as they are needed to read it: plain or
//! zstd-compressed chunks of numbers on a regular grid, which is what ArviZ and xarray write.

use serde::Deserialize;
use serde_json::Value;

/// How an element is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    Bool,
}

impl Number {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "float32" => Self::F32,
            "float64" => Self::F64,
            "int8" => Self::I8,
            "int16" => Self::I16,
            "int32" => Self::I32,
            "int64" => Self::I64,
            "uint8" => Self::U8,
            "uint16" => Self::U16,
            "uint32" => Self::U32,
            "bool" => Self::Bool,
            _ => return None,
        })
    }

    /// Bytes of an element.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }
}

/// What is to be known to read an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub(crate) shape: Vec<usize>,
    /// The shape of a chunk: as many dimensions, none of them 0.
    pub(crate) chunk: Vec<usize>,
    pub(crate) number: Number,
    pub(crate) big_endian: bool,
    pub(crate) zstd: bool,
    pub(crate) separator: char,
    /// Stands where a chunk is missing.
    pub(crate) fill: Value,
    /// The names of the dimensions; empty if they have none.
    pub(crate) dimensions: Vec<String>,
}

/// The document as it stands.
#[derive(Deserialize)]
struct Document {
    zarr_format: u64,
    node_type: String,
    shape: Vec<usize>,
    data_type: Value,
    chunk_grid: Extension,
    chunk_key_encoding: Extension,
    fill_value: Value,
    codecs: Vec<Extension>,
    #[serde(default)]
    storage_transformers: Vec<Value>,
    #[serde(default)]
    dimension_names: Option<Vec<Option<String>>>,
}

#[derive(Deserialize)]
struct Extension {
    name: String,
    #[serde(default)]
    configuration: Value,
}

#[derive(Deserialize)]
struct RegularGrid {
    chunk_shape: Vec<usize>,
}

impl Layout {
    /// Understands a `zarr.json`, or says what about it is not understood.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let document: Document = serde_json::from_slice(text).map_err(|e| e.to_string())?;
        if document.zarr_format != 3 || document.node_type != "array" {
            return Err("expected an array of Zarr version 3".to_owned());
        }
        let number = document
            .data_type
            .as_str()
            .and_then(Number::of)
            .ok_or_else(|| {
                let found = crate::error::excerpt(&document.data_type.to_string());
                format!("elements of type {found} are not supported")
            })?;
        let grid: RegularGrid = Some(document.chunk_grid)
            .filter(|grid| grid.name == "regular")
            .and_then(|grid| serde_json::from_value(grid.configuration).ok())
            .ok_or_else(|| "its chunk grid is not regular".to_owned())?;
        if grid.chunk_shape.len() != document.shape.len() || grid.chunk_shape.contains(&0) {
            return Err("its chunks do not fit its shape".to_owned());
        }
        let keys = &document.chunk_key_encoding;
        let separator = match keys.configuration.get("separator").map(Value::as_str) {
            None | Some(Some("/")) => '/',
            Some(Some(".")) => '.',
            Some(_) => return Err("its chunks have unknown names".to_owned()),
        };
        if keys.name != "default" || !document.storage_transformers.is_empty() {
            return Err("its chunks are stored in an unknown way".to_owned());
        }
        let (big_endian, zstd) = codecs(&document.codecs)?;
        Ok(Self {
            shape: document.shape,
            chunk: grid.chunk_shape,
            number,
            big_endian,
            zstd,
            separator,
            fill: document.fill_value,
            dimensions: document
                .dimension_names
                .unwrap_or_default()
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
        })
    }

    /// How many chunks there are along each dimension.
    pub(crate) fn grid(&self) -> Vec<usize> {
        let sizes = self.shape.iter().zip(&self.chunk);
        sizes.map(|(size, chunk)| size.div_ceil(*chunk)).collect()
    }
}

/// Whether elements are big-endian, and whether chunks are compressed by zstd.
fn codecs(list: &[Extension]) -> Result<(bool, bool), String> {
    let (bytes, zstd) = match list {
        [bytes] if bytes.name == "bytes" => (bytes, false),
        [bytes, zstd] if bytes.name == "bytes" && zstd.name == "zstd" => (bytes, true),
        _ => {
            let names: Vec<&str> = list.iter().map(|codec| codec.name.as_str()).collect();
            return Err(format!(
                "chunks are encoded by {:?}; save them plain or with zstd",
                crate::error::excerpt(&names.join(", "))
            ));
        }
    };
    match bytes.configuration.get("endian").map(Value::as_str) {
        None | Some(Some("little")) => Ok((false, zstd)),
        Some(Some("big")) => Ok((true, zstd)),
        Some(_) => Err("its order of bytes is unknown".to_owned()),
    }
}
