//! The default sampler against nuts-rs: two programs that share no code have to give the same
//! posterior, for each prior.
//!
//! NUTS works in coordinates whitened by its own approximation of the posterior, which changes its
//! speed and nothing else. Differences are counted in units of their joint Monte-Carlo error.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

#[path = "../benches/samplers/agreement.rs"]
mod agreement;
#[path = "../benches/samplers/nuts.rs"]
mod nuts;
#[path = "../benches/samplers/target.rs"]
mod target;
#[path = "../benches/samplers/whitened.rs"]
mod whitened;

use agreement::{Agreement, largest, rms, spaced_rows};
use brex_core::{Draws, Matrix, Preference, Preferences, stream};
use brex_posterior::{
    BenchmarkProblem, Hmc, Length, Prior, Problem, SampleOptions, benchmark_problem, sample,
};
use nuts::Density;
use rand::RngExt;
use rand_distr::StandardNormal;
use target::{Target, Weights};
use whitened::Whitened;

/// What both sides have to reach before they are compared.
const LEAST_ESS: f64 = 4000.0;

fn nuts_draws(target: &Whitened, chains: u64, draws: usize, seed: u64) -> Draws {
    let found = nuts::run_chains(target, chains, 200, draws, seed).unwrap();
    assert_eq!(found.divergences, 0);
    assert!(
        found.gradients < 40 * found.draws.len() as u64,
        "{}",
        found.gradients
    );
    found.draws
}

fn hmc_draws(problem: &Problem<'_>, draws: usize, seed: u64) -> Draws {
    let options = SampleOptions {
        length: Length::Exactly(draws),
        seed,
        ..SampleOptions::default()
    };
    let go_on = |_: &brex_posterior::Progress| std::ops::ControlFlow::Continue(());
    let run = sample(problem, &Hmc::default(), &options, None, &go_on).unwrap();
    run.sampled.draws
}

/// Fails unless every mean and quantile is the same within chance.
fn assert_close(found: &Agreement) {
    assert!(found.max_rhat < 1.01, "R-hat {}", found.max_rhat);
    assert!(found.min_ess >= LEAST_ESS, "ESS {}", found.min_ess);
    let (means, quantiles) = (largest(&found.means), largest(&found.quantiles));
    println!(
        "{} returns: max |z| {means:.2} (quantiles {quantiles:.2}), rms {:.2} ({:.2}), ESS {:.0}",
        found.means.len(),
        rms(&found.means),
        rms(&found.quantiles),
        found.min_ess
    );
    assert!(means < 4.0, "a mean differs by {means} errors");
    assert!(quantiles < 4.5, "a quantile differs by {quantiles} errors");
}

/// Fails unless all repetitions agree, and differ neither more nor less than their errors say.
fn assert_agreement(all: &[Agreement]) {
    all.iter().for_each(assert_close);
    let pooled: Vec<f64> = all.iter().flat_map(|a| a.means.iter().copied()).collect();
    let rms = rms(&pooled);
    println!("rms of all z: {rms:.3}");
    assert!((0.8..1.2).contains(&rms), "rms of z is {rms}");
}

/// Twenty trajectories with eight features, and sixty comparisons of random outcome.
fn small_problem() -> (Matrix, Preferences) {
    let mut random = stream(5, "small problem", 0);
    let features = Matrix::from_fn(20, 8, |_, _| random.sample(StandardNormal));
    let items = (0..60)
        .map(|_| {
            let a = random.random_range(0..20);
            let b = (a + random.random_range(1..20)) % 20;
            let gap: f64 = features.row(b)[0] - features.row(a)[0];
            if random.random::<f64>() < 1.0 / (1.0 + (-2.0 * gap).exp()) {
                Preference::strict(a, b)
            } else {
                Preference::strict(b, a)
            }
        })
        .collect();
    let preferences = Preferences::new(20, items).unwrap();
    (features, preferences)
}

#[test]
fn gradients_are_those_of_the_log_density() {
    let (features, preferences) = small_problem();
    for weights in [Weights::OnSphere, Weights::Scaled(3.0)] {
        for stretch in [1.0, 60.0] {
            let long = Matrix::from_fn(20, 8, |i, j| stretch * features.row(i)[j]);
            let mut tuned = Target::new(&long, &preferences, 0.7, weights);
            let mut whitened = Whitened::new(&long, &preferences, 0.7, weights).unwrap();
            assert_gradient(&mut tuned);
            assert_gradient(&mut tuned.plain());
            assert_gradient(&mut whitened);
        }
    }
}

fn assert_gradient(density: &mut impl Density) {
    let mut random = stream(6, "gradient", 0);
    let at: Vec<f64> = (0..8).map(|_| random.sample(StandardNormal)).collect();
    let mut slope = vec![0.0; 8];
    density.evaluate(&at, &mut slope);
    for i in 0..8 {
        let mut value = |shift: f64| {
            let mut moved = at.clone();
            moved[i] += shift;
            density.evaluate(&moved, &mut [0.0; 8])
        };
        let expected = (value(1e-5) - value(-1e-5)) / 2e-5;
        let error = (slope[i] - expected).abs();
        assert!(
            error < 1e-5 * (1.0 + expected.abs()),
            "{} {expected}",
            slope[i]
        );
    }
}

