//! Bayesian REX's likelihood: Bradley and Terry's model of preferences between trajectories.

use super::metropolis::{Inference, InferenceOptions, LaneLikelihood, sample_lanes};
use crate::lanes::{Lanes, exp, ln};
use brex_core::{Matrix, Preferences, keep_lanes};

/// Samples the weights given preferences between trajectories with the given feature sums.
///
/// # Panics
/// If the preferences speak of more trajectories than there are rows.
pub fn sample_preferences(
    features: &Matrix,
    preferences: &Preferences,
    options: &InferenceOptions,
) -> Inference {
    let comparisons = preferences.items().iter().map(|item| {
        let (a, b) = (features.row(item.a), features.row(item.b));
        let difference = a.iter().zip(b).map(|(a, b)| options.beta * (b - a));
        Comparison {
            difference: difference.collect(),
            for_b: item.weight * item.label,
            for_a: item.weight * (1.0 - item.label),
        }
    });
    let mut target = PreferenceLikelihood {
        dim: features.cols(),
        comparisons: comparisons.collect(),
    };
    sample_lanes(&mut target, "bayesian rex", options)
}

struct Comparison {
    /// Of b and a, times beta.
    difference: Vec<f64>,
    for_b: f64,
    for_a: f64,
}

struct PreferenceLikelihood {
    dim: usize,
    comparisons: Vec<Comparison>,
}

impl LaneLikelihood for PreferenceLikelihood {
    fn dim(&self) -> usize {
        self.dim
    }

    #[inline(always)]
    fn log_likelihood(&mut self, weights: &[Lanes]) -> Lanes {
        let mut sum = Lanes::ZERO;
        for comparison in &self.comparisons {
            let mut gap = Lanes::ZERO;
            for (w, d) in weights.iter().zip(&comparison.difference) {
                gap = gap + w.map(|w| w * d);
            }
            // log sigma(g) = min(g, 0) - log(1 + e^-|g|), and g less for the other answer.
            let soft = ln(exp(gap.map(|g| -g.abs())).map(|e| 1.0 + e));
            let (for_b, for_a) = (comparison.for_b, comparison.for_a);
            let linear = gap.map(|g| if g < 0.0 { for_b * g } else { -for_a * g });
            sum = sum + linear - soft.map(|soft| (for_a + for_b) * soft);
            keep_lanes();
        }
        sum
    }

    #[inline(always)]
    fn accepted(&mut self, _: Lanes) {}
}
