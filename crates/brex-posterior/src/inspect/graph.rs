//! The comparisons as a graph: what hangs together, what was never compared.
//!
//! Between two parts that no comparison connects, the preferences say nothing; only the features
//! that both share carry anything over.

use brex_core::Preferences;

use super::weighted;

/// The comparison graph: trajectories joined by comparisons of whatever answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonGraph {
    /// Trajectories there are.
    pub trajectories: usize,
    /// Trajectories in no comparison, by row number.
    pub never_compared: Vec<usize>,
    /// Sizes of the connected parts of the others, the largest first.
    pub components: Vec<usize>,
    /// How many comparisons the others are in; `None` if there are no comparisons.
    pub degrees: Option<Degrees>,
}

/// How many comparisons a compared trajectory is in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Degrees {
    /// The fewest.
    pub min: usize,
    /// The median; of two middle ones, the mean.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The most.
    pub max: usize,
}

impl ComparisonGraph {
    /// Measures the graph.
    pub(super) fn of(preferences: &Preferences) -> Self {
        let trajectories = preferences.trajectories();
        let mut degree = vec![0_usize; trajectories];
        let mut parts = Parts::new(trajectories);
        for item in weighted(preferences) {
            degree[item.a] += 1;
            degree[item.b] += 1;
            parts.join(item.a, item.b);
        }
        let mut sizes = vec![0_usize; trajectories];
        for row in (0..trajectories).filter(|row| degree[*row] > 0) {
            sizes[parts.root(row)] += 1;
        }
        sizes.retain(|size| *size > 0);
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        let never_compared = (0..trajectories).filter(|row| degree[*row] == 0).collect();
        degree.retain(|count| *count > 0);
        Self {
            trajectories,
            never_compared,
            components: sizes,
            degrees: Degrees::of(degree),
        }
    }
}

impl Degrees {
    fn of(mut degrees: Vec<usize>) -> Option<Self> {
        degrees.sort_unstable();
        let (min, max) = (*degrees.first()?, *degrees.last()?);
        let count = degrees.len();
        let middle = degrees[(count - 1) / 2] + degrees[count / 2];
        Some(Self {
            min,
            median: middle as f64 / 2.0,
            mean: degrees.iter().sum::<usize>() as f64 / count as f64,
            max,
        })
    }
}

/// Disjoint sets of rows, joined one comparison after the other.
struct Parts {
    parent: Vec<usize>,
}

impl Parts {
    fn new(count: usize) -> Self {
        Self {
            parent: (0..count).collect(),
        }
    }

    fn root(&mut self, mut row: usize) -> usize {
        while self.parent[row] != row {
            self.parent[row] = self.parent[self.parent[row]];
            row = self.parent[row];
        }
        row
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::Preference;
    use proptest::prelude::*;

    #[test]
    fn parts_and_degrees() {
        let items = vec![
            Preference::strict(0, 1),
            Preference::tie(1, 2),
            Preference::strict(5, 4),
        ];
        let graph = ComparisonGraph::of(&Preferences::new(7, items).unwrap());
        assert_eq!(graph.never_compared, [3, 6]);
        assert_eq!(graph.components, [3, 2]);
        let degrees = graph.degrees.unwrap();
        assert_eq!((degrees.min, degrees.max), (1, 2));
        assert_eq!((degrees.median, degrees.mean), (1.0, 1.2));
        assert_eq!(
            ComparisonGraph::of(&Preferences::new(2, vec![]).unwrap()).degrees,
            None
        );
    }

    proptest! {
        #[test]
        fn a_chain_in_any_order_is_one_part(
            order in Just((0..50_usize).collect::<Vec<_>>()).prop_shuffle(),
            cut in 1_usize..49,
        ) {
            let links = order.windows(2).map(|pair| Preference::strict(pair[0], pair[1]));
            let mut items: Vec<Preference> = links.collect();
            let whole = ComparisonGraph::of(&Preferences::new(50, items.clone()).unwrap());
            prop_assert_eq!(whole.components, vec![50]);
            // A cut at one end leaves a trajectory that was never compared.
            items.remove(cut);
            let mut sizes = vec![cut + 1, 49 - cut];
            sizes.retain(|size| *size > 1);
            sizes.sort_by(|one, other| other.cmp(one));
            prop_assert_eq!(ComparisonGraph::of(&Preferences::new(50, items).unwrap()).components, sizes);
        }
    }
}
