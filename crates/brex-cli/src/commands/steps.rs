//! Commands as steps of something greater, told in the words that a person would type.

use super::{baseline, demos, features, improve, pretrain, rollout, sample, train};
use crate::args::{self, Command, Common};
use crate::exit::Outcome;
use crate::recorded::RecordedEpisodes;
use crate::rollouts::file_name;
use crate::run_files::{RunFiles, rollouts_of};
use anyhow::{Result, bail};
use brex_store::read_episode;
use clap::Parser;
use std::path::{Path, PathBuf};

/// What words mean, with the seed that all steps share.
pub(crate) fn parsed(words: &[String], seed: u64) -> Result<args::Arguments> {
    let mut all = vec!["brex".to_owned()];
    all.extend(words.iter().cloned());
    if seed != 0 {
        all.extend(["--seed".to_owned(), seed.to_string()]);
    }
    Ok(args::Arguments::try_parse_from(all)?)
}

/// Does what the words say.
pub(crate) fn run_step(words: &[String], common: &Common) -> Result<Outcome> {
    match &parsed(words, common.seed)?.command {
        Command::Demos(arguments) => demos::run(arguments, common),
        Command::Pretrain(arguments) => pretrain::run(arguments, common),
        Command::Features(arguments) => features::run(arguments, common),
        Command::Sample(arguments) => sample::run(arguments, common),
        Command::Train(arguments) => train::run(arguments, common),
        Command::Improve(arguments) => improve::run(arguments, common),
        Command::Rollout(arguments) => rollout::run(arguments, common),
        Command::Baseline(arguments) => baseline::run(arguments, common),
        other => bail!("not a step of anything: {other:?}"),
    }
}

/// The first rollout of a policy.
pub(crate) fn first_rollout(files: &RunFiles, policy: &str) -> PathBuf {
    rollouts_of(files, policy).join(file_name(0))
}

/// Where somebody who knows the score would rank an episode, as `--rank` takes it.
pub(crate) fn rank_by_score(files: &RunFiles, episode: &Path) -> Result<Vec<String>> {
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    let episode = read_episode(episode)?;
    let scored = || {
        let both = recorded.ids.iter().zip(&recorded.episodes);
        both.map(|(id, demonstration)| (demonstration.score, id))
    };
    let below = scored().filter(|(score, _)| *score < episode.score);
    let above = scored().filter(|(score, _)| *score > episode.score);
    let low = below.max_by(|a, b| a.0.total_cmp(&b.0));
    let high = above.min_by(|a, b| a.0.total_cmp(&b.0));
    Ok(match (low, high) {
        (_, None) => vec!["better-than-all".to_owned()],
        (None, _) => vec!["worse-than-all".to_owned()],
        (Some((_, low)), Some((_, high))) => vec!["between".to_owned(), low.clone(), high.clone()],
    })
}
