//! Which of the policies that a training kept is the one that it comes to.
//!
//! The longer an agent learns from a learned reward, the better it knows where that is wrong. So the
//! policies that were kept on the way play a few episodes, and are judged as `brex evaluate` would:
//! those that are suspicious beside the demonstrations are left out, and of the others the one with
//! the highest bound is taken. Nobody's true score is looked at.

use super::folder::kept_policies;
use crate::commands::features::read_encoder;
use crate::feature_sums::feature_sums;
use crate::honesty::{check_dimensions, check_encoder, in_short, suspicions_beside};
use crate::numbers;
use crate::player::Player;
use crate::rollouts::Rollouts;
use crate::run_files::{RunFiles, write_text};
use crate::table::Table;
use crate::terminal::json_text;
use anyhow::{Context, Result};
use brex_core::{Episode, Matrix, Policy, stream};
use brex_envs::Spec;
use brex_learn::{Device, DeviceName, Phi};
use brex_posterior::{EvaluateOptions, Suspicion, evaluate};
use brex_store::{PosteriorFile, RunFeatures, read_posterior, read_run_features};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Episodes that a policy is judged by.
const EPISODES: u32 = 20;
/// What is written down about it, beside the policies.
const FILE: &str = "choice.json";

/// A policy that was kept, judged by the posterior that its reward is of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Candidate {
    /// After which update.
    update: u64,
    /// The mean of its return.
    mean: f64,
    /// The bound of its return.
    bound: f64,
    /// How long its episodes are.
    length: f64,
    /// What is suspicious about it.
    marks: Vec<&'static str>,
    /// Whether it is the one.
    chosen: bool,
}

/// All that were kept.
pub(super) struct Choice {
    candidates: Vec<Candidate>,
    /// The file of the one that was chosen.
    pub(super) policy: PathBuf,
}

/// What is needed to judge.
pub(super) struct Judge<'a> {
    pub(super) files: RunFiles,
    pub(super) spec: &'a Spec,
    pub(super) seed: u64,
    pub(super) device: (&'a Device, DeviceName),
    pub(super) quiet: bool,
}

impl Judge<'_> {
    /// Judges what a training kept, writes down what it saw and gives the choice.
    pub(super) fn choose(&self, training: &Path) -> Result<Choice> {
        let paths = kept_policies(training)?;
        let features = read_run_features(&self.files.features)?;
        let posterior = read_posterior(&self.files.posterior)?;
        check_dimensions(&features, &posterior.draws)?;
        let (encoder, identity) = read_encoder(&self.files.encoder, self.spec)?;
        check_encoder(&self.files.features, &features, &identity)?;
        let phi = encoder.phi(self.device.0)?;
        let played = paths.iter().map(|(update, path)| {
            self.played(&phi, features.scale, path)
                .with_context(|| format!("the policy after update {update}"))
        });
        let played = played.collect::<Result<Vec<(Policy, f64)>>>()?;
        let (played, repeated): (Vec<_>, Vec<_>) = played.into_iter().unzip();
        let mut candidates = candidates(&paths, &played, &repeated, &features, &posterior)?;
        let chosen = best(&candidates);
        candidates[chosen].chosen = true;
        write_text(&training.join(FILE), &json_text(&candidates)?)?;
        Ok(Choice {
            candidates,
            policy: paths[chosen].1.clone(),
        })
    }

    /// Rollouts of a policy, not those that it will be judged by when it is compared with others, and how
    /// often it does the same thing in them.
    fn played(&self, phi: &Phi, scale: f64, path: &Path) -> Result<(Policy, f64)> {
        let player = Player::File(path.to_owned());
        let rollouts = Rollouts {
            environment: self.spec.name,
            player: &player,
            episodes: EPISODES,
            max_steps: None,
            seed: stream(self.seed, "choice", 0).next_u64(),
            device: self.device.1,
            quiet: self.quiet,
        };
        let episodes = rollouts.play()?;
        let sums = feature_sums(&[phi], self.spec.name, &episodes, self.quiet)?;
        let count = phi.shape().feature_count();
        let features =
            Matrix::from_fn(sums.len(), count, |row, at| sums[row][0].values[at] / scale);
        let lengths = episodes.iter().map(|e| e.actions.len() as f64).collect();
        let repeated =
            numbers::mean_and_sd(&episodes.iter().map(Episode::repetition).collect::<Vec<_>>());
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let policy = Policy::new(&*name, features, Some(lengths))?;
        Ok((policy, repeated.0))
    }
}

