//! The directions of weight space that the comparisons can see.
//!
//! Only differences of returns enter the likelihood, so only the span of the differences of
//! compared feature sums matters: `r` directions, at most one less than there are compared
//! trajectories. The half-space prior adds the direction of its trajectory. In all other
//! directions the posterior is the prior.

use crate::Problem;
use crate::algebra::{self, DecompositionError};
use crate::likelihood::Pair;
use brex_core::Matrix;

/// Directions that are smaller than this part of the largest are rounding, not data.
const RANK_TOLERANCE: f64 = 1e-11;

/// The same for a decomposition of the Gram matrix, which squares the condition.
const GRAM_TOLERANCE: f64 = 1e-7;

/// Above this many multiplications the Gram matrix is decomposed instead of the features.
const SVD_WORK: usize = 1 << 31;

/// Comparisons over the trajectories that occur in them, with their centred feature sums.
pub(crate) struct Compared {
    /// Comparisons by row of `features`.
    pub(crate) pairs: Vec<Pair>,
    /// One row per compared trajectory: its feature sums less the mean of those it is connected
    /// with. Differences between compared trajectories are the same as before.
    pub(crate) features: Matrix,
}

impl Compared {
    pub(crate) fn new(problem: &Problem<'_>) -> Self {
        let all = problem.features();
        let pairs = problem.likelihood().pairs();
        let mut component = Components::new(all.rows());
        for pair in pairs {
            component.join(pair.i, pair.j);
        }
        let mut local = vec![usize::MAX; all.rows()];
        let mut rows: Vec<usize> = pairs.iter().flat_map(|pair| [pair.i, pair.j]).collect();
        rows.sort_unstable();
        rows.dedup();
        for (position, row) in rows.iter().enumerate() {
            local[*row] = position;
        }
        let mut sums = vec![0.0; 0];
        let mut slot = vec![usize::MAX; all.rows()];
        let mut counts: Vec<f64> = Vec::new();
        let k = all.cols();
        for row in &rows {
            let root = component.find(*row);
            if slot[root] == usize::MAX {
                slot[root] = counts.len();
                counts.push(0.0);
                sums.resize(sums.len() + k, 0.0);
            }
            counts[slot[root]] += 1.0;
            let sum = &mut sums[slot[root] * k..][..k];
            for (sum, value) in sum.iter_mut().zip(all.row(*row)) {
                *sum += value;
            }
        }
        let mut features = Matrix::zeros(rows.len(), k);
        for (position, row) in rows.iter().enumerate() {
            let at = slot[component.find(*row)];
            let sum = &sums[at * k..][..k];
            for ((out, value), sum) in features
                .row_mut(position)
                .iter_mut()
                .zip(all.row(*row))
                .zip(sum)
            {
                *out = value - sum / counts[at];
            }
        }
        let pairs = pairs
            .iter()
            .map(|pair| Pair {
                i: local[pair.i],
                j: local[pair.j],
                ..*pair
            })
            .collect();
        Self { pairs, features }
    }
}

/// Orthonormal directions as columns, and how many the likelihood sees.
#[derive(Debug, Clone)]
pub(crate) struct Subspace {
    /// `k x dim`, columns orthonormal.
    pub(crate) basis: Matrix,
    /// The rank of the differences of compared feature sums, without the half-space's direction.
    pub(crate) rank: usize,
}

impl Subspace {
    /// The span of the compared differences and of the half-space's direction.
    pub(crate) fn new(
        compared: &Compared,
        half_space: Option<&[f64]>,
    ) -> Result<Self, DecompositionError> {
        let (basis, rank) = directions(&compared.features, half_space)?;
        Ok(Self { basis, rank })
    }
}

