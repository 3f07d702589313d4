//! Adapting the step and the coordinates to the posterior.
//!
//! One pilot group tunes the angle between kicks by dual averaging (Hoffman and Gelman 2014) on the
//! mean acceptance of its chains, and estimates the covariance of the coordinates, from which new
//! coordinates are made. What it found serves all groups.

use super::frame::Frame;
use super::kernel::Kernel;
use super::trajectory::Group;
use crate::DecompositionError;
use crate::lanes::Lanes;
use brex_core::Matrix;

/// Acceptance to aim at. Kicks are cheap beside what surrounds a trajectory, so it is high: on the
/// benchmark problems S and M, 0.9 gave more effective draws a second than 0.7, 0.8 or 0.95.
const TARGET_ACCEPTANCE: f64 = 0.9;

/// The largest angle between kicks: more than a whole trajectory.
const LARGEST_ANGLE: f64 = 2.0;

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

/// Sums for the mean and covariance of positions.
pub(crate) struct Moments {
    count: f64,
    sum: Vec<f64>,
    products: Matrix,
    diagonal_only: bool,
}

impl Moments {
    pub(crate) fn new(dim: usize, diagonal_only: bool) -> Self {
        let rows = if diagonal_only { 1 } else { dim };
        Self {
            count: 0.0,
            sum: vec![0.0; dim],
            products: Matrix::zeros(rows, dim),
            diagonal_only,
        }
    }

    pub(crate) fn add<const L: usize>(&mut self, position: &[Lanes<L>]) {
        self.count += L as f64;
        for (i, u) in position.iter().enumerate() {
            self.sum[i] += u.0.iter().map(|v| f64::from(*v)).sum::<f64>();
            if self.diagonal_only {
                let square: f64 = u.0.iter().map(|v| f64::from(*v).powi(2)).sum();
                self.products.row_mut(0)[i] += square;
            } else {
                let row = self.products.row_mut(i);
                for (product, other) in row.iter_mut().zip(&position[..=i]) {
                    let sum: f32 = u.0.iter().zip(other.0).map(|(a, b)| a * b).sum();
                    *product += f64::from(sum);
                }
            }
        }
    }

    /// The mean and the covariance, drawn towards the identity as if `dim * SHRINK` further draws
    /// had shown it.
    pub(crate) fn estimate(&self) -> (Vec<f64>, Matrix) {
        const SHRINK: f64 = 0.5;
        let dim = self.sum.len();
        let mean: Vec<f64> = self.sum.iter().map(|sum| sum / self.count).collect();
        let prior = if self.diagonal_only {
            10.0
        } else {
            SHRINK * dim as f64 + 5.0
        };
        let trust = self.count / (self.count + prior);
        let covariance = Matrix::from_fn(dim, dim, |i, j| {
            let identity = f64::from(u8::from(i == j));
            let product = match (self.diagonal_only, i == j) {
                (true, true) => self.products.row(0)[i],
                (true, false) => return 0.0,
                (false, _) => self.products.row(i.max(j))[i.min(j)],
            };
            let value = product / self.count - mean[i] * mean[j];
            trust * value + (1.0 - trust) * identity
        });
        (mean, covariance)
    }
}

/// Moves the frame to the estimated coordinates and the group's positions with it.
pub(crate) fn adapt<const L: usize>(
    frame: &mut Frame,
    moments: &Moments,
    group: &mut Group<L>,
) -> Result<(), DecompositionError> {
    let dim = frame.dim();
    let x: Vec<[f64; L]> = (0..dim)
        .map(|i| {
            std::array::from_fn(|lane| {
                frame.centre[i] + frame.scale[i] * f64::from(group.position[i].0[lane])
            })
        })
        .collect();
    let (mean, covariance) = moments.estimate();
    let rotation = frame.adapt(&mean, &covariance)?;
    for i in 0..dim {
        for lane in 0..L {
            let turned: f64 = (0..dim).map(|j| rotation.row(j)[i] * x[j][lane]).sum();
            group.position[i].0[lane] = ((turned - frame.centre[i]) / frame.scale[i]) as f32;
        }
    }
    Ok(())
}

/// Runs `steps` trajectories while tuning the angle, adding positions to `moments` if given.
pub(crate) fn tune<const L: usize>(
    kernel: &Kernel,
    group: &mut Group<L>,
    tuner: &mut AngleTuner,
    steps: usize,
    mut moments: Option<&mut Moments>,
) {
    for _ in 0..steps {
        let outcome = group.steps(kernel, tuner.angle(), 1);
        let mean = outcome.acceptance.iter().sum::<f32>() / L as f32;
        tuner.update(f64::from(mean));
        if let Some(moments) = &mut moments {
            moments.add(&group.position);
        }
    }
}
