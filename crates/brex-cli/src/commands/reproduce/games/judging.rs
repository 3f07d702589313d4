//! How the policies of a game with a seed are judged, and what is asked before they are judged again.

use super::figures;
use super::given;
use super::unit::Unit;
use crate::args::Command;
use crate::commands::baseline;
use crate::commands::kept_steps::KeptSteps;
use crate::commands::run_evaluation::RunEvaluation;
use crate::commands::steps::{first_rollout, parsed, rank_by_score};
use crate::run_files::{RunFiles, rollouts_of};
use crate::terminal::json_text;
use anyhow::{Result, bail};
use brex_envs::{Script, make};
use std::path::Path;

impl Unit<'_> {
    /// The command that plays rollouts and sums features over them.
    pub(super) fn judging(&self, run: &str) -> Result<Vec<String>> {
        let rollouts = self.scale.rollouts.to_string();
        let words = ["features", run, "--rollouts", &rollouts];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        if let Some(steps) = self.scale.max_steps {
            words.extend(["--max-steps".to_owned(), steps.to_string()]);
        }
        let scripts = make(self.game)?.scripts().len();
        if scripts == Script::ALL.len() {
            words.push("--ladder".to_owned());
        }
        if let Some((directory, _)) = self.given {
            for (name, folder) in given::recorded_policies(directory)? {
                words.extend([
                    "--policy".to_owned(),
                    format!("{name}={}", folder.display()),
                ]);
            }
        }
        Ok(words)
    }

    pub(super) fn evaluate(&self, run: &str) -> Result<String> {
        let words = ["evaluate", run].map(str::to_owned);
        let Command::Evaluate(arguments) = parsed(&words, self.common.seed)?.command else {
            bail!("not an evaluation");
        };
        let judged = RunEvaluation::execute(&arguments, Path::new(run), &self.common)?;
        let mut json = serde_json::to_value(judged.json())?;
        let policies = json["policies"].as_array_mut();
        for (policy, index) in policies.into_iter().flatten().zip(judged.order()) {
            let judged = &judged.evaluation.policies[index];
            if figures::DRAWN.contains(&judged.name.as_str()) {
                policy["returns"] = figures::thinned_returns(&judged.returns).into();
            }
        }
        Ok(json_text(&json)?)
    }

    pub(super) fn baseline_words(&self, run: &str, method: &str) -> Vec<String> {
        let updates = self.scale.baseline_updates.to_string();
        let mut words = vec!["baseline", method, run, "--updates", &updates];
        let networks = self.scale.networks.to_string();
        if method == "ensemble" {
            words.extend(["--networks", &networks]);
        }
        words.into_iter().map(str::to_owned).collect()
    }

    /// The evaluation by networks that are there.
    pub(super) fn baseline(&self, run: &str, method: &str) -> Result<String> {
        let words = self.baseline_words(run, method);
        let Command::Baseline(arguments) = parsed(&words, self.common.seed)?.command else {
            bail!("not a baseline");
        };
        Ok(json_text(
            &baseline::execute(&arguments, &self.common)?.json(),
        )?)
    }

    /// An episode of the agent that learned from the MAP reward and one of No-Op are ranked.
    pub(super) fn ask(&self, steps: &mut KeptSteps, files: &RunFiles, run: &str) -> Result<()> {
        let there = |name: &&str| rollouts_of(files, name).exists();
        for name in ["map", "No-Op"].into_iter().filter(there) {
            let episode = first_rollout(files, name).display().to_string();
            let rank = match name {
                "No-Op" => vec!["worse-than-all".to_owned()],
                _ => {
                    let text = steps.text("rank-of-map", || {
                        Ok(rank_by_score(files, &first_rollout(files, name))?.join("\n"))
                    })?;
                    text.lines().map(str::to_owned).collect()
                }
            };
            let mut words = vec!["demos", run, "--add", &episode, "--rank"];
            words.extend(rank.iter().map(String::as_str));
            steps.step(&format!("ask-{name}"), &words, None)?;
        }
        Ok(())
    }
}
