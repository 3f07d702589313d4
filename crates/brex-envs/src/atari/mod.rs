//! Real Atari games, by ale-py in a Python process of its own.
//!
//! [`games`] is the table of games, [`env`] the environment, [`worker`] the process, [`protocol`] what
//! is said to it and `worker.py` its program, [`picture`] the way from screen to frame, [`python`]
//! and [`venv`] where the interpreter comes from. Nothing of the emulator is linked: it is GPL.

mod env;
mod error;
mod games;
mod picture;
mod protocol;
mod python;
#[cfg(test)]
mod tests;
mod trex;
mod venv;
mod worker;

pub use env::AtariOptions;
pub use error::AtariError;
pub use python::{AtariPackages, AtariPython, AtariReport};
pub use trex::trex_observation;

use crate::Environment;

/// The names of the Atari games.
pub fn atari_names() -> impl Iterator<Item = &'static str> {
    games::GAMES.iter().map(|game| game.name)
}

/// The Atari game with a name. Its process is started by the first reset.
pub fn atari_game(name: &str, options: AtariOptions) -> Option<Box<dyn Environment>> {
    let game = games::Game::by_name(name)?;
    Some(Box::new(env::AtariEnv::new(game, options)))
}
