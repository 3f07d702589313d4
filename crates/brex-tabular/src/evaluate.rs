//! What a policy is worth, exactly: its values and discounted feature sums from every start.
//!
//! Both solve `(I - gamma P) X = B`, with `P` the chances to go from state to state under the
//! policy and no way out of a terminal state. The matrix is never singular, because `gamma < 1`.

use crate::{Mdp, StochasticPolicy};
use brex_core::Matrix;
use faer::prelude::Solve;
use faer::{Mat, Par};

/// The value of a policy from every state: the expected discounted sum of rewards.
///
/// # Panics
/// If there is not one reward per state, or the policy is for other states or actions.
pub fn policy_values(mdp: &Mdp, rewards: &[f64], policy: &StochasticPolicy) -> Vec<f64> {
    assert_eq!(rewards.len(), mdp.states(), "one reward per state");
    let right = Mat::from_fn(mdp.states(), 1, |state, _| rewards[state]);
    solve(&policy_system(mdp, policy), right).into_vec()
}

/// The values of the policy that takes one given action per state.
pub(crate) fn choice_values(mdp: &Mdp, rewards: &[f64], choices: &[usize]) -> Vec<f64> {
    assert_eq!(rewards.len(), mdp.states(), "one reward per state");
    let system = system(mdp, |state, action| f64::from(choices[state] == action));
    let right = Mat::from_fn(mdp.states(), 1, |state, _| rewards[state]);
    solve(&system, right).into_vec()
}

/// The expected discounted feature sums of a policy from every start: one row per state, one
/// column per feature. Times the weights, they are the policy's values.
///
/// # Panics
/// If the policy is for other states or actions.
pub fn feature_expectations(mdp: &Mdp, policy: &StochasticPolicy) -> Matrix {
    let features = mdp.features();
    let right = Mat::from_fn(mdp.states(), features.cols(), |state, feature| {
        features.row(state)[feature]
    });
    solve(&policy_system(mdp, policy), right)
}

/// The expected discounted feature sums of a policy when an episode starts in state `s` with
/// probability `start[s]`.
///
/// # Panics
/// If `start` has not one entry per state, or the policy is for other states or actions.
pub fn expected_features(mdp: &Mdp, policy: &StochasticPolicy, start: &[f64]) -> Vec<f64> {
    assert_eq!(start.len(), mdp.states(), "one probability per state");
    let from_every_start = feature_expectations(mdp, policy);
    let mut sums = vec![0.0; from_every_start.cols()];
    for (row, probability) in from_every_start.iter_rows().zip(start) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += probability * value;
        }
    }
    sums
}

fn policy_system(mdp: &Mdp, policy: &StochasticPolicy) -> Mat<f64> {
    assert!(policy.fits(mdp), "the policy is for another MDP");
    let probabilities = policy.probabilities();
    system(mdp, |state, action| probabilities.row(state)[action])
}

/// `I - gamma P` under the policy that takes an action with the given probability.
fn system(mdp: &Mdp, probability: impl Fn(usize, usize) -> f64) -> Mat<f64> {
    let mut system = Mat::identity(mdp.states(), mdp.states());
    for state in (0..mdp.states()).filter(|&state| !mdp.is_terminal(state)) {
        for action in 0..mdp.actions() {
            let share = mdp.gamma() * probability(state, action);
            for (successor, p) in mdp.successors(state, action) {
                system[(state, successor)] -= share * p;
            }
        }
    }
    system
}

fn solve(system: &Mat<f64>, mut right: Mat<f64>) -> Matrix {
    // One thread, so that the bits do not depend on how many there are.
    faer::set_global_parallelism(Par::Seq);
    system.partial_piv_lu().solve_in_place(&mut right);
    Matrix::from_fn(right.nrows(), right.ncols(), |i, j| right[(i, j)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// State 0 stays with probability 3/4 under action 0 and always under action 1; state 1 ends.
    fn leaky(gamma: f64) -> Mdp {
        let end = vec![(0, 1.0)];
        let transitions = [vec![(0, 0.75), (1, 0.25)], vec![(0, 1.0)], end.clone(), end];
        let features = Matrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
        Mdp::new(features, 2, gamma, &transitions, vec![false, true]).unwrap()
    }

    #[test]
    fn visits_before_the_end_are_a_geometric_series() {
        let mdp = leaky(0.8);
        let policy = StochasticPolicy::deterministic(&mdp, &[0, 1]).unwrap();
        let found = feature_expectations(&mdp, &policy);
        // Each visit is followed by another with chance 0.75, discounted by 0.8.
        let visits = 1.0 / (1.0 - 0.8 * 0.75);
        let expected = [visits, 0.8 * 0.25 * visits, 0.0, 1.0];
        for (found, expected) in found.as_slice().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
    }

    #[test]
    fn a_mixed_policy_mixes_the_transitions() {
        let mdp = leaky(0.8);
        let policy = StochasticPolicy::uniform(&mdp);
        let found = policy_values(&mdp, &[2.0, -1.0], &policy);
        let stay = 0.5 * 0.75 + 0.5;
        let expected = (2.0 - 0.8 * (1.0 - stay)) / (1.0 - 0.8 * stay);
        assert!((found[0] - expected).abs() < 1e-14);
        assert_eq!(found[1], -1.0);
    }

    #[test]
    fn starts_are_weighted() {
        let mdp = leaky(0.5);
        let policy = StochasticPolicy::uniform(&mdp);
        let every = feature_expectations(&mdp, &policy);
        assert_eq!(expected_features(&mdp, &policy, &[0.0, 1.0]), every.row(1));
        let half = expected_features(&mdp, &policy, &[0.5, 0.5]);
        for (found, expected) in half.iter().zip(every.column_means()) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    #[should_panic(expected = "another MDP")]
    fn a_policy_of_another_mdp_is_refused() {
        let policy = StochasticPolicy::new(Matrix::from_fn(3, 1, |_, _| 1.0)).unwrap();
        feature_expectations(&leaky(0.5), &policy);
    }
}
