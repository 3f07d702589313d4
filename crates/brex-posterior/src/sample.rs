//! Running a sampler: for a number of draws, or until the draws can be trusted.

use crate::Problem;
use crate::convergence::{Convergence, check_convergence};
use crate::sampler::{ChainBlock, Chains, Progress, SampleError, Sampler, Stage, Watch};
use brex_core::{Draws, SavedState};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// A block of draws should take about this long, so that progress is shown and a stop is prompt.
const BLOCK_TIME: Duration = Duration::from_millis(60);

/// How many draws to make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// Exactly so many in all chains together; no stopping rule.
    Exactly(usize),
    /// Until converged, or until one of the limits is reached.
    UntilConverged {
        /// The most draws in all chains together; the sampler's own default if `None`.
        max_draws: Option<usize>,
        /// The most seconds of sampling.
        max_seconds: Option<f64>,
    },
}

/// What to run.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleOptions {
    /// How many chains; the sampler's default if `None`, or the next lower number that divides the
    /// draws evenly.
    pub chains: Option<usize>,
    /// How many draws.
    pub length: Length,
    /// The seed. The same seed gives the same draws on any number of threads.
    pub seed: u64,
    /// The probability of the quantile that bounds will use.
    pub delta: f64,
    /// Feature sums of policies whose returns should converge too.
    pub policies: Vec<Vec<f64>>,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self {
            chains: None,
            length: Length::UntilConverged {
                max_draws: None,
                max_seconds: None,
            },
            seed: 0,
            delta: 0.05,
            policies: Vec::new(),
        }
    }
}

/// Draws of the posterior with everything known about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The weights.
    pub draws: Draws,
    /// The log likelihood of each draw, chain after chain.
    pub log_likelihood: Vec<f64>,
    /// The probability of acceptance on the way to each draw.
    pub acceptance: Vec<f32>,
    /// Whether the integrator failed on the way to each draw.
    pub diverging: Vec<bool>,
    /// From which the chains can go on.
    pub state: SavedState,
}

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The draws.
    pub sampled: Sampled,
    /// Whether they can be trusted.
    pub convergence: Convergence,
    /// Whether the watcher stopped it before the end.
    pub stopped: bool,
    /// How long the parts took.
    pub timing: Timing,
}

/// Seconds of wall time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Timing {
    /// Set-up and warm-up.
    pub warmup_seconds: f64,
    /// Making draws.
    pub sampling_seconds: f64,
    /// Diagnostics, which the stopping rule calls again and again.
    pub diagnostics_seconds: f64,
}

