//! Why a policy may look better than it is. These are heuristics: they find what is worth a second
//! look, and prove nothing.

use crate::algebra::{DecompositionError, right_singular};
use crate::{Evaluation, PolicyEvaluation};
use brex_core::{Draws, FeatureTable, Matrix, Policy};

/// A share of unseen features this much greater than any demonstration's is worth a look.
const UNSEEN_FACTOR: f64 = 1.5;

/// So is one that lasts this much longer than any good demonstration.
const OUTLASTING_FACTOR: f64 = 1.5;

/// Standard errors that are more than chance.
const CLEAR: f64 = 2.0;

/// So is one that does anything but its usual action in this much smaller a share of its steps than any
/// good demonstration does.
const REPEATING_FACTOR: f64 = 4.0;

/// How often the same thing is done: shares of the steps with the action that is taken most often.
#[derive(Debug, Clone, Copy)]
pub struct Repetition<'a> {
    /// Of each policy.
    pub policies: &'a [f64],
    /// Of each demonstration.
    pub demonstrations: &'a [f64],
}

/// Why a policy may look better than it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Suspicion {
    /// Its mean is higher than another policy's and its bound is lower: what it gains there is
    /// uncertain.
    Uncertain {
        /// The other policy.
        than: String,
        /// The means: its own, and the other's.
        means: [f64; 2],
        /// The bounds.
        bounds: [f64; 2],
    },
    /// It is longer than every demonstration, and gives less a step than most of them do.
    Long {
        /// Its mean length.
        length: f64,
        /// The length of the longest demonstration.
        longest: f64,
        /// Its mean return a step.
        per_step: f64,
        /// That of the middle demonstration.
        usual: f64,
    },
    /// Its mean return lies further above the best demonstration's than that lies above the worst's:
    /// nobody has ranked anything like it.
    Beyond {
        /// Its mean return.
        mean: f64,
        /// The greatest mean return of a demonstration.
        best: f64,
        /// The least.
        worst: f64,
    },
    /// Its mean return is above every demonstration's, and it is much longer than the longest of the
    /// better half of them: it may gain by lasting.
    Outlasts {
        /// Its mean length.
        length: f64,
        /// The length of the longest good demonstration.
        longest: f64,
        /// Its mean return.
        mean: f64,
        /// The greatest mean return of a demonstration.
        best: f64,
    },
    /// Its features lie further outside what demonstrations cover than any demonstration lies
    /// outside the others.
    Unseen {
        /// The share of its feature sums, by length, that no mixture of demonstrations gives.
        share: f64,
        /// The greatest share of a demonstration that no mixture of the others gives.
        most: f64,
    },
    /// It does one and the same thing nearly always, unlike every good demonstration: it may not be
    /// playing at all.
    Repeats {
        /// The share of its steps with the action that it takes most often.
        share: f64,
        /// The greatest such share of a demonstration of the better half.
        most: f64,
    },
}

