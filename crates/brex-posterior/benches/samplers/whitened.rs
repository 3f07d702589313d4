//! The same log density in coordinates where it is nearly standard normal, so that NUTS gets
//! through problems that are too hard for it otherwise.
//!
//! The posterior of the weights is approximated by a normal law: centre `y` and precision
//! `H + kappa`, where `H` is the information of the comparisons at `y`. Under the Gaussian prior
//! `kappa` is known and this is Laplace's approximation; on the sphere it is the value at which the
//! expected squared length of the weights is 1. Coordinates `u` with `z = centre + spread u` are an
//! exact change of variables, so a bad approximation makes sampling slow but not wrong.

use crate::nuts::Density;
use crate::target::{LANES, Target, Weights, add_transposed_times, times};
use brex_core::{Matrix, Preferences};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};
use std::sync::Arc;

/// A target in whitened coordinates.
#[derive(Clone)]
pub(crate) struct Whitened {
    target: Target,
    centre: Arc<[f64]>,
    /// Rows of the matrix from `u` to `z - centre`, padded to whole vector registers.
    spread: Arc<[f64]>,
    u: Vec<f64>,
    z: Vec<f64>,
    slope: Vec<f64>,
    slope_u: Vec<f64>,
}

impl Whitened {
    /// Fits the approximation.
    pub(crate) fn new(
        features: &Matrix,
        preferences: &Preferences,
        beta: f64,
        weights: Weights,
    ) -> anyhow::Result<Self> {
        let k = features.cols();
        let normal = Normal::fit(features, preferences, beta, weights)?;
        // From weights to z: the typical length of z on the sphere.
        let stretch = match weights {
            Weights::OnSphere => (k as f64).sqrt(),
            Weights::Scaled(scale) => 1.0 / scale,
        };
        // With precision R R', weights y + R'^-1 u have the covariance (R R')^-1.
        let mut inverse = Mat::<f64>::identity(k, k);
        normal
            .root
            .as_ref()
            .solve_lower_triangular_in_place(inverse.as_mut());
        let width = k.next_multiple_of(LANES);
        let mut spread = vec![0.0; k * width];
        for (i, row) in spread.chunks_exact_mut(width).enumerate() {
            for (j, value) in row[..k].iter_mut().enumerate() {
                *value = stretch * inverse[(j, i)];
            }
        }
        Ok(Self {
            target: Target::new(features, preferences, beta, weights),
            centre: normal.centre.iter().map(|y| stretch * y).collect(),
            spread: spread.into(),
            u: vec![0.0; width],
            z: vec![0.0; k],
            slope: vec![0.0; k],
            slope_u: vec![0.0; width],
        })
    }

    fn z_of(&self, u: &[f64]) -> Vec<f64> {
        self.spread
            .chunks_exact(self.u.len())
            .zip(&*self.centre)
            .map(|(row, centre)| centre + row.iter().zip(u).map(|(a, u)| a * u).sum::<f64>())
            .collect()
    }
}

impl Density for Whitened {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> f64 {
        self.u[..position.len()].copy_from_slice(position);
        pulp::Arch::new().dispatch(Product {
            matrix: &self.spread,
            transposed: false,
            x: &self.u,
            out: &mut self.z,
        });
        for (z, centre) in self.z.iter_mut().zip(&*self.centre) {
            *z += centre;
        }
        let value = self.target.evaluate(&self.z, &mut self.slope);
        self.slope_u.fill(0.0);
        pulp::Arch::new().dispatch(Product {
            matrix: &self.spread,
            transposed: true,
            x: &self.slope,
            out: &mut self.slope_u,
        });
        gradient.copy_from_slice(&self.slope_u[..gradient.len()]);
        value
    }

    fn weights_of(&self, position: &[f64], out: &mut Vec<f64>) {
        self.target.weights_of(&self.z_of(position), out);
    }
}