#[test]
fn the_target_has_the_likelihood_of_the_problem() {
    let (features, preferences) = benchmark_problem(BenchmarkProblem::S, 3);
    let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.3).unwrap();
    let tuned = Target::new(&features, &preferences, 1.3, Weights::OnSphere);
    let mut targets = [tuned.clone(), tuned.plain()];
    let mut random = stream(6, "likelihood", 0);
    for _ in 0..20 {
        let z: Vec<f64> = (0..64).map(|_| random.sample(StandardNormal)).collect();
        let square: f64 = z.iter().map(|z| z * z).sum();
        let mut weights = Vec::new();
        targets[0].weights_of(&z, &mut weights);
        let expected = problem.log_likelihood(&weights);
        for target in &mut targets {
            let found = target.evaluate(&z, &mut [0.0; 64]) + 0.5 * square;
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()));
        }
    }
}

#[test]
fn returns_of_m_agree() {
    let (features, preferences) = benchmark_problem(BenchmarkProblem::M, 7);
    let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap();
    let target = Whitened::new(&features, &preferences, 1.0, Weights::OnSphere).unwrap();
    let rows = spaced_rows(features.rows(), 100);
    let all: Vec<Agreement> = (0..3)
        .map(|seed| {
            let one = hmc_draws(&problem, 32_000, seed);
            let other = nuts_draws(&target, 4, 4000, seed);
            Agreement::of(&features, &rows, &one, &other)
        })
        .collect();
    assert_agreement(&all);
}

#[test]
fn returns_under_the_gaussian_prior_agree() {
    let (features, preferences) = small_problem();
    let prior = Prior::Gaussian { scale: 1.5 };
    let problem = Problem::new(&features, &preferences, prior, 1.0).unwrap();
    let weights = Weights::under(prior);
    let target = Whitened::new(&features, &preferences, 1.0, weights).unwrap();
    let rows: Vec<usize> = (0..20).collect();
    let all: Vec<Agreement> = (0..30)
        .map(|seed| {
            let one = hmc_draws(&problem, 16_000, seed);
            let other = nuts_draws(&target, 4, 2500, seed);
            Agreement::of(&features, &rows, &one, &other)
        })
        .collect();
    assert_agreement(&all);
}

/// NUTS knows no half-space; its draws beyond the border are thrown away, and what is left is cut
/// to equally long chains.
#[test]
fn returns_under_the_half_space_prior_agree() {
    let (features, preferences) = small_problem();
    let target = Whitened::new(&features, &preferences, 1.0, Weights::OnSphere).unwrap();
    let rows: Vec<usize> = (0..20).collect();
    let many = nuts_draws(&target, 4, 50_000, 99);
    // Rows whose return is negative for a good part of the draws make the border matter.
    let borders: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|row| {
            let kept = keep_half_space(&many, features.row(*row)).len();
            (0.3..0.7).contains(&(kept as f64 / many.len() as f64))
        })
        .collect();
    assert!(borders.len() >= 3, "{borders:?}");
    for &lowest in &borders {
        let prior = Prior::NonNegative { lowest };
        let problem = Problem::new(&features, &preferences, prior, 1.0).unwrap();
        let one = hmc_draws(&problem, 320_000, 98);
        let other = keep_half_space(&many, features.row(lowest));
        let found = Agreement::of(&features, &rows, &one, &other);
        assert!(found.min_ess > 10.0 * LEAST_ESS, "ESS {}", found.min_ess);
        assert_close(&found);
    }
    let prior = Prior::NonNegative { lowest: borders[0] };
    let problem = Problem::new(&features, &preferences, prior, 1.0).unwrap();
    let all: Vec<Agreement> = (0..30)
        .map(|seed| {
            let one = hmc_draws(&problem, 16_000, seed);
            let other = nuts_draws(&target, 4, 6000, seed);
            let other = keep_half_space(&other, features.row(borders[0]));
            Agreement::of(&features, &rows, &one, &other)
        })
        .collect();
    assert_agreement(&all);
}

fn keep_half_space(draws: &Draws, border: &[f64]) -> Draws {
    let inside = |draw: &&[f64]| draw.iter().zip(border).map(|(w, x)| w * x).sum::<f64>() >= 0.0;
    let chains: Vec<Vec<&[f64]>> = (0..draws.chains())
        .map(|chain| {
            (0..draws.draws_per_chain())
                .map(|draw| draws.get(chain, draw))
                .filter(inside)
                .collect()
        })
        .collect();
    let shortest = chains.iter().map(Vec::len).min().unwrap();
    let weights = chains.iter().flat_map(|chain| &chain[..shortest]);
    let weights = weights.flat_map(|draw| draw.iter().copied()).collect();
    Draws::new(chains.len(), shortest, draws.dim(), weights).unwrap()
}
