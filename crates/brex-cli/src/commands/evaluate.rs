//! `brex evaluate`: lower bounds on the return of policies under the posterior.

use super::evaluation_report::Report;
use super::run_evaluation::RunEvaluation;
use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::input::probability;
use crate::numbers;
use crate::plot::{DrawnFrom, PlotFormat};
use crate::run_files::RunFiles;
use crate::terminal::{Style, json_text, print, say, warn};
use anyhow::{Context, Result};
use brex_core::Draws;
use brex_posterior::{EvaluateOptions, Evaluation, evaluate, evaluate_samples};
use brex_store::{StoreError, read_draws, read_policies, read_vector, write_atomic};
use serde_json::Value;
use std::path::PathBuf;

/// Bound the return of policies under the posterior
///
/// For each policy: the mean return, VaR (the delta quantile: a share of delta of the posterior
/// lies below it) and CVaR (the mean of what lies below it), each with its Monte-Carlo error;
/// higher is better. A bound whose draws have not converged is refused, and the exit code is 3.
/// Draws from a file that brex did not write are judged with a warning instead.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A run directory with a posterior, as `brex sample DIR` leaves it: its policies are judged
    #[arg(value_name = "DIR", conflicts_with_all = ["policies", "plot", "out"])]
    pub(crate) run: Option<PathBuf>,
    /// A directory that `brex sample` wrote, or draws x features that others made (.npy, ...)
    #[arg(long, value_name = "DIR|FILE", required_unless_present_any = ["run", "returns"])]
    pub(crate) posterior: Option<PathBuf>,
    /// The policies: {"A": {"phi": [...]}} or {"A": {"rollouts": [[...], ...]}} in JSON, or a table
    /// with one row per policy
    #[arg(long, value_name = "FILE", required_unless_present_any = ["run", "returns"])]
    pub(crate) policies: Option<PathBuf>,
    /// Instead of weights and policies: samples of a policy's return, one .npy for each policy, from
    /// methods that give these (ensembles, dropout)
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = named_file, conflicts_with_all = ["run", "posterior", "policies"])]
    pub(crate) returns: Vec<(String, PathBuf)>,
    /// The share of the posterior below the bound; may be given several times
    #[arg(long, value_name = "D", default_values_t = [0.05], value_delimiter = ',', value_parser = probability)]
    pub(crate) delta: Vec<f64>,
    /// Draw the return distributions with their bounds
    #[arg(long, value_name = "FILE.svg|.png")]
    pub(crate) plot: Option<PathBuf>,
    /// Write the result of --json to a file too
    #[arg(long, value_name = "FILE.json")]
    pub(crate) out: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Show bounds that have not converged too, marked with `?`; the exit code stays 3
    #[arg(long)]
    pub(crate) untrusted: bool,
}

/// Policies that were judged, to be reported.
pub(crate) struct Judged {
    evaluation: Evaluation,
    heading: String,
    /// Whether bounds that have not converged are shown.
    untrusted: bool,
    /// Whether the draws were made by others.
    foreign: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    if let Some(directory) = &arguments.run {
        let judged = RunEvaluation::execute(arguments, directory, common)?;
        if common.json {
            print(&json_text(&judged.json())?)?;
        } else {
            print(&judged.text(Style::for_stdout()))?;
        }
        let files = RunFiles::of(directory);
        judged.report_page(&files)?;
        if !common.json {
            let (returns, report) = (files.returns.display(), files.report.display());
            say(&format!("look at {returns}, or open {report} in a browser"));
        }
        return Ok(judged.outcome());
    }
    let judged = execute(arguments, common)?;
    if common.json {
        print(&json_text(&judged.json()?)?)?;
    } else {
        print(&judged.text(Style::for_stdout()))?;
    }
    judged.remark(common);
    Ok(judged.outcome())
}

/// Judges the policies and writes the files that were asked for.
pub(crate) fn execute(arguments: &Arguments, common: &Common) -> Result<Judged> {
    let plot = match &arguments.plot {
        Some(path) => Some((path, PlotFormat::of(path)?)),
        None => None,
    };
    // Found before the work, so that a finished evaluation is not thrown away.
    for path in [&arguments.plot, &arguments.out].into_iter().flatten() {
        if !arguments.force && path.exists() {
            let path = path.clone();
            return Err(StoreError::Exists { path }.into());
        }
    }
    let options = EvaluateOptions {
        deltas: arguments.delta.clone(),
        seed: common.seed,
        ..EvaluateOptions::default()
    };
    let judged = if arguments.returns.is_empty() {
        by_weights(arguments, &options)?
    } else {
        by_samples(arguments, &options)?
    };
    if let Some(path) = &arguments.out {
        let text = json_text(&judged.json()?)?;
        write_atomic(path, arguments.force, |writer| {
            writer.write_all(text.as_bytes())
        })?;
    }
    if let Some((path, format)) = plot {
        let from = if arguments.returns.is_empty() {
            DrawnFrom::Posterior
        } else {
            DrawnFrom::Samples
        };
        let picture = format.encode(judged.report().figure(from).draw())?;
        write_atomic(path, arguments.force, |writer| writer.write_all(&picture))?;
    }
    Ok(judged)
}

