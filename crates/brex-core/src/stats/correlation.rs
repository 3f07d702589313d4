//! How far one list of numbers goes with another.

/// Ranks from 1; equal numbers share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut begin = 0;
    while begin < order.len() {
        let same = |at: &&usize| values[**at] == values[order[begin]];
        let count = order[begin..].iter().take_while(same).count();
        for at in &order[begin..begin + count] {
            ranks[*at] = begin as f64 + (count as f64 + 1.0) / 2.0;
        }
        begin += count;
    }
    ranks
}

/// Pearson's correlation; none if one list does not vary or a number is not finite.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let count = a.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a - mean_a, b - mean_b);
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    let scale = (aa * bb).sqrt();
    (scale > 0.0 && scale.is_finite()).then(|| (ab / scale).clamp(-1.0, 1.0))
}

/// Spearman's rank correlation; none if one list does not vary.
///
/// # Panics
/// If the lists are not equally long.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    assert_eq!(a.len(), b.len(), "two lists of equal length");
    correlation(&ranks(a), &ranks(b))
}

/// The share of the variance of `y` that a straight line in `x` accounts for; none if one of them
/// does not vary.
///
/// # Panics
/// If the lists are not equally long.
pub fn r_squared(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "two lists of equal length");
    correlation(x, y).map(|r| r * r)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks(&[5.0; 3]), [2.0; 3]);
    }

    #[test]
    fn order_is_all_that_counts() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        let grown = a.map(f64::exp);
        assert_eq!(rank_correlation(&a, &grown), Some(1.0));
        assert_eq!(rank_correlation(&a, &a.map(|v| -v)), Some(-1.0));
        // By hand: 1 - 6 * (1 + 1) / (5 * 24).
        let swapped = [2.0, 1.0, 3.0, 4.0, 5.0];
        let found = rank_correlation(&a, &swapped).unwrap();
        assert!((found - 0.9).abs() < 1e-12);
        assert_eq!(rank_correlation(&a, &[7.0; 5]), None);
        assert_eq!(rank_correlation(&[], &[]), None);
    }

    #[test]
    fn a_line_accounts_for_all_of_itself() {
        let x = [1.0, 2.0, 3.0, 4.0];
        assert!((r_squared(&x, &x.map(|v| 3.0 - 2.0 * v)).unwrap() - 1.0).abs() < 1e-12);
        // By hand: the correlation of 1..4 with 1, 0, 0, 1 is 0.
        assert!(r_squared(&x, &[1.0, 0.0, 0.0, 1.0]).unwrap() < 1e-12);
        assert_eq!(r_squared(&x, &[1.0; 4]), None);
    }
}
