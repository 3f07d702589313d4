//! The games on the real emulator. They need an interpreter with ale-py in `BREX_PYTHON`, which
//! `cargo xtask test` provides; without it a test says so and does nothing.

mod failures;
mod gymnasium;
mod play;

use super::env::{AtariEnv, AtariOptions};
use super::games::Game;
use super::python::AtariPython;
use std::time::Duration;

/// The interpreter, if there is one.
fn interpreter() -> Option<AtariPython> {
    let python = AtariPython::from_variable();
    if python.is_none() {
        eprintln!("skipped: BREX_PYTHON names no interpreter with ale-py; run `cargo xtask test`");
    }
    python
}

/// A game with an interpreter of its own choice.
fn game(name: &str, python: AtariPython, timeout: Duration) -> AtariEnv {
    let options = AtariOptions {
        python: Some(python),
        timeout,
    };
    AtariEnv::new(Game::by_name(name).unwrap(), options)
}