fn candidates(
    paths: &[(u64, PathBuf)],
    played: &[Policy],
    repeated: &[f64],
    features: &RunFeatures,
    posterior: &PosteriorFile,
) -> Result<Vec<Candidate>> {
    let evaluation = evaluate(&posterior.draws, played, &EvaluateOptions::default())?;
    let repeated: Vec<Option<f64>> = repeated.iter().copied().map(Some).collect();
    let draws = &posterior.draws;
    let marks = suspicions_beside(features, &evaluation, played, &repeated, draws)?;
    let judged = evaluation.policies.iter().zip(&marks).zip(paths);
    let all = judged.map(|((judged, marks), (update, _))| Candidate {
        update: *update,
        mean: judged.mean,
        bound: judged.bounds.first().map_or(f64::NAN, |bound| bound.var),
        length: judged.mean_length.unwrap_or(f64::NAN),
        // Being uncertain beside another candidate is what a bound is for.
        marks: (marks.iter())
            .filter(|mark| !matches!(mark, Suspicion::Uncertain { .. }))
            .map(in_short)
            .collect(),
        chosen: false,
    });
    Ok(all.collect())
}

/// The place of the one with the highest bound among those without a mark; where all have one, the
/// first is the nearest to the demonstrations.
fn best(candidates: &[Candidate]) -> usize {
    let unmarked = candidates.iter().enumerate();
    let unmarked = unmarked.filter(|(_, candidate)| candidate.marks.is_empty());
    let best = unmarked.max_by(|a, b| a.1.bound.total_cmp(&b.1.bound));
    best.map_or(0, |(at, _)| at)
}

/// After which update the policy was taken, if this was written down.
pub(crate) fn taken_update(training: &Path) -> Result<Option<u64>> {
    #[derive(Deserialize)]
    struct Kept {
        update: u64,
        chosen: bool,
    }
    let path = training.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let shown = || path.display().to_string();
    let text = fs::read_to_string(&path).with_context(shown)?;
    let kept: Vec<Kept> = serde_json::from_str(&text).with_context(shown)?;
    Ok(kept.iter().find(|kept| kept.chosen).map(|kept| kept.update))
}

impl Choice {
    /// For people.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(["update", "mean", "0.05-VaR", "length", "look twice", ""]);
        for candidate in &self.candidates {
            table.row([
                candidate.update.to_string(),
                numbers::significant(candidate.mean, 3),
                numbers::significant(candidate.bound, 3),
                numbers::trimmed(candidate.length, 4),
                candidate.marks.join(", "),
                if candidate.chosen { "taken" } else { "" }.to_owned(),
            ]);
        }
        table
    }

    /// For `--json`.
    pub(super) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(bound: f64, marks: &[&'static str]) -> Candidate {
        Candidate {
            update: 1,
            mean: 0.0,
            bound,
            length: 1.0,
            marks: marks.to_vec(),
            chosen: false,
        }
    }

    #[test]
    fn the_highest_bound_without_a_mark_is_taken() {
        let rising = [
            candidate(-3.0, &[]),
            candidate(4.0, &[]),
            candidate(2.0, &[]),
            candidate(90.0, &["beyond", "outlasts"]),
        ];
        assert_eq!(best(&rising), 1);
        let all_marked = [candidate(1.0, &["long"]), candidate(9.0, &["beyond"])];
        assert_eq!(best(&all_marked), 0);
        assert_eq!(best(&[candidate(f64::NEG_INFINITY, &[])]), 0);
    }
}
