//! Quantiles, effective sample sizes, R-hat and Monte-Carlo errors of one scalar quantity.
//!
//! After Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and
//! localization: an improved R-hat for assessing convergence of MCMC". Agrees with ArviZ 1.x, which
//! the golden tests check; two differences are deliberate:
//! - a **constant** sequence has no effective sample size (NaN; ArviZ says: all of it), because a
//!   chain that never moved looks the same;
//! - **one chain** has an R-hat, that of its two halves (ArviZ says NaN).
//!
//! NaN means *unknown* everywhere: fewer than four draws in each chain, a value that is NaN or
//! infinite, a constant sequence. NaN fails every comparison, so a test of the form
//! `rhat < 1.01 && ess >= 400.0` never takes the unknown for converged.
//!
//! A quantity comes as one slice, chain after chain, all chains equally long.

mod autocovariance;
mod correlation;
mod diagnose;
mod ess;
mod mcse;
mod quantile;
mod rank;

pub use correlation::{r_squared, rank_correlation};
pub use diagnose::{Diagnosis, QuantileDiagnosis, Workspace, diagnose, ess_mean, mcse_mean};
pub use quantile::{cvar, cvar_of_sorted, value_at_risk, value_at_risk_of_sorted};

use std::ops::Range;

/// How many draws each chain needs before anything can be said.
const MIN_DRAWS: usize = 4;

/// Where the half-chains of a quantity lie. With an odd number of draws, the middle one of each
/// chain belongs to no half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Halves {
    chains: usize,
    draws: usize,
}

impl Halves {
    /// # Panics
    /// If `len` values cannot be `chains` equally long chains.
    fn new(len: usize, chains: usize) -> Self {
        assert!(
            chains > 0 && len.is_multiple_of(chains),
            "{len} values are not {chains} equally long chains"
        );
        let draws = len / chains;
        Self { chains, draws }
    }

    /// Draws in each half-chain.
    fn half(self) -> usize {
        self.draws / 2
    }

    /// Draws in all half-chains together.
    fn kept(self) -> usize {
        2 * self.chains * self.half()
    }

    /// The half-chains, as ranges of the quantity's slice.
    fn ranges(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.chains).flat_map(move |chain| {
            let (start, end) = (chain * self.draws, (chain + 1) * self.draws);
            [start..start + self.half(), end - self.half()..end]
        })
    }

    /// Whether the value at `index` is in a half-chain.
    fn keeps(self, index: usize) -> bool {
        self.draws.is_multiple_of(2) || index % self.draws != self.half()
    }
}

/// Mean and unbiased variance, in two passes.
fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, squares / (count - 1.0))
}
