//! Many environments stepped together.
//!
//! An episode that ends is followed by the next one at once: the observation that is given is the
//! first of the new episode, and the last of the old one is kept beside it. Each environment draws
//! the seeds of its episodes from its own stream, so nothing depends on the number of threads.

use crate::environment::{EnvError, Environment, Spec, Step};
use brex_core::{Stream, stream};
use rand::Rng;
use rayon::prelude::*;

/// What one environment did in a step.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorStep {
    /// What the action led to.
    pub step: Step,
    /// The episode that ended with this step, if one did.
    pub ended: Option<EndedEpisode>,
}

/// An episode that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedEpisode {
    /// The seed it was begun with.
    pub seed: u64,
    /// Its steps.
    pub length: usize,
    /// Its score.
    pub score: f64,
    /// The last observation.
    pub observation: Vec<u8>,
}

/// Several environments of one kind.
pub struct VectorEnv {
    slots: Vec<Slot>,
    spec: Spec,
    /// Fewer environments than this in a piece of work are not worth a thread.
    fewest: usize,
}

struct Slot {
    env: Box<dyn Environment>,
    seeds: Stream,
    seed: u64,
    length: usize,
}

impl Slot {
    fn begin(&mut self, observation: &mut [u8]) -> Result<(), EnvError> {
        self.seed = self.seeds.next_u64();
        self.length = 0;
        self.env.reset(self.seed, observation).map(|_| ())
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<VectorStep, EnvError> {
        let step = self.env.step(action, observation)?;
        self.length += 1;
        let mut ended = None;
        if step.terminated || step.truncated {
            ended = Some(EndedEpisode {
                seed: self.seed,
                length: self.length,
                score: step.info.score,
                observation: observation.to_vec(),
            });
            self.begin(observation)?;
        }
        Ok(VectorStep { step, ended })
    }
}

impl VectorEnv {
    /// Environments made by `make`, all of one kind.
    pub fn new(
        count: usize,
        seed: u64,
        make: impl Fn() -> Result<Box<dyn Environment>, EnvError>,
    ) -> Result<Self, EnvError> {
        let slots = (0..count.max(1) as u64)
            .map(|index| {
                Ok(Slot {
                    env: make()?,
                    seeds: stream(seed, "episodes", index),
                    seed: 0,
                    length: 0,
                })
            })
            .collect::<Result<Vec<Slot>, EnvError>>()?;
        let spec = slots[0].env.spec().clone();
        let fewest = slots[0].env.worth_a_thread();
        Ok(Self {
            slots,
            spec,
            fewest,
        })
    }

    /// What an agent sees and can do in each of them.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How many environments there are.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    fn check(&self, observations: &[u8]) -> Result<usize, EnvError> {
        let each = self.spec.observation_len();
        if observations.len() == each * self.slots.len() {
            return Ok(each);
        }
        Err(EnvError::Buffer {
            name: self.spec.name.to_owned(),
            found: observations.len(),
            expected: each * self.slots.len(),
        })
    }

    /// Begins an episode in every environment and writes the first observations, one after another.
    pub fn reset(&mut self, observations: &mut [u8]) -> Result<(), EnvError> {
        let each = self.check(observations)?;
        self.slots
            .par_iter_mut()
            .zip(observations.par_chunks_mut(each))
            .with_min_len(self.fewest)
            .try_for_each(|(slot, observation)| slot.begin(observation))
    }

    /// Does one action in every environment.
    ///
    /// # Panics
    /// If there is not one action for each.
    pub fn step(
        &mut self,
        actions: &[usize],
        observations: &mut [u8],
    ) -> Result<Vec<VectorStep>, EnvError> {
        assert_eq!(actions.len(), self.slots.len(), "one action each");
        let each = self.check(observations)?;
        self.slots
            .par_iter_mut()
            .zip(observations.par_chunks_mut(each))
            .zip(actions)
            .with_min_len(self.fewest)
            .map(|((slot, observation), action)| slot.step(*action, observation))
            .collect()
    }
}
