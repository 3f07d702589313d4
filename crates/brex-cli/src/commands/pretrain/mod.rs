//! `brex pretrain`: the encoder phi learns from ranked demonstrations.

mod folder;
mod log;
mod settings;

use crate::args::Common;
use crate::device::{DeviceArgument, open};
use crate::exit::{BadInput, Outcome};
use crate::numbers;
use crate::progress::Progress;
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use crate::table::Table;
use crate::terminal::{Style, json_text, print, say};
use anyhow::{Context, Result};
use brex_learn::{
    EncoderCheck, EncoderFile, PretrainConfig, PretrainShape, Pretrainer, RankedDemonstrations,
};
use brex_store::{StoreError, write_atomic};
use folder::{FOLDER, PretrainFolder};
use serde_json::{Value, json};
use settings::Settings;
use std::fs;
use std::path::{Path, PathBuf};

/// A ranking this good of what was kept back is more than luck.
const CARRIES: f64 = 0.6;

/// Pre-train the encoder on ranked demonstrations
///
/// Learns features of frames from which rewards are linear: by ranking snippets of demonstrations,
/// drawing frames again, and telling times and actions between frames. Leaves encoder.safetensors,
/// and in pretraining/ every loss (CSV, SVG, for TensorBoard), a picture of frames and what the
/// decoder makes of them, and the state to go on from.
///
/// Exit code 3 if the features do not rank what was kept back.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A run directory, as `brex demos` leaves it
    #[arg(value_name = "DIR", required_unless_present = "episodes")]
    run: Option<PathBuf>,
    /// Instead of a run directory: a folder of .episode files
    #[arg(long, value_name = "FOLDER", conflicts_with = "run", requires_all = ["preferences", "out"])]
    episodes: Option<PathBuf>,
    /// With --episodes: preferences between them, by their names (.csv, .jsonl)
    #[arg(long, value_name = "FILE", requires = "episodes")]
    preferences: Option<PathBuf>,
    /// With --episodes: the directory that gets the encoder
    #[arg(long, value_name = "DIR", requires = "episodes")]
    out: Option<PathBuf>,
    /// Learn nothing, and take a published T-REX network (safetensors: conv1 to conv4, fc1, fc2)
    #[arg(long, value_name = "FILE.safetensors", conflicts_with = "resume")]
    import: Option<PathBuf>,
    /// Go on where an earlier call was stopped
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Begin anew, even if there is an encoder
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    on: DeviceArgument,
    #[command(flatten)]
    settings: Settings,
}

impl Arguments {
    fn files(&self) -> RunFiles {
        match (&self.run, &self.episodes, &self.preferences, &self.out) {
            (None, Some(episodes), Some(preferences), Some(out)) => RunFiles {
                episodes: episodes.clone(),
                preferences: preferences.clone(),
                ..RunFiles::of(out)
            },
            (run, ..) => RunFiles::of(run.as_deref().unwrap_or(Path::new("."))),
        }
    }
}

/// What was learned.
pub(crate) struct Pretrained {
    pub(crate) environment: String,
    pub(crate) config: PretrainConfig,
    pub(crate) updates: u64,
    pub(crate) updates_per_second: f64,
    /// None if somebody asked to stop before the end.
    pub(crate) check: Option<EncoderCheck>,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    if let Some(network) = &arguments.import {
        return import(arguments, network, common);
    }
    let learned = execute(arguments, common)?;
    let directory = arguments.files().directory;
    if common.json {
        print(&json_text(&learned.json())?)?;
    } else {
        print(&learned.text(Style::for_stdout()))?;
        say(&learned.next_steps(&directory));
    }
    Ok(learned.outcome())
}

/// Makes a published network the encoder of a run.
fn import(arguments: &Arguments, network: &Path, common: &Common) -> Result<Outcome> {
    let files = arguments.files();
    if files.encoder.exists() && !arguments.force {
        let path = files.encoder;
        return Err(StoreError::Exists { path }.into());
    }
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    let spec = recorded.spec()?;
    let bad = |problem: String| BadInput::new(format!("{}: {problem}", network.display()));
    let bytes = fs::read(network).map_err(|error| bad(format!("cannot read: {error}")))?;
    let mut encoder =
        EncoderFile::from_trex(&bytes, &spec).map_err(|error| bad(error.to_string()))?;
    let phi = encoder.phi(&open(arguments.on.device)?)?;
    encoder.norm = phi.norm(&recorded.seen(common.quiet)?);
    fs::create_dir_all(&files.directory)
        .with_context(|| format!("{}", files.directory.display()))?;
    let bytes = encoder.to_bytes()?;
    write_atomic(&files.encoder, true, |writer| writer.write_all(&bytes))?;
    if common.json {
        let features = encoder.shape.feature_count();
        let result =
            json!({ "environment": spec.name, "features": features, "norm": encoder.norm });
        print(&json_text(&result)?)?;
    } else {
        let (path, run) = (files.encoder.display(), files.directory.display());
        say(&format!("written to {path}\nnext: brex features {run}"));
    }
    Ok(Outcome::Done)
}

