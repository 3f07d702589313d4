//! A training's folder: the state to go on from, the learning curve, and the policies that are
//! kept. It is whole after every save, so that a killed training loses a few seconds of work and
//! nothing else.

use super::curve;
use super::gail::Imitation;
use crate::exit::BadInput;
use crate::interrupt;
use crate::numbers;
use crate::plot::CurvePanel;
use crate::progress::Progress;
use crate::units::take_lock;
use crate::update_log::{self, Columns, LogRow, now};
use anyhow::{Context, Result};
use brex_envs::{EnvError, Environment};
use brex_learn::{Device, PolicyFile, RewardFunction, Trainer, TrainingFile};
use brex_store::{AtomicDir, EventFile, write_atomic};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) const STATE: &str = "training.safetensors";
const CURVE: &str = "curve.csv";
const PICTURE: &str = "curve.svg";
const EVENTS: &str = "tensorboard/events.out.tfevents.brex";
const POLICIES: &str = "policies";

/// Time between saves, unless told otherwise.
pub(crate) const BETWEEN_SAVES: Duration = Duration::from_secs(20);

/// What the state file remembers beside the training itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notes {
    /// Where rewards come from.
    pub(crate) reward: String,
    /// What tells a learned reward from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reward_identity: Option<String>,
    /// How it imitates, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) imitation: Option<Imitation>,
    /// Updates after which the policy is kept.
    pub(crate) keep: BTreeSet<u64>,
}

impl Notes {
    /// The columns of the learning curve.
    fn columns(&self) -> Columns {
        curve::columns(self.imitation.is_some())
    }
}

/// A training in its folder.
pub(crate) struct TrainingFolder {
    directory: PathBuf,
    environment: String,
    pub(crate) trainer: Trainer,
    notes: Notes,
    rows: Vec<LogRow>,
    events: EventFile,
    saved: Instant,
    pub(crate) between_saves: Duration,
    began: (Instant, u64),
    _lock: File,
}

/// How a training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All updates are made.
    Finished,
    /// Somebody asked to stop.
    Stopped,
}

/// Where the policy after an update is kept.
pub(crate) fn policy_path(directory: &Path, update: u64) -> PathBuf {
    let name = format!("{update:06}.safetensors");
    directory.join(POLICIES).join(name)
}

/// The policies that a training kept, with their updates, the first one first; at least one.
pub(crate) fn kept_policies(directory: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let folder = directory.join(POLICIES);
    let shown = folder.display();
    let entries = fs::read_dir(&folder).with_context(|| format!("{shown}"))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let policies = paths.filter(|path| path.extension().is_some_and(|end| end == "safetensors"));
    let numbered = policies.filter_map(|path| {
        let update = path.file_stem()?.to_str()?.parse().ok()?;
        Some((update, path))
    });
    let mut kept: Vec<(u64, PathBuf)> = numbered.collect();
    kept.sort();
    anyhow::ensure!(!kept.is_empty(), "{shown}: no policy");
    Ok(kept)
}

impl TrainingFolder {
    /// A new folder. `files` are written into it beside the rest.
    pub(crate) fn create(
        directory: &Path,
        force: bool,
        environment: &str,
        trainer: Trainer,
        notes: Notes,
        files: &[(&str, String)],
    ) -> Result<Self> {
        let out = AtomicDir::create(directory, force)?;
        let state = state_of(&trainer, &notes)?;
        write(&out.path().join(STATE), &state)?;
        write(
            &out.path().join(CURVE),
            update_log::to_csv(notes.columns(), &[]).as_bytes(),
        )?;
        for (name, text) in files {
            write(&out.path().join(name), text.as_bytes())?;
        }
        for name in [POLICIES, "tensorboard"] {
            let path = out.path().join(name);
            fs::create_dir(&path).with_context(|| format!("{}", path.display()))?;
        }
        out.commit()?;
        let lock = take_lock(directory)?;
        Ok(Self::new(
            directory,
            environment,
            trainer,
            notes,
            lock,
            Vec::new(),
        ))
    }

    /// What the state in a folder says.
    pub(crate) fn peek(directory: &Path) -> Result<(TrainingFile, Notes)> {
        let path = directory.join(STATE);
        let shown = path.display();
        if !path.exists() {
            let problem = "nothing to go on from; start afresh without --resume";
            return Err(BadInput::new(format!("{}: {problem}", directory.display())).into());
        }
        let bytes = fs::read(&path).with_context(|| format!("{shown}: cannot read"))?;
        let bad = |problem: String| BadInput::new(format!("{shown}: {problem}"));
        let file = TrainingFile::from_bytes(&bytes).map_err(|error| bad(error.to_string()))?;
        let notes = serde_json::from_value(file.notes.clone());
        let notes = notes.map_err(|error| bad(format!("notes: {error}")))?;
        Ok((file, notes))
    }

