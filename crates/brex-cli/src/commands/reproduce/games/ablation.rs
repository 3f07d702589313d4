//! Pre-training by some of the losses, beside all of them.

use super::anew::forget;
use super::result::{Ablated, Judgement, Order, Played};
use super::unit::{JUDGED_BY, LEARNERS, Unit};
use crate::commands::kept_steps::KeptSteps;
use crate::run_files::{RunFiles, copy_folder};
use anyhow::{Context, Result, bail};
use brex_store::read_run_features;
use std::fs;
use std::path::Path;

/// Losses that pre-training does without, beside all of them.
pub(super) const ABLATIONS: [&str; 2] = ["ranking", "self-supervised"];

impl Unit<'_> {
    /// Pre-trains without some of the losses, on the same demonstrations and rollouts.
    pub(super) fn ablate(&self, steps: &mut KeptSteps, losses: &str) -> Result<Ablated> {
        let directory = self.run.join(format!("ablation-{losses}"));
        let run = directory.display().to_string();
        let files = RunFiles::of(&self.run);
        steps.text(&format!("copied-{losses}"), || {
            if directory.exists() {
                fs::remove_dir_all(&directory).with_context(|| run.clone())?;
            }
            let folders = [&files.episodes, &files.policies, &files.rollouts];
            for folder in folders.into_iter().filter(|folder| folder.exists()) {
                copy_folder(
                    folder,
                    &directory.join(folder.file_name().unwrap_or_default()),
                )?;
            }
            let copied = RunFiles::of(&directory);
            for name in LEARNERS {
                forget(&copied, name)?;
            }
            let to = copied.preferences;
            fs::copy(&files.preferences, &to).with_context(|| format!("{}", to.display()))?;
            Ok(String::new())
        })?;
        let updates = self.scale.updates.to_string();
        let words = ["pretrain", &run, "--updates", &updates, "--losses", losses];
        let begun = directory.join("pretraining");
        steps.step(&format!("pretrain-{losses}"), &words, Some(&begun))?;
        let judge = self.judging(&run)?;
        let judge: Vec<&str> = judge.iter().map(String::as_str).collect();
        steps.step(&format!("features-{losses}"), &judge, None)?;
        steps.step(&format!("sample-{losses}"), &["sample", &run], None)?;
        let judged = steps.text(&format!("judged-{losses}"), || self.evaluate(&run))?;
        let judged: Judgement = serde_json::from_str(&judged).context(run.clone())?;
        if self.wants("mean") {
            self.learn(steps, &run, "mean")?;
        }
        steps.step(&format!("features-learned-{losses}"), &judge, None)?;
        let features = read_run_features(&RunFiles::of(&directory).features)?;
        let mean = features
            .policies
            .iter()
            .find(|policy| policy.name == "mean");
        let sums = mean.map(|policy| &policy.sums);
        Ok(Ablated {
            held_out_accuracy: held_out(&directory)?,
            order: order_of_ladder(&judged),
            played: sums.map_or_else(Played::default, |sums| Played::of(sums, JUDGED_BY)),
        })
    }
}

/// Rank correlations over the policies that did not learn from a reward.
pub(super) fn order_of_ladder(judged: &Judgement) -> Order {
    let counts = |name: &str| !LEARNERS.contains(&name);
    let counted = judged.policies.iter().filter(|one| counts(&one.policy));
    Order {
        policies: counted.count(),
        mean: judged.order(|policy| Some(policy.mean), counts),
        bound: judged.order(|policy| policy.var, counts),
        ..Order::default()
    }
}

/// The share of kept-back pairs that a pre-training ranks right, from its log.
pub(super) fn held_out(run: &Path) -> Result<Option<f64>> {
    let path = run.join("pretraining").join("losses.csv");
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let mut lines = text.lines();
    let heads = lines.next().unwrap_or_default();
    let Some(column) = heads
        .split(',')
        .position(|head| head == "held_out_accuracy")
    else {
        bail!("{}: has no column held_out_accuracy", path.display());
    };
    let mut known = lines.filter_map(|line| line.split(',').nth(column)?.parse().ok());
    Ok(known.next_back())
}
