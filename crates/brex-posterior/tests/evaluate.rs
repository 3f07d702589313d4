//! Bounds against closed forms, invariances and bad input.

use brex_core::{Draws, Matrix, Policy, stream};
use brex_posterior::{Doubt, EvaluateError, EvaluateOptions, Trust, evaluate, evaluate_returns};
use proptest::prelude::*;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Standard normal quantile at 5 %, and the mean below it.
const NORMAL_VAR: f64 = -1.644_853_626_951_472_2;
const NORMAL_CVAR: f64 = -2.062_712_807_507_684_6;

/// Chains of standard normal draws with lag-one correlation `correlation`.
fn chains(seed: u64, chains: usize, draws: usize, correlation: f64) -> Draws {
    let mut random = stream(seed, "test", 0);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let mut values = Vec::new();
    for _ in 0..chains {
        let mut value = normal();
        for _ in 0..draws {
            value = correlation * value + (1.0 - correlation * correlation).sqrt() * normal();
            values.push(value);
        }
    }
    Draws::new(chains, draws, 1, values).expect("one value per draw")
}

fn policy(name: &str, phi: &[f64]) -> Policy {
    let rollouts = Matrix::from_fn(1, phi.len(), |_, j| phi[j]);
    Policy::new(name, rollouts, None).expect("finite features")
}

#[test]
fn errors_of_var_and_cvar_have_the_right_size() {
    let replicates = 300_u32;
    let mut squares = [0.0; 3];
    for seed in 0..u64::from(replicates) {
        let draws = chains(seed, 4, 1000, 0.6);
        let found = evaluate(&draws, &[policy("A", &[2.0])], &EvaluateOptions::default()).unwrap();
        let judged = &found.policies[0];
        let bound = &judged.bounds[0];
        squares[0] += (judged.mean / judged.mean_mcse).powi(2);
        squares[1] += ((bound.var - 2.0 * NORMAL_VAR) / bound.var_mcse).powi(2);
        squares[2] += ((bound.cvar - 2.0 * NORMAL_CVAR) / bound.cvar_mcse).powi(2);
    }
    for (what, square) in ["mean", "VaR", "CVaR"].into_iter().zip(squares) {
        let rms = (square / f64::from(replicates)).sqrt();
        assert!((0.8..1.25).contains(&rms), "rms z of {what}: {rms}");
    }
}

#[test]
fn a_bound_is_trusted_only_if_the_chains_agree_and_are_long_enough() {
    let options = EvaluateOptions::default();
    let trust = |draws: &Draws| {
        let found = evaluate(draws, &[policy("A", &[1.0])], &options).unwrap();
        found.policies[0].bounds[0].trust
    };
    assert_eq!(trust(&chains(1, 4, 2000, 0.0)), Trust::Converged);
    assert!(matches!(
        trust(&chains(1, 4, 50, 0.0)),
        Trust::NotConverged { .. }
    ));
    let mut apart = chains(1, 4, 2000, 0.0).into_vec();
    apart[..2000].iter_mut().for_each(|value| *value += 1.0);
    assert!(matches!(
        trust(&Draws::new(4, 2000, 1, apart).unwrap()),
        Trust::NotConverged {
            reason: Doubt::Rhat { .. }
        }
    ));
    let stuck = Draws::new(4, 2000, 1, vec![0.3; 8000]).unwrap();
    assert_eq!(trust(&stuck), Trust::Unknown);
}

#[test]
fn a_policy_without_features_returns_zero_for_certain() {
    let draws = chains(1, 4, 10, 0.0);
    let found = evaluate(
        &draws,
        &[policy("idle", &[0.0])],
        &EvaluateOptions::default(),
    )
    .unwrap();
    let bound = &found.policies[0].bounds[0];
    assert_eq!((bound.var, bound.var_mcse, bound.cvar), (0.0, 0.0, 0.0));
    assert_eq!(bound.trust, Trust::Converged);
}

#[test]
fn who_beats_whom() {
    let draws = Draws::new(1, 4, 2, vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0]).unwrap();
    let policies = [policy("A", &[1.0, 0.0]), policy("B", &[0.0, 1.0])];
    let found = evaluate(&draws, &policies, &EvaluateOptions::default()).unwrap();
    // Two wins, a loss and a tie.
    assert_eq!(found.beats.as_slice(), [0.5, 0.625, 0.375, 0.5]);
}

#[test]
fn return_per_step_divides_by_the_mean_length() {
    let rollouts = Matrix::new(2, 1, vec![4.0, 8.0]).unwrap();
    let policy = Policy::new("A", rollouts, Some(vec![10.0, 20.0])).unwrap();
    let draws = chains(1, 2, 500, 0.0);
    let found = evaluate(&draws, &[policy], &EvaluateOptions::default()).unwrap();
    let judged = &found.policies[0];
    assert_eq!((judged.rollouts, judged.mean_length), (2, Some(15.0)));
    assert_eq!(judged.mean_per_step, Some(judged.mean / 15.0));
    assert_eq!(
        judged.bounds[0].var_per_step,
        Some(judged.bounds[0].var / 15.0)
    );
}

