//! Adapting the step and the coordinates to the posterior.
//!
//! One pilot group tunes the angle between kicks by dual averaging (Hoffman and Gelman 2014) on the
//! mean acceptance of its chains, and estimates the covariance of the coordinates, from which new
//! coordinates are made. What it found serves all groups.

use super::frame::{Form, Frame};
use super::kernel::Kernel;
use super::moments::Moments;
use super::trajectory::{Group, Outcome};
use crate::algebra::{self, DecompositionError};
use crate::lanes::{LaneRandom, Lanes};
use crate::{Problem, SampleError};
use brex_core::Matrix;

/// Acceptance to aim at. Kicks are cheap beside what surrounds a trajectory, so it is high: on the
/// benchmark problems S and M, 0.9 gave more effective draws a second than 0.7, 0.8 or 0.95.
const TARGET_ACCEPTANCE: f64 = 0.9;

/// The largest angle between kicks: more than a whole trajectory.
const LARGEST_ANGLE: f64 = 2.0;

/// Where the tuning starts.
const FIRST_ANGLE: f64 = 0.5;

/// Dual averaging of the logarithm of the angle.
#[derive(Debug, Clone)]
pub(crate) struct AngleTuner {
    shrink_to: f64,
    count: f64,
    error: f64,
    log_angle: f64,
    log_average: f64,
}

impl AngleTuner {
    pub(crate) fn new(angle: f64) -> Self {
        Self {
            shrink_to: (2.0 * angle).ln(),
            count: 0.0,
            error: 0.0,
            log_angle: angle.ln(),
            log_average: angle.ln(),
        }
    }

    pub(crate) fn angle(&self) -> f32 {
        self.log_angle.exp() as f32
    }

    /// The average over the tuning: what to use afterwards.
    pub(crate) fn settled(&self) -> f32 {
        self.log_average.exp() as f32
    }

    pub(crate) fn update(&mut self, acceptance: f64) {
        const DELAY: f64 = 5.0;
        const GAIN: f64 = 0.1;
        self.count += 1.0;
        let share = 1.0 / (self.count + DELAY);
        self.error = (1.0 - share) * self.error + share * (TARGET_ACCEPTANCE - acceptance);
        self.log_angle = self.shrink_to - self.count.sqrt() / GAIN * self.error;
        self.log_angle = self.log_angle.clamp(-12.0, LARGEST_ANGLE.ln());
        let weight = self.count.powf(-0.75);
        self.log_average = weight * self.log_angle + (1.0 - weight) * self.log_average;
    }
}

/// Moves the frame to the estimated coordinates and the group's positions with it.
pub(crate) fn adapt<const L: usize>(
    frame: &mut Frame,
    moments: &Moments,
    group: &mut Group<L>,
) -> Result<(), DecompositionError> {
    let dim = frame.dim();
    let x = Matrix::from_fn(dim, L, |i, lane| {
        frame.centre[i] + frame.scale[i] * f64::from(group.position[i].0[lane])
    });
    let x = if moments.is_diagonal() {
        frame.rescale(&moments.mean(), &moments.variances());
        x
    } else {
        let rotation = frame.adapt(&moments.mean(), &moments.covariances())?;
        algebra::transposed_product(&rotation, &x)
    };
    for (i, u) in group.position.iter_mut().enumerate() {
        for (lane, u) in u.0.iter_mut().enumerate() {
            *u = ((x.row(i)[lane] - frame.centre[i]) / frame.scale[i]) as f32;
        }
    }
    Ok(())
}

/// Above this many dimensions the draws of a warm-up cannot improve on the rotation of the
/// coordinates, only on their scale; and as the first coordinates come from many comparisons then,
/// a short warm-up is enough.
const MANY_DIMENSIONS: usize = 400;

/// How many trajectories each part of the warm-up takes.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    /// Bringing a group from its start to the posterior.
    settle: usize,
    /// Estimating the covariance, so often.
    estimate: usize,
    rounds: usize,
    /// Tuning the angle in the final coordinates.
    tune: usize,
}

impl Schedule {
    fn new(dim: usize, rounds: usize) -> Self {
        if dim > MANY_DIMENSIONS {
            Self {
                settle: 25,
                estimate: 25,
                rounds: rounds.min(1),
                tune: 25,
            }
        } else {
            Self {
                settle: 50,
                estimate: 50 + dim / 2,
                rounds: if dim > 50 { rounds.min(1) } else { rounds },
                tune: 50,
            }
        }
    }

    fn total(&self) -> usize {
        self.settle + self.rounds * self.estimate + self.tune
    }
}

/// The group that warms up for all.
pub(crate) struct Pilot<const L: usize> {
    pub(crate) frame: Frame,
    pub(crate) kernel: Kernel,
    pub(crate) group: Group<L>,
    schedule: Schedule,
    rescue: Rescue<L>,
    angle: f64,
    done: usize,
}

impl<const L: usize> Pilot<L> {
    pub(crate) fn new(frame: Frame, random: LaneRandom<L>, rounds: usize) -> Self {
        let kernel = Kernel::new(&frame);
        let group = start_group(&frame, &kernel, random);
        let dim = frame.dim();
        Self {
            schedule: Schedule::new(dim, rounds),
            angle: FIRST_ANGLE,
            rescue: Rescue::default(),
            done: 0,
            frame,
            kernel,
            group,
        }
    }

