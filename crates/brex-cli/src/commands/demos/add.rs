//! `brex demos DIR --add EPISODE --rank ...`: a recorded episode joins the demonstrations.

use crate::checksum::checksum;
use crate::exit::BadInput;
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use brex_store::{read_episode, write_atomic, write_episode};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where an episode stands among the demonstrations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rank {
    BetterThanAll,
    WorseThanAll,
    /// Better than the first, worse than the second.
    Between(String, String),
}

impl Rank {
    /// From the words of the command line.
    pub(super) fn of(words: &[String]) -> Result<Self, BadInput> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["better-than-all"] => Ok(Self::BetterThanAll),
            ["worse-than-all"] => Ok(Self::WorseThanAll),
            ["between", low, high] => Ok(Self::Between(low.to_owned(), high.to_owned())),
            _ => Err(BadInput::new(
                "--rank: expected better-than-all, worse-than-all, or between and two ids, the \
                 worse one first",
            )),
        }
    }
}

/// What was added.
pub(crate) struct Added {
    pub(crate) id: String,
    pub(crate) preferences: usize,
}

/// Adds an episode to a run: its file, and preferences between it and the demonstrations. The same
/// episode with the same rank again changes nothing.
pub(crate) fn add(directory: &Path, path: &Path, rank: &Rank) -> Result<Added> {
    let files = RunFiles::of(directory);
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    let known = recorded.preferences(&files.preferences)?;
    let episode = read_episode(path)?;
    let here = &recorded.episodes[0];
    if (&episode.environment, episode.version) != (&here.environment, here.version) {
        return Err(BadInput::new(format!(
            "{}: recorded in {} version {}; the demonstrations are of {} version {}",
            path.display(),
            episode.environment,
            episode.version,
            here.environment,
            here.version
        ))
        .into());
    }
    let identity = format!(
        "{} {} {:?}",
        episode.checksum, episode.seed, episode.actions
    );
    let id = id_of(path, &checksum(identity.as_bytes())[..8], &recorded.ids);
    let others = recorded.ids.iter().filter(|other| **other != id);
    let better = better_than(&recorded, &known.preferences);
    let mut pairs: Vec<(String, String)> = Vec::new();
    for other in others {
        let pair = match rank {
            Rank::BetterThanAll => Some((other.clone(), id.clone())),
            Rank::WorseThanAll => Some((id.clone(), other.clone())),
            Rank::Between(low, high) => {
                let at =
                    |id: &String| {
                        recorded.ids.iter().position(|there| there == id).ok_or_else(|| {
                        BadInput::new(format!(
                            "--rank between: there is no demonstration {id:?}; there are {}",
                            recorded.ids.join(", ")
                        ))
                    })
                    };
                let (low, high) = (at(low)?, at(high)?);
                if better.get(&high).is_some_and(|over| over.contains(&low)) || low == high {
                    return Err(BadInput::new(
                        "--rank between: the first is better than the second; the worse one comes \
                         first",
                    )
                    .into());
                }
                let other_at = at(other)?;
                let over =
                    |a: usize, b: usize| better.get(&b).is_some_and(|over| over.contains(&a));
                if other_at == low || over(low, other_at) {
                    Some((other.clone(), id.clone()))
                } else if other_at == high || over(other_at, high) {
                    Some((id.clone(), other.clone()))
                } else {
                    None
                }
            }
        };
        pairs.extend(pair);
    }
    let text = fs::read_to_string(&files.preferences)
        .with_context(|| format!("{}", files.preferences.display()))?;
    let text = with_pairs(&text, &id, &pairs);
    let file = files.episodes.join(format!("{id}.episode"));
    write_episode(file, &episode, true)?;
    write_atomic(&files.preferences, true, |writer| {
        writer.write_all(text.as_bytes())
    })?;
    Ok(Added {
        id,
        preferences: pairs.len(),
    })
}

/// The id of an episode that is there already, or else one that tells who played it: the folder that
/// `brex features` and `brex rollout` keep episodes in is called so.
fn id_of(path: &Path, sum: &str, known: &[String]) -> String {
    if let Some(there) = known.iter().find(|id| id.ends_with(sum)) {
        return there.clone();
    }
    let folder = path.parent().and_then(Path::file_name);
    let folder = folder.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let plain = |c: &char| c.is_alphanumeric() || "-_.+".contains(*c);
    let who: String = folder.chars().filter(plain).take(40).collect();
    match who.as_str() {
        "" => format!("added-{sum}"),
        who => format!("{who}-{sum}"),
    }
}

/// For each demonstration, those that are worse by a chain of strict preferences: `map[b]` holds `a`
/// where a is better than b.
fn better_than(
    recorded: &RecordedEpisodes,
    preferences: &brex_core::Preferences,
) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut better: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for item in preferences.items() {
        if item.label > 0.5 {
            better.entry(item.a).or_default().insert(item.b);
        } else if item.label < 0.5 {
            better.entry(item.b).or_default().insert(item.a);
        }
    }
    // What is better than the better is better.
    for _ in 0..recorded.ids.len() {
        let now = better.clone();
        for above in better.values_mut() {
            let further = above.iter().filter_map(|at| now.get(at)).flatten();
            let further: Vec<usize> = further.copied().collect();
            above.extend(further);
        }
    }
    better
}

/// The preferences with those about an episode replaced by others; every other line stays as it is.
fn with_pairs(text: &str, id: &str, pairs: &[(String, String)]) -> String {
    let field = |line: &str, name: &str| -> Option<Value> {
        serde_json::from_str::<Value>(line).ok()?.get(name).cloned()
    };
    let about = |line: &&str| {
        let names = ["a", "b"].map(|name| field(line, name));
        names.iter().flatten().any(|name| name == id)
    };
    let mut kept: String = text
        .lines()
        .filter(|line| !about(line))
        .map(|line| format!("{line}\n"))
        .collect();
    for (worse, better) in pairs {
        let line = json!({
            "id": format!("{worse}<{better}"),
            "a": worse,
            "b": better,
            "label": "b",
            "annotator": "added",
        });
        kept.push_str(&format!("{line}\n"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_words() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            Rank::of(&words("better-than-all")).unwrap(),
            Rank::BetterThanAll
        );
        let between = Rank::Between("x".to_owned(), "y".to_owned());
        assert_eq!(Rank::of(&words("between x y")).unwrap(), between);
        for wrong in ["between x", "better", "worse-than-all x"] {
            assert!(Rank::of(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_episode_is_called_after_who_played_it() {
        let known = ["demo-01".to_owned(), "old-0123".to_owned()];
        let id = |path: &str, sum: &str| id_of(Path::new(path), sum, &known);
        assert_eq!(
            id("run/rollouts/No-Op/000000.episode", "abcd"),
            "No-Op-abcd"
        );
        assert_eq!(id("000000.episode", "abcd"), "added-abcd");
        assert_eq!(id("elsewhere/x.episode", "0123"), "old-0123");
    }

    #[test]
    fn an_earlier_rank_of_the_same_episode_is_replaced() {
        let text = "{\"a\":\"x\",\"b\":\"y\",\"label\":\"b\"}\n{\"a\":\"x\",\"b\":\"n\",\"label\":\"b\"}\n";
        let pairs = [("n".to_owned(), "x".to_owned())];
        let found = with_pairs(text, "n", &pairs);
        assert_eq!(found.lines().count(), 2);
        assert!(found.starts_with(text.lines().next().unwrap()));
        assert_eq!(with_pairs(&found, "n", &pairs), found);
    }
}
