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

/// Plays an episode and records it. `act` is given the environment and the observation; `seen` is
/// called with every observation, the first one included.
pub fn record(
    env: &mut dyn Environment,
    seed: u64,
    mut act: impl FnMut(&dyn Environment, &[u8]) -> usize,
    mut seen: impl FnMut(&[u8]),
) -> Result<Episode, EnvError> {
    let mut observation = vec![0; env.spec().observation_len()];
    env.reset(seed, &mut observation)?;
    let mut sum = EpisodeSum::default();
    sum.add(&observation, 0.0);
    seen(&observation);
    let (height, width) = (env.spec().height, env.spec().width);
    let newest = observation.len() - height * width;
    let mut frames = (!env.can_replay()).then(|| EpisodeFrames {
        height,
        width,
        pixels: observation[newest..].to_vec(),
    });
    let mut actions = Vec::new();
    loop {
        let action = act(env, &observation);
        let step = env.step(action, &mut observation)?;
        actions.push(action as u8);
        sum.add(&observation, step.reward);
        seen(&observation);
        if let Some(frames) = &mut frames {
            frames.pixels.extend_from_slice(&observation[newest..]);
        }
        if step.terminated || step.truncated {
            let spec = env.spec();
            return Ok(Episode {
                environment: spec.name.to_owned(),
                version: spec.version,
                seed,
                actions,
                score: step.info.score,
                truncated: step.truncated,
                checksum: sum.value(),
                frames,
            });
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
    if !ended {
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
