//! The C library's `rand()` of GNU systems: additive feedback over 31 words.

/// `RAND_MAX`.
pub(crate) const RAND_MAX: f64 = 2_147_483_647.0;

/// A generator that gives what `rand()` gives after `srand(seed)`.
#[derive(Debug, Clone)]
pub(crate) struct GlibcRand {
    words: [u32; 31],
    at: usize,
}

impl GlibcRand {
    /// `srand(seed)`.
    pub(crate) fn new(seed: u32) -> Self {
        let mut words = [0; 31];
        // A seed of 0 would stay 0.
        words[0] = seed.max(1);
        for i in 1..31 {
            // Park and Miller's generator on signed words, by Schrage's method.
            let previous = i64::from(words[i - 1] as i32);
            let word = 16_807 * (previous % 127_773) - 2_836 * (previous / 127_773);
            words[i] = (if word < 0 { word + 2_147_483_647 } else { word }) as u32;
        }
        let mut random = Self { words, at: 0 };
        for _ in 0..310 {
            random.next();
        }
        random
    }

    /// `rand()`.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u32 {
        // The word three places on takes the oldest one in: it is 31 calls old, the other 28.
        let ahead = if self.at < 28 {
            self.at + 3
        } else {
            self.at - 28
        };
        let word = self.words[ahead].wrapping_add(self.words[self.at]);
        self.words[ahead] = word;
        self.at = if self.at < 30 { self.at + 1 } else { 0 };
        word >> 1
    }

    /// `rand() % n`.
    #[inline(always)]
    pub(crate) fn below(&mut self, n: u32) -> usize {
        (self.next() % n) as usize
    }

    /// `rand() / (double) RAND_MAX`.
    #[inline(always)]
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(self.next()) / RAND_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_numbers_of_the_c_library() {
        // The well-known start of the default sequence, seed 1.
        let mut random = GlibcRand::new(1);
        let first: Vec<u32> = (0..5).map(|_| random.next()).collect();
        let known = [
            1_804_289_383,
            846_930_886,
            1_681_692_777,
            1_714_636_915,
            1_957_747_793,
        ];
        assert_eq!(first, known);
        assert_eq!(GlibcRand::new(0).next(), known[0]);
    }
}
