//! A dense matrix of `f64`, stored row by row: the form in which feature sums travel.

/// The number of values does not fit the shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rows} x {cols} needs {expected} values, found {found}")]
pub struct ShapeError {
    /// Rows asked for.
    pub rows: usize,
    /// Columns asked for.
    pub cols: usize,
    /// `rows * cols`, as text because it may not fit a machine word.
    pub expected: String,
    /// Values given.
    pub found: usize,
}

/// A dense row-major matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// Wraps `data`, which holds `rows` rows of `cols` values each.
    pub fn new(rows: usize, cols: usize, data: Vec<f64>) -> Result<Self, ShapeError> {
        if rows.checked_mul(cols) == Some(data.len()) {
            Ok(Self { rows, cols, data })
        } else {
            Err(ShapeError {
                rows,
                cols,
                expected: (rows as u128 * cols as u128).to_string(),
                found: data.len(),
            })
        }
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self {
            rows,
            cols,
            data: vec![0.0; rows * cols],
        }
    }

    /// A matrix whose entry in row `i`, column `j` is `value(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            data.extend((0..cols).map(|j| value(i, j)));
        }
        Self { rows, cols, data }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..][..self.cols]
    }

    /// Row `i`, to be changed.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..][..self.cols]
    }

    /// All rows in order. A matrix without columns has no rows to show.
    pub fn iter_rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.data.chunks_exact(self.cols.max(1))
    }

    /// All values, row by row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All values, row by row, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Gives the values back, row by row.
    pub fn into_vec(self) -> Vec<f64> {
        self.data
    }

    /// The mean of each column; zeros where there are no rows.
    pub fn column_means(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.cols];
        for row in self.iter_rows() {
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
        }
        let count = self.rows.max(1) as f64;
        mean.iter_mut().for_each(|sum| *sum /= count);
        mean
    }

    /// The product with a vector: one dot product per row.
    ///
    /// # Panics
    /// If `vector` is not as long as a row.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        assert_eq!(vector.len(), self.cols, "vector length");
        self.iter_rows()
            .map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_must_fit_even_when_it_overflows() {
        assert!(Matrix::new(2, 3, vec![0.0; 6]).is_ok());
        assert!(Matrix::new(2, 3, vec![0.0; 5]).is_err());
        let error = Matrix::new(usize::MAX, 3, vec![]).unwrap_err();
        assert_eq!(error.expected, "55340232221128654845");
    }

    #[test]
    fn rows_means_and_products() {
        let matrix = Matrix::from_fn(2, 3, |i, j| (i * 3 + j) as f64);
        assert_eq!(matrix.row(1), [3.0, 4.0, 5.0]);
        assert_eq!(matrix.column_means(), [1.5, 2.5, 3.5]);
        assert_eq!(matrix.times(&[1.0, 0.0, 2.0]), [4.0, 13.0]);
    }
}
