//! One group of chains: a Hamiltonian trajectory and its acceptance, for all lanes at once.
//!
//! The motion is split in two: under the standard normal law it is a rotation of position and
//! momentum, solved exactly; what the target adds is given in kicks between rotations. Where the
//! coordinates fit the posterior well, the kicks are small and a quarter turn, which forgets the
//! starting point, takes few of them.
//!
//! A wall is handled by mirroring: the target is continued beyond it as in a mirror, the chain moves
//! freely on both sides, and only what it gives out is folded back. The chain itself must not be
//! folded, because the rotation is not about a point of the wall and so does not look the same from
//! the other side.

use super::kernel::{Kernel, Work};
use crate::lanes::{LaneRandom, Lanes, Task, dispatch, exp, keep_lanes, ln};

/// A trajectory whose energy error is larger than this diverged.
const DIVERGENCE: f32 = 1000.0;

/// The chains of one group.
#[derive(Debug, Clone)]
pub(crate) struct Group<const L: usize> {
    pub(crate) random: LaneRandom<L>,
    pub(crate) position: Vec<Lanes<L>>,
    pub(crate) log_likelihood: [f64; L],
    log_prior: [f64; L],
    force: Vec<Lanes<L>>,
    momentum: Vec<Lanes<L>>,
    trial: Vec<Lanes<L>>,
    trial_force: Vec<Lanes<L>>,
    work: Work<L>,
}

/// What one trajectory did in each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome<const L: usize> {
    /// The probability of acceptance.
    pub(crate) acceptance: [f32; L],
    pub(crate) diverging: [bool; L],
}

impl<const L: usize> Group<L> {
    /// A group at `position`.
    pub(crate) fn new(kernel: &Kernel, random: LaneRandom<L>, position: Vec<Lanes<L>>) -> Self {
        let lanes = || vec![Lanes::ZERO; kernel.dim()];
        let mut group = Self {
            random,
            position,
            log_likelihood: [0.0; L],
            log_prior: [0.0; L],
            force: lanes(),
            momentum: lanes(),
            trial: lanes(),
            trial_force: lanes(),
            work: kernel.work(),
        };
        group.refresh(kernel);
        group
    }

    /// Computes force and values at the position again, after the position or the kernel changed.
    pub(crate) fn refresh(&mut self, kernel: &Kernel) {
        dispatch(Refresh {
            kernel,
            group: self,
        });
    }

    /// Moves every chain by one trajectory.
    pub(crate) fn step_once(&mut self, kernel: &Kernel, angle: f32) -> Outcome<L> {
        dispatch(Step {
            kernel,
            group: self,
            angle,
        })
    }

    /// The log density of each chain's position.
    pub(crate) fn log_density(&self) -> [f64; L] {
        std::array::from_fn(|lane| self.log_likelihood[lane] + self.log_prior[lane])
    }

    /// Moves every chain by one trajectory of about a quarter turn, in kicks at most `angle` apart.
    #[inline(always)]
    pub(crate) fn step(&mut self, kernel: &Kernel, angle: f32) -> Outcome<L> {
        // From a quarter turn to half as much again: successive draws are slightly opposed, which
        // helps means and costs quantiles little. The length varies, so that no direction whose period fits
        // it is left out.
        let turn = (1.0 + 0.5 * self.random.uniform().0[0]) * std::f32::consts::FRAC_PI_2;
        let kicks = (turn / angle).ceil().clamp(1.0, 1024.0);
        let angle = turn / kicks;
        let (sine, cosine) = angle.sin_cos();
        self.random.fill_normal(&mut self.momentum);
        let mut before = [0.0; L];
        self.kinetic(&mut before);
        for (energy, value) in before
            .iter_mut()
            .zip(self.log_likelihood.iter().zip(self.log_prior))
        {
            *energy -= value.0 + value.1;
        }
        self.trial.copy_from_slice(&self.position);
        kick(&mut self.momentum, &self.force, 0.5 * angle);
        let kicks = kicks as usize;
        for kick_number in 1..=kicks {
            for (q, p) in self.trial.iter_mut().zip(&mut self.momentum) {
                let turned = p.scale_add(sine, q.scale(cosine));
                *p = q.scale_add(-sine, p.scale(cosine));
                *q = turned;
                keep_lanes();
            }
            kernel.residual_force(&self.trial, &mut self.work, &mut self.trial_force);
            let part = if kick_number == kicks { 0.5 } else { 1.0 };
            kick(&mut self.momentum, &self.trial_force, part * angle);
        }
        let (log_likelihood, log_prior) = kernel.values(&self.work);
        let mut after = [0.0; L];
        self.kinetic(&mut after);
        let outcome = self.accept(&before, &after, &log_likelihood, &log_prior);
        self.flip(kernel);
        outcome
    }

