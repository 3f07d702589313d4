//! The target in single precision, packed for many chains in lanes: its force and its value.
//!
//! Forces need one exponential per trajectory, not one per comparison: the probability that `j`
//! beats `i` is `e_j / (e_i + e_j)` with `e = exp(R)`. Where returns spread too far for single
//! precision, each comparison gets its own exponential. Rounding in a force cannot bias the draws:
//! any force that depends on the position alone leaves Hamiltonian Monte Carlo exact, because the
//! acceptance test uses the value.

use super::frame::{Form, Frame};
use crate::lanes::{Lanes, Packed, exp, keep_lanes, ln, sqrt};
use crate::likelihood::Pair;

/// Half of the largest spread of returns for which `exp` is taken per trajectory.
const HALF_SPREAD: f32 = 40.0;

/// Comparisons of one trajectory with later ones.
#[derive(Debug, Clone, Copy)]
struct Edge {
    partner: u32,
    /// The weight for the partner, and the whole weight.
    for_partner: f32,
    total: f32,
}

impl Edge {
    /// Adds this comparison's force to both returns, given the probability that the partner wins.
    #[inline(always)]
    fn push<const L: usize>(&self, wins: Lanes<L>, own: &mut Lanes<L>, partner: &mut Lanes<L>) {
        let force = wins.scale_add(-self.total, Lanes::splat(self.for_partner));
        *partner = *partner + force;
        *own = *own - force;
    }
}

impl Edge {
    /// Adds `|g|` times the weight of the answers that `g` contradicts.
    #[inline(always)]
    fn lost<const L: usize>(&self, g: Lanes<L>, sum: Lanes<L>) -> Lanes<L> {
        let against = g.map(|g| (-g).max(0.0)).scale_add(self.for_partner, sum);
        g.map(|g| g.max(0.0))
            .scale_add(self.total - self.for_partner, against)
    }
}

/// Takes the sum of one row from the total, in double precision.
#[inline(always)]
fn subtract<const L: usize>(total: &mut [f64; L], sum: Lanes<L>) {
    for (total, sum) in total.iter_mut().zip(sum.0) {
        *total -= f64::from(sum);
    }
}

/// A frame, compiled.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    form: Form,
    /// `X diag(scale)`, and its transpose.
    forward: Packed,
    backward: Packed,
    /// `X centre`.
    base: Vec<f32>,
    centre: Vec<f32>,
    scale: Vec<f32>,
    /// The unit normal of the wall in `u`, and how far inside the centre is.
    wall: Option<(Vec<f32>, f32)>,
    starts: Vec<usize>,
    edges: Vec<Edge>,
    /// The total weight of a comparison, if all have the same.
    total: Option<f32>,
    /// In the direction form without a wall, how the answers lean along each coordinate: the sum
    /// over comparisons of (weight for j - weight for i) (X_j - X_i).
    lean: Option<Vec<f32>>,
}

/// Scratch space of one group of chains.
#[derive(Debug, Clone)]
pub(crate) struct Work<const L: usize> {
    /// `u` inside the wall.
    inside: Vec<Lanes<L>>,
    returns: Vec<Lanes<L>>,
    exponentials: Vec<Lanes<L>>,
    by_return: Vec<Lanes<L>>,
    /// Whether the exponentials are those of the returns.
    has_exponentials: bool,
    /// How far outside the wall `u` was: 0 or negative.
    outside: Lanes<L>,
    /// `x . x`, and `h`.
    square: Lanes<L>,
    h: Lanes<L>,
}

