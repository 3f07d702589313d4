//! Recorded episodes in a folder: demonstrations, and rollouts of policies.

use crate::atari::prepare;
use crate::exit::BadInput;
use crate::progress::Progress;
use anyhow::{Context, Result};
use brex_core::{Episode, FeatureTable, Matrix};
use brex_envs::{Spec, make};
use brex_learn::SeenEpisode;
use brex_store::{PreferenceFile, read_episode, read_preferences};
use std::fs;
use std::path::{Path, PathBuf};

/// Episodes of one environment; the name of each file without its ending is its id.
pub(crate) struct RecordedEpisodes {
    pub(crate) ids: Vec<String>,
    pub(crate) episodes: Vec<Episode>,
    folder: PathBuf,
}

impl RecordedEpisodes {
    /// Reads all episodes in a folder, in the order of their names.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let shown = folder.display();
        let bad = |problem: String| BadInput::new(format!("{shown}: {problem}"));
        let entries = fs::read_dir(folder).map_err(|error| bad(format!("cannot read: {error}")))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("{shown}"))?.path();
            if path.extension().is_some_and(|end| end == "episode") {
                paths.push(path);
            }
        }
        paths.sort();
        if paths.is_empty() {
            return Err(bad("holds no .episode files; brex demos makes some".to_owned()).into());
        }
        let mut read = Self {
            ids: Vec::new(),
            episodes: Vec::new(),
            folder: folder.to_owned(),
        };
        for path in paths {
            let stem = path.file_stem().unwrap_or_default();
            let episode = read_episode(&path)?;
            if let Some(first) = read.episodes.first()
                && (&first.environment, first.version) != (&episode.environment, episode.version)
            {
                return Err(BadInput::new(format!(
                    "{}: recorded in {} version {}, but {} in {} version {}; one environment at a \
                     time",
                    path.display(),
                    episode.environment,
                    episode.version,
                    read.ids[0],
                    first.environment,
                    first.version
                ))
                .into());
            }
            read.ids.push(stem.to_string_lossy().into_owned());
            read.episodes.push(episode);
        }
        Ok(read)
    }

    /// The environment's name.
    pub(crate) fn environment(&self) -> &str {
        &self.episodes[0].environment
    }

    /// What is seen and done in that environment, if this program has the version.
    pub(crate) fn spec(&self) -> Result<Spec, BadInput> {
        let bad = |problem: String| BadInput::new(format!("{}: {problem}", self.folder.display()));
        let env = make(self.environment()).map_err(|error| bad(error.to_string()))?;
        let (spec, recorded) = (env.spec().clone(), self.episodes[0].version);
        if spec.version != recorded {
            return Err(bad(format!(
                "recorded in version {recorded} of {}; this is version {}",
                spec.name, spec.version
            )));
        }
        Ok(spec)
    }

    /// Preferences between the episodes.
    pub(crate) fn preferences(&self, path: &Path) -> Result<PreferenceFile> {
        let names = FeatureTable::new(Matrix::zeros(self.ids.len(), 1))?;
        let names = names.with_ids(self.ids.clone())?;
        Ok(read_preferences(path, &names)?)
    }

    /// Plays all episodes again, for what was seen in them.
    pub(crate) fn seen(&self, quiet: bool) -> Result<Vec<SeenEpisode>> {
        prepare(self.environment(), quiet)?;
        let mut env = make(self.environment())?;
        let progress = Progress::start("replay", quiet);
        let mut all = Vec::new();
        for (id, episode) in self.ids.iter().zip(&self.episodes) {
            let seen = SeenEpisode::replayed(env.as_mut(), episode);
            let path = self.folder.join(format!("{id}.episode"));
            all.push(seen.map_err(|e| BadInput::new(format!("{}: {e}", path.display())))?);
            progress.update(all.len() as u64, Some(self.ids.len() as u64), "episodes");
        }
        progress.finish();
        Ok(all)
    }
}
