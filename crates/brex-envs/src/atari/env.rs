//! An Atari game as an environment.
//!
//! As in the paper's experiments: up to 30 no-ops and FIRE at the beginning, four raw frames a step
//! with the brighter of the last two shown, no sticky actions, 84 x 84 grey pixels, the last four
//! frames with black ones before the first. Rewards are changes of the score, not clipped. A lost
//! life does not end the episode; who wants that sees it in [`Info::lives`].

use super::error::AtariError;
use super::games::{Game, PIXELS, STACK};
use super::picture::{SCREEN, Shrinker};
use super::protocol::{Outcome, Request};
use super::python::AtariPython;
use super::worker::Worker;
use crate::environment::{EnvError, Environment, Info, Spec, Step};
use crate::{GameRandom, Script};
use brex_core::stream;
use rand::RngExt;
use std::time::Duration;

/// An episode begins with one to this many no-ops.
const MOST_NOOPS: u8 = 30;

/// How Atari games are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtariOptions {
    /// The interpreter; found, or made, if none is given.
    pub python: Option<AtariPython>,
    /// A worker that does not answer for so long is killed.
    pub timeout: Duration,
}

impl Default for AtariOptions {
    fn default() -> Self {
        Self {
            python: None,
            timeout: Duration::from_secs(60),
        }
    }
}

/// A game that runs in a process of its own, which is started by the first reset.
pub(super) struct AtariEnv {
    game: &'static Game,
    spec: Spec,
    options: AtariOptions,
    worker: Option<Worker>,
    episode: Option<Episode>,
    screen: Vec<u8>,
    shrinker: Shrinker,
}

struct Episode {
    info: Info,
    steps: usize,
    /// Whether a life was lost with the last step.
    life_lost: bool,
    /// The last frames, the oldest first.
    frames: Vec<u8>,
}

impl AtariEnv {
    pub(super) fn new(game: &'static Game, options: AtariOptions) -> Self {
        Self {
            spec: game.spec(),
            game,
            options,
            worker: None,
            episode: None,
            screen: vec![0; SCREEN],
            shrinker: Shrinker::new(),
        }
    }

    /// Asks the worker, which is started if there is none. After a failure there is none.
    fn ask(&mut self, request: Request) -> Result<Outcome, AtariError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => self.start()?,
        };
        let outcome = worker.ask(request, &mut self.screen)?;
        self.worker = Some(worker);
        Ok(outcome)
    }

    fn start(&self) -> Result<Worker, AtariError> {
        let python = match &self.options.python {
            Some(python) => python.clone(),
            None => AtariPython::find_or_make(&mut |text| eprintln!("{text}"))?,
        };
        Worker::play(self.game, &python, self.options.timeout)
    }

    /// The process, for tests that harm it.
    #[cfg(test)]
    pub(super) fn worker_id(&self) -> Option<u32> {
        self.worker.as_ref().map(Worker::id)
    }
}

/// How many no-ops an episode begins with. The emulator itself needs no seed: without sticky
/// actions nothing in it is random.
pub(super) fn noops(seed: u64) -> u8 {
    stream(seed, "atari no-ops", 0).random_range(1..=MOST_NOOPS)
}

impl Environment for AtariEnv {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn reset(&mut self, seed: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
        self.spec.check_buffer(observation, 1)?;
        self.episode = None;
        let outcome = self.ask(Request::Reset(noops(seed)))?;
        let mut frames = vec![0; STACK * PIXELS];
        frames[(STACK - 1) * PIXELS..].copy_from_slice(self.shrinker.shrink(&self.screen));
        observation.copy_from_slice(&frames);
        let info = Info {
            score: 0.0,
            lives: u32::from(outcome.lives),
        };
        self.episode = Some(Episode {
            info,
            steps: 0,
            life_lost: false,
            frames,
        });
        Ok(info)
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
        self.spec.check_buffer(observation, 1)?;
        let actions = self.spec.actions.len();
        let name = || self.spec.name.to_owned();
        let known = u8::try_from(action).ok();
        let Some(known) = known.filter(|_| action < actions) else {
            let name = name();
            return Err(EnvError::UnknownAction {
                name,
                action,
                actions,
            });
        };
        // Without its worker an episode is lost; it comes back if all goes well and it goes on.
        let Some(mut episode) = self.episode.take() else {
            return Err(EnvError::NoEpisode { name: name() });
        };
        let outcome = self.ask(Request::Step(known))?;
        episode.frames.copy_within(PIXELS.., 0);
        let newest = self.shrinker.shrink(&self.screen);
        episode.frames[(STACK - 1) * PIXELS..].copy_from_slice(newest);
        observation.copy_from_slice(&episode.frames);
        episode.steps += 1;
        episode.life_lost = u32::from(outcome.lives) < episode.info.lives;
        episode.info = Info {
            score: episode.info.score + f64::from(outcome.reward),
            lives: u32::from(outcome.lives),
        };
        let step = Step {
            reward: f64::from(outcome.reward),
            terminated: outcome.over,
            truncated: !outcome.over && episode.steps >= self.spec.step_limit,
            info: episode.info,
        };
        if !step.terminated && !step.truncated {
            self.episode = Some(episode);
        }
        Ok(step)
    }

    fn scripted(&self, script: Script, random: &mut GameRandom) -> Option<usize> {
        self.episode.as_ref()?;
        match script {
            Script::Noop => Some(0),
            Script::Random => Some(random.random_range(0..self.spec.actions.len())),
            Script::Good | Script::Hacker => None,
        }
    }

    /// FIRE once at the beginning of each new life, whether this game waits for it or not: as the
    /// paper's agents were trained.
    fn serve(&self) -> Option<usize> {
        self.episode.as_ref().filter(|episode| episode.life_lost)?;
        self.spec.actions.iter().position(|name| *name == "fire")
    }

    fn scripts(&self) -> &'static [Script] {
        &[Script::Noop, Script::Random]
    }

    fn worth_a_thread(&self) -> usize {
        1
    }
}
