//! The `brex` command: arguments, progress, tables and figures around the library crates. No
//! algorithm lives here.

mod args;
mod atari;
mod checksum;
mod commands;
mod config;
mod device;
mod example_problem;
mod exit;
mod feature_sums;
mod honesty;
mod input;
mod interrupt;
mod numbers;
mod player;
mod plot;
mod progress;
mod recorded;
mod report;
mod rollouts;
mod run_directory;
mod run_files;
mod sharpness;
mod table;
mod terminal;
mod units;
mod update_log;

use anyhow::{Context, Result};
use args::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
use exit::Outcome;
use std::ffi::OsString;
use std::process::ExitCode;
use terminal::{Style, say};

/// Networks take and leave memory by the megabyte; the system's allocator gives it back each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words = std::env::args_os().collect();
    match run(words) {
        Ok(outcome) => outcome.into(),
        // The reader has gone: nobody is left to be told.
        Err(error) if exit::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let style = Style::for_stderr();
            let message = exit::message_of(&error);
            say(&format!("{} {message}", style.red("error:")));
            exit::code_of(&error)
        }
    }
}

fn run(words: Vec<OsString>) -> Result<Outcome> {
    let mut command = Arguments::command();
    command.build();
    let words = config::expand(&command, words)?;
    let matches = Arguments::command().get_matches_from(words);
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let common = &arguments.common;
    // Zero stands for all cores.
    let threads = common.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().context("cannot start the threads")?;
    pool.install(|| match &arguments.command {
        Command::Quickstart(arguments) => commands::quickstart::run(arguments, common),
        Command::Check(arguments) => commands::check::run(arguments, common),
        Command::Sample(arguments) => commands::sample::run(arguments, common),
        Command::Evaluate(arguments) => commands::evaluate::run(arguments, common),
        Command::Export(arguments) => commands::export::run(arguments, common),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments, common),
        Command::Merge(arguments) => commands::merge::run(arguments, common),
        Command::Envs(_) => commands::envs::run(common),
        Command::Demos(arguments) => commands::demos::run(arguments, common),
        Command::Drex(arguments) => commands::drex::run(arguments, common),
        Command::Pretrain(arguments) => commands::pretrain::run(arguments, common),
        Command::Features(arguments) => commands::features::run(arguments, common),
        Command::Baseline(arguments) => commands::baseline::run(arguments, common),
        Command::Train(arguments) => commands::train::run(arguments, common),
        Command::Improve(arguments) => commands::improve::run(arguments, common),
        Command::Curves(arguments) => commands::curves::run(arguments, common),
        Command::Rollout(arguments) => commands::rollout::run(arguments, common),
        Command::Render(arguments) => commands::render::run(arguments, common),
        Command::Doctor(arguments) => commands::doctor::run(arguments, common),
        Command::Coverage(arguments) => commands::coverage::run(arguments, common),
    })
}
