//! The generator of games: small and fast, because an environment carries its own.

use brex_core::stream;
use rand::SeedableRng;

/// The generator of games.
pub type GameRandom = rand_xoshiro::Xoshiro256PlusPlus;

/// The generator for a seed. Seeds that are close give independent sequences.
pub fn game_random(seed: u64) -> GameRandom {
    GameRandom::from_rng(&mut stream(seed, "game", 0))
}
