//! Coordinates in which the posterior is close to a standard normal law.
//!
//! All three forms of the target have returns `R = h X x` with a scalar `h`:
//!
//! | form | when | prior of `x` | `h` |
//! |---|---|---|---|
//! | collapsed | sphere, many unseen directions | `(1 + x.x)^(-k/2)` | `(1 + x.x)^(-1/2)` |
//! | direction | sphere, few unseen directions | `(x.x)^(a/2) exp(-x.x / 2)` | `(x.x)^(-1/2)` |
//! | flat | Gaussian prior | `exp(-x.x / (2 scale^2))` | 1 |
//!
//! *Collapsed* integrates the unseen directions out: with `z` normal in `k` dimensions and
//! `w = z / |z|`, `x` is the seen part of `z` divided by the length of the unseen part. With few
//! unseen directions the tails of that law are too heavy for any sampler, so *direction* samples
//! `z` itself. The length of `z` carries no information; its law is free, and `a > 0` keeps `z` away
//! from the origin, where the returns change abruptly.
//!
//! `x = centre + scale * u` coordinate by coordinate; the sampler moves `u`.

use crate::algebra::{self, DecompositionError};
use crate::approximation::{Approximation, Precision};
use crate::likelihood::Pair;
use crate::subspace::{Compared, Subspace};
use crate::{Prior, Problem};
use brex_core::Matrix;

/// The sphere is collapsed when at least this many directions are unseen, and at least one in
/// [`COLLAPSE_SHARE`].
const COLLAPSE_UNSEEN: usize = 10;
const COLLAPSE_SHARE: usize = 50;

/// The form of the target; see the module's table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    Collapsed { k: f64 },
    Direction { away: f64 },
    Flat { precision: f64 },
}

/// The target in coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) form: Form,
    /// Merged comparisons by row of `returns`.
    pub(crate) pairs: Vec<Pair>,
    /// The inverse temperature times the compared feature sums, in the coordinates: `X`.
    pub(crate) returns: Matrix,
    /// The directions of weight space along which the coordinates run, as columns.
    pub(crate) basis: Matrix,
    pub(crate) centre: Vec<f64>,
    pub(crate) scale: Vec<f64>,
    /// The half-space `wall . x >= 0`.
    pub(crate) wall: Option<Vec<f64>>,
    /// Whether the coordinates were turned since the rest was computed from the problem.
    turned: bool,
}

/// Where the posterior is in `x`, and how wide along the columns of `rotation`.
struct Law {
    rotation: Matrix,
    centre: Vec<f64>,
    scale: Vec<f64>,
}

impl Law {
    /// In the direction form the length of `x` is free, with a standard deviation near
    /// `sqrt(1/2)` whatever the data say; the approximation took it for fixed. Puts that right,
    /// with `radius` for the length.
    fn release_radius(&mut self, radius: f64) -> Result<(), DecompositionError> {
        let length = self.centre.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length < 0.1 * radius {
            return Ok(());
        }
        self.centre.iter_mut().for_each(|v| *v *= radius / length);
        let d = self.centre.len();
        let out: Vec<f64> = self.centre.iter().map(|v| v / radius).collect();
        // Precision p = T P T + 2 out out', T = 1 - out out', P diagonal.
        let diagonal: Vec<f64> = self.scale.iter().map(|s| s.powi(-2)).collect();
        let p_out: Vec<f64> = (0..d).map(|i| diagonal[i] * out[i]).collect();
        let out_p_out: f64 = (0..d).map(|i| out[i] * p_out[i]).sum();
        let precision = Matrix::from_fn(d, d, |i, j| {
            let kept = if i == j { diagonal[i] } else { 0.0 };
            kept - out[i] * p_out[j] - p_out[i] * out[j] + (out_p_out + 2.0) * out[i] * out[j]
        });
        let (values, turn) = algebra::symmetric_eigen(&precision)?;
        self.rotation = algebra::product(&self.rotation, &turn);
        self.centre = algebra::transposed_times(&turn, &self.centre);
        self.scale = values.iter().map(|v| v.max(1e-12).powf(-0.5)).collect();
        Ok(())
    }
}

impl Frame {
    /// Chooses the form and the coordinates for a problem.
    pub(crate) fn new(problem: &Problem<'_>) -> Result<Self, DecompositionError> {
        let compared = Compared::new(problem);
        let k = problem.dim();
        let subspace = Subspace::new(&compared, problem.half_space())?;
        let dim = subspace.basis.cols();
        let unseen = k - dim;
        let collapse = unseen >= COLLAPSE_UNSEEN && unseen * COLLAPSE_SHARE >= k;
        let (form, basis, precision) = match problem.prior() {
            Prior::Gaussian { scale } => {
                let precision = scale.powi(-2);
                let form = Form::Flat { precision };
                (form, Some(subspace.basis), Precision::Fixed(precision))
            }
            Prior::Sphere | Prior::NonNegative { .. } if collapse => {
                let form = Form::Collapsed { k: k as f64 };
                (form, Some(subspace.basis), Precision::Sphere { k })
            }
            Prior::Sphere | Prior::NonNegative { .. } => {
                let away = away_from_origin(k);
                (Form::Direction { away }, None, Precision::Sphere { k })
            }
        };
        let seen = match &basis {
            Some(basis) => &algebra::product(&compared.features, basis),
            None => &compared.features,
        };
        let beta = problem.beta();
        let fit = match problem.half_space() {
            Some(row) => {
                let wall = match &basis {
                    Some(basis) => wall_normal(basis, row),
                    None => unit(row.to_vec()),
                };
                Approximation::fit_inside(&compared, seen, beta, precision, &wall)?
            }
            None => Approximation::fit(&compared, seen, beta, precision)?,
        };
        // From weights to x: the length that weights of the seen directions are divided by.
        let stretch = match form {
            Form::Collapsed { .. } => (fit.kappa / unseen as f64).sqrt(),
            Form::Direction { away } => (k as f64 + away).sqrt(),
            Form::Flat { .. } => 1.0,
        };
        let mut law = Law {
            centre: fit.centre.iter().map(|y| stretch * y).collect(),
            scale: fit.variance.iter().map(|v| stretch * v.sqrt()).collect(),
            rotation: fit.rotation,
        };
        if let Form::Direction { .. } = form {
            law.release_radius(stretch)?;
        }
        let basis = match basis {
            Some(basis) => algebra::product(&basis, &law.rotation),
            None => law.rotation,
        };
        Ok(Self::assemble(
            problem, compared, basis, law.centre, law.scale,
        ))
    }

