//! Policies in, bounds out.

use brex_core::{Draws, Matrix, Policy, Workspace, cvar, diagnose, mcse_mean, stream};
use rayon::prelude::*;

use super::{
    result::{Bound, Evaluation, PolicyEvaluation},
    returns::returns,
    rollouts::rollout_noise,
    trust::{Limit, Trust},
};

/// How to judge policies.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateOptions {
    /// The probabilities of the quantiles that are the bounds, each between 0 and 1.
    pub deltas: Vec<f64>,
    /// The seed of the bootstrap.
    pub seed: u64,
    /// Bootstrap replicates of each policy's rollouts.
    pub replicates: usize,
    /// The largest R-hat at which a bound is trusted.
    pub max_rhat: f64,
    /// The smallest effective sample size of a quantile at which it is trusted.
    pub min_ess: f64,
}

impl Default for EvaluateOptions {
    fn default() -> Self {
        Self {
            deltas: vec![0.05],
            seed: 0,
            replicates: 2_000,
            max_rhat: 1.01,
            min_ess: 400.0,
        }
    }
}

/// Why policies cannot be judged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvaluateError {
    /// A delta outside 0 to 1.
    #[error("delta is {delta}; expected a probability above 0 and below 1, such as 0.05")]
    Delta {
        /// What was asked for.
        delta: f64,
    },
    /// Nothing to judge by.
    #[error("no draws: a bound needs samples of the posterior or of the return")]
    NoDraws,
    /// A sample that is NaN or infinite.
    #[error("draw {draw}, value {column} is {value}; expected a finite number")]
    NotFinite {
        /// Zero-based draw, counted over all chains.
        draw: usize,
        /// Zero-based value in the draw.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// Features and weights do not fit.
    #[error(
        "policy {policy:?} has {found} features, the posterior has {expected} weights; \
         both must come from the same encoder"
    )]
    Features {
        /// Its name.
        policy: String,
        /// Its number of features.
        found: usize,
        /// The number of weights.
        expected: usize,
    },
}

/// Judges `policies` by posterior draws. The same seed gives the same result on any number of
/// threads.
pub fn evaluate(
    draws: &Draws,
    policies: &[Policy],
    options: &EvaluateOptions,
) -> Result<Evaluation, EvaluateError> {
    check(draws.as_slice(), draws.dim(), options)?;
    for policy in policies {
        let found = policy.rollouts().cols();
        if found != draws.dim() {
            return Err(EvaluateError::Features {
                policy: policy.name().to_owned(),
                found,
                expected: draws.dim(),
            });
        }
    }
    let features: Vec<Vec<f64>> = policies.iter().map(Policy::expected_features).collect();
    let policies = policies
        .par_iter()
        .zip(returns(draws.as_slice(), draws.dim(), &features))
        .enumerate()
        .map_init(
            Workspace::default,
            |workspace, (index, (policy, returns))| {
                let random = stream(options.seed, "bootstrap", index as u64);
                let mut judged = judge(policy.name(), returns, draws.chains(), options, workspace);
                judged.rollouts = policy.rollouts().rows();
                judged.divide_by_length(policy.mean_length());
                if features[index].iter().all(|value| *value == 0.0) {
                    judged.make_exact();
                }
                let noise = rollout_noise(
                    draws,
                    policy.rollouts(),
                    &options.deltas,
                    options.replicates,
                    random,
                    workspace,
                );
                if let Some((mean_se, noise)) = noise {
                    judged.mean_rollout_se = Some(mean_se);
                    for (bound, noise) in judged.bounds.iter_mut().zip(noise) {
                        bound.rollout_noise = Some(noise);
                    }
                }
                judged
            },
        )
        .collect::<Vec<_>>();
    let (beats, beats_mcse) = compare(&policies, draws.chains());
    Ok(Evaluation {
        policies,
        beats,
        beats_mcse,
    })
}

