//! Optimal values and policies, `V(s) = R(s) + gamma max_a sum_s' p(s' | s, a) V(s')`: by value
//! iteration to a given accuracy, and by policy iteration exactly.
//!
//! In a terminal state every action has the value `R(s)`.

use crate::Mdp;
use crate::evaluate::choice_values;
use brex_core::Matrix;

/// Policy iteration needs a few rounds in practice; this many only if rounding makes it go round in
/// circles.
const MOST_ROUNDS: usize = 1_000;

/// An action is better only if it gains more than this share of the largest value, which is above
/// what rounding does.
const GAIN: f64 = 1e-12;

/// The optimal values of states and of actions.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The value of every state.
    pub values: Vec<f64>,
    /// The value of every action: one row per state.
    pub q: Matrix,
}

/// Optimal values that are within `tolerance` of the exact ones.
///
/// Sweeps over the states in place until `gamma / (1 - gamma)` times the largest change, which
/// bounds the error, is within the tolerance, or rounding allows no better. Rewards, one per
/// state, should be finite.
///
/// # Panics
/// If there is not one reward per state.
pub fn value_iteration(mdp: &Mdp, rewards: &[f64], tolerance: f64) -> Solution {
    assert_eq!(rewards.len(), mdp.states(), "one reward per state");
    let error_of_change = mdp.gamma() / (1.0 - mdp.gamma());
    let mut values = vec![0.0; mdp.states()];
    for _ in 0..most_sweeps(mdp.gamma()) {
        if error_of_change * sweep(mdp, rewards, &mut values) <= tolerance {
            break;
        }
    }
    let q = action_values(mdp, rewards, &values);
    Solution { values, q }
}

/// After this many sweeps the error has shrunk to less than rounding leaves, because each sweep
/// shrinks it by `gamma`.
fn most_sweeps(gamma: f64) -> usize {
    let smallest = f64::EPSILON * (1.0 - gamma);
    2 + (smallest.ln() / gamma.ln()).ceil() as usize
}

/// Updates every state in place and returns the largest change.
fn sweep(mdp: &Mdp, rewards: &[f64], values: &mut [f64]) -> f64 {
    let mut largest: f64 = 0.0;
    for state in 0..mdp.states() {
        let actions = 0..mdp.actions();
        let value = actions
            .map(|action| action_value(mdp, rewards, values, state, action))
            .fold(f64::NEG_INFINITY, f64::max);
        largest = largest.max((value - values[state]).abs());
        values[state] = value;
    }
    largest
}

/// `R(s) + gamma sum p V(s')`, or `R(s)` where the episode ends.
fn action_value(mdp: &Mdp, rewards: &[f64], values: &[f64], state: usize, action: usize) -> f64 {
    if mdp.is_terminal(state) {
        return rewards[state];
    }
    let successors = mdp.successors(state, action);
    let next: f64 = successors.map(|(to, p)| p * values[to]).sum();
    rewards[state] + mdp.gamma() * next
}

/// The value of every action when the states have the given values: one row per state.
///
/// # Panics
/// If there is not one reward and one value per state.
pub fn action_values(mdp: &Mdp, rewards: &[f64], values: &[f64]) -> Matrix {
    assert_eq!(rewards.len(), mdp.states(), "one reward per state");
    assert_eq!(values.len(), mdp.states(), "one value per state");
    Matrix::from_fn(mdp.states(), mdp.actions(), |state, action| {
        action_value(mdp, rewards, values, state, action)
    })
}

/// Optimal values, exact but for rounding, and a policy that has them: one action per state.
///
/// Each round evaluates the policy by a linear solve and changes it wherever another action is
/// better by more than rounding (1e-12 of the largest value), so that it ends. It starts from the
/// policy that looks one step ahead.
///
/// # Panics
/// If there is not one reward per state.
pub fn policy_iteration(mdp: &Mdp, rewards: &[f64]) -> (Solution, Vec<usize>) {
    let mut choices = greedy(&action_values(mdp, rewards, rewards));
    let mut solution = evaluate(mdp, rewards, &choices);
    for _ in 0..MOST_ROUNDS {
        if !improve(&solution, &mut choices) {
            break;
        }
        solution = evaluate(mdp, rewards, &choices);
    }
    (solution, choices)
}

fn evaluate(mdp: &Mdp, rewards: &[f64], choices: &[usize]) -> Solution {
    let values = choice_values(mdp, rewards, choices);
    let q = action_values(mdp, rewards, &values);
    Solution { values, q }
}

