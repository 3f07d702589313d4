//! The safetensors container with one entry of metadata, `brex`, which is JSON. One entry only,
//! because several would be written in random order.

use crate::parameters::{Array, Arrays};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

const KEY: &str = "brex";

/// Why a file is not a policy or a training that can be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CheckpointError {
    /// It is not safetensors, or damaged.
    #[error("not a whole safetensors file: {problem}")]
    Damaged {
        /// What the reader said.
        problem: String,
    },
    /// It was made by something else.
    #[error("a safetensors file, but not one of brex: its header has no entry {KEY:?}")]
    Foreign,
    /// It is of another kind, or from another version.
    #[error("the header says {found:?}; expected {expected:?}")]
    Kind {
        /// What it is.
        found: String,
        /// What is wanted.
        expected: &'static str,
    },
    /// The header cannot be read.
    #[error("the header cannot be understood: {problem}")]
    Header {
        /// What the reader said.
        problem: String,
    },
    /// An array is missing or not as it should be.
    #[error("array {name}: {problem}")]
    Array {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The parameters do not fit.
    #[error(transparent)]
    Parameters(#[from] crate::parameters::ParameterError),
}

/// A container to be written.
#[derive(Default)]
pub(super) struct Writer {
    entries: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl Writer {
    pub(super) fn floats(&mut self, prefix: &str, arrays: &Arrays) {
        for (name, array) in arrays {
            let bytes = array.values.iter().flat_map(|v| v.to_le_bytes()).collect();
            let name = format!("{prefix}{name}");
            self.entries
                .push((name, Dtype::F32, array.shape.clone(), bytes));
        }
    }

    pub(super) fn doubles(&mut self, name: &str, values: &[f64]) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let entry = (name.to_owned(), Dtype::F64, vec![values.len()], bytes);
        self.entries.push(entry);
    }

    pub(super) fn bytes(&mut self, name: String, values: &[u8]) {
        let entry = (name, Dtype::U8, vec![values.len()], values.to_vec());
        self.entries.push(entry);
    }

    /// The file, with `header` as its metadata.
    pub(super) fn finish(self, header: &impl Serialize) -> Result<Vec<u8>, CheckpointError> {
        let header = serde_json::to_string(header).map_err(|error| CheckpointError::Header {
            problem: error.to_string(),
        })?;
        let mut views = Vec::new();
        for (name, dtype, shape, bytes) in &self.entries {
            let view = TensorView::new(*dtype, shape.clone(), bytes).map_err(damaged)?;
            views.push((name.as_str(), view));
        }
        let metadata = HashMap::from([(KEY.to_owned(), header)]);
        safetensors::serialize(views, Some(metadata)).map_err(damaged)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn damaged(error: SafeTensorError) -> CheckpointError {
    CheckpointError::Damaged {
        problem: error.to_string(),
    }
}

/// A container that was read.
pub(super) struct Reader<'a> {
    tensors: SafeTensors<'a>,
}

impl<'a> Reader<'a> {
    /// The content, and the header if it is of the wanted kind.
    pub(super) fn open<H: DeserializeOwned>(
        bytes: &'a [u8],
        kind: &'static str,
    ) -> Result<(Self, H), CheckpointError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let header = metadata.metadata().as_ref().and_then(|m| m.get(KEY));
        let Some(header) = header else {
            return Err(CheckpointError::Foreign);
        };
        let problem = |error: serde_json::Error| CheckpointError::Header {
            problem: error.to_string(),
        };
        let found: serde_json::Value = serde_json::from_str(header).map_err(problem)?;
        let found = found.get("kind").and_then(|kind| kind.as_str());
        if found != Some(kind) {
            return Err(CheckpointError::Kind {
                found: found.unwrap_or("nothing").to_owned(),
                expected: kind,
            });
        }
        let header = serde_json::from_str(header).map_err(problem)?;
        Ok((Self { tensors }, header))
    }

    fn get(&self, name: &str, dtype: Dtype) -> Result<TensorView<'_>, CheckpointError> {
        view(&self.tensors, name, dtype)
    }

    /// All arrays of floats whose names begin so, without that beginning.
    pub(super) fn floats(&self, prefix: &str) -> Result<Arrays, CheckpointError> {
        let mut arrays = Arrays::new();
        for full in self.tensors.names() {
            let Some(name) = full.strip_prefix(prefix) else {
                continue;
            };
            arrays.insert(name.to_owned(), float_array(&self.tensors, full)?);
        }
        Ok(arrays)
    }

    pub(super) fn doubles(&self, name: &str) -> Result<Vec<f64>, CheckpointError> {
        let view = self.get(name, Dtype::F64)?;
        let (chunks, _) = view.data().as_chunks::<8>();
        Ok(chunks.iter().map(|c| f64::from_le_bytes(*c)).collect())
    }

    pub(super) fn bytes(&self, name: &str) -> Result<Vec<u8>, CheckpointError> {
        Ok(self.get(name, Dtype::U8)?.data().to_vec())
    }
}

fn view<'a>(
    tensors: &'a SafeTensors<'_>,
    name: &str,
    dtype: Dtype,
) -> Result<TensorView<'a>, CheckpointError> {
    let array = |problem: String| CheckpointError::Array {
        name: name.to_owned(),
        problem,
    };
    let view = tensors.tensor(name);
    let view = view.map_err(|_| array("it is missing".to_owned()))?;
    if view.dtype() != dtype {
        let found = view.dtype();
        return Err(array(format!("holds {found:?}; expected {dtype:?}")));
    }
    Ok(view)
}

/// An array of floats.
pub(super) fn float_array(tensors: &SafeTensors<'_>, name: &str) -> Result<Array, CheckpointError> {
    let view = view(tensors, name, Dtype::F32)?;
    let (chunks, _) = view.data().as_chunks::<4>();
    Ok(Array {
        shape: view.shape().to_vec(),
        values: chunks.iter().map(|c| f32::from_le_bytes(*c)).collect(),
    })
}
