//! How often do the bounds hold? Measured on truths that are known because they were simulated.
//!
//! In each replicate the true weights are drawn from the prior, comparisons are answered by the
//! model, and the bound on the return of three policies is compared with the true return. If the
//! model holds, a bound at `delta` holds in a share `1 - delta` of replicates, for any policy that
//! is chosen without knowledge of the truth, even one that was chosen because the posterior likes
//! it. Where the model is wrong nothing is promised, and the table shows what is left.

use crate::sampler::{ChainBlock, SampleError, Sampler};
use crate::{Hmc, Prior, Problem};
use brex_core::{Draws, Matrix, Preference, Preferences, Stream, stream, value_at_risk};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Chains of each replicate, and draws in each.
const CHAINS: usize = 16;
const DRAWS: usize = 250;

/// The spread of the simulated features.
const SPREAD: f64 = 2.0;

/// How the answers depart from the model that is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Departure {
    /// Not at all.
    None,
    /// The inverse temperature of the answers is that of the model times this.
    Temperature(f64),
    /// This share of the answers is turned round.
    Flipped(f64),
}

impl std::fmt::Display for Departure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => write!(f, "none"),
            Self::Temperature(factor) => write!(f, "answers at {factor} x beta"),
            Self::Flipped(share) => write!(f, "{} % of answers flipped", 100.0 * share),
        }
    }
}

/// Which policy is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// Feature sums like those of the demonstrations.
    Similar,
    /// Three times as far from the worst demonstration as the best one.
    Extrapolated,
    /// What optimising the mean reward would give: features along the posterior mean.
    Optimised,
}

impl Judged {
    const ALL: [Self; 3] = [Self::Similar, Self::Extrapolated, Self::Optimised];
}

impl std::fmt::Display for Judged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Similar => "similar",
            Self::Extrapolated => "extrapolated",
            Self::Optimised => "optimised",
        })
    }
}

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageOptions {
    /// Trajectories, all compared with one another.
    pub trajectories: usize,
    /// Features of each.
    pub features: usize,
    /// The prior, from which the truths come too. Under the half-space prior trajectory 0 has the
    /// return that is not negative, whatever the answers.
    pub prior: Prior,
    /// The inverse temperature of the model.
    pub beta: f64,
    /// The probabilities of the bounds.
    pub deltas: Vec<f64>,
    /// How the answers depart from the model.
    pub departure: Departure,
    /// How many truths.
    pub replicates: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for CoverageOptions {
    fn default() -> Self {
        Self {
            trajectories: 12,
            features: 64,
            prior: Prior::Sphere,
            beta: 1.0,
            deltas: vec![0.01, 0.05, 0.10, 0.25],
            departure: Departure::None,
            replicates: 1000,
            seed: 0,
        }
    }
}

/// How often one bound held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoverageRow {
    /// The policy.
    pub judged: Judged,
    /// The probability of the bound.
    pub delta: f64,
    /// How many replicates.
    pub replicates: usize,
    /// The share in which the true return was at least the bound.
    pub held: f64,
    /// The standard error of that share if the nominal rate is true.
    pub standard_error: f64,
    /// The mean distance from the bound up to the posterior mean: how much caution costs.
    pub mean_gap: f64,
}

impl CoverageRow {
    /// How often the bound should hold.
    pub fn nominal(&self) -> f64 {
        1.0 - self.delta
    }

    /// The distance of the observed from the nominal rate, in standard errors.
    pub fn z(&self) -> f64 {
        (self.held - self.nominal()) / self.standard_error
    }
}