/// Takes the best action wherever it is clearly better; false if it is so nowhere.
fn improve(solution: &Solution, choices: &mut [usize]) -> bool {
    let largest = solution.values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let best = greedy(&solution.q);
    let mut changed = false;
    for (state, choice) in choices.iter_mut().enumerate() {
        let row = solution.q.row(state);
        if row[best[state]] > row[*choice] + GAIN * largest {
            *choice = best[state];
            changed = true;
        }
    }
    changed
}

/// The best action of every state; the first one where several are equal.
///
/// # Panics
/// If there is no action.
pub fn greedy(q: &Matrix) -> Vec<usize> {
    (0..q.rows())
        .map(|state| first_best(q.row(state)))
        .collect()
}

fn first_best(row: &[f64]) -> usize {
    assert!(!row.is_empty(), "at least one action");
    (1..row.len()).fold(0, |best, action| {
        if row[action] > row[best] {
            action
        } else {
            best
        }
    })
}

/// The actions whose value is within `slack` of the best, in order.
pub fn optimal_actions(row: &[f64], slack: f64) -> Vec<usize> {
    let best = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (0..row.len())
        .filter(|&action| row[action] >= best - slack)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two states that lead to each other, whatever is done; state 2 ends the episode.
    fn cycle(gamma: f64) -> Mdp {
        let to = |state| vec![(state, 1.0)];
        let transitions = [to(1), to(0), to(0)];
        let features = Matrix::zeros(3, 1);
        Mdp::new(features, 1, gamma, &transitions, vec![false, false, true]).unwrap()
    }

    #[test]
    fn the_tolerance_is_kept() {
        let mdp = cycle(0.99);
        // 1 + 0.99 * 3 every two steps.
        let exact = (1.0 + 0.99 * 3.0) / (1.0 - 0.99 * 0.99);
        for tolerance in [10.0, 0.1, 1e-6] {
            let found = value_iteration(&mdp, &[1.0, 3.0, 5.0], tolerance).values[0];
            assert!((found - exact).abs() <= tolerance, "{found} {exact}");
        }
    }

    #[test]
    fn an_unreachable_tolerance_ends_at_rounding() {
        for gamma in [0.0, 0.5, 0.999] {
            let solution = value_iteration(&cycle(gamma), &[0.1, 0.7, 0.3], -1.0);
            let (exact, _) = policy_iteration(&cycle(gamma), &[0.1, 0.7, 0.3]);
            for (found, exact) in solution.values.iter().zip(&exact.values) {
                assert!((found - exact).abs() <= 1e-12 * exact.abs());
            }
        }
    }

    #[test]
    fn a_terminal_state_is_worth_its_reward() {
        let rewards = [1.0, 3.0, -5.0];
        let (solution, _) = policy_iteration(&cycle(0.9), &rewards);
        assert_eq!(solution.values[2], -5.0);
        assert_eq!(solution.q.row(2), [-5.0]);
        assert_eq!(value_iteration(&cycle(0.9), &rewards, 1e-9).values[2], -5.0);
    }

    #[test]
    fn rewards_that_are_not_numbers_do_not_hang() {
        value_iteration(&cycle(0.9), &[f64::NAN, f64::INFINITY, 0.0], 1e-9);
        policy_iteration(&cycle(0.9), &[f64::NAN, f64::INFINITY, 0.0]);
    }

    #[test]
    fn the_scale_of_the_rewards_does_not_change_the_policy() {
        // Action 0 stays at 1 per step; action 1 passes through 0 to a state that gives 3.
        let to = |state| vec![(state, 1.0)];
        let transitions = [to(0), to(1), to(2), to(2), to(2), to(2)];
        let mdp = Mdp::new(Matrix::zeros(3, 1), 2, 0.9, &transitions, vec![false; 3]).unwrap();
        for scale in [1e-200, 1.0, 1e200] {
            let (_, choices) = policy_iteration(&mdp, &[scale, 0.0, 3.0 * scale]);
            assert_eq!(choices[0], 1, "scale {scale}");
        }
    }

    #[test]
    fn ties_go_to_the_first_action_and_slack_shows_them() {
        let q = Matrix::new(2, 3, vec![1.0, 2.0, 2.0, 0.0, -1.0, 0.0]).unwrap();
        assert_eq!(greedy(&q), [1, 0]);
        assert_eq!(optimal_actions(q.row(0), 0.0), [1, 2]);
        assert_eq!(optimal_actions(q.row(0), 1.0), [0, 1, 2]);
        assert_eq!(optimal_actions(q.row(1), 0.5), [0, 2]);
    }
}
