//! The rounds: learn, play, be ranked, learn the reward again.

use super::contest::{Contest, Contests};
use super::{Arguments, MEAN, WORK};
use crate::args::Common;
use crate::commands::kept_steps::KeptSteps;
use crate::commands::steps::rank_by_score;
use crate::commands::train::last_policy;
use crate::recorded::RecordedEpisodes;
use crate::rollouts::file_name;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use brex_core::stream;
use brex_envs::Spec;
use brex_store::read_episode;
use rand::Rng;
use std::path::{Path, PathBuf};

/// Rollouts of the policies that returns have to converge for.
const JUDGED_BY: &str = "5";

/// How a round differs from what `brex pretrain` and `brex train` do by themselves.
struct Manner {
    pretraining: &'static [&'static str],
    training: &'static [&'static str],
}

impl Manner {
    /// As always.
    const USUAL: Self = Self {
        pretraining: &[],
        training: &[],
    };
    /// Whether the time of the game says anything about how well it goes, whether an end costs anything and
    /// how boldly to learn is another matter in every game, and nothing but episodes that somebody
    /// ranks tells which it is. What pays in one game is exploited in the next: so agents take turns.
    const OTHER: Self = Self {
        pretraining: &["--abreast", "1"],
        training: &["--end-cost", "0", "--learning-rate", "1e-3"],
    };

    fn of(round: u16, spec: &Spec) -> Self {
        if spec.is_atari() || round.is_multiple_of(2) {
            Self::USUAL
        } else {
            Self::OTHER
        }
    }
}

/// All rounds, and what was ranked in them.
pub(super) struct Rounds<'a> {
    arguments: &'a Arguments,
    common: &'a Common,
    spec: &'a Spec,
    files: RunFiles,
    work: PathBuf,
    steps: KeptSteps,
    pub(super) contests: Contests,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(
        arguments: &'a Arguments,
        common: &'a Common,
        spec: &'a Spec,
        given: &RecordedEpisodes,
    ) -> Result<Self> {
        let work = arguments.out.join(WORK);
        let scores = given.episodes.iter().map(|episode| episode.score);
        Ok(Self {
            arguments,
            common,
            spec,
            files: RunFiles::of(&arguments.out),
            steps: KeptSteps::new(work.join("steps"), &arguments.out, common)?,
            contests: Contests {
                environment: spec.name.to_owned(),
                demonstrated: scores.collect(),
                all: Vec::new(),
            },
            work,
        })
    }

    /// Does what is not done yet, and gives the policy that was preferred to all others.
    pub(super) fn run(&mut self) -> Result<PathBuf> {
        let mean = self.work.join(MEAN);
        let mut champion = None;
        self.reseed(0);
        if mean.exists() {
            self.rank("mean", &mean)?;
            champion = Some(mean);
        }
        for round in 1..=self.arguments.rounds {
            self.reseed(round);
            let manner = Manner::of(round, self.spec);
            self.learn_reward(round, &manner)?;
            let name = format!("round-{round}");
            let challenger = self.learn(&name, &manner)?;
            if self.rank(&name, &challenger)? {
                champion = Some(challenger);
            }
        }
        self.learn_reward(self.arguments.rounds + 1, &Manner::USUAL)?;
        champion.context("nobody played")
    }

    /// All agents would else play the same episodes, and those that they are judged by later.
    fn reseed(&mut self, round: u16) {
        let seed = stream(self.common.seed, "improve", round.into()).next_u64();
        self.steps.reseed(seed);
    }

    /// An agent learns from the reward as it is now.
    fn learn(&mut self, name: &str, manner: &Manner) -> Result<PathBuf> {
        let out = self.work.join(name).join("training");
        let (run, shown) = (self.files.directory.display(), out.display().to_string());
        let steps = self.arguments.steps(self.spec).to_string();
        let reward = format!("{run}:mean");
        let mut words = vec![
            "train",
            self.spec.name,
            "--reward",
            &reward,
            "--steps",
            &steps,
            "--policies",
            "1",
            "--out",
            &shown,
        ];
        words.extend(manner.training);
        self.steps
            .step(&format!("train-{name}"), &words, Some(&out))?;
        last_policy(&out)
    }

    /// A policy plays some episodes, which are ranked among the demonstrations: whether it is preferred
    /// to the champion.
    fn rank(&mut self, name: &str, policy: &Path) -> Result<bool> {
        let out = self.work.join(name).join("played").join(name);
        let (count, policy, shown) = (
            self.arguments.episodes.to_string(),
            policy.display().to_string(),
            out.display().to_string(),
        );
        let words = [
            "rollout",
            self.spec.name,
            "--policy",
            &policy,
            "--episodes",
            &count,
            "--out",
            &shown,
        ];
        self.steps.step(&format!("play-{name}"), &words, None)?;
        let run = self.files.directory.display().to_string();
        let mut episodes = Vec::new();
        for index in 0..self.arguments.episodes {
            let path = out.join(file_name(usize::from(index)));
            let rank = self.steps.text(&format!("rank-{name}-{index}"), || {
                Ok(rank_by_score(&self.files, &path)?.join("\n"))
            })?;
            let shown = path.display().to_string();
            let mut words = vec!["demos", &run, "--add", &shown, "--rank"];
            words.extend(rank.lines());
            self.steps
                .step(&format!("add-{name}-{index}"), &words, None)?;
            episodes.push(read_episode(&path)?);
        }
        Ok(self.contests.enter(Contest::of(name, &episodes)))
    }

    /// The encoder and the posterior, from all that is ranked by now.
    fn learn_reward(&mut self, round: u16, manner: &Manner) -> Result<()> {
        let run = self.files.directory.display().to_string();
        let updates = self.arguments.updates.map(|n| n.to_string());
        let mut words = vec!["pretrain", &run];
        if let Some(updates) = &updates {
            words.extend(["--updates", updates]);
        }
        words.extend(manner.pretraining);
        let begun = self.files.directory.join("pretraining");
        self.steps
            .step(&format!("pretrain-{round}"), &words, Some(&begun))?;
        let words = ["features", &run, "--rollouts", JUDGED_BY];
        self.steps
            .step(&format!("features-{round}"), &words, None)?;
        let name = format!("sample-{round}");
        self.steps.step(&name, &["sample", &run], None)
    }
}
