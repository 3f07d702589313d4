//! Python environments under target/: made from a file of pinned requirements, by the code that also
//! makes brex's own environment for Atari.

// The file is shared, not the crate: what checks everything must not need everything to compile.
#[allow(dead_code, reason = "brex needs more of it than xtask")]
#[path = "../../crates/brex-envs/src/atari/venv.rs"]
mod venv;

use anyhow::{Context, Result};
use std::path::PathBuf;
use venv::Venv;

/// A virtual environment and the file that says what has to be in it.
pub(crate) struct Environment {
    pub(crate) folder: PathBuf,
    pub(crate) requirements: PathBuf,
}

impl Environment {
    /// Makes the environment unless it is already there as required. Returns its interpreter.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let requirements = std::fs::read_to_string(&self.requirements)
            .with_context(|| format!("cannot read {}", self.requirements.display()))?;
        let venv = Venv {
            folder: self.folder.clone(),
            requirements,
        };
        let interpreter = venv.ensure(&mut |text| eprintln!("    {text}"));
        interpreter.with_context(|| self.requirements.display().to_string())
    }
}