fn directions(
    features: &Matrix,
    extra: Option<&[f64]>,
) -> Result<(Matrix, usize), DecompositionError> {
    let (rows, k) = (features.rows(), features.cols());
    let (values, vectors, tolerance) = if rows * k * rows.min(k) < SVD_WORK {
        let (values, vectors) = algebra::right_singular(features)?;
        (values, vectors, RANK_TOLERANCE)
    } else {
        let (squares, vectors) =
            algebra::symmetric_eigen(&algebra::transposed_product(features, features))?;
        let values = squares.iter().rev().map(|v| v.max(0.0).sqrt()).collect();
        let vectors = Matrix::from_fn(k, k, |i, j| vectors.row(i)[k - 1 - j]);
        (values, vectors, GRAM_TOLERANCE)
    };
    let largest = values.first().copied().unwrap_or(0.0);
    let rank = values
        .iter()
        .take_while(|value| **value > tolerance * largest && **value > 0.0)
        .count();
    let outside = extra.and_then(|extra| outside_direction(&vectors, rank, extra));
    let dim = rank + usize::from(outside.is_some());
    let basis = Matrix::from_fn(k, dim, |i, j| match &outside {
        Some(direction) if j == rank => direction[i],
        _ => vectors.row(i)[j],
    });
    Ok((basis, rank))
}

/// The unit vector along the part of `vector` that the first `rank` columns do not span.
fn outside_direction(vectors: &Matrix, rank: usize, vector: &[f64]) -> Option<Vec<f64>> {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let length = norm(vector);
    let mut rest: Vec<f64> = vector.iter().map(|value| value / length).collect();
    // Twice, because one pass of Gram and Schmidt leaves rounding behind.
    for _ in 0..2 {
        for j in 0..rank {
            let along: f64 = (0..rest.len()).map(|i| rest[i] * vectors.row(i)[j]).sum();
            for (i, value) in rest.iter_mut().enumerate() {
                *value -= along * vectors.row(i)[j];
            }
        }
    }
    let left = norm(&rest);
    (left > 1e-9).then(|| rest.iter().map(|value| value / left).collect())
}

/// Which trajectories are connected by comparisons.
struct Components {
    parent: Vec<usize>,
}

impl Components {
    fn new(count: usize) -> Self {
        Self {
            parent: (0..count).collect(),
        }
    }

    fn find(&mut self, mut item: usize) -> usize {
        while self.parent[item] != item {
            self.parent[item] = self.parent[self.parent[item]];
            item = self.parent[item];
        }
        item
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prior;
    use brex_core::{Preference, Preferences};

    fn subspace(features: &Matrix, preferences: &Preferences, prior: Prior) -> Subspace {
        let problem = Problem::new(features, preferences, prior, 1.0).unwrap();
        Subspace::new(&Compared::new(&problem), problem.half_space()).unwrap()
    }

    #[test]
    fn a_common_offset_does_not_count() {
        let features = Matrix::from_fn(4, 6, |i, j| {
            100.0 + ((i * 7 + 3 * j + i * j * j) % 11) as f64
        });
        let all = subspace(&features, &Preferences::full_ranking(4), Prior::Sphere);
        assert!(all.rank <= 3);
        assert_eq!(all.basis.cols(), all.rank);
        let prior = Prior::NonNegative { lowest: 0 };
        let half = subspace(&features, &Preferences::full_ranking(4), prior);
        assert_eq!((half.rank, half.basis.cols()), (all.rank, all.rank + 1));
    }

    #[test]
    fn separate_comparisons_see_one_direction_each() {
        let features = Matrix::from_fn(5, 8, |i, j| ((i + 1) * (j + 2) % 11) as f64);
        let items = vec![Preference::strict(0, 1), Preference::strict(2, 3)];
        let preferences = Preferences::new(5, items).unwrap();
        let found = subspace(&features, &preferences, Prior::Sphere);
        assert_eq!(found.rank, 2);
        let gram = algebra::transposed_product(&found.basis, &found.basis);
        for i in 0..2 {
            for j in 0..2 {
                assert!((gram.row(i)[j] - f64::from(i == j)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn no_comparisons_no_directions() {
        let features = Matrix::from_fn(3, 4, |i, j| (i + j) as f64);
        let preferences = Preferences::new(3, Vec::new()).unwrap();
        let found = subspace(&features, &preferences, Prior::Sphere);
        assert_eq!((found.rank, found.basis.cols()), (0, 0));
    }
}
