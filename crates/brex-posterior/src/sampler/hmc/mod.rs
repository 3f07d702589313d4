//! The default sampler: Hamiltonian Monte Carlo, many chains at once.
//!
//! - [`frame`]: coordinates in which the posterior is nearly standard normal, with the directions
//!   that the data do not see integrated out where that is valid;
//! - [`kernel`]: force and value of the target for many chains in SIMD lanes;
//! - [`trajectory`]: the motion and its acceptance;
//! - [`warmup`]: adapting step and coordinates;
//! - [`emit`]: from coordinates back to weights.
//!
//! Chains come in groups of 8 or 16 lanes; groups run on different threads.

mod emit;
mod frame;
mod kernel;
mod trajectory;
mod warmup;

use super::{ChainBlock, Chains, Progress, SampleError, Sampler, Stage, Watch};
use crate::Problem;
use crate::lanes::{LaneRandom, Lanes, Task, dispatch};
use brex_core::{SavedState, StateArray, stream};
use emit::{EmitWork, Emitter};
use frame::{Form, Frame};
use kernel::Kernel;
use rayon::prelude::*;
use trajectory::Group;
use warmup::{AngleTuner, Moments};

/// Hamiltonian Monte Carlo in adapted coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hmc {
    /// How often the coordinates are adapted to the draws seen so far.
    pub rounds: usize,
}

impl Default for Hmc {
    fn default() -> Self {
        Self { rounds: 2 }
    }
}

/// Trajectories that bring a group from its start to the posterior.
const SETTLE: usize = 60;
/// Trajectories that tune the angle in the final coordinates.
const FINAL_TUNING: usize = 60;

impl Sampler for Hmc {
    fn name(&self) -> &'static str {
        "hmc"
    }

    fn default_chains(&self) -> usize {
        16
    }

    fn default_draws(&self) -> (usize, usize) {
        (125, 20_000)
    }

    fn start<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Box<dyn Chains + 'p>, SampleError> {
        if chains <= 8 {
            Ok(Box::new(HmcChains::<8>::start(
                self, problem, chains, seed, watch,
            )?))
        } else {
            Ok(Box::new(HmcChains::<16>::start(
                self, problem, chains, seed, watch,
            )?))
        }
    }

    fn resume<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        state: &SavedState,
    ) -> Result<Box<dyn Chains + 'p>, SampleError> {
        if chains <= 8 {
            Ok(Box::new(HmcChains::<8>::resume(problem, chains, state)?))
        } else {
            Ok(Box::new(HmcChains::<16>::resume(problem, chains, state)?))
        }
    }
}

/// All groups of chains, with the target they share.
struct HmcChains<const L: usize> {
    frame: Frame,
    kernel: Kernel,
    emitter: Emitter,
    angle: f32,
    groups: Vec<(Group<L>, EmitWork<L>)>,
}

