//! Comparisons between trajectories.
//!
//! What counts as what:
//! - a **duplicate** (the same comparison with the same answer again) is one more observation and
//!   counts again;
//! - **contradicting** comparisons (a better than b, and b better than a) both count: together they
//!   say that the two are close;
//! - a **tie** is a comparison with label one half;
//! - a comparison of a trajectory **with itself** says nothing and is refused, because it is always
//!   a mistake in the data.

/// One comparison of trajectory `a` with trajectory `b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preference {
    /// Zero-based row of the first trajectory.
    pub a: usize,
    /// Zero-based row of the second trajectory.
    pub b: usize,
    /// The probability that `b` is better: 1 for a strict preference of `b`, 0 for `a`, one half
    /// for a tie.
    pub label: f64,
    /// How many observations this comparison counts for; 1 unless told otherwise.
    pub weight: f64,
}

impl Preference {
    /// A strict preference for `better` over `worse`.
    pub fn strict(worse: usize, better: usize) -> Self {
        Self {
            a: worse,
            b: better,
            label: 1.0,
            weight: 1.0,
        }
    }

    /// A tie between `a` and `b`.
    pub fn tie(a: usize, b: usize) -> Self {
        Self {
            a,
            b,
            label: 0.5,
            weight: 1.0,
        }
    }
}

/// Why a comparison cannot be used. `position` counts comparisons from zero.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum PreferenceError {
    /// A row that does not exist.
    #[error(
        "preference {position}: trajectory {index} does not exist; there are {count} (0 to {})",
        count.saturating_sub(1)
    )]
    OutOfRange {
        /// Which comparison.
        position: usize,
        /// The row it names.
        index: usize,
        /// How many rows there are.
        count: usize,
    },
    /// A trajectory compared with itself.
    #[error("preference {position}: trajectory {index} is compared with itself")]
    SelfReference {
        /// Which comparison.
        position: usize,
        /// The row it names twice.
        index: usize,
    },
    /// A label outside 0 to 1.
    #[error("preference {position}: label is {label}; expected a probability from 0 to 1")]
    Label {
        /// Which comparison.
        position: usize,
        /// The label.
        label: f64,
    },
    /// A weight that is negative or not finite.
    #[error("preference {position}: weight is {weight}; expected a finite number of at least 0")]
    Weight {
        /// Which comparison.
        position: usize,
        /// The weight.
        weight: f64,
    },
}

/// Comparisons over a known number of trajectories. Checked on construction.
#[derive(Debug, Clone, PartialEq)]
pub struct Preferences {
    trajectories: usize,
    items: Vec<Preference>,
}

impl Preferences {
    /// Checks every comparison against the number of trajectories.
    pub fn new(trajectories: usize, items: Vec<Preference>) -> Result<Self, PreferenceError> {
        for (position, item) in items.iter().enumerate() {
            for index in [item.a, item.b] {
                if index >= trajectories {
                    return Err(PreferenceError::OutOfRange {
                        position,
                        index,
                        count: trajectories,
                    });
                }
            }
            if item.a == item.b {
                let index = item.a;
                return Err(PreferenceError::SelfReference { position, index });
            }
            if !(0.0..=1.0).contains(&item.label) {
                let label = item.label;
                return Err(PreferenceError::Label { position, label });
            }
            if !(item.weight.is_finite() && item.weight >= 0.0) {
                let weight = item.weight;
                return Err(PreferenceError::Weight { position, weight });
            }
        }
        Ok(Self {
            trajectories,
            items,
        })
    }

    /// Every pair `i < j` of a full ranking, trajectory 0 being the worst.
    pub fn full_ranking(trajectories: usize) -> Self {
        let items = (0..trajectories)
            .flat_map(|worse| {
                (worse + 1..trajectories).map(move |better| Preference::strict(worse, better))
            })
            .collect();
        Self {
            trajectories,
            items,
        }
    }

