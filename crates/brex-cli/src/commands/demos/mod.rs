//! `brex demos`: ranked demonstrations, made as the paper made them.
//!
//! An agent is trained on the true score. Checkpoints of its first part show episodes, from clumsy to
//! fair ([`skill`] and [`mod@spread`] say which); all strict comparisons of their scores are the
//! preferences. Four more checkpoints are the policies A, B, C and D that rewards and bounds are
//! judged by; the best demonstration lies well below the last of them.

mod add;
mod files;
mod skill;
mod spread;

pub(crate) use add::{Rank, add};

use crate::args::Common;
use crate::atari::prepare;
use crate::commands::train::{Ended, Notes, Settings, TrainingFolder, policy_path, run_file};
use crate::device::{DeviceArgument, open};
use crate::exit::{BadInput, Outcome};
use crate::interrupt;
use crate::player::read_policy;
use crate::progress::Progress;
use crate::run_files::write_text;
use crate::terminal::{Style, json_text, print, say};
use anyhow::{Result, bail};
use brex_core::Episode;
use brex_envs::{Spec, make};
use brex_learn::{Agent, Device, PolicyFile, PpoConfig, Trainer, play_episodes};
use brex_store::AtomicDir;
use files::{Demonstration, Judge, Results};
use serde_json::json;
use skill::{Checkpoint, Choice, PAPER_UPDATES};
use spread::spread;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// So many episodes are played for each demonstration that is chosen of them.
const TAKES_FOR_ONE: usize = 3;

const JUDGES: [&str; 4] = ["A", "B", "C", "D"];

/// Make ranked demonstrations with an agent that learns
///
/// Trains on the true score and records episodes of checkpoints, from clumsy to fair. Leaves the episodes,
/// all strict preferences among them (ties are left out), and the policies A, B, C and D of
/// increasing skill to judge rewards by.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The environment, as pocket:breakout; `brex envs` lists them. With --add: a run directory
    #[arg(value_name = "ENV|DIR")]
    environment: String,
    /// The directory to write
    #[arg(long, value_name = "DIR", required_unless_present = "add")]
    out: Option<PathBuf>,
    /// Add a recorded episode to the demonstrations of a run
    #[arg(long, value_name = "EPISODE", requires = "rank", conflicts_with_all = ["out", "from", "resume", "force"])]
    add: Option<PathBuf>,
    /// With --add: better-than-all, worse-than-all, or between and two ids, the worse one first
    #[arg(long, value_name = "RANK", num_args = 1..=3, requires = "add")]
    rank: Vec<String>,
    /// Take the checkpoints of a training that exists, from its directory
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    from: Option<PathBuf>,
    /// Go on where an earlier call was stopped
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Replace an existing directory
    #[arg(long)]
    force: bool,
    /// How many demonstrations [default: 100; Atari: 12, as published]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=999))]
    count: Option<u16>,
    /// Episodes that a checkpoint plays to show its skill [default: 30]; for Atari, of how many its
    /// demonstration is the one nearest to their average [default: 1, as published]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    takes: Option<u16>,
    /// Episodes that each of the policies A to D is judged by
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(2..))]
    episodes: u16,
    #[command(flatten)]
    on: DeviceArgument,
    #[command(flatten)]
    settings: Settings,
}

impl Arguments {
    /// The directory to write; clap has seen to it that there is one.
    fn directory(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new("."))
    }

    /// Episodes of pocket games are shorter than those of Atari games by a factor of ten and have
    /// smaller frames, and agents exploit what is learned from a dozen of them.
    fn count(&self, spec: &Spec) -> u16 {
        let usual = if spec.is_atari() { 12 } else { 100 };
        self.count.unwrap_or(usual)
    }

    /// A checkpoint that demonstrates or is judged. Agents of pocket games learn to begin play by
    /// themselves, but then it is begun for them, as for the paper's agents: one that forgets to launch
    /// its last ball would be judged by how long it waits.
    fn performer(&self, path: &Path, spec: &Spec) -> Result<PolicyFile, BadInput> {
        let mut file = read_policy(path, spec)?;
        file.serve = self.settings.serve().unwrap_or(!spec.is_atari());
        Ok(file)
    }
}

