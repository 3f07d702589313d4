//! One game with one seed: from demonstrations to all numbers of the tables.

use super::ablation::{ABLATIONS, held_out, order_of_ladder};
use super::figures::{taken_after, thinned_curve};
use super::given;
use super::pictures;
use super::prefix;
use super::result::{Ablated, GameResult, Judgement, Played};
use super::scale::Scale;
use super::tables::PaperTable;
use crate::args::Common;
use crate::checksum::checksum;
use crate::commands::kept_steps::KeptSteps;
use crate::run_files::{RunFiles, rollouts_of};
use crate::terminal::json_text;
use anyhow::{Context, Result};
use brex_store::read_run_features;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rollouts that scores of agents are averaged over, as in the paper.
pub(super) const JUDGED_BY: usize = 30;
/// The paper's other methods that bound returns.
const METHODS: [&str; 2] = ["ensemble", "dropout"];
/// Agents by what they learn from.
pub(super) const LEARNERS: [&str; 7] = [
    "mean", "asked", "map", "trex", "gail", "ensemble", "dropout",
];

/// What to do, and where.
pub(super) struct Unit<'a> {
    pub(super) game: &'a str,
    pub(super) scale: &'a Scale,
    pub(super) tables: &'a [PaperTable],
    /// The agents that learn; all that the tables need if there are none.
    pub(super) agents: &'a [String],
    /// Whether episodes to look at are kept.
    pub(super) shows: bool,
    pub(super) common: Common,
    /// A directory with demonstrations that exist, and what tells them from others.
    pub(super) given: Option<(&'a Path, &'a str)>,
    /// The run directory.
    pub(super) run: PathBuf,
    /// Where it is written down what was done.
    pub(super) notes: PathBuf,
}

