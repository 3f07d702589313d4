//! The Bradley-Terry likelihood on cached returns (equation 4 of the paper).
//!
//! `log P = sum over comparisons of weight * (label * log sigma(g) + (1 - label) * log sigma(-g))`
//! with `g = beta * (R_b - R_a)`. Comparisons of the same two trajectories are merged, because only
//! the total weight on either side matters.

use brex_core::Preferences;

/// All comparisons of trajectories `i < j`, merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pair {
    pub(crate) i: usize,
    pub(crate) j: usize,
    /// The weight of the answers that say `j` is better.
    pub(crate) for_j: f64,
    /// The weight of the answers that say `i` is better.
    pub(crate) for_i: f64,
}

impl Pair {
    pub(crate) fn total(&self) -> f64 {
        self.for_i + self.for_j
    }
}

/// The likelihood as a function of the returns of all trajectories.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    pairs: Vec<Pair>,
    beta: f64,
}

/// `log(1 + e^-|g|)`: the part of `-log sigma` that does not grow.
#[inline]
fn log1p_exp_neg_abs(g: f64) -> f64 {
    (-g.abs()).exp().ln_1p()
}

/// `log sigma(g)` and `log sigma(-g)` without overflow; they share what is slow about them.
pub(crate) fn log_sigmoids(g: f64) -> (f64, f64) {
    let shared = log1p_exp_neg_abs(g);
    (g.min(0.0) - shared, (-g).min(0.0) - shared)
}

/// `sigma(g)` without overflow.
pub(crate) fn sigmoid(g: f64) -> f64 {
    let e = (-g.abs()).exp();
    if g >= 0.0 {
        1.0 / (1.0 + e)
    } else {
        e / (1.0 + e)
    }
}

impl Likelihood {
    /// Merges the comparisons. Those of weight 0 are left out.
    pub(crate) fn new(preferences: &Preferences, beta: f64) -> Self {
        let mut pairs: Vec<Pair> = preferences
            .items()
            .iter()
            .filter(|item| item.weight > 0.0)
            .map(|item| {
                let (for_b, for_a) = (item.weight * item.label, item.weight * (1.0 - item.label));
                if item.a < item.b {
                    Pair {
                        i: item.a,
                        j: item.b,
                        for_j: for_b,
                        for_i: for_a,
                    }
                } else {
                    Pair {
                        i: item.b,
                        j: item.a,
                        for_j: for_a,
                        for_i: for_b,
                    }
                }
            })
            .collect();
        // A stable sort keeps the order in which equal pairs are added, and so the rounding.
        pairs.sort_by_key(|pair| (pair.i, pair.j));
        pairs.dedup_by(|next, kept| {
            let same = (next.i, next.j) == (kept.i, kept.j);
            if same {
                kept.for_i += next.for_i;
                kept.for_j += next.for_j;
            }
            same
        });
        Self { pairs, beta }
    }

    /// The likelihood of comparisons that are merged already.
    pub(crate) fn from_pairs(pairs: Vec<Pair>, beta: f64) -> Self {
        Self { pairs, beta }
    }

    /// The merged comparisons, sorted.
    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The inverse temperature.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The log likelihood of returns.
    pub fn log_likelihood(&self, returns: &[f64]) -> f64 {
        let mut sum = 0.0;
        for pair in &self.pairs {
            let g = self.beta * (returns[pair.j] - returns[pair.i]);
            let lost = if g >= 0.0 { pair.for_i } else { pair.for_j };
            sum -= pair.total() * log1p_exp_neg_abs(g) + lost * g.abs();
        }
        sum
    }

    /// Adds the derivative of the log likelihood by each return to `gradient`.
    pub fn add_gradient(&self, returns: &[f64], gradient: &mut [f64]) {
        for pair in &self.pairs {
            let g = self.beta * (returns[pair.j] - returns[pair.i]);
            let force = self.beta * (pair.for_j - pair.total() * sigmoid(g));
            gradient[pair.j] += force;
            gradient[pair.i] -= force;
        }
    }

