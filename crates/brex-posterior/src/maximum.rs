//! The most probable weights (MAP), by optimisation.
//!
//! The log likelihood is concave in the weights. On the sphere it is maximised by repeated
//! quadratic models, each solved exactly on the sphere (or in the ball, where unseen directions can
//! take up the missing length) through the eigenvalues of its curvature, as in trust-region methods
//! (Moré and Sorensen 1983). If the half-space of the prior cuts the maximum off, the maximum lies
//! on its boundary and is sought there; on a sphere without unseen directions, which is not convex,
//! a second summit inside the half-space may be higher and is sought too.

use crate::algebra::{self, DecompositionError};
use crate::approximation::complement;
use crate::problem::step_inside;
use crate::sample::Sampled;
use crate::subspace::{Compared, Subspace};
use crate::{Likelihood, Prior, Problem};
use brex_core::Matrix;

/// The most probable weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    /// The weights.
    pub weights: Vec<f64>,
    /// Their log likelihood.
    pub log_likelihood: f64,
    /// Whether other weights are as probable: the comparisons are fitted best by seen weights
    /// shorter than 1, and any unseen direction can fill the rest.
    pub unique: bool,
}

/// How long the seen part of the weights may be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Extent {
    /// Held back by a Gaussian prior of this precision.
    Penalty(f64),
    /// At most 1.
    Ball,
    /// Exactly 1.
    Sphere,
}

/// Finds the weights at which the posterior density is largest.
pub fn maximum_a_posteriori(problem: &Problem<'_>) -> Result<Maximum, DecompositionError> {
    let compared = Compared::new(problem);
    let subspace = Subspace::new(&compared, problem.half_space())?;
    let (k, dim) = (problem.dim(), subspace.basis.cols());
    let extent = match problem.prior() {
        Prior::Gaussian { scale } => Extent::Penalty(scale.powi(-2)),
        Prior::Sphere | Prior::NonNegative { .. } if dim < k => Extent::Ball,
        Prior::Sphere | Prior::NonNegative { .. } => Extent::Sphere,
    };
    let x = algebra::product(&compared.features, &subspace.basis);
    let search = |x: Matrix| Search {
        likelihood: Likelihood::from_pairs(compared.pairs.clone(), problem.beta()),
        x,
        extent,
    };
    let whole = search(x.clone());
    let mut seen = whole.run()?;
    if extent == Extent::Sphere {
        // Models that are flat along some direction stop short of the summit; no half-space here.
        seen = whole.climb_inside(&vec![0.0; dim], seen)?;
    }
    if let Some(row) = problem.half_space() {
        let normal = algebra::transposed_times(&subspace.basis, row);
        let worst: f64 = normal.iter().zip(&seen).map(|(n, y)| n * y).sum();
        if worst < 0.0 && dim == 1 && extent == Extent::Sphere {
            seen[0] = -seen[0];
        } else if worst < 0.0 {
            let plane = complement(&normal);
            let on_plane = search(algebra::product(&x, &plane)).run()?;
            let edge = algebra::times(&plane, &on_plane);
            seen = match extent {
                Extent::Sphere => whole.best_inside(&normal, &seen, edge)?,
                Extent::Ball | Extent::Penalty(_) => edge,
            };
        }
    }
    let mut weights = algebra::times(&subspace.basis, &seen);
    let missing = 1.0 - seen.iter().map(|y| y * y).sum::<f64>();
    let unique = extent != Extent::Ball || missing < 1e-9;
    if !unique {
        fill_up(&mut weights, &subspace.basis, missing.sqrt());
    }
    if let Some(row) = problem.half_space() {
        step_inside(&mut weights, row, problem.prior().is_on_sphere());
    }
    Ok(Maximum {
        log_likelihood: problem.log_likelihood(&weights),
        weights,
        unique,
    })
}

