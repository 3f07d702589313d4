//! Where things are in a run directory.

use brex_store::{StoreError, write_atomic};
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

/// Where the episodes of a policy are kept. Not every system has folders with a colon in their names.
pub(crate) fn rollouts_of(files: &RunFiles, policy: &str) -> PathBuf {
    files.rollouts.join(policy.replace(':', "-"))
}
