//! Where the answer is known without integrating: no comparisons, and a single weight.

use crate::compare::{Comparison, compare};
use crate::exact::Law;
use brex_core::{Matrix, Preference, Preferences};
use brex_posterior::{EllipticalSlice, Hmc, Prior, Problem, RandomWalk, Sampler};

/// The uniform law of a weight on the unit sphere in `k` dimensions: `w^2` has a beta law with
/// parameters 1/2 and (k - 1)/2, so the kurtosis is `3 k / (k + 2)`.
fn weight_on_sphere(k: usize, q05: f64) -> Law {
    let k = k as f64;
    Law {
        mean: 0.0,
        sd: k.powf(-0.5),
        q05,
        kurtosis: 3.0 * k / (k + 2.0),
    }
}

#[test]
fn without_comparisons_the_posterior_is_the_prior() {
    // The 5 % quantiles are -cos(0.05 pi) on the circle, and minus the square root of the 90 %
    // quantile of the beta law otherwise.
    let quantiles = [
        (2, -0.987_688_340_595_137_8),
        (5, -0.729_299_275_656_832_6),
        (64, -0.205_821_748_644_734_1),
    ];
    for (k, q05) in quantiles {
        let features = Matrix::from_fn(3, k, |i, j| (i + j) as f64);
        let preferences = Preferences::new(3, Vec::new()).expect("no comparison is wrong");
        let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap();
        let axis = |j: usize| (0..k).map(|i| f64::from(u8::from(i == j))).collect();
        let vectors: Vec<Vec<f64>> = vec![axis(0), axis(k - 1)];
        let laws = [weight_on_sphere(k, q05); 2];
        let walk = RandomWalk {
            step: 1.0,
            burn_in: 100,
            thinning: 1,
        };
        let samplers: [(&dyn Sampler, usize); 6] = [
            (&Hmc::default(), 1),
            (&Hmc::default(), 3),
            (&Hmc::default(), 16),
            (&Hmc::default(), 40),
            (&walk, 4),
            (&EllipticalSlice, 8),
        ];
        for (sampler, chains) in samplers {
            let found = compare(&problem, sampler, chains, &vectors, &laws, 2).unwrap();
            assert!(
                found.iter().all(Comparison::passes),
                "{} of {k}, {chains} chains: {found:?}",
                sampler.name()
            );
        }
    }
}

#[test]
fn a_single_weight_is_one_of_two_points() {
    let features = Matrix::from_fn(3, 1, |i, _| [0.0, 0.4, 0.9][i]);
    let items = vec![Preference::strict(0, 1), Preference::strict(1, 2)];
    let preferences = Preferences::new(3, items).unwrap();
    let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap();
    let odds: f64 = [0.4_f64, 0.5]
        .iter()
        .map(|gap| (1.0 + gap.exp()) / (1.0 + (-gap).exp()))
        .product();
    let positive = odds / (1.0 + odds);
    for sampler in [
        &Hmc::default() as &dyn Sampler,
        &RandomWalk {
            step: 2.0,
            burn_in: 100,
            thinning: 1,
        },
        &EllipticalSlice,
    ] {
        let watch = |_: &_| std::ops::ControlFlow::Continue(());
        let options = brex_posterior::SampleOptions {
            chains: Some(8),
            length: brex_posterior::Length::Exactly(200_000),
            ..Default::default()
        };
        let run = brex_posterior::sample(&problem, sampler, &options, None, &watch).unwrap();
        let signs = run.sampled.draws.column(0);
        assert!(signs.iter().all(|w| (w.abs() - 1.0).abs() < 1e-12));
        let share = signs.iter().filter(|w| **w > 0.0).count() as f64 / signs.len() as f64;
        let effective = brex_core::ess_mean(&signs, 8, &mut brex_core::Workspace::default());
        let z = (share - positive) / (positive * (1.0 - positive) / effective).sqrt();
        assert!(
            z.abs() < 4.0,
            "{}: {share}, exactly {positive}, z {z}",
            sampler.name()
        );
    }
}
