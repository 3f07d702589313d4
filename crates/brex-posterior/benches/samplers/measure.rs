//! One run of one sampler: how long it took and how many effective draws came out.
//!
//! Times are CPU seconds of the thread that does all the work, where the system tells them, so that
//! other work on the machine counts little; elsewhere they are wall seconds.

use crate::nuts::NutsChain;
use crate::target::{Target, Weights};
use anyhow::Result;
use brex_core::Draws;
use brex_posterior::{ChainBlock, Problem, SampleError, Sampler, check_convergence};
use std::ops::ControlFlow;

/// CPU seconds of this thread.
#[cfg(all(unix, not(target_os = "netbsd")))]
pub(crate) fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Wall seconds since the first call.
#[cfg(not(all(unix, not(target_os = "netbsd"))))]
pub(crate) fn seconds() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64()
}

/// How long a run may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// Draws of all chains together.
    pub(crate) draws: usize,
    /// Seconds of set-up, warm-up and sampling.
    pub(crate) seconds: f64,
}

/// What one run gave.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) chains: usize,
    pub(crate) draws: usize,
    /// Set-up and warm-up.
    pub(crate) warmup_seconds: f64,
    pub(crate) sampling_seconds: f64,
    /// Whether the time was up before all draws were made.
    pub(crate) cut_short: bool,
    /// None if no draw was made in time.
    pub(crate) quality: Option<Quality>,
}

/// How good the draws are.
#[derive(Debug, Clone)]
pub(crate) struct Quality {
    /// The smallest bulk effective sample size over weights and returns.
    pub(crate) min_ess: f64,
    pub(crate) max_rhat: f64,
    pub(crate) converged: bool,
    /// The share of accepted proposals; nuts-rs has no such thing.
    pub(crate) acceptance: Option<f64>,
    /// Gradients for one draw, where they are counted.
    pub(crate) gradients_per_draw: Option<f64>,
}

impl Quality {
    fn new(problem: &Problem<'_>, draws: &Draws, log_likelihood: &[f64]) -> Self {
        let found = check_convergence(problem, draws, log_likelihood, &[1.0], &[], 0.05);
        Self {
            min_ess: found.min_ess_bulk,
            max_rhat: found.max_rhat,
            converged: found.converged,
            acceptance: None,
            gradients_per_draw: None,
        }
    }
}

