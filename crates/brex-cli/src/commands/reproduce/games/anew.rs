//! A study that begins anew in the folder of another one.
//!
//! Later steps replace what earlier ones left: the posterior is sampled again when agents join, and
//! episodes are ranked among the demonstrations at the end. That a step was done says nothing about
//! what is there by now, once steps between it and the end are others. So all steps are gone through
//! again; what takes long, trainings and pre-trainings, goes on from its end.

use super::unit::LEARNERS;
use crate::run_files::{RunFiles, rollouts_of};
use anyhow::{Context, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Takes back what the steps of an earlier study say and what others build upon.
pub(super) fn begin_anew(out: &Path) -> Result<()> {
    for notes in inside(&out.join("steps"))? {
        for note in inside(&notes)? {
            let kind = note.extension().unwrap_or_default();
            if kind == "done" || kind == "json" {
                gone(fs::remove_file(&note), &note)?;
            }
        }
    }
    for run in inside(&out.join("runs"))? {
        let files = RunFiles::of(&run);
        for name in LEARNERS {
            forget(&files, name)?;
        }
        for folder in [&files.episodes, &files.policies, &files.posterior] {
            gone(fs::remove_dir_all(folder), folder)?;
        }
        for file in [&files.preferences, &files.features] {
            gone(fs::remove_file(file), file)?;
        }
    }
    Ok(())
}

/// What is in a folder; nothing if it is not there.
fn inside(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let paths: io::Result<_> = paths.collect();
    paths.with_context(|| format!("{}", folder.display()))
}

/// What was not there is gone too.
fn gone(result: io::Result<()>, path: &Path) -> Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Takes a policy and its rollouts out of a run, if they are there.
pub(super) fn forget(files: &RunFiles, name: &str) -> Result<()> {
    let policy = files.policies.join(format!("{name}.safetensors"));
    gone(fs::remove_file(&policy), &policy)?;
    let rollouts = rollouts_of(files, name);
    gone(fs::remove_dir_all(&rollouts), &rollouts)
}
