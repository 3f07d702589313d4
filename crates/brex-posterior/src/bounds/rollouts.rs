//! What the finite number of rollouts adds to a bound.
//!
//! `Phi` is a mean over rollouts, so it has an error of its own. Bootstrap replicates of that mean
//! stand for it: each resamples the rollouts, and its distance from the mean is stretched by
//! `sqrt(R / (R - 1))` so that the spread is right for a small number `R` of rollouts too.

use brex_core::{Diagnosis, Draws, Matrix, Stream, Workspace, diagnose, value_at_risk};
use rand::RngExt;

use super::returns::{dot, returns};

/// Replicates and draws that the standard error of a quantile is computed from: enough for two
/// digits, few enough for wide features.
const ERROR_REPLICATES: usize = 200;
const ERROR_DRAWS: usize = 5_000;

/// What the finite number of rollouts adds to one bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RolloutNoise {
    /// The standard error of the VaR that comes from the finite number of rollouts.
    pub var_se: f64,
    /// The quantile of the return when `Phi` is as uncertain as its rollouts leave it: each draw
    /// of the weights is paired with a bootstrap replicate of `Phi`.
    pub var_with_rollouts: f64,
    /// Monte-Carlo error of `var_with_rollouts`.
    pub var_with_rollouts_mcse: f64,
}

/// Rollout noise of the mean and of the bound at each of `deltas`; `None` for a single row, which
/// is taken to be exact.
pub(super) fn rollout_noise(
    draws: &Draws,
    rollouts: &Matrix,
    deltas: &[f64],
    replicates: usize,
    mut random: Stream,
    workspace: &mut Workspace,
) -> Option<(f64, Vec<RolloutNoise>)> {
    if rollouts.rows() < 2 {
        return None;
    }
    let mean_se = standard_error_of_mean(&rollouts.times(&draws.mean()));
    let replicates = bootstrap(rollouts, replicates.max(2), &mut random);
    let errors = errors_of_quantiles(draws, &replicates, deltas);
    let paired: Vec<f64> = draws
        .iter()
        .zip((0..replicates.rows()).cycle())
        .map(|(draw, replicate)| dot(draw, replicates.row(replicate)))
        .collect();
    let Diagnosis { quantiles, .. } = diagnose(&paired, draws.chains(), deltas, workspace);
    let noise = errors.iter().zip(&quantiles);
    let noise = noise.map(|(&var_se, quantile)| RolloutNoise {
        var_se,
        var_with_rollouts: quantile.value,
        var_with_rollouts_mcse: quantile.mcse,
    });
    Some((mean_se, noise.collect()))
}

/// Bootstrap replicates of the mean row, one per row.
fn bootstrap(rollouts: &Matrix, replicates: usize, random: &mut Stream) -> Matrix {
    let count = rollouts.rows();
    let mean = rollouts.column_means();
    let stretch = (count as f64 / (count as f64 - 1.0)).sqrt();
    let mut all = Matrix::zeros(replicates, rollouts.cols());
    for replicate in 0..replicates {
        let row = all.row_mut(replicate);
        for _ in 0..count {
            let rollout = rollouts.row(random.random_range(0..count));
            for (sum, value) in row.iter_mut().zip(rollout) {
                *sum += value;
            }
        }
        for (value, mean) in row.iter_mut().zip(&mean) {
            *value = mean + stretch * (*value / count as f64 - mean);
        }
    }
    all
}

/// The standard deviation over replicates of each quantile of the return, on evenly spaced draws.
fn errors_of_quantiles(draws: &Draws, replicates: &Matrix, deltas: &[f64]) -> Vec<f64> {
    let step = draws.len().div_ceil(ERROR_DRAWS);
    let kept: Vec<f64> = draws.iter().step_by(step).flatten().copied().collect();
    let rows: Vec<&[f64]> = replicates.iter_rows().take(ERROR_REPLICATES).collect();
    let returns = returns(&kept, draws.dim(), &rows);
    let quantile = |delta| returns.iter().map(|r| value_at_risk(r, delta)).collect();
    let quantiles = deltas.iter().map(|&delta| -> Vec<f64> { quantile(delta) });
    quantiles.map(|values| sd(&values)).collect()
}

fn standard_error_of_mean(values: &[f64]) -> f64 {
    sd(values) / (values.len() as f64).sqrt()
}

fn sd(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (squares / (count - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::stream;

    #[test]
    fn with_known_weights_only_the_rollouts_are_uncertain() {
        // Return = the feature, so mean and quantile have the standard error of a mean.
        let draws = Draws::new(1, 20_000, 1, vec![1.0; 20_000]).unwrap();
        for count in [2, 3, 40] {
            let values: Vec<f64> = (0..count).map(|i| f64::from(i * 13 % 7)).collect();
            let expected = standard_error_of_mean(&values);
            let rollouts = Matrix::new(values.len(), 1, values).unwrap();
            let (mean_se, noise) = rollout_noise(
                &draws,
                &rollouts,
                &[0.05],
                20_000,
                stream(1, "bootstrap", 0),
                &mut Workspace::default(),
            )
            .unwrap();
            assert!((mean_se - expected).abs() < 1e-12);
            let var_se = noise[0].var_se;
            assert!(
                (var_se / expected - 1.0).abs() < 0.15,
                "{var_se} {expected}"
            );
            if count == 40 {
                // A mean of 40 is close to normal.
                let mean = rollouts.column_means()[0];
                let below = (mean - noise[0].var_with_rollouts) / expected;
                assert!((below - 1.645).abs() < 0.1, "{below}");
            }
        }
    }

    #[test]
    fn one_row_has_no_noise_and_equal_rows_add_none() {
        let draws = Draws::new(1, 100, 1, (0..100).map(f64::from).collect()).unwrap();
        let noise = |rows: usize| {
            let rollouts = Matrix::from_fn(rows, 1, |_, _| 2.0);
            let random = stream(1, "bootstrap", 0);
            let workspace = &mut Workspace::default();
            rollout_noise(&draws, &rollouts, &[0.1], 50, random, workspace)
        };
        assert!(noise(1).is_none());
        let (mean_se, bounds) = noise(5).unwrap();
        assert_eq!((mean_se, bounds[0].var_se), (0.0, 0.0));
        assert_eq!(bounds[0].var_with_rollouts, 20.0);
    }
}
