//! `brex train`: an agent learns to play.

mod choice;
pub(crate) mod curve;
mod folder;
mod gail;
mod reward;
mod settings;
mod start;

pub(crate) use choice::taken_update;
pub(crate) use folder::{Ended, Notes, TrainingFolder, policy_path, read_curve};
pub(crate) use settings::{Settings, run_file};

use self::choice::{Choice, Judge};
use self::folder::{BETWEEN_SAVES, kept_policies};
use self::gail::{Experts, GailSettings, Imitation};
use self::reward::RewardSource;
use self::start::Start;
use crate::args::Common;
use crate::atari::prepare;
use crate::device::{DeviceArgument, open};
use crate::exit::{BadInput, Outcome};
use crate::numbers;
use crate::progress::Progress;
use crate::run_files::RunFiles;
use crate::table::Table;
use crate::terminal::{Style, json_text, print, say};
use anyhow::{Context, Result};
use brex_envs::{Spec, make};
use brex_learn::Trainer;
use brex_store::write_atomic;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Train an agent by proximal policy optimisation
///
/// Leaves policies, the learning curve (CSV, SVG and for TensorBoard) and the state to go on from.
/// A training that was stopped, even by a power cut, goes on with --resume and ends with the same
/// bytes as one that was not. A policy that learned from the reward of a run, or imitated its
/// demonstrations, is also put among that run's policies. If it is a posterior's reward, that is the
/// one with the highest bound of those that were kept and are not suspicious; else the last.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The environment, as pocket:breakout; `brex envs` lists them
    #[arg(value_name = "ENV")]
    environment: String,
    /// What to learn from: truth is the score of the game; a run directory with :mean, :map or
    /// :trex is the mean or the most probable reward of its posterior, squashed to between -1/2 and 1/2
    /// (:raw-mean and :raw-map: as it is, as published), or its ranking head, from 0 to 1; with
    /// :ensemble or :dropout that of the networks of `brex baseline`; a run directory or a folder of
    /// .episode files with :gail is imitated (GAIL) [default: truth]
    #[arg(long, value_name = "truth|DIR:WHICH")]
    reward: Option<RewardSource>,
    /// Begin as nobody, as a clone of the best fifth of the demonstrations whose ranking the reward was
    /// learned from, or as a policy of the same environment; with --resume, what was learned since
    /// counts [default: clone for rewards of a run in pocket games, else nothing]
    #[arg(long, value_name = "nothing|clone|FILE")]
    start: Option<Start>,
    /// The training's directory
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Go on with the training in the directory
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Replace an existing directory
    #[arg(long)]
    force: bool,
    /// Keep so many policies, evenly spread over the training
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    policies: u16,
    /// Keep the policies after these updates instead
    #[arg(
        long,
        value_name = "UPDATE,...",
        value_delimiter = ',',
        conflicts_with = "policies"
    )]
    keep: Vec<u64>,
    /// Save the state after so many seconds; 0 is after every update
    #[arg(long, value_name = "SECONDS", default_value_t = BETWEEN_SAVES.as_secs())]
    save_every: u64,
    #[command(flatten)]
    on: DeviceArgument,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    gail: GailSettings,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let name = &arguments.environment;
    let env = make(name).map_err(|error| BadInput::new(error.to_string()))?;
    let spec = env.spec().clone();
    drop(env);
    prepare(name, common.quiet)?;
    let device = open(arguments.on.device)?;
    let begun = match arguments.resume {
        true => Some(check_resumed(arguments, common)?),
        false => None,
    };
    let source = match (&arguments.reward, &begun) {
        (Some(source), _) => source.clone(),
        (None, Some((_, notes))) => notes.reward.parse().map_err(|e: String| BadInput::new(e))?,
        (None, None) => RewardSource::Truth,
    };
    let then = begun.as_ref().map(|(_, notes)| notes);
    let imitation = imitation(&source, arguments, then, &spec)?;
    let seed = begun.as_ref().map_or(common.seed, |(seed, _)| *seed);
    let reward = source.open(&spec, imitation.as_ref(), seed, &device, common.quiet)?;
    let mut folder = if let Some((_, notes)) = begun {
        if reward.identity != notes.reward_identity {
            let shown = arguments.out.display();
            let problem = format!("{source} is not the reward that the training was begun with");
            return Err(BadInput::new(format!("{shown}: {problem}")).into());
        }
        TrainingFolder::resume(&arguments.out, || make(name), reward.function, &device)?
    } else {
        let usual = Start::usual(&source, &spec);
        let from = arguments.start.as_ref().unwrap_or(&usual);
        let start = from.policy(&source, &spec, seed, &device, common.quiet)?;
        let mut settings = arguments.settings.clone();
        if start.is_some() {
            settings.for_players(&spec);
        }
        source.suit(&mut settings, &spec);
        let config = settings.over(&spec)?;
        let keep = kept(arguments, config.updates());
        let notes = Notes {
            reward: source.to_string(),
            reward_identity: reward.identity,
            imitation,
            keep: keep?,
        };
        let others = [("reward", source.to_string()), ("start", from.to_string())];
        let again = run_file("train", name, common.seed, &config, &others)?;
        let mut trainer =
            Trainer::new(config, common.seed, || make(name), reward.function, &device)?;
        if let Some(policy) = &start {
            trainer.begin_as(policy)?;
        }
        let files = [("run.toml", again)];
        let (out, force) = (&arguments.out, arguments.force);
        TrainingFolder::create(out, force, name, trainer, notes, &files)?
    };
    folder.between_saves = Duration::from_secs(arguments.save_every);
    let progress = Progress::start("train", common.quiet);
    let ended = folder.run(&progress)?;
    progress.finish();
    let mut choice = None;
    if ended == Ended::Finished
        && let Some(run) = source.run()
    {
        let judge = Judge {
            files: RunFiles::of(run),
            spec: &spec,
            seed,
            device: (&device, arguments.on.device),
            quiet: common.quiet,
        };
        choice = chosen(&source, &judge, &arguments.out)?;
        let policy = match &choice {
            Some(choice) => choice.policy.clone(),
            None => last_policy(&arguments.out)?,
        };
        keep_in_run(run, &source, &policy)?;
    }
    report(arguments, common, &folder, ended, choice.as_ref())?;
    Ok(Outcome::Done)
}

