//! Simulation-based calibration (Talts and others 2018) of the default sampler.
//!
//! Weights are drawn from the prior and comparisons answered by the model. If the sampler is exact,
//! the true value of any quantity is equally likely to have any rank among independent posterior
//! draws. The ranks of many replicates are counted in bins and compared with even counts.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use brex_core::{Matrix, Preference, Preferences, Stream, stream};
use brex_posterior::{Hmc, Length, Prior, Problem, SampleOptions, sample};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::ops::ControlFlow;

const REPLICATES: u64 = 1200;
const BINS: usize = 16;
/// Draws to rank among: the ranks 0 to 127 fall evenly into the bins.
const RANKED: usize = 127;
/// The chi-square statistic with 15 degrees of freedom is above this once in ten thousand times.
const LIMIT: f64 = 44.26;

struct Shape {
    trajectories: usize,
    features: usize,
    spread: f64,
    prior: Prior,
}

fn normal(random: &mut Stream) -> f64 {
    random.sample(StandardNormal)
}

fn truth(shape: &Shape, features: &Matrix, random: &mut Stream) -> Vec<f64> {
    let mut weights: Vec<f64> = (0..shape.features).map(|_| normal(random)).collect();
    let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let factor = match shape.prior {
        Prior::Gaussian { scale } => scale,
        Prior::Sphere => 1.0 / length,
        Prior::NonNegative { lowest } => {
            let row = features.row(lowest);
            let worst: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
            worst.signum() / length
        }
    };
    weights.iter_mut().for_each(|w| *w *= factor);
    weights
}

fn answers(returns: &[f64], random: &mut Stream) -> Preferences {
    let mut items = Vec::new();
    for i in 0..returns.len() {
        for j in i + 1..returns.len() {
            let wins = 1.0 / (1.0 + (returns[i] - returns[j]).exp());
            items.push(if random.random::<f64>() < wins {
                Preference::strict(i, j)
            } else {
                Preference::strict(j, i)
            });
        }
    }
    Preferences::new(returns.len(), items).unwrap()
}

/// The quantities that are ranked: some weights, some returns, the log likelihood, and a return
/// that no comparison is about.
fn quantities(problem: &Problem<'_>, elsewhere: &[f64], weights: &[f64]) -> Vec<f64> {
    let returns = problem.features().times(weights);
    let beyond = elsewhere.iter().zip(weights).map(|(x, w)| x * w).sum();
    let some_weights = weights.iter().take(3).copied();
    let some_returns = [
        returns[0],
        returns[1] - returns[0],
        returns[returns.len() - 1],
    ];
    some_weights
        .chain(some_returns)
        .chain([problem.log_likelihood(weights), beyond])
        .collect()
}

fn ranks(shape: &Shape, replicate: u64) -> Vec<usize> {
    let random = &mut stream(11, "calibration", replicate);
    let features = Matrix::from_fn(shape.trajectories, shape.features, |_, _| {
        shape.spread * normal(random)
    });
    let elsewhere: Vec<f64> = (0..shape.features).map(|_| normal(random)).collect();
    let truth = truth(shape, &features, random);
    let preferences = answers(&features.times(&truth), random);
    let problem = Problem::new(&features, &preferences, shape.prior, 1.0).unwrap();
    let options = SampleOptions {
        chains: Some(16),
        length: Length::Exactly(16 * 64),
        seed: random.random(),
        ..SampleOptions::default()
    };
    let watch = |_: &_| ControlFlow::Continue(());
    let run = sample(&problem, &Hmc::default(), &options, None, &watch).unwrap();
    let actual = quantities(&problem, &elsewhere, &truth);
    let mut below = vec![0; actual.len()];
    // Every eighth draw of a chain is as good as independent.
    for draw in run.sampled.draws.iter().step_by(8).take(RANKED) {
        for (count, (value, actual)) in below
            .iter_mut()
            .zip(quantities(&problem, &elsewhere, draw).iter().zip(&actual))
        {
            *count += usize::from(value < actual);
        }
    }
    below
}

fn assert_calibrated(shape: &Shape) {
    let all: Vec<Vec<usize>> = (0..REPLICATES)
        .into_par_iter()
        .map(|replicate| ranks(shape, replicate))
        .collect();
    let expected = REPLICATES as f64 / BINS as f64;
    for quantity in 0..all[0].len() {
        let mut counts = [0.0; BINS];
        for ranks in &all {
            counts[ranks[quantity] * BINS / (RANKED + 1)] += 1.0;
        }
        let statistic: f64 = counts
            .iter()
            .map(|c| (c - expected).powi(2) / expected)
            .sum();
        println!("{:?} {}: {statistic:.1}", shape.prior, quantity);
        assert!(
            statistic < LIMIT,
            "{:?}, {} features, quantity {quantity}: chi-square {statistic:.1}, counts {counts:?}",
            shape.prior,
            shape.features
        );
    }
}

fn shapes(prior: Prior) -> [Shape; 3] {
    // The collapsed form, the direction form, and one unseen direction.
    [(12, 64, 2.0), (20, 8, 1.0), (3, 3, 3.0)].map(|(trajectories, features, spread)| Shape {
        trajectories,
        features,
        spread,
        prior,
    })
}

#[test]
fn calibrated_on_the_sphere() {
    shapes(Prior::Sphere).iter().for_each(assert_calibrated);
}

#[test]
fn calibrated_on_half_of_the_sphere() {
    shapes(Prior::NonNegative { lowest: 0 })
        .iter()
        .for_each(assert_calibrated);
}

#[test]
fn calibrated_under_the_gaussian_prior() {
    shapes(Prior::Gaussian { scale: 0.5 })
        .iter()
        .for_each(assert_calibrated);
}

#[test]
fn a_wrong_model_is_not_calibrated() {
    // The same counts must give the alarm where the truth is not from the prior.
    let shape = Shape {
        trajectories: 12,
        features: 8,
        spread: 1.0,
        prior: Prior::Gaussian { scale: 0.5 },
    };
    let mut outer = 0;
    for replicate in 0..200 {
        let random = &mut stream(12, "calibration", replicate);
        let features = Matrix::from_fn(12, 8, |_, _| normal(random));
        let mut weights = truth(&shape, &features, random);
        weights.iter_mut().for_each(|w| *w *= 4.0);
        let preferences = answers(&features.times(&weights), random);
        let problem = Problem::new(&features, &preferences, shape.prior, 1.0).unwrap();
        let options = SampleOptions {
            chains: Some(16),
            length: Length::Exactly(1024),
            seed: replicate,
            ..SampleOptions::default()
        };
        let watch = |_: &_| ControlFlow::Continue(());
        let run = sample(&problem, &Hmc::default(), &options, None, &watch).unwrap();
        let column = run.sampled.draws.column(0);
        let below = column.iter().filter(|value| **value < weights[0]).count();
        outer += usize::from(!(64..960).contains(&below));
    }
    // A sixteenth of the ranks at either end: 25 of 200 expected from an exact model.
    assert!(outer > 50, "{outer} of 200 in the outer eighth");
}
