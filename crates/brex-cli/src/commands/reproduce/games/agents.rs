//! The agents of a game with a seed: what each of them learns from.

use super::unit::Unit;
use crate::commands::kept_steps::KeptSteps;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Demonstrations for GAIL, about as good as the best ranked one.
const EXPERTS: &str = "10";
/// Policies that are kept of an agent; a posterior's is chosen from them.
const CANDIDATES: &str = "10";

impl Unit<'_> {
    /// An agent learns from a reward of a run.
    pub(super) fn learn(&self, steps: &mut KeptSteps, run: &str, reward: &str) -> Result<()> {
        let out = Path::new(run).join("learned").join(reward);
        let source = format!("{run}:{reward}");
        self.train(
            steps,
            &format!("learn-{}-{reward}", stem(run)),
            &source,
            &out,
            &[],
        )
    }

    pub(super) fn train(
        &self,
        steps: &mut KeptSteps,
        name: &str,
        source: &str,
        out: &Path,
        more: &[&str],
    ) -> Result<()> {
        let (count, shown) = (
            self.scale.learner_steps.to_string(),
            out.display().to_string(),
        );
        // Emulated games are slow to judge by.
        let kept = if self.given.is_none() {
            CANDIDATES
        } else {
            "1"
        };
        let words = [
            "train",
            self.game,
            "--reward",
            source,
            "--steps",
            &count,
            "--policies",
            kept,
            "--out",
            &shown,
        ];
        let words = [&words, more].concat();
        steps.step(name, &words, Some(out))
    }

    /// Rounds of ranking what was learned and of learning again, beginning with the agent that learned
    /// from the mean reward.
    pub(super) fn improve(&self, steps: &mut KeptSteps, run: &str) -> Result<()> {
        let out = self.run.join("asked");
        let (rounds, count, updates, shown) = (
            self.scale.rounds.to_string(),
            self.scale.learner_steps.to_string(),
            self.scale.baseline_updates.to_string(),
            out.display().to_string(),
        );
        let words = [
            "improve",
            run,
            "--rounds",
            &rounds,
            "--steps",
            &count,
            "--updates",
            &updates,
            "--out",
            &shown,
        ];
        steps.step("improve", &words, Some(&out))?;
        let from = RunFiles::of(&out).policies.join("improved.safetensors");
        self.joins(steps, "asked", || Ok(from))
    }

    /// A policy that was trained elsewhere is one of the run's.
    pub(super) fn joins(
        &self,
        steps: &mut KeptSteps,
        name: &str,
        from: impl FnOnce() -> Result<PathBuf>,
    ) -> Result<()> {
        let to = RunFiles::of(&self.run).policies;
        steps.text(&format!("{name}-joins"), || {
            let from = from()?;
            fs::copy(&from, to.join(format!("{name}.safetensors")))
                .with_context(|| format!("{}: cannot copy", from.display()))?;
            Ok(String::new())
        })?;
        Ok(())
    }

    /// GAIL, from the ten best demonstrations: of as many as there are in pocket games they are as good as
    /// the best; of the few of an Atari game, the usual number.
    pub(super) fn imitate(&self, steps: &mut KeptSteps, run: &str) -> Result<()> {
        let out = self.run.join("learned").join("gail");
        let source = format!("{run}:gail");
        let experts: &[&str] = match self.given {
            None => &["--experts", EXPERTS],
            Some(_) => &[],
        };
        self.train(steps, "learn-gail", &source, &out, experts)
    }
}

fn stem(run: &str) -> String {
    let name = Path::new(run).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
