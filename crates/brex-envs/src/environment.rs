//! The environment trait, with Gymnasium's meaning.

use crate::{AtariError, GameRandom, Script};
use std::ops::Range;

/// What goes wrong with an environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvError {
    /// No environment has this name.
    #[error("no environment is called {name:?}; there are {}", known.join(", "))]
    UnknownName {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The action does not exist.
    #[error("action {action} does not exist; {name} has {actions}, from 0")]
    UnknownAction {
        /// The environment.
        name: String,
        /// The action.
        action: usize,
        /// How many there are.
        actions: usize,
    },
    /// The episode has not begun, or is over.
    #[error("{name}: no episode is running; reset first")]
    NoEpisode {
        /// The environment.
        name: String,
    },
    /// What was played before ends here before its actions do.
    #[error("{name}: played again, the episode ends too early; was it begun by another version?")]
    Standing {
        /// The environment.
        name: String,
    },
    /// The buffer for the observation has the wrong size.
    #[error("{name}: the buffer for the observation holds {found} bytes; expected {expected}")]
    Buffer {
        /// The environment.
        name: String,
        /// Its size.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// The process that runs a game failed, or could not be started.
    #[error(transparent)]
    Atari(#[from] AtariError),
}

/// What an agent sees and can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The name, as `pocket:breakout`.
    pub name: &'static str,
    /// Grows whenever the rules or the pictures change, so that old recordings are not trusted.
    pub version: u32,
    /// What the actions do; action 0 does nothing.
    pub actions: &'static [&'static str],
    /// Rows of a frame.
    pub height: usize,
    /// Columns of a frame.
    pub width: usize,
    /// Frames of an observation, the oldest first.
    pub stack: usize,
    /// The rows that show score and lives: what learns a reward must not see them.
    pub masked_rows: &'static [Range<usize>],
    /// After this many steps an episode is cut off.
    pub step_limit: usize,
}

impl Spec {
    /// Bytes of an observation: `stack` planes of `height` rows of `width` grey values.
    pub fn observation_len(&self) -> usize {
        self.stack * self.height * self.width
    }

    /// Refuses a buffer for `count` observations of another size.
    pub(crate) fn check_buffer(&self, buffer: &[u8], count: usize) -> Result<(), EnvError> {
        let (found, expected) = (buffer.len(), count * self.observation_len());
        if found == expected {
            return Ok(());
        }
        Err(EnvError::Buffer {
            name: self.name.to_owned(),
            found,
            expected,
        })
    }

    /// Whether this is an emulated Atari game: large frames, slow steps, a process each.
    pub fn is_atari(&self) -> bool {
        self.name.starts_with("atari:")
    }

    /// Blackens the rows that show score and lives.
    ///
    /// # Panics
    /// If the observation has another size.
    pub fn mask(&self, observation: &mut [u8]) {
        assert_eq!(observation.len(), self.observation_len(), "an observation");
        for plane in observation.chunks_exact_mut(self.height * self.width) {
            for rows in self.masked_rows {
                plane[rows.start * self.width..rows.end * self.width].fill(0);
            }
        }
    }

    /// Whether what learns a reward must not see a row.
    pub fn is_masked(&self, row: usize) -> bool {
        self.masked_rows.iter().any(|rows| rows.contains(&row))
    }
}

/// What is true beside what is seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Info {
    /// The true score so far.
    pub score: f64,
    /// Lives that are left.
    pub lives: u32,
}

/// What a step leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The change of the score.
    pub reward: f64,
    /// Whether the episode came to its own end.
    pub terminated: bool,
    /// Whether the episode was cut off by its step limit.
    pub truncated: bool,
    /// What is true beside what is seen.
    pub info: Info,
}

/// An environment: a world, one episode at a time.
pub trait Environment: Send {
    /// What an agent sees and can do.
    fn spec(&self) -> &Spec;

    /// Begins an episode and writes its first observation. The same seed gives the same episode.
    fn reset(&mut self, seed: u64, observation: &mut [u8]) -> Result<Info, EnvError>;

    /// Does an action and writes what is seen then.
    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError>;

    /// What a scripted policy would do now; none if the environment has no such script or no
    /// episode is running.
    fn scripted(&self, script: Script, random: &mut GameRandom) -> Option<usize>;

    /// What has to be done for play to go on, if the game waits for the player, who has had the time to do
    /// it, and nothing but waiting happens until then (the ball lies on the paddle).
    fn serve(&self) -> Option<usize> {
        None
    }

    /// The scripts that it has.
    fn scripts(&self) -> &'static [Script] {
        &Script::ALL
    }

    /// Whether a seed and the actions give the same episode again. If not, recordings keep what was
    /// seen.
    fn can_replay(&self) -> bool {
        true
    }

    /// Fewer environments than this in a piece of work are not worth a thread.
    fn worth_a_thread(&self) -> usize {
        4
    }
}
