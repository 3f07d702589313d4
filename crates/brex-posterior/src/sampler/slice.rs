//! Elliptical slice sampling (Murray, Adams and MacKay 2010): an independent check.
//!
//! With `z` normal in `k` dimensions and `w = z / |z|` (on the sphere) or `w = scale * z` (Gaussian
//! prior), a new point is sought on the ellipse through `z` and a fresh normal `v`, where the
//! likelihood is above a random level. Returns along the ellipse combine the returns of `z` and of
//! `v`, so a proposal costs one product with the features, and every further point on the ellipse
//! almost nothing. A half-space is a likelihood of zero beyond it. No tuning, always exact, slow in
//! many dimensions.

use super::scalar::{self, ScalarTarget};
use super::{Chains, SampleError, Sampler, Watch};
use crate::{Prior, Problem};
use brex_core::{SavedState, Stream};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Steps before the first draw.
const WARM_UP: usize = 1000;

/// Elliptical slice sampling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EllipticalSlice;

impl Sampler for EllipticalSlice {
    fn name(&self) -> &'static str {
        "slice"
    }

    fn default_chains(&self) -> usize {
        8
    }

    fn default_draws(&self) -> (usize, usize) {
        (2000, 50_000)
    }

    fn start<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Box<dyn Chains + 'p>, SampleError> {
        let rule = SliceRule::new(problem);
        scalar::start(problem, rule, chains, seed, watch)
    }

    fn resume<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        state: &SavedState,
    ) -> Result<Box<dyn Chains + 'p>, SampleError> {
        scalar::resume(problem, SliceRule::new(problem), chains, state)
    }
}

/// How one chain moves.
#[derive(Debug, Clone, Copy)]
struct SliceRule {
    /// From `z` to weights under the Gaussian prior; on the sphere `z` is normalised.
    scale: Option<f64>,
}

impl SliceRule {
    fn new(problem: &Problem<'_>) -> Self {
        let scale = match problem.prior() {
            Prior::Gaussian { scale } => Some(scale),
            Prior::Sphere | Prior::NonNegative { .. } => None,
        };
        Self { scale }
    }

    /// The factor from `z` to weights.
    fn factor(&self, square: f64) -> f64 {
        self.scale.unwrap_or_else(|| 1.0 / square.sqrt())
    }
}

impl scalar::Rule for SliceRule {
    const PURPOSE: &'static str = "slice";
    type Scratch = Ellipse;

    fn warm_up(&self) -> usize {
        WARM_UP
    }

    fn steps_per_draw(&self) -> usize {
        1
    }

    fn start(&self, target: &ScalarTarget<'_>, random: &mut Stream) -> Vec<f64> {
        (0..target.dim())
            .map(|_| random.sample(StandardNormal))
            .collect()
    }

    fn scratch(&self, target: &mut ScalarTarget<'_>, z: &[f64]) -> Ellipse {
        let mut ellipse = Ellipse {
            returns: vec![0.0; target.rows()],
            other: vec![0.0; target.dim()],
            other_returns: vec![0.0; target.rows()],
            trial: vec![0.0; target.rows()],
            square: z.iter().map(|z| z * z).sum(),
            worst: target.worst(z),
            log_likelihood: 0.0,
        };
        target.returns(z, &mut ellipse.returns);
        let factor = self.factor(ellipse.square);
        ellipse.log_likelihood = target.scaled_log_likelihood(&ellipse.returns, factor);
        ellipse
    }

    fn log_likelihood(&self, ellipse: &Ellipse) -> f64 {
        ellipse.log_likelihood
    }

    fn weights(&self, z: &[f64], out: &mut [f64]) {
        let factor = self.factor(z.iter().map(|z| z * z).sum());
        for (out, z) in out.iter_mut().zip(z) {
            *out = factor * z;
        }
    }

    #[inline(always)]
    fn step(
        &self,
        target: &mut ScalarTarget<'_>,
        z: &mut [f64],
        at: &mut Ellipse,
        random: &mut Stream,
    ) -> f32 {
        for other in &mut at.other {
            *other = random.sample(StandardNormal);
        }
        target.returns(&at.other, &mut at.other_returns);
        let other_square: f64 = at.other.iter().map(|v| v * v).sum();
        let across: f64 = z.iter().zip(&at.other).map(|(z, v)| z * v).sum();
        let other_worst = target.worst(&at.other);
        let level = at.log_likelihood + (1.0 - random.random::<f64>()).ln();
        let mut angle = random.random::<f64>() * std::f64::consts::TAU;
        let (mut low, mut high) = (angle - std::f64::consts::TAU, angle);
        let mut tries = 0.0_f32;
        loop {
            tries += 1.0;
            let (sine, cosine) = angle.sin_cos();
            let square = cosine * cosine * at.square
                + 2.0 * cosine * sine * across
                + sine * sine * other_square;
            let worst = cosine * at.worst + sine * other_worst;
            if worst >= 0.0 {
                for ((out, a), b) in at.trial.iter_mut().zip(&at.returns).zip(&at.other_returns) {
                    *out = cosine * a + sine * b;
                }
                let value = target.scaled_log_likelihood(&at.trial, self.factor(square));
                if value > level {
                    for (z, v) in z.iter_mut().zip(&at.other) {
                        *z = cosine * *z + sine * v;
                    }
                    // From the new point itself and not from the ellipse: no rounding adds up, and
                    // a chain that is taken up again goes on exactly as it would have.
                    at.square = z.iter().map(|z| z * z).sum();
                    at.worst = target.worst(z);
                    target.returns(z, &mut at.returns);
                    let factor = self.factor(at.square);
                    at.log_likelihood = target.scaled_log_likelihood(&at.returns, factor);
                    return 1.0 / tries;
                }
            }
            if angle < 0.0 {
                low = angle;
            } else {
                high = angle;
            }
            // The bracket has shrunk to the current point: stay there.
            if high - low < 1e-12 {
                return 0.0;
            }
            angle = low + (high - low) * random.random::<f64>();
        }
    }
}

/// Where a chain is, and room for the ellipse through it.
#[derive(Debug, Clone)]
struct Ellipse {
    returns: Vec<f64>,
    other: Vec<f64>,
    other_returns: Vec<f64>,
    trial: Vec<f64>,
    square: f64,
    worst: f64,
    log_likelihood: f64,
}
