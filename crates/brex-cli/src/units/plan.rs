//! Which part of a study to run: `--shard i/n`.

use std::ops::Range;
use std::str::FromStr;

/// One of several parts of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 1.
    number: usize,
    of: usize,
}

impl Shard {
    /// The batches of this part: every `of`-th one, so that all parts have about as much to do
    /// and batches stay whole.
    pub(crate) fn select(self, batches: Vec<Range<usize>>) -> Vec<Range<usize>> {
        let mine = batches.into_iter().skip(self.number - 1);
        mine.step_by(self.of).collect()
    }
}

impl Default for Shard {
    /// All of it.
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected i/n with 1 <= i <= n, like 2/7".to_owned();
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let number = number.parse().map_err(|_| wrong())?;
        let of = of.parse().map_err(|_| wrong())?;
        if (1..=of).contains(&number) {
            Ok(Self { number, of })
        } else {
            Err(wrong())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_everything_once() {
        let batches: Vec<Range<usize>> = (0..13).map(|at| at * 8..(at + 1) * 8).collect();
        for of in [1, 2, 7, 20] {
            let parts = (1..=of).flat_map(|number| Shard { number, of }.select(batches.clone()));
            let mut parts: Vec<_> = parts.collect();
            parts.sort_by_key(|batch| batch.start);
            assert_eq!(parts, batches, "{of}");
        }
    }

    #[test]
    fn only_real_parts_are_accepted() {
        assert_eq!("2/7".parse(), Ok(Shard { number: 2, of: 7 }));
        for text in [
            "0/2", "3/2", "x", "1", "1/", "/1", "-1/2", "1/0", "1/2/3", "1.0/2",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
