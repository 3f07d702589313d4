//! A sampling problem: feature sums, comparisons, prior and inverse temperature, checked once.

use crate::{Likelihood, Prior};
use brex_core::{Matrix, Preferences};

/// Why a problem cannot be sampled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// The comparisons are about another number of trajectories than there are rows.
    #[error("the preferences are about {preferences} trajectories, the features have {rows} rows")]
    Trajectories {
        /// Rows of the feature matrix.
        rows: usize,
        /// Trajectories that the comparisons know.
        preferences: usize,
    },
    /// No feature columns.
    #[error("the features have no columns")]
    NoFeatures,
    /// `beta` is not a positive finite number.
    #[error("beta is {0}; expected a positive number")]
    Beta(f64),
    /// The scale of the Gaussian prior is not a positive finite number.
    #[error("the scale of the gaussian prior is {0}; expected a positive number")]
    Scale(f64),
    /// The half-space prior names a row that does not exist.
    #[error("the lowest-ranked trajectory is row {lowest}, the features have {rows} rows")]
    Lowest {
        /// The row named.
        lowest: usize,
        /// Rows of the feature matrix.
        rows: usize,
    },
}

/// Feature sums and comparisons under a prior: everything that defines the posterior.
#[derive(Debug, Clone)]
pub struct Problem<'a> {
    features: &'a Matrix,
    preferences: &'a Preferences,
    prior: Prior,
    likelihood: Likelihood,
}

impl<'a> Problem<'a> {
    /// Checks that the parts fit together.
    pub fn new(
        features: &'a Matrix,
        preferences: &'a Preferences,
        prior: Prior,
        beta: f64,
    ) -> Result<Self, ProblemError> {
        let rows = features.rows();
        if preferences.trajectories() != rows {
            return Err(ProblemError::Trajectories {
                rows,
                preferences: preferences.trajectories(),
            });
        }
        if features.cols() == 0 {
            return Err(ProblemError::NoFeatures);
        }
        if !(beta.is_finite() && beta > 0.0) {
            return Err(ProblemError::Beta(beta));
        }
        match prior {
            Prior::Gaussian { scale } if !(scale.is_finite() && scale > 0.0) => {
                return Err(ProblemError::Scale(scale));
            }
            Prior::NonNegative { lowest } if lowest >= rows => {
                return Err(ProblemError::Lowest { lowest, rows });
            }
            _ => {}
        }
        Ok(Self {
            features,
            preferences,
            prior,
            likelihood: Likelihood::new(preferences, beta),
        })
    }

    /// Feature sums, one row per trajectory.
    pub fn features(&self) -> &'a Matrix {
        self.features
    }

    /// The comparisons.
    pub fn preferences(&self) -> &'a Preferences {
        self.preferences
    }

    /// The prior.
    pub fn prior(&self) -> Prior {
        self.prior
    }

    /// The inverse temperature of the comparisons.
    pub fn beta(&self) -> f64 {
        self.likelihood.beta()
    }

    /// The likelihood as a function of returns.
    pub fn likelihood(&self) -> &Likelihood {
        &self.likelihood
    }

    /// The number of weights, `k`.
    pub fn dim(&self) -> usize {
        self.features.cols()
    }

    /// The feature sums whose return may not be negative, under the half-space prior. A row of
    /// zeros constrains nothing.
    pub(crate) fn half_space(&self) -> Option<&'a [f64]> {
        match self.prior {
            Prior::NonNegative { lowest } => {
                let row = self.features.row(lowest);
                row.iter().any(|value| *value != 0.0).then_some(row)
            }
            Prior::Sphere | Prior::Gaussian { .. } => None,
        }
    }

    /// The log likelihood of weights.
    pub fn log_likelihood(&self, weights: &[f64]) -> f64 {
        self.likelihood
            .log_likelihood(&self.features.times(weights))
    }

    /// The log density of the prior, up to a constant; minus infinity where the prior forbids the
    /// weights. Weights on a sphere are taken to have length 1.
    pub fn log_prior(&self, weights: &[f64]) -> f64 {
        match self.prior {
            Prior::Sphere => 0.0,
            Prior::NonNegative { lowest } => {
                let row = self.features.row(lowest);
                let worst: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
                if worst >= 0.0 { 0.0 } else { f64::NEG_INFINITY }
            }
            Prior::Gaussian { scale } => {
                let square: f64 = weights.iter().map(|w| w * w).sum();
                -0.5 * square / (scale * scale)
            }
        }
    }

    /// The log likelihood of each comparison on its own, in the order given.
    pub fn log_likelihood_each(&self, weights: &[f64], out: &mut [f64]) {
        let returns = self.features.times(weights);
        for (item, out) in self.preferences.items().iter().zip(out) {
            let g = self.beta() * (returns[item.b] - returns[item.a]);
            let (for_b, for_a) = crate::likelihood::log_sigmoids(g);
            // Written so that a label of 0 or 1 never multiplies an infinity.
            *out = item.weight * (item.label * for_b + (1.0 - item.label) * for_a);
        }
    }
}

/// Undoes the rounding that leaves weights on the boundary of the half-space just outside it.
pub(crate) fn step_inside(weights: &mut [f64], row: &[f64], on_sphere: bool) {
    let square: f64 = row.iter().map(|x| x * x).sum();
    let size = square.sqrt();
    let mut nudge = f64::EPSILON;
    loop {
        let worst: f64 = row.iter().zip(weights.iter()).map(|(x, w)| x * w).sum();
        if worst >= 0.0 || nudge > 1e-6 {
            return;
        }
        for (weight, x) in weights.iter_mut().zip(row) {
            *weight += (nudge * size - worst) * x / square;
        }
        if on_sphere {
            let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
            weights.iter_mut().for_each(|w| *w /= length);
        }
        nudge *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_checked() {
        let features = Matrix::zeros(3, 2);
        let preferences = Preferences::full_ranking(3);
        let check = |prior, beta| Problem::new(&features, &preferences, prior, beta).err();
        assert_eq!(check(Prior::Sphere, 1.0), None);
        assert_eq!(check(Prior::Sphere, 0.0), Some(ProblemError::Beta(0.0)));
        let narrow = Prior::Gaussian { scale: -1.0 };
        assert_eq!(check(narrow, 1.0), Some(ProblemError::Scale(-1.0)));
        let outside = Prior::NonNegative { lowest: 3 };
        let error = ProblemError::Lowest { lowest: 3, rows: 3 };
        assert_eq!(check(outside, 1.0), Some(error));
        let other = Preferences::full_ranking(4);
        assert!(Problem::new(&features, &other, Prior::Sphere, 1.0).is_err());
    }

    #[test]
    fn the_parts_add_up_to_the_whole() {
        let features = Matrix::from_fn(4, 3, |i, j| (i * i + j) as f64 / 3.0);
        let preferences = Preferences::full_ranking(4);
        let problem = Problem::new(&features, &preferences, Prior::Sphere, 0.7).unwrap();
        let weights = [0.6, 0.0, -0.8];
        let mut each = vec![0.0; 6];
        problem.log_likelihood_each(&weights, &mut each);
        let sum: f64 = each.iter().sum();
        assert!((sum - problem.log_likelihood(&weights)).abs() < 1e-12);
    }
}
