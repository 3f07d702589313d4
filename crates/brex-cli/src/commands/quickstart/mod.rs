//! `brex quickstart`: the paper's pipeline, whole, on a pocket game. Each step is the very command
//! that is shown, so that people can go on with their own games.

mod made_up;
mod story;

use super::run_evaluation::RunEvaluation;
use super::steps::{first_rollout, parsed, rank_by_score, run_step};
use crate::args::{Command, Common};
use crate::exit::Outcome;
use crate::interrupt;
use crate::report::{self, Judged, Report};
use crate::run_files::RunFiles;
use crate::terminal::{Style, json_text, print, without_printing};
use anyhow::{Result, bail};
use brex_store::StoreError;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// Do everything once, on a small game
///
/// An agent learns pocket Breakout for a moment; a hundred of its episodes, ranked, are the
/// demonstrations. An encoder is pre-trained on them, the posterior over rewards is drawn, policies
/// are bounded, and a new one is trained on the mean reward. Then two of the episodes that made the
/// learner doubt are shown to somebody, ranked, and everything is judged again. Leaves report.html.
///
/// Takes under three minutes on two cores. Every step is shown with the command that does the same.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The directory to write
    #[arg(long, value_name = "DIR", default_value = "brex-quickstart")]
    out: PathBuf,
    /// Replace an existing directory that brex wrote
    #[arg(long)]
    force: bool,
    /// The environment
    #[arg(long, value_name = "ENV", default_value = "pocket:breakout")]
    game: String,
    /// Steps of the agent that demonstrates
    #[arg(long, value_name = "N", default_value_t = 350_000)]
    steps: u64,
    /// Steps of the agent that learns from the mean reward
    #[arg(long, value_name = "N", default_value_t = 120_000)]
    learner_steps: u64,
    /// Updates of pre-training
    #[arg(long, value_name = "N", default_value_t = 200)]
    updates: u64,
    /// Rollouts of each policy
    #[arg(long, value_name = "N", default_value_t = 100)]
    rollouts: u32,
    /// Instead, only sample and evaluate on features and preferences that are made up: seconds
    #[arg(long)]
    made_up: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    if arguments.made_up {
        return made_up::run(arguments, common);
    }
    let tour = Tour { arguments, common };
    tour.run()
}

/// The steps, one after the other.
struct Tour<'a> {
    arguments: &'a Arguments,
    common: &'a Common,
}

impl Tour<'_> {
    fn run(&self) -> Result<Outcome> {
        let Arguments {
            game,
            steps,
            learner_steps,
            updates,
            rollouts,
            ..
        } = self.arguments;
        let [steps, learner_steps, updates] =
            [steps, learner_steps, updates].map(|count| count.to_string());
        let rollouts = rollouts.to_string();
        let directory = &self.arguments.out;
        if directory.exists() && !self.arguments.force {
            let path = directory.clone();
            return Err(StoreError::Exists { path }.into());
        }
        let out = &directory.display().to_string();
        let files = RunFiles::of(directory);
        let mut outcome = Outcome::Done;
        let mut step = |words: &[&str]| -> Result<()> {
            if self.step(words)? == Outcome::NotTrusted {
                outcome = Outcome::NotTrusted;
            }
            Ok(())
        };
        let mut make = vec![
            "demos",
            game,
            "--out",
            out,
            "--steps",
            &steps,
            "--episodes",
            &rollouts,
        ];
        if self.arguments.force {
            make.push("--force");
        }
        step(&make)?;
        step(&["pretrain", out, "--updates", &updates])?;
        let sum = ["features", out, "--rollouts", &rollouts];
        step(&sum)?;
        step(&["sample", out])?;
        let (reward, trained) = (format!("{out}:mean"), directory.join("trained-on-mean"));
        let trained = trained.display().to_string();
        let mut learn = vec!["train", game, "--reward", &reward];
        learn.extend(["--steps", &learner_steps]);
        learn.extend(["--policies", "1", "--out", &trained]);
        step(&learn)?;
        step(&sum)?;
        // The new policy's return has to converge too.
        step(&["sample", out, "--resume"])?;
        let before = self.evaluate(out)?;
        let before_svg = fs::read_to_string(&files.returns)?;
        for (name, rank) in [
            (
                "mean",
                rank_by_score(&files, &first_rollout(&files, "mean"))?,
            ),
            ("No-Op", vec!["worse-than-all".to_owned()]),
        ] {
            let episode = first_rollout(&files, name).display().to_string();
            let mut words = vec!["demos", out, "--add", &episode, "--rank"];
            words.extend(rank.iter().map(String::as_str));
            step(&words)?;
        }
        step(&sum)?;
        step(&["sample", out, "--force"])?;
        let after = self.evaluate(out)?;
        let after_svg = fs::read_to_string(&files.returns)?;
        let evaluations = [
            Judged {
                title: "Bounds before asking",
                words: report::ABOUT_BOUNDS,
                evaluation: &before,
                returns_svg: before_svg,
            },
            Judged {
                title: "Bounds after asking",
                words: "One episode of the policy trained on the mean reward and one of No-Op were \
                        ranked among the demonstrations, and the posterior was drawn again with the \
                        same encoder.",
                evaluation: &after,
                returns_svg: after_svg,
            },
        ];
        let report = Report {
            files: &files,
            evaluations: &evaluations,
            short: story::in_short(&before, &after),
            next: story::next(game, out),
        };
        report.write()?;
        if self.common.json {
            let result = json!({
                "before": before.json().policies,
                "after": after.json().policies,
                "rank_correlation": { "before": before.honesty, "after": after.honesty },
                "report": files.report.display().to_string(),
            });
            print(&json_text(&result)?)?;
        } else {
            let lines = story::in_short(&before, &after);
            let lines: String = lines.iter().map(|line| format!("- {line}\n")).collect();
            print(&format!(
                "{lines}\nopen {} in a browser\n",
                files.report.display()
            ))?;
        }
        let judged = [&before, &after];
        if judged
            .iter()
            .any(|judged| judged.outcome() == Outcome::NotTrusted)
        {
            outcome = Outcome::NotTrusted;
        }
        Ok(outcome)
    }

    /// The words of a command, shown.
    fn show(&self, words: &[&str]) -> Result<Vec<String>> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if !self.common.json {
            let seed = match self.common.seed {
                0 => String::new(),
                seed => format!(" --seed {seed}"),
            };
            print(&format!("$ brex {}{seed}\n", words.join(" ")))?;
        }
        Ok(words)
    }

    /// Runs one command; with `--json` only the end is printed.
    fn step(&self, words: &[&str]) -> Result<Outcome> {
        let words = self.show(words)?;
        let common = Common {
            json: false,
            ..self.common.clone()
        };
        let run = || run_step(&words, &common);
        let outcome = if self.common.json {
            without_printing(run)?
        } else {
            run()?
        };
        if interrupt::requested() {
            bail!(
                "stopped; the steps that are done are kept in {}",
                self.arguments.out.display()
            );
        }
        if !self.common.json {
            print("\n")?;
        }
        Ok(outcome)
    }

    fn evaluate(&self, out: &str) -> Result<RunEvaluation> {
        let parsed = parsed(&self.show(&["evaluate", out])?, self.common.seed)?;
        let Command::Evaluate(arguments) = &parsed.command else {
            bail!("not an evaluation");
        };
        let judged = RunEvaluation::execute(arguments, &self.arguments.out, self.common)?;
        if !self.common.json {
            print(&format!("{}\n", judged.text(Style::for_stdout())))?;
        }
        Ok(judged)
    }
}