    /// The same comparisons, weighed so that they count as many times as there are trajectories at
    /// most: that of `a` and `b` by `1 / n_a + 1 / n_b`, where `n` is the weight of all comparisons that
    /// a trajectory takes part in, and never by more than 1.
    ///
    /// Who ranks 200 trajectories has judged 200 of them, not 19,900 pairs on their own: whatever made a
    /// trajectory seem better or worse than it is has a part in all of its comparisons. Taken for
    /// independent, they would leave no doubt about anything. Where every trajectory is compared once,
    /// nothing changes.
    pub fn weighed_by_trajectory(&self) -> Self {
        let mut total = vec![0.0; self.trajectories];
        for item in &self.items {
            total[item.a] += item.weight;
            total[item.b] += item.weight;
        }
        let items = self.items.iter().map(|item| {
            let share = if item.weight > 0.0 {
                1.0 / total[item.a] + 1.0 / total[item.b]
            } else {
                1.0
            };
            Preference {
                weight: item.weight * share.min(1.0),
                ..*item
            }
        });
        Self {
            trajectories: self.trajectories,
            items: items.collect(),
        }
    }

    /// The comparisons, in the order given.
    pub fn items(&self) -> &[Preference] {
        &self.items
    }

    /// How many comparisons there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no comparisons.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many trajectories the comparisons are about.
    pub fn trajectories(&self) -> usize {
        self.trajectories
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_counts_as_many_times_as_it_has_trajectories() {
        for count in [3, 12, 200] {
            let weighed = Preferences::full_ranking(count).weighed_by_trajectory();
            let sum: f64 = weighed.items().iter().map(|item| item.weight).sum();
            assert!((sum - count as f64).abs() < 1e-9, "{count}: {sum}");
        }
    }

    #[test]
    fn what_is_compared_once_counts_as_before() {
        let light = Preference {
            weight: 0.5,
            ..Preference::strict(4, 5)
        };
        let nothing = Preference {
            weight: 0.0,
            ..Preference::strict(0, 5)
        };
        let items = vec![
            Preference::strict(0, 1),
            Preference::tie(2, 3),
            light,
            nothing,
        ];
        let all = Preferences::new(6, items).unwrap();
        assert_eq!(all.weighed_by_trajectory(), all);
        // One that is compared with two others: each of these counts as a whole.
        let star = vec![Preference::strict(0, 1), Preference::strict(0, 2)];
        let star = Preferences::new(3, star).unwrap();
        assert_eq!(star.weighed_by_trajectory(), star);
    }

    #[test]
    fn each_defect_has_its_own_error() {
        let check = |item| Preferences::new(3, vec![Preference::tie(0, 1), item]).unwrap_err();
        assert!(matches!(
            check(Preference::strict(0, 3)),
            PreferenceError::OutOfRange {
                position: 1,
                index: 3,
                count: 3
            }
        ));
        assert!(matches!(
            check(Preference::strict(2, 2)),
            PreferenceError::SelfReference { index: 2, .. }
        ));
        let odd = |label, weight| Preference {
            label,
            weight,
            ..Preference::tie(0, 1)
        };
        assert!(matches!(
            check(odd(1.1, 1.0)),
            PreferenceError::Label { .. }
        ));
        assert!(matches!(
            check(odd(f64::NAN, 1.0)),
            PreferenceError::Label { .. }
        ));
        assert!(matches!(
            check(odd(0.5, -1.0)),
            PreferenceError::Weight { .. }
        ));
        assert!(matches!(
            check(odd(0.5, f64::INFINITY)),
            PreferenceError::Weight { .. }
        ));
    }

    #[test]
    fn a_full_ranking_of_twelve_has_sixty_six_pairs() {
        let all = Preferences::full_ranking(12);
        assert_eq!(all.len(), 66);
        assert!(all.items().iter().all(|p| p.a < p.b && p.label == 1.0));
    }
}
