//! The solvers agree with each other, with the Bellman equations, with closed forms and with
//! episodes, on random MDPs; and what is not an MDP is refused.
#![expect(clippy::unwrap_used, reason = "tests")]

use brex_core::{Matrix, stream};
use brex_tabular::{
    Gridworld, Mdp, MdpError, StochasticPolicy, discounted_features, expected_features,
    feature_expectations, greedy, optimal_actions, policy_iteration, policy_values, rollout,
    value_iteration,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Random weights as probabilities of the successors; all of it stays if they are all zero.
fn distribution(weights: &[u32], otherwise: usize) -> Vec<(usize, f64)> {
    let total: u32 = weights.iter().sum();
    if total == 0 {
        return vec![(otherwise, 1.0)];
    }
    let shares = weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0);
    shares
        .map(|(to, &weight)| (to, f64::from(weight) / f64::from(total)))
        .collect()
}

/// Weights of which about half are zero, so that some successors are certain and some impossible.
fn weights(count: usize) -> impl Strategy<Value = Vec<u32>> {
    vec(
        (0..8_u32).prop_map(|weight| weight.saturating_sub(3)),
        count,
    )
}

fn policy_of(weights: &[u32], actions: usize) -> StochasticPolicy {
    let mut probabilities = Matrix::zeros(weights.len() / actions, actions);
    for (state, weights) in weights.chunks_exact(actions).enumerate() {
        for (action, p) in distribution(weights, 0) {
            probabilities.row_mut(state)[action] = p;
        }
    }
    StochasticPolicy::new(probabilities).unwrap()
}

/// A random MDP, weights of its reward, and a random policy.
#[derive(Debug, Clone)]
struct Case {
    mdp: Mdp,
    reward_weights: Vec<f64>,
    policy: StochasticPolicy,
}

impl Case {
    fn rewards(&self) -> Vec<f64> {
        self.mdp.rewards(&self.reward_weights)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let sizes = (1..=12_usize, 1..=4_usize, 1..=3_usize);
    sizes.prop_flat_map(|(states, actions, features)| {
        let parts = (
            weights(states * actions * states),
            weights(states * actions),
            vec(-1.0..1.0, states * features),
            vec(-2.0..2.0, features),
            vec(prop::bool::weighted(0.2), states),
            0.0..0.95,
        );
        parts.prop_map(move |(moves, choices, phi, reward_weights, ends, gamma)| {
            let rows = moves.chunks_exact(states).enumerate();
            let transitions: Vec<_> = rows
                .map(|(index, weights)| distribution(weights, index / actions))
                .collect();
            let features = Matrix::new(states, features, phi).unwrap();
            Case {
                mdp: Mdp::new(features, actions, gamma, &transitions, ends).unwrap(),
                reward_weights,
                policy: policy_of(&choices, actions),
            }
        })
    })
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} {expected}");
    }
}

/// What an action is worth when the next states have the given values, from the definition.
fn backup(mdp: &Mdp, rewards: &[f64], values: &[f64], state: usize, action: usize) -> f64 {
    let mut value = rewards[state];
    if !mdp.is_terminal(state) {
        for (to, p) in mdp.successors(state, action) {
            value += mdp.gamma() * p * values[to];
        }
    }
    value
}