/// Which of several policies the training comes to, if a posterior can tell.
fn chosen(source: &RewardSource, judge: &Judge<'_>, training: &Path) -> Result<Option<Choice>> {
    if !source.is_of_posterior() || kept_policies(training)?.len() == 1 {
        return Ok(None);
    }
    Ok(Some(judge.choose(training)?))
}

/// How to imitate, if that is what to learn from: as `then`, or with the settings that were given.
fn imitation(
    source: &RewardSource,
    arguments: &Arguments,
    then: Option<&Notes>,
    spec: &Spec,
) -> Result<Option<Imitation>> {
    let RewardSource::Gail(folder) = source else {
        arguments.gail.refuse()?;
        return Ok(None);
    };
    if let Some(then) = then.and_then(|notes| notes.imitation) {
        return Ok(Some(arguments.gail.check_resumed(then)?));
    }
    let experts = Experts::read(folder, spec)?;
    Ok(Some(experts.imitation(folder, &arguments.gail, spec)?))
}

/// Leaves a policy in the run whose reward it learned from, so that it is judged with the others.
fn keep_in_run(run: &Path, source: &RewardSource, policy: &Path) -> Result<()> {
    let name = source.to_string();
    let name = name.rsplit(':').next().unwrap_or_default();
    let policies = RunFiles::of(run).policies;
    fs::create_dir_all(&policies).with_context(|| format!("{}", policies.display()))?;
    let bytes = fs::read(policy).with_context(|| format!("{}", policy.display()))?;
    let path = policies.join(format!("{name}.safetensors"));
    Ok(write_atomic(path, true, |writer| writer.write_all(&bytes))?)
}