#[test]
fn rollout_noise_widens_the_bound_as_the_normal_formula_says() {
    // Weights N(3, 1) and a feature whose mean of 50 rollouts is uncertain: to first order the
    // return has variance Phi^2 + 9 se^2.
    let draws = chains(2, 4, 25_000, 0.0);
    let values = draws.as_slice().iter().map(|v| v + 3.0).collect();
    let draws = Draws::new(4, 25_000, 1, values).unwrap();
    let mut random = stream(3, "test", 1);
    let rollouts = Matrix::from_fn(50, 1, |_, _| 10.0 + 20.0 * random.random::<f64>());
    let phi = rollouts.column_means()[0];
    let squares: f64 = rollouts.as_slice().iter().map(|v| (v - phi).powi(2)).sum();
    let se = (squares / 49.0 / 50.0).sqrt();
    let policy = Policy::new("A", rollouts, None).unwrap();
    let found = evaluate(&draws, &[policy], &EvaluateOptions::default()).unwrap();
    let judged = &found.policies[0];
    let bound = &judged.bounds[0];
    let noise = bound.rollout_noise.unwrap();
    let expected = 3.0 * phi + NORMAL_VAR * (phi * phi + 9.0 * se * se).sqrt();
    let off = (noise.var_with_rollouts - expected).abs();
    assert!(off < 0.02 * phi, "{noise:?}, expected {expected}");
    assert!((judged.mean_rollout_se.unwrap() / (3.0 * se) - 1.0).abs() < 0.01);
    // The quantile is (3 + z) Phi, so its error is that of Phi times 3 + z.
    let expected = (3.0 + NORMAL_VAR) * se;
    assert!(
        (noise.var_se / expected - 1.0).abs() < 0.2,
        "{noise:?} {expected}"
    );
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let draws = chains(5, 2, 3000, 0.3);
    let noisy = |name: &str| {
        let rollouts = Matrix::from_fn(5, 1, |i, _| (i * i) as f64);
        Policy::new(name, rollouts, None).unwrap()
    };
    let policies = [noisy("A"), noisy("B"), policy("C", &[1.0])];
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let judge = || evaluate(&draws, &policies, &EvaluateOptions::default()).unwrap();
        pool.build().unwrap().install(judge)
    };
    // As text, because unknown errors are NaN, which does not equal itself.
    assert_eq!(format!("{:?}", with(1)), format!("{:?}", with(3)));
}

#[test]
fn bad_input_is_named() {
    let draws = chains(1, 1, 10, 0.0);
    let options = EvaluateOptions::default();
    let wide = evaluate(&draws, &[policy("A", &[1.0, 2.0])], &options).unwrap_err();
    assert_eq!(
        wide.to_string(),
        "policy \"A\" has 2 features, the posterior has 1 weights; \
         both must come from the same encoder"
    );
    for delta in [0.0, 1.0, -0.1, f64::NAN] {
        let options = EvaluateOptions {
            deltas: vec![0.05, delta],
            ..options.clone()
        };
        assert!(matches!(
            evaluate(&draws, &[], &options),
            Err(EvaluateError::Delta { .. })
        ));
    }
    assert_eq!(
        evaluate_returns("A", &[], &options),
        Err(EvaluateError::NoDraws)
    );
    assert!(matches!(
        evaluate_returns("A", &[0.0, f64::NAN], &options),
        Err(EvaluateError::NotFinite { draw: 1, .. })
    ));
}

proptest! {
    #[test]
    fn cvar_is_below_var_and_both_move_with_the_features(
        values in prop::collection::vec(-10.0_f64..10.0, 40),
        delta in 0.01_f64..0.99,
        power in 0_i32..8,
    ) {
        let draws = Draws::new(2, 10, 2, values).unwrap();
        let factor = 2.0_f64.powi(power);
        let policies = [policy("A", &[1.0, -0.5]), policy("B", &[factor, -0.5 * factor])];
        let options = EvaluateOptions { deltas: vec![delta], ..EvaluateOptions::default() };
        let found = evaluate(&draws, &policies, &options).unwrap();
        let [one, other] = [0, 1].map(|i| &found.policies[i].bounds[0]);
        prop_assert!(one.cvar <= one.var + 1e-12);
        prop_assert_eq!(one.var * factor, other.var);
        prop_assert_eq!(one.cvar * factor, other.cvar);
        prop_assert_eq!(one.trust, other.trust);
        let direct = evaluate_returns("A", &found.policies[0].returns, &options).unwrap();
        prop_assert_eq!(direct.bounds[0].var, one.var);
    }
}
