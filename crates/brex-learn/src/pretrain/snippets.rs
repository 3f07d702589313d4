//! Drawing the parts of two demonstrations that are compared.

use super::{RankedDemonstrations, Sampling};
use brex_core::Stream;
use rand::{Rng, RngExt};

/// Some frames of a demonstration: every `step`th from `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Snippet {
    pub(super) episode: usize,
    pub(super) start: usize,
    pub(super) step: usize,
    pub(super) len: usize,
}

impl Snippet {
    /// The place in the demonstration of one of its frames.
    pub(super) fn time(&self, frame: usize) -> usize {
        self.start + frame * self.step
    }
}

/// The worse snippet and the better one.
pub(super) type Pair = [Snippet; 2];

impl Sampling {
    /// The fewest frames that a demonstration must have.
    pub(super) fn least_frames(self) -> usize {
        match self {
            Self::Snippets { shortest, .. } => shortest,
            // The latest start and two frames of the widest step.
            Self::Whole => LATEST_START + *STEPS.end() + 1,
            Self::Thinned { step } => step + 1,
        }
    }

    /// Draws parts of two demonstrations, the worse one first.
    pub(super) fn draw(
        self,
        data: &RankedDemonstrations,
        [worse, better]: [usize; 2],
        random: &mut Stream,
    ) -> Pair {
        let lens = [worse, better].map(|episode| data.episodes[episode].len());
        match self {
            Self::Snippets {
                shortest,
                longest,
                abreast,
            } => {
                let least = lens[0].min(lens[1]);
                let len = random.random_range(shortest..=longest.min(least));
                let early = random.random_range(0..=least - len);
                // Nothing is drawn where it decides nothing.
                let late = if abreast > 0.0 && random.random::<f64>() < abreast {
                    early
                } else {
                    random.random_range(early..=lens[1] - len)
                };
                let snippet = |episode, start| Snippet {
                    episode,
                    start,
                    step: 1,
                    len,
                };
                [snippet(worse, early), snippet(better, late)]
            }
            Self::Thinned { step } => {
                let whole = |episode, len: usize| Snippet {
                    episode,
                    start: 0,
                    step,
                    len: len.div_ceil(step),
                };
                [whole(worse, lens[0]), whole(better, lens[1])]
            }
            Self::Whole => {
                let step = random.random_range(STEPS);
                let mut snippet = |episode, len: usize| {
                    let start = random.random_range(0..=LATEST_START);
                    Snippet {
                        episode,
                        start,
                        step,
                        len: (len - start).div_ceil(step),
                    }
                };
                [snippet(worse, lens[0]), snippet(better, lens[1])]
            }
        }
    }
}

/// Of whole demonstrations, every third to sixth frame from one of the first six.
const LATEST_START: usize = 5;
const STEPS: std::ops::RangeInclusive<usize> = 3..=6;

/// Draws a pair of snippets from one of several preferences.
pub(super) fn draw_pair(
    sampling: Sampling,
    data: &RankedDemonstrations,
    pairs: &[[usize; 2]],
    random: &mut Stream,
) -> Pair {
    let chosen = pairs[(random.next_u64() % pairs.len() as u64) as usize];
    sampling.draw(data, chosen, random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::PretrainShape;
    use crate::pretrain::demonstrations::tests::made_up;
    use brex_core::stream;

    fn data(lengths: &[usize]) -> RankedDemonstrations {
        let spec = brex_envs::make("pocket:breakout").unwrap().spec().clone();
        made_up(&PretrainShape::for_spec(&spec, 4), lengths)
    }

    #[test]
    fn snippets_abreast_begin_at_the_same_step() {
        let data = data(&[30, 90]);
        let sampling = Sampling::Snippets {
            shortest: 10,
            longest: 20,
            abreast: 1.0,
        };
        let mut random = stream(4, "test", 0);
        let mut starts = Vec::new();
        for _ in 0..5000 {
            let [worse, better] = sampling.draw(&data, [1, 0], &mut random);
            assert_eq!((worse.start, worse.len), (better.start, better.len));
            assert!(worse.start + worse.len <= 30);
            starts.push(worse.start);
        }
        assert_eq!(
            (starts.iter().min(), starts.iter().max()),
            (Some(&0), Some(&20))
        );
    }

    #[test]
    fn the_better_snippet_never_begins_earlier() {
        let data = data(&[30, 90]);
        let sampling = Sampling::Snippets {
            shortest: 10,
            longest: 50,
            abreast: 0.0,
        };
        let mut random = stream(4, "test", 0);
        let (mut lengths, mut starts) = (Vec::new(), Vec::new());
        for _ in 0..2000 {
            for episodes in [[0, 1], [1, 0]] {
                let [worse, better] = sampling.draw(&data, episodes, &mut random);
                assert_eq!([worse.episode, better.episode], episodes);
                assert_eq!((worse.len, worse.step, better.step), (better.len, 1, 1));
                assert!(worse.start <= better.start);
                for snippet in [worse, better] {
                    assert!(snippet.start + snippet.len <= data.episodes[snippet.episode].len());
                }
                lengths.push(worse.len);
                starts.push(better.start);
            }
        }
        // All lengths occur that fit the shorter demonstration, and late starts in the longer one.
        assert_eq!(lengths.iter().min(), Some(&10));
        assert_eq!(lengths.iter().max(), Some(&30));
        assert!(starts.iter().any(|start| *start > 70));
    }

    #[test]
    fn whole_demonstrations_are_thinned_alike() {
        let data = data(&[31, 64]);
        let mut random = stream(4, "test", 0);
        let mut steps = Vec::new();
        for _ in 0..5000 {
            let [worse, better] = Sampling::Whole.draw(&data, [0, 1], &mut random);
            assert_eq!(worse.step, better.step);
            for (snippet, length) in [(worse, 31), (better, 64)] {
                assert!(snippet.start <= 5);
                let last = snippet.time(snippet.len - 1);
                assert!(last < length && last + snippet.step >= length);
            }
            steps.push(worse.step);
        }
        steps.sort_unstable();
        steps.dedup();
        assert_eq!(steps, [3, 4, 5, 6]);
        let [worse, better] = Sampling::Thinned { step: 2 }.draw(&data, [0, 1], &mut random);
        assert_eq!((worse.start, worse.step, worse.len), (0, 2, 16));
        assert_eq!((better.start, better.len), (0, 32));
    }
}
