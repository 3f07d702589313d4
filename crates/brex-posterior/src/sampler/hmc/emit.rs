//! From coordinates back to weights.
//!
//! The seen part of the weights is known; the unseen part is independent of the data: a uniform
//! direction of the right length on the sphere, normal under the Gaussian prior. It is made from
//! normal numbers in all `k` dimensions less their projection on the seen directions.

use super::frame::{Form, Frame};
use super::kernel::Kernel;
use crate::lanes::{LaneRandom, Lanes, Packed, keep_lanes};
use crate::problem::step_inside;
use crate::sampler::scalar::dot;

/// How the unseen directions are filled.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unseen {
    /// There are none.
    None,
    /// Whatever length is missing to 1.
    Sphere,
    /// Normal with this standard deviation.
    Normal(f32),
}

/// Turns positions into weights.
#[derive(Debug, Clone)]
pub(crate) struct Emitter {
    basis: Packed,
    transposed: Packed,
    unseen: Unseen,
    normalise: bool,
    /// Feature sums whose return may not be negative, and how close to 0 it is worth a look.
    half_space: Option<(Vec<f64>, f64)>,
}

/// Scratch space of one group.
#[derive(Debug, Clone)]
pub(crate) struct EmitWork<const L: usize> {
    /// The position on the allowed side of the wall.
    inside: Vec<Lanes<L>>,
    seen: Vec<Lanes<L>>,
    normal: Vec<Lanes<L>>,
    projected: Vec<Lanes<L>>,
    weights: Vec<Lanes<L>>,
    /// What makes the weights of each lane exactly as long as they should be.
    correction: [f64; L],
}

impl Emitter {
    pub(crate) fn new(frame: &Frame, half_space: Option<&[f64]>) -> Self {
        let (k, d) = (frame.basis.rows(), frame.basis.cols());
        let unseen = match frame.form {
            _ if k == d => Unseen::None,
            Form::Collapsed { .. } | Form::Direction { .. } => Unseen::Sphere,
            Form::Flat { precision } => Unseen::Normal(precision.powf(-0.5) as f32),
        };
        Self {
            basis: Packed::from_fn(k, d, |i, j| frame.basis.row(i)[j] as f32),
            transposed: Packed::from_fn(d, k, |i, j| frame.basis.row(j)[i] as f32),
            unseen,
            normalise: !matches!(frame.form, Form::Flat { .. }),
            half_space: half_space.map(|row| (row.to_vec(), 1e-6 * dot(row, row).sqrt())),
        }
    }

    pub(crate) fn work<const L: usize>(&self) -> EmitWork<L> {
        let lanes = |count| vec![Lanes::ZERO; count];
        let (k, d) = (self.basis.rows(), self.basis.cols());
        EmitWork {
            inside: lanes(d),
            seen: lanes(d),
            normal: lanes(k),
            projected: lanes(d),
            weights: lanes(k),
            correction: [1.0; L],
        }
    }

    /// Computes the weights at `position`; [`Self::copy_lane`] reads them.
    #[inline(always)]
    pub(crate) fn emit<const L: usize>(
        &self,
        kernel: &Kernel,
        position: &[Lanes<L>],
        random: &mut LaneRandom<L>,
        work: &mut EmitWork<L>,
    ) {
        work.inside.copy_from_slice(position);
        kernel.fold(&mut work.inside);
        let h = kernel.seen_weights(&work.inside, &mut work.seen);
        match self.unseen {
            Unseen::None => self.basis.times(&work.seen, |_| 0.0, &mut work.weights),
            // |x|^2 h^2 + h^2 = 1: the unseen part has length h.
            Unseen::Sphere => self.fill_unseen(h, random, work),
            Unseen::Normal(scale) => self.fill_unseen(Lanes::splat(scale), random, work),
        }
        if self.normalise {
            for (correction, square) in work.correction.iter_mut().zip(squares(&work.weights)) {
                let length = square.sqrt();
                debug_assert!((length - 1.0).abs() < 1e-5, "length {length}");
                *correction = 1.0 / length;
            }
        }
    }

    /// Adds what the data do not see, of the given length on the sphere or of the given standard
    /// deviation, to what they do.
    #[inline(always)]
    fn fill_unseen<const L: usize>(
        &self,
        length: Lanes<L>,
        random: &mut LaneRandom<L>,
        work: &mut EmitWork<L>,
    ) {
        random.fill_normal(&mut work.normal);
        self.transposed
            .times(&work.normal, |_| 0.0, &mut work.projected);
        let mut factor = length;
        if self.unseen == Unseen::Sphere {
            // The projection takes away squares in the seen directions only; at least a fiftieth
            // of the directions are unseen here, so the difference keeps five digits and more.
            let (all, seen) = (squares(&work.normal), squares(&work.projected));
            for (factor, (all, seen)) in factor.0.iter_mut().zip(all.into_iter().zip(seen)) {
                *factor = (f64::from(*factor) / (all - seen).sqrt()) as f32;
            }
        }
        for (seen, p) in work.seen.iter_mut().zip(&work.projected) {
            *seen = *seen - factor * *p;
            keep_lanes();
        }
        self.basis.times(&work.seen, |_| 0.0, &mut work.weights);
        for (w, n) in work.weights.iter_mut().zip(&work.normal) {
            *w = factor.mul_add(*n, *w);
            keep_lanes();
        }
    }

    /// Copies the weights of one lane, with length exactly 1 and inside the half-space where the
    /// prior says so.
    #[inline(always)]
    pub(crate) fn copy_lane<const L: usize>(
        &self,
        work: &EmitWork<L>,
        lane: usize,
        out: &mut [f64],
    ) {
        let correction = work.correction[lane];
        for (out, w) in out.iter_mut().zip(&work.weights) {
            *out = f64::from(w.0[lane]) * correction;
        }
        // Only draws within rounding of the boundary can be outside.
        if let Some((row, margin)) = &self.half_space
            && dot(row, out) < *margin
        {
            step_inside(out, row, self.normalise);
        }
    }
}

/// The sum of squares in each lane.
#[inline(always)]
fn squares<const L: usize>(vector: &[Lanes<L>]) -> [f64; L] {
    let mut sums = [0.0_f64; L];
    for v in vector {
        for (sum, v) in sums.iter_mut().zip(v.0) {
            *sum = f64::from(v).mul_add(f64::from(v), *sum);
        }
        keep_lanes();
    }
    sums
}
