//! How sharp preferences are: the inverse temperature that foretells them best.
//!
//! With weights of length 1 and feature sums of whatever size an encoder gives, `beta` decides how
//! much a difference of returns says, and no value of it is right for all features. One that is too
//! great does harm: comparisons that no reward of length 1 can explain are explained all the same, by
//! weights in directions in which the trajectories hardly differ, and such weights say anything about
//! what no trajectory shows.
//!
//! So trajectories are kept back, a part at a time. The posterior of the comparisons among the others
//! foretells those in which a kept-back one takes part, with the probability that its draws give them
//! on average, and what counts is minus the log of it. Neighbouring values of `beta` differ by
//! a factor of two, and the softest is taken that does not foretell worse than the best by more than
//! the standard error of the difference over the kept-back trajectories: what is not known to be
//! there is not claimed.

use crate::likelihood::sigmoid;
use crate::sample::{Length, SampleOptions, sample};
use crate::sampler::{SampleError, Watch};
use crate::{Hmc, Prior, Problem, ProblemError};
use brex_core::{Matrix, Preference, Preferences};
use rayon::prelude::*;

/// Parts that trajectories are kept back in.
const PARTS: usize = 5;

/// Draws of each posterior, in all chains together.
const DRAWS: usize = 800;

/// Halvings of 1 that are tried at most, and doublings.
const SOFTEST: i32 = -14;
const SHARPEST: i32 = 10;

/// How well one value foretold what was kept back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriedSharpness {
    /// The inverse temperature.
    pub beta: f64,
    /// Minus the log probability of a kept-back comparison, on average; every trajectory counts the
    /// same.
    pub loss: f64,
    /// By how much that is more than the least, and the standard error of this difference.
    pub excess: [f64; 2],
}

/// The inverse temperature that was found, and what it was chosen from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharpness {
    /// The softest that foretells about as well as the best.
    pub beta: f64,
    /// All that were tried, from the softest to the sharpest.
    pub tried: Vec<TriedSharpness>,
    /// Trajectories that were kept back, one part after the other.
    pub trajectories: usize,
}

/// Why the sharpness cannot be found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SharpnessError {
    /// There is too little to keep something back.
    #[error(
        "{trajectories} compared trajectories are too few to keep some back and foretell their \
         comparisons from the others; at least {PARTS} that others are compared with are needed"
    )]
    TooFew {
        /// Trajectories that are compared with others.
        trajectories: usize,
    },
    /// The parts of the problem do not fit together.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A posterior could not be sampled.
    #[error(transparent)]
    Sample(#[from] SampleError),
}

/// The comparisons that one part of the trajectories is kept back from, and those that it takes part
/// in.
struct Part {
    known: Preferences,
    foretold: Vec<Preference>,
    /// Which trajectories were kept back.
    back: Vec<usize>,
}

