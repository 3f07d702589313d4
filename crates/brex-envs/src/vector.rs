//! Many environments stepped together.
//!
//! An episode that ends is followed by the next one at once: the observation that is given is the
//! first of the new episode, and the last of the old one is kept beside it. Each environment draws
//! the seeds of its episodes from its own stream, so nothing depends on the number of threads.

use crate::environment::{EnvError, Environment, Info, Spec, Step};
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
    episodes: u64,
    actions: Vec<u8>,
}

/// Where one environment stands: enough to bring another one there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// How many episodes were begun.
    pub episodes: u64,
    /// What was done in the running one.
    pub actions: Vec<u8>,
}

impl Slot {
    fn begin(&mut self, observation: &mut [u8]) -> Result<(), EnvError> {
        self.seed = self.seeds.next_u64();
        self.episodes += 1;
        self.actions.clear();
        self.env.reset(self.seed, observation).map(|_| ())
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<VectorStep, EnvError> {
        let step = self.env.step(action, observation)?;
        self.actions.push(action as u8);
        let mut ended = None;
        if step.terminated || step.truncated {
            ended = Some(EndedEpisode {
                seed: self.seed,
                length: self.actions.len(),
                score: step.info.score,
                observation: observation.to_vec(),
            });
            self.begin(observation)?;
        }
        Ok(VectorStep { step, ended })
    }

    /// Plays until `standing` is reached. Frames are not kept in it, because playing again is cheap
    /// and exact.
    fn restore(&mut self, standing: &Standing, observation: &mut [u8]) -> Result<Info, EnvError> {
        self.episodes = standing.episodes.saturating_sub(1);
        // Every episode took one seed of two words from the stream.
        self.seeds.set_word_pos(2 * u128::from(self.episodes));
        self.begin(observation)?;
        let mut info = Info::default();
        for action in &standing.actions {
            let played = self.step(usize::from(*action), observation)?;
            if played.ended.is_some() {
                return Err(EnvError::Standing {
                    name: self.env.spec().name.to_owned(),
                });
            }
            info = played.step.info;
        }
        Ok(info)
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
                    episodes: 0,
                    actions: Vec::new(),
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

    /// The size of one observation, if `observations` holds one for each environment.
    fn check(&self, observations: &[u8]) -> Result<usize, EnvError> {
        self.spec.check_buffer(observations, self.slots.len())?;
        Ok(self.spec.observation_len())
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

    /// Where every environment stands.
    pub fn standings(&self) -> Vec<Standing> {
        let slots = self.slots.iter();
        slots
            .map(|slot| Standing {
                episodes: slot.episodes,
                actions: slot.actions.clone(),
            })
            .collect()
    }

    /// Brings fresh environments to where others of the same seed stood, and writes what is seen
    /// there. What is true there is given too.
    ///
    /// # Panics
    /// If there is not one standing for each.
    pub fn restore(
        &mut self,
        standings: &[Standing],
        observations: &mut [u8],
    ) -> Result<Vec<Info>, EnvError> {
        assert_eq!(standings.len(), self.slots.len(), "one standing each");
        let each = self.check(observations)?;
        self.slots
            .par_iter_mut()
            .zip(observations.par_chunks_mut(each))
            .zip(standings)
            .map(|((slot, observation), standing)| slot.restore(standing, observation))
            .collect()
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