impl Unit<'_> {
    fn has(&self, table: PaperTable) -> bool {
        self.tables.contains(&table)
    }

    pub(super) fn wants(&self, reward: &str) -> bool {
        let asked_for = self.agents.is_empty() || self.agents.iter().any(|name| name == reward);
        asked_for && self.tables.iter().any(|table| table.needs(reward))
    }

    /// Does what is not done yet.
    pub(super) fn compute(&self) -> Result<GameResult> {
        let files = RunFiles::of(&self.run);
        let mut steps = KeptSteps::new(self.notes.clone(), &self.run, &self.common)?.timed();
        let run = self.run.display().to_string();
        let judge = self.judging(&run)?;
        let judge: Vec<&str> = judge.iter().map(String::as_str).collect();
        self.demonstrate(&mut steps, &run)?;
        let updates = self.scale.updates.to_string();
        let learn = ["pretrain", &run, "--updates", &updates];
        steps.step("pretrain", &learn, Some(&self.run.join("pretraining")))?;
        steps.step("features", &judge, None)?;
        steps.step("sample", &["sample", &run], None)?;
        if self.wants("mean") {
            self.learn(&mut steps, &run, "mean")?;
        }
        if self.wants("asked") && self.scale.rounds > 0 {
            self.improve(&mut steps, &run)?;
        }
        for reward in ["map", "trex"] {
            if self.wants(reward) {
                self.learn(&mut steps, &run, reward)?;
            }
        }
        if self.wants("gail") {
            self.imitate(&mut steps, &run)?;
        }
        let mut ablation = BTreeMap::new();
        if self.has(PaperTable::Ablation) {
            for losses in ABLATIONS {
                ablation.insert(losses.to_owned(), self.ablate(&mut steps, losses)?);
            }
        }
        let baselines = self.has(PaperTable::Baselines);
        if baselines {
            for method in METHODS {
                let words = self.baseline_words(&run, method);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                steps.step(&format!("networks-{method}"), &words, None)?;
                if self.wants(method) {
                    self.learn(&mut steps, &run, method)?;
                }
            }
        }
        steps.step("features-of-all", &judge, None)?;
        // The returns of the agents have to converge too.
        steps.step("sample-of-all", &["sample", &run], None)?;
        let mut judgements = BTreeMap::new();
        let mut keep = |name: &str, text: &str| -> Result<()> {
            let judgement: Judgement = serde_json::from_str(text)
                .with_context(|| format!("{name} of {} cannot be read", self.game))?;
            judgements.insert(name.to_owned(), judgement);
            Ok(())
        };
        keep("before", &steps.text("before", || self.evaluate(&run))?)?;
        if self.has(PaperTable::Prefix) {
            let compared = ["D", "mean", "hacker"].into_iter();
            let compared: Vec<&str> = compared
                .filter(|name| rollouts_of(&files, name).exists())
                .collect();
            let text = steps.text("prefix", || {
                prefix::judged(
                    &files,
                    self.game,
                    &compared,
                    self.scale.prefix,
                    &self.common,
                )
            });
            keep("prefix", &text?)?;
        }
        if baselines {
            for method in METHODS {
                keep(method, &steps.text(method, || self.baseline(&run, method))?)?;
            }
        }
        let features = read_run_features(&files.features)?;
        let demonstrations = steps.text("demonstrations", || {
            let sums = &features.episodes;
            Ok(json_text(&Played::of(sums, sums.scores.len()))?)
        })?;
        let (mut learned, mut curves) = (BTreeMap::new(), BTreeMap::new());
        let mut taken = BTreeMap::new();
        for policy in &features.policies {
            if LEARNERS.contains(&policy.name.as_str()) {
                learned.insert(policy.name.clone(), Played::of(&policy.sums, JUDGED_BY));
                let training = self.run.join("learned").join(&policy.name);
                if training.exists() {
                    curves.insert(policy.name.clone(), thinned_curve(&training)?);
                    if let Some(steps) = taken_after(&training)? {
                        taken.insert(policy.name.clone(), steps);
                    }
                }
            }
        }
        if self.has(PaperTable::Ablation) {
            let all = Ablated {
                held_out_accuracy: held_out(&self.run)?,
                order: judgements
                    .get("before")
                    .map(order_of_ladder)
                    .unwrap_or_default(),
                played: learned.get("mean").cloned().unwrap_or_default(),
            };
            ablation.insert("all".to_owned(), all);
        }
        // Before episodes of agents are ranked among the demonstrations.
        let clips = if self.shows {
            steps.text("clips", || {
                Ok(json_text(&pictures::clips(&files, self.game, &learned)?)?)
            })?
        } else {
            "[]".to_owned()
        };
        if self.has(PaperTable::Risk) {
            self.ask(&mut steps, &files, &run)?;
            steps.step("features-asked", &judge, None)?;
            steps.step("sample-asked", &["sample", &run], None)?;
            let after = steps.text("after", || self.evaluate(&run))?;
            let after = serde_json::from_str(&after).context("the second evaluation")?;
            judgements.insert("after".to_owned(), after);
        }
        Ok(GameResult {
            demonstrations: serde_json::from_str(&demonstrations)?,
            clips: serde_json::from_str(&clips)?,
            learned,
            curves,
            taken,
            judgements,
            ablation,
        })
    }

    fn demonstrate(&self, steps: &mut KeptSteps, run: &str) -> Result<()> {
        if let Some((directory, identity)) = self.given {
            let name = format!("given-{}", checksum(identity.as_bytes()));
            steps.text(&name, || {
                given::copy(directory, &self.run)?;
                Ok(String::new())
            })?;
            return Ok(());
        }
        let count = self.scale.demonstrator_steps.to_string();
        let rollouts = self.scale.rollouts.to_string();
        let demonstrations = self.scale.count.to_string();
        let words = [
            "demos",
            self.game,
            "--out",
            run,
            "--count",
            &demonstrations,
            "--steps",
            &count,
            "--episodes",
            &rollouts,
        ];
        steps.step("demos", &words, Some(&self.run.join("training")))
    }
}
