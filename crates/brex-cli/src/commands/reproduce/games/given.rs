//! Demonstrations that exist already, instead of an agent that makes some: those of a directory, or, of
//! an emulated game whose demonstrations took an hour to make, the ones that come with brex.

use crate::checksum::checksum;
use crate::exit::BadInput;
use crate::recorded::RecordedEpisodes;
use crate::run_files::{RunFiles, copy_folder};
use anyhow::{Context, Result};
use brex_store::AtomicDir;
use include_dir::{Dir, include_dir};
use std::fs;
use std::path::{Path, PathBuf};

/// Twelve demonstrations of real Breakout, their ranking, and thirty rollouts of each of the policies A to
/// D: seeds and actions, a hundred kilobytes.
static BREAKOUT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../data/atari-breakout");

/// Demonstrations that come with brex.
#[derive(Clone, Copy)]
pub(super) struct BuiltIn(&'static Dir<'static>);

impl BuiltIn {
    /// Those of the games, if these are one game that there are some of.
    pub(super) fn of(games: &[String]) -> Option<Self> {
        (games == ["atari:breakout"]).then_some(Self(&BREAKOUT))
    }

    /// What tells them from others.
    pub(super) fn identity(self) -> String {
        let mut all = Vec::new();
        for folder in self.folders() {
            for file in folder.files() {
                all.extend_from_slice(file.path().as_os_str().as_encoded_bytes());
                all.extend_from_slice(file.contents());
            }
        }
        format!("built in {}", checksum(&all))
    }

    /// All folders, each before those in it.
    fn folders(self) -> Vec<&'static Dir<'static>> {
        let mut found = vec![self.0];
        let mut at = 0;
        while let Some(folder) = found.get(at) {
            found.extend(folder.dirs());
            at += 1;
        }
        found
    }

    /// Brings them into a directory, if they are not there yet or `anew` is given.
    pub(super) fn unpack(self, directory: &Path, anew: bool) -> Result<()> {
        if directory.exists() && !anew {
            return Ok(());
        }
        let out = AtomicDir::create(directory, anew)?;
        let failed = || format!("{}: cannot write", directory.display());
        self.0.extract(out.path()).with_context(failed)?;
        Ok(out.commit()?)
    }
}

/// What tells demonstrations and preferences from others; they must be of the one game.
pub(super) fn identity(directory: &Path, games: &[String]) -> Result<String> {
    let files = RunFiles::of(directory);
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    recorded.spec()?;
    recorded.preferences(&files.preferences)?;
    if games != [recorded.environment()] {
        return Err(BadInput::new(format!(
            "--demonstrations {}: they are of {}; ask for that game alone with --games",
            directory.display(),
            recorded.environment()
        ))
        .into());
    }
    let preferences = fs::read(&files.preferences);
    let preferences = preferences.with_context(|| format!("{}", files.preferences.display()))?;
    Ok(format!(
        "{} {}",
        recorded.identity(),
        checksum(&preferences)
    ))
}

/// Brings them into a run directory.
pub(super) fn copy(directory: &Path, run: &Path) -> Result<()> {
    let (from, to) = (RunFiles::of(directory), RunFiles::of(run));
    if run.exists() {
        fs::remove_dir_all(run).with_context(|| format!("{}", run.display()))?;
    }
    copy_folder(&from.episodes, &to.episodes)?;
    if from.policies.exists() {
        copy_folder(&from.policies, &to.policies)?;
    }
    let target = &to.preferences;
    fs::copy(&from.preferences, target).with_context(|| format!("{}", target.display()))?;
    Ok(())
}

/// Folders with rollouts of policies that are not there themselves, and their names.
pub(super) fn recorded_policies(directory: &Path) -> Result<Vec<(String, PathBuf)>> {
    let files = RunFiles::of(directory);
    let mut found = Vec::new();
    for name in ["A", "B", "C", "D"] {
        let (folder, file) = (
            files.rollouts.join(name),
            files.policies.join(format!("{name}.safetensors")),
        );
        if folder.is_dir() && !file.exists() {
            found.push((name.to_owned(), folder));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_brex_is_a_run_of_its_game_with_rollouts_of_four_policies() {
        let games = ["atari:breakout".to_owned()];
        let built_in = BuiltIn::of(&games).unwrap();
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("demonstrations");
        for anew in [false, false, true] {
            built_in.unpack(&directory, anew).unwrap();
        }
        assert!(identity(&directory, &games).is_ok());
        let policies = recorded_policies(&directory).unwrap();
        let names: Vec<&str> = policies.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["A", "B", "C", "D"]);
        for (_, folder) in &policies {
            assert_eq!(fs::read_dir(folder).unwrap().count(), 30);
        }
        assert_eq!(built_in.identity(), built_in.identity());
    }

    #[test]
    fn other_games_have_none_and_neither_have_several() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for games in [
            &["atari:pong"][..],
            &["pocket:breakout"],
            &["atari:breakout", "pocket:breakout"],
        ] {
            let games: Vec<String> = names(games);
            assert!(BuiltIn::of(&games).is_none(), "{games:?}");
        }
    }
}
