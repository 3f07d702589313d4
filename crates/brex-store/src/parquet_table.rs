//! Reads features from `.parquet`.
//!
//! Every numeric column is a feature, in order; a column of lists of equal length (as embeddings
//! come) is as many features as the lists are long. `id` and `length` are what their names say.
//! A column of another kind is an error rather than silently left out.

use std::path::Path;
use std::sync::Arc;

use brex_core::Matrix;
use bytes::Bytes;
use parquet::basic::{LogicalType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::StoreError;
use crate::array::Table;
use crate::guard::{check_claim, contain};
use crate::parquet_column::{Column, ColumnRequest, Kind, read_column};
use crate::parquet_footer::check_footer;
use crate::parquet_pages::check_pages;

/// Reads the table from the bytes of a file.
pub(crate) fn read_parquet(path: &Path, bytes: &Bytes) -> Result<Table, StoreError> {
    // The decoder checks much but not everything; see `contain`.
    contain(path, "parquet", || {
        let size = bytes.len() as u64;
        check_footer(path, bytes)?;
        let file = SerializedFileReader::new(bytes.clone()).map_err(|e| damaged(path, &e))?;
        let rows = count_rows(path, &file, size)?;
        check_pages(path, bytes, file.metadata())?;
        let schema = file.metadata().file_metadata().schema_descr_ptr();
        let mut table = Parts::default();
        for (index, descriptor) in schema.columns().iter().enumerate() {
            let role = role(path, descriptor)?;
            let request = ColumnRequest {
                path,
                index,
                descriptor,
                kind: kind(path, descriptor)?,
                rows,
                size,
            };
            if role == Role::RowNumber {
                continue;
            }
            let column = read_column(&file, &request)?;
            table.add(path, descriptor, role, column)?;
        }
        table.finish(path, rows)
    })
}

fn count_rows(
    path: &Path,
    file: &SerializedFileReader<Bytes>,
    size: u64,
) -> Result<usize, StoreError> {
    let metadata = file.metadata();
    let claimed = metadata.file_metadata().num_rows();
    let in_groups = metadata
        .row_groups()
        .iter()
        .try_fold(0_i64, |sum, group| sum.checked_add(group.num_rows()));
    let rows = usize::try_from(claimed)
        .ok()
        .filter(|_| in_groups == Some(claimed))
        .ok_or_else(|| malformed(path, format!("it claims {claimed} rows")))?;
    let columns = metadata.file_metadata().schema_descr().num_columns();
    check_claim(path, rows as u128 * columns as u128 * 8, size)?;
    Ok(rows)
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Feature,
    Id,
    Length,
    /// The index that pandas stores when it is not simply counted.
    RowNumber,
}

fn role(path: &Path, descriptor: &ColumnDescriptor) -> Result<Role, StoreError> {
    let name = top_name(descriptor);
    let is_text = matches!(kind(path, descriptor)?, Kind::Text);
    Ok(match name {
        "id" => Role::Id,
        "length" => Role::Length,
        "__index_level_0__" if is_text => Role::Id,
        "__index_level_0__" => Role::RowNumber,
        _ => Role::Feature,
    })
}

fn top_name(descriptor: &ColumnDescriptor) -> &str {
    descriptor.path().parts().first().map_or("", String::as_str)
}

fn kind(path: &Path, descriptor: &ColumnDescriptor) -> Result<Kind, StoreError> {
    let logical = descriptor.logical_type_ref();
    let unsigned = match logical {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => false,
    };
    let plain = matches!(logical, None | Some(LogicalType::Integer(_)));
    // Older writers mark dates, times and decimals by the converted type only.
    let converted = descriptor.converted_type().to_string();
    let dated = ["DATE", "TIME", "DECIMAL", "INTERVAL"]
        .iter()
        .any(|word| converted.starts_with(word));
    let nested = descriptor.max_rep_level() > 1
        || (descriptor.max_rep_level() == 0 && descriptor.path().parts().len() > 1);
    let kind = match descriptor.physical_type() {
        _ if nested || dated => None,
        Physical::BOOLEAN if plain => Some(Kind::Bool),
        Physical::INT32 if plain => Some(Kind::Int32 { unsigned }),
        Physical::INT64 if plain => Some(Kind::Int64 { unsigned }),
        Physical::FLOAT if plain => Some(Kind::Float),
        Physical::DOUBLE if plain => Some(Kind::Double),
        Physical::FIXED_LEN_BYTE_ARRAY if matches!(logical, Some(LogicalType::Float16)) => {
            Some(Kind::Half)
        }
        Physical::BYTE_ARRAY if matches!(logical, None | Some(LogicalType::String)) => {
            Some(Kind::Text)
        }
        _ => None,
    };
    kind.ok_or_else(|| StoreError::Missing {
        path: path.to_owned(),
        problem: format!(
            "column `{}` is {}; expected numbers; convert it to double or drop it",
            descriptor.path().string(),
            match converted.as_str() {
                _ if nested => "nested".to_owned(),
                "NONE" => format!("of type {}", descriptor.physical_type()).to_lowercase(),
                other => format!("of type {other}").to_lowercase(),
            }
        ),
    })
}

/// The table while it is put together.
#[derive(Default)]
struct Parts {
    features: Vec<(Vec<f64>, usize)>,
    ids: Option<Vec<String>>,
    lengths: Option<Vec<f64>>,
}

impl Parts {
    fn add(
        &mut self,
        path: &Path,
        descriptor: &Arc<ColumnDescriptor>,
        role: Role,
        column: Column,
    ) -> Result<(), StoreError> {
        let wrong = |expected: &str| StoreError::Missing {
            path: path.to_owned(),
            problem: format!("column `{}`: expected {expected}", top_name(descriptor)),
        };
        match (role, column) {
            (Role::Id, Column::Text(ids)) => self.ids = Some(ids),
            (Role::Id, Column::Numbers { values, width: 1 }) => {
                self.ids = Some(values.iter().map(f64::to_string).collect());
            }
            (Role::Length, Column::Numbers { values, width: 1 }) => self.lengths = Some(values),
            (Role::Feature, Column::Numbers { values, width }) => {
                self.features.push((values, width));
            }
            (Role::Feature, Column::Text(_)) => {
                return Err(wrong(
                    "numbers, found text; only the column `id` may hold text; drop the column",
                ));
            }
            (Role::Id, _) => return Err(wrong("one id per row")),
            (Role::Length | Role::RowNumber, _) => return Err(wrong("one number per row")),
        }
        Ok(())
    }

    fn finish(self, path: &Path, rows: usize) -> Result<Table, StoreError> {
        let cols = self.features.iter().map(|(_, width)| width).sum();
        let mut data = Vec::with_capacity(self.features.iter().map(|(v, _)| v.len()).sum());
        for row in 0..rows {
            for (values, width) in &self.features {
                data.extend_from_slice(&values[row * width..][..*width]);
            }
        }
        let matrix =
            Matrix::new(rows, cols, data).map_err(|error| malformed(path, error.to_string()))?;
        Ok(Table {
            matrix,
            ids: self.ids,
            lengths: self.lengths,
        })
    }
}

pub(crate) fn damaged(path: &Path, error: &ParquetError) -> StoreError {
    malformed(path, error.to_string())
}

pub(crate) fn malformed(path: &Path, problem: String) -> StoreError {
    StoreError::Malformed {
        path: path.to_owned(),
        format: "parquet",
        problem,
    }
}