    /// Offers each chain the opposite weights. Ties and answers both ways can make them just as
    /// probable, with a valley between that no trajectory crosses. The prior is the same on both
    /// sides, so the likelihoods decide.
    #[inline(always)]
    fn flip(&mut self, kernel: &Kernel) {
        let Some(change) = kernel.opposite(&self.position) else {
            return;
        };
        let level = ln(self.random.uniform());
        let taken: [bool; L] = std::array::from_fn(|lane| level.0[lane] <= change.0[lane]);
        if taken.contains(&true) {
            kernel.turn_round(&mut self.position, &taken);
            kernel.residual_force(&self.position, &mut self.work, &mut self.force);
            (self.log_likelihood, self.log_prior) = kernel.values(&self.work);
        }
    }

    /// Half the squared momentum.
    #[inline(always)]
    fn kinetic(&self, out: &mut [f64; L]) {
        let mut sum = Lanes::ZERO;
        for p in &self.momentum {
            sum = p.mul_add(*p, sum);
            keep_lanes();
        }
        for (out, sum) in out.iter_mut().zip(sum.0) {
            *out = 0.5 * f64::from(sum);
        }
    }

    #[inline(always)]
    fn accept(
        &mut self,
        before: &[f64; L],
        after: &[f64; L],
        log_likelihood: &[f64; L],
        log_prior: &[f64; L],
    ) -> Outcome<L> {
        let uniform = self.random.uniform();
        let mut outcome = Outcome {
            acceptance: [0.0; L],
            diverging: [false; L],
        };
        let mut taken = [false; L];
        let mut change = Lanes::<L>::ZERO;
        for lane in 0..L {
            let now = after[lane] - log_likelihood[lane] - log_prior[lane];
            change.0[lane] = (before[lane] - now) as f32;
            outcome.diverging[lane] = change.0[lane].is_nan() || change.0[lane] <= -DIVERGENCE;
        }
        let probability = exp(change.map(|change| change.clamp(-80.0, 0.0)));
        for lane in 0..L {
            if !outcome.diverging[lane] {
                outcome.acceptance[lane] = probability.0[lane];
                taken[lane] = uniform.0[lane] <= probability.0[lane];
            }
            if taken[lane] {
                self.log_likelihood[lane] = log_likelihood[lane];
                self.log_prior[lane] = log_prior[lane];
            }
        }
        let pairs = self.position.iter_mut().zip(&self.trial);
        for ((q, new), (f, new_force)) in pairs.zip(self.force.iter_mut().zip(&self.trial_force)) {
            keep_lanes();
            for lane in 0..L {
                q.0[lane] = if taken[lane] { new.0[lane] } else { q.0[lane] };
                f.0[lane] = if taken[lane] {
                    new_force.0[lane]
                } else {
                    f.0[lane]
                };
            }
        }
        outcome
    }
}

#[inline(always)]
fn kick<const L: usize>(momentum: &mut [Lanes<L>], force: &[Lanes<L>], time: f32) {
    for (p, f) in momentum.iter_mut().zip(force) {
        *p = f.scale_add(time, *p);
        keep_lanes();
    }
}

struct Refresh<'a, const L: usize> {
    kernel: &'a Kernel,
    group: &'a mut Group<L>,
}

impl<const L: usize> Task for Refresh<'_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { kernel, group } = self;
        kernel.residual_force(&group.position, &mut group.work, &mut group.force);
        (group.log_likelihood, group.log_prior) = kernel.values(&group.work);
    }
}

struct Step<'a, const L: usize> {
    kernel: &'a Kernel,
    group: &'a mut Group<L>,
    angle: f32,
}

impl<const L: usize> Task for Step<'_, L> {
    type Output = Outcome<L>;
    #[inline(always)]
    fn run(self) -> Outcome<L> {
        self.group.step(self.kernel, self.angle)
    }
}
