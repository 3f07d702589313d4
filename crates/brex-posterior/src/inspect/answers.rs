//! The comparisons one by one: how many of each kind, which repeat and which contradict.

use brex_core::Preferences;

use super::weighted;

/// How many comparisons of each kind there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    /// All comparisons.
    pub comparisons: usize,
    /// Comparisons of weight 0, left out of the other figures.
    pub weightless: usize,
    /// Comparisons with a clear answer: label 0 or 1.
    pub strict: usize,
    /// Ties: label one half.
    pub ties: usize,
    /// Soft labels: any other.
    pub soft: usize,
    /// Pairs of trajectories that were compared, however often.
    pub pairs: usize,
    /// Comparisons that repeat an earlier one: the same pair with the same answer.
    pub duplicates: usize,
    /// Pairs with answers both ways, by row number.
    pub contradictions: Vec<Contradiction>,
}

/// A pair of trajectories with answers both ways. Soft labels count for the side they lean to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction {
    /// The smaller row number.
    pub first: usize,
    /// The larger row number.
    pub second: usize,
    /// Comparisons that call the first better.
    pub for_first: usize,
    /// Comparisons that call the second better.
    pub for_second: usize,
}

/// A comparison seen from the smaller row number.
#[derive(Clone, Copy)]
struct Answer {
    pair: (usize, usize),
    label: f64,
}

impl Answers {
    /// Counts the comparisons.
    pub(super) fn of(preferences: &Preferences) -> Self {
        let mut answers: Vec<Answer> = weighted(preferences)
            .map(|item| {
                let (pair, label) = if item.a < item.b {
                    ((item.a, item.b), item.label)
                } else {
                    ((item.b, item.a), 1.0 - item.label)
                };
                // So that 0.7 one way and 0.3 the other are the same answer.
                let label = (label * 1e12).round() / 1e12;
                Answer { pair, label }
            })
            .collect();
        let count = |kind: fn(f64) -> bool| answers.iter().filter(|a| kind(a.label)).count();
        let strict = count(|label| label == 0.0 || label == 1.0);
        let ties = count(|label| label == 0.5);
        answers.sort_unstable_by(|one, other| {
            let by_pair = one.pair.cmp(&other.pair);
            by_pair.then(one.label.total_cmp(&other.label))
        });
        let same_answer =
            |one: &Answer, other: &Answer| one.pair == other.pair && one.label == other.label;
        let distinct = answers.chunk_by(same_answer).count();
        let mut pairs = 0;
        let mut contradictions = Vec::new();
        for group in answers.chunk_by(|one, other| one.pair == other.pair) {
            pairs += 1;
            let for_first = group.iter().filter(|a| a.label < 0.5).count();
            let for_second = group.iter().filter(|a| a.label > 0.5).count();
            if for_first > 0 && for_second > 0 {
                let (first, second) = group[0].pair;
                contradictions.push(Contradiction {
                    first,
                    second,
                    for_first,
                    for_second,
                });
            }
        }
        Self {
            comparisons: preferences.len(),
            weightless: preferences.len() - answers.len(),
            strict,
            ties,
            soft: answers.len() - strict - ties,
            pairs,
            duplicates: answers.len() - distinct,
            contradictions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::Preference;

    #[test]
    fn every_kind_is_counted_once() {
        let soft = |a, b, label| Preference {
            label,
            ..Preference::tie(a, b)
        };
        let items = vec![
            Preference::strict(0, 1),
            soft(1, 0, 0.0), // the same, the other way round: a duplicate
            Preference::strict(1, 0),
            Preference::tie(2, 3),
            Preference::tie(3, 2), // a duplicate
            soft(2, 3, 0.75),
            Preference {
                weight: 0.0,
                ..Preference::strict(3, 2)
            },
        ];
        let answers = Answers::of(&Preferences::new(4, items).unwrap());
        assert_eq!(
            answers,
            Answers {
                comparisons: 7,
                weightless: 1,
                strict: 3,
                ties: 2,
                soft: 1,
                pairs: 2,
                duplicates: 2,
                contradictions: vec![Contradiction {
                    first: 0,
                    second: 1,
                    for_first: 1,
                    for_second: 2,
                }],
            }
        );
    }

    #[test]
    fn soft_labels_are_the_same_from_both_sides() {
        let soft = |a, b, label| Preference {
            label,
            ..Preference::tie(a, b)
        };
        for label in [0.1, 0.3, 0.45, 0.9] {
            let items = vec![soft(0, 1, label), soft(1, 0, 1.0 - label)];
            let answers = Answers::of(&Preferences::new(2, items).unwrap());
            assert_eq!((answers.soft, answers.duplicates), (2, 1));
            assert!(answers.contradictions.is_empty());
        }
    }

    #[test]
    fn a_full_ranking_is_clean() {
        let answers = Answers::of(&Preferences::full_ranking(12));
        assert_eq!((answers.strict, answers.pairs), (66, 66));
        assert_eq!((answers.ties, answers.soft, answers.duplicates), (0, 0, 0));
        assert!(answers.contradictions.is_empty());
    }
}