    /// Tunes the angle and adapts the coordinates; `tell` hears of it and may stop it.
    pub(crate) fn warm_up(
        &mut self,
        problem: &Problem<'_>,
        tell: impl Fn(usize, usize) -> Result<(), SampleError>,
    ) -> Result<(), SampleError> {
        let schedule = self.schedule;
        let dim = self.frame.dim();
        self.tune(schedule.settle, None, &tell)?;
        gather(&self.kernel, &mut self.group);
        for _ in 0..schedule.rounds {
            let mut moments = Moments::new(dim, dim > MANY_DIMENSIONS);
            self.tune(schedule.estimate, Some(&mut moments), &tell)?;
            // The mirror of the old coordinates is not that of the new ones.
            self.kernel.fold(&mut self.group.position);
            adapt(&mut self.frame, &moments, &mut self.group)?;
            self.compile();
        }
        if self.frame.anchor(problem) {
            self.compile();
        }
        self.tune(schedule.tune, None, &tell)
    }

    /// The angle between kicks that was found.
    pub(crate) fn angle(&self) -> f32 {
        self.angle as f32
    }

    /// A further group, brought to the posterior with what was found.
    pub(crate) fn further_group(&self, random: LaneRandom<L>) -> Group<L> {
        let mut group = start_group(&self.frame, &self.kernel, random);
        let mut rescue = Rescue::default();
        for _ in 0..self.schedule.settle {
            let outcome = group.step_once(&self.kernel, self.angle());
            rescue.watch(&self.kernel, &mut group, &outcome);
        }
        gather(&self.kernel, &mut group);
        group
    }

    fn compile(&mut self) {
        self.kernel = Kernel::new(&self.frame);
        self.group.refresh(&self.kernel);
    }

    fn tune(
        &mut self,
        steps: usize,
        mut moments: Option<&mut Moments>,
        tell: &impl Fn(usize, usize) -> Result<(), SampleError>,
    ) -> Result<(), SampleError> {
        let mut tuner = AngleTuner::new(self.angle);
        for _ in 0..steps {
            tell(self.done, self.schedule.total())?;
            let outcome = self.group.step_once(&self.kernel, tuner.angle());
            let mean = outcome.acceptance.iter().sum::<f32>() / L as f32;
            tuner.update(f64::from(mean));
            self.rescue.watch(&self.kernel, &mut self.group, &outcome);
            if let Some(moments) = &mut moments {
                let mut inside = self.group.position.clone();
                self.kernel.fold(&mut inside);
                moments.add(&inside);
            }
            self.done += 1;
        }
        self.angle = f64::from(tuner.settled());
        Ok(())
    }
}

/// Frees chains that started where every trajectory fails: after a few failures in a row, the chain
/// is pulled half-way to the centre. Only while warming up.
struct Rescue<const L: usize> {
    failures: [u32; L],
}

impl<const L: usize> Default for Rescue<L> {
    fn default() -> Self {
        Self { failures: [0; L] }
    }
}

impl<const L: usize> Rescue<L> {
    fn watch(&mut self, kernel: &Kernel, group: &mut Group<L>, outcome: &Outcome<L>) {
        const PATIENCE: u32 = 3;
        let mut pulled = false;
        for lane in 0..L {
            let failed = outcome.acceptance[lane] < 0.01;
            self.failures[lane] = if failed { self.failures[lane] + 1 } else { 0 };
            if self.failures[lane] >= PATIENCE {
                self.failures[lane] = 0;
                pulled = true;
                for u in &mut group.position {
                    u.0[lane] *= 0.5;
                }
            }
        }
        if pulled {
            group.refresh(kernel);
        }
    }
}

/// Moves chains that are caught where the posterior is negligible to where the others are: behind a
/// wall, say, or at the far end of the sphere. What is left behind has less than `e^-25` of the
/// density elsewhere, and less still in more dimensions.
fn gather<const L: usize>(kernel: &Kernel, group: &mut Group<L>) {
    let density = group.log_density();
    let best = density.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let limit = best - 25.0 - 5.0 * kernel.dim() as f64;
    let healthy: Vec<usize> = (0..L).filter(|lane| density[*lane] >= limit).collect();
    if healthy.len() == L || healthy.is_empty() {
        return;
    }
    for lane in (0..L).filter(|lane| !healthy.contains(lane)) {
        let from = healthy[lane % healthy.len()];
        for u in &mut group.position {
            u.0[lane] = u.0[from];
        }
    }
    group.refresh(kernel);
}

/// A group at dispersed starting points: twice as wide as the approximation, or drawn from the
/// prior where the dimensions are so few that the posterior may be far from normal.
pub(crate) fn start_group<const L: usize>(
    frame: &Frame,
    kernel: &Kernel,
    mut random: LaneRandom<L>,
) -> Group<L> {
    let dim = frame.dim();
    let mut position = vec![Lanes::ZERO; dim];
    random.fill_normal(&mut position);
    match frame.form {
        Form::Direction { away } if dim <= 4 => {
            for lane in 0..L {
                let square: f32 = position.iter().map(|u| u.0[lane].powi(2)).sum();
                let stretch = ((dim as f64 + away).sqrt() / f64::from(square.sqrt())) as f32;
                for (i, u) in position.iter_mut().enumerate() {
                    let x = f64::from(stretch * u.0[lane]);
                    u.0[lane] = ((x - frame.centre[i]) / frame.scale[i]) as f32;
                }
            }
        }
        _ => position.iter_mut().for_each(|u| *u = u.scale(2.0)),
    }
    kernel.fold(&mut position);
    Group::new(kernel, random, position)
}
