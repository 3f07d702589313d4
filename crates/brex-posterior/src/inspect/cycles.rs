//! Where preferences run in a circle: a better than b, b than c, c than a.
//!
//! An arrow leads from the worse to the better trajectory of every comparison that is not a tie. A
//! group is a strongly connected component (Tarjan's algorithm, without recursion so that long
//! chains do not exhaust the stack). One short cycle of each group serves as the example.

use std::collections::VecDeque;

use brex_core::Preferences;

use super::weighted;

/// How many arrows the search for short examples may follow in all. Far more than needed for the
/// shortest cycle of every group of a few thousand.
const SEARCH_BUDGET: usize = 10_000_000;

/// Trajectories among which preferences run in circles: from each one to each other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// The trajectories of the group, by row number.
    pub members: Vec<usize>,
    /// Comparisons between members that are not ties.
    pub comparisons: usize,
    /// A cycle in the group, each trajectory called worse than the next, and the last worse than
    /// the first. The shortest there is, unless the group is so large that the search was cut off.
    pub example: Vec<usize>,
}

/// The groups of trajectories in which preferences run in circles, the largest first.
pub fn cycles(preferences: &Preferences) -> Vec<Cycle> {
    let arrows = Arrows::of(preferences);
    let component = components(&arrows);
    let count = component.iter().max().map_or(0, |last| last + 1);
    let mut groups: Vec<Cycle> = vec![
        Cycle {
            members: Vec::new(),
            comparisons: 0,
            example: Vec::new(),
        };
        count
    ];
    for (row, &group) in component.iter().enumerate() {
        groups[group].members.push(row);
        let inside = arrows
            .from(row)
            .iter()
            .filter(|to| component[**to] == group);
        groups[group].comparisons += inside.count();
    }
    groups.retain(|group| group.members.len() > 1);
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    let mut search = Search {
        arrows: &arrows,
        component: &component,
        previous: vec![None; component.len()],
        budget: SEARCH_BUDGET,
    };
    for group in &mut groups {
        group.example = search.shortest(&group.members);
    }
    groups
}

/// The arrows by the row they start from.
struct Arrows {
    start: Vec<usize>,
    to: Vec<usize>,
}

impl Arrows {
    fn of(preferences: &Preferences) -> Self {
        let mut pairs: Vec<(usize, usize)> = weighted(preferences)
            .filter(|item| item.label != 0.5)
            .map(|item| {
                if item.label > 0.5 {
                    (item.a, item.b)
                } else {
                    (item.b, item.a)
                }
            })
            .collect();
        pairs.sort_unstable();
        let rows = 0..=preferences.trajectories();
        Self {
            start: rows
                .map(|row| pairs.partition_point(|pair| pair.0 < row))
                .collect(),
            to: pairs.iter().map(|pair| pair.1).collect(),
        }
    }

    fn from(&self, row: usize) -> &[usize] {
        &self.to[self.start[row]..self.start[row + 1]]
    }

    fn rows(&self) -> usize {
        self.start.len() - 1
    }
}

