//! The words behind `cargo bench -p brex-posterior --bench samplers --`.

use anyhow::{Context, Result, bail};
use brex_posterior::BenchmarkProblem;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Effective draws per second of every sampler, next to nuts-rs on the same target, on one core

Usage: cargo bench -p brex-posterior --bench samplers -- [S] [M] [L] [OPTIONS]

Options:
  --problems DIR   read DIR/S/features.npy, DIR/S/preferences.csv and so on instead of
                   generating the problems
  --write DIR      write the problems there in that form, and measure nothing
  --sampler NAME   only this one (hmc, random-walk, slice, nuts-rs, nuts-rs-plain); may be
                   repeated
  --runs N         runs of every sampler, taken in turns [3]
  --seconds T      the most CPU seconds of one run [20 at S, 60 at M, 120 at L]
  --seed N         the seed of the problems and of the first run [7]
  --json           one JSON object a line instead of a table
  --check-l        compare the default sampler at L with NUTS in whitened coordinates; minutes
  --help           this text
";

/// What to measure.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    pub(crate) problems: Vec<BenchmarkProblem>,
    pub(crate) read_from: Option<PathBuf>,
    pub(crate) write_to: Option<PathBuf>,
    pub(crate) samplers: Vec<String>,
    pub(crate) runs: usize,
    pub(crate) seconds: Option<f64>,
    pub(crate) seed: u64,
    pub(crate) json: bool,
    pub(crate) check_l: bool,
    pub(crate) help: bool,
}

/// Every sampler that is measured, the default first.
pub(crate) const SAMPLERS: [&str; 5] = ["hmc", "random-walk", "slice", "nuts-rs", "nuts-rs-plain"];

impl Arguments {
    /// Understands the words. `--bench`, which cargo adds, is ignored.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        let mut parsed = Self {
            problems: Vec::new(),
            read_from: None,
            write_to: None,
            samplers: Vec::new(),
            runs: 3,
            seconds: None,
            seed: 7,
            json: false,
            check_l: false,
            help: false,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("{word} needs a value"))
            };
            match word.as_str() {
                "--bench" => {}
                "--problems" => parsed.read_from = Some(value()?.into()),
                "--write" => parsed.write_to = Some(value()?.into()),
                "--sampler" => parsed.samplers.push(value()?),
                "--runs" => parsed.runs = number(&word, &value()?)?,
                "--seconds" => parsed.seconds = Some(number(&word, &value()?)?),
                "--seed" => parsed.seed = number(&word, &value()?)?,
                "--json" => parsed.json = true,
                "--check-l" => parsed.check_l = true,
                "--help" | "-h" => parsed.help = true,
                name => {
                    let mut all = BenchmarkProblem::ALL.into_iter();
                    match all.find(|problem| problem.name() == name) {
                        Some(problem) => parsed.problems.push(problem),
                        None => bail!("unknown argument {name:?}; --help lists them"),
                    }
                }
            }
        }
        if parsed.problems.is_empty() {
            parsed.problems = BenchmarkProblem::ALL.to_vec();
        }
        if parsed.samplers.is_empty() {
            parsed.samplers = SAMPLERS.map(str::to_owned).to_vec();
        }
        if let Some(unknown) = parsed
            .samplers
            .iter()
            .find(|name| !SAMPLERS.contains(&name.as_str()))
        {
            bail!(
                "unknown sampler {unknown:?}; expected {}",
                SAMPLERS.join(", ")
            );
        }
        if parsed.runs == 0 {
            bail!("--runs is 0; expected at least 1");
        }
        Ok(parsed)
    }
}

fn number<T: std::str::FromStr>(flag: &str, word: &str) -> Result<T> {
    word.parse()
        .ok()
        .with_context(|| format!("{flag} is {word:?}; expected a number"))
}
