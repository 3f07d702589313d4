//! What the samplers share that run one chain at a time in double precision: the target, the
//! starting point inside the prior, and the book-keeping of chains.

use super::{ChainBlock, Chains, Progress, SampleError, Stage, Watch};
use crate::Problem;
use crate::lanes::{Task, dispatch};
use crate::likelihood::{self, Pair};
use crate::subspace::Compared;
use brex_core::{Matrix, SavedState, StateArray, Stream, stream, stream_from_words, stream_words};
use rayon::prelude::*;
use std::sync::Arc;

/// How many random starts are tried before giving up on the prior.
const START_TRIES: usize = 10_000;

/// Half of the largest spread of returns for which one exponential per trajectory is enough.
const HALF_SPREAD: f64 = 300.0;

/// The likelihood as a function of weights, with scratch space.
#[derive(Debug, Clone)]
pub(super) struct ScalarTarget<'p> {
    features: Arc<Matrix>,
    pairs: Arc<[Pair]>,
    beta: f64,
    half_space: Option<&'p [f64]>,
    /// Whether every pair has the same total weight, and which.
    total: Option<f64>,
    exponentials: Vec<(f64, f64)>,
}

/// A dot product in eight interleaved parts, which vectorises.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_parts, b_parts) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_parts
        .remainder()
        .iter()
        .zip(b_parts.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a_parts.zip(b_parts) {
        for lane in 0..8 {
            sums[lane] = a[lane].mul_add(b[lane], sums[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

impl<'p> ScalarTarget<'p> {
    fn new(problem: &Problem<'p>) -> Self {
        let compared = Compared::new(problem);
        let first = compared.pairs.first().map(Pair::total);
        let total = first.filter(|first| compared.pairs.iter().all(|p| p.total() == *first));
        Self {
            exponentials: vec![(0.0, 0.0); compared.features.rows()],
            features: Arc::new(compared.features),
            pairs: compared.pairs.into(),
            beta: problem.beta(),
            half_space: problem.half_space(),
            total,
        }
    }

    pub(super) fn dim(&self) -> usize {
        self.features.cols()
    }

    pub(super) fn rows(&self) -> usize {
        self.features.rows()
    }

    /// The return that may not be negative; 0 where there is no such prior.
    #[inline(always)]
    pub(super) fn worst(&self, weights: &[f64]) -> f64 {
        self.half_space.map_or(0.0, |row| dot(row, weights))
    }

    /// Returns of the compared trajectories, up to a constant.
    #[inline(always)]
    pub(super) fn returns(&self, weights: &[f64], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(self.features.iter_rows()) {
            *out = dot(row, weights);
        }
    }

    /// The log likelihood of `factor` times the returns.
    ///
    /// `log sigma(g) = min(g, 0) - log(1 + e^-|g|)`. Where all pairs weigh the same, the second
    /// parts are multiplied up and one logarithm is taken of many; and `1 + e^-|g|` comes from
    /// exponentials of the returns, one per trajectory.
    #[inline(always)]
    pub(super) fn scaled_log_likelihood(&mut self, returns: &[f64], factor: f64) -> f64 {
        let factor = factor * self.beta;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in returns {
            low = low.min(*value);
            high = high.max(*value);
        }
        let middle = 0.5 * (low + high);
        let Some(total) = self
            .total
            .filter(|_| factor * (high - low) < 2.0 * HALF_SPREAD)
        else {
            return self.plain_log_likelihood(returns, factor);
        };
        for (out, value) in self.exponentials.iter_mut().zip(returns) {
            let e = (factor * (value - middle)).exp();
            *out = (e, 1.0 / e);
        }
        let (mut sum, mut linear) = (0.0, 0.0);
        for part in self.pairs.chunks(512) {
            let mut product = 1.0;
            for pair in part {
                let (i, j) = (self.exponentials[pair.i], self.exponentials[pair.j]);
                let g = returns[pair.j] - returns[pair.i];
                let (lost, inverse) = if g >= 0.0 {
                    (pair.for_i, j.1)
                } else {
                    (-pair.for_j, i.1)
                };
                linear += lost * g;
                product *= (i.0 + j.0) * inverse;
            }
            sum += product.ln();
        }
        -(total * sum + factor * linear)
    }

    fn plain_log_likelihood(&self, returns: &[f64], factor: f64) -> f64 {
        self.pairs
            .iter()
            .map(|pair| {
                let g = factor * (returns[pair.j] - returns[pair.i]);
                let (for_j, for_i) = likelihood::log_sigmoids(g);
                pair.for_j * for_j + pair.for_i * for_i
            })
            .sum()
    }
}

/// How one chain moves. The state is a vector of `k` numbers from which weights follow.
pub(super) trait Rule: Copy + Send + Sync {
    /// The name of its random streams.
    const PURPOSE: &'static str;
    /// What goes with a state: returns, the log likelihood, room to work.
    type Scratch: Send;

    /// Steps before the first draw.
    fn warm_up(&self) -> usize;
    /// Steps from one draw to the next.
    fn steps_per_draw(&self) -> usize;
    /// A random starting point, which may be outside the half-space.
    fn start(&self, target: &ScalarTarget<'_>, random: &mut Stream) -> Vec<f64>;
    /// What goes with a state.
    fn scratch(&self, target: &mut ScalarTarget<'_>, state: &[f64]) -> Self::Scratch;
    /// The log likelihood of the state.
    fn log_likelihood(&self, scratch: &Self::Scratch) -> f64;
    /// The weights of a state.
    fn weights(&self, state: &[f64], out: &mut [f64]);
    /// One step; gives the share of accepted proposals.
    fn step(
        &self,
        target: &mut ScalarTarget<'_>,
        state: &mut [f64],
        scratch: &mut Self::Scratch,
        random: &mut Stream,
    ) -> f32;
}

struct ScalarChain<'p, R: Rule> {
    target: ScalarTarget<'p>,
    random: Stream,
    state: Vec<f64>,
    scratch: R::Scratch,
}

struct ScalarChains<'p, R: Rule> {
    rule: R,
    chains: Vec<ScalarChain<'p, R>>,
}

/// Starts chains at random points inside the prior and warms them up.
pub(super) fn start<'p, R: Rule + 'p>(
    problem: &Problem<'p>,
    rule: R,
    chains: usize,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Box<dyn Chains + 'p>, SampleError> {
    let target = ScalarTarget::new(problem);
    let start_one = |index| {
        let mut random = stream(seed, R::PURPOSE, index);
        let mut target = target.clone();
        for _ in 0..START_TRIES {
            let state = rule.start(&target, &mut random);
            if target.worst(&state) >= 0.0 {
                let scratch = rule.scratch(&mut target, &state);
                return Ok(ScalarChain {
                    target,
                    random,
                    state,
                    scratch,
                });
            }
        }
        Err(SampleError::NoStart { tries: START_TRIES })
    };
    let mut all = ScalarChains {
        rule,
        chains: (0..chains as u64)
            .map(start_one)
            .collect::<Result<_, _>>()?,
    };
    let total = rule.warm_up();
    let part = total.div_ceil(20).max(1);
    for done in (0..total).step_by(part) {
        let progress = Progress {
            stage: Stage::WarmUp,
            done,
            total: Some(total),
        };
        if watch(&progress).is_break() {
            return Err(SampleError::Stopped);
        }
        all.chains.par_iter_mut().for_each(|chain| {
            let count = part.min(total - done);
            dispatch(Steps { rule, chain, count });
        });
    }
    Ok(Box::new(all))
}

/// Takes up saved chains.
pub(super) fn resume<'p, R: Rule + 'p>(
    problem: &Problem<'p>,
    rule: R,
    chains: usize,
    saved: &SavedState,
) -> Result<Box<dyn Chains + 'p>, SampleError> {
    let wrong = |what: &str| SampleError::State(what.to_owned());
    let (Some(StateArray::F64(states)), Some(StateArray::U64(words))) =
        (saved.arrays.get("positions"), saved.arrays.get("random"))
    else {
        return Err(wrong("no positions or no random words"));
    };
    let (k, size) = (problem.dim(), words.len() / chains.max(1));
    if states.len() != chains * k || words.len() != chains * size {
        return Err(wrong("another number of chains or features"));
    }
    let target = ScalarTarget::new(problem);
    let chains = states
        .chunks_exact(k)
        .zip(words.chunks_exact(size.max(1)))
        .map(|(state, words)| {
            let mut target = target.clone();
            Ok(ScalarChain {
                scratch: rule.scratch(&mut target, state),
                random: stream_from_words(words).ok_or_else(|| wrong("random words"))?,
                state: state.to_vec(),
                target,
            })
        })
        .collect::<Result<_, SampleError>>()?;
    Ok(Box::new(ScalarChains { rule, chains }))
}

/// Moves one chain on; gives the mean share of accepted proposals.
struct Steps<'a, 'p, R: Rule> {
    rule: R,
    chain: &'a mut ScalarChain<'p, R>,
    count: usize,
}

impl<R: Rule> Task for Steps<'_, '_, R> {
    type Output = f32;
    #[inline(always)]
    fn run(self) -> f32 {
        let ScalarChain {
            target,
            random,
            state,
            scratch,
        } = self.chain;
        let mut accepted = 0.0;
        for _ in 0..self.count {
            accepted += self.rule.step(target, state, scratch, random);
        }
        accepted / self.count.max(1) as f32
    }
}

impl<R: Rule> Chains for ScalarChains<'_, R> {
    fn advance(&mut self, blocks: &mut [ChainBlock<'_>]) {
        let rule = self.rule;
        self.chains
            .par_iter_mut()
            .zip(blocks.par_iter_mut())
            .for_each(|(chain, block)| {
                let k = chain.state.len();
                for draw in 0..block.log_likelihood.len() {
                    let count = rule.steps_per_draw();
                    block.acceptance[draw] = dispatch(Steps { rule, chain, count });
                    block.diverging[draw] = false;
                    block.log_likelihood[draw] = rule.log_likelihood(&chain.scratch);
                    rule.weights(&chain.state, &mut block.weights[draw * k..][..k]);
                }
            });
    }

    fn save(&self) -> SavedState {
        let mut saved = SavedState::default();
        let states = self.chains.iter().flat_map(|chain| &chain.state).copied();
        let words = self
            .chains
            .iter()
            .flat_map(|chain| stream_words(&chain.random));
        let arrays = &mut saved.arrays;
        arrays.insert("positions".into(), StateArray::F64(states.collect()));
        arrays.insert("random".into(), StateArray::U64(words.collect()));
        saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prior;
    use brex_core::{Preference, Preferences};

    #[test]
    fn the_fast_likelihood_is_the_plain_one() {
        let features = Matrix::from_fn(7, 5, |i, j| ((i * 13 + j * 29) % 17) as f64 - 8.0);
        let mut items = Preferences::full_ranking(7).items().to_vec();
        for weighted in [false, true] {
            if weighted {
                items.push(Preference {
                    weight: 2.5,
                    ..Preference::tie(0, 3)
                });
            }
            let preferences = Preferences::new(7, items.clone()).unwrap();
            let problem = Problem::new(&features, &preferences, Prior::Sphere, 0.8).unwrap();
            let mut target = ScalarTarget::new(&problem);
            let weights = [0.3, -0.1, 0.8, -0.4, 0.2];
            let mut returns = vec![0.0; 7];
            target.returns(&weights, &mut returns);
            for factor in [1.0, 0.01, 300.0] {
                let scaled: Vec<f64> = weights.iter().map(|w| w * factor).collect();
                let expected = problem.log_likelihood(&scaled);
                let found = target.scaled_log_likelihood(&returns, factor);
                assert!(
                    (found - expected).abs() < 1e-9 * expected.abs(),
                    "factor {factor}"
                );
            }
        }
    }
}
