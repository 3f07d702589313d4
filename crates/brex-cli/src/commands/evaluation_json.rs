//! What programs get to know about a policy: the form of `brex evaluate --json`.

use brex_posterior::{Bound, PolicyEvaluation, Trust};
use serde::Serialize;
use std::collections::BTreeMap;

/// Whether a bound may be used.
pub(crate) fn is_trusted(bound: &Bound) -> bool {
    matches!(bound.trust, Trust::Converged)
}

/// Why a bound is not to be trusted.
pub(crate) fn doubt(bound: &Bound) -> Option<String> {
    match &bound.trust {
        Trust::Converged => None,
        Trust::NotConverged { reason } => Some(reason.to_string()),
        Trust::Unknown => Some(
            "the draws are too few, or all the same, to tell whether they have converged"
                .to_owned(),
        ),
    }
}

/// What `--json` says about a policy: the bound at the first delta, then all of them.
#[derive(Debug, Serialize)]
pub(crate) struct PolicyJson<'a> {
    policy: &'a str,
    mean: f64,
    mean_mcse: f64,
    sd: f64,
    #[serde(flatten)]
    first: Option<BoundJson>,
    rhat: f64,
    ess_bulk: f64,
    rollouts: usize,
    mean_rollout_se: Option<f64>,
    mean_length: Option<f64>,
    mean_per_step: Option<f64>,
    bounds: Vec<BoundJson>,
    beats: BTreeMap<&'a str, f64>,
}

impl<'a> PolicyJson<'a> {
    /// `shows` says whether the numbers of a bound are given or withheld.
    pub(crate) fn new(
        policy: &'a PolicyEvaluation,
        beats: BTreeMap<&'a str, f64>,
        shows: impl Fn(&Bound) -> bool,
    ) -> Self {
        let bounds = policy.bounds.iter();
        let bounds: Vec<BoundJson> = bounds.map(|b| BoundJson::new(b, shows(b))).collect();
        Self {
            policy: &policy.name,
            mean: policy.mean,
            mean_mcse: policy.mean_mcse,
            sd: policy.sd,
            first: bounds.first().cloned(),
            rhat: policy.rhat,
            ess_bulk: policy.ess_bulk,
            rollouts: policy.rollouts,
            mean_rollout_se: policy.mean_rollout_se,
            mean_length: policy.mean_length,
            mean_per_step: policy.mean_per_step,
            bounds,
            beats,
        }
    }
}

/// What `--json` says about a bound; its numbers are absent if it is refused.
#[derive(Debug, Clone, Serialize)]
struct BoundJson {
    delta: f64,
    var: Option<f64>,
    var_mcse: Option<f64>,
    var_ess: f64,
    cvar: Option<f64>,
    cvar_mcse: Option<f64>,
    var_per_step: Option<f64>,
    var_rollout_se: Option<f64>,
    var_with_rollouts: Option<f64>,
    var_with_rollouts_mcse: Option<f64>,
    converged: bool,
    /// Why it has not converged.
    reason: Option<String>,
    /// The same, if the numbers are withheld for it.
    refused: Option<String>,
}

impl BoundJson {
    fn new(bound: &Bound, shown: bool) -> Self {
        let noise = bound.rollout_noise.filter(|_| shown);
        let value = |value: f64| shown.then_some(value);
        Self {
            delta: bound.delta,
            var: value(bound.var),
            var_mcse: value(bound.var_mcse),
            var_ess: bound.var_ess,
            cvar: value(bound.cvar),
            cvar_mcse: value(bound.cvar_mcse),
            var_per_step: bound.var_per_step.filter(|_| shown),
            var_rollout_se: noise.map(|noise| noise.var_se),
            var_with_rollouts: noise.map(|noise| noise.var_with_rollouts),
            var_with_rollouts_mcse: noise.map(|noise| noise.var_with_rollouts_mcse),
            converged: is_trusted(bound),
            reason: doubt(bound),
            refused: doubt(bound).filter(|_| !shown),
        }
    }
}
