//! The flags of the command, as clap sees them.

use crate::commands::{
    baseline, check, coverage, curves, demos, doctor, drex, envs, evaluate, export, features,
    improve, merge, pretrain, quickstart, render, reproduce, rollout, sample, train,
};
use clap::builder::styling::{AnsiColor, Styles};
use std::path::PathBuf;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Rewards from preferences, with honest uncertainty.
///
/// Turns preferences over trajectories into a posterior over reward functions, and that posterior
/// into lower bounds on the return of policies.
#[derive(Debug, clap::Parser)]
#[command(
    name = "brex",
    version,
    styles = STYLES,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage or bad input; 3 done, but the answer \
                  is not to be trusted.\nStart with `brex quickstart`."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The commands.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Quickstart(quickstart::Arguments),
    Check(check::Arguments),
    Sample(sample::Arguments),
    Evaluate(evaluate::Arguments),
    Export(export::Arguments),
    Coverage(coverage::Arguments),
    Reproduce(reproduce::Arguments),
    Merge(merge::Arguments),
    Envs(envs::Arguments),
    Demos(demos::Arguments),
    Drex(drex::Arguments),
    Pretrain(pretrain::Arguments),
    Features(features::Arguments),
    Baseline(baseline::Arguments),
    Train(train::Arguments),
    Improve(improve::Arguments),
    Curves(curves::Arguments),
    Rollout(rollout::Arguments),
    Render(render::Arguments),
    Doctor(doctor::Arguments),
}

/// Flags that mean the same for every command.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "For every command")]
pub(crate) struct Common {
    /// The same seed gives the same bytes, on any number of threads
    #[arg(long, global = true, default_value_t = 0, value_name = "S")]
    pub(crate) seed: u64,
    /// How many threads to use; all cores unless told otherwise
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress and no remarks
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Take flags from this TOML file; the command line wins
    #[arg(long, global = true, value_name = "FILE.toml")]
    pub(crate) config: Option<PathBuf>,
}
