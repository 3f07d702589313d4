//! `brex reproduce`: the paper's experiments, done again.

mod gridworld;
mod gridworld_files;
mod gridworld_sound;
mod gridworld_summary;
mod gridworld_text;

pub(crate) use gridworld::Gridworld;

use crate::args::Common;
use crate::exit::Outcome;
use crate::numbers;
use crate::terminal::{json_text, print, say};
use crate::units::Results;
use anyhow::Result;
use serde_json::json;
use std::path::Path;

/// Do the paper's experiments again
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, clap::Subcommand)]
enum Experiment {
    Gridworld(gridworld::Arguments),
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    match &arguments.experiment {
        Experiment::Gridworld(arguments) => gridworld::run(arguments, common),
    }
}

/// Prints the results of a study, or how much of it is there and how to go on.
pub(crate) fn report(
    results: Option<&Results>,
    (done, of): (usize, usize),
    folder: Option<&Path>,
    common: &Common,
) -> Result<()> {
    let there = format!("{} of {} units", numbers::count(done), numbers::count(of));
    match results {
        Some(results) if common.json => print(&results.json)?,
        Some(results) => {
            print(&results.text)?;
            if let (Some(folder), false) = (folder, common.quiet) {
                say(&format!(
                    "{there} and the results are in {}",
                    folder.display()
                ));
            }
        }
        None if common.json => print(&json_text(&json!({ "done": done, "of": of }))?)?,
        None => {
            let place =
                folder.map_or_else(String::new, |folder| format!(" in {}", folder.display()));
            print(&format!(
                "{there} are there{place}\n\
                 Results follow when all are: run the other shards, then brex merge DIR... --out DIR\n"
            ))?;
        }
    }
    Ok(())
}
