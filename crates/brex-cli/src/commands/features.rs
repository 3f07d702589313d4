//! `brex features`: the sums of phi over demonstrations, and over rollouts of policies.

use crate::args::Common;
use crate::atari::prepare;
use crate::checksum::checksum;
use crate::device::{DeviceArgument, open};
use crate::exit::{BadInput, Outcome};
use crate::feature_sums::feature_sums;
use crate::numbers;
use crate::player::Player;
use crate::recorded::RecordedEpisodes;
use crate::rollouts::Rollouts;
use crate::run_files::{RunFiles, rollouts_of};
use crate::table::Table;
use crate::terminal::{Style, json_text, print, say};
use anyhow::{Context, Result};
use brex_core::{Episode, Matrix};
use brex_envs::{Mixture, Script, Spec};
use brex_learn::{EncoderFile, FeatureSum, Phi};
use brex_store::{EpisodeSums, RunFeatures, RunPolicy, read_run_features, write_run_features};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Sum the features of demonstrations and of rollouts of policies
///
/// Of a run directory: all recorded episodes, and rollouts of every policy in policies/, of No-Op,
/// and of those that --policy names. Rollouts are kept in rollouts/ and played again only if the
/// policy changed. An encoder that has learned nothing is run beside the trained one, so that an
/// evaluation can tell what learning is worth.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A run directory with an encoder, as `brex pretrain` leaves it
    #[arg(value_name = "DIR", required_unless_present = "episodes")]
    run: Option<PathBuf>,
    /// Instead of a run directory: a folder of .episode files
    #[arg(long, value_name = "FOLDER", conflicts_with = "run", requires_all = ["encoder", "out"])]
    episodes: Option<PathBuf>,
    /// Another encoder than the directory's
    #[arg(long, value_name = "FILE")]
    encoder: Option<PathBuf>,
    /// With --episodes: the file to write
    #[arg(long, value_name = "FILE.safetensors", requires = "episodes")]
    out: Option<PathBuf>,
    /// Policies to judge besides, as NAME=FILE.safetensors, NAME=noop|random|good|hacker, a
    /// mixture as NAME=good:0.5+random or NAME=FILE.safetensors:0.5+random, or NAME=FOLDER with
    /// episodes that were recorded before
    #[arg(long = "policy", value_name = "NAME=WHO", value_parser = named_player)]
    policies: Vec<(String, Player)>,
    /// Judge the scripts, mixtures of them, and policy D with random actions too: a ladder of skill
    #[arg(long)]
    ladder: bool,
    /// Rollouts of each policy
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    rollouts: u32,
    /// Divide features by one number, so that runs are comparable; raw is what the paper did
    #[arg(long, value_enum, default_value_t = Scaling::Norm)]
    scale: Scaling,
    /// Cut episodes off after this many steps; the paper did so after 7,000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    #[command(flatten)]
    on: DeviceArgument,
}

/// The shares of actions that policy D chooses on the ladder.
const NOISY_SHARES: [f64; 4] = [0.25, 0.5, 0.75, 0.9];

/// What features are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Scaling {
    /// The root of the mean square of phi's norm over the demonstrations
    Norm,
    /// Nothing
    Raw,
}

fn named_player(text: &str) -> Result<(String, Player), String> {
    let (name, who) = text
        .split_once('=')
        .ok_or("expected a name and who plays, as fast=fast.safetensors or no-op=noop")?;
    let plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err("a name has letters, digits, spaces, - _ . only".to_owned());
    }
    Ok((name.to_owned(), Player::parse(who)?))
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let (run, path) = execute(arguments, common)?;
    if common.json {
        print(&json_text(&summary(&run))?)?;
    } else {
        print(&table(&run).show(Style::for_stdout()))?;
        let mut text = format!("written to {}", path.display());
        if let Some(directory) = &arguments.run {
            text.push_str(&format!("\nnext: brex sample {}", directory.display()));
        }
        say(&text);
    }
    Ok(Outcome::Done)
}

