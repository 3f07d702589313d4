//! Where pre-training leaves what it learns: the state to go on from, every loss, pictures, and at
//! the end the encoder.

use super::log;
use crate::exit::BadInput;
use crate::interrupt;
use crate::numbers;
use crate::progress::Progress;
use crate::run_files::RunFiles;
use crate::units::take_lock;
use crate::update_log::{self, LogRow, now};
use anyhow::{Context, Result};
use brex_envs::{Film, Spec, encode_png};
use brex_learn::{
    Device, EncoderFile, Losses, Pretrainer, PretrainingFile, RankedDemonstrations, Reconstruction,
};
use brex_store::{AtomicDir, EventFile, write_atomic};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) const FOLDER: &str = "pretraining";
const STATE: &str = "state.safetensors";
pub(crate) const LOSSES: &str = "losses.csv";
pub(crate) const PICTURE: &str = "losses.svg";
pub(crate) const REDRAWN: &str = "redrawn.png";
const EVENTS: &str = "events.out.tfevents.brex";
const BETWEEN_SAVES: Duration = Duration::from_secs(20);

/// How often what was kept back is measured over a pre-training.
const MEASURED: u64 = 20;

/// Frames in the picture of what the decoder draws.
const FRAMES: usize = 12;

/// A pre-training in its folder.
pub(super) struct PretrainFolder {
    /// The directory that the encoder appears in.
    directory: PathBuf,
    spec: Spec,
    pub(super) trainer: Pretrainer,
    notes: serde_json::Value,
    rows: Vec<LogRow>,
    events: EventFile,
    saved: Instant,
    began: (Instant, u64),
    _lock: File,
}

impl PretrainFolder {
    fn inside(&self, name: &str) -> PathBuf {
        self.directory.join(FOLDER).join(name)
    }

    /// A new pre-training.
    pub(super) fn create(
        directory: &Path,
        force: bool,
        spec: &Spec,
        trainer: Pretrainer,
        notes: serde_json::Value,
    ) -> Result<Self> {
        fs::create_dir_all(directory).with_context(|| format!("{}", directory.display()))?;
        let out = AtomicDir::create(directory.join(FOLDER), force)?;
        let state = PretrainingFile::of(&trainer, spec, notes.clone()).to_bytes()?;
        write(&out.path().join(STATE), &state)?;
        out.commit()?;
        // What an earlier encoder was used for does not belong to this one.
        let encoder = RunFiles::of(directory).encoder;
        if encoder.exists() {
            fs::remove_file(&encoder).with_context(|| format!("{}", encoder.display()))?;
        }
        Self::new(directory, spec, trainer, notes, Vec::new())
    }

    /// What the state in a folder says.
    pub(super) fn peek(directory: &Path) -> Result<PretrainingFile> {
        let path = directory.join(FOLDER).join(STATE);
        let shown = path.display();
        if !path.exists() {
            let problem = "nothing to go on from; start afresh without --resume";
            return Err(BadInput::new(format!("{}: {problem}", directory.display())).into());
        }
        let bytes = fs::read(&path).with_context(|| format!("{shown}: cannot read"))?;
        let file = PretrainingFile::from_bytes(&bytes);
        Ok(file.map_err(|error| BadInput::new(format!("{shown}: {error}")))?)
    }

    /// Takes a pre-training up again, with the demonstrations that it was begun with.
    pub(super) fn resume(
        directory: &Path,
        spec: &Spec,
        file: PretrainingFile,
        data: RankedDemonstrations,
        device: &Device,
    ) -> Result<Self> {
        let shown = directory.join(FOLDER).join(STATE);
        let shown = shown.display();
        let (notes, update) = (file.notes.clone(), file.update);
        let path = directory.join(FOLDER).join(LOSSES);
        let rows = if update == 0 {
            Vec::new()
        } else {
            let text = fs::read_to_string(&path);
            let text = text.with_context(|| format!("{}: cannot read", path.display()))?;
            let rows = update_log::from_csv(log::COLUMNS, &text, update);
            rows.map_err(|error| BadInput::new(format!("{}: {error}", path.display())))?
        };
        let trainer = file.resume(data, device);
        let trainer = trainer.map_err(|error| BadInput::new(format!("{shown}: {error}")))?;
        Self::new(directory, spec, trainer, notes, rows)
    }

