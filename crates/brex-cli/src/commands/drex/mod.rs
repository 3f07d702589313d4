//! `brex drex`: preferences that nobody had to state (D-REX; Brown, Goo and Niekum, 2019).
//!
//! A policy is cloned from demonstrations that nobody ranked, and plays with more and more noise.
//! What was played with less noise counts as better. The result is a run directory like that of
//! `brex demos`, so that everything else goes on from it.

mod files;
mod levels;
mod results;

use crate::args::Common;
use crate::atari::prepare;
use crate::commands::cloning::cloned;
use crate::device::{DeviceArgument, open};
use crate::exit::{BadInput, Outcome};
use crate::interrupt;
use crate::progress::Progress;
use crate::recorded::RecordedEpisodes;
use crate::run_files::{RunFiles, check_settings};
use crate::terminal::{Style, json_text, print, say};
use crate::units::take_lock;
use anyhow::{Context, Result};
use brex_core::stream;
use brex_envs::make;
use brex_learn::{Choice, CloneConfig, Device, PolicyFile, play_noisy_episodes};
use brex_store::{AtomicDir, write_atomic};
use files::{CLONE, CloneFigures, DrexFiles};
use levels::{Level, PUBLISHED, parse_noise};
use rand::Rng;
use results::{PlayedLevel, Results};
use std::path::{Path, PathBuf};

/// Make ranked demonstrations from unranked ones, by noise
///
/// Clones the policy behind recorded episodes, lets the clone play with more and more noise, and
/// prefers every episode to all that were played with more of it (D-REX). Leaves a run directory:
/// the episodes, the preferences, the clone and the source's policies to judge rewards by, and the
/// true scores by noise as JSON and as a picture. `brex pretrain` takes it as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A run directory, or a folder of .episode files as `brex rollout --out` leaves it
    #[arg(value_name = "SOURCE")]
    source: PathBuf,
    /// The directory to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The noise of each level: the probability that an action is any one instead of the clone's
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_values_t = PUBLISHED, value_parser = parse_noise)]
    levels: Vec<f64>,
    /// Episodes of each level
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rollouts: u16,
    /// Where noise leaves it alone, the clone draws its action as other policies do; else it does
    /// what it finds most probable, as in the authors' code
    #[arg(long)]
    drawn: bool,
    /// Updates of the clone at most; it stops when it does no better on steps that were kept back
    /// [default: 75000 for Atari, 4000 for pocket games]
    #[arg(long, value_name = "N")]
    updates: Option<u64>,
    /// Go on where an earlier call with the same flags was stopped
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Replace an existing directory
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    on: DeviceArgument,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let levels = Level::ordered(&arguments.levels)?;
    let recorded = RecordedEpisodes::of_source(&arguments.source)?;
    let spec = recorded.spec()?;
    let device = open(arguments.on.device)?;
    let mut config = CloneConfig::for_spec(&spec);
    config.updates = arguments.updates.unwrap_or(config.updates);
    if let Err(error) = config.check() {
        return Err(BadInput::new(format!("--{}: {error}", error.field)).into());
    }
    prepare(spec.name, common.quiet)?;
    let files = DrexFiles::of(&arguments.out);
    let settings = settings(arguments, common, &recorded)?;
    if arguments.resume {
        check_settings(&arguments.out, &settings)?;
    } else {
        let out = AtomicDir::create(&arguments.out, arguments.force)?;
        DrexFiles::of(out.path()).create(&settings)?;
        out.commit()?;
    }
    let _lock = take_lock(&arguments.out)?;
    copy_policies(&arguments.source, &files)?;
    interrupt::listen();
    let work = Work {
        arguments,
        common,
        files: &files,
    };
    let Some(clone) = work.clone(&recorded, config, &device)? else {
        return Ok(work.stopped());
    };
    let Some(played) = work.play_all(&levels, spec.name, &clone.0, &device)? else {
        return Ok(work.stopped());
    };
    let scores = recorded.episodes.iter().map(|episode| episode.score);
    let results = Results::new(spec.name, scores.collect(), clone.1, played);
    files.write(&results)?;
    if common.json {
        print(&json_text(&results.json())?)?;
    } else {
        print(&results.text(Style::for_stdout()))?;
        let out = arguments.out.display();
        say(&format!(
            "written to {out}\nlook at {out}/{}\nnext: brex pretrain {out}",
            files::PICTURE
        ));
    }
    if let Some(problem) = results.problem() {
        say(&problem);
        return Ok(Outcome::NotTrusted);
    }
    Ok(Outcome::Done)
}