/// Samples a problem.
///
/// With `previous`, the chains that it holds go on; the length then counts the old draws too.
pub fn sample(
    problem: &Problem<'_>,
    sampler: &dyn Sampler,
    options: &SampleOptions,
    previous: Option<Sampled>,
    watch: &Watch<'_>,
) -> Result<Run, SampleError> {
    let mut timing = Timing::default();
    let clock = Instant::now();
    let chains = match &previous {
        Some(previous) => previous.draws.chains(),
        None => number_of_chains(sampler, options)?,
    };
    let mut running = match &previous {
        Some(previous) => sampler.resume(problem, chains, &previous.state)?,
        None => sampler.start(problem, chains, options.seed, watch)?,
    };
    timing.warmup_seconds = clock.elapsed().as_secs_f64();
    let mut store = Store::new(chains, problem.dim(), previous);
    let (first, budget) = sampler.default_draws();
    let (mut goal, limit, max_seconds) = match options.length {
        Length::Exactly(total) => {
            let each = total / chains;
            if each * chains != total {
                return Err(uneven(total, chains));
            }
            (each, each, f64::INFINITY)
        }
        Length::UntilConverged {
            max_draws,
            max_seconds,
        } => {
            let limit = max_draws.map_or_else(
                || budget.min(memory_limit(chains, problem.dim())),
                |most| most.div_ceil(chains),
            );
            let goal = first.max(store.filled).min(limit);
            (goal, limit, max_seconds.unwrap_or(f64::INFINITY))
        }
    };
    let mut stopped = false;
    loop {
        let clock = Instant::now();
        let seconds_left = max_seconds - timing.sampling_seconds;
        stopped |= store.fill(running.as_mut(), goal, seconds_left, limit, watch);
        timing.sampling_seconds += clock.elapsed().as_secs_f64();
        if store.filled == 0 {
            return Err(SampleError::Stopped);
        }
        let clock = Instant::now();
        let mut sampled = store.take(running.save())?;
        if running.log_likelihood_is_rough() {
            sampled.log_likelihood = exact_log_likelihood(problem, &sampled.draws);
        }
        let convergence = check_convergence(
            problem,
            &sampled.draws,
            &sampled.log_likelihood,
            &sampled.acceptance,
            &options.policies,
            options.delta,
        );
        timing.diagnostics_seconds += clock.elapsed().as_secs_f64();
        let exact = matches!(options.length, Length::Exactly(_));
        let spent = sampled.draws.draws_per_chain() >= limit
            || timing.sampling_seconds >= max_seconds
            || stopped;
        if exact || convergence.converged || spent {
            return Ok(Run {
                sampled,
                convergence,
                stopped,
                timing,
            });
        }
        store = Store::new(chains, problem.dim(), Some(sampled));
        goal = next_goal(store.filled, &convergence).min(limit);
    }
}

fn exact_log_likelihood(problem: &Problem<'_>, draws: &Draws) -> Vec<f64> {
    let rows = draws.as_slice().par_chunks_exact(draws.dim());
    rows.map(|weights| problem.log_likelihood(weights))
        .collect()
}

/// How far to go before looking again: as far as the effective sample size says, within limits.
fn next_goal(filled: usize, convergence: &Convergence) -> usize {
    let ess = convergence.min_ess_quantile.min(convergence.min_ess_tail);
    let needed = if ess > 0.0 {
        1.1 * crate::ESS_LIMIT / ess
    } else {
        2.0
    };
    (filled as f64 * needed.clamp(1.4, 3.0)).ceil() as usize
}

/// Draws per chain that take half a gibibyte.
fn memory_limit(chains: usize, dim: usize) -> usize {
    ((1 << 29) / (8 * chains * dim)).max(500)
}

fn uneven(total: usize, chains: usize) -> SampleError {
    SampleError::Setting {
        name: "draws",
        value: format!("{total}, with {chains} chains"),
        expected: "a number of draws that the number of chains divides",
    }
}

fn number_of_chains(sampler: &dyn Sampler, options: &SampleOptions) -> Result<usize, SampleError> {
    let setting = |name, value: usize, expected| SampleError::Setting {
        name,
        value: value.to_string(),
        expected,
    };
    if let Length::Exactly(0) = options.length {
        return Err(setting("draws", 0, "at least 1"));
    }
    match (options.chains, options.length) {
        (Some(chains), _) if chains == 0 || chains > 4096 => {
            Err(setting("chains", chains, "from 1 to 4096"))
        }
        (Some(chains), Length::Exactly(total)) if total % chains != 0 => Err(uneven(total, chains)),
        (Some(chains), _) => Ok(chains),
        (None, Length::Exactly(total)) => Ok((1..=sampler.chains_for(total))
            .rev()
            .find(|chains| total % chains == 0)
            .unwrap_or(1)),
        (None, Length::UntilConverged { .. }) => Ok(sampler.default_chains()),
    }
}

/// Draws as they are made: room for `capacity` draws in each chain.
struct Store {
    chains: usize,
    dim: usize,
    capacity: usize,
    filled: usize,
    weights: Vec<f64>,
    log_likelihood: Vec<f64>,
    acceptance: Vec<f32>,
    diverging: Vec<bool>,
}