    pub(crate) fn dim(&self) -> usize {
        self.centre.len()
    }

    /// Turns the coordinates: column `j` of `rotation` is the new direction `j`.
    fn rotate(&mut self, rotation: &Matrix) {
        self.turned = true;
        self.basis = algebra::product(&self.basis, rotation);
        self.returns = algebra::product(&self.returns, rotation);
        self.centre = algebra::transposed_times(rotation, &self.centre);
        if let Some(wall) = &mut self.wall {
            *wall = algebra::transposed_times(rotation, wall);
        }
    }

    /// The frame with these coordinates. Everything else follows from them and from the problem, to
    /// the last bit, so that they are all that has to be saved.
    pub(crate) fn restore(
        problem: &Problem<'_>,
        basis: Matrix,
        centre: Vec<f64>,
        scale: Vec<f64>,
    ) -> Self {
        Self::assemble(problem, Compared::new(problem), basis, centre, scale)
    }

    fn assemble(
        problem: &Problem<'_>,
        compared: Compared,
        basis: Matrix,
        centre: Vec<f64>,
        scale: Vec<f64>,
    ) -> Self {
        let k = problem.dim();
        let form = match problem.prior() {
            Prior::Gaussian { scale } => Form::Flat {
                precision: scale.powi(-2),
            },
            _ if basis.cols() < k => Form::Collapsed { k: k as f64 },
            _ => Form::Direction {
                away: away_from_origin(k),
            },
        };
        let mut returns = algebra::product(&compared.features, &basis);
        let beta = problem.beta();
        returns.as_mut_slice().iter_mut().for_each(|v| *v *= beta);
        Self {
            form,
            pairs: compared.pairs,
            returns,
            wall: problem.half_space().map(|row| wall_normal(&basis, row)),
            basis,
            centre,
            scale,
            turned: false,
        }
    }

    /// Computes what follows from the coordinates again if they were turned since, so that
    /// [`Self::restore`] gives the same; says whether it had to.
    pub(crate) fn anchor(&mut self, problem: &Problem<'_>) -> bool {
        let turned = self.turned;
        if turned {
            let take = std::mem::take;
            let basis = std::mem::replace(&mut self.basis, Matrix::zeros(0, 0));
            *self = Self::restore(
                problem,
                basis,
                take(&mut self.centre),
                take(&mut self.scale),
            );
        }
        turned
    }

    /// Moves the centre to the mean of draws (in `u`) and stretches each coordinate to their
    /// variance.
    pub(crate) fn rescale(&mut self, mean: &[f64], variance: &[f64]) {
        for i in 0..self.dim() {
            self.centre[i] += self.scale[i] * mean[i];
            self.scale[i] *= variance[i].sqrt();
        }
    }

    /// Moves to the coordinates in which draws with this mean and covariance (in `u`) are standard;
    /// gives the rotation that was applied to `x`.
    pub(crate) fn adapt(
        &mut self,
        mean: &[f64],
        covariance: &Matrix,
    ) -> Result<Matrix, DecompositionError> {
        let d = self.dim();
        for i in 0..d {
            self.centre[i] += self.scale[i] * mean[i];
        }
        let scaled = Matrix::from_fn(d, d, |i, j| {
            self.scale[i] * covariance.row(i)[j] * self.scale[j]
        });
        let (values, rotation) = algebra::symmetric_eigen(&scaled)?;
        let largest = values.last().copied().unwrap_or(1.0);
        self.rotate(&rotation);
        self.scale = values
            .iter()
            .map(|v| v.max(1e-12 * largest).sqrt())
            .collect();
        Ok(rotation)
    }
}

/// The unit normal of the half-space `row . w >= 0`, in the coordinates of the basis.
fn wall_normal(basis: &Matrix, row: &[f64]) -> Vec<f64> {
    unit(algebra::transposed_times(basis, row))
}

fn unit(mut vector: Vec<f64>) -> Vec<f64> {
    let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|v| *v /= length);
    vector
}

/// The exponent that keeps the direction form away from the origin. With one weight the origin has
/// to be crossed: it is the only way from -1 to 1.
fn away_from_origin(k: usize) -> f64 {
    if k == 1 { 0.0 } else { 12.0 }
}