/// Runs one of the library's samplers.
pub(crate) fn run_sampler(
    problem: &Problem<'_>,
    sampler: &dyn Sampler,
    seed: u64,
    limit: Limit,
) -> Result<(Run, Option<Draws>)> {
    let start = seconds();
    let left = || limit.seconds - (seconds() - start);
    let chains = sampler.chains_for(limit.draws);
    let watch = |_: &brex_posterior::Progress| {
        if left() > 0.0 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let started = sampler.start(problem, chains, seed, &watch);
    let warmup_seconds = seconds() - start;
    let mut run = Run {
        chains,
        draws: 0,
        warmup_seconds,
        sampling_seconds: 0.0,
        cut_short: true,
        quality: None,
    };
    let mut running = match started {
        Err(SampleError::Stopped) => return Ok((run, None)),
        other => other?,
    };
    let (k, each) = (problem.dim(), limit.draws.div_ceil(chains));
    let mut kept: Vec<Kept> = (0..chains).map(|_| Kept::new(each, k)).collect();
    let (mut done, mut size) = (0, 4);
    while done < each && left() > 0.0 {
        let before = seconds();
        let count = size.min(each - done);
        let mut blocks: Vec<ChainBlock<'_>> = kept
            .iter_mut()
            .map(|kept| kept.block(done, count, k))
            .collect();
        running.advance(&mut blocks);
        done += count;
        if seconds() - before < 0.03 {
            size *= 2;
        }
    }
    run.sampling_seconds = seconds() - start - warmup_seconds;
    run.draws = done * chains;
    run.cut_short = done < each;
    if done < 4 {
        return Ok((run, None));
    }
    kept.iter_mut().for_each(|kept| kept.truncate(done, k));
    let join = |of: fn(&Kept) -> &[f64]| kept.iter().flat_map(|k| of(k).iter().copied()).collect();
    let draws = Draws::new(chains, done, k, join(|kept| &kept.weights))?;
    let log_likelihood: Vec<f64> = join(|kept| &kept.log_likelihood);
    let accepted: f64 = kept
        .iter()
        .flat_map(|k| &k.acceptance)
        .copied()
        .map(f64::from)
        .sum();
    let mut quality = Quality::new(problem, &draws, &log_likelihood);
    quality.acceptance = Some(accepted / run.draws as f64);
    run.quality = Some(quality);
    Ok((run, Some(draws)))
}

/// The draws of one chain as they are made.
struct Kept {
    weights: Vec<f64>,
    log_likelihood: Vec<f64>,
    acceptance: Vec<f32>,
    diverging: Vec<bool>,
}

impl Kept {
    fn new(draws: usize, k: usize) -> Self {
        Self {
            weights: vec![0.0; draws * k],
            log_likelihood: vec![0.0; draws],
            acceptance: vec![0.0; draws],
            diverging: vec![false; draws],
        }
    }

    /// Room for `count` draws behind the first `done`.
    fn block(&mut self, done: usize, count: usize, k: usize) -> ChainBlock<'_> {
        ChainBlock {
            weights: &mut self.weights[done * k..][..count * k],
            log_likelihood: &mut self.log_likelihood[done..][..count],
            acceptance: &mut self.acceptance[done..][..count],
            diverging: &mut self.diverging[done..][..count],
        }
    }

    fn truncate(&mut self, draws: usize, k: usize) {
        self.weights.truncate(draws * k);
        self.log_likelihood.truncate(draws);
        self.acceptance.truncate(draws);
    }
}

/// Runs nuts-rs with its default number of chains and tuning steps, all chains on this thread;
/// `plain` says with which gradient.
pub(crate) fn run_nuts(problem: &Problem<'_>, plain: bool, seed: u64, limit: Limit) -> Result<Run> {
    let settings = nuts_rs::DiagNutsSettings::default();
    let (chains, tune) = (settings.num_chains, settings.num_tune);
    let start = seconds();
    let left = || limit.seconds - (seconds() - start);
    let (features, preferences) = (problem.features(), problem.preferences());
    let weights = Weights::under(problem.prior());
    let mut target = Target::new(features, preferences, problem.beta(), weights);
    if plain {
        target = target.plain();
    }
    let mut run = Run {
        chains,
        draws: 0,
        warmup_seconds: 0.0,
        sampling_seconds: 0.0,
        cut_short: true,
        quality: None,
    };
    let mut all = Vec::new();
    for index in 0..chains as u64 {
        let mut chain = NutsChain::new(&target, tune, seed, index)?;
        for _ in 0..tune {
            if left() <= 0.0 {
                run.warmup_seconds = seconds() - start;
                return Ok(run);
            }
            chain.tune()?;
        }
        all.push(chain);
    }
    run.warmup_seconds = seconds() - start;
    let each = limit.draws.div_ceil(chains);
    let mut done = 0;
    while done < each && left() > 0.0 {
        for chain in &mut all {
            for _ in 0..10.min(each - done) {
                chain.draw()?;
            }
        }
        done += 10.min(each - done);
    }
    run.sampling_seconds = seconds() - start - run.warmup_seconds;
    run.draws = done * chains;
    run.cut_short = done < each;
    if done < 4 {
        return Ok(run);
    }
    let weights = all.iter().flat_map(|chain| chain.weights.iter().copied());
    let draws = Draws::new(chains, done, problem.dim(), weights.collect())?;
    let log_likelihood: Vec<f64> = draws.iter().map(|w| problem.log_likelihood(w)).collect();
    let gradients: u64 = all.iter().map(|chain| chain.gradients).sum();
    let mut quality = Quality::new(problem, &draws, &log_likelihood);
    quality.gradients_per_draw = Some(gradients as f64 / run.draws as f64);
    run.quality = Some(quality);
    Ok(run)
}
