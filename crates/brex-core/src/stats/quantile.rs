//! Value at risk and conditional value at risk of return samples; higher is better.
//!
//! The definitions are those of the paper's authors, without interpolation: with the `N` samples
//! sorted upwards and `m = floor(delta * N)` in double precision,
//! - VaR is `sorted[m]`, or the largest sample if there is no such one;
//! - CVaR is the mean of the `m` smallest samples. Where `m = 0` the authors' code has no answer;
//!   here it is the smallest sample.
//!
//! No samples, a NaN among them, or a `delta` that is NaN: the answer is NaN. A `delta` outside 0
//! to 1 counts as the nearer end.

/// `floor(delta * count)`, the number of samples below the quantile, at most `count`.
fn tail_count(count: usize, delta: f64) -> usize {
    // A negative product becomes 0.
    ((delta * count as f64).floor() as usize).min(count)
}

/// The `delta`-quantile of `values`: see the module's definition. Linear time.
pub fn value_at_risk(values: &[f64], delta: f64) -> f64 {
    match selected(values, delta) {
        Some((_, at)) => at,
        None => f64::NAN,
    }
}

/// The mean of the `floor(delta * N)` smallest values, or the smallest if that is none. Linear time.
pub fn cvar(values: &[f64], delta: f64) -> f64 {
    match selected(values, delta) {
        Some((below, at)) => mean_of_tail(&below, at, values.len(), delta),
        None => f64::NAN,
    }
}

/// [`value_at_risk`] of values that are sorted upwards already.
pub fn value_at_risk_of_sorted(sorted: &[f64], delta: f64) -> f64 {
    if delta.is_nan() || sorted.last().is_none_or(|last| last.is_nan()) {
        return f64::NAN;
    }
    sorted[tail_count(sorted.len(), delta).min(sorted.len() - 1)]
}

/// [`cvar`] of values that are sorted upwards already.
pub fn cvar_of_sorted(sorted: &[f64], delta: f64) -> f64 {
    let at = value_at_risk_of_sorted(sorted, delta);
    if at.is_nan() {
        return at;
    }
    let rank = tail_count(sorted.len(), delta).min(sorted.len() - 1);
    mean_of_tail(&sorted[..rank], at, sorted.len(), delta)
}

/// The values before the quantile, in any order, and the quantile.
fn selected(values: &[f64], delta: f64) -> Option<(Vec<f64>, f64)> {
    if values.is_empty() || delta.is_nan() || values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let rank = tail_count(values.len(), delta).min(values.len() - 1);
    let mut order = values.to_vec();
    let at = *order.select_nth_unstable_by(rank, f64::total_cmp).1;
    order.truncate(rank);
    Some((order, at))
}

/// The mean of the tail, given the values `below` the one `at` the quantile's rank.
fn mean_of_tail(below: &[f64], at: f64, count: usize, delta: f64) -> f64 {
    let tail = tail_count(count, delta);
    let sum: f64 = below.iter().sum();
    if tail > below.len() {
        (sum + at) / tail as f64 // delta is 1: the last sample is in the tail
    } else if tail == 0 {
        at
    } else {
        sum / tail as f64
    }
}

/// The interpolated quantile (type 7 of Hyndman and Fan, NumPy's default) of sorted values, with
/// NumPy's rounding: the diagnostics ask whether a draw is at most this.
pub(super) fn interpolated(sorted: &[f64], probability: f64) -> f64 {
    let position = (sorted.len() - 1) as f64 * probability.clamp(0.0, 1.0);
    let below = position.floor();
    let fraction = position - below;
    let low = sorted[below as usize];
    let high = sorted[(below as usize + 1).min(sorted.len() - 1)];
    if fraction >= 0.5 {
        high - (high - low) * (1.0 - fraction)
    } else {
        low + (high - low) * fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_authors_definition() {
        let values = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!(value_at_risk(&values, 0.0), 1.0);
        assert_eq!(value_at_risk(&values, 0.39), 2.0);
        assert_eq!(value_at_risk(&values, 0.4), 3.0);
        assert_eq!(value_at_risk(&values, 1.0), 5.0);
        assert_eq!(cvar(&values, 0.4), 1.5);
        assert_eq!(cvar(&values, 0.1), 1.0);
        assert_eq!(cvar(&values, 1.0), 3.0);
    }

    #[test]
    fn without_an_answer_it_is_nan() {
        for function in [value_at_risk, cvar, value_at_risk_of_sorted, cvar_of_sorted] {
            assert!(function(&[], 0.05).is_nan());
            assert!(function(&[1.0, f64::NAN], 0.05).is_nan());
            assert!(function(&[1.0, 2.0], f64::NAN).is_nan());
        }
    }

    #[test]
    fn interpolation_between_neighbours() {
        let sorted = [0.0, 10.0, 20.0];
        assert_eq!(interpolated(&sorted, 0.5), 10.0);
        assert_eq!(interpolated(&sorted, 0.05), 1.0);
        assert_eq!(interpolated(&sorted, 0.95), 19.0);
        assert_eq!(interpolated(&sorted, 1.0), 20.0);
    }

    proptest! {
        #[test]
        fn selection_equals_sorting(
            values in prop::collection::vec(-1e6_f64..1e6, 1..200),
            delta in -0.1_f64..1.1,
        ) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let var = value_at_risk(&values, delta);
            prop_assert_eq!(var, value_at_risk_of_sorted(&sorted, delta));
            let tail = cvar(&values, delta);
            let of_sorted = cvar_of_sorted(&sorted, delta);
            prop_assert!((tail - of_sorted).abs() <= 1e-9 * (1.0 + of_sorted.abs()));
            prop_assert!(sorted[0] <= tail + 1e-6 && tail <= var + 1e-6);
        }

        #[test]
        fn var_grows_with_delta_and_moves_with_the_values(
            values in prop::collection::vec(-1e3_f64..1e3, 1..100),
            low in 0.0_f64..1.0,
            more in 0.0_f64..0.5,
            shift in -100.0_f64..100.0,
        ) {
            prop_assert!(value_at_risk(&values, low) <= value_at_risk(&values, low + more));
            let moved: Vec<f64> = values.iter().map(|v| v + shift).collect();
            prop_assert_eq!(value_at_risk(&moved, low), value_at_risk(&values, low) + shift);
        }
    }
}
