//! A Gaussian approximation of the posterior, to choose coordinates by.
//!
//! Under the Gaussian prior this is Laplace's: the mode and the curvature there. On the unit sphere
//! a mode says little in many dimensions, because the typical weights are not near it. There the
//! sphere is replaced by the normal law with precision `kappa` whose *expected* squared length is 1,
//!
//! `|y|^2 + trace((H + kappa)^-1) + (k - d) / kappa = 1`,
//!
//! where `y` maximises `log likelihood(y) - kappa |y|^2 / 2`, `H` is the information of the
//! comparisons there, and the `k - d` directions that no comparison sees have variance
//! `1 / kappa`. Without any data this gives `kappa = k`, which is exact.

use crate::Likelihood;
use crate::algebra::{self, DecompositionError};
use crate::likelihood::Pair;
use crate::subspace::Compared;
use brex_core::Matrix;
use statrs::function::erf::erfc;

/// How the precision of the prior is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Precision {
    /// Known: the Gaussian prior.
    Fixed(f64),
    /// Such that the expected squared length is 1 in `k` dimensions.
    Sphere { k: usize },
}

/// The approximation, in the eigenbasis of its covariance.
#[derive(Debug, Clone)]
pub(crate) struct Approximation {
    /// Eigenvectors as columns (`d x d`).
    pub(crate) rotation: Matrix,
    /// The variance along each.
    pub(crate) variance: Vec<f64>,
    /// The precision of the prior.
    pub(crate) kappa: f64,
    /// The centre, in the eigenbasis.
    pub(crate) centre: Vec<f64>,
}

/// Comparisons as a function of coordinates `y`: returns are `x y`.
struct Model<'a> {
    x: &'a Matrix,
    pairs: &'a [Pair],
    likelihood: Likelihood,
}

impl Model<'_> {
    fn value(&self, returns: &[f64]) -> f64 {
        self.likelihood.log_likelihood(returns)
    }

    fn gradient(&self, returns: &[f64]) -> Vec<f64> {
        let mut by_return = vec![0.0; self.x.rows()];
        self.likelihood.add_gradient(returns, &mut by_return);
        algebra::transposed_times(self.x, &by_return)
    }
}

impl Approximation {
    /// Fits the approximation for returns `x y`, where `x` are the compared feature sums in
    /// coordinates of `d` dimensions.
    pub(crate) fn fit(
        compared: &Compared,
        x: &Matrix,
        beta: f64,
        precision: Precision,
    ) -> Result<Self, DecompositionError> {
        let d = x.cols();
        let model = Model {
            x,
            pairs: &compared.pairs,
            likelihood: Likelihood::from_pairs(compared.pairs.clone(), beta),
        };
        let mut y = vec![0.0; d];
        let mut kappa = match precision {
            Precision::Fixed(value) => value,
            Precision::Sphere { k } => k as f64,
        };
        let mut found = None;
        for _ in 0..8 {
            let returns = algebra::times(x, &y);
            let curvatures = model.likelihood.curvatures(&returns);
            let information = algebra::pair_information(x, model.pairs, &curvatures);
            let (values, rotation) = algebra::symmetric_eigen(&information)?;
            let values: Vec<f64> = values.iter().map(|value| value.max(0.0)).collect();
            let before = algebra::transposed_times(&rotation, &y);
            kappa = improve(&model, &rotation, &values, precision, kappa, &mut y);
            let after = algebra::transposed_times(&rotation, &y);
            let moved: f64 = (0..d)
                .map(|i| (values[i] + kappa) * (after[i] - before[i]).powi(2))
                .sum();
            found = Some(Self {
                rotation,
                variance: values.iter().map(|value| 1.0 / (value + kappa)).collect(),
                kappa,
                centre: after,
            });
            if moved < 0.01 + 0.002 * d as f64 {
                break;
            }
        }
        found.ok_or(DecompositionError)
    }

