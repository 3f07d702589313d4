//! Policies that choose at random: a distribution over the actions for every state.
//!
//! All constructors check what they are given, so that solvers and rollouts can rely on it.

use crate::Mdp;
use crate::solve::optimal_actions;
use brex_core::Matrix;

/// Why something is not a policy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StochasticPolicyError {
    /// There is no state or no action.
    #[error("a policy needs at least one state and one action; found {states} and {actions}")]
    Empty {
        /// How many states there are.
        states: usize,
        /// How many actions there are.
        actions: usize,
    },
    /// Not every state has a choice, or there are too many choices.
    #[error("{found} choices; expected one for each of the {expected} states")]
    Length {
        /// How many choices there are.
        found: usize,
        /// How many states there are.
        expected: usize,
    },
    /// An action does not exist.
    #[error("state {state}: no action has the number {action}")]
    Action {
        /// The state.
        state: usize,
        /// The number that is too large.
        action: usize,
    },
    /// Probabilities do not make a distribution.
    #[error(
        "state {state}: the probabilities of the actions sum to {sum}, or one is outside 0 to 1"
    )]
    Probabilities {
        /// The state.
        state: usize,
        /// Their sum.
        sum: f64,
    },
    /// A share of random actions that is not a probability.
    #[error("epsilon is {0}; expected 0 to 1")]
    Epsilon(f64),
    /// A rationality that is not finite.
    #[error("beta is {0}; expected a finite number")]
    Beta(f64),
    /// A slack that is negative or not a number.
    #[error("the slack is {0}; expected at least 0")]
    Slack(f64),
    /// The value of an action is not finite.
    #[error("state {state}, action {action}: the value is {value}; expected a finite number")]
    Value {
        /// The state.
        state: usize,
        /// The action.
        action: usize,
        /// What was found.
        value: f64,
    },
}

/// For every state a distribution over the actions.
#[derive(Debug, Clone, PartialEq)]
pub struct StochasticPolicy {
    probabilities: Matrix,
}

impl StochasticPolicy {
    /// A policy from its probabilities, one row per state and one column per action.
    pub fn new(probabilities: Matrix) -> Result<Self, StochasticPolicyError> {
        check_shape(&probabilities)?;
        for (state, row) in probabilities.iter_rows().enumerate() {
            let sum: f64 = row.iter().sum();
            let fair = row.iter().all(|p| (0.0..=1.0).contains(p));
            if !fair || (sum - 1.0).abs() > 1e-9 {
                return Err(StochasticPolicyError::Probabilities { state, sum });
            }
        }
        Ok(Self { probabilities })
    }

    /// The policy that always takes the given action, one per state.
    pub fn deterministic(mdp: &Mdp, choices: &[usize]) -> Result<Self, StochasticPolicyError> {
        let (states, actions) = (mdp.states(), mdp.actions());
        if choices.len() != states {
            return Err(StochasticPolicyError::Length {
                found: choices.len(),
                expected: states,
            });
        }
        if let Some(state) = choices.iter().position(|&action| action >= actions) {
            let action = choices[state];
            return Err(StochasticPolicyError::Action { state, action });
        }
        let one_hot = |state, action| f64::from(u8::from(choices[state] == action));
        let probabilities = Matrix::from_fn(states, actions, one_hot);
        Ok(Self { probabilities })
    }

    /// The policy that takes every action equally often.
    pub fn uniform(mdp: &Mdp) -> Self {
        let share = 1.0 / mdp.actions() as f64;
        let probabilities = Matrix::from_fn(mdp.states(), mdp.actions(), |_, _| share);
        Self { probabilities }
    }

    /// The policy that takes one of the best actions, each equally often: those whose value in the
    /// state's row of `q` is within `slack` of the largest.
    pub fn optimal(q: &Matrix, slack: f64) -> Result<Self, StochasticPolicyError> {
        check_values(q)?;
        if slack.is_nan() || slack < 0.0 {
            return Err(StochasticPolicyError::Slack(slack));
        }
        let mut probabilities = Matrix::zeros(q.rows(), q.cols());
        for (state, row) in q.iter_rows().enumerate() {
            let best = optimal_actions(row, slack);
            for &action in &best {
                probabilities.row_mut(state)[action] = 1.0 / best.len() as f64;
            }
        }
        Ok(Self { probabilities })
    }

