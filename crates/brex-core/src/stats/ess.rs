//! The effective sample size of a series: Geyer's initial positive and monotone sequences over
//! half-chains, section 3 of Vehtari et al. and step for step ArviZ's estimate.

use super::{Halves, autocovariance::Autocovariance, mean_and_variance};

/// How many independent draws the mean of `series` is worth. NaN for a constant series. May exceed
/// the number of draws where these repel each other, up to a factor log10 of that number.
pub(super) fn effective_sample_size(
    series: &[f64],
    halves: Halves,
    autocovariance: &mut Autocovariance,
) -> f64 {
    if !autocovariance.load(series, halves) {
        return f64::NAN;
    }
    let length = halves.half();
    let spread_of_means = mean_and_variance(autocovariance.means()).1;
    let at_zero = autocovariance.at(0);
    let within = at_zero * length as f64 / (length as f64 - 1.0);
    let total = at_zero + spread_of_means;
    let mut correlation = |lag| 1.0 - (within - autocovariance.at(lag)) / total;

    // Initial positive sequence: pairs of neighbouring lags, while their sums are positive.
    let mut sequence = vec![1.0, correlation(1)];
    let (mut even, mut odd) = (1.0, sequence[1]);
    let mut lag = 1;
    while lag + 3 < length && even + odd > 0.0 {
        even = correlation(lag + 1);
        odd = correlation(lag + 2);
        let pair = if even + odd >= 0.0 {
            [even, odd]
        } else {
            [0.0, 0.0]
        };
        sequence.extend(pair);
        lag += 2;
    }
    let end = lag - 1;
    if even > 0.0 {
        sequence[end] = even;
    }
    // Initial monotone sequence: no pair may exceed the pair before it.
    for start in (2..).step_by(2).take_while(|start| start + 2 <= end) {
        let previous = sequence[start - 2] + sequence[start - 1];
        if sequence[start] + sequence[start + 1] > previous {
            sequence[start] = previous / 2.0;
            sequence[start + 1] = previous / 2.0;
        }
    }
    if even.is_nan() || odd.is_nan() {
        return f64::NAN;
    }
    let draws = halves.kept() as f64;
    let time = 2.0 * sequence[..end].iter().sum::<f64>() - 1.0 + sequence[end];
    draws / time.max(1.0 / draws.log10())
}