    /// Fits the approximation under the condition `wall . y >= 0`, for a unit vector `wall`.
    ///
    /// Where the wall cuts off the centre, the comparisons are expanded at the best point on the
    /// wall instead, and the normal law that this gives is truncated there.
    pub(crate) fn fit_inside(
        compared: &Compared,
        x: &Matrix,
        beta: f64,
        precision: Precision,
        wall: &[f64],
    ) -> Result<Self, DecompositionError> {
        let free = Self::fit(compared, x, beta, precision)?;
        let turned = algebra::transposed_times(&free.rotation, wall);
        let depth: f64 = turned.iter().zip(&free.centre).map(|(n, y)| n * y).sum();
        let spread: f64 = turned
            .iter()
            .zip(&free.variance)
            .map(|(n, v)| n * n * v)
            .sum();
        if depth > 2.0 * spread.sqrt() || x.cols() < 2 {
            return Ok(free);
        }
        let plane = complement(wall);
        let edge = Self::fit(compared, &algebra::product(x, &plane), beta, precision)?;
        let y = algebra::times(&plane, &algebra::times(&edge.rotation, &edge.centre));
        // The quadratic model at the edge: mean y + covariance * slope.
        let likelihood = Likelihood::from_pairs(compared.pairs.clone(), beta);
        let returns = algebra::times(x, &y);
        let curvatures = likelihood.curvatures(&returns);
        let information = algebra::pair_information(x, &compared.pairs, &curvatures);
        let (values, rotation) = algebra::symmetric_eigen(&information)?;
        let mut by_return = vec![0.0; x.rows()];
        likelihood.add_gradient(&returns, &mut by_return);
        let gradient = algebra::transposed_times(x, &by_return);
        let kappa = edge.kappa;
        let slope: Vec<f64> = gradient
            .iter()
            .zip(&y)
            .map(|(g, y)| g - kappa * y)
            .collect();
        let slope = algebra::transposed_times(&rotation, &slope);
        let centre = algebra::transposed_times(&rotation, &y);
        let normal = algebra::transposed_times(&rotation, wall);
        let variance: Vec<f64> = values.iter().map(|v| 1.0 / (v.max(0.0) + kappa)).collect();
        let d = x.cols();
        let mean: Vec<f64> = (0..d).map(|i| centre[i] + variance[i] * slope[i]).collect();
        let across: Vec<f64> = (0..d).map(|i| variance[i] * normal[i]).collect();
        let spread: f64 = (0..d).map(|i| normal[i] * across[i]).sum();
        let depth: f64 = (0..d).map(|i| normal[i] * mean[i]).sum();
        let (inner_mean, inner_variance) = truncated_normal(depth, spread.sqrt());
        let centre: Vec<f64> = (0..d)
            .map(|i| mean[i] + across[i] * (inner_mean - depth) / spread)
            .collect();
        let removed = (1.0 - inner_variance / spread) / spread;
        let covariance = Matrix::from_fn(d, d, |i, j| {
            let own = if i == j { variance[i] } else { 0.0 };
            own - removed * across[i] * across[j]
        });
        let (variance, turn) = algebra::symmetric_eigen(&covariance)?;
        let largest = variance.last().copied().unwrap_or(1.0);
        Ok(Self {
            rotation: algebra::product(&rotation, &turn),
            variance: variance.iter().map(|v| v.max(1e-14 * largest)).collect(),
            kappa,
            centre: algebra::transposed_times(&turn, &centre),
        })
    }

    /// The sum of variances over the coordinates, as a part of what the prior gives: 1 where the
    /// comparisons said nothing, near 0 where they said all.
    pub(crate) fn prior_share(&self) -> f64 {
        self.variance.iter().map(|v| self.kappa * v).sum()
    }
}

/// Moves `y` towards the maximum with steps that use the curvature in `rotation` and `values`,
/// which is not computed again; gives the precision of the prior that goes with it.
fn improve(
    model: &Model<'_>,
    rotation: &Matrix,
    values: &[f64],
    precision: Precision,
    mut kappa: f64,
    y: &mut Vec<f64>,
) -> f64 {
    let d = values.len();
    let mut returns = algebra::times(model.x, y);
    for _ in 0..25 {
        let turned = algebra::transposed_times(rotation, y);
        let slope = algebra::transposed_times(rotation, &model.gradient(&returns));
        // The quadratic model's maximiser is (values + kappa)^-1 pull.
        let pull: Vec<f64> = (0..d).map(|i| slope[i] + values[i] * turned[i]).collect();
        if let Precision::Sphere { k } = precision {
            kappa = unit_length_precision(values, &pull, k - d);
        }
        let merit = |returns: &[f64], y: &[f64]| {
            model.value(returns) - 0.5 * kappa * y.iter().map(|v| v * v).sum::<f64>()
        };
        let now = merit(&returns, y);
        let target: Vec<f64> = (0..d).map(|i| pull[i] / (values[i] + kappa)).collect();
        let target = algebra::times(rotation, &target);
        let mut fraction = 1.0;
        let mut size = 0.0;
        for _ in 0..12 {
            let next: Vec<f64> = y
                .iter()
                .zip(&target)
                .map(|(y, t)| y + fraction * (t - y))
                .collect();
            let next_returns = algebra::times(model.x, &next);
            if merit(&next_returns, &next) >= now - 1e-9 * now.abs() {
                let turned_next = algebra::transposed_times(rotation, &next);
                size = (0..d)
                    .map(|i| (values[i] + kappa) * (turned_next[i] - turned[i]).powi(2))
                    .sum();
                *y = next;
                returns = next_returns;
                break;
            }
            fraction *= 0.5;
        }
        if size < 1e-3 {
            break;
        }
    }
    kappa
}