    /// The policy that takes an action with probability proportional to `exp(beta Q(s, a))`. A
    /// beta of zero is uniform; a negative one prefers what is bad.
    pub fn boltzmann(q: &Matrix, beta: f64) -> Result<Self, StochasticPolicyError> {
        check_values(q)?;
        if !beta.is_finite() {
            return Err(StochasticPolicyError::Beta(beta));
        }
        let mut probabilities = q.clone();
        for state in 0..q.rows() {
            soft_maximum(probabilities.row_mut(state), beta);
        }
        Ok(Self { probabilities })
    }

    /// The policy that follows this one but, with probability `epsilon`, takes any action.
    pub fn epsilon_mix(&self, epsilon: f64) -> Result<Self, StochasticPolicyError> {
        if !(0.0..=1.0).contains(&epsilon) {
            return Err(StochasticPolicyError::Epsilon(epsilon));
        }
        let share = epsilon / self.actions() as f64;
        let mut probabilities = self.probabilities.clone();
        for p in probabilities.as_mut_slice() {
            *p = (1.0 - epsilon) * *p + share;
        }
        Ok(Self { probabilities })
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.probabilities.rows()
    }

    /// How many actions there are in every state.
    pub fn actions(&self) -> usize {
        self.probabilities.cols()
    }

    /// The probabilities, one row per state and one column per action.
    pub fn probabilities(&self) -> &Matrix {
        &self.probabilities
    }

    /// Whether the policy has the states and actions of an MDP.
    pub fn fits(&self, mdp: &Mdp) -> bool {
        self.states() == mdp.states() && self.actions() == mdp.actions()
    }
}

fn check_shape(matrix: &Matrix) -> Result<(), StochasticPolicyError> {
    let (states, actions) = (matrix.rows(), matrix.cols());
    if states == 0 || actions == 0 {
        return Err(StochasticPolicyError::Empty { states, actions });
    }
    Ok(())
}

fn check_values(q: &Matrix) -> Result<(), StochasticPolicyError> {
    check_shape(q)?;
    let odd = q.as_slice().iter().position(|value| !value.is_finite());
    odd.map_or(Ok(()), |at| {
        Err(StochasticPolicyError::Value {
            state: at / q.cols(),
            action: at % q.cols(),
            value: q.as_slice()[at],
        })
    })
}

