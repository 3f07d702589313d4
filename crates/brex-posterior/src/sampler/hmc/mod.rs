//! The default sampler: Hamiltonian Monte Carlo, many chains at once.
//!
//! - [`frame`]: coordinates in which the posterior is nearly standard normal, with the directions
//!   that the data do not see integrated out where that is valid;
//! - [`kernel`]: force and value of the target for many chains in SIMD lanes;
//! - [`trajectory`]: the motion and its acceptance;
//! - [`warmup`]: adapting step and coordinates, with [`moments`];
//! - [`emit`]: from coordinates back to weights.
//!
//! Chains come in groups of 8 or 16 lanes; groups run on different threads.

mod emit;
mod frame;
mod kernel;
mod moments;
mod trajectory;
mod warmup;

use super::{ChainBlock, Chains, Progress, SampleError, Sampler, Stage, Watch};
use crate::Problem;
use crate::lanes::{LaneRandom, Lanes, Task, dispatch};
use brex_core::{SavedState, StateArray, stream};
use emit::{EmitWork, Emitter};
use frame::Frame;
use kernel::Kernel;
use rayon::prelude::*;
use std::ops::ControlFlow;
use trajectory::Group;
use warmup::Pilot;

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

impl Sampler for Hmc {
    fn name(&self) -> &'static str {
        "hmc"
    }

    fn default_chains(&self) -> usize {
        16
    }

    /// Two groups for many draws, so that two threads can share them.
    fn chains_for(&self, draws: usize) -> usize {
        if draws >= 16_000 { 32 } else { 16 }
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
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(SampleError::Stopped),
            }
        };
        tell(Stage::SetUp, 0, None)?;
        let random = |group| LaneRandom::new(&mut stream(seed, "hmc", group));
        let mut pilot = Pilot::new(Frame::new(problem)?, random(0), hmc.rounds);
        pilot.warm_up(problem, |done, total| {
            tell(Stage::WarmUp, done, Some(total))
        })?;
        let rest: Vec<Group<L>> = (1..chains.div_ceil(L) as u64)
            .into_par_iter()
            .map(|index| pilot.further_group(random(index)))
            .collect();
        let angle = pilot.angle();
        let Pilot {
            frame,
            kernel,
            group: pilot,
            ..
        } = pilot;
        let emitter = Emitter::new(&frame, problem.half_space());
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
        let (centre, scale) = (floats("centre")?, floats("scale")?);
        let dim = centre.len();
        let basis = brex_core::Matrix::new(problem.dim(), dim, floats("basis")?)
            .map_err(|error| SampleError::State(format!("basis: {error}")))?;
        if scale.len() != dim || dim > problem.dim() {
            return Err(wrong("another number of coordinates"));
        }
        let frame = Frame::restore(problem, basis, centre, scale);
        let kernel = Kernel::new(&frame);
        let emitter = Emitter::new(&frame, problem.half_space());
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
                Ok((Group::new(&kernel, random, position), emitter.work()))
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

    fn log_likelihood_is_rough(&self) -> bool {
        self.kernel.rounding_error() > 0.01
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