    /// Takes a training up again.
    pub(crate) fn resume(
        directory: &Path,
        make: impl Fn() -> Result<Box<dyn Environment>, EnvError>,
        reward: Option<Box<dyn RewardFunction>>,
        device: &Device,
    ) -> Result<Self> {
        let lock = take_lock(directory)?;
        let (file, notes) = Self::peek(directory)?;
        let (environment, update) = (file.environment.clone(), file.update);
        let rows = read_curve(directory, update, &notes)?;
        let trainer = file.resume(make, reward, device);
        let trainer = trainer
            .map_err(|e| BadInput::new(format!("{}: {e}", directory.join(STATE).display())))?;
        Ok(Self::new(
            directory,
            &environment,
            trainer,
            notes,
            lock,
            rows,
        ))
    }

    fn new(
        directory: &Path,
        environment: &str,
        trainer: Trainer,
        notes: Notes,
        lock: File,
        rows: Vec<LogRow>,
    ) -> Self {
        let mut events = EventFile::new(now());
        for row in &rows {
            add_to_events(notes.columns(), &mut events, row);
        }
        Self {
            directory: directory.to_owned(),
            environment: environment.to_owned(),
            began: (Instant::now(), trainer.updates()),
            trainer,
            notes,
            rows,
            events,
            saved: Instant::now(),
            between_saves: BETWEEN_SAVES,
            _lock: lock,
        }
    }

    /// Trains to the end, or until somebody asks to stop.
    pub(crate) fn run(&mut self, progress: &Progress) -> Result<Ended> {
        interrupt::listen();
        let batch = self.trainer.config().batch() as u64;
        let total = self.trainer.config().updates() * batch;
        while !self.trainer.is_done() {
            if interrupt::requested() {
                self.save()?;
                return Ok(Ended::Stopped);
            }
            let report = self.trainer.update().with_context(|| {
                let state = self.directory.join(STATE);
                format!("stopped; the last good state is {}", state.display())
            })?;
            let row = curve::row_of(&report);
            add_to_events(self.notes.columns(), &mut self.events, &row);
            if self.notes.keep.contains(&report.update) || self.trainer.is_done() {
                let bytes = PolicyFile::of(&self.trainer).to_bytes()?;
                write(&policy_path(&self.directory, report.update), &bytes)?;
            }
            let score = curve::score(&row).map_or_else(String::new, |score| {
                format!(", recent score {}", numbers::trimmed(score, 4))
            });
            let speed = numbers::trimmed(self.steps_per_second(), 4);
            progress.update(
                report.steps,
                Some(total),
                &format!("steps, {speed} a second{score}"),
            );
            self.rows.push(row);
            if self.saved.elapsed() >= self.between_saves {
                self.save()?;
            }
        }
        self.save()?;
        Ok(Ended::Finished)
    }

    /// Steps a second since this process began or took up the training.
    pub(crate) fn steps_per_second(&self) -> f64 {
        let (start, before) = self.began;
        let made = self.trainer.updates() - before;
        (made * self.trainer.config().batch() as u64) as f64 / start.elapsed().as_secs_f64()
    }

    fn picture(&self) -> String {
        let name = format!("seed {}", self.trainer.seed());
        let panel = CurvePanel {
            title: self.environment.clone(),
            curves: vec![(name, curve::points(&self.rows))],
            levels: Vec::new(),
            dots: Vec::new(),
        };
        curve::picture("Learning to play", vec![panel])
    }

    /// The curve is written first: it may be longer than the state says, never shorter.
    fn save(&mut self) -> Result<()> {
        let write = |name: &str, bytes: &[u8]| write(&self.directory.join(name), bytes);
        write(
            CURVE,
            update_log::to_csv(self.notes.columns(), &self.rows).as_bytes(),
        )?;
        write(EVENTS, self.events.as_bytes())?;
        write(PICTURE, self.picture().as_bytes())?;
        write(STATE, &state_of(&self.trainer, &self.notes)?)?;
        self.saved = Instant::now();
        Ok(())
    }
}

/// The learning curve in a folder, up to an update.
pub(crate) fn read_curve(directory: &Path, update: u64, notes: &Notes) -> Result<Vec<LogRow>> {
    let path = directory.join(CURVE);
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("{}: cannot read", path.display()))?;
    let rows = update_log::from_csv(notes.columns(), &text, update);
    Ok(rows.map_err(|e| BadInput::new(format!("{}: {e}", path.display())))?)
}

fn state_of(trainer: &Trainer, notes: &Notes) -> Result<Vec<u8>> {
    Ok(TrainingFile::of(trainer, serde_json::to_value(notes)?).to_bytes()?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(write_atomic(path, true, |writer| writer.write_all(bytes))?)
}

/// Adds a row to what TensorBoard shows.
fn add_to_events(columns: Columns, events: &mut EventFile, row: &LogRow) {
    let step = curve::steps(row) as u64;
    update_log::add_to_events(columns, events, row, step, now());
}
