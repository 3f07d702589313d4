//! What `brex drex` leaves: the clone and the levels as they are made, and the rest at the end.

use super::levels::Level;
use super::results::Results;
use crate::run_files::{RunFiles, SETTINGS, write_text};
use anyhow::{Context, Result};
use brex_core::Episode;
use brex_learn::{Cloner, PolicyFile};
use brex_store::{read_episode, write_atomic, write_episode};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const PICTURE: &str = "noise.svg";
const TABLE: &str = "noise.json";
const FIGURES: &str = "clone.json";
/// The clone among the policies.
pub(super) const CLONE: &str = "clone.safetensors";

/// How well the clone does what was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CloneFigures {
    /// Recorded steps.
    pub(super) steps: usize,
    /// Updates that were made, and the one that did best.
    updates: u64,
    pub(super) best_update: u64,
    /// The share of actions that it finds most probable too, and their cross-entropy.
    training_accuracy: f64,
    training_loss: f64,
    /// The same for steps that were kept back.
    pub(super) held_out_accuracy: f64,
    held_out_loss: f64,
}

impl CloneFigures {
    pub(super) fn of(cloner: &Cloner, steps: usize) -> Self {
        let (training, held_out) = (cloner.training_check(), cloner.best());
        Self {
            steps,
            updates: cloner.updates(),
            best_update: held_out.update,
            training_accuracy: training.accuracy,
            training_loss: training.loss,
            held_out_accuracy: held_out.accuracy,
            held_out_loss: held_out.loss,
        }
    }
}

/// Where things are.
pub(super) struct DrexFiles {
    pub(super) run: RunFiles,
}

impl DrexFiles {
    pub(super) fn of(directory: &Path) -> Self {
        Self {
            run: RunFiles::of(directory),
        }
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.run.directory.join(name)
    }

    /// Makes the folders, and writes the settings.
    pub(super) fn create(&self, settings: &str) -> Result<()> {
        for folder in [&self.run.episodes, &self.run.policies] {
            fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
        }
        Ok(write_text(&self.inside(SETTINGS), settings)?)
    }

    /// The clone, if it was finished.
    pub(super) fn read_clone(&self) -> Option<(PolicyFile, CloneFigures)> {
        let bytes = fs::read(self.run.policies.join(CLONE)).ok()?;
        let figures = fs::read_to_string(self.inside(FIGURES)).ok()?;
        Some((
            PolicyFile::from_bytes(&bytes).ok()?,
            serde_json::from_str(&figures).ok()?,
        ))
    }

    pub(super) fn write_clone(&self, policy: &PolicyFile, figures: &CloneFigures) -> Result<()> {
        let bytes = policy.to_bytes()?;
        let path = self.run.policies.join(CLONE);
        write_atomic(path, true, |writer| writer.write_all(&bytes))?;
        let text = serde_json::to_string_pretty(figures)? + "\n";
        Ok(write_text(&self.inside(FIGURES), &text)?)
    }

    fn episode(&self, level: &Level, index: usize) -> PathBuf {
        let name = format!("{}.episode", level.id(index));
        self.run.episodes.join(name)
    }

    /// The episodes of a level, if all were played.
    pub(super) fn read_level(&self, level: &Level, count: usize) -> Option<Vec<Episode>> {
        let read = |index| read_episode(self.episode(level, index)).ok();
        (0..count).map(read).collect()
    }

    pub(super) fn write_level(&self, level: &Level, played: &[Episode]) -> Result<()> {
        for (index, episode) in played.iter().enumerate() {
            write_episode(self.episode(level, index), episode, true)?;
        }
        Ok(())
    }

    /// Writes the preferences, the table and the picture. Without preferences the run is not whole.
    pub(super) fn write(&self, results: &Results) -> Result<()> {
        write_text(&self.inside(PICTURE), &results.picture())?;
        let table = serde_json::to_string_pretty(&results.json())? + "\n";
        write_text(&self.inside(TABLE), &table)?;
        Ok(write_text(&self.run.preferences, &results.lines())?)
    }
}
