//! Metropolis's walk in eight lanes, adapted while it warms up.
//!
//! Weights `w` have size 1. The walk moves `z = r w`, whose density is `L(z / |z|) e^-|z|`: under
//! it, the direction has the prior that is wanted and the size `r` is an independent Gamma number,
//! drawn anew for every step. So nothing has to be computed on a curved surface, and nothing gets
//! stuck at its corners.
//!
//! Chains start at draws of the prior. While they warm up, the proposal takes on the covariance of
//! their positions and a scale at which three in ten proposals are accepted; then it stays as it
//! is. Now and then a proposal is four times as long, or as short.
//!
//! A reward that says little in any state is, up to its sign, the same everywhere: where people
//! contradict the model, the posterior has two opposite peaks, all weights equal and positive or
//! equal and negative, with nothing in between. So one proposal in ten is a reflection in the plane
//! across the widest direction of the draws, and for the covariance all draws are reflected to one
//! side.

use super::prior::WeightPrior;
use crate::lanes::{LANES, Lanes};
use crate::study::ChainQuality;
use brex_core::{Draws, Stream, Task, Workspace, diagnose, dispatch, stream};
use brex_posterior::{ESS_LIMIT, RHAT_LIMIT};
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// What the chains sample: a likelihood of weights, for all lanes at once.
pub(super) trait LaneLikelihood {
    /// How many weights there are.
    fn dim(&self) -> usize;
    /// The log likelihood in every lane.
    fn log_likelihood(&mut self, weights: &[Lanes]) -> Lanes;
    /// The weights of the last call are the current ones of the chosen lanes from now on.
    fn accepted(&mut self, chosen: Lanes);
}

/// How to infer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InferenceOptions {
    /// The inverse temperature: of the demonstrator's actions, or of the preferences.
    pub beta: f64,
    /// The prior.
    pub prior: WeightPrior,
    /// The most draws in each of the eight chains before giving up.
    pub most_draws_per_chain: usize,
    /// The seed.
    pub seed: u64,
    /// Which of many inferences under this seed it is.
    pub index: u64,
}

impl Default for InferenceOptions {
    fn default() -> Self {
        Self {
            beta: 50.0,
            prior: WeightPrior::default(),
            most_draws_per_chain: 8_000,
            seed: 0,
            index: 0,
        }
    }
}

/// Draws of the weights, and how far they can be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// The draws, of size 1.
    pub draws: Draws,
    /// R-hat, effective sample sizes and the verdict.
    pub quality: ChainQuality,
}

/// Draws per chain before the first look at convergence.
const FIRST_LOOK: usize = 1_000;
/// The acceptance to aim for.
const ACCEPTANCE: f64 = 0.3;

/// Samples until converged or until the limit.
pub(super) fn sample_lanes<T: LaneLikelihood>(
    target: &mut T,
    purpose: &str,
    options: &InferenceOptions,
) -> Inference {
    let dim = target.dim();
    let mut walk = Walk::new(target, purpose, options);
    // Few weights need few steps; the lengths of the rounds grow with their number.
    let unit = 50 * dim.max(4);
    for length in [unit, unit, 2 * unit] {
        walk.warm_up(target, length, true);
    }
    walk.warm_up(target, unit, false);
    let mut chains = vec![Vec::new(); LANES];
    let (mut accepted, mut goal) = (0.0, FIRST_LOOK);
    loop {
        goal = goal.min(options.most_draws_per_chain.max(4));
        let done = chains[0].len() / dim;
        accepted += walk.draw(target, goal - done, &mut chains);
        let acceptance = accepted / (LANES * goal) as f64;
        let quality = judge(&chains, dim, acceptance);
        if quality.converged || goal >= options.most_draws_per_chain {
            let draws = Draws::new(LANES, goal, dim, chains.concat());
            return Inference {
                draws: draws.unwrap_or_else(|error| unreachable!("{error}")),
                quality,
            };
        }
        goal += goal / 2;
    }
}

fn judge(chains: &[Vec<f64>], dim: usize, acceptance: f64) -> ChainQuality {
    let mut workspace = Workspace::default();
    let (mut max_rhat, mut min_ess) = (Some(0.0_f64), f64::INFINITY);
    for k in 0..dim {
        let column: Vec<f64> = chains
            .iter()
            .flat_map(|chain| chain.iter().skip(k).step_by(dim).copied())
            .collect();
        let diagnosis = diagnose(&column, chains.len(), &[], &mut workspace);
        // Weights that never move leave R-hat unknown; that is not agreement.
        let rhat = Some(diagnosis.rhat).filter(|rhat| rhat.is_finite());
        max_rhat = max_rhat.zip(rhat).map(|(a, b)| a.max(b));
        let ess = diagnosis.ess_bulk.min(diagnosis.ess_tail);
        min_ess = min_ess.min(if ess.is_finite() { ess } else { 0.0 });
    }
    ChainQuality {
        converged: max_rhat.is_some_and(|rhat| rhat < RHAT_LIMIT) && min_ess >= ESS_LIMIT,
        max_rhat,
        min_ess,
        draws: chains.iter().map(|chain| chain.len() / dim).sum(),
        acceptance,
    }
}

