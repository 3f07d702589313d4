//! One random generator per lane: xoshiro128++ of Blackman and Vigna, all lanes in step.

use super::{Lanes, cos_sin_turns, ln, sqrt};
use brex_core::Stream;
use rand::Rng;

/// `L` independent generators, seeded from one stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LaneRandom<const L: usize> {
    state: [[u32; L]; 4],
}

impl<const L: usize> LaneRandom<L> {
    /// Takes 128 bits per lane from `stream`.
    pub(crate) fn new(stream: &mut Stream) -> Self {
        let mut state = [[0; L]; 4];
        for lane in 0..L {
            for word in &mut state {
                word[lane] = stream.next_u32();
            }
            // The all-zero state is the one that a xoshiro generator never leaves.
            state[0][lane] |= u32::from(state.iter().all(|word| word[lane] == 0));
        }
        Self { state }
    }

    /// The state as words, lane by lane within each of four.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.state.iter().flatten().map(|word| u64::from(*word))
    }

    /// The generator with the state that [`Self::words`] gave.
    pub(crate) fn from_words(words: &[u64]) -> Option<Self> {
        let mut state = [[0; L]; 4];
        if words.len() != 4 * L {
            return None;
        }
        for (slot, word) in state.iter_mut().flatten().zip(words) {
            *slot = u32::try_from(*word).ok()?;
        }
        Some(Self { state })
    }

    /// The next 32 bits of every lane.
    #[inline(always)]
    fn bits(&mut self) -> [u32; L] {
        let [a, b, c, d] = &mut self.state;
        let mut out = [0; L];
        for lane in 0..L {
            out[lane] = a[lane]
                .wrapping_add(d[lane])
                .rotate_left(7)
                .wrapping_add(a[lane]);
            let shifted = b[lane] << 9;
            c[lane] ^= a[lane];
            d[lane] ^= b[lane];
            b[lane] ^= c[lane];
            a[lane] ^= d[lane];
            c[lane] ^= shifted;
            d[lane] = d[lane].rotate_left(11);
        }
        out
    }

    /// Uniform numbers above 0 and at most 1, as fine as `2^-31` near 0.
    #[inline(always)]
    pub(crate) fn uniform(&mut self) -> Lanes<L> {
        let bits = self.bits();
        let mut out = Lanes::ZERO;
        for lane in 0..L {
            let whole = (bits[lane] >> 1) as i32 as f32;
            out.0[lane] = whole.mul_add(1.0 / 2_147_483_648.0, 0.5 / 2_147_483_648.0);
        }
        out
    }

    /// Two independent standard normal numbers (Box and Muller).
    #[inline(always)]
    pub(crate) fn normal_pair(&mut self) -> (Lanes<L>, Lanes<L>) {
        let radius = sqrt(ln(self.uniform()).scale(-2.0).map(|x| x.max(0.0)));
        let (cosine, sine) = cos_sin_turns(self.uniform());
        (radius * cosine, radius * sine)
    }

    /// Fills `out` with standard normal numbers.
    #[inline(always)]
    pub(crate) fn fill_normal(&mut self, out: &mut [Lanes<L>]) {
        let mut pairs = out.chunks_exact_mut(2);
        for pair in &mut pairs {
            (pair[0], pair[1]) = self.normal_pair();
        }
        if let [last] = pairs.into_remainder() {
            *last = self.normal_pair().0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_published_generator() {
        // The first outputs of xoshiro128++ from the state 1, 2, 3, 4.
        let mut random = LaneRandom::<8> {
            state: [[1; 8], [2; 8], [3; 8], [4; 8]],
        };
        let first: Vec<u32> = (0..4).map(|_| random.bits()[5]).collect();
        assert_eq!(first, [641, 1_573_767, 3_222_811_527, 3_517_856_514]);
    }

    #[test]
    fn normal_moments_and_tail() {
        let mut random = LaneRandom::<16>::new(&mut brex_core::stream(1, "test", 0));
        let count = 400_000;
        let (mut sums, mut tail) = ([0.0_f64; 5], 0_u32);
        for _ in 0..count / 32 {
            let (a, b) = random.normal_pair();
            for x in a.0.into_iter().chain(b.0) {
                let x = f64::from(x);
                for (power, sum) in sums.iter_mut().enumerate() {
                    *sum += x.powi(power as i32);
                }
                tail += u32::from(x.abs() > 3.0);
            }
        }
        let moment = |power: usize| sums[power] / f64::from(count);
        assert!(moment(1).abs() < 4.0 / f64::from(count).sqrt());
        assert!((moment(2) - 1.0).abs() < 4.0 * (2.0 / f64::from(count)).sqrt());
        assert!(moment(3).abs() < 4.0 * (15.0 / f64::from(count)).sqrt());
        assert!((moment(4) - 3.0).abs() < 4.0 * (96.0 / f64::from(count)).sqrt());
        let expected = f64::from(count) * 0.002_699_796;
        assert!((f64::from(tail) - expected).abs() < 4.0 * expected.sqrt());
    }

    #[test]
    fn lanes_are_independent_and_the_state_round_trips() {
        let mut random = LaneRandom::<8>::new(&mut brex_core::stream(1, "test", 0));
        let mut product = 0.0;
        for _ in 0..100_000 {
            let (a, _) = random.normal_pair();
            product += f64::from(a.0[0] * a.0[1]);
        }
        assert!((product / 100_000.0).abs() < 4.0 / 100_000.0_f64.sqrt());
        let words: Vec<u64> = random.words().collect();
        let mut copy = LaneRandom::<8>::from_words(&words).unwrap();
        assert_eq!(copy.bits(), random.bits());
        assert!(LaneRandom::<8>::from_words(&words[1..]).is_none());
    }
}