/// Judges a policy by samples of its return, for methods that give these rather than weights.
pub fn evaluate_returns(
    name: &str,
    samples: &[f64],
    options: &EvaluateOptions,
) -> Result<PolicyEvaluation, EvaluateError> {
    check(samples, 1, options)?;
    let workspace = &mut Workspace::default();
    Ok(judge(name, samples.to_vec(), 1, options, workspace))
}

fn check(samples: &[f64], dim: usize, options: &EvaluateOptions) -> Result<(), EvaluateError> {
    if let Some(&delta) = options.deltas.iter().find(|d| !(**d > 0.0 && **d < 1.0)) {
        return Err(EvaluateError::Delta { delta });
    }
    if samples.is_empty() {
        return Err(EvaluateError::NoDraws);
    }
    match samples.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(EvaluateError::NotFinite {
            draw: at / dim,
            column: at % dim,
            value: samples[at],
        }),
        None => Ok(()),
    }
}

/// Everything that follows from the returns alone.
fn judge(
    name: &str,
    returns: Vec<f64>,
    chains: usize,
    options: &EvaluateOptions,
    workspace: &mut Workspace,
) -> PolicyEvaluation {
    let found = diagnose(&returns, chains, &options.deltas, workspace);
    let bounds = found.quantiles.iter().map(|quantile| {
        let rhat = Limit {
            value: found.rhat,
            limit: options.max_rhat,
        };
        let ess = Limit {
            value: quantile.ess,
            limit: options.min_ess,
        };
        let (delta, var) = (quantile.probability, quantile.value);
        // CVaR is the mean of this series (Rockafellar and Uryasev), so it has a mean's error.
        let series: Vec<f64> = returns
            .iter()
            .map(|value| var - (var - value).max(0.0) / delta)
            .collect();
        Bound {
            delta,
            var,
            var_mcse: quantile.mcse,
            var_ess: quantile.ess,
            cvar: cvar(&returns, delta),
            cvar_mcse: mcse_mean(&series, chains, workspace),
            var_per_step: None,
            rollout_noise: None,
            trust: Trust::judge(returns.len(), delta, rhat, ess),
        }
    });
    PolicyEvaluation {
        name: name.to_owned(),
        mean: found.mean,
        mean_mcse: found.mcse_mean,
        sd: found.sd,
        rhat: found.rhat,
        ess_bulk: found.ess_bulk,
        rollouts: 0,
        mean_rollout_se: None,
        mean_length: None,
        mean_per_step: None,
        bounds: bounds.collect(),
        returns,
    }
}

/// How often each policy has the higher return, and the Monte-Carlo errors of that.
fn compare(policies: &[PolicyEvaluation], chains: usize) -> (Matrix, Matrix) {
    let count = policies.len();
    let pairs: Vec<(usize, usize)> = (0..count)
        .flat_map(|i| (i + 1..count).map(move |j| (i, j)))
        .collect();
    let compared: Vec<(f64, f64)> = pairs
        .par_iter()
        .map_init(Workspace::default, |workspace, &(i, j)| {
            let both = policies[i].returns.iter().zip(&policies[j].returns);
            let wins: Vec<f64> = both
                .map(|(one, other)| {
                    let (wins, ties) = (one > other, one == other);
                    f64::from(u8::from(wins)) + 0.5 * f64::from(u8::from(ties))
                })
                .collect();
            let share = wins.iter().sum::<f64>() / wins.len() as f64;
            (share, mcse_mean(&wins, chains, workspace))
        })
        .collect();
    let mut beats = Matrix::from_fn(count, count, |_, _| 0.5);
    let mut errors = Matrix::zeros(count, count);
    for (&(i, j), &(share, error)) in pairs.iter().zip(&compared) {
        beats.row_mut(i)[j] = share;
        beats.row_mut(j)[i] = 1.0 - share;
        errors.row_mut(i)[j] = error;
        errors.row_mut(j)[i] = error;
    }
    (beats, errors)
}
