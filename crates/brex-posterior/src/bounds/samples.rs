//! Policies judged by samples of their returns, for methods that give these rather than weights:
//! ensembles, dropout.

use super::{EvaluateError, EvaluateOptions, Evaluation, evaluate_returns};
use brex_core::Matrix;

/// Judges policies by samples of their returns, each drawn independently of the others'.
///
/// # Errors
/// If a delta is not a probability, or samples are missing or not finite.
pub fn evaluate_samples(
    policies: &[(String, Vec<f64>)],
    options: &EvaluateOptions,
) -> Result<Evaluation, EvaluateError> {
    let judged = policies
        .iter()
        .map(|(name, samples)| evaluate_returns(name, samples, options));
    let judged = judged.collect::<Result<Vec<_>, _>>()?;
    let sorted: Vec<Vec<f64>> = policies
        .iter()
        .map(|(_, samples)| {
            let mut samples = samples.clone();
            samples.sort_by(f64::total_cmp);
            samples
        })
        .collect();
    let count = policies.len();
    let mut beats = Matrix::zeros(count, count);
    let mut beats_mcse = Matrix::zeros(count, count);
    for row in 0..count {
        for column in 0..count {
            let (wins, error) = wins(&sorted[row], &sorted[column]);
            beats.row_mut(row)[column] = wins;
            beats_mcse.row_mut(row)[column] = if row == column { 0.0 } else { error };
        }
    }
    Ok(Evaluation {
        policies: judged,
        beats,
        beats_mcse,
    })
}

/// The share of pairs in which the first is greater, ties counting half, and its standard error
/// (DeLong, DeLong and Clarke-Pearson, 1988). Both lists are sorted.
fn wins(first: &[f64], second: &[f64]) -> (f64, f64) {
    let (share, variance) = placements(first, second);
    let (_, other) = placements(second, first);
    let error = variance / first.len() as f64 + other / second.len() as f64;
    (share, error.sqrt())
}

/// For each value the share of the others below it, ties counting half: the mean and the variance of
/// these.
fn placements(values: &[f64], others: &[f64]) -> (f64, f64) {
    let (mut below, mut upto) = (0, 0);
    let (mut sum, mut squares) = (0.0, 0.0);
    for value in values {
        while below < others.len() && others[below] < *value {
            below += 1;
        }
        upto = upto.max(below);
        while upto < others.len() && others[upto] <= *value {
            upto += 1;
        }
        let share = (below + upto) as f64 / (2 * others.len()) as f64;
        sum += share;
        squares += share * share;
    }
    let count = values.len() as f64;
    let mean = sum / count;
    (mean, (squares / count - mean * mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(policies: &[(&str, &[f64])]) -> Evaluation {
        let policies: Vec<(String, Vec<f64>)> = policies
            .iter()
            .map(|(name, samples)| ((*name).to_owned(), samples.to_vec()))
            .collect();
        evaluate_samples(&policies, &EvaluateOptions::default()).unwrap()
    }

    #[test]
    fn who_beats_whom_is_counted_over_all_pairs() {
        let found = judged(&[("a", &[3.0, 1.0, 2.0]), ("b", &[2.0, 0.0])]);
        // Of the six pairs a wins four and ties one.
        assert!((found.beats.row(0)[1] - 4.5 / 6.0).abs() < 1e-12);
        assert!((found.beats.row(1)[0] - 1.5 / 6.0).abs() < 1e-12);
        assert_eq!(found.beats.row(0)[0], 0.5);
        assert!(found.beats_mcse.row(0)[1] > 0.0);
        assert_eq!(found.policies[0].mean, 2.0);
    }

    #[test]
    fn samples_that_never_meet_leave_no_doubt() {
        let found = judged(&[("low", &[1.0, 2.0]), ("high", &[5.0, 6.0, 7.0])]);
        assert_eq!(
            (found.beats.row(1)[0], found.beats_mcse.row(1)[0]),
            (1.0, 0.0)
        );
    }

    #[test]
    fn samples_must_be_there_and_finite() {
        let options = EvaluateOptions::default();
        for samples in [vec![], vec![f64::NAN]] {
            assert!(evaluate_samples(&[("a".to_owned(), samples)], &options).is_err());
        }
    }
}
