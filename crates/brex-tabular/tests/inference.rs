//! The chains against quadrature, against each other and against the engine's sampler.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_core::{Matrix, Preference, Preferences, Workspace, diagnose, stream};
use brex_posterior::{Hmc, Prior, Problem, SampleOptions, sample};
use brex_tabular::{
    Demonstrations, Gridworld, Inference, InferenceOptions, IrlError, Mdp, StochasticPolicy,
    WeightPrior, policy_iteration, rollout, sample_irl, sample_preferences,
};
use std::ops::ControlFlow;

/// A point of the prior's surface with its share of the prior.
struct Node {
    weights: Vec<f64>,
    share: f64,
}

/// Three weights: a fine grid of directions, even under the prior.
fn nodes(prior: WeightPrior) -> Vec<Node> {
    const STEPS: usize = 120;
    let mut nodes = Vec::new();
    match prior {
        // Each of eight triangles is cut into small ones; the prior is even on them.
        WeightPrior::AbsoluteSum => {
            let n = STEPS;
            for i in 0..n {
                for j in 0..n - i {
                    // The centres of the triangle that points up and of the one that points down.
                    for (shift, inside) in [(1.0 / 3.0, true), (2.0 / 3.0, j + 1 < n - i)] {
                        if inside {
                            let a = (i as f64 + shift) / n as f64;
                            let b = (j as f64 + shift) / n as f64;
                            for signs in 0..8_u32 {
                                let sign = |k: u32| if signs >> k & 1 == 0 { 1.0 } else { -1.0 };
                                let c = 1.0 - a - b;
                                let weights = vec![sign(0) * a, sign(1) * b, sign(2) * c];
                                nodes.push(Node {
                                    weights,
                                    share: 1.0,
                                });
                            }
                        }
                    }
                }
            }
        }
        // Archimedes: height and longitude are uniform.
        WeightPrior::Sphere => {
            for i in 0..2 * STEPS {
                let z = -1.0 + (i as f64 + 0.5) / STEPS as f64;
                let radius = (1.0 - z * z).sqrt();
                for j in 0..4 * STEPS {
                    let turn = std::f64::consts::TAU * (j as f64 + 0.5) / (4 * STEPS) as f64;
                    let weights = vec![radius * turn.cos(), radius * turn.sin(), z];
                    nodes.push(Node {
                        weights,
                        share: 1.0,
                    });
                }
            }
        }
    }
    nodes
}

/// Moments and distribution of linear functions of the weights, by quadrature and by the chains.
fn assert_agrees(
    inference: &Inference,
    mut nodes: Vec<Node>,
    log_likelihood: impl Fn(&[f64]) -> f64,
) {
    assert!(inference.quality.converged, "{:?}", inference.quality);
    let levels: Vec<f64> = nodes
        .iter()
        .map(|node| log_likelihood(&node.weights))
        .collect();
    let top = levels.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let mut total = 0.0;
    for (node, level) in nodes.iter_mut().zip(levels) {
        node.share *= (level - top).exp();
        total += node.share;
    }
    let mut workspace = Workspace::default();
    let chains = inference.draws.chains();
    let mut largest = 0.0_f64;
    for direction in [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [1.0, -2.0, 0.5],
    ] {
        let along = |w: &[f64]| w.iter().zip(direction).map(|(w, d)| w * d).sum::<f64>();
        let exact = |f: &dyn Fn(f64) -> f64| {
            let sum: f64 = nodes.iter().map(|n| n.share * f(along(&n.weights))).sum();
            sum / total
        };
        let values = inference.draws.times(&direction);
        // Mean, spread, and the share below three places.
        let mean = exact(&|v| v);
        let sd = exact(&|v| (v - mean) * (v - mean)).sqrt();
        let mut compare = |f: &dyn Fn(f64) -> f64| {
            let series: Vec<f64> = values.iter().map(|v| f(*v)).collect();
            let found = diagnose(&series, chains, &[], &mut workspace);
            let z = (found.mean - exact(f)) / found.mcse_mean;
            largest = largest.max(z.abs());
        };
        compare(&|v| v);
        compare(&|v| (v - mean) * (v - mean));
        for place in [mean - sd, mean, mean + sd] {
            // A smooth step: quadrature and draws mean the same by it.
            compare(&|v| 1.0 / (1.0 + ((v - place) / (0.1 * sd)).exp()));
        }
    }
    assert!(largest < 4.5, "largest |z| {largest}");
}

/// A little world with three features, slippery or not.
fn small_world(slip: f64, index: u64) -> Mdp {
    let mut random = stream(11, "inference test", index);
    Gridworld::random(3, 3, 3, slip, 0.9, &mut random)
        .to_mdp()
        .unwrap()
}

fn boltzmann(mdp: &Mdp, demonstrations: &Demonstrations, beta: f64, weights: &[f64]) -> f64 {
    let (solution, _) = policy_iteration(mdp, &mdp.rewards(weights));
    let chance = |s: usize, a: usize| {
        let q = solution.q.row(s);
        let sum: f64 = q.iter().map(|other| (beta * (other - q[a])).exp()).sum();
        1.0 / sum
    };
    let good = demonstrations.good.iter().map(|&(s, a)| chance(s, a).ln());
    let bad = demonstrations
        .bad
        .iter()
        .map(|&(s, a)| (-chance(s, a)).ln_1p());
    good.chain(bad).sum()
}

