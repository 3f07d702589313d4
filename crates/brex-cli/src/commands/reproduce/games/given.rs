//! Demonstrations that exist already, instead of an agent that makes some.

use crate::checksum::checksum;
use crate::exit::BadInput;
use crate::recorded::RecordedEpisodes;
use crate::run_files::{RunFiles, copy_folder};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// What tells demonstrations and preferences from others; they must be of the one game.
pub(super) fn identity(directory: &Path, games: &[String]) -> Result<String> {
    let files = RunFiles::of(directory);
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    recorded.spec()?;
    recorded.preferences(&files.preferences)?;
    if games != [recorded.environment()] {
        return Err(BadInput::new(format!(
            "--demonstrations {}: they are of {}; ask for that game alone with --games",
            directory.display(),
            recorded.environment()
        ))
        .into());
    }
    let preferences = fs::read(&files.preferences);
    let preferences = preferences.with_context(|| format!("{}", files.preferences.display()))?;
    Ok(format!(
        "{} {}",
        recorded.identity(),
        checksum(&preferences)
    ))
}

/// Brings them into a run directory.
pub(super) fn copy(directory: &Path, run: &Path) -> Result<()> {
    let (from, to) = (RunFiles::of(directory), RunFiles::of(run));
    if run.exists() {
        fs::remove_dir_all(run).with_context(|| format!("{}", run.display()))?;
    }
    copy_folder(&from.episodes, &to.episodes)?;
    if from.policies.exists() {
        copy_folder(&from.policies, &to.policies)?;
    }
    let target = &to.preferences;
    fs::copy(&from.preferences, target).with_context(|| format!("{}", target.display()))?;
    Ok(())
}

/// Folders with rollouts of policies that are not there themselves, and their names.
pub(super) fn recorded_policies(directory: &Path) -> Result<Vec<(String, PathBuf)>> {
    let files = RunFiles::of(directory);
    let mut found = Vec::new();
    for name in ["A", "B", "C", "D"] {
        let (folder, file) = (
            files.rollouts.join(name),
            files.policies.join(format!("{name}.safetensors")),
        );
        if folder.is_dir() && !file.exists() {
            found.push((name.to_owned(), folder));
        }
    }
    Ok(found)
}
