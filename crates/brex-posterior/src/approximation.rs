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

use crate::algebra::{self, DecompositionError};
use crate::likelihood::Pair;
use crate::subspace::Compared;
use brex_core::Matrix;

/// How the precision of the prior is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Precision {
    /// Known: the Gaussian prior.
    Fixed(f64),
    /// Such that the expected squared length is 1 in `k` dimensions.
    Sphere { k: usize },
}

/// The approximation, in the eigenbasis of the information.
#[derive(Debug, Clone)]
pub(crate) struct Approximation {
    /// Eigenvectors of the information as columns (`d x d`).
    pub(crate) rotation: Matrix,
    /// The information of the comparisons along each.
    pub(crate) information: Vec<f64>,
    /// The precision of the prior.
    pub(crate) kappa: f64,
    /// The centre, in the eigenbasis.
    pub(crate) centre: Vec<f64>,
}

/// Comparisons as a function of coordinates `y`: returns are `x y`.
struct Model<'a> {
    x: &'a Matrix,
    pairs: &'a [Pair],
    likelihood: crate::Likelihood,
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
            likelihood: crate::Likelihood::from_pairs(compared.pairs.clone(), beta),
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
                information: values,
                kappa,
                centre: after,
            });
            if moved < 0.01 + 0.002 * d as f64 {
                break;
            }
        }
        found.ok_or(DecompositionError)
    }

    /// The sum of variances over the coordinates, as a part of what the prior gives: 1 where the
    /// comparisons said nothing, near 0 where they said all.
    pub(crate) fn prior_share(&self) -> f64 {
        self.information
            .iter()
            .map(|information| self.kappa / (information + self.kappa))
            .sum()
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
