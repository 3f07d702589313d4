//! Recorded episodes as small moving pictures.

use anyhow::Result;
use brex_core::Episode;
use brex_envs::{Environment, Film, encode_gif};

/// Frames of a clip at most, and its width in pixels at least.
const FRAMES: usize = 120;
const WIDTH: usize = 96;
const FRAMES_A_SECOND: u16 = 20;

/// An episode from its beginning to its end as a GIF, however long it is.
pub(crate) fn clip(env: &mut dyn Environment, episode: &Episode) -> Result<Vec<u8>> {
    let film = match Film::of_frames(episode) {
        Some(film) => film,
        None => Film::of_episode(env, episode)?,
    };
    let step = film.frames().len().div_ceil(FRAMES).max(1);
    let scale = (WIDTH / film.width()).max(1);
    Ok(encode_gif(
        &film.thinned(step).enlarged(scale),
        FRAMES_A_SECOND,
    )?)
}
