//! Extreme but valid problems: no panic, no NaN, weights of length 1 inside the prior; and those of
//! them that a user may well have converge with the default settings.

use brex_core::{Matrix, Preference, Preferences, stream};
use brex_posterior::{
    EllipticalSlice, Hmc, Length, Prior, Problem, RandomWalk, SampleOptions, Sampler, sample,
};
use rand::RngExt;
use rand_distr::StandardNormal;
use std::ops::ControlFlow;

struct Case {
    name: &'static str,
    features: Matrix,
    preferences: Preferences,
    beta: f64,
    /// Whether the default sampler should converge within seconds.
    reasonable: bool,
}

impl Case {
    fn new(name: &'static str, features: Matrix, items: Vec<Preference>) -> Self {
        let preferences = Preferences::new(features.rows(), items).expect("rows exist and differ");
        Self {
            name,
            features,
            preferences,
            beta: 1.0,
            reasonable: true,
        }
    }

    fn ranked(name: &'static str, features: Matrix) -> Self {
        let items = Preferences::full_ranking(features.rows()).items().to_vec();
        Self::new(name, features, items)
    }

    /// All pairs, answered by the Bradley-Terry model of a random truth.
    fn answered(name: &'static str, features: Matrix) -> Self {
        let pairs = Preferences::full_ranking(features.rows());
        let items = answers(&features, pairs.items());
        Self::new(name, features, items)
    }

    fn extreme(self) -> Self {
        Self {
            reasonable: false,
            ..self
        }
    }

    fn with_beta(self, beta: f64) -> Self {
        Self { beta, ..self }
    }
}

fn normal(rows: usize, cols: usize, scale: f64) -> Matrix {
    let mut random = stream(1, "hostile", 0);
    Matrix::from_fn(rows, cols, |_, _| {
        scale * random.sample::<f64, _>(StandardNormal)
    })
}

fn answers(features: &Matrix, pairs: &[Preference]) -> Vec<Preference> {
    let mut random = stream(2, "hostile answers", 0);
    let truth: Vec<f64> = (0..features.cols())
        .map(|_| random.sample(StandardNormal))
        .collect();
    let length = truth.iter().map(|v| v * v).sum::<f64>().sqrt();
    let returns = features.times(&truth);
    pairs
        .iter()
        .map(|p| {
            let gap = (returns[p.b] - returns[p.a]) / length;
            let agrees = random.random::<f64>() < 1.0 / (1.0 + (-gap).exp());
            if agrees {
                Preference::strict(p.a, p.b)
            } else {
                Preference::strict(p.b, p.a)
            }
        })
        .collect()
}

fn scales() -> Vec<Case> {
    let one_huge =
        |i: usize, j: usize| normal(12, 64, 1e-3).row(i)[j] * [1.0, 1e6][usize::from(j == 5)];
    let offset = |i: usize, j: usize| 1e6 + normal(12, 64, 1.0).row(i)[j];
    let few = || normal(12, 16, 1.0);
    vec![
        Case::ranked("features of 1e-12", normal(12, 16, 1e-12)),
        Case::ranked("features of 1", few()),
        Case::ranked("features of 1e3", normal(12, 16, 1e3)),
        Case::ranked("features of 1e6", normal(12, 16, 1e6)).extreme(),
        Case::ranked("features of 1e9", normal(12, 16, 1e9)).extreme(),
        Case::ranked("the paper's shape, features of 1e3", normal(12, 64, 1e3)),
        Case::answered("full rank, features of 100", normal(40, 8, 100.0)),
        Case::answered("full rank, features of 1e3", normal(40, 8, 1e3)).extreme(),
        Case::ranked("one huge feature", Matrix::from_fn(12, 64, one_huge)),
        Case::answered(
            "one huge feature, answered",
            Matrix::from_fn(12, 64, one_huge),
        )
        .extreme(),
        Case::ranked("a common offset of 1e6", Matrix::from_fn(12, 64, offset)),
        Case::ranked("beta 1e-6", few()).with_beta(1e-6),
        Case::ranked("beta 1e4", few()).with_beta(1e4).extreme(),
    ]
}

fn shapes() -> Vec<Case> {
    let few = normal(12, 16, 1.0);
    let line = |k: usize| Matrix::from_fn(12, k, |i, j| i as f64 * normal(1, k, 1.0).row(0)[j]);
    let neighbours: Vec<Preference> = (1..2000).map(|i| Preference::strict(i - 1, i)).collect();
    let long = normal(2000, 2, 1.0);
    let apart = (0..4)
        .map(|i| Preference::strict(2 * i, 2 * i + 1))
        .collect();
    vec![
        Case::ranked(
            "duplicate rows",
            Matrix::from_fn(12, 16, |i, j| few.row(i % 6)[j]),
        ),
        Case::ranked(
            "constant features",
            Matrix::from_fn(12, 16, |i, j| if j < 8 { 3.0 } else { few.row(i)[j] }),
        ),
        Case::ranked("all features zero", Matrix::zeros(12, 16)),
        Case::ranked("three features, all zero", Matrix::zeros(12, 3)),
        Case::ranked("rank 1", line(16)),
        Case::ranked("rank 1, three features", line(3)),
        Case::ranked("two trajectories", normal(2, 16, 1.0)),
        Case::ranked("two trajectories, two features", normal(2, 2, 1.0)),
        Case::new(
            "one comparison",
            few.clone(),
            vec![Preference::strict(3, 7)],
        ),
        Case::new("no comparison", few.clone(), Vec::new()),
        Case::new("apart, and some never compared", few, apart),
        Case::new(
            "2,000 trajectories, two features",
            long.clone(),
            answers(&long, &neighbours),
        ),
        // Two points: whether a quantile of two values has converged cannot be told.
        Case::ranked("one feature", normal(4, 1, 0.3)).extreme(),
        Case::ranked(
            "one feature, certain",
            Matrix::from_fn(4, 1, |i, _| 50.0 * i as f64),
        ),
        Case::ranked("5,000 features of five", normal(5, 5000, 1.0)),
    ]
}

