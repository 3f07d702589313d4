//! Autocovariance of half-chains, averaged over them, one lag after the other.
//!
//! Well-mixing chains need a handful of lags, so these are computed directly, a block at a time.
//! When more are asked for, one Fourier transform gives them all: the power spectra of the
//! half-chains are added up first, because only the average over half-chains is wanted.

use realfft::RealFftPlanner;

use super::Halves;

/// Lags computed together: the products of one value with its next neighbours fill the registers.
const BLOCK: usize = 8;
/// From this lag on the Fourier transform is cheaper.
const DIRECT_LAGS: usize = 5 * BLOCK;

/// Averaged autocovariance of the series given last. Keeps its buffers from series to series.
pub(super) struct Autocovariance {
    planner: RealFftPlanner<f64>,
    /// The half-chains minus their means, each followed by `BLOCK` zeros.
    centred: Vec<f64>,
    means: Vec<f64>,
    half: usize,
    /// The lags known so far.
    lags: Vec<f64>,
}

impl Default for Autocovariance {
    fn default() -> Self {
        Self {
            planner: RealFftPlanner::new(),
            centred: Vec::new(),
            means: Vec::new(),
            half: 0,
            lags: Vec::new(),
        }
    }
}

impl Autocovariance {
    /// Takes a new series. False if it is constant.
    pub(super) fn load(&mut self, series: &[f64], halves: Halves) -> bool {
        self.half = halves.half();
        self.lags.clear();
        self.means.clear();
        self.centred.clear();
        let first = series[0];
        let mut constant = true;
        for range in halves.ranges() {
            let part = &series[range];
            constant &= part.iter().all(|v| *v == first);
            let mean = part.iter().sum::<f64>() / self.half as f64;
            self.means.push(mean);
            self.centred.extend(part.iter().map(|v| v - mean));
            self.centred.extend([0.0; BLOCK]);
        }
        !constant
    }

    /// The mean of each half-chain.
    pub(super) fn means(&self) -> &[f64] {
        &self.means
    }

    /// The autocovariance at `lag`, which is less than the length of a half-chain.
    pub(super) fn at(&mut self, lag: usize) -> f64 {
        while lag >= self.lags.len() {
            if self.lags.len() < DIRECT_LAGS {
                self.add_block();
            } else {
                self.transform();
            }
        }
        self.lags[lag]
    }

    fn add_block(&mut self) {
        let from = self.lags.len();
        let mut sums = [0.0; BLOCK];
        for part in self.centred.chunks_exact(self.half + BLOCK) {
            // Lags past the end meet the zeros behind the values.
            let later = part.get(from..).unwrap_or_default().windows(BLOCK);
            for (value, neighbours) in part[..self.half].iter().zip(later) {
                for (sum, neighbour) in sums.iter_mut().zip(neighbours) {
                    *sum += value * neighbour;
                }
            }
        }
        let scale = 1.0 / (self.half * self.means.len()) as f64;
        self.lags.extend(sums.map(|sum| sum * scale));
    }

    /// All lags by the Wiener-Khinchin theorem, padded so that the ends do not meet.
    fn transform(&mut self) {
        let length = fast_length(2 * self.half);
        let forward = self.planner.plan_fft_forward(length);
        let inverse = self.planner.plan_fft_inverse(length);
        let mut padded = forward.make_input_vec();
        let mut spectrum = forward.make_output_vec();
        let mut power = forward.make_output_vec();
        let mut scratch = forward.make_scratch_vec();
        for part in self.centred.chunks_exact(self.half + BLOCK) {
            padded[..self.half].copy_from_slice(&part[..self.half]);
            padded[self.half..].fill(0.0);
            forward
                .process_with_scratch(&mut padded, &mut spectrum, &mut scratch)
                .expect("buffers made by the plan");
            for (sum, value) in power.iter_mut().zip(&spectrum) {
                sum.re += value.norm_sqr();
            }
        }
        inverse
            .process(&mut power, &mut padded)
            .expect("a power spectrum is real");
        let scale = 1.0 / (length * self.half * self.means.len()) as f64;
        self.lags.clear();
        self.lags
            .extend(padded[..self.half].iter().map(|sum| sum * scale));
    }
}

/// The smallest number from `least` on without a prime factor above 5.
fn fast_length(least: usize) -> usize {
    (least.max(1)..)
        .find(|&candidate| {
            let rest = [2, 3, 5].iter().fold(candidate, |mut rest, &prime| {
                while rest.is_multiple_of(prime) {
                    rest /= prime;
                }
                rest
            });
            rest == 1
        })
        .unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(count: usize) -> Vec<f64> {
        (0..count)
            .map(|i| (i as f64 * 0.7).sin() + (i * i % 17) as f64 * 0.1)
            .collect()
    }

    #[test]
    fn direct_and_transformed_lags_equal_the_definition() {
        for (chains, draws) in [(1, 9), (2, 40), (3, 301)] {
            let series = wave(chains * draws);
            let halves = Halves::new(series.len(), chains);
            let expected = |lag: usize| {
                let sum: f64 = halves
                    .ranges()
                    .map(|range| {
                        let part = &series[range];
                        let mean = part.iter().sum::<f64>() / part.len() as f64;
                        let pairs = part.iter().zip(&part[lag..]);
                        let products = pairs.map(|(a, b)| (a - mean) * (b - mean));
                        products.sum::<f64>() / part.len() as f64
                    })
                    .sum();
                sum / (2 * chains) as f64
            };
            let mut direct = Autocovariance::default();
            assert!(direct.load(&series, halves));
            let mut transformed = Autocovariance::default();
            transformed.load(&series, halves);
            transformed.transform();
            for lag in 0..halves.half() {
                assert!((direct.at(lag) - expected(lag)).abs() < 1e-12, "lag {lag}");
                assert!((transformed.at(lag) - expected(lag)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_constant_series_is_noticed() {
        let mut autocovariance = Autocovariance::default();
        assert!(!autocovariance.load(&[0.1; 12], Halves::new(12, 2)));
    }

    #[test]
    fn fast_lengths_have_small_factors() {
        assert_eq!(fast_length(6250), 6250);
        assert_eq!(fast_length(7), 8);
        assert_eq!(fast_length(0), 1);
    }
}
