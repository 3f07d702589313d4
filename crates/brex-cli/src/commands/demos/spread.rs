//! Which episodes of a training agent are demonstrations: scores in even steps, whoever played them.
//!
//! One episode of each checkpoint, each better than the one before, would tell nothing but checkpoints
//! apart: whatever changes while an agent learns, how it moves and where it likes to be, explains such
//! a ranking as well as what is scored, and a reward that was learned from it pays for the manner. So a
//! good checkpoint's bad episodes and a bad one's good episodes are among the demonstrations too.
//!
//! What a step is worth as such, and with it what waiting is worth, is told by episodes that do as well
//! in many steps as in few. Most episodes are about as long as others of their score, so every second
//! demonstration is chosen for its length.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// An episode to choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Take {
    /// Who played it.
    pub(super) player: usize,
    pub(super) score: f64,
    pub(super) length: usize,
}

/// The places of so many episodes, the worst first, whose scores go up in even steps to what a
/// demonstration may score at `most`. Of episodes that do as well, in turns the longest, one whose
/// player has shown the fewest, the shortest, and again one of the fewest. If there are too few that
/// score no more, those that score least of the others are taken too.
pub(super) fn spread(takes: &[Take], count: usize, most: f64) -> Vec<usize> {
    let allowed = |place: &usize| takes[*place].score <= most;
    let mut free: Vec<usize> = (0..takes.len()).filter(allowed).collect();
    let least = free.iter().map(|place| takes[*place].score);
    let least = least.fold(most, f64::min);
    let step = (most - least) / (count.max(2) - 1) as f64;
    let mut shown: BTreeMap<usize, usize> = BTreeMap::new();
    let mut chosen = Vec::new();
    for at in 0..count {
        let distance = |place: &usize| (takes[*place].score - (least + step * at as f64)).abs();
        let nearest = free.iter().map(distance).fold(f64::INFINITY, f64::min);
        let near = free.iter().enumerate().filter(|(_, place)| {
            let apart = distance(place);
            apart <= f64::max(step, nearest)
        });
        let length = |place: usize| takes[place].length;
        let often = |place: usize| shown.get(&takes[place].player).copied().unwrap_or(0);
        let next = match at % 4 {
            0 => near.min_by_key(|(_, place)| Reverse(length(**place))),
            2 => near.min_by_key(|(_, place)| length(**place)),
            _ => near.min_by_key(|(_, place)| often(**place)),
        };
        let Some((index, _)) = next else {
            break;
        };
        let place = free.remove(index);
        *shown.entry(takes[place].player).or_default() += 1;
        chosen.push(place);
    }
    let by_score = |a: &usize, b: &usize| takes[*a].score.total_cmp(&takes[*b].score);
    let mut others: Vec<usize> = (0..takes.len()).filter(|place| !allowed(place)).collect();
    others.sort_by(by_score);
    chosen.extend(others.into_iter().take(count - chosen.len()));
    chosen.sort_by(|a, b| by_score(a, b).then(a.cmp(b)));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All equally long.
    fn takes(scored: impl IntoIterator<Item = (usize, f64)>) -> Vec<Take> {
        let each = scored.into_iter().map(|(player, score)| Take {
            player,
            score,
            length: 100,
        });
        each.collect()
    }

    /// Two players who both have good and bad days.
    #[test]
    fn scores_rise_in_even_steps_and_players_take_turns() {
        let takes = takes((0..200).map(|n| (n % 2, (n / 2) as f64)));
        let chosen = spread(&takes, 11, 50.0);
        let scores: Vec<f64> = chosen.iter().map(|place| takes[*place].score).collect();
        for (at, score) in scores.iter().enumerate() {
            assert!((score - 5.0 * at as f64).abs() <= 5.0, "{scores:?}");
        }
        assert!(scores.iter().all(|score| *score <= 50.0));
        let first = chosen.iter().filter(|place| takes[**place].player == 0);
        assert!((4..=7).contains(&first.count()));
    }

    #[test]
    fn the_longest_and_the_shortest_are_among_them() {
        let mut takes = takes((0..90).map(|n| (n % 3, (n % 10) as f64)));
        for (place, length) in [(13, 4000), (35, 3), (57, 2)] {
            takes[place].length = length;
        }
        let chosen = spread(&takes, 30, 9.0);
        for place in [13, 35, 57] {
            assert!(chosen.contains(&place), "{place}: {chosen:?}");
        }
        assert_eq!(chosen.len(), 30);
    }

    #[test]
    fn what_scores_too_much_is_shown_only_where_there_is_nothing_else() {
        let takes = takes([(0, 1.0), (1, 9.0), (2, 3.0), (3, 8.0)]);
        assert_eq!(spread(&takes, 2, 4.0), [0, 2]);
        assert_eq!(spread(&takes, 3, 4.0), [0, 2, 3]);
        assert_eq!(spread(&takes, 9, 4.0), [0, 2, 3, 1]);
        assert_eq!(spread(&[], 2, 4.0), Vec::<usize>::new());
    }

    proptest! {
        #[test]
        fn as_many_as_there_are_each_once_and_in_order(
            takes in prop::collection::vec((0_usize..5, 0_u8..30, 1_usize..400), 0..60),
            count in 1_usize..40,
        ) {
            let takes: Vec<Take> = takes
                .into_iter()
                .map(|(player, score, length)| Take { player, score: f64::from(score), length })
                .collect();
            let chosen = spread(&takes, count, 15.0);
            prop_assert_eq!(chosen.len(), count.min(takes.len()));
            let allowed = takes.iter().filter(|take| take.score <= 15.0).count();
            let much = chosen.iter().filter(|place| takes[**place].score > 15.0).count();
            prop_assert_eq!(much, chosen.len().saturating_sub(allowed));
            let mut places = chosen.clone();
            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len(), chosen.len());
            prop_assert!(chosen.windows(2).all(|two| takes[two[0]].score <= takes[two[1]].score));
        }
    }
}