    /// The negative second derivative of each pair's term by the difference of its returns.
    pub(crate) fn curvatures(&self, returns: &[f64]) -> Vec<f64> {
        self.pairs
            .iter()
            .map(|pair| {
                let p = sigmoid(self.beta * (returns[pair.j] - returns[pair.i]));
                self.beta * self.beta * pair.total() * p * (1.0 - p)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::Preference;
    use proptest::prelude::*;

    fn plain(preferences: &Preferences, beta: f64, returns: &[f64]) -> f64 {
        preferences
            .items()
            .iter()
            .map(|p| {
                let (a, b) = ((beta * returns[p.a]).exp(), (beta * returns[p.b]).exp());
                p.weight * (p.label * (b / (a + b)).ln() + (1.0 - p.label) * (a / (a + b)).ln())
            })
            .sum()
    }

    fn comparisons() -> impl Strategy<Value = Preferences> {
        let one = (0_usize..5, 1_usize..5, 0.0..=1.0_f64, 0.0..3.0_f64);
        prop::collection::vec(one, 0..12).prop_map(|items| {
            let items = items
                .into_iter()
                .map(|(a, step, label, weight)| Preference {
                    a,
                    b: (a + step) % 5,
                    label,
                    weight,
                });
            Preferences::new(5, items.collect()).unwrap()
        })
    }

    proptest! {
        #[test]
        fn merging_keeps_the_paper_s_formula(
            preferences in comparisons(),
            returns in prop::collection::vec(-3.0..3.0_f64, 5),
            beta in 0.1..3.0_f64,
        ) {
            let merged = Likelihood::new(&preferences, beta);
            let expected = plain(&preferences, beta, &returns);
            prop_assert!((merged.log_likelihood(&returns) - expected).abs() < 1e-9);
        }

        #[test]
        fn gradient_and_curvature_match_finite_differences(
            preferences in comparisons(),
            returns in prop::collection::vec(-3.0..3.0_f64, 5),
        ) {
            let likelihood = Likelihood::new(&preferences, 1.3);
            let gradient_at = |returns: &[f64]| {
                let mut gradient = vec![0.0; 5];
                likelihood.add_gradient(returns, &mut gradient);
                gradient
            };
            let gradient = gradient_at(&returns);
            let curvatures = likelihood.curvatures(&returns);
            for i in 0..5 {
                let shifted = |by: f64| {
                    let mut copy = returns.clone();
                    copy[i] += by;
                    copy
                };
                let slope = (likelihood.log_likelihood(&shifted(1e-5))
                    - likelihood.log_likelihood(&shifted(-1e-5))) / 2e-5;
                prop_assert!((gradient[i] - slope).abs() < 1e-6);
                let bend = (gradient_at(&shifted(1e-5))[i] - gradient_at(&shifted(-1e-5))[i]) / 2e-5;
                let expected: f64 = likelihood.pairs().iter().zip(&curvatures)
                    .filter(|(pair, _)| pair.i == i || pair.j == i)
                    .map(|(_, c)| -c)
                    .sum();
                prop_assert!((bend - expected).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn huge_returns_do_not_overflow() {
        let likelihood = Likelihood::new(&Preferences::full_ranking(2), 1.0);
        assert_eq!(likelihood.log_likelihood(&[0.0, 1e6]), 0.0);
        assert_eq!(likelihood.log_likelihood(&[1e6, 0.0]), -1e6);
        assert_eq!(log_sigmoids(-1e4), (-1e4, 0.0));
        assert_eq!(log_sigmoids(1e4), (0.0, -1e4));
        let (better, worse) = log_sigmoids(1.5);
        assert!((better.exp() + worse.exp() - 1.0).abs() < 1e-15 && better > worse);
    }
}