/// A matrix or its transpose times a vector, added to `out` if transposed.
struct Product<'a> {
    matrix: &'a [f64],
    transposed: bool,
    x: &'a [f64],
    out: &'a mut [f64],
}

impl pulp::WithSimd for Product<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        if self.transposed {
            add_transposed_times(self.matrix, self.x, self.out);
        } else {
            times(self.matrix, self.x, self.out);
        }
    }
}

/// A normal approximation of the posterior of the weights.
struct Normal {
    centre: Vec<f64>,
    /// The lower Cholesky factor of the precision.
    root: Mat<f64>,
}

impl Normal {
    fn fit(
        features: &Matrix,
        preferences: &Preferences,
        beta: f64,
        weights: Weights,
    ) -> anyhow::Result<Self> {
        let k = features.cols();
        let mut centre = vec![0.0; k];
        let mut kappa = match weights {
            Weights::OnSphere => k as f64,
            Weights::Scaled(scale) => 1.0 / (scale * scale),
        };
        // Newton's method; the last round only makes the precision that belongs to the centre.
        for round in 0..8 {
            let (pull, mut precision) = slope_and_information(features, preferences, beta, &centre);
            for i in 0..k {
                precision[(i, i)] += kappa;
            }
            let factor = precision
                .llt(Side::Lower)
                .map_err(|error| anyhow::anyhow!("the precision has no factor: {error:?}"))?;
            let root = factor.L().to_owned();
            if round == 7 {
                return Ok(Self { centre, root });
            }
            let mut step = Mat::from_fn(k, 1, |i, _| pull[i] - kappa * centre[i]);
            root.as_ref().solve_lower_triangular_in_place(step.as_mut());
            root.transpose()
                .solve_upper_triangular_in_place(step.as_mut());
            for (i, centre) in centre.iter_mut().enumerate() {
                *centre += step[(i, 0)];
            }
            if weights == Weights::OnSphere {
                let mut inverse = Mat::<f64>::identity(k, k);
                root.as_ref()
                    .solve_lower_triangular_in_place(inverse.as_mut());
                let variance = inverse.norm_l2().powi(2);
                kappa *= variance + centre.iter().map(|y| y * y).sum::<f64>();
            }
        }
        unreachable!("the last round returns")
    }
}

/// The derivative of the log likelihood by the weights and its negative second derivative.
fn slope_and_information(
    features: &Matrix,
    preferences: &Preferences,
    beta: f64,
    weights: &[f64],
) -> (Vec<f64>, Mat<f64>) {
    let (rows, k) = (features.rows(), features.cols());
    let returns = features.times(weights);
    let mut forces = vec![0.0; rows];
    let mut laplacian = Matrix::zeros(rows, k);
    for item in preferences.items() {
        let b_wins = 1.0 / (1.0 + (beta * (returns[item.a] - returns[item.b])).exp());
        let force = beta * item.weight * (item.label - b_wins);
        forces[item.b] += force;
        forces[item.a] -= force;
        let curvature = beta * beta * item.weight * b_wins * (1.0 - b_wins);
        for j in 0..k {
            let gap = curvature * (features.row(item.b)[j] - features.row(item.a)[j]);
            laplacian.row_mut(item.b)[j] += gap;
            laplacian.row_mut(item.a)[j] -= gap;
        }
    }
    let mut slope = vec![0.0; k];
    for (row, force) in features.iter_rows().zip(forces) {
        for (slope, value) in slope.iter_mut().zip(row) {
            *slope += force * value;
        }
    }
    let view = |matrix| {
        let matrix: &Matrix = matrix;
        MatRef::from_row_major_slice(matrix.as_slice(), rows, k)
    };
    let mut information = Mat::zeros(k, k);
    matmul(
        information.as_mut(),
        Accum::Replace,
        view(features).transpose(),
        view(&laplacian),
        1.0,
        Par::Seq,
    );
    (slope, information)
}