/// The last policy that a training kept.
pub(crate) fn last_policy(training: &Path) -> Result<PathBuf> {
    let last = kept_policies(training)?.pop();
    Ok(last.context("at least one was kept")?.1)
}

/// The updates after which the policy is kept.
fn kept(arguments: &Arguments, updates: u64) -> Result<BTreeSet<u64>, BadInput> {
    if let Some(wrong) = arguments.keep.iter().find(|at| !(1..=updates).contains(at)) {
        return Err(BadInput::new(format!(
            "--keep {wrong}: the training has updates 1 to {updates}"
        )));
    }
    if !arguments.keep.is_empty() {
        return Ok(arguments.keep.iter().copied().collect());
    }
    let count = u64::from(arguments.policies);
    Ok((1..=count)
        .map(|part| (part * updates).div_ceil(count))
        .collect())
}

/// Refuses to go on with another training than the one in the folder, and gives its seed and notes.
fn check_resumed(arguments: &Arguments, common: &Common) -> Result<(u64, Notes)> {
    let (file, notes) = TrainingFolder::peek(&arguments.out)?;
    let shown = arguments.out.display();
    let differs = |what: &str, there: String, here: String| {
        let advice = "leave the flag out, or choose another --out";
        BadInput::new(format!(
            "{shown}: {what} is {there} there and {here} here; {advice}"
        ))
    };
    if file.environment != arguments.environment {
        let (there, here) = (file.environment, arguments.environment.clone());
        return Err(differs("the environment", there, here).into());
    }
    if common.seed != 0 && file.seed != common.seed {
        let (there, here) = (file.seed.to_string(), common.seed.to_string());
        return Err(differs("the seed", there, here).into());
    }
    if let Some((what, there, here)) = arguments.settings.difference(&file.config) {
        return Err(differs(what, there, here).into());
    }
    Ok((file.seed, notes))
}

fn report(
    arguments: &Arguments,
    common: &Common,
    folder: &TrainingFolder,
    ended: Ended,
    choice: Option<&Choice>,
) -> Result<()> {
    let trainer = &folder.trainer;
    let steps = trainer.updates() * trainer.config().batch() as u64;
    let recent = trainer.recent();
    let last = policy_path(&arguments.out, trainer.updates());
    let policy = choice.map_or(&last, |choice| &choice.policy);
    if common.json {
        let result = json!({
            "environment": arguments.environment,
            "finished": ended == Ended::Finished,
            "updates": trainer.updates(),
            "steps": steps,
            "recent_score": recent.map(|(score, _)| score),
            "recent_length": recent.map(|(_, length)| length),
            "steps_per_second": folder.steps_per_second(),
            "policy": (ended == Ended::Finished).then(|| policy.display().to_string()),
            "judged": choice.map(Choice::candidates),
        });
        return Ok(print(&json_text(&result)?)?);
    }
    let mut table = Table::new([
        "steps",
        "updates",
        "recent score",
        "recent length",
        "steps/s",
    ]);
    let number = |value: f64| numbers::trimmed(value, 5);
    table.row([
        numbers::count(usize::try_from(steps)?),
        numbers::count(usize::try_from(trainer.updates())?),
        recent.map_or_else(String::new, |(score, _)| number(score)),
        recent.map_or_else(String::new, |(_, length)| number(length)),
        number(folder.steps_per_second()),
    ]);
    print(&table.show(Style::for_stdout()))?;
    let out = arguments.out.display();
    if ended == Ended::Stopped {
        say(&format!(
            "stopped; to go on: brex train {} --out {out} --resume",
            arguments.environment
        ));
        return Ok(());
    }
    if let Some(choice) = choice {
        print(&choice.table().show(Style::for_stdout()))?;
    }
    say(&next_steps(&arguments.environment, &arguments.out, policy));
    Ok(())
}

fn next_steps(environment: &str, out: &Path, policy: &Path) -> String {
    let (out, policy) = (out.display(), policy.display());
    format!(
        "written to {out}\nlook at {out}/curve.svg\n\
         next: brex rollout {environment} --policy {policy} --episodes 100"
    )
}