impl Kernel {
    pub(crate) fn new(frame: &Frame) -> Self {
        let (rows, d) = (frame.returns.rows(), frame.dim());
        let entry = |i: usize, j: usize| (frame.returns.row(i)[j] * frame.scale[j]) as f32;
        let base = crate::algebra::times(&frame.returns, &frame.centre);
        let mut starts = vec![0; rows + 1];
        for pair in &frame.pairs {
            starts[pair.i + 1] += 1;
        }
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        let wall = frame.wall.as_ref().map(|wall| {
            let normal: Vec<f64> = wall.iter().zip(&frame.scale).map(|(w, s)| w * s).collect();
            let length = normal.iter().map(|v| v * v).sum::<f64>().sqrt();
            let depth: f64 = wall.iter().zip(&frame.centre).map(|(w, c)| w * c).sum();
            let normal = normal.iter().map(|v| (v / length) as f32).collect();
            (normal, (depth / length) as f32)
        });
        let total = frame.pairs.first().map(Pair::total);
        let total = total.filter(|total| frame.pairs.iter().all(|p| p.total() == *total));
        let can_turn = matches!(frame.form, Form::Direction { .. }) && frame.wall.is_none();
        let lean = can_turn.then(|| {
            let mut net = vec![0.0; rows];
            for pair in &frame.pairs {
                net[pair.j] += pair.for_j - pair.for_i;
                net[pair.i] -= pair.for_j - pair.for_i;
            }
            let lean = crate::algebra::transposed_times(&frame.returns, &net);
            lean.iter().map(|v| *v as f32).collect()
        });
        Self {
            form: frame.form,
            lean,
            total: total.map(|total| total as f32),
            forward: Packed::from_fn(rows, d, entry),
            backward: Packed::from_fn(d, rows, |i, j| entry(j, i)),
            base: base.iter().map(|v| *v as f32).collect(),
            centre: frame.centre.iter().map(|v| *v as f32).collect(),
            scale: frame.scale.iter().map(|v| *v as f32).collect(),
            wall,
            starts,
            edges: frame
                .pairs
                .iter()
                .map(|pair| Edge {
                    partner: pair.j as u32,
                    for_partner: pair.for_j as f32,
                    total: pair.total() as f32,
                })
                .collect(),
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.centre.len()
    }

    pub(crate) fn work<const L: usize>(&self) -> Work<L> {
        let lanes = |count| vec![Lanes::ZERO; count];
        let rows = self.base.len();
        Work {
            inside: lanes(self.dim()),
            returns: lanes(rows),
            exponentials: lanes(rows),
            by_return: lanes(rows),
            has_exponentials: false,
            outside: Lanes::ZERO,
            square: Lanes::ZERO,
            h: Lanes::ZERO,
        }
    }

    /// An estimate of the rounding error of [`Self::values`]: that of a return in single precision,
    /// times how much the comparisons make of it.
    pub(crate) fn rounding_error(&self) -> f32 {
        let largest = self.base.iter().fold(0.0_f32, |a, b| a.max(b.abs()));
        let weight: f32 = self.edges.iter().map(|edge| edge.total * edge.total).sum();
        f32::EPSILON * largest * weight.sqrt()
    }

    /// Puts `u` on the allowed side of the wall by mirroring; gives the depth before.
    #[inline(always)]
    pub(crate) fn fold<const L: usize>(&self, u: &mut [Lanes<L>]) -> Lanes<L> {
        let Some((normal, depth)) = &self.wall else {
            return Lanes::ZERO;
        };
        let mut along = Lanes::splat(*depth);
        for (u, n) in u.iter().zip(normal) {
            along = u.scale_add(*n, along);
            keep_lanes();
        }
        let outside = along.map(|a| a.min(0.0));
        for (u, n) in u.iter_mut().zip(normal) {
            *u = outside.scale_add(-2.0 * n, *u);
            keep_lanes();
        }
        outside
    }

    /// How much the log likelihood changes from `u` to the opposite weights, where that is a move
    /// worth offering: in the direction form without a wall. As `log sigma(g) - log sigma(-g) = g`,
    /// it is linear in the returns.
    #[inline(always)]
    pub(crate) fn opposite<const L: usize>(&self, u: &[Lanes<L>]) -> Option<Lanes<L>> {
        let lean = self.lean.as_ref()?;
        let (mut along, mut square) = (Lanes::ZERO, Lanes::ZERO);
        for (((u, c), s), lean) in u.iter().zip(&self.centre).zip(&self.scale).zip(lean) {
            let x = u.scale_add(*s, Lanes::splat(*c));
            along = x.scale_add(*lean, along);
            square = x.mul_add(x, square);
            keep_lanes();
        }
        Some(-along / sqrt(square.map(|x2| x2.max(1e-30))))
    }

    /// Changes the sign of `x` in the chosen lanes.
    #[inline(always)]
    pub(crate) fn turn_round<const L: usize>(&self, u: &mut [Lanes<L>], chosen: &[bool; L]) {
        for ((u, c), s) in u.iter_mut().zip(&self.centre).zip(&self.scale) {
            for lane in 0..L {
                if chosen[lane] {
                    u.0[lane] = -u.0[lane] - 2.0 * c / s;
                }
            }
        }
    }

    /// Computes the returns at `u`, mirrored to the allowed side.
    #[inline(always)]
    fn prepare<const L: usize>(&self, u: &[Lanes<L>], work: &mut Work<L>) {
        work.inside.copy_from_slice(u);
        work.outside = self.fold(&mut work.inside);
        let mut square = Lanes::ZERO;
        for ((u, c), s) in work.inside.iter().zip(&self.centre).zip(&self.scale) {
            let x = u.scale_add(*s, Lanes::splat(*c));
            square = x.mul_add(x, square);
            keep_lanes();
        }
        work.square = square;
        work.h = match self.form {
            Form::Collapsed { .. } => square.map(|x2| 1.0 / (1.0 + x2).sqrt()),
            Form::Direction { .. } => square.map(|x2| 1.0 / x2.max(1e-30).sqrt()),
            Form::Flat { .. } => Lanes::splat(1.0),
        };
        self.forward
            .times(&work.inside, |i| self.base[i], &mut work.returns);
        for value in &mut work.returns {
            *value = *value * work.h;
            keep_lanes();
        }
    }

    /// The force at `u`: the gradient of the log density, plus `u`, because the motion under the
    /// standard normal law is solved exactly.
    #[inline(always)]
    pub(crate) fn residual_force<const L: usize>(
        &self,
        u: &[Lanes<L>],
        work: &mut Work<L>,
        force: &mut [Lanes<L>],
    ) {
        self.prepare(u, work);
        self.force_on_returns(work);
        self.backward.times(&work.by_return, |_| 0.0, force);
        // The pull towards the origin of x, from the prior and from h.
        let pull = match self.form {
            Form::Flat { precision } => Lanes::splat(precision as f32),
            Form::Collapsed { k } => self.bend(work).map(|g| g + k as f32) * work.h * work.h,
            Form::Direction { away } => {
                let h2 = work.h * work.h;
                self.bend(work)
                    .map(|g| g - away as f32)
                    .mul_add(h2, Lanes::splat(1.0))
            }
        };
        let position = work.inside.iter().zip(&self.centre).zip(&self.scale);
        for (force, ((inside, c), s)) in force.iter_mut().zip(position) {
            let x = inside.scale_add(*s, Lanes::splat(*c));
            *force = work.h.mul_add(*force, -(pull * x).scale(*s));
            keep_lanes();
        }
        if let Some((normal, _)) = &self.wall {
            self.mirror(work.outside, normal, force);
        }
        for (force, u) in force.iter_mut().zip(u) {
            *force = *force + *u;
            keep_lanes();
        }
    }

    /// `sum of force * return`: how the likelihood answers to a common scale of the returns.
    #[inline(always)]
    fn bend<const L: usize>(&self, work: &Work<L>) -> Lanes<L> {
        let mut sum = Lanes::ZERO;
        for (force, value) in work.by_return.iter().zip(&work.returns) {
            sum = force.mul_add(*value, sum);
            keep_lanes();
        }
        sum
    }

    /// Mirrors the vector in the lanes that were outside the wall.
    #[inline(always)]
    fn mirror<const L: usize>(&self, outside: Lanes<L>, normal: &[f32], vector: &mut [Lanes<L>]) {
        let mut along = Lanes::ZERO;
        for (v, n) in vector.iter().zip(normal) {
            along = v.scale_add(*n, along);
            keep_lanes();
        }
        let along = along.zip(outside, |a, out| if out < 0.0 { a } else { 0.0 });
        for (v, n) in vector.iter_mut().zip(normal) {
            *v = along.scale_add(-2.0 * n, *v);
            keep_lanes();
        }
    }

    /// The derivative of the log likelihood by each return.
    #[inline(always)]
    fn force_on_returns<const L: usize>(&self, work: &mut Work<L>) {
        let mut low = Lanes::splat(f32::INFINITY);
        let mut high = Lanes::splat(f32::NEG_INFINITY);
        for value in &work.returns {
            low = low.zip(*value, f32::min);
            high = high.zip(*value, f32::max);
            keep_lanes();
        }
        let middle = (low + high).scale(0.5);
        let near = low
            .0
            .iter()
            .zip(high.0)
            .all(|(low, high)| high - low < 2.0 * HALF_SPREAD);
        for value in &mut work.by_return {
            *value = Lanes::ZERO;
            keep_lanes();
        }
        work.has_exponentials = near;
        if near {
            for (out, value) in work.exponentials.iter_mut().zip(&work.returns) {
                *out = exp(*value - middle);
                keep_lanes();
            }
            let e = &work.exponentials;
            for i in 0..self.base.len() {
                let mut sum = work.by_return[i];
                for edge in &self.edges[self.starts[i]..self.starts[i + 1]] {
                    let j = edge.partner as usize;
                    edge.push(e[j] / (e[i] + e[j]), &mut sum, &mut work.by_return[j]);
                }
                work.by_return[i] = sum;
            }
        } else {
            for i in 0..self.base.len() {
                let mut sum = work.by_return[i];
                for edge in &self.edges[self.starts[i]..self.starts[i + 1]] {
                    let j = edge.partner as usize;
                    let e = exp(work.returns[i] - work.returns[j]);
                    let wins = Lanes::splat(1.0) / (Lanes::splat(1.0) + e);
                    edge.push(wins, &mut sum, &mut work.by_return[j]);
                }
                work.by_return[i] = sum;
            }
        }
    }

    /// The log likelihood and the log prior at the position of the last force.
    #[inline(always)]
    pub(crate) fn values<const L: usize>(&self, work: &Work<L>) -> ([f64; L], [f64; L]) {
        let likelihood = match self.total {
            Some(total) if work.has_exponentials => self.likelihood_by_products(total, work),
            _ => self.likelihood_by_logarithms(work),
        };
        let logarithm = match self.form {
            Form::Collapsed { .. } => ln(work.square.map(|x2| 1.0 + x2)),
            Form::Direction { .. } => ln(work.square.map(|x2| x2.max(1e-30))),
            Form::Flat { .. } => Lanes::ZERO,
        };
        let mut prior = [0.0; L];
        for lane in 0..L {
            let square = f64::from(work.square.0[lane]);
            let logarithm = f64::from(logarithm.0[lane]);
            prior[lane] = match self.form {
                Form::Collapsed { k } => -0.5 * k * logarithm,
                Form::Direction { away } => 0.5 * (away * logarithm - square),
                Form::Flat { precision } => -0.5 * precision * square,
            };
        }
        (likelihood, prior)
    }

    /// The log likelihood: `-sum of total log(1 + e^-|g|) + lost |g|`, where `lost` is the weight of
    /// the answers that `g` contradicts.
    #[inline(always)]
    fn likelihood_by_logarithms<const L: usize>(&self, work: &Work<L>) -> [f64; L] {
        let mut likelihood = [0.0_f64; L];
        for i in 0..self.base.len() {
            let mut sum = Lanes::<L>::ZERO;
            for edge in &self.edges[self.starts[i]..self.starts[i + 1]] {
                let g = work.returns[edge.partner as usize] - work.returns[i];
                let soft = ln(exp(-g.map(f32::abs)).map(|e| 1.0 + e));
                sum = soft.scale_add(edge.total, edge.lost(g, sum));
            }
            subtract(&mut likelihood, sum);
        }
        likelihood
    }

    /// The same where all comparisons weigh `total`: the factors `1 + e^-|g|`, which the force's
    /// exponentials give, are multiplied up and one logarithm is taken of many.
    #[inline(always)]
    fn likelihood_by_products<const L: usize>(&self, total: f32, work: &Work<L>) -> [f64; L] {
        /// Each factor is at most 2, so that many stay below the largest number.
        const FACTORS: usize = 100;
        let mut likelihood = [0.0_f64; L];
        let e = &work.exponentials;
        for i in 0..self.base.len() {
            let mut sum = Lanes::<L>::ZERO;
            for part in self.edges[self.starts[i]..self.starts[i + 1]].chunks(FACTORS) {
                let mut product = Lanes::splat(1.0);
                for edge in part {
                    let j = edge.partner as usize;
                    let larger = e[i].zip(e[j], f32::max);
                    product = product * ((e[i] + e[j]) / larger);
                    sum = edge.lost(work.returns[j] - work.returns[i], sum);
                }
                sum = ln(product).scale_add(total, sum);
            }
            subtract(&mut likelihood, sum);
        }
        likelihood
    }

    /// The seen part of the weights in the frame's basis, `h x`, at a position inside the wall;
    /// gives `h`.
    #[inline(always)]
    pub(crate) fn seen_weights<const L: usize>(
        &self,
        u: &[Lanes<L>],
        out: &mut [Lanes<L>],
    ) -> Lanes<L> {
        let mut square = Lanes::ZERO;
        for (((out, u), c), s) in out.iter_mut().zip(u).zip(&self.centre).zip(&self.scale) {
            *out = u.scale_add(*s, Lanes::splat(*c));
            square = out.mul_add(*out, square);
            keep_lanes();
        }
        let h = match self.form {
            Form::Collapsed { .. } => sqrt(square.map(|x2| 1.0 / (1.0 + x2))),
            Form::Direction { .. } => sqrt(square.map(|x2| 1.0 / x2.max(1e-30))),
            Form::Flat { .. } => Lanes::splat(1.0),
        };
        for out in out.iter_mut() {
            *out = *out * h;
            keep_lanes();
        }
        h
    }
}
