//! What has to be there before an Atari game is played.

use crate::terminal::say;
use brex_envs::{AtariError, AtariPython, atari_names};

/// Sees to it that an Atari game has its Python, which takes a while the first time; other
/// environments need nothing.
pub(crate) fn prepare(environment: &str, quiet: bool) -> Result<(), AtariError> {
    if atari_names().all(|name| name != environment) {
        return Ok(());
    }
    let mut tell = |text: &str| {
        if !quiet {
            say(&format!(
                "the Atari games need Python with ale-py, once: {text}"
            ));
        }
    };
    AtariPython::find_or_make(&mut tell).map(|_| ())
}
