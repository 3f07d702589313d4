//! Can the draws be trusted? Diagnostics over everything that will be asked of them.
//!
//! The quantities are all weights, the returns of trajectories (at most [`MOST_RETURNS`], evenly
//! spaced over the rows), and the returns of whatever policies are named. The log likelihood is
//! diagnosed beside them, for the curious; no bound depends on it. The verdict is *converged* when every
//! one of them has R-hat below 1.01 and at least 400
//! effective draws for its quantile (Vehtari and others 2021).

use crate::Problem;
use brex_core::{Diagnosis, Draws, Workspace, diagnose};
use rayon::prelude::*;

/// R-hat has to be below this.
pub const RHAT_LIMIT: f64 = 1.01;
/// The effective sample size of a quantile has to be at least this.
pub const ESS_LIMIT: f64 = 400.0;
/// Returns of so many trajectories are watched.
pub const MOST_RETURNS: usize = 64;

/// Something that depends on the weights and is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// One weight, by feature.
    Weight(usize),
    /// The return of one trajectory, by row.
    Return(usize),
    /// The return of a policy, by its place in the list given.
    Policy(usize),
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Weight(feature) => write!(f, "weight of feature {feature}"),
            Self::Return(row) => write!(f, "return of trajectory {row}"),
            Self::Policy(index) => write!(f, "return of policy {index}"),
        }
    }
}

/// The worst of every diagnostic over all quantities.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// The largest R-hat, and where; NaN if it is unknown.
    pub max_rhat: f64,
    /// Where R-hat is largest.
    pub max_rhat_of: Quantity,
    /// The smallest bulk effective sample size.
    pub min_ess_bulk: f64,
    /// The smallest tail effective sample size.
    pub min_ess_tail: f64,
    /// The smallest effective sample size of the quantile asked for.
    pub min_ess_quantile: f64,
    /// Where that is smallest.
    pub min_ess_quantile_of: Quantity,
    /// R-hat of the log likelihood.
    pub log_likelihood_rhat: f64,
    /// The bulk effective sample size of the log likelihood.
    pub log_likelihood_ess_bulk: f64,
    /// How many quantities were watched.
    pub quantities: usize,
    /// How many of them had the same value in every draw, and so say nothing either way.
    pub constant: usize,
    /// The verdict.
    pub converged: bool,
}

/// Diagnoses all quantities. `log_likelihood` and `acceptance` have one value per draw; `delta` is the
/// probability of the quantile that bounds will use.
pub fn check_convergence(
    problem: &Problem<'_>,
    draws: &Draws,
    log_likelihood: &[f64],
    acceptance: &[f32],
    policies: &[Vec<f64>],
    delta: f64,
) -> Convergence {
    let rows = problem.features().rows();
    let step = rows.div_ceil(MOST_RETURNS).max(1);
    let quantities: Vec<Quantity> = (0..draws.dim())
        .map(Quantity::Weight)
        .chain((0..rows).step_by(step).map(Quantity::Return))
        .chain((0..policies.len()).map(Quantity::Policy))
        .collect();
    let all: Vec<(Quantity, Diagnosis)> = quantities
        .par_iter()
        .map_init(Workspace::default, |workspace, quantity| {
            let values = match quantity {
                Quantity::Weight(feature) => draws.column(*feature),
                Quantity::Return(row) => draws.times(problem.features().row(*row)),
                Quantity::Policy(index) => draws.times(&policies[*index]),
            };
            (
                *quantity,
                diagnose(&values, draws.chains(), &[delta], workspace),
            )
        })
        .collect();
    let own = diagnose(
        log_likelihood,
        draws.chains(),
        &[delta],
        &mut Workspace::default(),
    );
    let accepted = acceptance.iter().map(|a| f64::from(*a)).sum::<f64>() / acceptance.len() as f64;
    summarise(&all, &own, accepted)
}

/// The effective sample size of a quantile. Where it is unknown because the quantile is the largest
/// value of all, as with a single weight that is -1 or 1, that of the bulk stands in.
fn or_bulk(diagnosis: &Diagnosis, ess: f64) -> f64 {
    if ess.is_nan() {
        diagnosis.ess_bulk
    } else {
        ess
    }
}

fn summarise(
    all: &[(Quantity, Diagnosis)],
    log_likelihood: &Diagnosis,
    accepted: f64,
) -> Convergence {
    let moving = || all.iter().filter(|(_, d)| d.sd != 0.0);
    // A NaN is worse than any number.
    let worst = |value: fn(&Diagnosis) -> f64| {
        moving()
            .map(|(quantity, diagnosis)| (*quantity, value(diagnosis)))
            .reduce(|a, b| if b.1.is_nan() || b.1 > a.1 { b } else { a })
            .unwrap_or((Quantity::Weight(0), f64::NAN))
    };
    let (max_rhat_of, max_rhat) = worst(|d| d.rhat);
    let quantile_ess = worst(|d| -or_bulk(d, d.quantiles[0].ess));
    let min_ess_quantile = -quantile_ess.1;
    let min_ess_tail = -worst(|d| -or_bulk(d, d.ess_tail)).1;
    let constant = all.len() - moving().count();
    // Chains that move while nothing changes: the prior and the data leave one answer.
    let certain = constant == all.len() && accepted > 0.1;
    Convergence {
        max_rhat,
        max_rhat_of,
        min_ess_bulk: -worst(|d| -d.ess_bulk).1,
        min_ess_tail,
        min_ess_quantile,
        min_ess_quantile_of: quantile_ess.0,
        log_likelihood_rhat: log_likelihood.rhat,
        log_likelihood_ess_bulk: log_likelihood.ess_bulk,
        quantities: all.len(),
        constant,
        converged: certain
            || max_rhat < RHAT_LIMIT && min_ess_quantile >= ESS_LIMIT && min_ess_tail >= ESS_LIMIT,
    }
}
