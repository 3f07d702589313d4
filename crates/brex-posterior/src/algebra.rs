//! The few dense products and decompositions that the set-up needs.
//!
//! Everything here gives the same bits on any number of threads: work is cut into blocks of fixed
//! size, and each block is computed by one thread in a fixed order.

use crate::likelihood::Pair;
use brex_core::Matrix;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par, Side};
use rayon::prelude::*;

/// Rows of a block: large enough to keep the product kernels busy, small enough to share.
const BLOCK: usize = 128;

/// A decomposition that did not converge, which finite input does not cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the decomposition of the feature matrix did not converge")]
pub struct DecompositionError;

fn view(matrix: &Matrix) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(matrix.as_slice(), matrix.rows(), matrix.cols())
}

/// `a' b`, for matrices with equally many rows.
pub(crate) fn transposed_product(a: &Matrix, b: &Matrix) -> Matrix {
    blocked_product(view(a).transpose(), view(b))
}

/// `a b`.
pub(crate) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    blocked_product(view(a), view(b))
}

fn blocked_product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Matrix {
    let (rows, cols) = (left.nrows(), right.ncols());
    let mut out = Matrix::zeros(rows, cols);
    if rows * cols > 0 {
        out.as_mut_slice()
            .par_chunks_mut(BLOCK * cols)
            .enumerate()
            .for_each(|(block, out)| {
                let rows = out.len() / cols;
                matmul(
                    MatMut::from_row_major_slice_mut(out, rows, cols),
                    Accum::Replace,
                    left.subrows(block * BLOCK, rows),
                    right,
                    1.0,
                    Par::Seq,
                );
            });
    }
    out
}

/// `a x`, shared among threads when it is large.
pub(crate) fn times(a: &Matrix, x: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    if a.cols() == 0 {
        return vec![0.0; a.rows()];
    }
    if a.rows() * a.cols() < 1 << 18 {
        return a.iter_rows().map(dot).collect();
    }
    a.as_slice()
        .par_chunks_exact(a.cols())
        .with_min_len(BLOCK)
        .map(dot)
        .collect()
}

/// `a' x`.
pub(crate) fn transposed_times(a: &Matrix, x: &[f64]) -> Vec<f64> {
    let rows = BLOCK * 8;
    let block = |index: usize| {
        let mut sum = vec![0.0; a.cols()];
        for i in index * rows..((index + 1) * rows).min(a.rows()) {
            for (sum, value) in sum.iter_mut().zip(a.row(i)) {
                *sum += x[i] * value;
            }
        }
        sum
    };
    let blocks: Vec<Vec<f64>> = if a.rows() * a.cols() < 1 << 18 {
        (0..a.rows().div_ceil(rows)).map(block).collect()
    } else {
        (0..a.rows().div_ceil(rows))
            .into_par_iter()
            .map(block)
            .collect()
    };
    let mut out = vec![0.0; a.cols()];
    for block in blocks {
        for (out, value) in out.iter_mut().zip(block) {
            *out += value;
        }
    }
    out
}

/// `sum over pairs of c (x_j - x_i)(x_j - x_i)'`: the information that comparisons with curvatures
/// `c` hold about the coordinates of `x`.
pub(crate) fn pair_information(x: &Matrix, pairs: &[Pair], curvatures: &[f64]) -> Matrix {
    let mut spread = Matrix::zeros(x.rows(), x.cols());
    let mut difference = vec![0.0; x.cols()];
    for (pair, curvature) in pairs.iter().zip(curvatures) {
        for (out, (high, low)) in difference
            .iter_mut()
            .zip(x.row(pair.j).iter().zip(x.row(pair.i)))
        {
            *out = curvature * (high - low);
        }
        for (sum, value) in spread.row_mut(pair.j).iter_mut().zip(&difference) {
            *sum += value;
        }
        for (sum, value) in spread.row_mut(pair.i).iter_mut().zip(&difference) {
            *sum -= value;
        }
    }
    transposed_product(x, &spread)
}

/// Eigenvalues in rising order, and the eigenvectors as columns, of a symmetric matrix.
pub(crate) fn symmetric_eigen(a: &Matrix) -> Result<(Vec<f64>, Matrix), DecompositionError> {
    let size = a.rows();
    if size == 0 {
        return Ok((Vec::new(), Matrix::zeros(0, 0)));
    }
    faer::set_global_parallelism(Par::Seq);
    let eigen = view(a)
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| DecompositionError)?;
    let values = (0..size).map(|i| eigen.S()[i]).collect();
    let vectors = Matrix::from_fn(size, size, |i, j| eigen.U()[(i, j)]);
    Ok((values, vectors))
}

/// Singular values in falling order and the right singular vectors as columns.
pub(crate) fn right_singular(a: &Matrix) -> Result<(Vec<f64>, Matrix), DecompositionError> {
    let size = a.rows().min(a.cols());
    if size == 0 {
        return Ok((Vec::new(), Matrix::zeros(a.cols(), 0)));
    }
    faer::set_global_parallelism(Par::Seq);
    let svd = view(a).thin_svd().map_err(|_| DecompositionError)?;
    let values = (0..size).map(|i| svd.S()[i]).collect();
    let vectors = Matrix::from_fn(a.cols(), size, |i, j| svd.V()[(i, j)]);
    Ok((values, vectors))
}