struct Walk {
    prior: WeightPrior,
    random: Vec<Stream>,
    /// The current weights of every lane.
    weights: Vec<Lanes>,
    log_likelihood: Lanes,
    /// The lower triangle of the proposal's covariance, row by row.
    factor: Vec<f64>,
    /// The direction to reflect in, of length 1.
    widest: Vec<f64>,
    scale: f64,
    /// Steps since the scale began to be adapted to the present factor.
    adapted: f64,
}

impl Walk {
    fn new<T: LaneLikelihood>(target: &mut T, purpose: &str, options: &InferenceOptions) -> Self {
        let dim = target.dim();
        let first = options.index * LANES as u64;
        let mut random: Vec<Stream> = (first..first + LANES as u64)
            .map(|index| stream(options.seed, purpose, index))
            .collect();
        let mut weights = vec![Lanes::ZERO; dim];
        for (lane, random) in random.iter_mut().enumerate() {
            for (w, drawn) in weights.iter_mut().zip(options.prior.draw(dim, random)) {
                w.0[lane] = drawn;
            }
        }
        let log_likelihood = dispatch(Evaluate {
            target,
            weights: &weights,
        });
        let mut factor = vec![0.0; dim * dim];
        (0..dim).for_each(|k| factor[k * dim + k] = 1.0);
        Self {
            prior: options.prior,
            random,
            weights,
            log_likelihood,
            factor,
            widest: vec![(dim as f64).sqrt().recip(); dim],
            scale: 0.5,
            adapted: 0.0,
        }
    }

    /// Steps that adapt the scale, and afterwards the shape of the proposal if asked.
    fn warm_up<T: LaneLikelihood>(&mut self, target: &mut T, steps: usize, reshape: bool) {
        let mut chains = vec![Vec::new(); LANES];
        self.adapted = 0.0;
        dispatch(Steps {
            target,
            walk: self,
            count: steps,
            chains: &mut chains,
            adapt: true,
        });
        if reshape {
            // The first half may still be on its way.
            let dim = self.weights.len();
            let late = chains.iter().map(|chain| &chain[steps / 2 * dim..]);
            let mut late: Vec<Vec<f64>> = late
                .flat_map(|chain| chain.chunks_exact(dim).map(<[f64]>::to_vec))
                .collect();
            if let Some(widest) = widest_direction(&covariance(&late, dim)) {
                self.widest = widest;
            }
            for draw in &mut late {
                if dot(&self.widest, draw) < 0.0 {
                    reflect(&self.widest, draw);
                }
            }
            if let Some(factor) = cholesky(covariance(&late, dim), dim) {
                self.factor = factor;
                // The best scale for a normal law, at the mean size of z.
                self.scale = 2.4 * (dim as f64).sqrt();
            }
        }
    }

    /// Appends draws to every chain; gives the sum of the acceptance probabilities.
    fn draw<T: LaneLikelihood>(
        &mut self,
        target: &mut T,
        count: usize,
        chains: &mut [Vec<f64>],
    ) -> f64 {
        dispatch(Steps {
            target,
            walk: self,
            count,
            chains,
            adapt: false,
        })
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Mirrors a vector in the plane across a direction of length 1.
fn reflect(direction: &[f64], vector: &mut [f64]) {
    let along = 2.0 * dot(direction, vector);
    for (v, d) in vector.iter_mut().zip(direction) {
        *v -= along * d;
    }
}

/// The covariance of all draws together, row by row.
fn covariance(draws: &[Vec<f64>], dim: usize) -> Vec<f64> {
    let count = draws.len() as f64;
    let mut mean = vec![0.0; dim];
    for draw in draws {
        mean.iter_mut().zip(draw).for_each(|(m, w)| *m += w / count);
    }
    let mut covariance = vec![0.0; dim * dim];
    for draw in draws {
        for i in 0..dim {
            for j in 0..dim {
                covariance[i * dim + j] += (draw[i] - mean[i]) * (draw[j] - mean[j]) / count;
            }
        }
    }
    covariance
}

/// The direction of the largest variance, by the power method. None if nothing varies.
fn widest_direction(covariance: &[f64]) -> Option<Vec<f64>> {
    let dim = covariance.len().isqrt();
    let mut direction: Vec<f64> = (0..dim).map(|k| 1.0 + 0.1 * k as f64).collect();
    for _ in 0..200 {
        let rows = covariance.chunks_exact(dim);
        let next: Vec<f64> = rows.map(|row| dot(row, &direction)).collect();
        let length = dot(&next, &next).sqrt();
        if length.is_nan() || length < 1e-30 {
            return None;
        }
        direction = next.into_iter().map(|v| v / length).collect();
    }
    Some(direction)
}

/// The Cholesky factor of a covariance, row by row. None if nothing varies.
fn cholesky(mut covariance: Vec<f64>, dim: usize) -> Option<Vec<f64>> {
    let trace: f64 = (0..dim).map(|i| covariance[i * dim + i]).sum();
    if trace.is_nan() || trace < 1e-24 {
        return None;
    }
    // Weights of size 1 lie on a surface: without a little in every direction the walk would not
    // leave its tangent.
    for i in 0..dim {
        covariance[i * dim + i] += 1e-3 * trace / dim as f64;
    }
    let mut factor = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..=i {
            let row = |r: usize| &factor[r * dim..][..j];
            let rest = covariance[i * dim + j] - dot(row(i), row(j));
            factor[i * dim + j] = if i == j {
                rest.max(1e-300).sqrt()
            } else {
                rest / factor[j * dim + j]
            };
        }
    }
    Some(factor)
}

struct Evaluate<'a, T> {
    target: &'a mut T,
    weights: &'a [Lanes],
}