/// Moves the first `filled` entries of every chain to rows of another capacity.
fn relayout<T: Copy + Default>(
    values: &mut Vec<T>,
    chains: usize,
    from: usize,
    filled: usize,
    to: usize,
) {
    if from != to {
        let mut new = vec![T::default(); chains * to];
        for chain in 0..chains {
            new[chain * to..][..filled].copy_from_slice(&values[chain * from..][..filled]);
        }
        *values = new;
    }
}

impl Store {
    fn new(chains: usize, dim: usize, previous: Option<Sampled>) -> Self {
        let mut store = Self {
            chains,
            dim,
            capacity: 0,
            filled: 0,
            weights: Vec::new(),
            log_likelihood: Vec::new(),
            acceptance: Vec::new(),
            diverging: Vec::new(),
        };
        if let Some(previous) = previous {
            store.filled = previous.draws.draws_per_chain();
            store.capacity = store.filled;
            store.weights = previous.draws.into_vec();
            store.log_likelihood = previous.log_likelihood;
            store.acceptance = previous.acceptance;
            store.diverging = previous.diverging;
        }
        store
    }

    fn resize(&mut self, capacity: usize) {
        let (chains, from, filled, dim) = (self.chains, self.capacity, self.filled, self.dim);
        let weights = &mut self.weights;
        relayout(weights, chains, from * dim, filled * dim, capacity * dim);
        relayout(&mut self.log_likelihood, chains, from, filled, capacity);
        relayout(&mut self.acceptance, chains, from, filled, capacity);
        relayout(&mut self.diverging, chains, from, filled, capacity);
        self.capacity = capacity;
    }

    /// Draws until `goal` draws are in every chain or the time is up; says whether the watcher
    /// asked to stop.
    fn fill(
        &mut self,
        running: &mut dyn Chains,
        goal: usize,
        seconds: f64,
        limit: usize,
        watch: &Watch<'_>,
    ) -> bool {
        if goal > self.filled {
            self.resize(goal);
        }
        let start = Instant::now();
        let mut size = 4;
        while self.filled < goal {
            let progress = Progress {
                stage: Stage::Sampling,
                done: self.filled * self.chains,
                total: Some(limit * self.chains),
            };
            if watch(&progress).is_break() {
                return true;
            }
            let clock = Instant::now();
            let count = size.min(goal - self.filled);
            self.advance(running, count);
            if clock.elapsed() < BLOCK_TIME / 2 {
                size *= 2;
            }
            if start.elapsed().as_secs_f64() >= seconds {
                break;
            }
        }
        false
    }

    fn advance(&mut self, running: &mut dyn Chains, count: usize) {
        let (filled, dim) = (self.filled, self.dim);
        let mut blocks: Vec<ChainBlock<'_>> = self
            .weights
            .chunks_exact_mut(self.capacity * dim)
            .zip(self.log_likelihood.chunks_exact_mut(self.capacity))
            .zip(self.acceptance.chunks_exact_mut(self.capacity))
            .zip(self.diverging.chunks_exact_mut(self.capacity))
            .map(
                |(((weights, log_likelihood), acceptance), diverging)| ChainBlock {
                    weights: &mut weights[filled * dim..][..count * dim],
                    log_likelihood: &mut log_likelihood[filled..][..count],
                    acceptance: &mut acceptance[filled..][..count],
                    diverging: &mut diverging[filled..][..count],
                },
            )
            .collect();
        running.advance(&mut blocks);
        self.filled += count;
    }

    fn take(mut self, state: SavedState) -> Result<Sampled, SampleError> {
        self.resize(self.filled);
        let draws = Draws::new(self.chains, self.filled, self.dim, self.weights)
            .map_err(|error| SampleError::State(error.to_string()))?;
        Ok(Sampled {
            draws,
            log_likelihood: self.log_likelihood,
            acceptance: self.acceptance,
            diverging: self.diverging,
            state,
        })
    }
}