/// Computes the sums and writes them: what was computed, and where it is.
pub(crate) fn execute(arguments: &Arguments, common: &Common) -> Result<(RunFeatures, PathBuf)> {
    let directory = arguments.run.as_deref();
    let files = RunFiles::of(directory.unwrap_or(Path::new(".")));
    let folder = arguments.episodes.as_ref().unwrap_or(&files.episodes);
    let recorded = RecordedEpisodes::read(folder)?;
    let spec = recorded.spec()?;
    if directory.is_some() && files.preferences.exists() {
        recorded.preferences(&files.preferences)?;
    }
    let encoder = arguments.encoder.as_ref().unwrap_or(&files.encoder);
    let (file, identity) = read_encoder(encoder, &spec)?;
    let device = open(arguments.on.device)?;
    let (trained, untrained) = (file.phi(&device)?, Phi::untrained(&file.shape, 0, &device));
    let players = players(arguments, directory.map(|_| files.policies.as_path()))?;
    let rollouts = |player| Rollouts {
        environment: spec.name,
        player,
        episodes: arguments.rollouts,
        max_steps: arguments.max_steps,
        seed: common.seed,
        device: arguments.on.device,
        quiet: common.quiet,
    };
    for (_, player) in &players {
        rollouts(player).check()?;
    }
    prepare(spec.name, common.quiet)?;
    let encoders = [&trained, &untrained];
    let sums = |episodes: &[Episode]| feature_sums(&encoders, spec.name, episodes, common.quiet);
    let demonstrations =
        sums(&recorded.episodes).with_context(|| format!("{}", folder.display()))?;
    // What was summed by the same encoder before need not be summed again.
    let earlier = match directory {
        Some(_) => read_run_features(&files.features).ok(),
        None => None,
    };
    let scale = match arguments.scale {
        Scaling::Norm => file.norm,
        Scaling::Raw => 1.0,
    };
    let earlier = earlier.filter(|run| run.encoder == identity && run.scale == scale);
    let untrained_units = match &earlier {
        Some(run) => Units {
            centre: run.untrained_centre.clone(),
            scale: run.untrained_scale,
        },
        None => Units::of(&demonstrations, 1, file.is_centred(), arguments.scale),
    };
    let centre = Vec::new();
    let units = [Units { centre, scale }, untrained_units];
    let episodes = measured(&demonstrations, &recorded.episodes, &units);
    let mut policies = Vec::new();
    for (name, player) in &players {
        if !common.quiet {
            say(&format!("policy {name}"));
        }
        let rollouts = rollouts(player);
        let identity = checksum(rollouts.who()?.to_string().as_bytes());
        let known = earlier.iter().flat_map(|run| &run.policies);
        // Files of earlier versions do not say how often policies do the same thing.
        let known =
            known.filter(|policy| policy.played == identity && policy.sums.repetition.is_some());
        let sums = match known.map(|policy| policy.sums.clone()).next() {
            Some(sums) => sums,
            None => {
                let played = if directory.is_some() {
                    let folder = &files.rollouts;
                    fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
                    rollouts.kept(&rollouts_of(&files, name))?
                } else {
                    rollouts.play()?
                };
                measured(&sums(&played)?, &played, &units)
            }
        };
        policies.push(RunPolicy {
            name: name.clone(),
            played: identity,
            sums,
        });
    }
    let [_, untrained_units] = units;
    let run = RunFeatures {
        environment: spec.name.to_owned(),
        version: spec.version,
        encoder: identity,
        scale,
        untrained_scale: untrained_units.scale,
        untrained_centre: untrained_units.centre,
        ids: recorded.ids,
        episodes,
        policies,
    };
    let path = arguments.out.clone().unwrap_or(files.features);
    write_run_features(&path, &run, directory.is_some())?;
    Ok((run, path))
}

/// Reads an encoder for an environment, and what tells it from others.
pub(crate) fn read_encoder(path: &Path, spec: &Spec) -> Result<(EncoderFile, String), BadInput> {
    let bad = |problem: String| BadInput::new(format!("{}: {problem}", path.display()));
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => bad("there is no encoder; brex pretrain makes one".into()),
        _ => bad(format!("cannot read: {error}")),
    })?;
    let file = match EncoderFile::from_bytes(&bytes) {
        // A published T-REX network will do too.
        Err(brex_learn::CheckpointError::Foreign) => EncoderFile::from_trex(&bytes, spec),
        other => other,
    };
    let file = file.map_err(|error| bad(error.to_string()))?;
    if file.environment != spec.name || file.version != spec.version {
        return Err(bad(format!(
            "the encoder is for {} version {}; this is {} version {}",
            file.environment, file.version, spec.name, spec.version
        )));
    }
    let expected = [spec.stack, spec.height, spec.width];
    if file.shape.observation != expected {
        let found = file.shape.observation;
        return Err(bad(format!(
            "it sees frames of {found:?}; expected {expected:?}"
        )));
    }
    Ok((file, checksum(&bytes)))
}

