//! Which trajectory is ranked lowest: the one whose return the paper's second prior keeps
//! non-negative.

use brex_core::Preferences;

/// How a trajectory fared in its comparisons.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Record {
    comparisons: usize,
    weight: f64,
    wins: f64,
}

impl Record {
    fn add(&mut self, weight: f64, share: f64) {
        self.comparisons += 1;
        self.weight += weight;
        self.wins += weight * share;
    }
}

/// The trajectory with the smallest share of weighted wins, a tie counting half a win and a soft
/// label its probability. Of equals the one with more comparisons, then the one with the smaller
/// row number. Comparisons of weight 0 do not count; `None` if no other is there.
///
/// For a full ranking this is the trajectory at its bottom.
pub fn lowest_ranked(preferences: &Preferences) -> Option<usize> {
    let mut records = vec![Record::default(); preferences.trajectories()];
    for item in preferences.items().iter().filter(|p| p.weight > 0.0) {
        records[item.a].add(item.weight, 1.0 - item.label);
        records[item.b].add(item.weight, item.label);
    }
    let compared = records
        .iter()
        .enumerate()
        .filter(|(_, r)| r.comparisons > 0);
    let lowest = compared.min_by(|(_, one), (_, other)| {
        let share = |record: &Record| record.wins / record.weight;
        let by_share = share(one).total_cmp(&share(other));
        by_share.then(other.comparisons.cmp(&one.comparisons))
    });
    lowest.map(|(row, _)| row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::Preference;
    use proptest::prelude::*;

    fn lowest(trajectories: usize, items: &[Preference]) -> Option<usize> {
        lowest_ranked(&Preferences::new(trajectories, items.to_vec()).unwrap())
    }

    #[test]
    fn nothing_compared_nothing_lowest() {
        assert_eq!(lowest(3, &[]), None);
        let weightless = Preference {
            weight: 0.0,
            ..Preference::strict(0, 1)
        };
        assert_eq!(lowest(3, &[weightless]), None);
    }

    #[test]
    fn ties_are_half_a_win_and_equals_are_broken_by_comparisons_then_row() {
        assert_eq!(lowest(3, &[Preference::tie(1, 2)]), Some(1));
        let never_won = [
            Preference::strict(2, 0),
            Preference::strict(3, 0),
            Preference::strict(3, 1),
        ];
        assert_eq!(lowest(4, &never_won), Some(3));
        assert_eq!(
            lowest(3, &[Preference::strict(2, 1), Preference::tie(0, 1)]),
            Some(2)
        );
    }

    #[test]
    fn weights_decide_between_contradictions() {
        let heavy = Preference {
            weight: 3.0,
            ..Preference::strict(1, 0)
        };
        assert_eq!(lowest(2, &[Preference::strict(0, 1), heavy]), Some(1));
    }

    proptest! {
        #[test]
        fn the_bottom_of_a_ranking_whatever_the_row_numbers(
            order in Just((0..8_usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let items: Vec<Preference> = Preferences::full_ranking(8)
                .items()
                .iter()
                .map(|p| Preference::strict(order[p.a], order[p.b]))
                .collect();
            prop_assert_eq!(lowest(8, &items), Some(order[0]));
        }
    }
}
