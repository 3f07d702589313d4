//! `brex reproduce`: the paper's experiments, done again.

mod coverage;
mod coverage_files;
mod coverage_summary;
mod coverage_text;
mod games;
mod gridworld;
mod gridworld_files;
mod gridworld_sound;
mod gridworld_summary;
mod gridworld_text;

pub(crate) use coverage::Coverage;
pub(crate) use games::Games;
pub(crate) use gridworld::Gridworld;

use crate::args::Common;
use crate::exit::Outcome;
use crate::numbers;
use crate::progress::Progress;
use crate::terminal::{json_text, print, say};
use crate::units::{Ended, Results, SO_FAR, Shard, Study, StudyFolder, run_units};
use anyhow::{Result, bail};
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
    Coverage(coverage::Arguments),
    Games(games::Arguments),
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    match &arguments.experiment {
        Experiment::Gridworld(arguments) => gridworld::run(arguments, common),
        Experiment::Coverage(arguments) => coverage::run(arguments, common),
        Experiment::Games(arguments) => games::run(arguments, common),
    }
}

/// Where the units of a study are kept, and which are run.
struct Kept<'a> {
    out: Option<&'a Path>,
    shard: Shard,
    force: bool,
}

/// Runs what is missing of a study, and prints the results or how far it is. `label` and `remark`
/// are for the progress.
fn run_study<S: Study>(
    study: &S,
    kept: &Kept<'_>,
    (label, remark): (&'static str, &str),
    common: &Common,
    compute: impl Fn(&[usize]) -> Result<Vec<S::UnitResult>> + Sync,
) -> Result<Outcome> {
    let mut folder = match kept.out {
        Some(out) => StudyFolder::open(study, out, kept.force)?,
        None => StudyFolder::in_memory(study),
    };
    let progress = Progress::start(label, common.quiet);
    let ended = run_units(study, &mut folder, kept.shard, (&progress, remark), compute);
    progress.finish();
    let (done, of) = folder.progress();
    if ended? == Ended::Stopped {
        match kept.out {
            Some(out) => bail!(
                "stopped; {done} of {of} units are kept in {}, and the same command goes on from there",
                out.display()
            ),
            None => bail!("stopped; nothing is kept without --out"),
        }
    }
    let outcome = folder.outcome();
    let results = folder.finish()?;
    report(results.as_ref(), (done, of), kept.out, common)?;
    Ok(outcome)
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
            let page = folder.map(|folder| folder.join(SO_FAR));
            if let Some(page) = page.filter(|page| page.exists() && !common.quiet) {
                say(&format!("what is done is in {}", page.display()));
            }
        }
    }
    Ok(())
}
