//! Bayesian IRL's likelihood: a demonstrator who takes better actions more often.
//!
//! `P(a | s) = e^(beta Q(s, a)) / sum over b of e^(beta Q(s, b))`, with the optimal action values of
//! the reward at hand (Ramachandran and Amir 2007). An action shown as one to avoid has the
//! likelihood `1 - P(a | s)` (Cui and Niekum 2018).

use super::metropolis::{Inference, InferenceOptions, LaneLikelihood, sample_lanes};
use crate::Mdp;
use crate::lane_values::{Moves, Settling, Successors, settle_differences};
use crate::lanes::{Lanes, log_sum_exp};
use brex_core::keep_lanes;

/// Differences of values are computed to this accuracy; what beta makes of it is too small to see.
const TOLERANCE: f64 = 1e-8;

/// Why demonstrations cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IrlError {
    /// A state or an action does not exist.
    #[error(
        "demonstration step {step}: state {state}, action {action}; the MDP has {states} states and {actions} actions"
    )]
    Step {
        /// The step's number, good ones first.
        step: usize,
        /// The state.
        state: usize,
        /// The action.
        action: usize,
        /// How many states there are.
        states: usize,
        /// How many actions there are.
        actions: usize,
    },
}

/// State-action pairs that somebody showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Demonstrations {
    /// Pairs to imitate; a pair that is shown twice counts twice.
    pub good: Vec<(usize, usize)>,
    /// Pairs to avoid.
    pub bad: Vec<(usize, usize)>,
}

/// Samples the reward weights given demonstrations in an MDP.
pub fn sample_irl(
    mdp: &Mdp,
    demonstrations: &Demonstrations,
    options: &InferenceOptions,
) -> Result<Inference, IrlError> {
    let (states, actions) = (mdp.states(), mdp.actions());
    let all = demonstrations.good.iter().chain(&demonstrations.bad);
    for (step, &(state, action)) in all.enumerate() {
        if state >= states || action >= actions {
            return Err(IrlError::Step {
                step,
                state,
                action,
                states,
                actions,
            });
        }
    }
    let count = |pairs: &[(usize, usize)]| {
        let mut counts = vec![0.0; states * actions];
        for (state, action) in pairs {
            counts[state * actions + action] += 1.0;
        }
        counts
    };
    let (good, bad) = (count(&demonstrations.good), count(&demonstrations.bad));
    Ok(match Moves::of(mdp) {
        Moves::Certain(moves) => {
            let mut target = DemonstrationLikelihood::new(mdp, moves, options.beta, good, bad);
            sample_lanes(&mut target, "bayesian irl", options)
        }
        Moves::Uncertain(moves) => {
            let mut target = DemonstrationLikelihood::new(mdp, moves, options.beta, good, bad);
            sample_lanes(&mut target, "bayesian irl", options)
        }
    })
}

struct DemonstrationLikelihood<'a, S> {
    mdp: &'a Mdp,
    moves: S,
    beta: f64,
    good: Vec<f64>,
    bad: Vec<f64>,
    /// States with something shown in them.
    shown: Vec<usize>,
    rewards: Vec<Lanes>,
    /// The values of the current weights and of the proposal; the latter start from the former.
    values: Vec<Lanes>,
    trial: Vec<Lanes>,
    settling: Settling,
    terms: Vec<Lanes>,
}

impl<'a, S: Successors> DemonstrationLikelihood<'a, S> {
    fn new(mdp: &'a Mdp, moves: S, beta: f64, good: Vec<f64>, bad: Vec<f64>) -> Self {
        let (states, actions) = (mdp.states(), mdp.actions());
        let is_shown = |&s: &usize| {
            let of = |counts: &[f64]| counts[s * actions..][..actions].iter().any(|c| *c > 0.0);
            of(&good) || of(&bad)
        };
        let lanes = || vec![Lanes::ZERO; states];
        Self {
            shown: (0..states).filter(is_shown).collect(),
            mdp,
            moves,
            beta,
            good,
            bad,
            rewards: lanes(),
            values: lanes(),
            trial: lanes(),
            settling: Settling::new(states),
            terms: vec![Lanes::ZERO; 2 * actions],
        }
    }

    /// What was shown in one state, given `beta Q` of its actions in `terms`.
    #[inline(always)]
    fn of_state(terms: &mut [Lanes], good: &[f64], bad: &[f64]) -> Lanes {
        let actions = good.len();
        let (terms, others) = terms.split_at_mut(actions);
        let all = log_sum_exp(terms);
        let mut sum = Lanes::ZERO;
        for a in 0..actions {
            if good[a] > 0.0 {
                sum = sum + (terms[a] - all).map(|term| good[a] * term);
            }
            if bad[a] > 0.0 {
                let (before, after) = (&terms[..a], &terms[a + 1..]);
                others[..a].copy_from_slice(before);
                others[a..actions - 1].copy_from_slice(after);
                let rest = log_sum_exp(&others[..actions - 1]);
                sum = sum + (rest - all).map(|term| bad[a] * term);
            }
        }
        sum
    }
}

impl<S: Successors> LaneLikelihood for DemonstrationLikelihood<'_, S> {
    fn dim(&self) -> usize {
        self.mdp.features().cols()
    }

    #[inline(always)]
    fn log_likelihood(&mut self, weights: &[Lanes]) -> Lanes {
        for (reward, features) in self.rewards.iter_mut().zip(self.mdp.features().iter_rows()) {
            let mut sum = Lanes::ZERO;
            for (w, f) in weights.iter().zip(features) {
                sum = sum + w.map(|w| w * f);
            }
            *reward = sum;
            keep_lanes();
        }
        let gamma = self.mdp.gamma();
        self.trial.copy_from_slice(&self.values);
        settle_differences(
            &self.moves,
            gamma,
            TOLERANCE,
            &self.rewards,
            &mut self.trial,
            &mut self.settling,
        );
        let actions = self.mdp.actions();
        let mut sum = Lanes::ZERO;
        for &s in &self.shown {
            for a in 0..actions {
                let after = self.moves.after(s, a, &self.trial);
                let follows = if self.moves.ends(s) { 0.0 } else { gamma };
                let q = self.rewards[s] + after.map(|v| follows * v);
                self.terms[a] = q.map(|q| self.beta * q);
                keep_lanes();
            }
            let range = s * actions..(s + 1) * actions;
            let (good, bad) = (&self.good[range.clone()], &self.bad[range]);
            sum = sum + Self::of_state(&mut self.terms, good, bad);
        }
        sum
    }

    #[inline(always)]
    fn accepted(&mut self, chosen: Lanes) {
        for (value, trial) in self.values.iter_mut().zip(&self.trial) {
            *value = trial.choose(*value, chosen);
            keep_lanes();
        }
    }
}
