//! Saves the state of a sampler as safetensors, and loads it again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use brex_core::{SavedState, StateArray};
use safetensors::tensor::{Dtype, SafeTensors, View};

use crate::StoreError;
use crate::atomic::write_atomic;
use crate::read::read_bytes;
use crate::tensors::{malformed, open};

/// The key of the file's metadata that tells what it is. A single key, because several would come
/// in no fixed order and the same state should give the same bytes.
const KEY: &str = "brex";
const KIND: &str = "sampler state 1";

/// One array on its way into the file.
struct Bytes {
    dtype: Dtype,
    shape: [usize; 1],
    bytes: Vec<u8>,
}

impl View for &Bytes {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes the state of a sampler to a `.safetensors` file. An existing file is an error unless
/// `force` is given.
pub fn write_state(
    path: impl AsRef<Path>,
    state: &SavedState,
    force: bool,
) -> Result<(), StoreError> {
    let path = path.as_ref();
    let arrays: Vec<(&str, Bytes)> = state
        .arrays
        .iter()
        .map(|(name, array)| (name.as_str(), to_bytes(array)))
        .collect();
    let metadata = HashMap::from([(KEY.to_owned(), KIND.to_owned())]);
    let views = arrays.iter().map(|(name, bytes)| (*name, bytes));
    let bytes = safetensors::serialize(views, Some(metadata))
        .map_err(|error| malformed(path, error.to_string()))?;
    write_atomic(path, force, |writer| writer.write_all(&bytes))
}

fn to_bytes(array: &StateArray) -> Bytes {
    let (dtype, count, bytes) = match array {
        StateArray::F64(values) => (
            Dtype::F64,
            values.len(),
            values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        ),
        StateArray::F32(values) => (
            Dtype::F32,
            values.len(),
            values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        ),
        StateArray::U64(values) => (
            Dtype::U64,
            values.len(),
            values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        ),
    };
    Bytes {
        dtype,
        shape: [count],
        bytes,
    }
}

/// Reads the state of a sampler.
pub fn read_state(path: impl AsRef<Path>) -> Result<SavedState, StoreError> {
    let path = path.as_ref();
    parse(path, &read_bytes(path)?)
}

/// Reads a state from bytes, as [`read_state`] does from a file. For fuzzing.
#[doc(hidden)]
pub fn state_from_bytes(bytes: &[u8]) -> Result<SavedState, StoreError> {
    parse(Path::new("bytes"), bytes)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<SavedState, StoreError> {
    let file = open(path, bytes)?;
    let (_, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|error| malformed(path, error.to_string()))?;
    let kind = metadata.metadata().as_ref().and_then(|map| map.get(KEY));
    if kind.map(String::as_str) != Some(KIND) {
        return Err(malformed(
            path,
            "it does not hold the state of a sampler of this version".to_owned(),
        ));
    }
    let mut state = SavedState::default();
    for (name, view) in file.iter() {
        let bytes = view.data();
        let array = match (view.dtype(), view.shape().len()) {
            (Dtype::F64, 1) => {
                let (words, _) = bytes.as_chunks();
                StateArray::F64(words.iter().map(|b| f64::from_le_bytes(*b)).collect())
            }
            (Dtype::F32, 1) => {
                let (words, _) = bytes.as_chunks();
                StateArray::F32(words.iter().map(|b| f32::from_le_bytes(*b)).collect())
            }
            (Dtype::U64, 1) => {
                let (words, _) = bytes.as_chunks();
                StateArray::U64(words.iter().map(|b| u64::from_le_bytes(*b)).collect())
            }
            (dtype, _) => {
                return Err(malformed(
                    path,
                    format!("`{name}`: unexpected shape {:?} of {dtype:?}", view.shape()),
                ));
            }
        };
        state.arrays.insert(name.to_owned(), array);
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> SavedState {
        let mut state = SavedState::default();
        let mut add = |name: &str, array| state.arrays.insert(name.to_owned(), array);
        add("z", StateArray::F64(vec![1.0, f64::NAN, -0.0]));
        add("a", StateArray::F32(vec![0.5]));
        add("rng", StateArray::U64(vec![u64::MAX, 0]));
        add("nothing", StateArray::U64(vec![]));
        state
    }

    #[test]
    fn a_state_comes_back_bit_for_bit_and_gives_the_same_bytes() {
        let home = tempfile::tempdir().unwrap();
        let (first, second) = (home.path().join("1"), home.path().join("2"));
        write_state(&first, &state(), false).unwrap();
        write_state(&second, &state(), false).unwrap();
        assert_eq!(
            std::fs::read(&first).unwrap(),
            std::fs::read(&second).unwrap()
        );
        let read = read_state(&first).unwrap();
        // NaN is not equal to itself, so the bits are compared.
        assert_eq!(format!("{read:?}"), format!("{:?}", state()));
        assert!(matches!(
            write_state(&first, &state(), false),
            Err(StoreError::Exists { .. })
        ));
    }

    #[test]
    fn other_files_are_refused() {
        assert!(state_from_bytes(&[]).is_err());
        let other = safetensors::serialize(Vec::<(&str, &Bytes)>::new(), None).unwrap();
        assert!(state_from_bytes(&other).is_err());
    }
}