/// The draw with the highest log likelihood: the paper's MAP.
pub fn best_of_chain(sampled: &Sampled) -> Maximum {
    let (at, best) = sampled.log_likelihood.iter().enumerate().fold(
        (0, f64::NEG_INFINITY),
        |best, (at, value)| {
            if *value > best.1 { (at, *value) } else { best }
        },
    );
    let each = sampled.draws.draws_per_chain();
    Maximum {
        weights: sampled.draws.get(at / each, at % each).to_vec(),
        log_likelihood: best,
        unique: true,
    }
}

/// Adds a vector of that length outside the span of `basis`, along the first axis that sticks out
/// of it far enough.
fn fill_up(weights: &mut [f64], basis: &Matrix, length: f64) {
    let unseen = basis.rows() - basis.cols();
    let enough = unseen as f64 / basis.rows() as f64 * 0.5;
    for axis in 0..basis.rows() {
        let inside: f64 = basis.row(axis).iter().map(|b| b * b).sum();
        let outside = 1.0 - inside;
        if outside >= enough {
            let projected = algebra::times(basis, basis.row(axis));
            for (i, (weight, p)) in weights.iter_mut().zip(projected).enumerate() {
                *weight += length * (f64::from(u8::from(i == axis)) - p) / outside.sqrt();
            }
            return;
        }
    }
}

/// The search in the seen coordinates.
struct Search {
    likelihood: Likelihood,
    x: Matrix,
    extent: Extent,
}

impl Search {
    fn run(&self) -> Result<Vec<f64>, DecompositionError> {
        let dim = self.x.cols();
        let mut y = vec![0.0; dim];
        let mut returns = algebra::times(&self.x, &y);
        let mut value = self.merit(&y, &returns);
        for round in 0..60 {
            let curvatures = self.likelihood.curvatures(&returns);
            let information =
                algebra::pair_information(&self.x, self.likelihood.pairs(), &curvatures);
            let (values, rotation) = algebra::symmetric_eigen(&information)?;
            let mut last = f64::INFINITY;
            // Steps that use the same curvature, as long as they shrink well.
            for _ in 0..12 {
                let target = self.target(&y, &returns, &values, &rotation);
                let step: f64 = y.iter().zip(&target).map(|(y, t)| (t - y).powi(2)).sum();
                let Some((next, next_returns, next_value)) = self.climb(&y, &target, value) else {
                    // No way up: the maximum is as close as rounding lets it be.
                    return Ok(y);
                };
                (y, returns, value) = (next, next_returns, next_value);
                if step < 1e-22 {
                    return Ok(y);
                }
                if step > 0.1 * last || round < 2 {
                    break;
                }
                last = step;
            }
        }
        Ok(y)
    }

    /// The best of `edge` and the summits inside the half-space that are reached from the points
    /// opposite to `outside`, which is the summit beyond the edge.
    fn best_inside(
        &self,
        normal: &[f64],
        outside: &[f64],
        edge: Vec<f64>,
    ) -> Result<Vec<f64>, DecompositionError> {
        let square: f64 = normal.iter().map(|n| n * n).sum();
        let along: f64 = normal.iter().zip(outside).map(|(n, y)| n * y).sum();
        let reflected = |y: &f64, n: &f64| y - 2.0 * along / square * n;
        let starts = [
            outside.iter().map(|y| -y).collect::<Vec<f64>>(),
            outside
                .iter()
                .zip(normal)
                .map(|(y, n)| reflected(y, n))
                .collect(),
            normal.iter().map(|n| n / square.sqrt()).collect(),
        ];
        let value = |y: &[f64]| self.merit(y, &algebra::times(&self.x, y));
        let mut best = (value(&edge), edge);
        for start in starts {
            let summit = self.climb_inside(normal, start)?;
            let height = value(&summit);
            if height > best.0 {
                best = (height, summit);
            }
        }
        Ok(best.1)
    }