/// The strongly connected component of each row, by Tarjan's algorithm.
fn components(arrows: &Arrows) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let rows = arrows.rows();
    let mut order = vec![UNSEEN; rows];
    let mut lowest = vec![UNSEEN; rows];
    let mut component = vec![UNSEEN; rows];
    let mut open = Vec::new();
    let (mut seen, mut found) = (0, 0);
    for root in 0..rows {
        if order[root] != UNSEEN {
            continue;
        }
        // Each entry: a row, and how many of its arrows have been followed.
        let mut path = vec![(root, 0)];
        while let Some((row, followed)) = path.last_mut() {
            let row = *row;
            if *followed == 0 {
                order[row] = seen;
                lowest[row] = seen;
                seen += 1;
                open.push(row);
            }
            if let Some(&to) = arrows.from(row).get(*followed) {
                *followed += 1;
                if order[to] == UNSEEN {
                    path.push((to, 0));
                } else if component[to] == UNSEEN {
                    lowest[row] = lowest[row].min(order[to]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                lowest[*parent] = lowest[*parent].min(lowest[row]);
            }
            if lowest[row] == order[row] {
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == row {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

/// Breadth-first searches for the shortest cycle of a group.
struct Search<'a> {
    arrows: &'a Arrows,
    component: &'a [usize],
    /// Where the search came from, for rows that it reached.
    previous: Vec<Option<usize>>,
    budget: usize,
}

impl Search<'_> {
    fn shortest(&mut self, members: &[usize]) -> Vec<usize> {
        let mut best: Vec<usize> = Vec::new();
        for &member in members {
            // No cycle is shorter than two, and the first search always ends with one.
            if best.len() == 2 || (!best.is_empty() && self.budget == 0) {
                break;
            }
            let limit = best.len().checked_sub(1).unwrap_or(usize::MAX);
            if let Some(cycle) = self.through(member, limit) {
                best = cycle;
            }
        }
        best
    }

    /// The shortest cycle through `start`, if it has at most `limit` members.
    fn through(&mut self, start: usize, limit: usize) -> Option<Vec<usize>> {
        let mut queue = VecDeque::from([(start, 1)]);
        let mut reached = vec![];
        let mut last = None;
        'search: while let Some((row, length)) = queue.pop_front() {
            if length > limit {
                break;
            }
            for &to in self.arrows.from(row) {
                self.budget = self.budget.saturating_sub(1);
                if to == start {
                    last = Some(row);
                    break 'search;
                }
                if self.component[to] == self.component[start] && self.previous[to].is_none() {
                    self.previous[to] = Some(row);
                    reached.push(to);
                    queue.push_back((to, length + 1));
                }
            }
        }
        let cycle = last.map(|last| {
            let mut cycle = vec![last];
            let mut row = last;
            while let Some(before) = self.previous[row].filter(|_| row != start) {
                cycle.push(before);
                row = before;
            }
            cycle.reverse();
            cycle
        });
        for row in reached {
            self.previous[row] = None;
        }
        cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::Preference;
    use proptest::prelude::*;

    fn found(trajectories: usize, pairs: &[(usize, usize)]) -> Vec<Cycle> {
        let items = pairs.iter().map(|&(a, b)| Preference::strict(a, b));
        cycles(&Preferences::new(trajectories, items.collect()).unwrap())
    }

    #[test]
    fn a_ranking_has_no_cycle_and_ties_make_none() {
        assert!(cycles(&Preferences::full_ranking(30)).is_empty());
        let items = vec![Preference::strict(0, 1), Preference::tie(1, 0)];
        assert!(cycles(&Preferences::new(2, items).unwrap()).is_empty());
    }

    #[test]
    fn the_example_is_the_shortest_cycle_of_each_group() {
        // A ring of five with a chord that makes a triangle 2, 3, 4; a contradiction 6, 7.
        let pairs = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 4),
            (4, 0),
            (4, 2),
            (5, 0),
            (6, 7),
            (7, 6),
        ];
        let groups = found(8, &pairs);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].members, [0, 1, 2, 3, 4]);
        assert_eq!(groups[0].comparisons, 6);
        assert_eq!(groups[0].example, [2, 3, 4]);
        assert_eq!(groups[1].example, [6, 7]);
    }

    #[test]
    fn a_ring_of_a_hundred_thousand_does_not_exhaust_the_stack() {
        let count = 100_000;
        let ring: Vec<_> = (0..count).map(|i| (i, (i + 1) % count)).collect();
        let groups = found(count, &ring);
        assert_eq!(groups[0].members.len(), count);
        assert_eq!(groups[0].example.len(), count);
    }

    proptest! {
        #[test]
        fn groups_are_mutual_reachability_and_examples_are_shortest(
            pairs in prop::collection::vec((0_usize..9, 0_usize..9), 0..25),
        ) {
            let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).collect();
            // All distances, by Floyd and Warshall.
            let mut distance = [[usize::MAX / 4; 9]; 9];
            for &(a, b) in &pairs {
                distance[a][b] = 1;
            }
            for k in 0..9 {
                for i in 0..9 {
                    for j in 0..9 {
                        distance[i][j] = distance[i][j].min(distance[i][k] + distance[k][j]);
                    }
                }
            }
            let mutual = |i: usize, j: usize| distance[i][j].max(distance[j][i]) < 9;
            let groups = found(9, &pairs);
            for i in 0..9 {
                for j in (0..9).filter(|j| *j != i) {
                    let together = groups
                        .iter()
                        .any(|g| g.members.contains(&i) && g.members.contains(&j));
                    prop_assert_eq!(together, mutual(i, j));
                }
            }
            for group in &groups {
                let shortest = group.members.iter().map(|m| distance[*m][*m]).min();
                prop_assert_eq!(Some(group.example.len()), shortest);
                for (at, row) in group.example.iter().enumerate() {
                    let next = group.example[(at + 1) % group.example.len()];
                    prop_assert!(pairs.contains(&(*row, next)));
                }
            }
        }
    }
}
