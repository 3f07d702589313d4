//! What goes wrong around the emulator, and what mends it.

use std::time::Duration;

/// What goes wrong with a game that runs in another process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AtariError {
    /// The interpreter does not exist.
    #[error("the Python interpreter {python} does not exist; {remedy}")]
    NoPython {
        /// The interpreter.
        python: String,
        /// What to do.
        remedy: String,
    },
    /// The interpreter is too old.
    #[error("{python} is Python {version}, which is too old for ale-py; {remedy}")]
    OldPython {
        /// The interpreter.
        python: String,
        /// Its version.
        version: String,
        /// What to do.
        remedy: String,
    },
    /// A package is not there, or cannot be loaded.
    #[error("{python} cannot load {package} ({why}); {remedy}")]
    NoPackage {
        /// The interpreter.
        python: String,
        /// The package.
        package: String,
        /// What Python says.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// The game's ROM is not there.
    #[error("ale-py of {python} has no ROM {rom} ({why}); {remedy}")]
    NoRom {
        /// The interpreter.
        python: String,
        /// The ROM.
        rom: String,
        /// What ale-py says.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// The emulator's actions are not those of the game's table.
    #[error("{game}: ale-py {version} has other actions ({found}); {remedy}")]
    OtherActions {
        /// The game.
        game: String,
        /// The emulator's version.
        version: String,
        /// The emulator's actions.
        found: String,
        /// What to do.
        remedy: String,
    },
    /// The process could not be started, or ended before the game began.
    #[error("cannot start the Atari worker with {python}: {why}; {remedy}")]
    NoStart {
        /// The interpreter.
        python: String,
        /// What happened.
        why: String,
        /// What to do.
        remedy: String,
    },
    /// The process ended in the middle of an episode.
    #[error("{game}: the Atari worker ended unexpectedly ({status}){}; the episode is lost, begin it again", said(.stderr))]
    Died {
        /// The game.
        game: String,
        /// How it ended.
        status: String,
        /// The end of what it wrote on standard error.
        stderr: String,
    },
    /// The process did not answer in time, and was killed.
    #[error("{game}: the Atari worker did not answer for {} s and was killed{}; the episode is lost, begin it again", .waited.as_secs_f64(), said(.stderr))]
    Hanging {
        /// The game.
        game: String,
        /// How long was waited.
        waited: Duration,
        /// The end of what it wrote on standard error.
        stderr: String,
    },
    /// What came over the pipe is not an answer.
    #[error(
        "{game}: the Atari worker with {python} answered with {found:?} where {expected} was expected; {remedy}"
    )]
    Garbled {
        /// The game.
        game: String,
        /// The interpreter.
        python: String,
        /// What came.
        found: String,
        /// What should have come.
        expected: &'static str,
        /// What to do.
        remedy: String,
    },
    /// The Python environment could not be made.
    #[error("cannot make the Python environment for Atari: {why}")]
    Environment {
        /// What went wrong, and what mends it.
        why: String,
    },
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!(": {stderr}")
    }
}
