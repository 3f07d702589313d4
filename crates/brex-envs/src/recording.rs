//! Recording episodes, and playing them again.
//!
//! A recorded episode is its environment, seed and actions: a few kilobytes. Played again, it gives
//! the same frames and rewards; a checksum over all of them says so. Of an environment that cannot
//! play an episode again, the frames themselves are kept.

use crate::environment::{EnvError, Environment};
use brex_core::{Episode, EpisodeFrames, EpisodeSum};

/// Why an episode cannot be played again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// It was recorded in another environment.
    #[error(
        "the episode was recorded in {recorded} version {recorded_version}; this is {here} version {here_version}"
    )]
    Other {
        /// The environment of the recording.
        recorded: String,
        /// Its version.
        recorded_version: u32,
        /// The environment at hand.
        here: String,
        /// Its version.
        here_version: u32,
    },
    /// The environment refused.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// The episode ended before its actions did, or went on after them.
    #[error("the episode has {recorded} actions, but here it {} after {here} steps", if *here < *recorded { "ends" } else { "still runs" })]
    Length {
        /// How many actions there are.
        recorded: usize,
        /// How many steps were made.
        here: usize,
    },
    /// Frames or rewards are not those of the recording.
    #[error("played again, the episode differs: checksum {here:016x}, recorded {recorded:016x}")]
    Checksum {
        /// Of the recording.
        recorded: u64,
        /// Of the replay.
        here: u64,
    },
}

/// An episode in the making: whoever plays says what was done.
pub struct Recorder {
    seed: u64,
    observation: Vec<u8>,
    sum: EpisodeSum,
    actions: Vec<u8>,
    frames: Option<EpisodeFrames>,
}

impl Recorder {
    /// Begins an episode.
    pub fn begin(env: &mut dyn Environment, seed: u64) -> Result<Self, EnvError> {
        let mut observation = vec![0; env.spec().observation_len()];
        env.reset(seed, &mut observation)?;
        let (height, width) = (env.spec().height, env.spec().width);
        let newest = &observation[observation.len() - height * width..];
        let frames = (!env.can_replay()).then(|| EpisodeFrames {
            height,
            width,
            pixels: newest.to_vec(),
        });
        let mut sum = EpisodeSum::default();
        sum.add(&observation, 0.0);
        Ok(Self {
            seed,
            observation,
            sum,
            actions: Vec::new(),
            frames,
        })
    }

    /// What is seen now.
    pub fn observation(&self) -> &[u8] {
        &self.observation
    }

    /// Does an action in the environment that the episode was begun in. If that ends the episode,
    /// it is given.
    pub fn step(
        &mut self,
        env: &mut dyn Environment,
        action: usize,
    ) -> Result<Option<Episode>, EnvError> {
        let step = env.step(action, &mut self.observation)?;
        self.actions.push(action as u8);
        self.sum.add(&self.observation, step.reward);
        if let Some(frames) = &mut self.frames {
            let newest = self.observation.len() - frames.height * frames.width;
            frames.pixels.extend_from_slice(&self.observation[newest..]);
        }
        if !(step.terminated || step.truncated) {
            return Ok(None);
        }
        let spec = env.spec();
        Ok(Some(Episode {
            environment: spec.name.to_owned(),
            version: spec.version,
            seed: self.seed,
            actions: std::mem::take(&mut self.actions),
            score: step.info.score,
            truncated: step.truncated,
            checksum: self.sum.value(),
            frames: self.frames.take(),
        }))
    }
}

/// Plays an episode and records it. `act` is given the environment and the observation; `seen` is
/// called with every observation, the first one included.
pub fn record(
    env: &mut dyn Environment,
    seed: u64,
    mut act: impl FnMut(&dyn Environment, &[u8]) -> usize,
    mut seen: impl FnMut(&[u8]),
) -> Result<Episode, EnvError> {
    let mut recorder = Recorder::begin(env, seed)?;
    loop {
        seen(recorder.observation());
        let action = act(env, recorder.observation());
        if let Some(episode) = recorder.step(env, action)? {
            seen(recorder.observation());
            return Ok(episode);
        }
    }
}

/// Plays a recorded episode again; `seen` is called with every observation and the reward that led
/// to it. Fails if anything is not as it was recorded.
pub fn replay(
    env: &mut dyn Environment,
    episode: &Episode,
    mut seen: impl FnMut(&[u8], f64),
) -> Result<(), ReplayError> {
    let spec = env.spec();
    if spec.name != episode.environment || spec.version != episode.version {
        return Err(ReplayError::Other {
            recorded: episode.environment.clone(),
            recorded_version: episode.version,
            here: spec.name.to_owned(),
            here_version: spec.version,
        });
    }
    let mut observation = vec![0; spec.observation_len()];
    env.reset(episode.seed, &mut observation)?;
    let mut sum = EpisodeSum::default();
    sum.add(&observation, 0.0);
    seen(&observation, 0.0);
    let recorded = episode.actions.len();
    let mut ended = false;
    for (index, action) in episode.actions.iter().enumerate() {
        if ended {
            return Err(ReplayError::Length {
                recorded,
                here: index,
            });
        }
        let step = env.step(usize::from(*action), &mut observation)?;
        sum.add(&observation, step.reward);
        seen(&observation, step.reward);
        ended = step.terminated || step.truncated;
    }
    // Of a recording that was cut off, the game knows no end.
    if !ended && !episode.truncated {
        return Err(ReplayError::Length {
            recorded,
            here: recorded,
        });
    }
    if sum.value() != episode.checksum {
        return Err(ReplayError::Checksum {
            recorded: episode.checksum,
            here: sum.value(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Film, GameRandom, Info, Script, Spec, Step, make};

    /// A game that claims that it cannot be played again.
    struct Live(Box<dyn Environment>);

    impl Environment for Live {
        fn spec(&self) -> &Spec {
            self.0.spec()
        }
        fn reset(&mut self, seed: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
            self.0.reset(seed, observation)
        }
        fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
            self.0.step(action, observation)
        }
        fn scripted(&self, script: Script, random: &mut GameRandom) -> Option<usize> {
            self.0.scripted(script, random)
        }
        fn can_replay(&self) -> bool {
            false
        }
    }

    #[test]
    fn what_cannot_be_played_again_is_kept() {
        let game = || make("pocket:space-invaders").unwrap();
        let act = |_: &dyn Environment, _: &[u8]| 1;
        let live = record(&mut Live(game()), 4, act, |_| {}).unwrap();
        let plain = record(&mut *game(), 4, act, |_| {}).unwrap();
        assert_eq!(plain.frames, None);
        let film = Film::of_frames(&live).unwrap();
        assert_eq!(film.frames().len(), live.actions.len() + 1);
        assert_eq!(film, Film::of_episode(&mut *game(), &plain).unwrap());
        assert!(Film::of_frames(&plain).is_none());
        let mut damaged = live;
        damaged.actions.pop();
        assert!(Film::of_frames(&damaged).is_none());
    }
}
