//! How large the features are. The inverse temperature multiplies differences of feature sums, so
//! their size decides how loudly a preference speaks.

use std::cmp::Ordering;

use brex_core::{Matrix, Preferences};

use super::weighted;

/// Sizes of the features and of their differences.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureScale {
    /// The median over comparisons of the distance `|Phi_b - Phi_a|`; of two middle ones, the mean.
    /// `None` without comparisons.
    pub median_distance: Option<f64>,
    /// The largest distance over comparisons.
    pub max_distance: Option<f64>,
    /// Comparisons of trajectories with the same features: they say nothing about the reward.
    pub zero_distances: usize,
    /// The root mean square over trajectories of `|Phi|`.
    pub rms_norm: f64,
    /// Features that have the same value in every row: no preference can tell their weight.
    pub constant_features: Vec<usize>,
    /// Rows equal to an earlier row, each with the first such row: `(row, first)`.
    pub duplicate_rows: Vec<(usize, usize)>,
}

impl FeatureScale {
    /// Measures the features.
    pub(super) fn of(features: &Matrix, preferences: &Preferences) -> Self {
        let mut distances: Vec<f64> = weighted(preferences)
            .map(|item| distance(features.row(item.a), features.row(item.b)))
            .collect();
        distances.sort_unstable_by(f64::total_cmp);
        let count = distances.len();
        let squares: f64 = features.as_slice().iter().map(|v| v * v).sum();
        Self {
            median_distance: distances
                .get(count / 2)
                .map(|upper| f64::midpoint(distances[(count - 1) / 2], *upper)),
            max_distance: distances.last().copied(),
            zero_distances: distances.partition_point(|d| *d == 0.0),
            rms_norm: (squares / features.rows().max(1) as f64).sqrt(),
            constant_features: constant_features(features),
            duplicate_rows: duplicate_rows(features),
        }
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y));
    squares.sum::<f64>().sqrt()
}

fn constant_features(features: &Matrix) -> Vec<usize> {
    let mut rows = features.iter_rows();
    let Some(first) = rows.next() else {
        return Vec::new();
    };
    let mut constant = vec![true; first.len()];
    for row in rows {
        for (flag, (value, expected)) in constant.iter_mut().zip(row.iter().zip(first)) {
            *flag &= value == expected;
        }
    }
    (0..first.len())
        .filter(|column| constant[*column])
        .collect()
}

/// Sorts the rows, which brings equal ones together; needs no copy of them.
fn duplicate_rows(features: &Matrix) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..features.rows()).collect();
    let compare = |one: usize, other: usize| {
        let by_value = features.row(one).partial_cmp(features.row(other));
        by_value.unwrap_or(Ordering::Equal)
    };
    order.sort_by(|&one, &other| compare(one, other));
    let mut duplicates: Vec<(usize, usize)> = order
        .chunk_by(|&one, &other| compare(one, other).is_eq())
        .flat_map(|equal| equal[1..].iter().map(|row| (*row, equal[0])))
        .collect();
    duplicates.sort_unstable();
    duplicates
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::Preference;

    #[test]
    fn sizes_constants_and_duplicates() {
        let features = Matrix::new(4, 2, vec![0.0, 7.0, 3.0, 7.0, -0.0, 7.0, 9.0, 7.0]).unwrap();
        let items = vec![
            Preference::strict(0, 1),
            Preference::strict(0, 2),
            Preference::strict(2, 3),
            Preference::strict(1, 3),
        ];
        let scale = FeatureScale::of(&features, &Preferences::new(4, items).unwrap());
        assert_eq!(scale.median_distance, Some(4.5));
        assert_eq!(scale.max_distance, Some(9.0));
        assert_eq!(scale.zero_distances, 1);
        assert_eq!(scale.rms_norm, (286.0_f64 / 4.0).sqrt());
        assert_eq!(scale.constant_features, [1]);
        assert_eq!(scale.duplicate_rows, [(2, 0)]);
    }

    #[test]
    fn without_comparisons_there_are_no_distances() {
        let scale = FeatureScale::of(&Matrix::zeros(1, 1), &Preferences::new(1, vec![]).unwrap());
        assert_eq!((scale.median_distance, scale.max_distance), (None, None));
        assert_eq!(scale.constant_features, [0]);
    }
}
