//! The posterior as a log density with a gradient, for samplers that know nothing else about it.
//!
//! `z` is standard normal in `k` dimensions; the weights are `z / |z|` (uniform on the sphere) or
//! `scale * z` (Gaussian prior). Written in double precision and apart from the library's own
//! likelihood, because it serves to check that one, and written for speed, because nuts-rs is
//! measured with it: one exponential per trajectory instead of one per comparison, one logarithm
//! for many comparisons, products that read four rows at a time, all compiled for the widest
//! vector instructions that the processor has.

use brex_core::{Matrix, Preferences};
use brex_posterior::Prior;
use std::sync::Arc;

/// Doubles in the widest vector register.
pub(crate) const LANES: usize = 8;
/// Comparisons that are worked on together.
const BLOCK: usize = 4 * LANES;
/// The widest spread of scaled returns for which a block's product cannot overflow.
const WIDEST_SPREAD: f64 = 100.0;
/// Products above this are turned into logarithms before they can overflow.
const LARGE: f64 = 1e120;

/// How weights follow from `z`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Weights {
    /// `z / |z|`.
    OnSphere,
    /// The given multiple of `z`.
    Scaled(f64),
}

impl Weights {
    /// How weights follow from `z` under a prior. A half-space is left out.
    pub(crate) fn under(prior: Prior) -> Self {
        match prior {
            Prior::Sphere | Prior::NonNegative { .. } => Self::OnSphere,
            Prior::Gaussian { scale } => Self::Scaled(scale),
        }
    }
}

/// The log density of `z` and room to work.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    dim: usize,
    /// Rows of features, with zeros behind them up to a whole number of vector registers.
    features: Arc<[f64]>,
    /// Pairs of (worse, better), in an order in which neighbours share no row.
    pairs: Arc<[(u32, u32)]>,
    beta: f64,
    weights: Weights,
    one_by_one: bool,
    position: Vec<f64>,
    pull: Vec<f64>,
    returns: Vec<f64>,
    forces: Vec<f64>,
    exponentials: Vec<(f64, f64)>,
}

impl Target {
    /// The posterior given strict preferences of weight 1.
    ///
    /// # Panics
    /// If a preference is not strict or has another weight.
    pub(crate) fn new(
        features: &Matrix,
        preferences: &Preferences,
        beta: f64,
        weights: Weights,
    ) -> Self {
        let (rows, dim) = (features.rows(), features.cols());
        let width = dim.next_multiple_of(LANES);
        let mut padded = vec![0.0; rows * width];
        for (out, row) in padded.chunks_exact_mut(width).zip(features.iter_rows()) {
            out[..dim].copy_from_slice(row);
        }
        let mut pairs: Vec<(u32, u32)> = preferences
            .items()
            .iter()
            .map(|item| {
                let strict = item.label == 0.0 || item.label == 1.0;
                assert!(strict && item.weight == 1.0, "only strict preferences");
                let (a, b) = (item.a as u32, item.b as u32);
                if item.label == 1.0 { (a, b) } else { (b, a) }
            })
            .collect();
        pairs.sort_unstable_by_key(|&(worse, better)| ((worse + better) % rows as u32, worse));
        Self {
            dim,
            features: padded.into(),
            pairs: pairs.into(),
            beta,
            weights,
            one_by_one: false,
            position: vec![0.0; width],
            pull: vec![0.0; width],
            returns: vec![0.0; rows],
            forces: vec![0.0; rows],
            exponentials: vec![(0.0, 0.0); rows],
        }
    }

    /// The same with a sigmoid and a logarithm for every comparison: how one would write it down.
    pub(crate) fn plain(self) -> Self {
        Self {
            one_by_one: true,
            ..self
        }
    }

    /// The number of features.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// The weights that belong to `z`.
    pub(crate) fn weights_of(&self, z: &[f64], out: &mut Vec<f64>) {
        let factor = match self.weights {
            Weights::OnSphere => 1.0 / z.iter().map(|z| z * z).sum::<f64>().sqrt(),
            Weights::Scaled(scale) => scale,
        };
        out.extend(z.iter().map(|z| factor * z));
    }

    /// The log density at `z` and its gradient.
    pub(crate) fn evaluate(&mut self, z: &[f64], gradient: &mut [f64]) -> f64 {
        pulp::Arch::new().dispatch(Evaluate {
            target: self,
            z,
            gradient,
        })
    }
}

struct Evaluate<'a> {
    target: &'a mut Target,
    z: &'a [f64],
    gradient: &'a mut [f64],
}

impl pulp::WithSimd for Evaluate<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
        let Self {
            target,
            z,
            gradient,
        } = self;
        target.position[..z.len()].copy_from_slice(z);
        let square = dot(&target.position, &target.position);
        let factor = target.beta
            * match target.weights {
                Weights::OnSphere => 1.0 / square.sqrt(),
                Weights::Scaled(scale) => scale,
            };
        times(&target.features, &target.position, &mut target.returns);
        for value in &mut target.returns {
            *value *= factor;
        }
        let log_likelihood = target.compare();
        target.pull.fill(0.0);
        add_transposed_times(&target.features, &target.forces, &mut target.pull);
        let inward = match target.weights {
            Weights::OnSphere => 1.0 + dot(&target.forces, &target.returns) / square,
            Weights::Scaled(_) => 1.0,
        };
        for ((out, pull), z) in gradient.iter_mut().zip(&target.pull).zip(z) {
            *out = factor * pull - inward * z;
        }
        log_likelihood - 0.5 * square
    }
}