/// The settings as a file that `--config` takes, with what tells the demonstrations from others.
fn settings(arguments: &Arguments, common: &Common, recorded: &RecordedEpisodes) -> Result<String> {
    use toml::{Table, Value};
    let levels: Vec<String> = arguments.levels.iter().map(f64::to_string).collect();
    let mut flags = Table::from_iter([
        ("levels".to_owned(), Value::String(levels.join(","))),
        ("rollouts".to_owned(), i64::from(arguments.rollouts).into()),
        ("seed".to_owned(), Value::String(common.seed.to_string())),
    ]);
    if arguments.drawn {
        flags.insert("drawn".to_owned(), true.into());
    }
    if let Some(updates) = arguments.updates {
        flags.insert("updates".to_owned(), Value::String(updates.to_string()));
    }
    let made_by = Table::from_iter([
        ("brex".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ("environment".to_owned(), recorded.environment().into()),
        ("demonstrations".to_owned(), recorded.identity().into()),
    ]);
    let file = Table::from_iter([
        ("drex".to_owned(), Value::Table(flags)),
        (crate::config::MADE_BY.to_owned(), Value::Table(made_by)),
    ]);
    let text = toml::to_string(&file).context("cannot write the settings as TOML")?;
    Ok(format!(
        "# To do it again: brex drex SOURCE --config run.toml --out DIR\n\n{text}"
    ))
}

/// The policies of a run, so that rewards are judged by the same ones.
fn copy_policies(source: &Path, files: &DrexFiles) -> Result<()> {
    let folder = RunFiles::of(source).policies;
    // A folder of episodes has none.
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Ok(());
    };
    for entry in entries {
        let path = entry
            .with_context(|| format!("{}", folder.display()))?
            .path();
        let name = path.file_name().unwrap_or_default();
        let policy = path.extension().is_some_and(|end| end == "safetensors");
        if policy && name != CLONE {
            let bytes = std::fs::read(&path).with_context(|| format!("{}", path.display()))?;
            let to = files.run.policies.join(name);
            write_atomic(to, true, |writer| writer.write_all(&bytes))?;
        }
    }
    Ok(())
}

/// The two slow parts.
struct Work<'a> {
    arguments: &'a Arguments,
    common: &'a Common,
    files: &'a DrexFiles,
}

impl Work<'_> {
    /// Says how to go on.
    fn stopped(&self) -> Outcome {
        say("stopped; to go on: the same command with --resume");
        Outcome::Done
    }

    /// The clone and its figures, from the directory if they are there; none if somebody asked to
    /// stop.
    fn clone(
        &self,
        recorded: &RecordedEpisodes,
        config: CloneConfig,
        device: &Device,
    ) -> Result<Option<(PolicyFile, CloneFigures)>> {
        if let Some(found) = self.files.read_clone() {
            return Ok(Some(found));
        }
        let shown = self.arguments.source.display().to_string();
        let common = self.common;
        let cloned = cloned(recorded, &shown, config, common.seed, device, common.quiet)?;
        let Some((cloner, count)) = cloned else {
            return Ok(None);
        };
        let figures = CloneFigures::of(&cloner, count);
        let policy = cloner.policy();
        self.files.write_clone(&policy, &figures)?;
        Ok(Some((policy, figures)))
    }

    /// The episodes of every level, those in the directory included; none if somebody asked to stop.
    fn play_all(
        &self,
        levels: &[Level],
        environment: &str,
        clone: &PolicyFile,
        device: &Device,
    ) -> Result<Option<Vec<PlayedLevel>>> {
        let agent = clone.agent(device)?;
        let rollouts = usize::from(self.arguments.rollouts);
        let total = (levels.len() * rollouts) as u64;
        let progress = Progress::start("rollouts", self.common.quiet);
        let choice = match self.arguments.drawn {
            true => Choice::Drawn,
            false => Choice::MostProbable,
        };
        let mut all = Vec::new();
        for (index, level) in levels.iter().enumerate() {
            let level = *level;
            if let Some(episodes) = self.files.read_level(&level, rollouts) {
                all.push(PlayedLevel { level, episodes });
                continue;
            }
            let seed = stream(self.common.seed, "noise level", index as u64).next_u64();
            let before = (index * rollouts) as u64;
            let goes_on = |done: usize| {
                progress.update(before + done as u64, Some(total), "episodes");
                !interrupt::requested()
            };
            let make = || make(environment);
            let played =
                play_noisy_episodes(&agent, (level.noise, choice), make, rollouts, seed, goes_on)?;
            let Some(episodes) = played else {
                return Ok(None);
            };
            self.files.write_level(&level, &episodes)?;
            all.push(PlayedLevel { level, episodes });
        }
        progress.finish();
        Ok(Some(all))
    }
}