/// Mean and variance of a normal number, given that it is not negative.
fn truncated_normal(mean: f64, sd: f64) -> (f64, f64) {
    let cut = -mean / sd;
    // The inverse Mills ratio; by its continued fraction far in the tail, where both parts vanish.
    let ratio = if cut > 6.0 {
        (1..=30)
            .rev()
            .fold(cut, |tail, i| cut + f64::from(i) / tail)
    } else {
        let density = (-0.5 * cut * cut).exp() / std::f64::consts::TAU.sqrt();
        density / (0.5 * erfc(cut / std::f64::consts::SQRT_2))
    };
    let share = 1.0 + ratio * (cut - ratio);
    (mean + sd * ratio, sd * sd * share.max(1e-9))
}

/// Orthonormal columns that span everything orthogonal to `normal` (Householder's reflection).
pub(crate) fn complement(normal: &[f64]) -> Matrix {
    let dim = normal.len();
    let length = normal.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut mirror: Vec<f64> = normal.iter().map(|v| v / length).collect();
    mirror[0] += if mirror[0] >= 0.0 { 1.0 } else { -1.0 };
    let square: f64 = mirror.iter().map(|v| v * v).sum();
    Matrix::from_fn(dim, dim - 1, |i, j| {
        f64::from(u8::from(i == j + 1)) - 2.0 * mirror[i] * mirror[j + 1] / square
    })
}

/// Solves for the precision at which the expected squared length is 1.
fn unit_length_precision(values: &[f64], pull: &[f64], hidden: usize) -> f64 {
    let excess = |kappa: f64| {
        let seen: f64 = values
            .iter()
            .zip(pull)
            .map(|(value, pull)| (pull / (value + kappa)).powi(2) + 1.0 / (value + kappa))
            .sum();
        seen + hidden as f64 / kappa - 1.0
    };
    let (mut low, mut high) = (1e-9_f64, 1.0_f64);
    while excess(high) > 0.0 && high < 1e30 {
        high *= 4.0;
    }
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prior, Problem};
    use brex_core::Preferences;

    #[test]
    fn without_data_the_precision_is_the_dimension() {
        let kappa = unit_length_precision(&[0.0; 3], &[0.0; 3], 7);
        assert!((kappa - 10.0).abs() < 1e-6);
    }

    #[test]
    fn truncated_moments_match_integration() {
        for (mean, sd) in [
            (0.0, 1.0),
            (2.0, 1.0),
            (-1.0, 0.5),
            (-5.0, 1.0),
            (-13.0, 2.0),
            (-40.0, 1.0),
        ] {
            let (found_mean, found_variance) = truncated_normal(mean, sd);
            let step = sd / 20_000.0 / f64::max(1.0, -mean / sd);
            let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
            for i in 0..400_000 {
                let x = (f64::from(i) + 0.5) * step;
                let weight = (-(x - mean).powi(2) / (2.0 * sd * sd)
                    + mean.min(0.0).powi(2) / (2.0 * sd * sd))
                    .exp();
                mass += weight;
                first += weight * x;
                second += weight * x * x;
            }
            let expected = first / mass;
            let variance = second / mass - expected * expected;
            assert!(
                (found_mean / expected - 1.0).abs() < 1e-4,
                "mean {mean} {sd}"
            );
            assert!(
                (found_variance / variance - 1.0).abs() < 1e-3,
                "variance {mean} {sd}"
            );
        }
    }

    #[test]
    fn the_centre_is_stationary_under_the_gaussian_prior() {
        let features = Matrix::from_fn(6, 3, |i, j| ((i * 5 + j * 3) % 7) as f64 / 2.0);
        let preferences = Preferences::full_ranking(6);
        let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap();
        let compared = Compared::new(&problem);
        let fit =
            Approximation::fit(&compared, &compared.features, 1.0, Precision::Fixed(2.0)).unwrap();
        let y = algebra::times(&fit.rotation, &fit.centre);
        let returns = algebra::times(&compared.features, &y);
        let mut by_return = vec![0.0; 6];
        problem.likelihood().add_gradient(&returns, &mut by_return);
        let gradient = algebra::transposed_times(&compared.features, &by_return);
        for (slope, y) in gradient.iter().zip(&y) {
            assert!((slope - 2.0 * y).abs() < 0.1, "{slope} against {}", 2.0 * y);
        }
    }
}
