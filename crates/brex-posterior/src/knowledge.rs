//! How much of the posterior is data and how much is still prior.

use crate::algebra::{self, DecompositionError};
use crate::approximation::{Approximation, Precision};
use crate::subspace::{Compared, Subspace};
use crate::{Prior, Problem};

/// What the comparisons can say about the weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knowledge {
    /// The number of weights.
    pub features: usize,
    /// The number of directions of weight space in which compared trajectories differ at all. In
    /// all others the posterior is the prior.
    pub rank: usize,
    /// The number of directions that the comparisons settle, counting a direction whose variance
    /// fell to a third of the prior's as two thirds. Approximate: from the curvature of the
    /// likelihood.
    pub learned: f64,
}

impl Knowledge {
    /// The share of all directions in which the posterior is still the prior.
    pub fn prior_share(&self) -> f64 {
        1.0 - self.learned / self.features as f64
    }
}

/// Measures what the comparisons say, without sampling.
pub fn knowledge(problem: &Problem<'_>) -> Result<Knowledge, DecompositionError> {
    let compared = Compared::new(problem);
    let subspace = Subspace::new(&compared, None)?;
    let features = problem.dim();
    let precision = match problem.prior() {
        Prior::Gaussian { scale } => Precision::Fixed(scale.powi(-2)),
        Prior::Sphere | Prior::NonNegative { .. } => Precision::Sphere { k: features },
    };
    let seen = algebra::product(&compared.features, &subspace.basis);
    let fit = Approximation::fit(&compared, &seen, problem.beta(), precision)?;
    Ok(Knowledge {
        features,
        rank: subspace.rank,
        learned: subspace.rank as f64 - fit.prior_share(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::{Matrix, Preferences};

    #[test]
    fn more_contrast_teaches_more() {
        let at = |scale: f64| {
            let features = Matrix::from_fn(5, 8, |i, j| {
                scale * ((i * 7 + 3 * j + i * j * j) % 11) as f64
            });
            let preferences = Preferences::full_ranking(5);
            knowledge(&Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap()).unwrap()
        };
        let (weak, strong) = (at(1e-3), at(3.0));
        assert_eq!((weak.rank, strong.rank), (4, 4));
        assert!(weak.learned < 0.01 && strong.learned > 0.5);
        assert!(strong.learned <= 4.0 && strong.prior_share() >= 0.5);
    }
}
