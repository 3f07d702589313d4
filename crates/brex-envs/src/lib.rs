//! What demonstrations are made of: environments with Gymnasium's meaning, five small pixel games
//! with nothing to install, nine real Atari games by ale-py, and scripted policies to play them.
//!
//! ```
//! use brex_envs::{Script, make};
//!
//! # fn main() -> Result<(), brex_envs::EnvError> {
//! let mut env = make("pocket:breakout")?;
//! let mut observation = vec![0; env.spec().observation_len()];
//! env.reset(7, &mut observation)?;
//! let mut random = brex_envs::game_random(7);
//! let mut score = 0.0;
//! for _ in 0..100 {
//!     let action = env.scripted(Script::Random, &mut random).unwrap_or(0);
//!     let step = env.step(action, &mut observation)?;
//!     score += step.reward;
//!     if step.terminated || step.truncated {
//!         break;
//!     }
//! }
//! assert!(score >= 0.0);
//! # Ok(())
//! # }
//! ```

mod animation;
mod atari;
mod environment;
mod film;
mod pocket;
mod random;
mod recording;
mod script;
mod served;
mod time_limit;
mod vector;

pub use animation::{FilmError, encode_gif, encode_mp4, encode_png, ffmpeg_version};
pub use atari::{
    AtariError, AtariOptions, AtariPackages, AtariPython, AtariReport, atari_game, atari_names,
    trex_observation,
};
pub use environment::{EnvError, Environment, Info, Spec, Step};
pub use film::Film;
pub use pocket::{pocket_game, pocket_names};
pub use random::{GameRandom, game_random};
pub use recording::{Recorder, ReplayError, record, replay};
pub use script::{Mixture, Script};
pub use served::Served;
pub use time_limit::TimeLimit;
pub use vector::{EndedEpisode, Standing, VectorEnv, VectorStep};

/// The names of all environments.
pub fn names() -> impl Iterator<Item = &'static str> {
    pocket_names().chain(atari_names())
}

/// The environment with a name, as `pocket:breakout` or `atari:breakout`.
pub fn make(name: &str) -> Result<Box<dyn Environment>, EnvError> {
    let found = pocket_game(name).or_else(|| atari_game(name, AtariOptions::default()));
    found.ok_or_else(|| EnvError::UnknownName {
        name: name.to_owned(),
        known: names().map(str::to_owned).collect(),
    })
}
