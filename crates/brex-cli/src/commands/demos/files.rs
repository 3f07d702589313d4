//! What `brex demos` leaves: episodes, preferences, policies, and a table of all of them.

use crate::numbers;
use crate::run_files::write_text;
use crate::table::Table;
use crate::terminal::Style;
use anyhow::{Context, Result};
use brex_core::Episode;
use brex_learn::PolicyFile;
use brex_store::{write_atomic, write_episode};
use serde_json::{Value, json};
use std::path::Path;

/// As many demonstrations as a table shows well.
const LISTED: usize = 12;

/// One episode of a checkpoint.
pub(super) struct Demonstration {
    pub(super) id: String,
    pub(super) update: u64,
    pub(super) episode: Episode,
}

/// A policy that rewards are judged by.
pub(super) struct Judge {
    name: &'static str,
    update: u64,
    file: PolicyFile,
    episodes: usize,
    score: (f64, Option<f64>),
    length: f64,
}

impl Judge {
    /// With the episodes that it played.
    pub(super) fn new(
        name: &'static str,
        update: u64,
        file: PolicyFile,
        played: &[Episode],
    ) -> Self {
        let scores: Vec<f64> = played.iter().map(|e| e.score).collect();
        let lengths: Vec<f64> = played.iter().map(|e| e.actions.len() as f64).collect();
        Self {
            name,
            update,
            file,
            episodes: played.len(),
            score: numbers::mean_and_sd(&scores),
            length: numbers::mean_and_sd(&lengths).0,
        }
    }
}

/// All that is left.
pub(super) struct Results {
    pub(super) demonstrations: Vec<Demonstration>,
    pub(super) judges: Vec<Judge>,
}

impl Results {
    /// Every pair of demonstrations with different scores: the worse one, the better one.
    fn preferences(&self) -> Vec<(&str, &str)> {
        let mut pairs = Vec::new();
        for (index, first) in self.demonstrations.iter().enumerate() {
            for second in &self.demonstrations[index + 1..] {
                let (a, b) = (first.episode.score, second.episode.score);
                if a < b {
                    pairs.push((first.id.as_str(), second.id.as_str()));
                } else if b < a {
                    pairs.push((second.id.as_str(), first.id.as_str()));
                }
            }
        }
        pairs
    }

    /// Writes all files into a directory that is there.
    pub(super) fn write(&self, directory: &Path) -> Result<()> {
        let folder = |name: &str| {
            let path = directory.join(name);
            std::fs::create_dir_all(&path).with_context(|| format!("{}", path.display()))?;
            anyhow::Ok(path)
        };
        let (episodes, policies) = (folder("episodes")?, folder("policies")?);
        for demonstration in &self.demonstrations {
            let name = format!("{}.episode", demonstration.id);
            write_episode(episodes.join(name), &demonstration.episode, true)?;
        }
        for judge in &self.judges {
            let path = policies.join(format!("{}.safetensors", judge.name));
            let bytes = judge.file.to_bytes()?;
            write_atomic(path, true, |writer| writer.write_all(&bytes))?;
        }
        let mut lines = String::new();
        for (index, (worse, better)) in self.preferences().into_iter().enumerate() {
            let line = json!({
                "id": index,
                "a": worse,
                "b": better,
                "label": "b",
                "annotator": "score",
            });
            lines.push_str(&format!("{line}\n"));
        }
        write_text(&directory.join("preferences.jsonl"), &lines)?;
        let environment = self.demonstrations.first().map(|d| &d.episode.environment);
        let table = self.json(environment.map_or("", String::as_str));
        let table = serde_json::to_string_pretty(&table)? + "\n";
        write_text(&directory.join("demonstrations.json"), &table)?;
        Ok(())
    }

    pub(super) fn json(&self, environment: &str) -> Value {
        let demonstrations = self.demonstrations.iter().map(|d| {
            json!({
                "id": d.id,
                "update": d.update,
                "score": d.episode.score,
                "length": d.episode.actions.len(),
            })
        });
        let policies = self.judges.iter().map(|judge| {
            json!({
                "policy": judge.name,
                "update": judge.update,
                "episodes": judge.episodes,
                "mean_score": judge.score.0,
                "sd_score": judge.score.1,
                "mean_length": judge.length,
            })
        });
        json!({
            "environment": environment,
            "demonstrations": demonstrations.collect::<Vec<Value>>(),
            "preferences": self.preferences().len(),
            "policies": policies.collect::<Vec<Value>>(),
        })
    }

    pub(super) fn text(&self, style: Style) -> String {
        let number = |value: f64| numbers::trimmed(value, 5);
        let mut demonstrations = Table::new(["demonstration", "update", "score", "length"]);
        let count = self.demonstrations.len();
        for at in numbers::evenly(count, LISTED) {
            let demonstration = &self.demonstrations[at];
            demonstrations.row([
                demonstration.id.clone(),
                demonstration.update.to_string(),
                number(demonstration.episode.score),
                numbers::count(demonstration.episode.actions.len()),
            ]);
        }
        let mut policies = Table::new(["policy", "update", "episodes", "score", "sd", "length"]);
        for judge in &self.judges {
            policies.row([
                judge.name.to_owned(),
                judge.update.to_string(),
                numbers::count(judge.episodes),
                number(judge.score.0),
                judge.score.1.map_or_else(String::new, number),
                number(judge.length),
            ]);
        }
        let pairs = self.preferences().len();
        let (first, second) = (demonstrations.show(style), policies.show(style));
        let rest = match count.saturating_sub(LISTED) {
            0 => String::new(),
            rest => format!("and {rest} more between them\n"),
        };
        format!("{first}{rest}\n{pairs} preferences, ties left out\n\n{second}")
    }

    /// Why these demonstrations may not serve, if they may not.
    pub(super) fn problem(&self) -> Option<String> {
        let falls = self
            .judges
            .windows(2)
            .find(|two| two[1].score.0 <= two[0].score.0);
        falls.map(|two| {
            format!(
                "policy {} does not score more than {}: train for longer, or with another seed",
                two[1].name, two[0].name
            )
        })
    }
}
