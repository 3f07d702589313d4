//! What `brex sample` leaves behind: the draws with all that is known about each, a summary, the
//! settings to do it again, and the state to go on from.
//!
//! Nothing in it depends on the clock, so that the same seed gives the same bytes.

use crate::checksum::Checksum;
use crate::config::MADE_BY;
use crate::exit::BadInput;
use crate::input::Inputs;
use crate::run_files::write_text;
use anyhow::{Context, Result};
use brex_posterior::{Problem, Sampled};
use brex_store::{
    AtomicDir, LogLikelihood, PosteriorFile, StatArray, read_posterior, read_state,
    write_posterior, write_state,
};
use rayon::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Table;

const STATE: &str = "state.safetensors";
const SUMMARY: &str = "summary.json";
const RUN: &str = "run.toml";

/// The most log likelihoods of single comparisons that are written without being asked for.
const MOST_LOG_LIKELIHOODS: usize = 1 << 24;

/// Whether to write the log likelihood of every comparison under every draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum KeepLogLikelihood {
    /// If it takes at most 64 MiB
    Auto,
    Always,
    Never,
}

impl KeepLogLikelihood {
    /// Whether so many draws of so many comparisons are kept.
    pub(crate) fn keeps(self, draws: usize, comparisons: usize) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => draws.saturating_mul(comparisons) <= MOST_LOG_LIKELIHOODS,
        }
    }
}

/// A run to be written.
pub(crate) struct RunDirectory<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) sampled: Sampled,
    pub(crate) keep_log_likelihood: bool,
    /// What the draws depend on; compared when somebody wants to go on.
    pub(crate) attributes: Map<String, Value>,
    pub(crate) settings: Table,
    pub(crate) summary: Value,
}

impl RunDirectory<'_> {
    /// Writes everything and gives the directory its name.
    pub(crate) fn write(self, out: AtomicDir) -> Result<()> {
        let Sampled {
            draws,
            log_likelihood,
            acceptance,
            diverging,
            state,
        } = self.sampled;
        let problem = self.problem;
        let prior = draws.iter().map(|weights| problem.log_prior(weights));
        let lp = prior
            .zip(&log_likelihood)
            .map(|(prior, likelihood)| prior + likelihood);
        let lp = lp.collect();
        let acceptance = acceptance.into_iter().map(f64::from).collect();
        let posterior = PosteriorFile {
            lp: Some(lp),
            sample_stats: BTreeMap::from([
                (names::ACCEPTANCE.to_owned(), StatArray::F64(acceptance)),
                (names::DIVERGING.to_owned(), StatArray::Bool(diverging)),
                (
                    names::LOG_LIKELIHOOD.to_owned(),
                    StatArray::F64(log_likelihood),
                ),
            ]),
            attributes: self.attributes,
            draws,
        };
        let draws = &posterior.draws;
        let comparisons = problem.preferences().len();
        let mut fill = |chain: usize, block: std::ops::Range<usize>, out: &mut [f32]| {
            let rows = out.par_chunks_exact_mut(comparisons.max(1)).enumerate();
            rows.for_each_init(
                || vec![0.0; comparisons],
                |each, (offset, row)| {
                    problem.log_likelihood_each(draws.get(chain, block.start + offset), each);
                    for (out, value) in row.iter_mut().zip(each) {
                        *out = *value as f32;
                    }
                },
            );
        };
        let each = self.keep_log_likelihood.then_some(LogLikelihood {
            preferences: comparisons,
            fill: &mut fill,
        });
        write_posterior(out.path(), &posterior, each)?;
        write_state(out.path().join(STATE), &state, false)?;
        let summary = serde_json::to_string_pretty(&self.summary)? + "\n";
        write_text(&out.path().join(SUMMARY), &summary)?;
        write_text(&out.path().join(RUN), &run_file(self.settings)?)?;
        out.commit()?;
        Ok(())
    }
}

/// Names of the arrays about each draw.
mod names {
    pub(super) const ACCEPTANCE: &str = "acceptance_rate";
    pub(super) const DIVERGING: &str = "diverging";
    pub(super) const LOG_LIKELIHOOD: &str = "log_likelihood";
}

/// The settings as a file that `--config` takes.
fn run_file(settings: Table) -> Result<String> {
    let version = toml::Value::String(env!("CARGO_PKG_VERSION").to_owned());
    let made_by = Table::from_iter([("brex".to_owned(), version)]);
    let file = Table::from_iter([
        ("sample".to_owned(), toml::Value::Table(settings)),
        (MADE_BY.to_owned(), toml::Value::Table(made_by)),
    ]);
    let text = toml::to_string(&file).context("cannot write the settings as TOML")?;
    Ok(format!(
        "# To do it again: brex sample --config run.toml --out DIR\n\n{text}"
    ))
}

/// Reads a run to go on from, if it was made from the same inputs in the same way.
pub(crate) fn read_to_resume(directory: &Path, attributes: &Map<String, Value>) -> Result<Sampled> {
    let shown = directory.display();
    if !directory.exists() {
        return Err(BadInput::new(format!(
            "{shown}: nothing to go on from; start afresh without --resume"
        ))
        .into());
    }
    let mut posterior = read_posterior(directory)?;
    for (key, now) in attributes {
        let then = posterior.attributes.get(key).unwrap_or(&Value::Null);
        if then != now {
            return Err(BadInput::new(format!(
                "{shown}: cannot go on: {key} was {then} then and is {now} now"
            ))
            .into());
        }
    }
    let mut take = |name: &str| {
        posterior.sample_stats.remove(name).ok_or_else(|| {
            BadInput::new(format!(
                "{shown}: cannot go on: sample_stats holds no {name}"
            ))
        })
    };
    let (acceptance, diverging, log_likelihood) = match (
        take(names::ACCEPTANCE)?,
        take(names::DIVERGING)?,
        take(names::LOG_LIKELIHOOD)?,
    ) {
        (StatArray::F64(acceptance), StatArray::Bool(diverging), StatArray::F64(likelihood)) => {
            (acceptance, diverging, likelihood)
        }
        _ => {
            let problem = "the arrays of sample_stats are of unexpected types";
            return Err(BadInput::new(format!("{shown}: cannot go on: {problem}")).into());
        }
    };
    Ok(Sampled {
        draws: posterior.draws,
        log_likelihood,
        acceptance: acceptance.into_iter().map(|value| value as f32).collect(),
        diverging,
        state: read_state(directory.join(STATE))?,
    })
}

/// A number that changes when the features or the preferences change, as text.
pub(crate) fn fingerprint(inputs: &Inputs) -> String {
    let mut sum = Checksum::default();
    let matrix = inputs.features.matrix();
    sum.add_word(matrix.rows() as u64);
    sum.add_word(matrix.cols() as u64);
    for value in matrix.as_slice() {
        sum.add_word(value.to_bits());
    }
    for item in inputs.preferences.preferences.items() {
        sum.add_word(item.a as u64);
        sum.add_word(item.b as u64);
        sum.add_word(item.label.to_bits());
        sum.add_word(item.weight.to_bits());
    }
    sum.text()
}