fn labels() -> Vec<Case> {
    let few = || normal(12, 16, 1.0);
    let ranking = Preferences::full_ranking(12);
    let weighted = |weights: [f64; 3]| -> Vec<Preference> {
        let items = ranking.items().iter().enumerate();
        items
            .map(|(index, p)| Preference {
                weight: weights[index % 3],
                ..*p
            })
            .collect()
    };
    let ties = |count: usize| -> Vec<Preference> {
        let pairs = Preferences::full_ranking(count);
        let items = pairs.items().iter();
        items.map(|p| Preference::tie(p.a, p.b)).collect()
    };
    let both_ways = ranking
        .items()
        .iter()
        .flat_map(|p| [*p, Preference::strict(p.b, p.a)])
        .collect();
    vec![
        Case::new("some weights 0", few(), weighted([0.0, 1.0, 1.0])),
        Case::new("all weights 0", few(), weighted([0.0; 3])),
        Case::new("weights 1e6", few(), weighted([1e6; 3])).extreme(),
        Case::new("weights 1e-9 to 1e6", few(), weighted([1e-9, 1.0, 1e6])).extreme(),
        Case::new("only ties", few(), ties(12)),
        Case::new("only ties, features of 1e3", normal(30, 4, 1e3), ties(30)).extreme(),
        Case::new("every comparison both ways", few(), both_ways),
    ]
}

fn cases() -> impl Iterator<Item = Case> {
    scales().into_iter().chain(shapes()).chain(labels())
}

const PRIORS: [Prior; 3] = [
    Prior::Sphere,
    Prior::NonNegative { lowest: 0 },
    Prior::Gaussian { scale: 1.0 },
];

fn check_draws(sampler: &dyn Sampler) {
    for case in cases() {
        for prior in PRIORS {
            let problem = Problem::new(&case.features, &case.preferences, prior, case.beta)
                .expect("the parts fit together");
            let options = SampleOptions {
                length: Length::Exactly(160),
                seed: 1,
                ..SampleOptions::default()
            };
            let context = format!("{}, {}, {}", case.name, prior.name(), sampler.name());
            let run = sample(&problem, sampler, &options, None, &|_| {
                ControlFlow::Continue(())
            })
            .unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(run.sampled.draws.len(), 160, "{context}");
            let lowest = case.features.row(0);
            let size = lowest.iter().map(|v| v * v).sum::<f64>().sqrt();
            for (weights, log_likelihood) in
                run.sampled.draws.iter().zip(&run.sampled.log_likelihood)
            {
                let finite = weights.iter().all(|w| w.is_finite()) && log_likelihood.is_finite();
                assert!(finite, "{context}: {weights:?}, {log_likelihood}");
                if prior.is_on_sphere() {
                    let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
                    assert!((length - 1.0).abs() < 1e-9, "{context}: length {length}");
                }
                if matches!(prior, Prior::NonNegative { .. }) {
                    let worst: f64 = weights.iter().zip(lowest).map(|(w, x)| w * x).sum();
                    assert!(worst >= -1e-6 * size, "{context}: return {worst} of {size}");
                }
            }
        }
    }
}

#[test]
fn hamiltonian_draws_are_finite_and_inside_the_prior() {
    check_draws(&Hmc::default());
}

#[test]
fn the_random_walk_is_finite_and_inside_the_prior() {
    check_draws(&RandomWalk {
        burn_in: 100,
        ..RandomWalk::default()
    });
}

#[test]
fn elliptical_slices_are_finite_and_inside_the_prior() {
    check_draws(&EllipticalSlice);
}

#[test]
fn reasonable_problems_converge_with_the_default_settings() {
    let mut failures = Vec::new();
    for case in cases().filter(|case| case.reasonable) {
        for prior in PRIORS {
            let problem =
                Problem::new(&case.features, &case.preferences, prior, case.beta).unwrap();
            let options = SampleOptions {
                seed: 1,
                ..SampleOptions::default()
            };
            let watch = |_: &_| ControlFlow::Continue(());
            let run = sample(&problem, &Hmc::default(), &options, None, &watch).unwrap();
            if !run.convergence.converged {
                let reached = &run.convergence;
                failures.push(format!("{}, {}: {reached:?}", case.name, prior.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
