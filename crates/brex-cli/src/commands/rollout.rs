//! `brex rollout`: play episodes with a policy and record them.

use crate::args::Common;
use crate::atari::prepare;
use crate::exit::{BadInput, Outcome};
use crate::interrupt;
use crate::numbers;
use crate::player::{Player, Ready, script_episode};
use crate::progress::Progress;
use crate::table::Table;
use crate::terminal::{Style, json_text, print};
use anyhow::{Result, bail};
use brex_core::{Episode, stream};
use brex_envs::{EnvError, Environment, Script, make};
use brex_learn::{Agent, play_episodes};
use brex_store::{AtomicDir, write_episode};
use rand::Rng;
use rayon::prelude::*;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Play episodes with a policy and record them
///
/// Prints scores and lengths. With --out, each episode is kept as a file of seed and actions, a few
/// kilobytes, from which `brex render` makes pictures.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The environment, as pocket:breakout; `brex envs` lists them
    #[arg(value_name = "ENV")]
    environment: String,
    /// Who plays: noop, random, good, hacker, or a policy that `brex train` left
    #[arg(long, value_name = "NAME|FILE.safetensors", value_parser = Player::parse)]
    policy: Player,
    /// How many episodes
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: u32,
    /// Keep the episodes in this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an existing directory
    #[arg(long, requires = "out")]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let env = make(&arguments.environment).map_err(|error| BadInput::new(error.to_string()))?;
    let player = arguments.policy.ready(env.as_ref())?;
    drop(env);
    prepare(&arguments.environment, common.quiet)?;
    let out = match &arguments.out {
        Some(path) => Some(AtomicDir::create(path, arguments.force)?),
        None => None,
    };
    let episodes = match &player {
        Ready::Script(script) => play_script(arguments, *script, common)?,
        Ready::Agent(agent) => play_agent(arguments, agent, common)?,
    };
    if let Some(out) = out {
        for (index, episode) in episodes.iter().enumerate() {
            let name = format!("{index:06}.episode");
            write_episode(out.path().join(name), episode, false)?;
        }
        out.commit()?;
    }
    report(arguments, common, &episodes)?;
    Ok(Outcome::Done)
}

/// Episodes of a policy from a file.
fn play_agent(arguments: &Arguments, agent: &Agent, common: &Common) -> Result<Vec<Episode>> {
    let progress = Progress::start("rollout", common.quiet);
    interrupt::listen();
    let total = arguments.episodes as usize;
    let name = &arguments.environment;
    let played = play_episodes(
        agent,
        || make(name),
        total,
        common.seed,
        |done| {
            progress.update(done as u64, Some(total as u64), "episodes");
            !interrupt::requested()
        },
    );
    progress.finish();
    match played? {
        Some(episodes) => Ok(episodes),
        None => bail!("stopped; nothing is kept"),
    }
}

/// All episodes of a script, in order; each has a seed of its own.
fn play_script(arguments: &Arguments, script: Script, common: &Common) -> Result<Vec<Episode>> {
    let progress = Progress::start("rollout", common.quiet);
    interrupt::listen();
    let done = AtomicU64::new(0);
    let total = u64::from(arguments.episodes);
    let episodes: Vec<Option<Episode>> = (0..total)
        .into_par_iter()
        .map_init(spare, |spare, index| {
            if interrupt::requested() {
                return Ok(None);
            }
            let episode = play_one(arguments, script, (common.seed, index), spare)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.update(done, Some(total), "episodes");
            Ok(Some(episode))
        })
        .collect::<Result<_, EnvError>>()?;
    progress.finish();
    let played: Option<Vec<Episode>> = episodes.into_iter().collect();
    match played {
        Some(episodes) => Ok(episodes),
        None => bail!("stopped; nothing is kept"),
    }
}

/// An environment that is used again for the next episode: an Atari game has a process to start.
type Spare = Option<Box<dyn Environment>>;

fn spare() -> Spare {
    None
}

fn play_one(
    arguments: &Arguments,
    script: Script,
    (seed, index): (u64, u64),
    spare: &mut Spare,
) -> Result<Episode, EnvError> {
    let mut seeds = stream(seed, "rollout", index);
    let (world, player) = (seeds.next_u64(), seeds.next_u64());
    let env = match spare {
        Some(env) => env,
        None => spare.insert(make(&arguments.environment)?),
    };
    script_episode(env.as_mut(), script, (world, player))
}

fn report(arguments: &Arguments, common: &Common, episodes: &[Episode]) -> Result<()> {
    let scores: Vec<f64> = episodes.iter().map(|episode| episode.score).collect();
    let lengths: Vec<f64> = episodes.iter().map(|e| e.actions.len() as f64).collect();
    let (score, length) = (
        numbers::mean_and_sd(&scores),
        numbers::mean_and_sd(&lengths),
    );
    if common.json {
        let result = json!({
            "environment": arguments.environment,
            "policy": arguments.policy.name(),
            "episodes": episodes.len(),
            "mean_score": score.0,
            "sd_score": score.1,
            "mean_length": length.0,
            "sd_length": length.1,
            "cut_off": episodes.iter().filter(|episode| episode.truncated).count(),
            "scores": scores,
            "lengths": lengths,
        });
        print(&json_text(&result)?)?;
        return Ok(());
    }
    let heads = [
        "policy", "episodes", "score", "sd", "lowest", "highest", "length", "sd", "cut off",
    ];
    let mut table = Table::new(heads);
    let number = |value: f64| numbers::trimmed(value, 5);
    table.row([
        arguments.policy.name(),
        numbers::count(episodes.len()),
        number(score.0),
        score.1.map_or_else(String::new, number),
        number(scores.iter().copied().fold(f64::INFINITY, f64::min)),
        number(scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        number(length.0),
        length.1.map_or_else(String::new, number),
        numbers::count(episodes.iter().filter(|e| e.truncated).count()),
    ]);
    let mut text = table.show(Style::for_stdout());
    if let Some(out) = &arguments.out {
        let out = out.display();
        text.push_str(&format!(
            "\nwritten to {out}\nnext: brex render {out}/000000.episode -o clip.gif\n"
        ));
    }
    print(&text)?;
    Ok(())
}