/// Learns and leaves the encoder.
pub(crate) fn execute(arguments: &Arguments, common: &Common) -> Result<Pretrained> {
    let files = arguments.files();
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    let spec = recorded.spec()?;
    let preferences = recorded.preferences(&files.preferences)?.preferences;
    let device = open(arguments.on.device)?;
    let config = arguments.settings.over(&spec)?;
    let earlier = match arguments.resume {
        true => Some(PretrainFolder::peek(&files.directory)?),
        false => None,
    };
    let (share, seed) = match &earlier {
        Some(file) => (file.config.held_out, file.seed),
        None => (config.held_out, common.seed),
    };
    let fingerprint = fingerprint(&recorded, &files.preferences)?;
    if let Some(file) = &earlier
        && file.notes != fingerprint
    {
        let shown = files.directory.join(FOLDER);
        return Err(BadInput::new(format!(
            "{}: begun with other episodes or preferences; begin anew with --force",
            shown.display()
        ))
        .into());
    }
    let seen = recorded.seen(common.quiet)?;
    let data = RankedDemonstrations::new(seen, &preferences, share, seed);
    let data = data.map_err(|e| BadInput::new(format!("{}: {e}", files.preferences.display())))?;
    let mut folder = match earlier {
        Some(file) => PretrainFolder::resume(&files.directory, &spec, file, data, &device)?,
        None => {
            let shape = PretrainShape::for_spec(&spec, config.features);
            let trainer = Pretrainer::new(config, seed, shape, data, &device)
                .map_err(|e| BadInput::new(format!("{}: {e}", files.episodes.display())))?;
            let (directory, force) = (&files.directory, arguments.force);
            PretrainFolder::create(directory, force, &spec, trainer, fingerprint)?
        }
    };
    let progress = Progress::start("pretrain", common.quiet);
    let finished = folder.run(&progress)?;
    progress.finish();
    let trainer = &folder.trainer;
    Ok(Pretrained {
        environment: spec.name.to_owned(),
        config: trainer.config().clone(),
        updates: trainer.updates(),
        updates_per_second: folder.updates_per_second(),
        check: finished.then(|| trainer.check()),
    })
}

/// What tells these demonstrations and preferences from others.
fn fingerprint(recorded: &RecordedEpisodes, preferences: &Path) -> Result<Value> {
    let episodes = recorded.ids.iter().zip(&recorded.episodes);
    let episodes: Vec<String> = episodes
        .map(|(id, episode)| format!("{id} {:016x}", episode.checksum))
        .collect();
    let preferences = recorded.preferences(preferences)?.preferences;
    let pairs = preferences.items().iter();
    let pairs: Vec<String> = pairs
        .map(|item| format!("{} {} {}", item.a, item.b, item.label))
        .collect();
    Ok(json!({ "episodes": episodes, "preferences": pairs }))
}

impl Pretrained {
    /// What makes one doubt that the features carry anything.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let Some(check) = &self.check else {
            return Vec::new();
        };
        let mut doubts = Vec::new();
        let (accuracy, of) = match check.held_out_accuracy {
            Some(accuracy) => (accuracy, "that were kept back"),
            None => (check.training_accuracy, "of the training itself"),
        };
        if self.config.losses.ranking > 0.0 && accuracy < CARRIES {
            let share = numbers::percent(accuracy);
            doubts.push(format!(
                "only {share} of the snippet pairs {of} are ranked right; chance is 50 %"
            ));
        }
        let (collapsed, all) = (check.collapsed(), check.deviations.len());
        if 2 * collapsed > all {
            doubts.push(format!("{collapsed} of {all} features hardly ever change"));
        }
        doubts
    }

    pub(crate) fn outcome(&self) -> Outcome {
        if self.doubts().is_empty() {
            Outcome::Done
        } else {
            Outcome::NotTrusted
        }
    }

    pub(crate) fn json(&self) -> Value {
        let check = self.check.as_ref();
        json!({
            "environment": self.environment,
            "finished": check.is_some(),
            "updates": self.updates,
            "updates_per_second": self.updates_per_second,
            "features": self.config.features,
            "training_accuracy": check.map(|check| check.training_accuracy),
            "held_out_accuracy": check.and_then(|check| check.held_out_accuracy),
            "collapsed_features": check.map(EncoderCheck::collapsed),
            "norm": check.map(|check| check.norm),
            "doubts": self.doubts(),
        })
    }

    pub(crate) fn text(&self, style: Style) -> String {
        let mut table = Table::new([
            "updates",
            "ranked right",
            "of those kept back",
            "features",
            "collapsed",
            "updates/s",
        ]);
        let check = self.check.as_ref();
        let percent = |share: Option<f64>| share.map_or_else(String::new, numbers::percent);
        table.row([
            self.updates.to_string(),
            percent(check.map(|check| check.training_accuracy)),
            percent(check.and_then(|check| check.held_out_accuracy)),
            self.config.features.to_string(),
            check.map_or_else(String::new, |check| check.collapsed().to_string()),
            numbers::trimmed(self.updates_per_second, 3),
        ]);
        let mut text = table.show(style);
        for doubt in self.doubts() {
            text.push_str(&format!("\nnot to be trusted: {doubt}\n"));
        }
        text
    }

    fn next_steps(&self, directory: &Path) -> String {
        let shown = directory.display();
        if self.check.is_none() {
            return format!("stopped; to go on: brex pretrain {shown} --resume");
        }
        format!(
            "written to {}\nlook at {shown}/{FOLDER}/{} and {}\nnext: brex features {shown}",
            RunFiles::of(directory).encoder.display(),
            folder::PICTURE,
            folder::REDRAWN
        )
    }
}
