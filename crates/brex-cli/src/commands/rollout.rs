//! `brex rollout`: play episodes with a policy and record them.

use crate::args::Common;
use crate::atari::prepare;
use crate::device::DeviceArgument;
use crate::exit::Outcome;
use crate::numbers;
use crate::player::Player;
use crate::rollouts::{Rollouts, file_name};
use crate::table::Table;
use crate::terminal::{Style, json_text, print};
use anyhow::Result;
use brex_core::Episode;
use brex_store::{AtomicDir, write_episode};
use serde_json::json;
use std::path::PathBuf;

/// Play episodes with a policy and record them
///
/// Prints scores and lengths. With --out, each episode is kept as a file of seed and actions, a few
/// kilobytes, from which `brex render` makes pictures.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The environment, as pocket:breakout; `brex envs` lists them
    #[arg(value_name = "ENV")]
    environment: String,
    /// Who plays: noop, random, good, hacker, a mixture as good:0.5+random, or a policy that `brex
    /// train` left, alone or as FILE.safetensors:0.5+random
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
    /// Cut episodes off after this many steps; the paper did so after 7,000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    #[command(flatten)]
    on: DeviceArgument,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let rollouts = Rollouts {
        environment: &arguments.environment,
        player: &arguments.policy,
        episodes: arguments.episodes,
        max_steps: arguments.max_steps,
        seed: common.seed,
        device: arguments.on.device,
        quiet: common.quiet,
    };
    rollouts.check()?;
    prepare(&arguments.environment, common.quiet)?;
    let out = match &arguments.out {
        Some(path) => Some(AtomicDir::create(path, arguments.force)?),
        None => None,
    };
    let episodes = rollouts.play()?;
    if let Some(out) = out {
        for (index, episode) in episodes.iter().enumerate() {
            write_episode(out.path().join(file_name(index)), episode, false)?;
        }
        out.commit()?;
    }
    report(arguments, common, &episodes)?;
    Ok(Outcome::Done)
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