proptest! {
    #[test]
    fn value_iteration_and_policy_iteration_agree(case in cases()) {
        let rewards = case.rewards();
        let by_values = value_iteration(&case.mdp, &rewards, 1e-9);
        let (by_policies, choices) = policy_iteration(&case.mdp, &rewards);
        assert_close(&by_values.values, &by_policies.values, 1e-8);
        assert_close(by_values.q.as_slice(), by_policies.q.as_slice(), 1e-8);
        for (state, choice) in choices.iter().enumerate() {
            let best = optimal_actions(by_values.q.row(state), 1e-7);
            prop_assert!(best.contains(choice), "state {state}");
        }
    }

    #[test]
    fn optimal_values_solve_the_bellman_equation(case in cases()) {
        let rewards = case.rewards();
        let (solution, _) = policy_iteration(&case.mdp, &rewards);
        for state in 0..case.mdp.states() {
            let backups: Vec<f64> = (0..case.mdp.actions())
                .map(|action| backup(&case.mdp, &rewards, &solution.values, state, action))
                .collect();
            assert_close(solution.q.row(state), &backups, 1e-12);
            let best = backups.into_iter().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((solution.values[state] - best).abs() <= 1e-9);
        }
    }

    #[test]
    fn policy_values_solve_their_bellman_equation(case in cases()) {
        let rewards = case.rewards();
        let values = policy_values(&case.mdp, &rewards, &case.policy);
        for state in 0..case.mdp.states() {
            let choices = case.policy.probabilities().row(state).iter().enumerate();
            let expected: f64 = choices
                .map(|(action, p)| p * backup(&case.mdp, &rewards, &values, state, action))
                .sum();
            prop_assert!((values[state] - expected).abs() <= 1e-10);
        }
    }

    #[test]
    fn feature_expectations_times_weights_are_values(case in cases()) {
        let values = policy_values(&case.mdp, &case.rewards(), &case.policy);
        let features = feature_expectations(&case.mdp, &case.policy);
        assert_close(&features.times(&case.reward_weights), &values, 1e-10);
    }

    #[test]
    fn no_policy_beats_the_optimum_and_the_greedy_one_reaches_it(case in cases()) {
        let rewards = case.rewards();
        let (optimum, _) = policy_iteration(&case.mdp, &rewards);
        let values = policy_values(&case.mdp, &rewards, &case.policy);
        for (value, best) in values.iter().zip(&optimum.values) {
            prop_assert!(*value <= best + 1e-10, "{value} {best}");
        }
        let best = StochasticPolicy::deterministic(&case.mdp, &greedy(&optimum.q)).unwrap();
        let reached = policy_values(&case.mdp, &rewards, &best);
        assert_close(&reached, &optimum.values, 1e-9);
        let any_best = StochasticPolicy::optimal(&optimum.q, 1e-9).unwrap();
        let reached = policy_values(&case.mdp, &rewards, &any_best);
        assert_close(&reached, &optimum.values, 1e-7);
    }

    #[test]
    fn boltzmann_policies_go_from_uniform_to_the_optimum(case in cases()) {
        let rewards = case.rewards();
        let (optimum, _) = policy_iteration(&case.mdp, &rewards);
        let value = |beta| {
            let policy = StochasticPolicy::boltzmann(&optimum.q, beta).unwrap();
            policy_values(&case.mdp, &rewards, &policy)
        };
        assert_close(&value(1e12), &optimum.values, 1e-8);
        let uniform = StochasticPolicy::uniform(&case.mdp);
        assert_close(&value(0.0), &policy_values(&case.mdp, &rewards, &uniform), 1e-10);
    }
}

/// A world with slips and an end, to be walked in many times.
fn slippery() -> Mdp {
    let mut random = stream(11, "solver tests: world", 0);
    let mut grid = Gridworld::random(3, 4, 3, 0.3, 0.9, &mut random);
    grid.terminals[6] = true;
    grid.to_mdp().unwrap()
}