/// What is suspicious about each policy; that it repeats itself, only where `repetition` is known.
///
/// # Errors
/// If the feature sums of the demonstrations cannot be decomposed.
pub fn suspicions(
    evaluation: &Evaluation,
    policies: &[Policy],
    demonstrations: &FeatureTable,
    draws: &Draws,
    repetition: Option<Repetition<'_>>,
) -> Result<Vec<Vec<Suspicion>>, DecompositionError> {
    let phi = demonstrations.matrix();
    let mean = draws.mean();
    let lengths = demonstrations.lengths();
    let returns = phi.times(&mean);
    let best = returns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let worst = returns.iter().copied().fold(f64::INFINITY, f64::min);
    let usual = lengths.map(|lengths| {
        let mut rates: Vec<f64> = returns.iter().zip(lengths).map(|(r, l)| r / l).collect();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    let longest = lengths.and_then(|lengths| lengths.iter().copied().max_by(f64::total_cmp));
    let longest_good = lengths.map(|lengths| greatest_of_better_half(&returns, lengths));
    let most_repeated =
        repetition.map(|known| greatest_of_better_half(&returns, known.demonstrations));
    let most = most_unseen(phi)?;
    let everything = Span::new(phi, &[])?;
    let judged = evaluation.policies.iter().zip(policies).enumerate();
    let all = judged.map(|(at, (judged, policy))| {
        let mut found: Vec<Suspicion> = uncertain(judged, evaluation).into_iter().collect();
        if let (Some(length), Some(per_step)) = (judged.mean_length, judged.mean_per_step)
            && let (Some(longest), Some(usual)) = (longest, usual)
            && length > longest
            && per_step < usual
        {
            found.push(Suspicion::Long {
                length,
                longest,
                per_step,
                usual,
            });
        }
        if judged.mean - best > best - worst {
            let mean = judged.mean;
            found.push(Suspicion::Beyond { mean, best, worst });
        }
        if let (Some(length), Some(longest)) = (judged.mean_length, longest_good)
            && judged.mean > best
            && length > OUTLASTING_FACTOR * longest
            && !found
                .iter()
                .any(|one| matches!(one, Suspicion::Long { .. }))
        {
            let mean = judged.mean;
            found.push(Suspicion::Outlasts {
                length,
                longest,
                mean,
                best,
            });
        }
        let share = everything.outside(&policy.expected_features());
        if share > UNSEEN_FACTOR * most {
            found.push(Suspicion::Unseen { share, most });
        }
        if let (Some(known), Some(most)) = (repetition, most_repeated)
            && let Some(share) = known.policies.get(at).copied()
            && REPEATING_FACTOR * (1.0 - share) < 1.0 - most
        {
            found.push(Suspicion::Repeats { share, most });
        }
        found
    });
    Ok(all.collect())
}

/// The greatest length, or whatever else, of a demonstration of the better half. A long one that is ranked
/// low, as No-Op's may be, does not vouch for long lives.
fn greatest_of_better_half(returns: &[f64], values: &[f64]) -> f64 {
    let mut sorted = returns.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted[sorted.len() / 2];
    let better = returns.iter().zip(values).filter(|(r, _)| **r >= middle);
    better.map(|(_, value)| *value).fold(0.0, f64::max)
}

/// The policy with the highest bound among those whose mean this one's exceeds. Differences that draws
/// and rollouts may have made by chance do not count.
fn uncertain(judged: &PolicyEvaluation, evaluation: &Evaluation) -> Option<Suspicion> {
    let bound = judged.bounds.first()?;
    let others = evaluation.policies.iter();
    let beaten = others.filter_map(|other| Some((other, other.bounds.first()?)));
    let beaten = beaten.filter(|(other, theirs)| {
        let rollouts = [judged, *other].map(|policy| policy.mean_rollout_se.unwrap_or(0.0));
        let clear = |difference: f64, errors: [f64; 2]| {
            let known = errors.iter().chain(&rollouts).filter(|e| e.is_finite());
            let variance: f64 = known.map(|error| error * error).sum();
            difference > CLEAR * variance.sqrt()
        };
        clear(
            judged.mean - other.mean,
            [judged.mean_mcse, other.mean_mcse],
        ) && clear(theirs.var - bound.var, [theirs.var_mcse, bound.var_mcse])
    });
    let (other, theirs) = beaten.max_by(|a, b| a.1.var.total_cmp(&b.1.var))?;
    Some(Suspicion::Uncertain {
        than: other.name.clone(),
        means: [judged.mean, other.mean],
        bounds: [bound.var, theirs.var],
    })
}

/// The greatest share of a demonstration that no mixture of the others gives. One more is left out:
/// where features are centred on the demonstrations, these add up to nothing, and each would by that
/// alone be a mixture of all others.
fn most_unseen(phi: &Matrix) -> Result<f64, DecompositionError> {
    let rows = phi.rows();
    let mut most = 0.0_f64;
    for row in 0..rows {
        let others = Span::new(phi, &[row, (row + 1) % rows])?;
        most = most.max(others.outside(phi.row(row)));
    }
    Ok(most)
}

/// The directions that some rows of a matrix span.
struct Span {
    directions: Vec<Vec<f64>>,
}

impl Span {
    fn new(phi: &Matrix, without: &[usize]) -> Result<Self, DecompositionError> {
        let rows: Vec<usize> = (0..phi.rows())
            .filter(|row| !without.contains(row))
            .collect();
        if rows.is_empty() {
            let directions = Vec::new();
            return Ok(Self { directions });
        }
        let chosen = Matrix::from_fn(rows.len(), phi.cols(), |row, col| phi.row(rows[row])[col]);
        let (values, vectors) = right_singular(&chosen)?;
        let largest = values.iter().copied().fold(0.0, f64::max);
        let kept = (0..values.len()).filter(|at| values[*at] > 1e-9 * largest);
        let direction = |at: usize| (0..phi.cols()).map(|row| vectors.row(row)[at]).collect();
        Ok(Self {
            directions: kept.map(direction).collect(),
        })
    }

    /// The share of a vector, by length, that lies outside.
    fn outside(&self, vector: &[f64]) -> f64 {
        let square = |vector: &[f64]| vector.iter().map(|v| v * v).sum::<f64>();
        let whole = square(vector);
        if whole == 0.0 {
            return 0.0;
        }
        let mut rest = vector.to_vec();
        for direction in &self.directions {
            let along: f64 = direction.iter().zip(vector).map(|(d, v)| d * v).sum();
            for (rest, direction) in rest.iter_mut().zip(direction) {
                *rest -= along * direction;
            }
        }
        (square(&rest) / whole).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EvaluateOptions, evaluate};

    /// Weights around (1, 0, 0); three demonstrations that never show the third feature.
    fn judged(policies: &[(&str, [f64; 3], f64)]) -> Vec<Vec<Suspicion>> {
        judged_beside(policies, None)
    }

    fn judged_beside(
        policies: &[(&str, [f64; 3], f64)],
        repetition: Option<Repetition<'_>>,
    ) -> Vec<Vec<Suspicion>> {
        let rows: Vec<f64> = (0..2000)
            .flat_map(|i| {
                let turn = f64::from(i) * 2.399_963;
                [1.0, 0.2 * turn.sin(), 0.5 * (turn * 0.7).cos()]
            })
            .collect();
        let draws = Draws::new(4, 500, 3, rows).unwrap();
        let phi = Matrix::new(3, 3, vec![1.0, 1.0, 0.0, 3.0, 0.5, 0.0, 6.0, 1.0, 0.0]).unwrap();
        let demonstrations = FeatureTable::new(phi).unwrap();
        let demonstrations = demonstrations.with_lengths(vec![10.0, 15.0, 20.0]).unwrap();
        let policies: Vec<Policy> = policies
            .iter()
            .map(|(name, phi, length)| {
                let phi = Matrix::new(1, 3, phi.to_vec()).unwrap();
                Policy::new(*name, phi, Some(vec![*length])).unwrap()
            })
            .collect();
        let evaluation = evaluate(&draws, &policies, &EvaluateOptions::default()).unwrap();
        suspicions(&evaluation, &policies, &demonstrations, &draws, repetition).unwrap()
    }

    #[test]
    fn a_policy_like_the_demonstrations_is_not_suspicious() {
        assert_eq!(judged(&[("plain", [5.0, 1.0, 0.0], 18.0)]), [vec![]]);
    }

    #[test]
    fn demonstrations_that_add_up_to_nothing_are_not_taken_for_mixtures_of_each_other() {
        let rows = vec![
            1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, -1.0, -1.0, -1.0,
        ];
        let centred = Matrix::new(4, 3, rows).unwrap();
        assert!(most_unseen(&centred).unwrap() > 0.5);
    }

    #[test]
    fn gains_that_are_uncertain_are_found() {
        let found = judged(&[
            ("plain", [5.0, 1.0, 0.0], 18.0),
            ("odd", [5.5, 20.0, 0.0], 18.0),
        ]);
        assert_eq!(found[0], []);
        let [Suspicion::Uncertain { than, .. }] = &found[1][..] else {
            panic!("{found:?}");
        };
        assert_eq!(than, "plain");
    }

    #[test]
    fn what_may_be_chance_is_no_gain() {
        let found = judged(&[
            ("plain", [5.0, 1.0, 0.0], 18.0),
            ("alike", [5.001, 1.02, 0.0], 18.0),
        ]);
        assert_eq!(found, [vec![], vec![]]);
    }

    #[test]
    fn long_lives_with_little_to_show_are_found() {
        let found = judged(&[
            ("waits", [9.0, 3.0, 0.0], 400.0),
            ("works", [10.0, 3.0, 0.0], 21.0),
        ]);
        let [
            Suspicion::Long {
                length,
                longest,
                per_step,
                usual,
            },
        ] = found[0][..]
        else {
            panic!("{found:?}");
        };
        assert_eq!((length, longest), (400.0, 20.0));
        assert!(per_step < usual);
        assert_eq!(found[1], []);
    }

    /// The demonstrations' mean returns are 1, 3 and 6.
    #[test]
    fn returns_that_nobody_ranked_are_found() {
        let found = judged(&[
            ("good", [10.0, 1.0, 0.0], 20.0),
            ("wild", [12.0, 1.0, 0.0], 20.0),
        ]);
        assert_eq!(found[0], []);
        let [Suspicion::Beyond { mean, best, worst }] = found[1][..] else {
            panic!("{found:?}");
        };
        assert!((mean - 12.0).abs() < 0.1 && (best - 6.0).abs() < 0.1 && (worst - 1.0).abs() < 0.1);
    }

    #[test]
    fn gains_by_lasting_are_found() {
        let found = judged(&[
            ("lasts", [9.0, 1.0, 0.0], 31.0),
            ("plays", [9.0, 1.0, 0.0], 29.0),
            ("worse", [5.0, 1.0, 0.0], 31.0),
        ]);
        let outlasts = |found: &[Suspicion]| {
            let mut found = found.iter();
            found.any(|one| matches!(one, Suspicion::Outlasts { longest, .. } if *longest == 20.0))
        };
        assert!(outlasts(&found[0]));
        assert!(!outlasts(&found[1]) && !outlasts(&found[2]));
        // The longest one of all is ranked low.
        assert_eq!(
            greatest_of_better_half(&[1.0, 3.0, 6.0], &[900.0, 15.0, 20.0]),
            20.0
        );
    }

    /// Of the two better demonstrations one does the same thing in six steps of ten. The worst one always
    /// does: it may be No-Op's, ranked below all others.
    #[test]
    fn doing_one_thing_only_is_found() {
        let beside = |shares: [f64; 2]| {
            let policies = [
                ("idle", [0.5, 0.5, 0.0], 15.0),
                ("plays", [5.0, 1.0, 0.0], 18.0),
            ];
            let repetition = Repetition {
                policies: &shares,
                demonstrations: &[1.0, 0.6, 0.3],
            };
            judged_beside(&policies, Some(repetition))
        };
        let repeats = Suspicion::Repeats {
            share: 0.95,
            most: 0.6,
        };
        assert_eq!(beside([0.95, 0.6]), [vec![repeats], vec![]]);
        assert_eq!(beside([0.89, 0.3]), [vec![], vec![]]);
    }

    #[test]
    fn what_no_demonstration_showed_is_found() {
        let found = judged(&[("new", [5.0, 1.0, 30.0], 18.0)]);
        assert!(matches!(found[0][..], [Suspicion::Unseen { share, .. }] if share > 0.9));
    }
}