/// Finds the sharpness of preferences between trajectories with these feature sums.
///
/// # Errors
/// If there is too little to keep something back, or a posterior cannot be sampled.
pub fn find_sharpness(
    features: &Matrix,
    preferences: &Preferences,
    prior: Prior,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Sharpness, SharpnessError> {
    let parts = parts_of(preferences)?;
    let losses = |power: i32| -> Result<(i32, Vec<f64>), SharpnessError> {
        let beta = f64::powi(2.0, power);
        let each = parts.par_iter();
        let each = each.map(|part| losses_of(features, part, prior, beta, seed, watch));
        let each: Vec<Vec<f64>> = each.collect::<Result<_, _>>()?;
        Ok((power, each.concat()))
    };
    let mut tried = vec![losses(0)?];
    // Sharper while that is better; softer while it may be as good.
    for power in 1..=SHARPEST {
        tried.push(losses(power)?);
        if best(&tried) != power {
            break;
        }
    }
    for power in (SOFTEST..0).rev() {
        tried.push(losses(power)?);
        if best(&tried) > power && !as_good(&tried, power) {
            break;
        }
    }
    tried.sort_unstable_by_key(|(power, _)| *power);
    let best = best(&tried);
    let chosen = tried.iter().map(|(power, _)| *power);
    let chosen = chosen.clone().find(|power| as_good(&tried, *power));
    let tried_with = |(power, losses): &(i32, Vec<f64>)| TriedSharpness {
        beta: f64::powi(2.0, *power),
        loss: mean(losses),
        excess: excess(&tried, *power, best),
    };
    Ok(Sharpness {
        beta: f64::powi(2.0, chosen.unwrap_or(best)),
        tried: tried.iter().map(tried_with).collect(),
        trajectories: parts.iter().map(|part| part.back.len()).sum(),
    })
}

/// Keeps trajectories back in turns, in the order of their rows: neighbours, which are often alike,
/// are in different parts.
fn parts_of(preferences: &Preferences) -> Result<Vec<Part>, SharpnessError> {
    let count = preferences.trajectories();
    let items = || preferences.items().iter().filter(|item| item.weight > 0.0);
    let mut compared = vec![false; count];
    for item in items() {
        compared[item.a] = true;
        compared[item.b] = true;
    }
    let rows: Vec<usize> = (0..count).filter(|row| compared[*row]).collect();
    let too_few = || SharpnessError::TooFew {
        trajectories: rows.len(),
    };
    let mut part_of = vec![PARTS; count];
    for (position, row) in rows.iter().enumerate() {
        part_of[*row] = position % PARTS;
    }
    let mut parts = Vec::with_capacity(PARTS);
    for part in 0..PARTS {
        let touched = |item: &&Preference| part_of[item.a] == part || part_of[item.b] == part;
        let known: Vec<Preference> = items().filter(|item| !touched(item)).copied().collect();
        let foretold: Vec<Preference> = items().filter(touched).copied().collect();
        if known.is_empty() || foretold.is_empty() {
            return Err(too_few());
        }
        parts.push(Part {
            known: Preferences::new(count, known).map_err(|_| too_few())?,
            foretold,
            back: rows
                .iter()
                .copied()
                .filter(|row| part_of[*row] == part)
                .collect(),
        });
    }
    Ok(parts)
}

/// For every trajectory of a part, minus the log probability of its comparisons on average.
fn losses_of(
    features: &Matrix,
    part: &Part,
    prior: Prior,
    beta: f64,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Vec<f64>, SharpnessError> {
    let problem = Problem::new(features, &part.known, prior, beta)?;
    let options = SampleOptions {
        length: Length::Exactly(DRAWS),
        seed,
        ..SampleOptions::default()
    };
    let run = sample(&problem, &Hmc::default(), &options, None, watch)?;
    let mut probabilities = vec![0.0; part.foretold.len()];
    for weights in run.sampled.draws.iter() {
        let returns = features.times(weights);
        for (item, sum) in part.foretold.iter().zip(&mut probabilities) {
            *sum += sigmoid(beta * (returns[item.b] - returns[item.a]));
        }
    }
    let draws = run.sampled.draws.len() as f64;
    let mut sums = vec![[0.0; 2]; features.rows()];
    for (item, sum) in part.foretold.iter().zip(&probabilities) {
        // A sum that rounding leaves at its end is not certainty.
        let probability = (sum / draws).clamp(1e-12, 1.0 - 1e-12);
        let for_b = item.label * probability.ln();
        let loss = -for_b - (1.0 - item.label) * (1.0 - probability).ln();
        for row in [item.a, item.b] {
            sums[row][0] += item.weight * loss;
            sums[row][1] += item.weight;
        }
    }
    Ok(part
        .back
        .iter()
        .map(|row| sums[*row][0] / sums[*row][1])
        .collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The power with the least loss.
fn best(tried: &[(i32, Vec<f64>)]) -> i32 {
    let least = tried
        .iter()
        .min_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
    least.map_or(0, |(power, _)| *power)
}

/// Whether a power's loss is within a standard error of the least.
fn as_good(tried: &[(i32, Vec<f64>)], power: i32) -> bool {
    let [more, error] = excess(tried, power, best(tried));
    more <= error
}

/// By how much a power's loss is more than another's, and the standard error of that over the
/// trajectories.
fn excess(tried: &[(i32, Vec<f64>)], power: i32, than: i32) -> [f64; 2] {
    let of = |power: i32| tried.iter().find(|(tried, _)| *tried == power);
    let Some(((_, losses), (_, least))) = of(power).zip(of(than)) else {
        return [f64::INFINITY, 0.0];
    };
    let more: Vec<f64> = losses.iter().zip(least).map(|(a, b)| a - b).collect();
    let average = mean(&more);
    let squares: f64 = more.iter().map(|value| (value - average).powi(2)).sum();
    let count = more.len() as f64;
    [average, (squares / (count * (count - 1.0))).sqrt()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::stream;
    use rand::RngExt;
    use rand_distr::StandardNormal;
    use std::ops::ControlFlow;

    /// Trajectories of five features whose comparisons are answered with a sharpness of `truth`.
    fn answered(rows: usize, truth: f64, seed: u64) -> (Matrix, Preferences) {
        let mut random = stream(seed, "sharpness", 0);
        let features = Matrix::from_fn(rows, 5, |_, _| random.sample(StandardNormal));
        let weights = [0.1, 0.7, -0.5, 0.1, 0.49];
        let returns = features.times(&weights);
        let mut items = Vec::new();
        for a in 0..rows {
            for b in a + 1..rows {
                let better = random.random::<f64>() < sigmoid(truth * (returns[b] - returns[a]));
                let (worse, better) = if better { (a, b) } else { (b, a) };
                items.push(Preference::strict(worse, better));
            }
        }
        (features, Preferences::new(rows, items).unwrap())
    }

    fn found(features: &Matrix, preferences: &Preferences) -> Result<Sharpness, SharpnessError> {
        let watch = |_: &crate::Progress| ControlFlow::Continue(());
        find_sharpness(features, preferences, Prior::Sphere, 3, &watch)
    }

    #[test]
    fn the_sharpness_of_answers_is_found() {
        for truth in [0.25, 2.0, 8.0] {
            let (features, preferences) = answered(60, truth, 1);
            let sharpness = found(&features, &preferences).unwrap();
            let off = (sharpness.beta / truth).log2();
            assert!((-1.01..=1.01).contains(&off), "{truth}: {sharpness:?}");
            assert_eq!(sharpness.trajectories, 60);
            assert!(sharpness.tried.is_sorted_by(|a, b| a.beta < b.beta));
            let least = sharpness.tried.iter().map(|tried| tried.excess[0]);
            assert_eq!(least.fold(f64::INFINITY, f64::min), 0.0);
        }
    }

    #[test]
    fn larger_features_are_answered_by_a_smaller_beta() {
        let (features, preferences) = answered(40, 1.0, 2);
        let larger = Matrix::from_fn(40, 5, |i, j| 16.0 * features.row(i)[j]);
        let (once, again) = (found(&features, &preferences), found(&larger, &preferences));
        let ratio = once.unwrap().beta / again.unwrap().beta;
        assert!((8.0..=32.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn answers_by_chance_are_as_soft_as_can_be() {
        let (features, preferences) = answered(40, 1e-9, 4);
        let sharpness = found(&features, &preferences).unwrap();
        assert!(sharpness.beta <= 0.13, "{sharpness:?}");
    }

    #[test]
    fn the_same_seed_finds_the_same_on_any_number_of_threads() {
        let (features, preferences) = answered(20, 1.0, 5);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| found(&features, &preferences).unwrap())
        };
        assert_eq!(with(1), with(3));
    }

    #[test]
    fn too_few_to_keep_some_back_are_refused() {
        let features = Matrix::from_fn(4, 2, |i, j| (i + j) as f64);
        let few = Preferences::full_ranking(4);
        let error = found(&features, &few).unwrap_err();
        assert_eq!(error, SharpnessError::TooFew { trajectories: 4 });
        // All comparisons are with one trajectory: nothing is left when it is kept back.
        let features = Matrix::from_fn(8, 2, |i, j| (i + j) as f64);
        let star = (1..8).map(|other| Preference::strict(0, other)).collect();
        let star = Preferences::new(8, star).unwrap();
        let error = found(&features, &star).unwrap_err();
        assert_eq!(error, SharpnessError::TooFew { trajectories: 8 });
    }
}
