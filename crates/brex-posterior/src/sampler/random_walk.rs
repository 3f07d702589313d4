//! The paper's chain, step for step (appendix B; `LinearFeatureMCMC_auxiliary.py` of its authors).
//!
//! - start: every weight uniform between -1/8 and 1/8 (the default of the network layer that holds
//!   them, whose bound is `1 / sqrt(k)`), plus normal noise of the step's size, then normalised;
//! - proposal: normal noise of standard deviation `step` on every weight, then normalised;
//! - accepted when the likelihood rises, else with the ratio of the likelihoods; a proposal that
//!   the prior forbids is rejected;
//! - the first 5,000 steps are burnt, then every 20th is kept.
//!
//! One thing differs: a start that the prior forbids is drawn again, because the authors' chain can
//! stay at such a point for ever. Under the Gaussian prior, which the paper does not have, nothing
//! is normalised and the ratio includes the prior.

use super::scalar::{self, ScalarTarget, dot};
use super::{Chains, SampleError, Sampler, Watch};
use crate::{Prior, Problem};
use brex_core::{SavedState, Stream};
use rand::RngExt;
use rand_distr::StandardNormal;

/// What the paper keeps of 200,000 steps: 5,000 burnt, then one in 20.
const PAPER_DRAWS: usize = (200_000 - 5_000) / 20;

/// A random walk on the sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomWalk {
    /// The standard deviation of the noise on every weight; the paper uses 0.005, and 0.05 for
    /// Seaquest.
    pub step: f64,
    /// Steps that are thrown away at the start.
    pub burn_in: usize,
    /// One in so many steps is kept.
    pub thinning: usize,
}

impl Default for RandomWalk {
    fn default() -> Self {
        Self {
            step: 0.005,
            burn_in: 5000,
            thinning: 20,
        }
    }
}

impl RandomWalk {
    fn rule(&self, problem: &Problem<'_>) -> Result<WalkRule, SampleError> {
        if !(self.step.is_finite() && self.step > 0.0) {
            return Err(SampleError::Setting {
                name: "step",
                value: self.step.to_string(),
                expected: "a positive number",
            });
        }
        if self.thinning == 0 {
            return Err(SampleError::Setting {
                name: "thinning",
                value: self.thinning.to_string(),
                expected: "at least 1",
            });
        }
        let scale = match problem.prior() {
            Prior::Gaussian { scale } => Some(scale),
            Prior::Sphere | Prior::NonNegative { .. } => None,
        };
        Ok(WalkRule { walk: *self, scale })
    }
}

impl Sampler for RandomWalk {
    fn name(&self) -> &'static str {
        "random-walk"
    }

    fn default_chains(&self) -> usize {
        4
    }

    fn default_draws(&self) -> (usize, usize) {
        (PAPER_DRAWS, PAPER_DRAWS)
    }

    fn start<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Box<dyn Chains + 'p>, SampleError> {
        scalar::start(problem, self.rule(problem)?, chains, seed, watch)
    }

    fn resume<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        state: &SavedState,
    ) -> Result<Box<dyn Chains + 'p>, SampleError> {
        scalar::resume(problem, self.rule(problem)?, chains, state)
    }
}

#[derive(Debug, Clone, Copy)]
struct WalkRule {
    walk: RandomWalk,
    /// The scale of the Gaussian prior; none on the sphere.
    scale: Option<f64>,
}

/// Where a chain is, and room for a proposal.
#[derive(Debug, Clone)]
struct Walker {
    proposal: Vec<f64>,
    returns: Vec<f64>,
    log_likelihood: f64,
    log_prior: f64,
}

impl WalkRule {
    #[inline(always)]
    fn log_prior(&self, weights: &[f64]) -> f64 {
        self.scale
            .map_or(0.0, |scale| -0.5 * dot(weights, weights) / (scale * scale))
    }

    #[inline(always)]
    fn normalise(&self, weights: &mut [f64]) {
        if self.scale.is_none() {
            let factor = 1.0 / dot(weights, weights).sqrt();
            weights.iter_mut().for_each(|w| *w *= factor);
        }
    }
}

impl scalar::Rule for WalkRule {
    const PURPOSE: &'static str = "random-walk";
    type Scratch = Walker;

    fn warm_up(&self) -> usize {
        self.walk.burn_in
    }

    fn steps_per_draw(&self) -> usize {
        self.walk.thinning
    }

    fn start(&self, target: &ScalarTarget<'_>, random: &mut Stream) -> Vec<f64> {
        let bound = 1.0 / (target.dim() as f64).sqrt();
        let mut weights: Vec<f64> = (0..target.dim())
            .map(|_| {
                let noise: f64 = random.sample(StandardNormal);
                bound * (2.0 * random.random::<f64>() - 1.0) + self.walk.step * noise
            })
            .collect();
        self.normalise(&mut weights);
        weights
    }

    fn scratch(&self, target: &mut ScalarTarget<'_>, state: &[f64]) -> Walker {
        let mut returns = vec![0.0; target.rows()];
        target.returns(state, &mut returns);
        Walker {
            proposal: vec![0.0; state.len()],
            log_likelihood: target.scaled_log_likelihood(&returns, 1.0),
            log_prior: self.log_prior(state),
            returns,
        }
    }

    fn log_likelihood(&self, walker: &Walker) -> f64 {
        walker.log_likelihood
    }

    fn weights(&self, state: &[f64], out: &mut [f64]) {
        out.copy_from_slice(state);
    }

    #[inline(always)]
    fn step(
        &self,
        target: &mut ScalarTarget<'_>,
        state: &mut [f64],
        walker: &mut Walker,
        random: &mut Stream,
    ) -> f32 {
        for (out, w) in walker.proposal.iter_mut().zip(state.iter()) {
            let noise: f64 = random.sample(StandardNormal);
            *out = self.walk.step.mul_add(noise, *w);
        }
        self.normalise(&mut walker.proposal);
        if target.worst(&walker.proposal) < 0.0 {
            return 0.0;
        }
        target.returns(&walker.proposal, &mut walker.returns);
        let log_likelihood = target.scaled_log_likelihood(&walker.returns, 1.0);
        let log_prior = self.log_prior(&walker.proposal);
        let rise = log_likelihood + log_prior - walker.log_likelihood - walker.log_prior;
        if rise < 0.0 && random.random::<f64>() >= rise.exp() {
            return 0.0;
        }
        state.copy_from_slice(&walker.proposal);
        walker.log_likelihood = log_likelihood;
        walker.log_prior = log_prior;
        1.0
    }
}