    /// Newton's method on the sphere, kept inside the half-space and always going up.
    fn climb_inside(
        &self,
        normal: &[f64],
        mut y: Vec<f64>,
    ) -> Result<Vec<f64>, DecompositionError> {
        let dim = y.len();
        let inside = |y: &[f64]| y.iter().zip(normal).map(|(y, n)| y * n).sum::<f64>() >= 0.0;
        for _ in 0..100 {
            let returns = algebra::times(&self.x, &y);
            let value = self.merit(&y, &returns);
            let mut by_return = vec![0.0; self.x.rows()];
            self.likelihood.add_gradient(&returns, &mut by_return);
            let gradient = algebra::transposed_times(&self.x, &by_return);
            let radial: f64 = gradient.iter().zip(&y).map(|(g, y)| g * y).sum();
            let slope: Vec<f64> = (0..dim).map(|i| gradient[i] - radial * y[i]).collect();
            let curvatures = self.likelihood.curvatures(&returns);
            let information =
                algebra::pair_information(&self.x, self.likelihood.pairs(), &curvatures);
            let bent = algebra::times(&information, &y);
            let own: f64 = bent.iter().zip(&y).map(|(b, y)| b * y).sum();
            let tangent = Matrix::from_fn(dim, dim, |i, j| {
                let flat = information.row(i)[j] - y[i] * bent[j] - bent[i] * y[j];
                flat + own * y[i] * y[j] + if i == j { radial } else { 0.0 }
            });
            let (values, rotation) = algebra::symmetric_eigen(&tangent)?;
            let largest = values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            let turned = algebra::transposed_times(&rotation, &slope);
            let step: Vec<f64> = (0..dim)
                .map(|i| turned[i] / values[i].abs().max(1e-9 * largest + 1e-300))
                .collect();
            let step = algebra::times(&rotation, &step);
            let target: Vec<f64> = y.iter().zip(&step).map(|(y, s)| y + s).collect();
            match self.climb(&y, &target, value) {
                Some((next, ..)) if inside(&next) => y = next,
                _ => break,
            }
        }
        Ok(y)
    }

    fn merit(&self, y: &[f64], returns: &[f64]) -> f64 {
        let value = self.likelihood.log_likelihood(returns);
        match self.extent {
            Extent::Penalty(precision) => {
                value - 0.5 * precision * y.iter().map(|y| y * y).sum::<f64>()
            }
            // The origin is not on the sphere; anything that is, is better.
            Extent::Sphere if y.iter().all(|y| *y == 0.0) => f64::NEG_INFINITY,
            Extent::Ball | Extent::Sphere => value,
        }
    }

    /// The maximiser of the quadratic model at `y`.
    fn target(&self, y: &[f64], returns: &[f64], values: &[f64], rotation: &Matrix) -> Vec<f64> {
        let mut by_return = vec![0.0; self.x.rows()];
        self.likelihood.add_gradient(returns, &mut by_return);
        let gradient = algebra::transposed_times(&self.x, &by_return);
        let slope = algebra::transposed_times(rotation, &gradient);
        let turned = algebra::transposed_times(rotation, y);
        let pull: Vec<f64> = (0..y.len())
            .map(|i| slope[i] + values[i] * turned[i])
            .collect();
        let length = |lambda: f64| -> f64 {
            let parts = values.iter().zip(&pull);
            parts
                .map(|(value, pull)| (pull / (value + lambda)).powi(2))
                .sum()
        };
        let pull_length = pull.iter().map(|p| p * p).sum::<f64>().sqrt();
        let smallest = values
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
            .max(0.0);
        let floor = 1e-12 * (values.iter().copied().fold(0.0, f64::max) + pull_length) + 1e-300;
        let lambda = match self.extent {
            Extent::Penalty(precision) => precision,
            Extent::Ball if length(floor) <= 1.0 => floor,
            // |y| = pull / (value + lambda) is 1 between these.
            Extent::Ball => unit_root(&length, floor, pull_length + floor),
            Extent::Sphere => unit_root(&length, floor - smallest, pull_length + floor),
        };
        let turned: Vec<f64> = (0..y.len())
            .map(|i| pull[i] / (values[i] + lambda))
            .collect();
        algebra::times(rotation, &turned)
    }

