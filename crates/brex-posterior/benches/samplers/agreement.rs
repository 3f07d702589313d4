//! Do two samplers say the same? Means and quantiles of returns, in units of their joint
//! Monte-Carlo error.

use brex_core::{Diagnosis, Draws, Matrix, Workspace, diagnose};

/// The probability of the quantile that is compared.
const DELTA: f64 = 0.05;

/// How far two samplers are apart.
#[derive(Debug, Clone)]
pub(crate) struct Agreement {
    /// Differences of means over joint errors, one for each return.
    pub(crate) means: Vec<f64>,
    /// Differences of 5 % quantiles over joint errors.
    pub(crate) quantiles: Vec<f64>,
    /// The largest R-hat on either side.
    pub(crate) max_rhat: f64,
    /// The smallest bulk effective sample size on either side.
    pub(crate) min_ess: f64,
}

impl Agreement {
    /// Compares the returns of `rows` under two sets of draws.
    pub(crate) fn of(features: &Matrix, rows: &[usize], one: &Draws, other: &Draws) -> Self {
        let mut workspace = Workspace::default();
        let mut of = |draws: &Draws, row: usize| -> Diagnosis {
            let returns = draws.times(features.row(row));
            diagnose(&returns, draws.chains(), &[DELTA], &mut workspace)
        };
        let mut agreement = Self {
            means: Vec::new(),
            quantiles: Vec::new(),
            max_rhat: 0.0,
            min_ess: f64::INFINITY,
        };
        for &row in rows {
            let (a, b) = (of(one, row), of(other, row));
            let joint = a.mcse_mean.hypot(b.mcse_mean);
            agreement.means.push((a.mean - b.mean) / joint);
            let (c, d) = (a.quantiles[0], b.quantiles[0]);
            let joint = c.mcse.hypot(d.mcse);
            agreement.quantiles.push((c.value - d.value) / joint);
            agreement.max_rhat = agreement.max_rhat.max(a.rhat).max(b.rhat);
            agreement.min_ess = agreement.min_ess.min(a.ess_bulk).min(b.ess_bulk);
        }
        agreement
    }
}

/// The largest distance from zero.
pub(crate) fn largest(z: &[f64]) -> f64 {
    z.iter().fold(0.0, |most, z| z.abs().max(most))
}

/// The root mean square.
pub(crate) fn rms(z: &[f64]) -> f64 {
    (z.iter().map(|z| z * z).sum::<f64>() / z.len() as f64).sqrt()
}

/// At most `most` rows, evenly spaced.
pub(crate) fn spaced_rows(rows: usize, most: usize) -> Vec<usize> {
    (0..rows).step_by(rows.div_ceil(most).max(1)).collect()
}