impl<T: LaneLikelihood> Task for Evaluate<'_, T> {
    type Output = Lanes;
    #[inline(always)]
    fn run(self) -> Lanes {
        let value = self.target.log_likelihood(self.weights);
        self.target.accepted(Lanes::splat(1.0));
        value
    }
}

struct Steps<'a, T> {
    target: &'a mut T,
    walk: &'a mut Walk,
    count: usize,
    chains: &'a mut [Vec<f64>],
    adapt: bool,
}

impl<T: LaneLikelihood> Task for Steps<'_, T> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let Self {
            target,
            walk,
            count,
            chains,
            adapt,
        } = self;
        let mut total = 0.0;
        for _ in 0..count {
            let accepted = walk.step(target);
            total += accepted;
            if adapt {
                walk.adapted += 1.0;
                let error = accepted / LANES as f64 - ACCEPTANCE;
                walk.scale *= (2.0 * error / walk.adapted.powf(0.6)).exp();
            }
            for (lane, chain) in chains.iter_mut().enumerate() {
                chain.extend(walk.weights.iter().map(|w| w.0[lane]));
            }
        }
        total
    }
}

impl Walk {
    /// One step of every chain; gives the sum of the acceptance probabilities.
    #[inline(always)]
    fn step<T: LaneLikelihood>(&mut self, target: &mut T) -> f64 {
        let dim = self.weights.len();
        let mut proposal = self.weights.clone();
        let mut log_ratio = Lanes::ZERO;
        for lane in 0..LANES {
            log_ratio.0[lane] = self.propose(lane, dim, &mut proposal);
        }
        let new = target.log_likelihood(&proposal);
        let mut chosen = Lanes::ZERO;
        let mut total = 0.0;
        for lane in 0..LANES {
            let change = new.0[lane] - self.log_likelihood.0[lane] + log_ratio.0[lane];
            let probability = if change >= 0.0 { 1.0 } else { change.exp() };
            // What is not a number is not accepted.
            if self.random[lane].random::<f64>() < probability {
                chosen.0[lane] = 1.0;
            }
            total += if probability.is_nan() {
                0.0
            } else {
                probability
            };
        }
        target.accepted(chosen);
        self.log_likelihood = new.choose(self.log_likelihood, chosen);
        for (w, new) in self.weights.iter_mut().zip(&proposal) {
            *w = new.choose(*w, chosen);
        }
        total
    }

    /// Proposes weights for one lane; gives the log ratio of the densities of the sizes.
    #[inline(always)]
    fn propose(&mut self, lane: usize, dim: usize, proposal: &mut [Lanes]) -> f64 {
        let random = &mut self.random[lane];
        // A Gamma number: the sum of as many exponential ones as there are weights.
        let before: f64 = (0..dim).map(|_| -> f64 { Exp1.sample(random) }).sum();
        for w in proposal.iter_mut() {
            w.0[lane] *= before;
        }
        let length = match random.random_range(0..10) {
            0 => Some(4.0 * self.scale),
            1 => Some(0.25 * self.scale),
            2 => None,
            _ => Some(self.scale),
        };
        if let Some(length) = length {
            for j in 0..dim {
                let normal: f64 = StandardNormal.sample(random);
                for i in j..dim {
                    proposal[i].0[lane] += length * self.factor[i * dim + j] * normal;
                }
            }
        } else {
            let pairs = proposal.iter().zip(&self.widest);
            let along: f64 = pairs.map(|(z, d)| z.0[lane] * d).sum();
            for (z, d) in proposal.iter_mut().zip(&self.widest) {
                z.0[lane] -= 2.0 * along * d;
            }
        }
        let after = self.prior.size(proposal.iter().map(|w| w.0[lane]));
        for w in proposal.iter_mut() {
            w.0[lane] /= after;
        }
        before - after
    }
}
