//! From coordinates back to weights.
//!
//! The seen part of the weights is known; the unseen part is independent of the data: a uniform
//! direction of the right length on the sphere, normal under the Gaussian prior. It is made from
//! normal numbers in all `k` dimensions less their projection on the seen directions.

use super::frame::{Form, Frame};
use super::kernel::Kernel;
use crate::lanes::{LaneRandom, Lanes, Packed};
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
        }
    }

    /// Computes the weights at `position`; [`EmitWork::copy_lane`] reads them.
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
        let length = match self.unseen {
            Unseen::None => {
                self.basis.times(&work.seen, |_| 0.0, &mut work.weights);
                return;
            }
            // |x|^2 h^2 + h^2 = 1: the unseen part has length h.
            Unseen::Sphere => h,
            Unseen::Normal(scale) => Lanes::splat(scale),
        };
        random.fill_normal(&mut work.normal);
        self.transposed
            .times(&work.normal, |_| 0.0, &mut work.projected);
        let mut factor = length;
        if self.unseen == Unseen::Sphere {
            // The projection takes away squares in the seen directions only; at least a fiftieth
            // of the directions are unseen here, so the difference keeps five digits and more.
            let mut rest = [0.0_f64; L];
            for n in &work.normal {
                for (rest, n) in rest.iter_mut().zip(n.0) {
                    *rest += f64::from(n) * f64::from(n);
                }
            }
            for p in &work.projected {
                for (rest, p) in rest.iter_mut().zip(p.0) {
                    *rest -= f64::from(p) * f64::from(p);
                }
            }
            for (factor, rest) in factor.0.iter_mut().zip(rest) {
                *factor = (f64::from(*factor) / rest.sqrt()) as f32;
            }
        }
        for (seen, p) in work.seen.iter_mut().zip(&work.projected) {
            *seen = *seen - factor * *p;
        }
        self.basis.times(&work.seen, |_| 0.0, &mut work.weights);
        for (w, n) in work.weights.iter_mut().zip(&work.normal) {
            *w = factor.mul_add(*n, *w);
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
        for (out, w) in out.iter_mut().zip(&work.weights) {
            *out = f64::from(w.0[lane]);
        }
        if self.normalise {
            let mut sums = [0.0; 8];
            for chunk in out.chunks(8) {
                for (sum, w) in sums.iter_mut().zip(chunk) {
                    *sum += w * w;
                }
            }
            let length = sums.iter().sum::<f64>().sqrt();
            debug_assert!((length - 1.0).abs() < 1e-5, "length {length}");
            let factor = 1.0 / length;
            out.iter_mut().for_each(|w| *w *= factor);
        }
        // Only draws within rounding of the boundary can be outside.
        if let Some((row, margin)) = &self.half_space
            && dot(row, out) < *margin
        {
            step_inside(out, row, self.normalise);
        }
    }
}
