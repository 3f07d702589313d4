//! The outline of a distribution: a Gaussian kernel estimate with Silverman's bandwidth, computed
//! on a grid in the coordinates of the page, so that the area seen is the probability also where
//! the axis is not linear.

/// Fewer values than this say too little about a shape.
const FEWEST: usize = 20;

/// Lower than this is less than a pixel high and is not drawn.
const FLAT: f64 = 0.004;

/// How many grid points an outline has.
const POINTS: usize = 240;

/// Height over coordinate, scaled to a maximum of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outline {
    pub(crate) points: Vec<(f64, f64)>,
}

impl Outline {
    /// The outline of a sample; none if there are very few values or all are the same.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let bandwidth = bandwidth(&sorted)?;
        // The far tails would be a flat line; what is cut is less than a pixel high.
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
        let low = at(0.0005) - 3.0 * bandwidth;
        let high = at(0.9995) + 3.0 * bandwidth;
        let step = (high - low) / (POINTS - 1) as f64;
        let counts = bin(&sorted, low, step);
        let reach = ((4.0 * bandwidth / step).ceil() as usize).min(POINTS);
        let kernel: Vec<f64> = (0..=reach)
            .map(|offset| (-0.5 * (offset as f64 * step / bandwidth).powi(2)).exp())
            .collect();
        let heights: Vec<f64> = (0..POINTS)
            .map(|point| {
                let near = point.saturating_sub(reach)..(point + reach + 1).min(POINTS);
                near.map(|other| counts[other] * kernel[point.abs_diff(other)])
                    .sum()
            })
            .collect();
        let top = heights.iter().copied().fold(0.0, f64::max);
        if top <= 0.0 {
            return None;
        }
        let seen = |height: &f64| height / top > FLAT;
        let first = heights.iter().position(seen)?.saturating_sub(1);
        let last = (heights.iter().rposition(seen)? + 2).min(POINTS);
        let points = (first..last)
            .map(|index| (low + index as f64 * step, heights[index] / top))
            .collect();
        Some(Self { points })
    }

    /// The height at a coordinate, between grid points by a straight line.
    pub(crate) fn height(&self, at: f64) -> f64 {
        let after = self.points.partition_point(|(x, _)| *x < at);
        match (
            after.checked_sub(1).map(|i| self.points[i]),
            self.points.get(after),
        ) {
            (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (at - x0) / (x1 - x0),
            _ => 0.0,
        }
    }
}

/// Silverman's rule, with the spread that is smaller: standard deviation or quartiles.
fn bandwidth(sorted: &[f64]) -> Option<f64> {
    let count = sorted.len();
    if count < FEWEST {
        return None;
    }
    let mean = sorted.iter().sum::<f64>() / count as f64;
    let sum: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (sum / (count - 1) as f64).sqrt();
    if deviation <= 1e-12 * (sorted[0].abs() + sorted[count - 1].abs()) {
        return None;
    }
    let quartiles = (sorted[count * 3 / 4] - sorted[count / 4]) / 1.349;
    let spread = if quartiles > 0.05 * deviation {
        deviation.min(quartiles)
    } else {
        deviation
    };
    Some(0.9 * spread * (count as f64).powf(-0.2))
}

/// Counts on the grid, each value shared between its two neighbours.
fn bin(sorted: &[f64], low: f64, step: f64) -> Vec<f64> {
    let mut counts = vec![0.0; POINTS];
    for value in sorted {
        let place = (value - low) / step;
        if place >= 0.0 && place <= (POINTS - 1) as f64 {
            let left = (place as usize).min(POINTS - 2);
            let share = place - left as f64;
            counts[left] += 1.0 - share;
            counts[left + 1] += share;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of the logistic distribution: a smooth sample without randomness.
    fn logistic(count: usize) -> Vec<f64> {
        (0..count)
            .map(|i| (i as f64 + 0.5) / count as f64)
            .map(|p| (p / (1.0 - p)).ln())
            .collect()
    }

    #[test]
    fn the_outline_follows_the_density() {
        let outline = Outline::of(&logistic(20_000)).unwrap();
        for x in [-3.0_f64, -1.0, 0.0, 0.5, 2.0] {
            let exact = 4.0 * (-x).exp() / (1.0 + (-x).exp()).powi(2);
            let found = outline.height(x);
            assert!((found - exact).abs() < 0.02, "{x}: {found} {exact}");
        }
        assert_eq!(outline.height(1e9), 0.0);
    }

    #[test]
    fn a_sample_without_spread_has_no_outline() {
        assert_eq!(Outline::of(&[]), None);
        assert_eq!(Outline::of(&[1.0, 2.0]), None);
        assert_eq!(Outline::of(&[3.0; 50]), None);
    }

    #[test]
    fn two_clusters_stay_two_clusters() {
        let values: Vec<f64> = logistic(500)
            .into_iter()
            .flat_map(|x| [x * 0.1 - 10.0, x * 0.1 + 10.0])
            .collect();
        let outline = Outline::of(&values).unwrap();
        assert!(outline.height(0.0) < 0.2);
        assert!(outline.height(10.0) > 0.9);
    }
}