impl Target {
    /// The log likelihood of the scaled returns; fills the derivative by each of them.
    #[inline(always)]
    fn compare(&mut self) -> f64 {
        self.forces.fill(0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in &self.returns {
            low = low.min(*value);
            high = high.max(*value);
        }
        if self.one_by_one || high - low > WIDEST_SPREAD {
            return self.compare_one_by_one();
        }
        let middle = 0.5 * (low + high);
        for (out, value) in self.exponentials.iter_mut().zip(&self.returns) {
            let e = (value - middle).exp();
            *out = (e, 1.0 / e);
        }
        let (mut product, mut sum) = ([1.0; LANES], 0.0);
        let blocks = self.pairs.chunks_exact(BLOCK);
        let rest = blocks.remainder();
        let (exponentials, forces) = (&self.exponentials, &mut self.forces);
        for block in blocks {
            let (mut worse, mut better, mut inverse) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
            for (at, &(low, high)) in block.iter().enumerate() {
                worse[at] = exponentials[low as usize].0;
                (better[at], inverse[at]) = exponentials[high as usize];
            }
            for at in 0..BLOCK {
                let both = worse[at] + better[at];
                product[at % LANES] *= both * inverse[at];
                worse[at] /= both;
            }
            for (at, &(low, high)) in block.iter().enumerate() {
                forces[high as usize] += worse[at];
                forces[low as usize] -= worse[at];
            }
            if product.iter().any(|value| *value > LARGE) {
                sum += product.iter().map(|value| value.ln()).sum::<f64>();
                product = [1.0; LANES];
            }
        }
        for &(low, high) in rest {
            let (worse, (better, inverse)) =
                (exponentials[low as usize].0, exponentials[high as usize]);
            let both = worse + better;
            sum += (both * inverse).ln();
            forces[high as usize] += worse / both;
            forces[low as usize] -= worse / both;
        }
        -sum - product.iter().map(|value| value.ln()).sum::<f64>()
    }

    /// The same, also for returns so far apart that their exponentials overflow.
    #[inline(always)]
    fn compare_one_by_one(&mut self) -> f64 {
        let mut sum = 0.0;
        for &(worse, better) in &*self.pairs {
            let gap = self.returns[better as usize] - self.returns[worse as usize];
            let e = (-gap.abs()).exp();
            sum += gap.min(0.0) - e.ln_1p();
            let wrong = if gap >= 0.0 { e } else { 1.0 } / (1.0 + e);
            self.forces[better as usize] += wrong;
            self.forces[worse as usize] -= wrong;
        }
        sum
    }
}

/// A dot product in interleaved parts.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4 * LANES];
    let (a_parts, b_parts) = (a.chunks_exact(4 * LANES), b.chunks_exact(4 * LANES));
    let (a_rest, b_rest) = (a_parts.remainder(), b_parts.remainder());
    for (a, b) in a_parts.zip(b_parts) {
        for lane in 0..4 * LANES {
            sums[lane] = a[lane].mul_add(b[lane], sums[lane]);
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// `out = features * x`.
#[inline(always)]
pub(crate) fn times(features: &[f64], x: &[f64], out: &mut [f64]) {
    let width = x.len();
    let mut fours = features.chunks_exact(4 * width);
    let mut outs = out.chunks_exact_mut(4);
    for (rows, out) in (&mut fours).zip(&mut outs) {
        let mut sums = [[0.0; LANES]; 4];
        let (first, rest) = rows.split_at(width);
        let (second, rest) = rest.split_at(width);
        let (third, fourth) = rest.split_at(width);
        let rows = first
            .chunks_exact(LANES)
            .zip(second.chunks_exact(LANES))
            .zip(third.chunks_exact(LANES).zip(fourth.chunks_exact(LANES)))
            .zip(x.chunks_exact(LANES));
        for (((a, b), (c, d)), x) in rows {
            for lane in 0..LANES {
                sums[0][lane] = a[lane].mul_add(x[lane], sums[0][lane]);
                sums[1][lane] = b[lane].mul_add(x[lane], sums[1][lane]);
                sums[2][lane] = c[lane].mul_add(x[lane], sums[2][lane]);
                sums[3][lane] = d[lane].mul_add(x[lane], sums[3][lane]);
            }
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            *out = sums.iter().sum();
        }
    }
    for (row, out) in fours
        .remainder()
        .chunks_exact(width)
        .zip(outs.into_remainder())
    {
        *out = dot(row, x);
    }
}

/// `out += features' * y`.
#[inline(always)]
pub(crate) fn add_transposed_times(features: &[f64], y: &[f64], out: &mut [f64]) {
    let width = out.len();
    let fours = features.chunks_exact(4 * width);
    let ys = y.chunks_exact(4);
    for (row, y) in fours.remainder().chunks_exact(width).zip(ys.remainder()) {
        for (out, value) in out.iter_mut().zip(row) {
            *out = y.mul_add(*value, *out);
        }
    }
    for (rows, y) in fours.zip(ys) {
        let (first, rest) = rows.split_at(width);
        let (second, rest) = rest.split_at(width);
        let (third, fourth) = rest.split_at(width);
        let rows = first.iter().zip(second).zip(third.iter().zip(fourth));
        for (out, ((a, b), (c, d))) in out.iter_mut().zip(rows) {
            *out = y[0].mul_add(
                *a,
                y[1].mul_add(*b, y[2].mul_add(*c, y[3].mul_add(*d, *out))),
            );
        }
    }
}