/// How an environment's checkpoints are chosen.
fn choice(spec: &Spec) -> Choice {
    if spec.is_atari() {
        Choice::Published
    } else {
        Choice::BySkill
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    if let Some(episode) = &arguments.add {
        return run_add(arguments, episode, common);
    }
    let name = &arguments.environment;
    let env = make(name).map_err(|error| BadInput::new(error.to_string()))?;
    let spec = env.spec().clone();
    drop(env);
    if let Some(training) = &arguments.from {
        found(training)?;
    }
    let device = open(arguments.on.device)?;
    prepare(name, common.quiet)?;
    let config = config(arguments, &spec)?;
    if arguments.resume {
        if !arguments.directory().join("training").exists() {
            let shown = arguments.directory().display();
            let problem = "nothing to go on from; start afresh without --resume";
            return Err(BadInput::new(format!("{shown}: {problem}")).into());
        }
    } else {
        let out = AtomicDir::create(arguments.directory(), arguments.force)?;
        let again = run_file("demos", name, common.seed, &config, &[])?;
        write_text(&out.path().join("run.toml"), &again)?;
        out.commit()?;
    }
    let training = match &arguments.from {
        Some(training) => training.clone(),
        None => match trained(arguments, common, config, &device)? {
            Some(training) => training,
            None => return Ok(Outcome::Done),
        },
    };
    let results = record(arguments, common, &training, &device)?;
    results.write(arguments.directory())?;
    if common.json {
        print(&json_text(&results.json(name))?)?;
    } else {
        print(&results.text(Style::for_stdout()))?;
        let out = arguments.directory().display();
        say(&format!(
            "written to {out}\nnext: brex render {out}/episodes/{}.episode -o best.gif",
            id(arguments.count(&spec).into(), arguments.count(&spec))
        ));
    }
    if let Some(problem) = results.problem() {
        say(&problem);
        return Ok(Outcome::NotTrusted);
    }
    Ok(Outcome::Done)
}

/// Adds an episode to a run that exists.
fn run_add(arguments: &Arguments, episode: &Path, common: &Common) -> Result<Outcome> {
    let directory = Path::new(&arguments.environment);
    let added = add(directory, episode, &Rank::of(&arguments.rank)?)?;
    if common.json {
        let result = json!({ "id": added.id, "preferences": added.preferences });
        print(&json_text(&result)?)?;
    } else {
        let (count, shown) = (added.preferences, directory.display());
        say(&format!(
            "added {} with {count} preferences\nnext: brex features {shown}, then brex sample \
             {shown} --force",
            added.id
        ));
    }
    Ok(Outcome::Done)
}

/// The settings: half the usual steps for pocket games, because the demonstrations show a third of what
/// an agent learns in them; for Atari as many as the paper's agents had.
fn config(arguments: &Arguments, spec: &Spec) -> Result<PpoConfig, BadInput> {
    let mut settings = arguments.settings.clone();
    if settings.steps.is_none() {
        let paper = PAPER_UPDATES * 9 * 128;
        let atari = spec.is_atari();
        settings.steps = Some(if atari { paper } else { 1_000_000 });
    }
    settings.over(spec)
}

/// Trains, or goes on training, and gives the training's directory; none if somebody asked to stop.
fn trained(
    arguments: &Arguments,
    common: &Common,
    config: PpoConfig,
    device: &Device,
) -> Result<Option<PathBuf>> {
    let name = &arguments.environment;
    let directory = arguments.directory().join("training");
    let updates = config.updates();
    let env = make(name)?;
    let count = arguments.count(env.spec());
    let keep = choice(env.spec()).candidates(count.into(), updates);
    let mut folder = if arguments.resume {
        TrainingFolder::resume(&directory, || make(name), None, device)?
    } else {
        let notes = Notes {
            reward: "truth".to_owned(),
            reward_identity: None,
            imitation: None,
            keep,
        };
        let trainer = Trainer::new(config, common.seed, || make(name), None, device)?;
        TrainingFolder::create(&directory, false, name, trainer, notes, &[])?
    };
    let progress = Progress::start("train", common.quiet);
    let ended = folder.run(&progress)?;
    progress.finish();
    if ended == Ended::Stopped {
        let out = arguments.directory().display();
        say(&format!(
            "stopped; to go on: brex demos {name} --out {out} --resume"
        ));
        return Ok(None);
    }
    Ok(Some(directory))
}

/// The policies of a training, the earliest first.
fn found(training: &Path) -> Result<Vec<Checkpoint>> {
    let (file, _) = TrainingFolder::peek(training)?;
    let updates = file.config.updates();
    if file.update < updates {
        let shown = training.display();
        let (at, problem) = (file.update, "finish it with brex train --resume");
        return Err(BadInput::new(format!(
            "{shown}: the training is at update {at} of {updates}; {problem}"
        ))
        .into());
    }
    let kept = (1..=updates).map(|update| (update, policy_path(training, update)));
    let kept: Vec<Checkpoint> = kept.filter(|(_, path)| path.exists()).collect();
    if kept.len() < JUDGES.len() {
        let shown = training.display();
        let (count, problem) = (kept.len(), "train with more --policies");
        return Err(BadInput::new(format!(
            "{shown}: only {count} policies were kept; {problem}"
        ))
        .into());
    }
    Ok(kept)
}

/// Plays the demonstrations, and judges the policies.
fn record(
    arguments: &Arguments,
    common: &Common,
    training: &Path,
    device: &Device,
) -> Result<Results> {
    let env = make(&arguments.environment)?;
    let checkpoints = found(training)?;
    let usual = if env.spec().is_atari() { 1 } else { 30 };
    let takes = usize::from(arguments.takes.unwrap_or(usual));
    let progress = Progress::start("demonstrations", common.quiet);
    let mut played: BTreeMap<(usize, usize), Vec<Episode>> = BTreeMap::new();
    // A checkpoint that has to show more than a few of its episodes plays another round.
    let mut plays = |index: usize, round: usize| -> Result<Vec<Episode>> {
        if let Some(known) = played.get(&(index, round)) {
            return Ok(known.clone());
        }
        let (update, path) = &checkpoints[index];
        let agent = arguments.performer(path, env.spec())?.agent(device)?;
        let seed = common.seed ^ update << 32 ^ (round as u64) << 16;
        let episodes = play(arguments, &agent, takes, seed)?;
        played.insert((index, round), episodes.clone());
        progress.update(played.len() as u64, None, "checkpoints played");
        Ok(episodes)
    };
    let skill = |index: usize| plays(index, 0).map(|episodes| average(&episodes));
    let count = arguments.count(env.spec());
    let mut chosen = choice(env.spec()).choose(count.into(), &checkpoints, skill)?;
    let mut shown = Vec::new();
    if let Some(most) = chosen.most {
        let players = chosen.demonstrators.len();
        let rounds = (TAKES_FOR_ONE * usize::from(count)).div_ceil(players * takes);
        let mut pool = Vec::new();
        for &checkpoint in &chosen.demonstrators {
            for round in 0..rounds {
                let episodes = plays(checkpoint, round)?;
                pool.extend(episodes.into_iter().map(|episode| (checkpoint, episode)));
            }
        }
        let scored: Vec<(usize, f64)> = pool.iter().map(|(at, e)| (*at, e.score)).collect();
        let places = spread(&scored, count.into(), most);
        shown.extend(places.into_iter().map(|place| pool[place].clone()));
    } else {
        for (index, &checkpoint) in chosen.demonstrators.iter().enumerate() {
            let same = |before: &&usize| **before == checkpoint;
            let round = chosen.demonstrators[..index].iter().filter(same).count();
            let episode = typical(plays(checkpoint, round)?);
            shown.extend(episode.map(|episode| (checkpoint, episode)));
        }
    }
    if shown.is_empty() {
        bail!("no episode was played");
    }
    let shown = shown.into_iter().enumerate();
    let demonstrations = shown.map(|(index, (checkpoint, episode))| Demonstration {
        id: id(index + 1, count),
        update: checkpoints[checkpoint].0,
        episode,
    });
    let demonstrations = demonstrations.collect();
    progress.finish();
    let mut judged: BTreeMap<usize, Vec<Episode>> = BTreeMap::new();
    let mut judge = |checkpoint: usize| -> Result<Vec<Episode>> {
        if let Some(known) = judged.get(&checkpoint) {
            return Ok(known.clone());
        }
        let file = arguments.performer(&checkpoints[checkpoint].1, env.spec())?;
        let episodes = usize::from(arguments.episodes);
        let played = play(arguments, &file.agent(device)?, episodes, common.seed)?;
        judged.insert(checkpoint, played.clone());
        Ok(played)
    };
    chosen.set_right(|checkpoint| judge(checkpoint).map(|episodes| average(&episodes)))?;
    let mut judges = Vec::new();
    for (name, checkpoint) in JUDGES.into_iter().zip(chosen.judges) {
        let (update, path) = &checkpoints[checkpoint];
        let file = arguments.performer(path, env.spec())?;
        judges.push(Judge::new(name, *update, file, &judge(checkpoint)?));
    }
    Ok(Results {
        demonstrations,
        judges,
    })
}

/// What a demonstration is called, so that names sort as numbers do.
fn id(number: usize, count: u16) -> String {
    match count {
        100.. => format!("demo-{number:03}"),
        _ => format!("demo-{number:02}"),
    }
}

fn average(episodes: &[Episode]) -> f64 {
    episodes.iter().map(|e| e.score).sum::<f64>() / episodes.len() as f64
}

/// The episode whose score is nearest to their average; of equally near ones the first.
fn typical(mut episodes: Vec<Episode>) -> Option<Episode> {
    let average = average(&episodes);
    let distance = |episode: &Episode| (episode.score - average).abs();
    episodes.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    episodes.into_iter().next()
}

fn play(arguments: &Arguments, agent: &Agent, episodes: usize, seed: u64) -> Result<Vec<Episode>> {
    let name = &arguments.environment;
    interrupt::listen();
    let going = |_| !interrupt::requested();
    let played = play_episodes(agent, || make(name), episodes, seed, going)?;
    let out = arguments.directory().display();
    match played {
        Some(episodes) => Ok(episodes),
        None => bail!("stopped; to go on: brex demos {name} --out {out} --resume"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typical_episode_is_neither_the_best_nor_the_worst() {
        let scored = |score: f64| Episode {
            environment: "pocket:breakout".to_owned(),
            version: 1,
            seed: 0,
            actions: Vec::new(),
            score,
            truncated: false,
            checksum: 0,
            frames: None,
        };
        let chosen = |scores: &[f64]| typical(scores.iter().copied().map(scored).collect());
        let score = |scores: &[f64]| chosen(scores).map(|episode| episode.score);
        assert_eq!(score(&[3.0, 90.0, 40.0, 1.0]), Some(40.0));
        assert_eq!(score(&[7.0]), Some(7.0));
        assert_eq!(score(&[]), None);
    }
}
