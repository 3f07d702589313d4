//! Recorded episodes in a folder: demonstrations, and rollouts of policies.

use crate::atari::prepare;
use crate::checksum::checksum;
use crate::exit::BadInput;
use crate::input::unknown_id;
use crate::progress::Progress;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use brex_core::{Episode, FeatureTable, Matrix};
use brex_envs::{Spec, make};
use brex_learn::{DemonstratedSteps, SeenEpisode};
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

    /// The demonstrations of a run directory, or all episodes in a folder of them.
    pub(crate) fn of_source(source: &Path) -> Result<Self> {
        let run = RunFiles::of(source);
        if run.episodes.is_dir() {
            return Self::read(&run.episodes);
        }
        Self::read(source)
    }

    /// Refuses episodes of another environment than this one.
    pub(crate) fn check_environment(&self, spec: &Spec) -> Result<(), BadInput> {
        let first = &self.episodes[0];
        if (first.environment.as_str(), first.version) == (spec.name, spec.version) {
            return Ok(());
        }
        Err(BadInput::new(format!(
            "{}: recorded in {} version {}; this is {} version {}",
            self.path(0).display(),
            first.environment,
            first.version,
            spec.name,
            spec.version
        )))
    }

    /// The file of an episode.
    fn path(&self, at: usize) -> PathBuf {
        self.folder.join(format!("{}.episode", self.ids[at]))
    }

    /// What tells these episodes from others.
    pub(crate) fn identity(&self) -> String {
        let sums = self
            .episodes
            .iter()
            .map(|e| format!("{:016x} ", e.checksum));
        checksum(sums.collect::<String>().as_bytes())
    }

    /// Some of the episodes, those with the highest scores; of equal ones the first.
    pub(crate) fn best_scoring(&self, count: usize) -> Self {
        self.best(count, |at| self.episodes[at].score)
    }

    /// Some of the episodes, those that were preferred in the greatest share of their comparisons.
    pub(crate) fn best_ranked(&self, preferences: &Path, count: usize) -> Result<Self> {
        let (mut won, mut compared) = (vec![0.0; self.ids.len()], vec![0.0; self.ids.len()]);
        for item in self.preferences(preferences)?.preferences.items() {
            for (at, share) in [(item.a, 1.0 - item.label), (item.b, item.label)] {
                won[at] += item.weight * share;
                compared[at] += item.weight;
            }
        }
        Ok(self.best(count, |at| {
            if compared[at] > 0.0 {
                won[at] / compared[at]
            } else {
                0.0
            }
        }))
    }

    fn best(&self, count: usize, worth: impl Fn(usize) -> f64) -> Self {
        let mut order: Vec<usize> = (0..self.episodes.len()).collect();
        order.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)));
        order.truncate(count);
        order.sort_unstable();
        Self {
            ids: order.iter().map(|at| self.ids[*at].clone()).collect(),
            episodes: order.iter().map(|at| self.episodes[*at].clone()).collect(),
            folder: self.folder.clone(),
        }
    }

    /// Plays all episodes again, for what was seen before each action.
    pub(crate) fn demonstrated(&self, hides_score: bool, quiet: bool) -> Result<DemonstratedSteps> {
        prepare(self.environment(), quiet)?;
        let mut env = make(self.environment())?;
        let mut steps = DemonstratedSteps::new(env.spec(), hides_score);
        let progress = Progress::start("replay", quiet);
        for (at, episode) in self.episodes.iter().enumerate() {
            let shown = self.path(at);
            let added = steps.add(env.as_mut(), episode);
            added.map_err(|e| BadInput::new(format!("{}: {e}", shown.display())))?;
            progress.update(at as u64 + 1, Some(self.ids.len() as u64), "episodes");
        }
        progress.finish();
        if steps.is_empty() {
            let shown = self.folder.display();
            return Err(BadInput::new(format!("{shown}: nothing was done in the episodes")).into());
        }
        Ok(steps)
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
        let read = read_preferences(path, &names);
        unknown_id(read, |id, closest| {
            let expected = self.folder.join(format!("{id}.episode"));
            let meant =
                closest.map_or_else(String::new, |id| format!(" (there is one called {id:?})"));
            format!(
                "there is no episode {}{meant}; put it there, or take out the comparisons that name it",
                expected.display()
            )
        })
    }

    /// Plays all episodes again, for what was seen in them.
    pub(crate) fn seen(&self, quiet: bool) -> Result<Vec<SeenEpisode>> {
        prepare(self.environment(), quiet)?;
        let mut env = make(self.environment())?;
        let progress = Progress::start("replay", quiet);
        let mut all = Vec::new();
        for (at, episode) in self.episodes.iter().enumerate() {
            let seen = SeenEpisode::replayed(env.as_mut(), episode);
            let path = self.path(at);
            all.push(seen.map_err(|e| BadInput::new(format!("{}: {e}", path.display())))?);
            progress.update(all.len() as u64, Some(self.ids.len() as u64), "episodes");
        }
        progress.finish();
        Ok(all)
    }
}
