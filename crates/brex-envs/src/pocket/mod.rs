//! Pocket games: miniatures of five Atari games, 24 x 24 grey pixels, four frames at a time.
//!
//! A game knows its rules and draws its field; score, lives, time and the stack of frames are kept
//! around it, by [`episode`]. Each game has one file. A game is a plain value: the same seed and
//! actions give the same episode everywhere.

mod beam_rider;
mod breakout;
mod enduro;
mod episode;
mod frame;
mod game;
mod seaquest;
mod space_invaders;

use crate::Environment;
use episode::PocketEnv;

/// A name, and what makes the game.
type Entry = (&'static str, fn() -> Box<dyn Environment>);

/// How to make each game.
const GAMES: &[Entry] = &[
    entry::<breakout::Breakout>(),
    entry::<space_invaders::SpaceInvaders>(),
    entry::<seaquest::Seaquest>(),
    entry::<beam_rider::BeamRider>(),
    entry::<enduro::Enduro>(),
];

/// The name of a game and how to make it.
const fn entry<G: game::Game>() -> Entry {
    (G::NAME, || Box::new(PocketEnv::<G>::new()))
}

/// The names of the pocket games.
pub fn pocket_names() -> impl Iterator<Item = &'static str> {
    GAMES.iter().map(|game| game.0)
}

/// The pocket game with a name.
pub fn pocket_game(name: &str) -> Option<Box<dyn Environment>> {
    let found = GAMES.iter().find(|game| game.0 == name)?;
    Some(found.1())
}
