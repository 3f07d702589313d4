//! Recorded episodes: what is needed to play them again, and a checksum of what was seen.

/// An episode as it is kept: environment, seed and actions.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    /// The environment's name, as `pocket:breakout`.
    pub environment: String,
    /// The version of its rules and pictures.
    pub version: u32,
    /// The seed that it was begun with.
    pub seed: u64,
    /// The actions in order.
    pub actions: Vec<u8>,
    /// The score at the end.
    pub score: f64,
    /// Whether it was cut off by the step limit.
    pub truncated: bool,
    /// The [`EpisodeSum`] of all observations and rewards.
    pub checksum: u64,
    /// What was seen, if the environment cannot play it again.
    pub frames: Option<EpisodeFrames>,
}

impl Episode {
    /// The share of the steps with the action that is taken most often; 1 if there are no steps.
    #[must_use]
    pub fn repetition(&self) -> f64 {
        let mut counts = [0_usize; 256];
        for action in &self.actions {
            counts[usize::from(*action)] += 1;
        }
        let most = counts.into_iter().max().unwrap_or(0);
        if self.actions.is_empty() {
            1.0
        } else {
            most as f64 / self.actions.len() as f64
        }
    }
}

/// The newest frame of every observation of an episode, the first one included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeFrames {
    /// Rows of a frame.
    pub height: usize,
    /// Columns of a frame.
    pub width: usize,
    /// Grey values, frame after frame.
    pub pixels: Vec<u8>,
}

/// A checksum of observations and rewards: FNV-1a, 64 bits, over words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpisodeSum(u64);

impl Default for EpisodeSum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl EpisodeSum {
    /// Adds an observation and the reward that led to it.
    pub fn add(&mut self, observation: &[u8], reward: f64) {
        let mut words = observation.chunks_exact(8);
        for word in &mut words {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            self.mix(u64::from_le_bytes(bytes));
        }
        for byte in words.remainder() {
            self.mix(u64::from(*byte));
        }
        // Zero has two signs; they are the same reward.
        self.mix((reward + 0.0).to_bits());
    }

    /// The checksum.
    pub fn value(self) -> u64 {
        self.0
    }

    fn mix(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        // Multiplication alone would never bring high bits down.
        self.0 ^= self.0 >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_most_often_is_counted() {
        let share = |actions: &[u8]| {
            let episode = Episode {
                environment: String::new(),
                version: 1,
                seed: 0,
                actions: actions.to_vec(),
                score: 0.0,
                truncated: false,
                checksum: 0,
                frames: None,
            };
            episode.repetition()
        };
        assert_eq!(share(&[7; 5]), 1.0);
        assert_eq!(share(&[0, 255, 3, 255]), 0.5);
        assert_eq!(share(&[]), 1.0);
    }

    #[test]
    fn every_part_counts() {
        let sum = |observations: &[(&[u8], f64)]| {
            let mut sum = EpisodeSum::default();
            for (observation, reward) in observations {
                sum.add(observation, *reward);
            }
            sum.value()
        };
        let base: [(&[u8], f64); 2] = [(&[1; 19], 0.0), (&[2; 19], 1.0)];
        let mut last_byte = [2; 19];
        last_byte[18] = 3;
        assert_ne!(sum(&base), sum(&[base[0], (&last_byte, 1.0)]));
        assert_ne!(sum(&base), sum(&[base[0], (&[2; 19], 2.0)]));
        assert_ne!(sum(&base), sum(&[base[1], base[0]]));
        assert_eq!(sum(&[(&[1; 9], 0.0)]), sum(&[(&[1; 9], -0.0)]));
    }
}
