//! What an evaluation says.

use brex_core::Matrix;

use super::{rollouts::RolloutNoise, trust::Trust};

/// What the posterior says about policies.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The policies, in the order given.
    pub policies: Vec<PolicyEvaluation>,
    /// Row i, column j: the probability that policy i has a higher return than policy j, an equal
    /// return counting half.
    pub beats: Matrix,
    /// The Monte-Carlo errors of `beats`; NaN where every draw says the same.
    pub beats_mcse: Matrix,
}

/// What the posterior says about one policy's return.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyEvaluation {
    /// The policy's name.
    pub name: String,
    /// The mean return.
    pub mean: f64,
    /// Monte-Carlo error of the mean.
    pub mean_mcse: f64,
    /// The standard deviation of the return under the posterior.
    pub sd: f64,
    /// R-hat of the return; NaN if unknown.
    pub rhat: f64,
    /// Effective sample size of the bulk of the return; NaN if unknown.
    pub ess_bulk: f64,
    /// Rollouts that the policy came with; 0 if it came as samples of its return.
    pub rollouts: usize,
    /// The standard error of the mean that comes from the finite number of rollouts, if there are
    /// at least two.
    pub mean_rollout_se: Option<f64>,
    /// The mean number of steps of a rollout, if known.
    pub mean_length: Option<f64>,
    /// The mean return divided by the mean length, if known. Length is the known confounder: a
    /// policy can earn a high return by living long.
    pub mean_per_step: Option<f64>,
    /// One bound per delta asked for.
    pub bounds: Vec<Bound>,
    /// The return under every draw, in the order of the draws.
    pub returns: Vec<f64>,
}

/// A lower bound on a policy's return; higher is better.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The probability of a return below it.
    pub delta: f64,
    /// The value at risk: the `delta`-quantile of the return, `sorted[floor(delta * N)]`.
    pub var: f64,
    /// Monte-Carlo error of `var`.
    pub var_mcse: f64,
    /// Effective sample size of `var`.
    pub var_ess: f64,
    /// The conditional value at risk: the mean of the returns below `var`.
    pub cvar: f64,
    /// Monte-Carlo error of `cvar`.
    pub cvar_mcse: f64,
    /// `var` divided by the mean length, if known.
    pub var_per_step: Option<f64>,
    /// What the finite number of rollouts adds, if there are at least two.
    pub rollout_noise: Option<RolloutNoise>,
    /// Whether the bound may be used.
    pub trust: Trust,
}

impl PolicyEvaluation {
    /// Adds the figures per step.
    pub(super) fn divide_by_length(&mut self, mean_length: Option<f64>) {
        self.mean_length = mean_length;
        self.mean_per_step = mean_length.map(|length| self.mean / length);
        for bound in &mut self.bounds {
            bound.var_per_step = mean_length.map(|length| bound.var / length);
        }
    }

    /// Features that are all zero return 0 whatever the weights: no draws are needed to know.
    pub(super) fn make_exact(&mut self) {
        self.mean_mcse = 0.0;
        for bound in &mut self.bounds {
            bound.var_mcse = 0.0;
            bound.cvar_mcse = 0.0;
            bound.trust = Trust::Converged;
        }
    }
}