    /// The farthest of a few points on the way to `target` that is not worse.
    fn climb(&self, y: &[f64], target: &[f64], value: f64) -> Option<(Vec<f64>, Vec<f64>, f64)> {
        let mut fraction = 1.0;
        for _ in 0..30 {
            let mut next: Vec<f64> = y
                .iter()
                .zip(target)
                .map(|(y, t)| y + fraction * (t - y))
                .collect();
            if self.extent == Extent::Sphere {
                let length = next.iter().map(|y| y * y).sum::<f64>().sqrt();
                next.iter_mut().for_each(|y| *y /= length);
            }
            let returns = algebra::times(&self.x, &next);
            let merit = self.merit(&next, &returns);
            if merit > value {
                return Some((next, returns, merit));
            }
            fraction *= 0.5;
        }
        None
    }
}

/// The `lambda` between `low` and `high` at which the falling `length` is 1.
fn unit_root(length: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if length(middle) > 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::{Preference, Preferences};
    use rand::RngExt;

    /// No random neighbour on the sphere, inside the prior, is better.
    fn assert_maximum(problem: &Problem<'_>) -> Maximum {
        let found = maximum_a_posteriori(problem).unwrap();
        let density = |w: &[f64]| problem.log_likelihood(w) + problem.log_prior(w);
        let best = density(&found.weights);
        let on_sphere = problem.prior().is_on_sphere();
        let norm = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
        if on_sphere {
            assert!((norm(&found.weights) - 1.0).abs() < 1e-9);
        }
        let mut random = brex_core::stream(1, "neighbours", 0);
        for trial in 0..4000 {
            let size = [1.0, 0.1, 0.01, 1e-3][trial % 4];
            let mut near: Vec<f64> = found
                .weights
                .iter()
                .map(|w| w + size * random.sample::<f64, _>(rand_distr::StandardNormal))
                .collect();
            if on_sphere {
                let length = norm(&near);
                near.iter_mut().for_each(|w| *w /= length);
            }
            assert!(
                density(&near) <= best + 1e-9,
                "{} above {best}",
                density(&near)
            );
        }
        found
    }

    fn features(rows: usize, cols: usize, scale: f64) -> Matrix {
        let mut random = brex_core::stream(2, "features", (rows * cols) as u64);
        Matrix::from_fn(rows, cols, |_, _| {
            scale * random.sample::<f64, _>(rand_distr::StandardNormal)
        })
    }

    #[test]
    fn no_neighbour_is_better_under_any_prior() {
        for (rows, cols, scale) in [
            (12, 64, 3.0),
            (6, 3, 2.0),
            (3, 3, 3.0),
            (30, 8, 0.3),
            (40, 2, 5.0),
        ] {
            let x = features(rows, cols, scale);
            let all = Preferences::full_ranking(rows);
            let mut priors = vec![Prior::Sphere, Prior::Gaussian { scale: 0.7 }];
            priors.extend((0..rows.min(6)).map(|lowest| Prior::NonNegative { lowest }));
            for prior in priors {
                let problem = Problem::new(&x, &all, prior, 1.0).unwrap();
                assert_maximum(&problem);
            }
        }
    }

    #[test]
    fn ties_leave_the_maximum_open() {
        let x = features(4, 6, 1.0);
        let ties = (0..3).map(|i| Preference::tie(i, i + 1)).collect();
        let preferences = Preferences::new(4, ties).unwrap();
        let problem = Problem::new(&x, &preferences, Prior::Sphere, 1.0).unwrap();
        let found = assert_maximum(&problem);
        assert!(!found.unique);
        assert!((found.log_likelihood - 3.0 * 0.5_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn one_feature_has_two_candidates() {
        let x = Matrix::new(2, 1, vec![1.0, 3.0]).unwrap();
        let falling = Preferences::new(2, vec![Preference::strict(1, 0)]).unwrap();
        let problem = Problem::new(&x, &falling, Prior::Sphere, 1.0).unwrap();
        assert!((assert_maximum(&problem).weights[0] + 1.0).abs() < 1e-12);
        let prior = Prior::NonNegative { lowest: 1 };
        let problem = Problem::new(&x, &falling, prior, 1.0).unwrap();
        assert!((assert_maximum(&problem).weights[0] - 1.0).abs() < 1e-12);
    }
}
