//! Mean and covariance of positions, while they are being made.

use crate::lanes::{Lanes, Task, dispatch};
use brex_core::Matrix;

/// Sums for the mean and covariance of positions.
pub(crate) struct Moments {
    count: f64,
    sum: Vec<f64>,
    /// The lower triangle of the sums of products; only their diagonal, in one row, where the
    /// dimensions are too many for the draws to say more.
    products: Matrix,
}

impl Moments {
    pub(crate) fn new(dim: usize, diagonal_only: bool) -> Self {
        let rows = if diagonal_only { 1 } else { dim };
        Self {
            count: 0.0,
            sum: vec![0.0; dim],
            products: Matrix::zeros(rows, dim),
        }
    }

    pub(crate) fn is_diagonal(&self) -> bool {
        self.products.rows() < self.sum.len()
    }

    pub(crate) fn add<const L: usize>(&mut self, position: &[Lanes<L>]) {
        self.count += L as f64;
        for (i, u) in position.iter().enumerate() {
            self.sum[i] += u.0.iter().map(|v| f64::from(*v)).sum::<f64>();
        }
        if self.is_diagonal() {
            for (sum, u) in self.products.row_mut(0).iter_mut().zip(position) {
                *sum += u.0.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
            }
        } else {
            dispatch(AddProducts {
                products: &mut self.products,
                position,
            });
        }
    }

    pub(crate) fn mean(&self) -> Vec<f64> {
        self.sum.iter().map(|sum| sum / self.count).collect()
    }

    /// The covariance entry, drawn towards the identity as if `prior` further draws had shown it.
    fn covariance(&self, sum_of_products: f64, i: usize, j: usize, prior: f64) -> f64 {
        let identity = f64::from(u8::from(i == j));
        let means = self.sum[i] * self.sum[j] / (self.count * self.count);
        let trust = self.count / (self.count + prior);
        trust * (sum_of_products / self.count - means) + (1.0 - trust) * identity
    }

    pub(crate) fn variances(&self) -> Vec<f64> {
        let squares = self.products.row(0).iter().enumerate();
        squares
            .map(|(i, sum)| self.covariance(*sum, i, i, 10.0))
            .collect()
    }

    pub(crate) fn covariances(&self) -> Matrix {
        let dim = self.sum.len();
        let prior = 0.5 * dim as f64 + 5.0;
        Matrix::from_fn(dim, dim, |i, j| {
            self.covariance(self.products.row(i.max(j))[i.min(j)], i, j, prior)
        })
    }
}

struct AddProducts<'a, const L: usize> {
    products: &'a mut Matrix,
    position: &'a [Lanes<L>],
}

impl<const L: usize> Task for AddProducts<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (i, u) in self.position.iter().enumerate() {
            let row = self.products.row_mut(i);
            for (product, other) in row.iter_mut().zip(&self.position[..=i]) {
                let mut parts = *u * *other;
                // Halving sums, so that the additions do not wait for each other.
                let mut width = L / 2;
                while width > 0 {
                    for lane in 0..width {
                        parts.0[lane] += parts.0[lane + width];
                    }
                    width /= 2;
                }
                *product += f64::from(parts.0[0]);
            }
        }
    }
}
