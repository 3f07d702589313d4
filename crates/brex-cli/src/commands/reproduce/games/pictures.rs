//! Episodes of a study to look at: the best demonstration, and what agents do that learned from it.

use super::result::{KeptClip, Played};
use crate::commands::steps::first_rollout;
use crate::numbers;
use crate::recorded::RecordedEpisodes;
use crate::report::clip;
use crate::report::page::Clip;
use crate::run_files::RunFiles;
use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brex_envs::make;
use brex_store::read_episode;
use std::collections::BTreeMap;

/// Clips of the best demonstration and of one rollout of each agent.
pub(super) fn clips(
    files: &RunFiles,
    game: &str,
    learned: &BTreeMap<String, Played>,
) -> Result<Vec<KeptClip>> {
    let mut env = make(game)?;
    let recorded = RecordedEpisodes::read(&files.episodes)?.best_scoring(1);
    let mut shown: Vec<_> = recorded
        .episodes
        .into_iter()
        .map(|best| ("best demonstration", best))
        .collect();
    for name in learned.keys() {
        shown.push((name, read_episode(first_rollout(files, name))?));
    }
    let kept = shown.into_iter().map(|(name, episode)| {
        Ok(KeptClip {
            name: name.to_owned(),
            score: episode.score,
            steps: episode.actions.len(),
            gif: STANDARD.encode(clip(env.as_mut(), &episode)?),
        })
    });
    kept.collect()
}

/// As a page takes it.
pub(super) fn for_page(kept: &KeptClip) -> Option<Clip> {
    Some(Clip {
        name: kept.name.clone(),
        gif: STANDARD.decode(&kept.gif).ok()?,
        lines: vec![
            format!("true score {}", numbers::trimmed(kept.score, 5)),
            format!("{} steps", numbers::count(kept.steps)),
        ],
    })
}
