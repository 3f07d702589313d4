//! Feature sums of trajectories, with the names and lengths that came along.

use crate::Matrix;

/// Why a table of features cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FeatureError {
    /// No rows or no columns.
    #[error("no features: the table has {rows} rows and {cols} columns")]
    Empty {
        /// Rows found.
        rows: usize,
        /// Feature columns found.
        cols: usize,
    },
    /// A feature that is NaN or infinite.
    #[error("row {row}, feature {column} is {value}; every feature must be a finite number")]
    NotFinite {
        /// Zero-based row.
        row: usize,
        /// Zero-based feature column.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// Ids or lengths are not one per row.
    #[error("{what}: expected one per row ({rows}), found {found}")]
    Count {
        /// `ids` or `lengths`.
        what: &'static str,
        /// Rows of the table.
        rows: usize,
        /// Entries found.
        found: usize,
    },
    /// Two rows have the same id.
    #[error("rows {first} and {second} have the same id {id:?}; ids must be unique")]
    DuplicateId {
        /// The id.
        id: String,
        /// Zero-based row where it stands first.
        first: usize,
        /// Zero-based row where it stands again.
        second: usize,
    },
    /// A length that is not a positive finite number.
    #[error("row {row}: length is {value}; a length must be a positive number of steps")]
    Length {
        /// Zero-based row.
        row: usize,
        /// What stands there.
        value: f64,
    },
}

/// Feature sums `Phi_i`, one row per trajectory. Checked: every value is finite.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTable {
    matrix: Matrix,
    ids: Option<Vec<String>>,
    lengths: Option<Vec<f64>>,
}

impl FeatureTable {
    /// Checks and wraps a matrix without ids or lengths.
    pub fn new(matrix: Matrix) -> Result<Self, FeatureError> {
        if matrix.rows() == 0 || matrix.cols() == 0 {
            return Err(FeatureError::Empty {
                rows: matrix.rows(),
                cols: matrix.cols(),
            });
        }
        if let Some(at) = matrix.as_slice().iter().position(|v| !v.is_finite()) {
            return Err(FeatureError::NotFinite {
                row: at / matrix.cols(),
                column: at % matrix.cols(),
                value: matrix.as_slice()[at],
            });
        }
        Ok(Self {
            matrix,
            ids: None,
            lengths: None,
        })
    }

    /// Adds an id for each row.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self, FeatureError> {
        self.expect_count("ids", ids.len())?;
        let mut seen = std::collections::HashMap::with_capacity(ids.len());
        for (row, id) in ids.iter().enumerate() {
            if let Some(first) = seen.insert(id.as_str(), row) {
                return Err(FeatureError::DuplicateId {
                    id: id.clone(),
                    first,
                    second: row,
                });
            }
        }
        self.ids = Some(ids);
        Ok(self)
    }

    /// Adds the length in steps of each trajectory.
    pub fn with_lengths(mut self, lengths: Vec<f64>) -> Result<Self, FeatureError> {
        self.expect_count("lengths", lengths.len())?;
        if let Some(row) = lengths.iter().position(|v| !v.is_finite() || *v <= 0.0) {
            return Err(FeatureError::Length {
                row,
                value: lengths[row],
            });
        }
        self.lengths = Some(lengths);
        Ok(self)
    }

    fn expect_count(&self, what: &'static str, found: usize) -> Result<(), FeatureError> {
        if found == self.matrix.rows() {
            Ok(())
        } else {
            Err(FeatureError::Count {
                what,
                rows: self.matrix.rows(),
                found,
            })
        }
    }

    /// The feature sums, one row per trajectory.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The id of each row, if the file had ids.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// The length of each trajectory, if known.
    pub fn lengths(&self) -> Option<&[f64]> {
        self.lengths.as_deref()
    }

    /// What to call row `row`: its id, or its number.
    pub fn name(&self, row: usize) -> String {
        self.ids
            .as_ref()
            .map_or_else(|| row.to_string(), |ids| ids[row].clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> FeatureTable {
        FeatureTable::new(Matrix::zeros(2, 2)).unwrap()
    }

    #[test]
    fn a_bad_value_is_named_by_row_and_column() {
        let matrix = Matrix::new(2, 2, vec![0.0, 1.0, f64::NAN, 2.0]).unwrap();
        let error = FeatureTable::new(matrix).unwrap_err();
        assert!(matches!(
            error,
            FeatureError::NotFinite {
                row: 1,
                column: 0,
                ..
            }
        ));
    }

    #[test]
    fn ids_are_unique_and_lengths_positive() {
        let same = vec!["a".to_owned(), "a".to_owned()];
        assert!(table().with_ids(same).is_err());
        assert!(table().with_lengths(vec![1.0, 0.0]).is_err());
        assert!(table().with_lengths(vec![1.0]).is_err());
        let named = table().with_ids(vec!["a".into(), "b".into()]).unwrap();
        assert_eq!(named.name(1), "b");
        assert_eq!(table().name(1), "1");
    }
}