/// Measures coverage; `progress` hears how many replicates are done and may stop.
pub fn coverage(
    options: &CoverageOptions,
    progress: &(dyn Fn(usize) -> ControlFlow<()> + Sync),
) -> Result<Vec<CoverageRow>, SampleError> {
    let done = std::sync::atomic::AtomicUsize::new(0);
    let outcomes: Vec<Vec<Outcome>> = (0..options.replicates as u64)
        .into_par_iter()
        .map(|replicate| {
            let outcome = simulate(options, replicate)?;
            let count = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            match progress(count) {
                ControlFlow::Continue(()) => Ok(outcome),
                ControlFlow::Break(()) => Err(SampleError::Stopped),
            }
        })
        .collect::<Result<_, _>>()?;
    let count = options.replicates as f64;
    let mut rows = Vec::new();
    for (which, judged) in Judged::ALL.into_iter().enumerate() {
        for (at, delta) in options.deltas.iter().enumerate() {
            let place = which * options.deltas.len() + at;
            let held = outcomes.iter().filter(|all| all[place].held).count() as f64;
            let gap: f64 = outcomes.iter().map(|all| all[place].gap).sum();
            rows.push(CoverageRow {
                judged,
                delta: *delta,
                replicates: options.replicates,
                held: held / count,
                standard_error: (delta * (1.0 - delta) / count).sqrt(),
                mean_gap: gap / count,
            });
        }
    }
    Ok(rows)
}

/// What became of one bound in one replicate.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    held: bool,
    gap: f64,
}

/// One truth, its answers, the posterior, and what its bounds say of each policy at each delta.
fn simulate(options: &CoverageOptions, replicate: u64) -> Result<Vec<Outcome>, SampleError> {
    let random = &mut stream(options.seed, "coverage", replicate);
    let (rows, k) = (options.trajectories, options.features);
    let features = Matrix::from_fn(rows, k, |_, _| SPREAD * normal(random));
    let truth = draw_truth(options.prior, features.row(0), k, random);
    let returns = features.times(&truth);
    let preferences = Preferences::new(rows, answer(options, &returns, random))
        .map_err(|error| SampleError::Simulation(error.to_string()))?;
    let problem = Problem::new(&features, &preferences, options.prior, options.beta)
        .map_err(|error| SampleError::Simulation(error.to_string()))?;
    let draws = draw_posterior(&problem, random.random())?;
    let mut outcomes = Vec::new();
    for judged in Judged::ALL {
        let policy = policy_features(judged, &features, &preferences, &draws, random);
        let actual: f64 = policy.iter().zip(&truth).map(|(x, w)| x * w).sum();
        let returns = draws.times(&policy);
        let mean = returns.iter().sum::<f64>() / returns.len() as f64;
        for delta in &options.deltas {
            let bound = value_at_risk(&returns, *delta);
            outcomes.push(Outcome {
                held: actual >= bound,
                gap: mean - bound,
            });
        }
    }
    Ok(outcomes)
}

fn normal(random: &mut Stream) -> f64 {
    random.sample(StandardNormal)
}

/// Weights from the prior.
fn draw_truth(prior: Prior, lowest: &[f64], k: usize, random: &mut Stream) -> Vec<f64> {
    let mut weights: Vec<f64> = (0..k).map(|_| normal(random)).collect();
    let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let worst: f64 = weights.iter().zip(lowest).map(|(w, x)| w * x).sum();
    let factor = match prior {
        Prior::Gaussian { scale } => scale,
        Prior::NonNegative { .. } if worst < 0.0 => -1.0 / length,
        Prior::Sphere | Prior::NonNegative { .. } => 1.0 / length,
    };
    weights.iter_mut().for_each(|w| *w *= factor);
    weights
}

/// Every pair of trajectories, answered with the departure's probabilities.
fn answer(options: &CoverageOptions, returns: &[f64], random: &mut Stream) -> Vec<Preference> {
    let (beta, flipped) = match options.departure {
        Departure::None => (options.beta, 0.0),
        Departure::Temperature(factor) => (options.beta * factor, 0.0),
        Departure::Flipped(share) => (options.beta, share),
    };
    let mut items = Vec::new();
    for i in 0..returns.len() {
        for j in i + 1..returns.len() {
            let wins = crate::likelihood::sigmoid(beta * (returns[j] - returns[i]));
            let better = (random.random::<f64>() < wins) != (random.random::<f64>() < flipped);
            items.push(if better {
                Preference::strict(i, j)
            } else {
                Preference::strict(j, i)
            });
        }
    }
    items
}