fn demonstrate(mdp: &Mdp, weights: &[f64], beta: f64, index: u64) -> Demonstrations {
    let mut random = stream(12, "inference test", index);
    let (solution, _) = policy_iteration(mdp, &mdp.rewards(weights));
    let policy = StochasticPolicy::boltzmann(&solution.q, beta).unwrap();
    let contrary = StochasticPolicy::boltzmann(&solution.q, -beta).unwrap();
    let mut pairs = |policy: &StochasticPolicy, start| -> Vec<(usize, usize)> {
        let steps = rollout(mdp, policy, start, 8, &mut random);
        steps.iter().map(|step| (step.state, step.action)).collect()
    };
    Demonstrations {
        good: pairs(&policy, 0),
        bad: pairs(&contrary, 4),
    }
}

fn options(prior: WeightPrior, beta: f64) -> InferenceOptions {
    InferenceOptions {
        prior,
        beta,
        seed: 3,
        ..InferenceOptions::default()
    }
}

#[test]
fn bayesian_irl_agrees_with_quadrature() {
    for (index, prior) in [WeightPrior::AbsoluteSum, WeightPrior::Sphere]
        .into_iter()
        .enumerate()
    {
        for slip in [0.0, 0.3] {
            for with_bad in [false, true] {
                let mdp = small_world(slip, index as u64);
                let beta = 4.0;
                let mut shown = demonstrate(&mdp, &[0.5, -0.2, -0.3], beta, index as u64);
                if !with_bad {
                    shown.bad.clear();
                }
                let inference = sample_irl(&mdp, &shown, &options(prior, beta)).unwrap();
                assert_agrees(&inference, nodes(prior), |w| {
                    boltzmann(&mdp, &shown, beta, w)
                });
            }
        }
    }
}

/// Contradicting evidence makes two peaks far apart, with the same weight by symmetry or not.
#[test]
fn two_peaks_are_both_found_in_proportion() {
    let mdp = small_world(0.0, 5);
    let beta = 30.0;
    // Every action in every state: nothing is better than anything else.
    let good = (0..mdp.states()).flat_map(|s| (0..mdp.actions()).map(move |a| (s, a)));
    let shown = Demonstrations {
        good: good.collect(),
        bad: Vec::new(),
    };
    for prior in [WeightPrior::AbsoluteSum, WeightPrior::Sphere] {
        let inference = sample_irl(&mdp, &shown, &options(prior, beta)).unwrap();
        assert_agrees(&inference, nodes(prior), |w| {
            boltzmann(&mdp, &shown, beta, w)
        });
        let first = inference.draws.column(0);
        let positive = first.iter().filter(|w| **w > 0.0).count() as f64 / first.len() as f64;
        assert!((positive - 0.5).abs() < 0.1, "{positive}");
    }
}

fn trajectories() -> (Matrix, Preferences) {
    let mut random = stream(13, "inference test", 0);
    let features = Matrix::from_fn(6, 3, |_, _| {
        use rand::RngExt;
        random.random_range(0.0..2.0)
    });
    let items = vec![
        Preference::strict(0, 1),
        Preference::strict(2, 1),
        Preference::strict(3, 4),
        Preference::tie(4, 5),
        Preference::strict(5, 0),
    ];
    (features, Preferences::new(6, items).unwrap())
}

#[test]
fn preferences_agree_with_quadrature() {
    let (features, preferences) = trajectories();
    let beta = 3.0;
    for prior in [WeightPrior::AbsoluteSum, WeightPrior::Sphere] {
        let inference = sample_preferences(&features, &preferences, &options(prior, beta));
        assert_agrees(&inference, nodes(prior), |w| {
            let returns = features.times(w);
            let of = |p: &Preference| {
                let gap = beta * (returns[p.b] - returns[p.a]);
                let log_sigma = |g: f64| -(-g).exp().ln_1p();
                p.weight * (p.label * log_sigma(gap) + (1.0 - p.label) * log_sigma(-gap))
            };
            preferences.items().iter().map(of).sum()
        });
    }
}

#[test]
fn preferences_agree_with_the_engine_on_the_sphere() {
    let (features, preferences) = trajectories();
    let ours = sample_preferences(&features, &preferences, &options(WeightPrior::Sphere, 3.0));
    let problem = Problem::new(&features, &preferences, Prior::Sphere, 3.0).unwrap();
    let watch = |_: &_| ControlFlow::Continue(());
    let engine = sample(
        &problem,
        &Hmc::default(),
        &SampleOptions::default(),
        None,
        &watch,
    )
    .unwrap();
    let mut workspace = Workspace::default();
    for trajectory in 0..features.rows() {
        let mut summary = |draws: &brex_core::Draws| {
            let returns = draws.times(features.row(trajectory));
            let found = diagnose(&returns, draws.chains(), &[0.05], &mut workspace);
            let quantile = &found.quantiles[0];
            [
                (found.mean, found.mcse_mean),
                (quantile.value, quantile.mcse),
            ]
        };
        let (a, b) = (summary(&ours.draws), summary(&engine.sampled.draws));
        for (a, b) in a.into_iter().zip(b) {
            let z = (a.0 - b.0) / (a.1 * a.1 + b.1 * b.1).sqrt();
            assert!(z.abs() < 4.0, "trajectory {trajectory}: {a:?} {b:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_draws_and_bad_steps_are_refused() {
    let mdp = small_world(0.1, 1);
    let shown = demonstrate(&mdp, &[0.5, -0.2, -0.3], 4.0, 1);
    let run = |seed| {
        let options = InferenceOptions {
            seed,
            most_draws_per_chain: 50,
            ..InferenceOptions::default()
        };
        sample_irl(&mdp, &shown, &options).unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).draws, run(2).draws);
    assert!(!run(1).quality.converged);
    let unknown = Demonstrations {
        good: vec![(0, 0)],
        bad: vec![(9, 1)],
    };
    let error = sample_irl(&mdp, &unknown, &InferenceOptions::default()).unwrap_err();
    assert!(matches!(
        error,
        IrlError::Step {
            step: 1,
            state: 9,
            ..
        }
    ));
}
