//! The networks of a baseline: trained one after the other, and kept, so that a stopped command goes
//! on with the next one.

use crate::commands::features::read_encoder;
use crate::exit::BadInput;
use crate::interrupt;
use crate::numbers;
use crate::progress::Progress;
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use anyhow::{Context, Result, bail};
use brex_core::Preferences;
use brex_envs::Spec;
use brex_learn::{
    Device, EncoderFile, EncoderSource, PretrainConfig, PretrainShape, Pretrainer,
    RankedDemonstrations, SeenEpisode,
};
use brex_store::write_atomic;
use std::fs;
use std::path::{Path, PathBuf};

/// The file of a network.
pub(super) fn name(index: u64) -> String {
    format!("network-{index}.safetensors")
}

/// Networks that exist: published ones of T-REX, or encoders with their ranking heads.
pub(super) fn imported(paths: &[PathBuf], spec: &Spec) -> Result<Vec<EncoderFile>, BadInput> {
    let read = |path: &PathBuf| read_encoder(path, spec).map(|(network, _)| network);
    paths.iter().map(read).collect()
}

/// Leaves networks where trained ones would be; those of an earlier call must be the same.
pub(super) fn keep(networks: &[EncoderFile], folder: &Path) -> Result<()> {
    let files = (0..).zip(networks);
    let files = files.map(|(index, network)| (folder.join(name(index)), network));
    let after = folder.join(name(networks.len() as u64));
    let mut differs = after.exists();
    for (path, network) in files {
        let bytes = network.to_bytes()?;
        match fs::read(&path) {
            Ok(there) => differs |= there != bytes,
            Err(_) => write_atomic(&path, false, |writer| writer.write_all(&bytes))?,
        }
    }
    if differs {
        let problem = "holds other networks; begin anew with --force";
        return Err(BadInput::new(format!("{}: {problem}", folder.display())).into());
    }
    Ok(())
}

/// What the networks learn from.
pub(super) struct Lessons {
    spec: Spec,
    seen: Vec<SeenEpisode>,
    preferences: Preferences,
}

impl Lessons {
    pub(super) fn read(recorded: &RecordedEpisodes, files: &RunFiles, quiet: bool) -> Result<Self> {
        let preferences = recorded.preferences(&files.preferences)?.preferences;
        Ok(Self {
            spec: recorded.spec()?,
            seen: recorded.seen(quiet)?,
            preferences,
        })
    }

    /// The network with a seed, from its file if it was trained with these settings before.
    pub(super) fn network(
        &self,
        path: &Path,
        config: &PretrainConfig,
        seed: u64,
        device: &Device,
        quiet: bool,
    ) -> Result<EncoderFile> {
        let wanted = EncoderSource::Pretrained {
            seed,
            updates: config.updates,
            config: config.clone(),
        };
        if let Ok(bytes) = fs::read(path) {
            let file = EncoderFile::from_bytes(&bytes);
            let file = file.map_err(|e| BadInput::new(format!("{}: {e}", path.display())))?;
            if file.source == wanted {
                return Ok(file);
            }
            return Err(BadInput::new(format!(
                "{}: trained with other settings; begin anew with --force",
                path.display()
            ))
            .into());
        }
        let data = RankedDemonstrations::new(self.seen.clone(), &self.preferences, 0.0, seed)?;
        let shape = PretrainShape::trex(&self.spec);
        let mut trainer = Pretrainer::new(config.clone(), seed, shape, data, device)?;
        let progress = Progress::start("train", quiet);
        interrupt::listen();
        while !trainer.is_done() {
            if interrupt::requested() {
                bail!("stopped; the networks that are done are kept, and the same command goes on");
            }
            let report = trainer.update()?;
            let right = numbers::percent(report.losses.ranking_accuracy);
            let remark = format!("updates of network {seed}, {right} ranked right");
            progress.update(report.update, Some(config.updates), &remark);
        }
        progress.finish();
        let file = EncoderFile::of(&trainer, &self.spec);
        let bytes = file.to_bytes()?;
        write_atomic(path, false, |writer| writer.write_all(&bytes))
            .with_context(|| format!("{}", path.display()))?;
        Ok(file)
    }
}
