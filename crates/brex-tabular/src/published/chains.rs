//! The authors' two chains, eight worlds at a time.
//!
//! Each of 5,000 states, from the same start, without burn-in; every fifth state counts. Values are
//! carried along the chain of Bayesian IRL: value iteration for a proposal goes on from the values
//! of the current state.

use super::demonstrations::Evidence;
use super::glibc_rand::GlibcRand;
use super::walk::propose;
use super::world::{ACTIONS, FEATURES, GAMMA, NEXT, STATES, TOLERANCE};
use crate::lane_values::{Successors, iterate_values};
use crate::lanes::{LANES, Lanes, exp, ln};
use brex_core::{Task, keep_lanes};

const LENGTH: usize = 5_000;
const THIN: usize = 5;
/// The inverse temperature of both likelihoods.
const BETA: f64 = 50.0;

type Weights = [f64; FEATURES];

/// What a chain needs to know of its target.
trait Target {
    /// The log posterior of the proposals, one per lane.
    fn log_posterior(&mut self, proposals: &[Weights; LANES]) -> Lanes;
    /// The proposals of these lanes are the current states from now on.
    fn accepted(&mut self, lanes: &[bool; LANES]);
}

/// Runs a chain in every lane and gives the mean weights of each.
#[inline(always)]
fn run_chains(target: &mut impl Target, random: &mut [GlibcRand; LANES]) -> [Weights; LANES] {
    let mut current = [[-1.0 / FEATURES as f64; FEATURES]; LANES];
    let mut level = target.log_posterior(&current);
    target.accepted(&[true; LANES]);
    let mut sums = current;
    for state in 1..LENGTH {
        let mut proposals = current;
        for lane in 0..LANES {
            proposals[lane] = propose(&current[lane], &mut random[lane]);
        }
        let new = target.log_posterior(&proposals);
        let mut accepted = [false; LANES];
        for lane in 0..LANES {
            let change = new.0[lane] - level.0[lane];
            let probability = if change >= 0.0 { 1.0 } else { change.exp() };
            accepted[lane] = random[lane].unit() < probability;
            if accepted[lane] {
                current[lane] = proposals[lane];
                level.0[lane] = new.0[lane];
            }
        }
        target.accepted(&accepted);
        if state % THIN == 0 {
            for (sums, current) in sums.iter_mut().zip(&current) {
                for (sum, w) in sums.iter_mut().zip(current) {
                    *sum += w;
                }
            }
        }
    }
    sums.map(|sums| sums.map(|sum| sum / (LENGTH / THIN) as f64))
}

/// The grid's moves.
struct Grid;

impl Successors for Grid {
    #[inline(always)]
    fn states(&self) -> usize {
        STATES
    }
    #[inline(always)]
    fn actions(&self) -> usize {
        ACTIONS
    }
    #[inline(always)]
    fn after(&self, state: usize, action: usize, values: &[Lanes]) -> Lanes {
        values[NEXT[state][action]]
    }
    #[inline(always)]
    fn ends(&self, _: usize) -> bool {
        false
    }
}

/// Bayesian IRL of eight worlds.
pub(crate) struct IrlChains<'a> {
    pub(crate) feature: [&'a [usize; STATES]; LANES],
    pub(crate) evidence: [&'a Evidence; LANES],
    pub(crate) random: &'a mut [GlibcRand; LANES],
}

impl Task for IrlChains<'_> {
    type Output = [Weights; LANES];
    #[inline(always)]
    fn run(self) -> [Weights; LANES] {
        let lanes_where = |chosen: &dyn Fn(&Evidence) -> bool| {
            Lanes(std::array::from_fn(|lane| {
                f64::from(u8::from(chosen(self.evidence[lane])))
            }))
        };
        let marks = |shown: fn(&Evidence) -> &super::demonstrations::Shown| {
            std::array::from_fn(|s| {
                std::array::from_fn(|a| lanes_where(&|evidence: &Evidence| shown(evidence)[s][a]))
            })
        };
        let (good, bad): ([[Lanes; ACTIONS]; STATES], [[Lanes; ACTIONS]; STATES]) =
            (marks(|e| &e.good), marks(|e| &e.bad));
        let any = |marks: &[Lanes; ACTIONS]| marks.iter().any(|m| *m != Lanes::ZERO);
        let mut target = IrlTarget {
            feature: self.feature,
            has_good: std::array::from_fn(|s| any(&good[s])),
            has_bad: std::array::from_fn(|s| any(&bad[s])),
            good,
            bad,
            values: [Lanes::ZERO; STATES],
            trial: [Lanes::ZERO; STATES],
        };
        run_chains(&mut target, self.random)
    }
}

struct IrlTarget<'a> {
    feature: [&'a [usize; STATES]; LANES],
    good: [[Lanes; ACTIONS]; STATES],
    bad: [[Lanes; ACTIONS]; STATES],
    has_good: [bool; STATES],
    has_bad: [bool; STATES],
    /// The values of the current states and of the proposals.
    values: [Lanes; STATES],
    trial: [Lanes; STATES],
}

