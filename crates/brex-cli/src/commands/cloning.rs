//! Behaviour cloning with progress: for D-REX, and as a place to begin from.

use crate::exit::BadInput;
use crate::interrupt;
use crate::numbers;
use crate::progress::Progress;
use crate::recorded::RecordedEpisodes;
use anyhow::Result;
use brex_learn::{CloneConfig, CloneError, Cloner, Device};

/// A clone of who played the episodes, and how many steps it learned from; none if somebody asked to
/// stop. Errors name `shown`.
pub(crate) fn cloned(
    recorded: &RecordedEpisodes,
    shown: &str,
    config: CloneConfig,
    seed: u64,
    device: &Device,
    quiet: bool,
) -> Result<Option<(Cloner, usize)>> {
    let steps = recorded.demonstrated(false, quiet)?;
    let count = steps.len();
    let cloner = Cloner::new(config, seed, steps, device);
    let mut cloner = cloner.map_err(|error| BadInput::new(format!("{shown}: {error}")))?;
    let progress = Progress::start("clone", quiet);
    while !cloner.is_done() {
        if interrupt::requested() {
            return Ok(None);
        }
        let loss = cloner.update().map_err(|error: CloneError| {
            anyhow::Error::new(error).context(format!("{shown}: cannot be cloned"))
        })?;
        let loss = numbers::significant(loss, 3);
        let accuracy = numbers::percent(cloner.best().accuracy);
        let remark = format!("updates, loss {loss}, {accuracy} of actions kept back foretold");
        progress.update(cloner.updates(), Some(config.updates), &remark);
    }
    progress.finish();
    Ok(Some((cloner, count)))
}