/// Replaces values by probabilities proportional to `exp(beta value)`. The best value is taken out
/// before anything is multiplied, so that nothing overflows to NaN.
fn soft_maximum(row: &mut [f64], beta: f64) {
    let best = if beta < 0.0 {
        row.iter().copied().fold(f64::INFINITY, f64::min)
    } else {
        row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    };
    for value in row.iter_mut() {
        // The distance may be infinite, and zero times that is not a number.
        let exponent = if beta == 0.0 {
            0.0
        } else {
            beta * (*value - best)
        };
        *value = exponent.exp();
    }
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mdp(states: usize, actions: usize) -> Mdp {
        let stay = (0..states * actions).map(|i| vec![(i / actions, 1.0)]);
        let transitions: Vec<_> = stay.collect();
        let features = Matrix::zeros(states, 1);
        Mdp::new(features, actions, 0.5, &transitions, vec![false; states]).unwrap()
    }

    fn matrix(rows: usize, values: &[f64]) -> Matrix {
        Matrix::new(rows, values.len() / rows, values.to_vec()).unwrap()
    }

    #[test]
    fn only_distributions_are_policies() {
        let new = |row: &[f64]| StochasticPolicy::new(matrix(1, row));
        assert!(new(&[0.25, 0.75]).is_ok());
        for bad in [[0.5, 0.6], [0.5, 0.4], [1.5, -0.5], [f64::NAN, 1.0]] {
            let error = new(&bad).unwrap_err();
            let at_first = matches!(error, StochasticPolicyError::Probabilities { state: 0, .. });
            assert!(at_first, "{bad:?}: {error}");
        }
        let empty = StochasticPolicy::new(Matrix::zeros(3, 0)).unwrap_err();
        let (states, actions) = (3, 0);
        assert_eq!(empty, StochasticPolicyError::Empty { states, actions });
    }

    #[test]
    fn choices_must_exist() {
        let mdp = mdp(2, 3);
        let policy = StochasticPolicy::deterministic(&mdp, &[2, 0]).unwrap();
        let expected = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0];
        assert_eq!(policy.probabilities().as_slice(), expected);
        assert!(policy.fits(&mdp));
        let error = StochasticPolicy::deterministic(&mdp, &[0, 3]).unwrap_err();
        let (state, action) = (1, 3);
        assert_eq!(error, StochasticPolicyError::Action { state, action });
        let error = StochasticPolicy::deterministic(&mdp, &[0]).unwrap_err();
        let (found, expected) = (1, 2);
        assert_eq!(error, StochasticPolicyError::Length { found, expected });
    }

    #[test]
    fn epsilon_goes_from_the_policy_to_uniform() {
        let mdp = mdp(1, 4);
        let policy = StochasticPolicy::deterministic(&mdp, &[1]).unwrap();
        assert_eq!(policy.epsilon_mix(0.0).unwrap(), policy);
        let all = policy.epsilon_mix(1.0).unwrap();
        assert_eq!(all, StochasticPolicy::uniform(&mdp));
        let some = policy.epsilon_mix(0.2).unwrap();
        let expected = [0.05, 0.85, 0.05, 0.05];
        for (found, expected) in some.probabilities().row(0).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15);
        }
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(policy.epsilon_mix(bad).is_err());
        }
    }

    #[test]
    fn boltzmann_has_the_right_odds_and_survives_extremes() {
        let policy = StochasticPolicy::boltzmann(&matrix(1, &[1.0, 3.0]), 0.5).unwrap();
        let row = policy.probabilities().row(0);
        assert!((row[1] / row[0] - 1.0_f64.exp()).abs() < 1e-12);
        let contrary = StochasticPolicy::boltzmann(&matrix(1, &[1.0, 3.0]), -0.5).unwrap();
        let row = contrary.probabilities().row(0);
        assert!((row[0] / row[1] - 1.0_f64.exp()).abs() < 1e-12);
        for beta in [0.0, 50.0, -50.0, 1e300] {
            for values in [[1e308, -1e308], [0.0, 1e-300], [-1e4, -1e4]] {
                let policy = StochasticPolicy::boltzmann(&matrix(1, &values), beta).unwrap();
                let checked = StochasticPolicy::new(policy.probabilities().clone());
                assert!(checked.is_ok(), "beta {beta}, {values:?}");
            }
        }
        let q = matrix(2, &[0.0, 1.0, f64::INFINITY, 2.0]);
        let error = StochasticPolicy::boltzmann(&q, 1.0).unwrap_err();
        let (state, action, value) = (1, 0, f64::INFINITY);
        let expected = StochasticPolicyError::Value {
            state,
            action,
            value,
        };
        assert_eq!(error, expected);
        assert!(StochasticPolicy::boltzmann(&matrix(1, &[0.0]), f64::NAN).is_err());
    }

    #[test]
    fn ties_share_the_probability() {
        let q = matrix(2, &[1.0, 1.0 - 1e-6, 0.0, -1.0, -3.0, -2.0]);
        let policy = StochasticPolicy::optimal(&q, 1e-4).unwrap();
        let expected = [0.5, 0.5, 0.0, 1.0, 0.0, 0.0];
        assert_eq!(policy.probabilities().as_slice(), expected);
        assert!(StochasticPolicy::optimal(&q, -1.0).is_err());
    }
}