/// Draws from the posterior, without diagnostics: there are too many replicates to wait for them.
fn draw_posterior(problem: &Problem<'_>, seed: u64) -> Result<Draws, SampleError> {
    let watch = |_: &_| ControlFlow::Continue(());
    let mut chains = Hmc::default().start(problem, CHAINS, seed, &watch)?;
    let k = problem.dim();
    let mut weights = vec![0.0; CHAINS * DRAWS * k];
    let mut log_likelihood = vec![0.0; CHAINS * DRAWS];
    let mut acceptance = vec![0.0; CHAINS * DRAWS];
    let mut diverging = vec![false; CHAINS * DRAWS];
    let mut blocks: Vec<ChainBlock<'_>> = weights
        .chunks_exact_mut(DRAWS * k)
        .zip(log_likelihood.chunks_exact_mut(DRAWS))
        .zip(acceptance.chunks_exact_mut(DRAWS))
        .zip(diverging.chunks_exact_mut(DRAWS))
        .map(
            |(((weights, log_likelihood), acceptance), diverging)| ChainBlock {
                weights,
                log_likelihood,
                acceptance,
                diverging,
            },
        )
        .collect();
    chains.advance(&mut blocks);
    Draws::new(CHAINS, DRAWS, k, weights)
        .map_err(|error| SampleError::Simulation(error.to_string()))
}

fn policy_features(
    judged: Judged,
    features: &Matrix,
    preferences: &Preferences,
    draws: &Draws,
    random: &mut Stream,
) -> Vec<f64> {
    let k = features.cols();
    match judged {
        Judged::Similar => (0..k).map(|_| SPREAD * normal(random)).collect(),
        Judged::Extrapolated => {
            let mut wins = vec![0.0; features.rows()];
            for item in preferences.items() {
                wins[item.b] += 1.0;
            }
            let rank = |sign: f64| {
                let order = |a: &usize, b: &usize| (sign * wins[*a]).total_cmp(&(sign * wins[*b]));
                (0..wins.len()).max_by(order).unwrap_or(0)
            };
            let (best, worst) = (features.row(rank(1.0)), features.row(rank(-1.0)));
            let stretched = best.iter().zip(worst);
            stretched
                .map(|(best, worst)| worst + 3.0 * (best - worst))
                .collect()
        }
        Judged::Optimised => {
            let mean = draws.mean();
            let length = mean.iter().map(|w| w * w).sum::<f64>().sqrt().max(1e-300);
            let reach = 3.0 * SPREAD * (k as f64).sqrt();
            mean.iter().map(|w| reach * w / length).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(options: &CoverageOptions) -> Vec<CoverageRow> {
        coverage(options, &|_| ControlFlow::Continue(())).unwrap()
    }

    #[test]
    fn bounds_hold_at_their_nominal_rate() {
        let priors = [
            Prior::Sphere,
            Prior::NonNegative { lowest: 0 },
            Prior::Gaussian { scale: 0.3 },
        ];
        for prior in priors {
            for (trajectories, features) in [(12, 64), (10, 4)] {
                let options = CoverageOptions {
                    trajectories,
                    features,
                    prior,
                    replicates: 2000,
                    ..CoverageOptions::default()
                };
                for row in measure(&options) {
                    assert!(row.z().abs() < 4.0, "{prior:?} {features}: {row:?}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_temperature_is_found_out() {
        let options = CoverageOptions {
            features: 6,
            departure: Departure::Temperature(0.1),
            replicates: 300,
            ..CoverageOptions::default()
        };
        let rows = measure(&options);
        let worst = rows.iter().map(CoverageRow::z).fold(0.0, f64::min);
        assert!(worst < -6.0, "no bound failed: {worst}");
    }

    #[test]
    fn the_table_does_not_depend_on_threads() {
        let options = CoverageOptions {
            replicates: 20,
            ..CoverageOptions::default()
        };
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| measure(&options))
        };
        assert_eq!(on(1), on(3));
    }
}