/// The policies of the directory by name, No-Op, and those that were asked for.
fn players(arguments: &Arguments, folder: Option<&Path>) -> Result<Vec<(String, Player)>> {
    let mut players = Vec::new();
    if let Some(folder) = folder {
        if folder.exists() {
            for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
                let path = entry?.path();
                if path.extension().is_some_and(|end| end == "safetensors") {
                    let stem = path.file_stem().unwrap_or_default();
                    players.push((stem.to_string_lossy().into_owned(), Player::File(path)));
                }
            }
            players.sort_by(|a, b| a.0.cmp(&b.0));
        }
        players.push(("No-Op".to_owned(), Player::Script(Script::Noop)));
    }
    if arguments.ladder {
        let scripts = [Script::Random, Script::Good, Script::Hacker];
        players.extend(scripts.map(|s| (s.name().to_owned(), Player::Script(s))));
        let mixtures = Mixture::ladder().into_iter();
        players.extend(mixtures.map(|mixture| (mixture.name(), Player::Mixture(mixture))));
        let best = folder.map(|folder| folder.join("D.safetensors"));
        if let Some(best) = best.filter(|path| path.exists()) {
            players.extend(NOISY_SHARES.map(|share| {
                (
                    format!("D:{share}+random"),
                    Player::Noisy(best.clone(), share),
                )
            }));
        }
    }
    for (name, player) in &arguments.policies {
        match players.iter_mut().find(|(there, _)| there == name) {
            Some((_, there)) => *there = player.clone(),
            None => players.push((name.clone(), player.clone())),
        }
    }
    Ok(players)
}

/// In which units features are given.
struct Units {
    /// What is taken off at every frame; empty if nothing is.
    centre: Vec<f64>,
    /// What they are divided by.
    scale: f64,
}

impl Units {
    /// Those that make the demonstrations' frames of one of the encoders comparable with others', each
    /// demonstration counting the same.
    fn of(sums: &[Vec<FeatureSum>], which: usize, centred: bool, scaling: Scaling) -> Self {
        let sums = sums.iter().map(|both| &both[which]);
        let sums: Vec<&FeatureSum> = sums.filter(|sum| sum.length > 0).collect();
        let features = sums.first().map_or(0, |sum| sum.values.len());
        let averaged = |of: &dyn Fn(&FeatureSum) -> f64| {
            let each = sums.iter().map(|sum| of(sum) / sum.length as f64);
            each.sum::<f64>() / sums.len().max(1) as f64
        };
        let mean = |at: usize| averaged(&|sum| sum.values[at]);
        let count = if centred { features } else { 0 };
        let centre: Vec<f64> = (0..count).map(mean).collect();
        let squares = averaged(&|sum| sum.squares);
        let about_centre = squares - centre.iter().map(|c| c * c).sum::<f64>();
        let scale = match scaling {
            Scaling::Norm if about_centre > 0.0 => about_centre.sqrt(),
            Scaling::Norm | Scaling::Raw => 1.0,
        };
        Self { centre, scale }
    }
}

/// Sums of both encoders, each in its units.
fn measured(sums: &[Vec<FeatureSum>], episodes: &[Episode], units: &[Units; 2]) -> EpisodeSums {
    let matrix = |which: usize| {
        let Units { centre, scale } = &units[which];
        let count = sums.first().map_or(0, |both| both[which].values.len());
        Matrix::from_fn(sums.len(), count, |row, column| {
            let sum = &sums[row][which];
            let centre = centre.get(column).copied().unwrap_or(0.0);
            (sum.values[column] - sum.length as f64 * centre) / scale
        })
    };
    EpisodeSums {
        features: matrix(0),
        untrained: Some(matrix(1)),
        lengths: episodes.iter().map(|e| e.actions.len() as f64).collect(),
        scores: episodes.iter().map(|episode| episode.score).collect(),
        repetition: Some(episodes.iter().map(Episode::repetition).collect()),
    }
}

fn summary(run: &RunFeatures) -> Value {
    let policies = run.policies.iter().map(|RunPolicy { name, sums, .. }| {
        json!({
            "policy": name,
            "rollouts": sums.lengths.len(),
            "mean_score": numbers::mean_and_sd(&sums.scores).0,
            "mean_length": numbers::mean_and_sd(&sums.lengths).0,
        })
    });
    json!({
        "environment": run.environment,
        "features": run.episodes.features.cols(),
        "scale": run.scale,
        "episodes": run.ids.len(),
        "policies": policies.collect::<Vec<Value>>(),
    })
}

fn table(run: &RunFeatures) -> Table {
    let mut table = Table::new(["policy", "rollouts", "score", "sd", "length"]);
    let number = |value: f64| numbers::trimmed(value, 5);
    let mut row = |name: &str, sums: &EpisodeSums| {
        let (mean, sd) = numbers::mean_and_sd(&sums.scores);
        table.row([
            name.to_owned(),
            sums.lengths.len().to_string(),
            number(mean),
            sd.map_or_else(String::new, number),
            number(numbers::mean_and_sd(&sums.lengths).0),
        ]);
    };
    row("demonstrations", &run.episodes);
    for policy in &run.policies {
        row(&policy.name, &policy.sums);
    }
    table
}
