//! Ranks, and the normal scores that replace values by their ranks.
//!
//! Values are sorted once; the order of the folded values `|x - median|` follows by merging the two
//! sides of the median.

use statrs::function::erf::erfc_inv;

use super::{Halves, mean_and_variance};

/// Sorted values and normal scores of the series given last. Keeps its buffers.
#[derive(Default)]
pub(super) struct Ranking {
    keys: Vec<u128>,
    /// All values, sorted.
    pub(super) sorted: Vec<f64>,
    /// The values in half-chains, sorted, each with its place in the series.
    ranked: Vec<(f64, usize)>,
    folded: Vec<(f64, usize)>,
    /// The score of each rank without ties, for the number of values seen last.
    scores: Vec<f64>,
}

impl Ranking {
    /// Sorts a series of finite values.
    pub(super) fn load(&mut self, series: &[f64], halves: Halves) {
        let keyed = series.iter().zip(0_u128..);
        self.keys.clear();
        self.keys
            .extend(keyed.map(|(value, place)| u128::from(sort_key(*value)) << 64 | place));
        self.keys.sort_unstable();
        self.sorted.clear();
        self.ranked.clear();
        for key in &self.keys {
            let place = *key as u64 as usize;
            let value = series[place];
            self.sorted.push(value);
            if halves.keeps(place) {
                self.ranked.push((value, place));
            }
        }
        let count = self.ranked.len();
        if self.scores.len() != count {
            self.scores.clear();
            self.scores
                .extend((1..=count).map(|rank| normal_score(rank as f64, count)));
        }
    }

    /// Writes the normal score of each value to its place.
    pub(super) fn write_scores(&self, scores: &mut [f64]) {
        write_scores(&self.ranked, &self.scores, scores);
    }

    /// Writes the normal score of each `|value - median|` to its place.
    pub(super) fn write_folded_scores(&mut self, scores: &mut [f64]) {
        let ranked = &self.ranked;
        let upper = ranked.len() / 2;
        let median = (ranked[upper - 1].0 + ranked[upper].0) / 2.0;
        let distance = |(value, place): &(f64, usize)| ((value - median).abs(), *place);
        let mut below = ranked[..upper].iter().rev().map(distance).peekable();
        let mut above = ranked[upper..].iter().map(distance).peekable();
        self.folded.clear();
        while let (Some(left), Some(right)) = (below.peek(), above.peek()) {
            let next = if left.0 <= right.0 {
                below.next()
            } else {
                above.next()
            };
            self.folded.extend(next);
        }
        self.folded.extend(below.chain(above));
        write_scores(&self.folded, &self.scores, scores);
    }
}

/// Ties share the score of their average rank.
fn write_scores(ranked: &[(f64, usize)], table: &[f64], scores: &mut [f64]) {
    let mut rank = 0;
    for ties in ranked.chunk_by(|a, b| a.0 == b.0) {
        let score = if ties.len() == 1 {
            table[rank]
        } else {
            normal_score(rank as f64 + (ties.len() + 1) as f64 / 2.0, ranked.len())
        };
        for (_, place) in ties {
            scores[*place] = score;
        }
        rank += ties.len();
    }
}

/// The normal quantile of a rank from 1 to `count`, with Blom's offset.
fn normal_score(rank: f64, count: usize) -> f64 {
    let probability = (rank - 0.375) / (count as f64 + 0.25);
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * probability)
}

/// A whole number with the order of the value; the two zeros are one.
fn sort_key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// Split R-hat of normal scores: how much wider all draws are than a half-chain. Infinite if the
/// half-chains are constant but differ, NaN if all is constant.
pub(super) fn rhat(scores: &[f64], halves: Halves) -> f64 {
    let moments = halves.ranges().map(|r| mean_and_variance(&scores[r]));
    let (means, variances): (Vec<f64>, Vec<f64>) = moments.unzip();
    let length = halves.half() as f64;
    let within = variances.iter().sum::<f64>() / variances.len() as f64;
    let between = length * mean_and_variance(&means).1;
    ((between / within + length - 1.0) / length).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scores by comparing every value with every other.
    fn slow_scores(values: &[f64]) -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|v| *v < value).count();
            let equal = values.iter().filter(|v| *v == value).count();
            below as f64 + (equal + 1) as f64 / 2.0
        };
        let ranks = values.iter().map(rank);
        ranks.map(|r| normal_score(r, values.len())).collect()
    }

    proptest! {
        #[test]
        fn scores_follow_the_definition(
            whole in prop::collection::vec(-20_i32..20, 4..60),
            scale in prop::sample::select(vec![1.0, 0.1, 1e-200]),
        ) {
            let mut series: Vec<f64> = whole.iter().map(|v| f64::from(*v) * scale).collect();
            series.truncate(series.len() / 2 * 2);
            let halves = Halves::new(series.len(), 1);
            let mut ranking = Ranking::default();
            ranking.load(&series, halves);
            let mut scores = vec![0.0; series.len()];
            ranking.write_scores(&mut scores);
            prop_assert_eq!(&scores, &slow_scores(&series));

            let mut sorted = series.clone();
            sorted.sort_by(f64::total_cmp);
            let median = (sorted[sorted.len() / 2 - 1] + sorted[sorted.len() / 2]) / 2.0;
            let folded: Vec<f64> = series.iter().map(|v| (v - median).abs()).collect();
            ranking.write_folded_scores(&mut scores);
            prop_assert_eq!(&scores, &slow_scores(&folded));
        }

        #[test]
        fn keys_sort_as_values(a in prop::num::f64::NORMAL, b in prop::num::f64::NORMAL) {
            prop_assert_eq!(sort_key(a).cmp(&sort_key(b)), a.total_cmp(&b));
        }
    }

    #[test]
    fn the_two_zeros_are_tied() {
        assert_eq!(sort_key(0.0), sort_key(-0.0));
    }
}