    fn new(
        directory: &Path,
        spec: &Spec,
        trainer: Pretrainer,
        notes: serde_json::Value,
        rows: Vec<LogRow>,
    ) -> Result<Self> {
        let lock = take_lock(&directory.join(FOLDER))?;
        let mut events = EventFile::new(now());
        for row in &rows {
            add_to_events(&mut events, row);
        }
        Ok(Self {
            directory: directory.to_owned(),
            spec: spec.clone(),
            began: (Instant::now(), trainer.updates()),
            trainer,
            notes,
            rows,
            events,
            saved: Instant::now(),
            _lock: lock,
        })
    }

    /// Learns to the end and leaves the encoder; false if somebody asked to stop before.
    pub(super) fn run(&mut self, progress: &Progress) -> Result<bool> {
        interrupt::listen();
        let total = self.trainer.config().updates;
        let every = (total / MEASURED).max(1);
        while !self.trainer.is_done() {
            if interrupt::requested() {
                self.save()?;
                return Ok(false);
            }
            let report = self.trainer.update().with_context(|| {
                let state = self.inside(STATE);
                format!("stopped; the last good state is {}", state.display())
            })?;
            let measure = report.update % every == 0 || report.update == total;
            let held_out = measure.then(|| self.trainer.held_out_accuracy()).flatten();
            let row = log::row_of(&report, held_out);
            add_to_events(&mut self.events, &row);
            self.rows.push(row);
            progress.update(report.update, Some(total), &self.remark(&report.losses));
            if self.saved.elapsed() >= BETWEEN_SAVES {
                self.save()?;
            }
        }
        self.save()?;
        let pictures = self.trainer.reconstructions(FRAMES);
        write(&self.inside(REDRAWN), &redrawn_png(&pictures)?)?;
        let bytes = EncoderFile::of(&self.trainer, &self.spec).to_bytes()?;
        write(&RunFiles::of(&self.directory).encoder, &bytes)?;
        Ok(true)
    }

    fn remark(&self, losses: &Losses) -> String {
        let speed = numbers::trimmed(self.updates_per_second(), 3);
        let loss = numbers::significant(losses.total, 3);
        let ranked = match losses.ranking {
            0.0 => String::new(),
            _ => format!(
                ", {} ranked right",
                numbers::percent(losses.ranking_accuracy)
            ),
        };
        format!("updates, {speed} a second, loss {loss}{ranked}")
    }

    /// Updates a second since this process began or took up the work.
    pub(super) fn updates_per_second(&self) -> f64 {
        let (start, before) = self.began;
        (self.trainer.updates() - before) as f64 / start.elapsed().as_secs_f64()
    }

    /// The losses are written first: they may reach further than the state says, never less far.
    fn save(&mut self) -> Result<()> {
        let csv = update_log::to_csv(log::COLUMNS, &self.rows);
        write(&self.inside(LOSSES), csv.as_bytes())?;
        write(&self.inside(EVENTS), self.events.as_bytes())?;
        write(&self.inside(PICTURE), log::picture(&self.rows).as_bytes())?;
        let state = PretrainingFile::of(&self.trainer, &self.spec, self.notes.clone());
        write(&self.inside(STATE), &state.to_bytes()?)?;
        self.saved = Instant::now();
        Ok(())
    }
}

fn add_to_events(events: &mut EventFile, row: &LogRow) {
    update_log::add_to_events(log::COLUMNS, events, row, row.update, now());
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(write_atomic(path, true, |writer| writer.write_all(bytes))?)
}

/// Frames above, and below each what the decoder makes of its features.
fn redrawn_png(pictures: &[Reconstruction]) -> Result<Vec<u8>> {
    let above = pictures.iter().map(|picture| picture.frame.clone());
    let below = pictures.iter().map(|picture| picture.drawn.clone());
    let (height, width) = pictures.first().map_or((0, 0), |p| (p.height, p.width));
    let film = Film::of_pictures(height, width, above.chain(below).collect());
    let film = film.context("there is nothing to draw")?;
    let sheet = film.contact_sheet(2 * pictures.len(), pictures.len());
    let scale = (96 / width).max(1);
    Ok(encode_png(&sheet.enlarged(scale), 1)?)
}
