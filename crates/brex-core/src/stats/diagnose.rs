//! All diagnostics of one quantity at once, from one sort.

use super::{
    Halves, MIN_DRAWS,
    autocovariance::Autocovariance,
    ess::effective_sample_size,
    mcse::quantile_error,
    mean_and_variance,
    quantile::{interpolated, value_at_risk_of_sorted},
    rank::{Ranking, rhat},
};

/// The quantiles whose effective sample sizes make the tail ESS.
const TAILS: [f64; 2] = [0.05, 0.95];

/// Buffers that [`diagnose`] reuses from quantity to quantity. One for each thread.
#[derive(Default)]
pub struct Workspace {
    ranking: Ranking,
    autocovariance: Autocovariance,
    series: Vec<f64>,
}

/// What the draws of one quantity say, and how far to trust it.
///
/// NaN is *unknown*: fewer than four draws in each chain, a draw that is NaN or infinite, or
/// draws that are all the same (a chain that never moved looks just so). NaN fails every
/// comparison, so `rhat < 1.01 && ess >= 400.0` never takes the unknown for converged.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// The mean of all draws.
    pub mean: f64,
    /// The standard deviation of all draws (divided by N - 1).
    pub sd: f64,
    /// Rank-normalised split R-hat: the larger of that of the values and that of their distances
    /// from the median. Below 1.01 when the chains agree.
    pub rhat: f64,
    /// Effective sample size of the bulk: of the normal scores of the ranks.
    pub ess_bulk: f64,
    /// Effective sample size of the tails: the smaller of those of the 5 % and 95 % quantiles.
    pub ess_tail: f64,
    /// Effective sample size of the mean.
    pub ess_mean: f64,
    /// Effective sample size of the standard deviation.
    pub ess_sd: f64,
    /// Monte-Carlo error of the mean.
    pub mcse_mean: f64,
    /// Monte-Carlo error of the standard deviation.
    pub mcse_sd: f64,
    /// The quantiles asked for, in the order asked for.
    pub quantiles: Vec<QuantileDiagnosis>,
}

/// A quantile and its Monte-Carlo error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileDiagnosis {
    /// The probability below it.
    pub probability: f64,
    /// The quantile as [`value_at_risk`](crate::value_at_risk) defines it.
    pub value: f64,
    /// Its effective sample size.
    pub ess: f64,
    /// Its Monte-Carlo error.
    pub mcse: f64,
}

/// Diagnoses the `values` of one quantity: `chains` equally long chains, one after the other.
///
/// After Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021). Agrees with ArviZ, except that a
/// single chain has an R-hat, that of its two halves, and that a constant sequence has no
/// effective sample size.
///
/// # Panics
/// If the values cannot be that many equally long chains.
pub fn diagnose(
    values: &[f64],
    chains: usize,
    probabilities: &[f64],
    workspace: &mut Workspace,
) -> Diagnosis {
    let halves = Halves::new(values.len(), chains);
    let (mean, variance) = mean_and_variance(values);
    if !is_known(values, halves) {
        return Diagnosis::unknown(mean, variance.sqrt(), values, probabilities);
    }
    let Workspace {
        ranking,
        autocovariance,
        series,
    } = workspace;
    let mut ess = |series: &[f64]| effective_sample_size(series, halves, autocovariance);

    ranking.load(values, halves);
    series.clear();
    series.resize(values.len(), 0.0);
    ranking.write_folded_scores(series);
    let folded_rhat = rhat(series, halves);
    ranking.write_scores(series);
    let bulk_rhat = rhat(series, halves);
    let ess_bulk = ess(series);
    let ess_mean = ess(values);

    fill(series, values, |v| (v - mean) * (v - mean));
    let ess_sd = ess(series);
    let mcse_sd = error_of_sd(series, ess_sd);

    let mut ess_of_quantile = |probability: f64| {
        let quantile = interpolated(&ranking.sorted, probability);
        fill(series, values, |v| f64::from(u8::from(v <= quantile)));
        ess(series)
    };
    let tails = TAILS.map(&mut ess_of_quantile);
    let quantiles = probabilities.iter().map(|&probability| {
        let ess = match TAILS.iter().position(|tail| *tail == probability) {
            Some(tail) => tails[tail],
            None => ess_of_quantile(probability),
        };
        QuantileDiagnosis {
            probability,
            value: value_at_risk_of_sorted(&ranking.sorted, probability),
            ess,
            mcse: quantile_error(&ranking.sorted, probability, ess),
        }
    });
    Diagnosis {
        mean,
        sd: variance.sqrt(),
        // Where all distances from the median are equal, only the bulk can disagree.
        rhat: bulk_rhat.max(folded_rhat),
        ess_bulk,
        ess_tail: smaller(tails),
        ess_mean,
        ess_sd,
        mcse_mean: (variance / ess_mean).sqrt(),
        mcse_sd,
        quantiles: quantiles.collect(),
    }
}

/// Effective sample size of the mean alone; needs no sorting. Panics as [`diagnose`] does.
pub fn ess_mean(values: &[f64], chains: usize, workspace: &mut Workspace) -> f64 {
    let halves = Halves::new(values.len(), chains);
    if is_known(values, halves) {
        effective_sample_size(values, halves, &mut workspace.autocovariance)
    } else {
        f64::NAN
    }
}

/// Monte-Carlo error of the mean alone; needs no sorting. Panics as [`diagnose`] does.
pub fn mcse_mean(values: &[f64], chains: usize, workspace: &mut Workspace) -> f64 {
    (mean_and_variance(values).1 / ess_mean(values, chains, workspace)).sqrt()
}

impl Diagnosis {
    fn unknown(mean: f64, sd: f64, values: &[f64], probabilities: &[f64]) -> Self {
        let quantiles = probabilities.iter().map(|&probability| QuantileDiagnosis {
            probability,
            value: super::value_at_risk(values, probability),
            ess: f64::NAN,
            mcse: f64::NAN,
        });
        Self {
            mean,
            sd,
            rhat: f64::NAN,
            ess_bulk: f64::NAN,
            ess_tail: f64::NAN,
            ess_mean: f64::NAN,
            ess_sd: f64::NAN,
            mcse_mean: f64::NAN,
            mcse_sd: f64::NAN,
            quantiles: quantiles.collect(),
        }
    }
}

/// Whether there is enough to say anything.
fn is_known(values: &[f64], halves: Halves) -> bool {
    halves.draws >= MIN_DRAWS && values.iter().all(|v| v.is_finite())
}

/// The smaller of two; unknown if either is.
fn smaller([a, b]: [f64; 2]) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

fn fill(series: &mut Vec<f64>, values: &[f64], map: impl Fn(f64) -> f64) {
    series.clear();
    series.extend(values.iter().map(|v| map(*v)));
}

/// The delta method, from the squared distances to the mean and their effective sample size.
fn error_of_sd(squares: &[f64], ess: f64) -> f64 {
    let count = squares.len() as f64;
    let variance = squares.iter().sum::<f64>() / count;
    let fourth = squares.iter().map(|s| s * s).sum::<f64>() / count;
    ((fourth - variance * variance) / ess / variance / 4.0).sqrt()
}
