//! The readers by what is wanted: features, a matrix, a vector, draws. The file's extension says
//! which format it is.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use brex_core::{Draws, FeatureTable, Matrix};

use crate::StoreError;
use crate::array::{Array, Table};
use crate::csv_table::read_csv;
use crate::error::read_error;
use crate::npy::read_npy;
use crate::npz::read_npz;
use crate::parquet_table::read_parquet;
use crate::tensors::read_tensors;

const TABLES: &str = ".npy, .npz, .safetensors, .parquet or .csv";

/// The formats in which a table can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// NumPy's array file.
    Npy,
    /// NumPy's archive of arrays.
    Npz,
    /// Safetensors.
    Safetensors,
    /// Apache Parquet.
    Parquet,
    /// Comma-separated text.
    Csv,
}

impl TableFormat {
    /// The format that the extension of `path` stands for.
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        match extension(path).as_str() {
            "npy" => Ok(Self::Npy),
            "npz" => Ok(Self::Npz),
            "safetensors" => Ok(Self::Safetensors),
            "parquet" => Ok(Self::Parquet),
            "csv" => Ok(Self::Csv),
            _ => Err(StoreError::UnknownFormat {
                path: path.to_owned(),
                expected: TABLES,
            }),
        }
    }
}

/// The extension in small letters, or nothing.
pub(crate) fn extension(path: &Path) -> String {
    path.extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

/// Reads feature sums, one row per trajectory, with ids and lengths if the file has them.
///
/// | format | features | ids | lengths |
/// |---|---|---|---|
/// | `.npy` | the array, two dimensions | – | – |
/// | `.npz` | `features`, or the only matrix | `ids` | `lengths` |
/// | `.safetensors` | `features`, or the only matrix | metadata `ids`, a JSON list | `lengths` |
/// | `.parquet` | all numeric columns in order; lists of equal length count as several | column `id` | column `length` |
/// | `.csv` | all columns, header optional | column `id` | column `length` |
pub fn read_features(path: impl AsRef<Path>) -> Result<FeatureTable, StoreError> {
    let path = path.as_ref();
    read_table(path)?.into_features(path)
}

/// Reads a matrix of finite numbers from any of the formats of [`read_features`].
pub fn read_matrix(path: impl AsRef<Path>) -> Result<Matrix, StoreError> {
    let path = path.as_ref();
    let matrix = read_table(path)?.matrix;
    check_finite(path, matrix.as_slice(), matrix.cols())?;
    Ok(matrix)
}

/// Reads a `.npy` of one dimension.
pub fn read_vector(path: impl AsRef<Path>) -> Result<Vec<f64>, StoreError> {
    let path = path.as_ref();
    if TableFormat::of(path)? != TableFormat::Npy {
        return Err(StoreError::UnknownFormat {
            path: path.to_owned(),
            expected: ".npy",
        });
    }
    let vector = read_npy_file(path)?.into_vector(path)?;
    check_finite(path, &vector, 1)?;
    Ok(vector)
}

/// Reads draws of reward weights that somebody else made: a `.npy` of three dimensions (chain,
/// draw, feature), or any matrix file of draws x features, which counts as one chain.
pub(crate) fn read_draws_file(path: &Path) -> Result<Draws, StoreError> {
    let (chains, draws, dim, values) = if TableFormat::of(path)? == TableFormat::Npy {
        read_npy_file(path)?.into_chains(path)?
    } else {
        let matrix = read_table(path)?.matrix;
        (1, matrix.rows(), matrix.cols(), matrix.into_vec())
    };
    draws_from(path, chains, draws, dim, values)
}

/// Checks and wraps draws.
pub(crate) fn draws_from(
    path: &Path,
    chains: usize,
    draws: usize,
    dim: usize,
    values: Vec<f64>,
) -> Result<Draws, StoreError> {
    check_finite(path, &values, dim)?;
    if values.is_empty() {
        return Err(StoreError::Shape {
            path: path.to_owned(),
            array: "draws".to_owned(),
            expected: "at least one draw of at least one feature",
            found: vec![chains, draws, dim],
        });
    }
    Draws::new(chains, draws, dim, values).map_err(|_| StoreError::Shape {
        path: path.to_owned(),
        array: "draws".to_owned(),
        expected: "as many values as the shape says",
        found: vec![chains, draws, dim],
    })
}

fn check_finite(path: &Path, values: &[f64], cols: usize) -> Result<(), StoreError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(StoreError::NotFinite {
            path: path.to_owned(),
            row: at / cols.max(1),
            column: at % cols.max(1),
            value: values[at],
        }),
    }
}

/// Reads a table that is not checked yet.
pub(crate) fn read_table(path: &Path) -> Result<Table, StoreError> {
    match TableFormat::of(path)? {
        TableFormat::Npy => Ok(read_npy_file(path)?.into_matrix(path)?.into()),
        TableFormat::Npz => {
            let file = open(path)?;
            let size = file.metadata().map_err(read_error(path))?.len();
            read_npz(path, BufReader::new(file), size)
        }
        TableFormat::Safetensors => read_tensors(path, &read_bytes(path)?),
        TableFormat::Parquet => read_parquet(path, &read_bytes(path)?.into()),
        TableFormat::Csv => read_csv(path, &read_bytes(path)?),
    }
}

fn read_npy_file(path: &Path) -> Result<Array, StoreError> {
    let mut file = open(path)?;
    let size = file.metadata().map_err(read_error(path))?.len();
    read_npy(path, "array", &mut BufReader::new(&mut file), size, size)
}

fn open(path: &Path) -> Result<File, StoreError> {
    let file = File::open(path).map_err(read_error(path))?;
    // A directory opens but does not read; a pipe or device has no size to check claims against.
    if !file.metadata().map_err(read_error(path))?.is_file() {
        return Err(StoreError::Missing {
            path: path.to_owned(),
            problem: "not a regular file".to_owned(),
        });
    }
    Ok(file)
}

/// The whole file.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let mut file = open(path)?;
    file.rewind()
        .and_then(|()| file.read_to_end(&mut bytes))
        .map_err(read_error(path))?;
    Ok(bytes)
}

/// Reads features from bytes, as [`read_features`] does from a file. For fuzzing.
#[doc(hidden)]
pub fn features_from_bytes(format: TableFormat, bytes: &[u8]) -> Result<FeatureTable, StoreError> {
    let path = Path::new("bytes");
    let size = bytes.len() as u64;
    let table = match format {
        TableFormat::Npy => read_npy(path, "array", &mut &bytes[..], size, size)?
            .into_matrix(path)?
            .into(),
        TableFormat::Npz => read_npz(path, Cursor::new(bytes), size)?,
        TableFormat::Safetensors => read_tensors(path, bytes)?,
        TableFormat::Parquet => read_parquet(path, &bytes.to_vec().into())?,
        TableFormat::Csv => read_csv(path, bytes)?,
    };
    table.into_features(path)
}