impl<const L: usize> HmcChains<L> {
    fn start(
        hmc: &Hmc,
        problem: &Problem<'_>,
        chains: usize,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Self, SampleError> {
        let tell = |stage, done, total| {
            let progress = Progress { stage, done, total };
            match watch(&progress) {
                std::ops::ControlFlow::Continue(()) => Ok(()),
                std::ops::ControlFlow::Break(()) => Err(SampleError::Stopped),
            }
        };
        tell(Stage::SetUp, 0, None)?;
        let mut frame = Frame::new(problem)?;
        let mut kernel = Kernel::new(&frame);
        let dim = frame.dim();
        let diagonal = dim > 400;
        let steps = if diagonal { 30 } else { 60 + dim };
        let total = SETTLE + hmc.rounds * steps + FINAL_TUNING;
        let mut done = 0;
        let random = |group| LaneRandom::new(&mut stream(seed, "hmc", group));
        let mut pilot = start_group(&frame, &kernel, random(0));
        let mut angle = if dim == 0 {
            1.0
        } else {
            (dim as f64).powf(-0.25).min(0.5)
        };
        let mut settle = |pilot: &mut Group<L>,
                          kernel: &Kernel,
                          angle: &mut f64,
                          steps: usize,
                          moments: Option<&mut Moments>| {
            tell(Stage::WarmUp, done, Some(total))?;
            let mut tuner = AngleTuner::new(*angle);
            warmup::tune(kernel, pilot, &mut tuner, steps, moments);
            *angle = f64::from(tuner.settled());
            done += steps;
            Ok::<(), SampleError>(())
        };
        settle(&mut pilot, &kernel, &mut angle, SETTLE, None)?;
        for _ in 0..hmc.rounds {
            let mut moments = Moments::new(dim, diagonal);
            settle(&mut pilot, &kernel, &mut angle, steps, Some(&mut moments))?;
            warmup::adapt(&mut frame, &moments, &mut pilot)?;
            kernel = Kernel::new(&frame);
            pilot.refresh(&kernel);
        }
        frame.anchor(problem);
        kernel = Kernel::new(&frame);
        pilot.refresh(&kernel);
        settle(&mut pilot, &kernel, &mut angle, FINAL_TUNING, None)?;
        let angle = angle as f32;
        let emitter = Emitter::new(&frame);
        let rest: Vec<Group<L>> = (1..chains.div_ceil(L))
            .into_par_iter()
            .map(|index| {
                let mut group = start_group(&frame, &kernel, random(index as u64));
                group.steps(&kernel, angle, SETTLE);
                group
            })
            .collect();
        let groups = std::iter::once(pilot)
            .chain(rest)
            .map(|group| (group, emitter.work()))
            .collect();
        Ok(Self {
            frame,
            kernel,
            emitter,
            angle,
            groups,
        })
    }

    fn resume(
        problem: &Problem<'_>,
        chains: usize,
        state: &SavedState,
    ) -> Result<Self, SampleError> {
        let wrong = |what: &str| SampleError::State(what.to_owned());
        let floats = |name: &str| match state.arrays.get(name) {
            Some(StateArray::F64(values)) => Ok(values.clone()),
            _ => Err(wrong(&format!("no array {name:?}"))),
        };
        let mut frame = Frame::new(problem)?;
        let dim = frame.dim();
        frame.centre = floats("centre")?;
        frame.scale = floats("scale")?;
        let basis = floats("basis")?;
        frame.basis = brex_core::Matrix::new(problem.dim(), dim, basis)
            .map_err(|error| SampleError::State(format!("basis: {error}")))?;
        if frame.centre.len() != dim || frame.scale.len() != dim {
            return Err(wrong("another number of coordinates"));
        }
        frame.anchor(problem);
        let kernel = Kernel::new(&frame);
        let emitter = Emitter::new(&frame);
        let angle = *floats("angle")?.first().ok_or_else(|| wrong("no angle"))? as f32;
        let Some(StateArray::F32(positions)) = state.arrays.get("positions") else {
            return Err(wrong("no array \"positions\""));
        };
        let Some(StateArray::U64(words)) = state.arrays.get("random") else {
            return Err(wrong("no array \"random\""));
        };
        let count = chains.div_ceil(L);
        if positions.len() != count * dim * L || words.len() != count * 4 * L {
            return Err(wrong("another number of chains"));
        }
        let groups = (0..count)
            .map(|index| {
                let random = LaneRandom::from_words(&words[index * 4 * L..][..4 * L])
                    .ok_or_else(|| wrong("random words out of range"))?;
                let position = (0..dim)
                    .map(|i| {
                        let at = (index * dim + i) * L;
                        Lanes(std::array::from_fn(|lane| positions[at + lane]))
                    })
                    .collect();
                let mut group = Group::new(&kernel, random, position);
                group.refresh(&kernel);
                Ok((group, emitter.work()))
            })
            .collect::<Result<_, SampleError>>()?;
        Ok(Self {
            frame,
            kernel,
            emitter,
            angle,
            groups,
        })
    }
}

/// A group at dispersed starting points: twice as wide as the approximation, or drawn from the
/// prior where the dimensions are so few that the posterior may be far from normal.
fn start_group<const L: usize>(
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
    Group::new(kernel, random, position)
}

impl<const L: usize> Chains for HmcChains<L> {
    fn advance(&mut self, blocks: &mut [ChainBlock<'_>]) {
        let (kernel, emitter, angle) = (&self.kernel, &self.emitter, self.angle);
        self.groups
            .par_iter_mut()
            .zip(blocks.par_chunks_mut(L))
            .for_each(|((group, work), blocks)| {
                dispatch(Advance {
                    kernel,
                    emitter,
                    angle,
                    group,
                    work,
                    blocks,
                });
            });
    }

    fn save(&self) -> SavedState {
        let mut state = SavedState::default();
        let mut put = |name: &str, array| state.arrays.insert(name.to_owned(), array);
        put("centre", StateArray::F64(self.frame.centre.clone()));
        put("scale", StateArray::F64(self.frame.scale.clone()));
        put(
            "basis",
            StateArray::F64(self.frame.basis.as_slice().to_vec()),
        );
        put("angle", StateArray::F64(vec![f64::from(self.angle)]));
        let positions = self.groups.iter().flat_map(|(group, _)| &group.position);
        put(
            "positions",
            StateArray::F32(positions.flat_map(|u| u.0).collect()),
        );
        let words = self
            .groups
            .iter()
            .flat_map(|(group, _)| group.random.words());
        put("random", StateArray::U64(words.collect()));
        state
    }
}

/// One draw of every chain of the group after another, until the blocks are full.
struct Advance<'a, 'b, const L: usize> {
    kernel: &'a Kernel,
    emitter: &'a Emitter,
    angle: f32,
    group: &'a mut Group<L>,
    work: &'a mut EmitWork<L>,
    blocks: &'a mut [ChainBlock<'b>],
}

impl<const L: usize> Task for Advance<'_, '_, L> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self {
            kernel,
            group,
            work,
            blocks,
            ..
        } = self;
        let draws = blocks[0].log_likelihood.len();
        let k = blocks[0].weights.len() / draws.max(1);
        for draw in 0..draws {
            let outcome = group.step(kernel, self.angle);
            self.emitter
                .emit(kernel, &group.position, &mut group.random, work);
            for (lane, block) in blocks.iter_mut().enumerate() {
                let weights = &mut block.weights[draw * k..][..k];
                self.emitter.copy_lane(work, lane, weights);
                block.log_likelihood[draw] = group.log_likelihood[lane];
                block.acceptance[draw] = outcome.acceptance[lane];
                block.diverging[draw] = outcome.diverging[lane];
            }
        }
    }
}
