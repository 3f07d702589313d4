//! Which episodes of a training agent are demonstrations: scores in even steps, whoever played them.
//!
//! One episode of each checkpoint, each better than the one before, would tell nothing but checkpoints
//! apart: whatever changes while an agent learns, how it moves and where it likes to be, explains such
//! a ranking as well as what is scored, and a reward that was learned from it pays for the manner. So a
//! good checkpoint's bad episodes and a bad one's good episodes are among the demonstrations too.

use std::collections::BTreeMap;

/// The places of so many episodes, the worst first, whose scores go up in even steps to what a
/// demonstration may score at `most`. `scored` has who played each episode, and its score; of episodes
/// that do as well, one is taken whose player has shown the fewest. If there are too few that score no
/// more, those that score least of the others are taken too.
pub(super) fn spread(scored: &[(usize, f64)], count: usize, most: f64) -> Vec<usize> {
    let allowed = |place: &usize| scored[*place].1 <= most;
    let mut free: Vec<usize> = (0..scored.len()).filter(allowed).collect();
    let least = free.iter().map(|place| scored[*place].1);
    let least = least.fold(most, f64::min);
    let step = (most - least) / (count.max(2) - 1) as f64;
    let mut shown: BTreeMap<usize, usize> = BTreeMap::new();
    let mut chosen = Vec::new();
    for at in 0..count {
        let distance = |place: &usize| (scored[*place].1 - (least + step * at as f64)).abs();
        let nearest = free.iter().map(distance).fold(f64::INFINITY, f64::min);
        let near = free.iter().enumerate().filter(|(_, place)| {
            let apart = distance(place);
            apart <= f64::max(step, nearest)
        });
        let often = |place: usize| shown.get(&scored[place].0).copied().unwrap_or(0);
        let Some((index, _)) = near.min_by_key(|(_, place)| often(**place)) else {
            break;
        };
        let place = free.remove(index);
        *shown.entry(scored[place].0).or_default() += 1;
        chosen.push(place);
    }
    let mut others: Vec<usize> = (0..scored.len()).filter(|place| !allowed(place)).collect();
    others.sort_by(|a, b| scored[*a].1.total_cmp(&scored[*b].1));
    chosen.extend(others.into_iter().take(count - chosen.len()));
    chosen.sort_by(|a, b| scored[*a].1.total_cmp(&scored[*b].1).then(a.cmp(b)));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two players who both have good and bad days.
    #[test]
    fn scores_rise_in_even_steps_and_players_take_turns() {
        let scored: Vec<(usize, f64)> = (0..200).map(|n| (n % 2, (n / 2) as f64)).collect();
        let chosen = spread(&scored, 11, 50.0);
        let scores: Vec<f64> = chosen.iter().map(|place| scored[*place].1).collect();
        for (at, score) in scores.iter().enumerate() {
            assert!((score - 5.0 * at as f64).abs() <= 5.0, "{scores:?}");
        }
        assert!(scores.iter().all(|score| *score <= 50.0));
        let first = chosen.iter().filter(|place| scored[**place].0 == 0).count();
        assert!((5..=6).contains(&first), "{first}");
    }

    #[test]
    fn what_scores_too_much_is_shown_only_where_there_is_nothing_else() {
        let scored = [(0, 1.0), (1, 9.0), (2, 3.0), (3, 8.0)];
        assert_eq!(spread(&scored, 2, 4.0), [0, 2]);
        assert_eq!(spread(&scored, 3, 4.0), [0, 2, 3]);
        assert_eq!(spread(&scored, 9, 4.0), [0, 2, 3, 1]);
        assert_eq!(spread(&[], 2, 4.0), Vec::<usize>::new());
    }

    proptest! {
        #[test]
        fn as_many_as_there_are_each_once_and_in_order(
            scored in prop::collection::vec((0_usize..5, 0_u8..30), 0..60),
            count in 1_usize..40,
        ) {
            let scored: Vec<(usize, f64)> =
                scored.into_iter().map(|(who, score)| (who, f64::from(score))).collect();
            let chosen = spread(&scored, count, 15.0);
            prop_assert_eq!(chosen.len(), count.min(scored.len()));
            let allowed = scored.iter().filter(|(_, score)| *score <= 15.0).count();
            let much = chosen.iter().filter(|place| scored[**place].1 > 15.0).count();
            prop_assert_eq!(much, chosen.len().saturating_sub(allowed));
            let mut places = chosen.clone();
            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len(), chosen.len());
            prop_assert!(chosen.windows(2).all(|two| scored[two[0]].1 <= scored[two[1]].1));
        }
    }
}
