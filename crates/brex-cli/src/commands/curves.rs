//! `brex curves`: learning curves of several trainings in one picture.

use crate::args::Common;
use crate::commands::train::{TrainingFolder, curve, read_curve};
use crate::exit::{BadInput, Outcome};
use crate::numbers;
use crate::player::script_episode;
use crate::plot::{CurvePanel, PlotFormat};
use crate::table::Table;
use crate::terminal::{Style, json_text, print};
use anyhow::Result;
use brex_envs::{EnvError, Mixture, Script, make};
use brex_store::{StoreError, write_atomic};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Episodes of a script that a level is the mean of.
const EPISODES: u64 = 100;

/// Draw the learning curves of trainings
///
/// A panel for each environment, a line for each training, and the mean scores of the scripted
/// policies to compare with, where an environment has them.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Directories of `brex train`
    #[arg(value_name = "DIR", required = true)]
    trainings: Vec<PathBuf>,
    /// The picture to write
    #[arg(short, long, value_name = "FILE.svg|.png")]
    out: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// One training.
struct Line {
    environment: String,
    seed: u64,
    steps: u64,
    points: Vec<(f64, f64)>,
}

/// One environment: its trainings, and the scores of its scripts.
struct Group {
    environment: String,
    lines: Vec<Line>,
    levels: Vec<(String, f64)>,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let format = PlotFormat::of(&arguments.out)?;
    if !arguments.force && arguments.out.exists() {
        let path = arguments.out.clone();
        return Err(StoreError::Exists { path }.into());
    }
    let groups = groups(&arguments.trainings)?;
    let panels = groups.iter().map(|group| CurvePanel {
        title: group.environment.clone(),
        curves: group
            .lines
            .iter()
            .map(|line| (format!("seed {}", line.seed), line.points.clone()))
            .collect(),
        levels: group.levels.clone(),
        dots: Vec::new(),
    });
    let svg = curve::picture("Learning to play", panels.collect());
    let bytes = format.encode(svg)?;
    write_atomic(&arguments.out, arguments.force, |writer| {
        writer.write_all(&bytes)
    })?;
    if common.json {
        print(&json_text(&json!({ "trainings": as_json(&groups) }))?)?;
    } else {
        print(&text(&groups))?;
    }
    Ok(Outcome::Done)
}

fn groups(trainings: &[PathBuf]) -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for directory in trainings {
        let (file, notes) = TrainingFolder::peek(directory)?;
        let rows = read_curve(directory, file.update, &notes)?;
        let line = Line {
            environment: file.environment.clone(),
            seed: file.seed,
            steps: file.update * file.config.batch() as u64,
            points: curve::points(&rows),
        };
        match groups
            .iter_mut()
            .find(|g| g.environment == line.environment)
        {
            Some(group) => group.lines.push(line),
            None => groups.push(Group {
                environment: line.environment.clone(),
                levels: levels(&line.environment)?,
                lines: vec![line],
            }),
        }
    }
    Ok(groups)
}

/// Mean scores of the scripts that play at all. Emulators are too slow for an aside.
fn levels(environment: &str) -> Result<Vec<(String, f64)>> {
    let env = make(environment).map_err(|error| BadInput::new(error.to_string()))?;
    let scripts = [Script::Random, Script::Good];
    if !scripts.iter().all(|script| env.scripts().contains(script)) {
        return Ok(Vec::new());
    }
    let mean = |script: Script| {
        let scores: Result<Vec<f64>, EnvError> = (0..EPISODES)
            .into_par_iter()
            .map(|seed| {
                let mut env = make(environment)?;
                let played = script_episode(env.as_mut(), &Mixture::pure(script), (seed, seed))?;
                Ok(played.map_or(0.0, |episode| episode.score))
            })
            .collect();
        scores.map(|scores| scores.iter().sum::<f64>() / EPISODES as f64)
    };
    let named = scripts.into_iter();
    Ok(named
        .map(|script| Ok((script.name().to_owned(), mean(script)?)))
        .collect::<Result<_, EnvError>>()?)
}

fn last(line: &Line) -> Option<f64> {
    line.points.last().map(|point| point.1)
}

fn as_json(groups: &[Group]) -> Vec<Value> {
    let lines = groups.iter().flat_map(|group| &group.lines);
    lines
        .map(|line| {
            json!({
                "environment": line.environment,
                "seed": line.seed,
                "steps": line.steps,
                "recent_score": last(line),
            })
        })
        .collect()
}

fn text(groups: &[Group]) -> String {
    let number = |value: f64| numbers::trimmed(value, 4);
    let mut table = Table::new(["environment", "random", "good", "seed", "steps", "score"]);
    for group in groups {
        let level = |at: usize| {
            let level = group.levels.get(at);
            level.map_or_else(String::new, |level| number(level.1))
        };
        for line in &group.lines {
            table.row([
                group.environment.clone(),
                level(0),
                level(1),
                line.seed.to_string(),
                numbers::count(usize::try_from(line.steps).unwrap_or(usize::MAX)),
                last(line).map_or_else(String::new, number),
            ]);
        }
    }
    table.show(Style::for_stdout())
}