/// Returns by weights that were drawn from a posterior.
fn by_weights(arguments: &Arguments, options: &EvaluateOptions) -> Result<Judged> {
    let (Some(named), Some(posterior)) = (&arguments.policies, &arguments.posterior) else {
        return Err(BadInput::new("--posterior and --policies, or a run directory").into());
    };
    let policies = read_policies(named)?;
    let draws = read_draws(posterior)?;
    // A file of draws does not say what chains they come from, so what is known about their
    // convergence is a warning and not a verdict.
    let foreign = !posterior.is_dir();
    let evaluation = evaluate(&draws, &policies, options);
    Ok(Judged {
        evaluation: evaluation.with_context(|| named.display().to_string())?,
        heading: heading(&draws, policies.len(), &arguments.delta),
        untrusted: arguments.untrusted || foreign,
        foreign,
    })
}

/// Returns as others sampled them.
fn by_samples(arguments: &Arguments, options: &EvaluateOptions) -> Result<Judged> {
    let mut policies: Vec<(String, Vec<f64>)> = Vec::new();
    for (name, path) in &arguments.returns {
        if policies.iter().any(|(known, _)| known == name) {
            return Err(BadInput::new(format!("--returns: {name:?} is there twice")).into());
        }
        let samples = read_vector(path)?;
        if samples.is_empty() {
            return Err(BadInput::new(format!("{}: holds no samples", path.display())).into());
        }
        policies.push((name.clone(), samples));
    }
    let heading = format!(
        "Return of {} by samples that others drew; higher is better.\n{}.",
        counted(policies.len()),
        meaning(&arguments.delta)
    );
    Ok(Judged {
        evaluation: evaluate_samples(&policies, options)?,
        heading,
        untrusted: true,
        foreign: true,
    })
}

/// For clap: a name and a file.
fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(path)))
        }
        _ => Err("expected a name and a file, as A=returns.npy".to_owned()),
    }
}

impl Judged {
    fn report(&self) -> Report<'_> {
        Report::new(&self.evaluation, self.untrusted)
    }

    /// What `--json` prints.
    pub(crate) fn json(&self) -> Result<Value> {
        Ok(serde_json::to_value(self.report().json())?)
    }

    /// What people read.
    pub(crate) fn text(&self, style: Style) -> String {
        format!("{}\n\n{}", self.heading, self.report().text(style))
    }

    /// Says on standard error what is not to be trusted, and what to look at twice.
    pub(crate) fn remark(&self, common: &Common) {
        let quiet = common.quiet;
        // The text names them already.
        if common.json {
            for doubt in self.report().doubts() {
                warn(&doubt);
            }
        }
        if self.foreign && !self.report().is_trusted() {
            warn(
                "the draws are not from brex, so their bounds are shown (marked ?) although they \
                 do not look converged as one chain",
            );
        }
        if !quiet {
            for remark in self.report().remarks() {
                say(&format!("note: {remark}"));
            }
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        if self.foreign || self.report().is_trusted() {
            Outcome::Done
        } else {
            Outcome::NotTrusted
        }
    }
}

/// What the table is about, with the definition of the bound.
fn heading(draws: &Draws, policies: usize, deltas: &[f64]) -> String {
    let chains = match draws.chains() {
        1 => "1 chain".to_owned(),
        chains => format!("{chains} chains"),
    };
    let policies = counted(policies);
    format!(
        "Return of {policies} under {} draws of the posterior ({chains}); higher is better.\n{}.",
        numbers::count(draws.len()),
        meaning(deltas)
    )
}

fn counted(policies: usize) -> String {
    match policies {
        1 => "1 policy".to_owned(),
        count => format!("{count} policies"),
    }
}

/// What the bounds mean.
fn meaning(deltas: &[f64]) -> String {
    let each = deltas.iter().map(|delta| {
        let share = numbers::percent(*delta);
        format!("{delta}-VaR: {share} of the posterior lies below it")
    });
    each.collect::<Vec<String>>().join("; ")
}