#[test]
fn episodes_agree_with_expectations() {
    const EPISODES: u64 = 4_000;
    // What is cut off is 0.9^300, some 1e-14.
    const STEPS: usize = 300;
    let mdp = slippery();
    let (optimum, _) = policy_iteration(&mdp, &mdp.rewards(&[0.5, -1.0, 0.2]));
    let policies = [
        StochasticPolicy::uniform(&mdp),
        StochasticPolicy::boltzmann(&optimum.q, 2.0).unwrap(),
    ];
    for policy in &policies {
        for start in [0, 5, 6, 11] {
            let mut one = vec![0.0; mdp.states()];
            one[start] = 1.0;
            let expected = expected_features(&mdp, policy, &one);
            let mut sums = Matrix::zeros(2, expected.len());
            for index in 0..EPISODES {
                let mut random = stream(3, "solver tests: episodes", index);
                let episode = rollout(&mdp, policy, start, STEPS, &mut random);
                let features = discounted_features(&mdp, &episode, mdp.gamma());
                for (feature, value) in features.into_iter().enumerate() {
                    sums.row_mut(0)[feature] += value;
                    sums.row_mut(1)[feature] += value * value;
                }
            }
            let count = EPISODES as f64;
            for (feature, expected) in expected.iter().enumerate() {
                let mean = sums.row(0)[feature] / count;
                let variance = (sums.row(1)[feature] / count - mean * mean).max(0.0);
                let error = (variance / count).sqrt();
                let distance = (mean - expected).abs();
                assert!(distance <= 5.0 * error + 1e-9, "{mean} {expected} {error}");
            }
        }
    }
}

/// States in a row that lead to the next; the last one ends or stays.
fn chain(length: usize, gamma: f64, ends: bool) -> Mdp {
    let next = |state: usize| vec![((state + 1).min(length - 1), 1.0)];
    let transitions: Vec<_> = (0..length).map(next).collect();
    let mut terminal = vec![false; length];
    terminal[length - 1] = ends;
    let features = Matrix::from_fn(length, 1, |_, _| 1.0);
    Mdp::new(features, 1, gamma, &transitions, terminal).unwrap()
}

#[test]
fn a_chain_is_a_geometric_series() {
    let (length, gamma) = (7, 0.8_f64);
    let ones = vec![1.0; length];
    let left = |state: usize| (length - state) as i32;
    let ending: Vec<f64> = (0..length)
        .map(|state| (1.0 - gamma.powi(left(state))) / (1.0 - gamma))
        .collect();
    for (ends, expected) in [(true, ending), (false, vec![1.0 / (1.0 - gamma); length])] {
        let mdp = chain(length, gamma, ends);
        let policy = StochasticPolicy::uniform(&mdp);
        assert_close(&policy_values(&mdp, &ones, &policy), &expected, 1e-12);
        assert_close(&policy_iteration(&mdp, &ones).0.values, &expected, 1e-12);
        assert_close(
            &value_iteration(&mdp, &ones, 1e-11).values,
            &expected,
            1e-10,
        );
        let features = feature_expectations(&mdp, &policy);
        assert_close(features.as_slice(), &expected, 1e-12);
        let mut random = stream(1, "solver tests: chain", 0);
        let episode = rollout(&mdp, &policy, 0, 200, &mut random);
        let sum = discounted_features(&mdp, &episode, gamma);
        assert_close(&sum, &expected[..1], 1e-12);
    }
}

#[test]
fn a_cycle_of_two_is_a_geometric_series_of_every_second_step() {
    let gamma = 0.9;
    let transitions = [vec![(1, 1.0)], vec![(0, 1.0)]];
    let features = Matrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let mdp = Mdp::new(features, 1, gamma, &transitions, vec![false; 2]).unwrap();
    let found = feature_expectations(&mdp, &StochasticPolicy::uniform(&mdp));
    let even = 1.0 / (1.0 - gamma * gamma);
    let expected = [even, gamma * even, gamma * even, even];
    assert_close(found.as_slice(), &expected, 1e-12);
}

#[test]
fn waiting_pays_only_when_the_future_counts() {
    // Action 0 ends with 1 at once; action 1 ends with 2 after one more step of nothing.
    let to = |state| vec![(state, 1.0)];
    let transitions = [to(1), to(2), to(1), to(1), to(3), to(3), to(3), to(3)];
    let ends = vec![false, true, false, true];
    for (gamma, best) in [(0.4, 0), (0.6, 1)] {
        let features = Matrix::zeros(4, 1);
        let mdp = Mdp::new(features, 2, gamma, &transitions, ends.clone()).unwrap();
        let (solution, choices) = policy_iteration(&mdp, &[0.0, 1.0, 0.0, 2.0]);
        assert_eq!(choices[0], best);
        assert_close(solution.q.row(0), &[gamma, 2.0 * gamma * gamma], 1e-15);
    }
}

