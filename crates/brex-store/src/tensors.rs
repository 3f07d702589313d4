//! Reads features from `.safetensors`.

use std::path::Path;

use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::StoreError;
use crate::array::{Array, Table, Values, choose_features};

/// Reads `features` (or the only matrix), `lengths` if there, and ids from the metadata: a JSON
/// list under `ids`, or in the entry of a file that brex wrote.
pub(crate) fn read_tensors(path: &Path, bytes: &[u8]) -> Result<Table, StoreError> {
    let file = open(path, bytes)?;
    let arrays: Vec<(String, usize)> = {
        let mut list: Vec<_> = file
            .iter()
            .map(|(name, view)| (name.to_owned(), view.shape().len()))
            .collect();
        list.sort();
        list
    };
    let features = choose_features(path, &arrays)?;
    let load = |name: &str| -> Result<Array, StoreError> {
        let view = file
            .tensor(name)
            .map_err(|error| malformed(path, error.to_string()))?;
        widen(path, name, &view)
    };
    let matrix = load(features)?.into_matrix(path)?;
    let lengths = if file.names().contains(&"lengths") {
        Some(load("lengths")?.into_vector(path)?)
    } else {
        None
    };
    Ok(Table {
        matrix,
        ids: read_ids(path, bytes)?,
        lengths,
    })
}

/// Opens the file; the header is checked against the bytes behind it.
pub(crate) fn open<'a>(path: &Path, bytes: &'a [u8]) -> Result<SafeTensors<'a>, StoreError> {
    SafeTensors::deserialize(bytes).map_err(|error| malformed(path, error.to_string()))
}

/// An entry of the file's metadata.
pub(crate) fn read_metadata(
    path: &Path,
    bytes: &[u8],
    key: &str,
) -> Result<Option<String>, StoreError> {
    let (_, metadata) =
        SafeTensors::read_metadata(bytes).map_err(|error| malformed(path, error.to_string()))?;
    Ok(metadata
        .metadata()
        .as_ref()
        .and_then(|map| map.get(key))
        .cloned())
}

fn read_ids(path: &Path, bytes: &[u8]) -> Result<Option<Vec<String>>, StoreError> {
    let wrong = |error: serde_json::Error| malformed(path, format!("metadata `ids`: {error}"));
    let list: Vec<serde_json::Value> = match read_metadata(path, bytes, "ids")? {
        Some(text) => serde_json::from_str(&text).map_err(wrong)?,
        // What `brex features` writes has one entry for everything.
        None => match read_metadata(path, bytes, "brex")? {
            None => return Ok(None),
            Some(text) => match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(header) => match header.get("ids") {
                    Some(ids) => serde_json::from_value(ids.clone()).map_err(wrong)?,
                    None => return Ok(None),
                },
                Err(_) => return Ok(None),
            },
        },
    };
    list.into_iter()
        .enumerate()
        .map(|(index, value)| match value {
            serde_json::Value::String(id) => Ok(id),
            serde_json::Value::Number(id) => Ok(id.to_string()),
            _ => Err(malformed(
                path,
                format!("metadata `ids`: entry {index} is neither text nor a number"),
            )),
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

pub(crate) fn malformed(path: &Path, problem: String) -> StoreError {
    StoreError::Malformed {
        path: path.to_owned(),
        format: "safetensors",
        problem,
    }
}

fn widen(path: &Path, name: &str, view: &TensorView<'_>) -> Result<Array, StoreError> {
    let bytes = view.data();
    macro_rules! widen {
        ($kind:ty, $widen:expr) => {
            bytes
                .as_chunks::<{ size_of::<$kind>() }>()
                .0
                .iter()
                .map(|b| $widen(<$kind>::from_le_bytes(*b)))
                .collect()
        };
    }
    let numbers: Vec<f64> = match view.dtype() {
        Dtype::BOOL => bytes.iter().map(|b| f64::from(u8::from(*b != 0))).collect(),
        Dtype::U8 => widen!(u8, f64::from),
        Dtype::I8 => widen!(i8, f64::from),
        Dtype::I16 => widen!(i16, f64::from),
        Dtype::U16 => widen!(u16, f64::from),
        Dtype::I32 => widen!(i32, f64::from),
        Dtype::U32 => widen!(u32, f64::from),
        Dtype::I64 => widen!(i64, |v| v as f64),
        Dtype::U64 => widen!(u64, |v| v as f64),
        Dtype::F16 => widen!(f16, f64::from),
        Dtype::BF16 => widen!(bf16, f64::from),
        Dtype::F32 => widen!(f32, f64::from),
        Dtype::F64 => widen!(f64, |v| v),
        other => {
            return Err(malformed(
                path,
                format!(
                    "tensor `{name}` has elements of type {other:?}; expected real numbers of 8 to 64 bits"
                ),
            ));
        }
    };
    Ok(Array {
        name: name.to_owned(),
        shape: view.shape().to_vec(),
        values: Values::Numbers(numbers),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn file(tensors: &[(&str, Dtype, Vec<usize>, Vec<u8>)], ids: Option<&str>) -> Vec<u8> {
        let views: Vec<_> = tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| {
                let view = TensorView::new(*dtype, shape.clone(), bytes).unwrap();
                ((*name).to_owned(), view)
            })
            .collect();
        let metadata = ids.map(|ids| HashMap::from([("ids".to_owned(), ids.to_owned())]));
        safetensors::serialize(views, metadata).unwrap()
    }

    #[test]
    fn features_lengths_and_ids() {
        let features: Vec<u8> = [1.0_f32, 2.0]
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect();
        let bytes = file(
            &[
                ("features", Dtype::F32, vec![2, 1], features),
                ("lengths", Dtype::U8, vec![2], vec![3, 4]),
            ],
            Some(r#"["a", 7]"#),
        );
        let table = read_tensors(Path::new("x"), &bytes).unwrap();
        assert_eq!(table.matrix.as_slice(), [1.0, 2.0]);
        assert_eq!(table.lengths, Some(vec![3.0, 4.0]));
        assert_eq!(table.ids, Some(vec!["a".into(), "7".into()]));
    }

    #[test]
    fn half_precision_is_widened() {
        for (dtype, bits) in [(Dtype::F16, 0x3e00_u16), (Dtype::BF16, 0x3fc0)] {
            let bytes = file(
                &[("x", dtype, vec![1, 1], bits.to_le_bytes().to_vec())],
                None,
            );
            let table = read_tensors(Path::new("x"), &bytes).unwrap();
            assert_eq!(table.matrix.as_slice(), [1.5], "{dtype:?}");
        }
    }

    #[test]
    fn unusable_files_are_refused() {
        let path = Path::new("x");
        let complex = file(&[("x", Dtype::C64, vec![1, 1], vec![0; 8])], None);
        assert!(read_tensors(path, &complex).is_err());
        let bad_ids = file(&[("x", Dtype::U8, vec![1, 1], vec![0])], Some("[{}]"));
        assert!(read_tensors(path, &bad_ids).is_err());
        assert!(read_tensors(path, &[]).is_err());
        assert!(read_tensors(path, &u64::MAX.to_le_bytes()).is_err());
    }
}
