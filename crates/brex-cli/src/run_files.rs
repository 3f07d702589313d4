//! Where things are in a run directory.

use crate::exit::BadInput;
use anyhow::{Context, Result};
use brex_store::{StoreError, write_atomic};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunFiles {
    pub(crate) directory: PathBuf,
    /// Recorded demonstrations.
    pub(crate) episodes: PathBuf,
    /// Preferences between them.
    pub(crate) preferences: PathBuf,
    /// The policies to judge.
    pub(crate) policies: PathBuf,
    /// Episodes that the policies played.
    pub(crate) rollouts: PathBuf,
    pub(crate) encoder: PathBuf,
    pub(crate) features: PathBuf,
    pub(crate) posterior: PathBuf,
    pub(crate) evaluation: PathBuf,
    /// The picture of the evaluation.
    pub(crate) returns: PathBuf,
    /// Everything as a page to read.
    pub(crate) report: PathBuf,
}

impl RunFiles {
    pub(crate) fn of(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            episodes: directory.join("episodes"),
            preferences: directory.join("preferences.jsonl"),
            policies: directory.join("policies"),
            rollouts: directory.join("rollouts"),
            encoder: directory.join("encoder.safetensors"),
            features: directory.join("features.safetensors"),
            posterior: directory.join("posterior"),
            evaluation: directory.join("evaluation.json"),
            returns: directory.join("returns.svg"),
            report: directory.join("report.html"),
        }
    }
}

/// Writes a text as a whole file, in place of what was there.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), StoreError> {
    write_atomic(path, true, |writer| writer.write_all(text.as_bytes()))
}

/// The settings that a directory was made with.
pub(crate) const SETTINGS: &str = "run.toml";

/// Refuses to go on with something that was begun in another way.
pub(crate) fn check_settings(directory: &Path, settings: &str) -> Result<(), BadInput> {
    let path = directory.join(SETTINGS);
    let Ok(there) = fs::read_to_string(&path) else {
        let problem = "nothing to go on from; start afresh without --resume";
        return Err(BadInput::new(format!("{}: {problem}", directory.display())));
    };
    if there == settings {
        return Ok(());
    }
    let problem = "begun with other settings or demonstrations; begin anew with --force";
    Err(BadInput::new(format!("{}: {problem}", path.display())))
}

/// Copies a folder with all that is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("{}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("{}", from.display()))? {
        let entry = entry.with_context(|| format!("{}", from.display()))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            fs::copy(&source, &target).with_context(|| format!("{}", target.display()))?;
        }
    }
    Ok(())
}

/// Where the episodes of a policy are kept. Not every system has folders with a colon in their names.
pub(crate) fn rollouts_of(files: &RunFiles, policy: &str) -> PathBuf {
    files.rollouts.join(policy.replace(':', "-"))
}
