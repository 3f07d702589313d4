//! How sharp preferences are: the inverse temperature that foretells them best.
//!
//! With weights of length 1 and feature sums of whatever size an encoder gives, `beta` decides how
//! much a difference of returns says, and no value of it is right for all features. One that is too
//! great does harm: comparisons that no reward of length 1 can explain are explained all the same, by
//! weights in directions in which the trajectories hardly differ, and such weights say anything about
//! what no trajectory shows.
//!
//! So the best trajectories are kept back, a fifth of them and then two fifths. The posterior of the
//! comparisons among the others foretells those in which a kept-back one takes part, with the
//! probability that its draws give them on average; what counts is minus the log of it, and the value
//! with the least is taken. The best are kept back, and not any, because this is what a learned reward
//! is for: to judge what is better than all that was shown. A reward that foretells trajectories like
//! those it has learned from may say anything about others.

use crate::likelihood::sigmoid;
use crate::sample::{Length, SampleOptions, sample};
use crate::sampler::{SampleError, Watch};
use crate::{Hmc, Prior, Problem, ProblemError};
use brex_core::{Matrix, Preference, Preferences};
use rayon::prelude::*;

/// Shares of the trajectories that are kept back.
const SHARES: [f64; 2] = [0.2, 0.4];

/// With fewer compared trajectories nothing can be said.
const FEWEST: usize = 5;

/// Draws of each posterior, in all chains together.
const DRAWS: usize = 800;

/// Powers of two that are tried in any case; further ones while the last is the best.
const USUAL: std::ops::RangeInclusive<i32> = -7..=3;
const SOFTEST: i32 = -40;
const SHARPEST: i32 = 40;

/// How well one value foretold what was kept back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriedSharpness {
    /// The inverse temperature.
    pub beta: f64,
    /// Minus the log probability of a kept-back trajectory's comparisons, on average.
    pub loss: f64,
    /// By how much that is more than the least, and the standard error of this difference over the
    /// trajectories.
    pub excess: [f64; 2],
}

/// The inverse temperature that was found, and what it was chosen from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharpness {
    /// The one that foretells best.
    pub beta: f64,
    /// All that were tried, from the softest to the sharpest.
    pub tried: Vec<TriedSharpness>,
    /// How many trajectories were kept back at most.
    pub kept_back: usize,
    /// How many are compared.
    pub trajectories: usize,
}

/// Why the sharpness cannot be found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SharpnessError {
    /// There is too little to keep something back.
    #[error(
        "{trajectories} compared trajectories are too few to foretell the comparisons of the best from \
         those of the others; at least {FEWEST} are needed, and comparisons among the worse ones"
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
    let (parts, trajectories) = parts_of(preferences)?;
    let losses = |power: i32| -> Result<(i32, Vec<f64>), SharpnessError> {
        let beta = f64::powi(2.0, power);
        let each = parts.par_iter();
        let each = each.map(|part| losses_of(features, part, prior, beta, seed, watch));
        let each: Vec<Vec<f64>> = each.collect::<Result<_, _>>()?;
        Ok((power, each.concat()))
    };
    let mut tried = USUAL.map(losses).collect::<Result<Vec<_>, _>>()?;
    for power in *USUAL.end() + 1..=SHARPEST {
        if best(&tried) != power - 1 {
            break;
        }
        tried.push(losses(power)?);
    }
    for power in (SOFTEST..*USUAL.start()).rev() {
        if best(&tried) != power + 1 {
            break;
        }
        tried.push(losses(power)?);
    }
    tried.sort_unstable_by_key(|(power, _)| *power);
    let best = best(&tried);
    let tried_with = |(power, losses): &(i32, Vec<f64>)| TriedSharpness {
        beta: f64::powi(2.0, *power),
        loss: mean(losses),
        excess: excess(&tried, *power, best),
    };
    let kept_back = parts.iter().map(|part| part.back.len()).max();
    Ok(Sharpness {
        beta: f64::powi(2.0, best),
        tried: tried.iter().map(tried_with).collect(),
        kept_back: kept_back.unwrap_or(0),
        trajectories,
    })
}

/// Keeps the best trajectories back, by their shares of wins; and says how many are compared.
fn parts_of(preferences: &Preferences) -> Result<(Vec<Part>, usize), SharpnessError> {
    let count = preferences.trajectories();
    let items = || preferences.items().iter().filter(|item| item.weight > 0.0);
    let (mut wins, mut total) = (vec![0.0; count], vec![0.0; count]);
    for item in items() {
        wins[item.a] += item.weight * (1.0 - item.label);
        wins[item.b] += item.weight * item.label;
        total[item.a] += item.weight;
        total[item.b] += item.weight;
    }
    let share = |row: &usize| wins[*row] / total[*row];
    let mut rows: Vec<usize> = (0..count).filter(|row| total[*row] > 0.0).collect();
    rows.sort_by(|a, b| share(a).total_cmp(&share(b)));
    let too_few = || SharpnessError::TooFew {
        trajectories: rows.len(),
    };
    if rows.len() < FEWEST {
        return Err(too_few());
    }
    let mut parts = Vec::with_capacity(SHARES.len());
    for share in SHARES {
        let many = (share * rows.len() as f64).round() as usize;
        let back = &rows[rows.len() - many.clamp(1, rows.len())..];
        let mut kept_back = vec![false; count];
        back.iter().for_each(|row| kept_back[*row] = true);
        let touched = |item: &&Preference| kept_back[item.a] || kept_back[item.b];
        let known: Vec<Preference> = items().filter(|item| !touched(item)).copied().collect();
        let foretold: Vec<Preference> = items().filter(touched).copied().collect();
        if known.is_empty() {
            return Err(too_few());
        }
        parts.push(Part {
            known: Preferences::new(count, known).map_err(|_| too_few())?,
            foretold,
            back: back.to_vec(),
        });
    }
    Ok((parts, rows.len()))
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
            assert_eq!((sharpness.trajectories, sharpness.kept_back), (60, 24));
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
        assert!(sharpness.beta < 0.2, "{sharpness:?}");
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
        // All comparisons are with the best: nothing is known of the others.
        let features = Matrix::from_fn(8, 2, |i, j| (i + j) as f64);
        let star = (1..8).map(|other| Preference::strict(other, 0)).collect();
        let star = Preferences::new(8, star).unwrap();
        let error = found(&features, &star).unwrap_err();
        assert_eq!(error, SharpnessError::TooFew { trajectories: 8 });
    }

    /// Two features: one says exactly what is better among the worse trajectories and the opposite
    /// above, the other what is better throughout, with noise. A sharp posterior takes the first for
    /// the truth.
    #[test]
    fn what_does_not_carry_beyond_is_not_trusted() {
        let mut random = stream(7, "beyond", 0);
        let features = Matrix::from_fn(60, 2, |i, j| {
            let noise: f64 = random.sample(StandardNormal);
            match j {
                0 => 0.3 * (i.min(72 - i) as f64),
                _ => 3.0 * noise + 0.3 * i as f64,
            }
        });
        let preferences = Preferences::full_ranking(60);
        let sharpness = found(&features, &preferences).unwrap();
        assert!(sharpness.beta < 1.0, "{sharpness:?}");
    }
}