/// A sound MDP of two states and two actions, after a change.
fn broken(change: impl Fn(&mut Parts)) -> MdpError {
    let mut parts = Parts {
        features: Matrix::zeros(2, 2),
        actions: 2,
        gamma: 0.9,
        transitions: vec![vec![(0, 0.5), (1, 0.5)]; 4],
        terminal: vec![false; 2],
    };
    assert!(parts.clone().mdp().is_ok());
    change(&mut parts);
    parts.mdp().unwrap_err()
}

#[derive(Clone)]
struct Parts {
    features: Matrix,
    actions: usize,
    gamma: f64,
    transitions: Vec<Vec<(usize, f64)>>,
    terminal: Vec<bool>,
}

impl Parts {
    fn mdp(self) -> Result<Mdp, MdpError> {
        let Self {
            features,
            actions,
            gamma,
            transitions,
            terminal,
        } = self;
        Mdp::new(features, actions, gamma, &transitions, terminal)
    }
}

#[test]
fn sizes_and_discounts_that_make_no_mdp_are_refused() {
    let length = |what, found, expected| MdpError::Length {
        what,
        found,
        expected,
    };
    let no_states = broken(|parts| parts.features = Matrix::zeros(0, 2));
    assert_eq!(no_states, MdpError::Empty("state"));
    assert_eq!(broken(|parts| parts.actions = 0), MdpError::Empty("action"));
    for gamma in [-0.1, 1.0, f64::INFINITY] {
        let error = broken(|parts| parts.gamma = gamma);
        assert_eq!(error, MdpError::Discount(gamma));
    }
    let error = broken(|parts| parts.gamma = f64::NAN);
    assert!(matches!(error, MdpError::Discount(gamma) if gamma.is_nan()));
    let error = broken(|parts| parts.transitions.truncate(3));
    assert_eq!(error, length("transitions", 3, 4));
    let error = broken(|parts| parts.terminal.push(true));
    assert_eq!(error, length("terminal states", 3, 2));
    let error = broken(|parts| parts.actions = 3);
    assert_eq!(error, length("transitions", 4, 6));
}

#[test]
fn features_that_are_not_numbers_are_refused() {
    for value in [f64::INFINITY, f64::NEG_INFINITY] {
        let error = broken(|parts| parts.features.row_mut(1)[0] = value);
        let (state, feature) = (1, 0);
        assert_eq!(
            error,
            MdpError::Feature {
                state,
                feature,
                value
            }
        );
    }
    let error = broken(|parts| parts.features.row_mut(0)[1] = f64::NAN);
    assert!(matches!(
        error,
        MdpError::Feature {
            state: 0,
            feature: 1,
            ..
        }
    ));
}

#[test]
fn transitions_that_are_no_distributions_are_refused() {
    for targets in [
        vec![],
        vec![(0, 0.5)],
        vec![(0, 0.5), (1, 0.500_001)],
        vec![(0, 1.5), (1, -0.5)],
        vec![(0, f64::NAN), (1, 1.0)],
        vec![(0, f64::INFINITY)],
    ] {
        let error = broken(|parts| parts.transitions[3] = targets.clone());
        let place = matches!(
            error,
            MdpError::Probabilities {
                state: 1,
                action: 1,
                ..
            }
        );
        assert!(place, "{targets:?}: {error}");
    }
    let error = broken(|parts| parts.transitions[1] = vec![(0, 0.0), (2, 1.0)]);
    let (state, action, successor) = (0, 1, 2);
    assert_eq!(
        error,
        MdpError::Successor {
            state,
            action,
            successor
        }
    );
}