impl Target for IrlTarget<'_> {
    #[inline(always)]
    fn log_posterior(&mut self, proposals: &[Weights; LANES]) -> Lanes {
        let mut rewards = [Lanes::ZERO; STATES];
        for s in 0..STATES {
            for lane in 0..LANES {
                rewards[s].0[lane] = proposals[lane][self.feature[lane][s]];
            }
        }
        let mut work = self.values;
        iterate_values(
            &Grid,
            GAMMA,
            TOLERANCE,
            &rewards,
            &mut work,
            &mut self.trial,
        );
        let mut sum = Lanes::ZERO;
        for s in 0..STATES {
            if self.has_good[s] || self.has_bad[s] {
                let q = NEXT[s].map(|n| {
                    let value = rewards[s] + Lanes::splat(GAMMA) * self.trial[n];
                    Lanes::splat(BETA) * value
                });
                let all = log_sum_exp(&q);
                for a in 0..ACTIONS {
                    sum = sum + self.good[s][a] * (q[a] - all);
                }
                if self.has_bad[s] {
                    for a in 0..ACTIONS {
                        let others = [q[(a + 1) % 4], q[(a + 2) % 4], q[(a + 3) % 4]];
                        sum = sum + self.bad[s][a] * (log_sum_exp(&others) - all);
                    }
                }
            }
            keep_lanes();
        }
        sum
    }

    #[inline(always)]
    fn accepted(&mut self, lanes: &[bool; LANES]) {
        let chosen = Lanes(lanes.map(|l| f64::from(u8::from(l))));
        for (value, trial) in self.values.iter_mut().zip(&self.trial) {
            *value = trial.choose(*value, chosen);
            keep_lanes();
        }
    }
}

#[inline(always)]
fn log_sum_exp<const N: usize>(terms: &[Lanes; N]) -> Lanes {
    let mut largest = terms[0];
    for term in &terms[1..] {
        largest = largest.max(*term);
    }
    let mut sum = Lanes::ZERO;
    for term in terms {
        sum = sum + exp(*term - largest);
    }
    largest + ln(sum)
}

/// Bayesian REX of eight worlds.
pub(crate) struct RexChains<'a> {
    pub(crate) evidence: [&'a Evidence; LANES],
    pub(crate) random: &'a mut [GlibcRand; LANES],
}

impl Task for RexChains<'_> {
    type Output = [Weights; LANES];
    #[inline(always)]
    fn run(self) -> [Weights; LANES] {
        let first = self.evidence[0];
        let lanes = |f: &dyn Fn(&Evidence) -> f64| {
            Lanes(std::array::from_fn(|lane| f(self.evidence[lane])))
        };
        let features = (0..first.features.len())
            .map(|i| std::array::from_fn(|k| lanes(&|evidence: &Evidence| evidence.features[i][k])))
            .collect();
        // The same pairs are compared in every world; which is the better one differs.
        let pairs = (0..first.pairs.len())
            .map(|p| {
                let sign = |evidence: &Evidence| match evidence.pairs[p].2 {
                    Some(true) => 1.0,
                    Some(false) => -1.0,
                    None => 0.0,
                };
                (first.pairs[p].0, first.pairs[p].1, lanes(&sign))
            })
            .collect();
        let mut target = RexTarget {
            returns: vec![Lanes::ZERO; first.features.len()],
            features,
            pairs,
        };
        run_chains(&mut target, self.random)
    }
}

struct RexTarget {
    features: Vec<[Lanes; FEATURES]>,
    pairs: Vec<(usize, usize, Lanes)>,
    /// Returns times beta.
    returns: Vec<Lanes>,
}

impl Target for RexTarget {
    #[inline(always)]
    fn log_posterior(&mut self, proposals: &[Weights; LANES]) -> Lanes {
        let weights: [Lanes; FEATURES] =
            std::array::from_fn(|k| Lanes(std::array::from_fn(|lane| proposals[lane][k])));
        for (out, features) in self.returns.iter_mut().zip(&self.features) {
            let mut sum = Lanes::ZERO;
            for (w, f) in weights.iter().zip(features) {
                sum = sum + *w * *f;
            }
            *out = Lanes::splat(BETA) * sum;
            keep_lanes();
        }
        let mut sum = Lanes::ZERO;
        for (i, j, sign) in &self.pairs {
            let (a, b) = (self.returns[*i], self.returns[*j]);
            let better = a.choose(b, *sign);
            let worse = b.choose(a, *sign);
            let larger = better.max(worse);
            let smaller = better.zip(worse, |x, y| if x > y { y } else { x });
            let both = larger + ln(exp(smaller - larger).map(|e| 1.0 + e));
            // Each term is rounded to single precision, as in the authors' program.
            let term = (better - both).map(|term| f64::from(term as f32));
            sum = sum + term.zip(*sign, |t, s| if s == 0.0 { 0.0 } else { t });
            keep_lanes();
        }
        sum
    }

    #[inline(always)]
    fn accepted(&mut self, _: &[bool; LANES]) {}
}
