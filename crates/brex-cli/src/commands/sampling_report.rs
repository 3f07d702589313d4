//! What `brex sample` says about a run: for people, for programs and for the summary on disk.

use crate::exit::Outcome;
use crate::input::Evidence;
use crate::numbers;
use crate::sharpness::{Sharpness, Tried};
use crate::table::Table;
use crate::terminal::Style;
use anyhow::Result;
use brex_posterior::{
    Convergence, ESS_LIMIT, Problem, RHAT_LIMIT, Run, Sampled, best_of_chain, maximum_a_posteriori,
};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a report needs to know besides the run.
pub(crate) struct SummaryInputs<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) sharpness: &'a Sharpness,
    pub(crate) evidence: Evidence,
    pub(crate) sampler: &'static str,
    pub(crate) seed: u64,
    pub(crate) delta: f64,
    pub(crate) out: &'a Path,
    /// The run directory that this belongs to.
    pub(crate) run: Option<&'a Path>,
}

/// A run, reported.
#[derive(Debug)]
pub(crate) struct SampleReport {
    facts: Facts,
    sharpness: Sharpness,
    evidence: Evidence,
    times: Times,
    estimates: Estimates,
    convergence: Convergence,
    out: PathBuf,
    run: Option<PathBuf>,
}

/// What is the same whenever the same seed is used.
#[derive(Debug, Clone, Serialize)]
struct Facts {
    sampler: &'static str,
    prior: &'static str,
    beta: f64,
    seed: u64,
    trajectories: usize,
    features: usize,
    preferences: usize,
    /// How many independent ones they count as.
    evidence: f64,
    chains: usize,
    draws: usize,
    max_rhat: f64,
    min_ess_bulk: f64,
    min_ess_tail: f64,
    delta: f64,
    min_ess_quantile: f64,
    log_likelihood_rhat: f64,
    log_likelihood_ess_bulk: f64,
    acceptance: f64,
    divergences: usize,
    stopped: bool,
    converged: bool,
    verdict: String,
}

/// One reward instead of many.
#[derive(Debug, Clone, Serialize)]
struct Estimates {
    /// The mean of the draws.
    mean_reward: Vec<f64>,
    /// The most probable weights, by optimisation.
    map_reward: Vec<f64>,
    map_log_likelihood: f64,
    /// Whether no other weights are as probable.
    map_unique: bool,
    /// The best of the draws: the paper's MAP.
    best_of_chain_reward: Vec<f64>,
    best_of_chain_log_likelihood: f64,
}

impl Estimates {
    fn new(problem: &Problem<'_>, sampled: &Sampled) -> Result<Self> {
        let map = maximum_a_posteriori(problem)?;
        let best = best_of_chain(sampled);
        Ok(Self {
            mean_reward: sampled.draws.mean(),
            map_reward: map.weights,
            map_log_likelihood: map.log_likelihood,
            map_unique: map.unique,
            best_of_chain_reward: best.weights,
            best_of_chain_log_likelihood: best.log_likelihood,
        })
    }
}

/// What the clock said.
#[derive(Debug, Clone, Copy, Serialize)]
struct Times {
    seconds: f64,
    warmup_seconds: f64,
    sampling_seconds: f64,
    diagnostics_seconds: f64,
}

impl SampleReport {
    pub(crate) fn new(inputs: &SummaryInputs<'_>, run: &Run) -> Result<Self> {
        let (sampled, convergence) = (&run.sampled, &run.convergence);
        let acceptance = sampled
            .acceptance
            .iter()
            .map(|v| f64::from(*v))
            .sum::<f64>();
        let facts = Facts {
            sampler: inputs.sampler,
            prior: inputs.problem.prior().name(),
            beta: inputs.problem.beta(),
            seed: inputs.seed,
            trajectories: inputs.problem.features().rows(),
            features: inputs.problem.dim(),
            preferences: inputs.problem.preferences().len(),
            evidence: counted_as(inputs.problem),
            chains: sampled.draws.chains(),
            draws: sampled.draws.len(),
            max_rhat: convergence.max_rhat,
            min_ess_bulk: convergence.min_ess_bulk,
            min_ess_tail: convergence.min_ess_tail,
            delta: inputs.delta,
            min_ess_quantile: convergence.min_ess_quantile,
            log_likelihood_rhat: convergence.log_likelihood_rhat,
            log_likelihood_ess_bulk: convergence.log_likelihood_ess_bulk,
            acceptance: acceptance / sampled.acceptance.len().max(1) as f64,
            divergences: sampled
                .diverging
                .iter()
                .filter(|diverged| **diverged)
                .count(),
            stopped: run.stopped,
            converged: convergence.converged,
            verdict: verdict(convergence),
        };
        let timing = run.timing;
        let times = Times {
            seconds: timing.warmup_seconds + timing.sampling_seconds,
            warmup_seconds: timing.warmup_seconds,
            sampling_seconds: timing.sampling_seconds,
            diagnostics_seconds: timing.diagnostics_seconds,
        };
        Ok(Self {
            facts,
            sharpness: inputs.sharpness.clone(),
            evidence: inputs.evidence,
            times,
            estimates: Estimates::new(inputs.problem, sampled)?,
            convergence: convergence.clone(),
            out: inputs.out.to_owned(),
            run: inputs.run.map(Path::to_owned),
        })
    }

    pub(crate) fn outcome(&self) -> Outcome {
        if self.facts.converged {
            Outcome::Done
        } else {
            Outcome::NotTrusted
        }
    }

    /// What `--json` prints.
    pub(crate) fn json(&self) -> impl Serialize {
        #[derive(Serialize)]
        struct Printed {
            #[serde(flatten)]
            facts: Facts,
            #[serde(flatten)]
            times: Times,
            out: String,
        }
        Printed {
            facts: self.facts.clone(),
            times: self.times,
            out: self.out.display().to_string(),
        }
    }

    /// What is kept beside the draws.
    pub(crate) fn summary(&self, log_likelihood_kept: bool) -> Value {
        #[derive(Serialize)]
        struct Kept<'a> {
            #[serde(flatten)]
            facts: &'a Facts,
            /// What beta was chosen from, if it was not given.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            beta_tried: Vec<Tried>,
            log_likelihood_kept: bool,
            #[serde(flatten)]
            estimates: &'a Estimates,
            brex: &'static str,
        }
        let kept = Kept {
            facts: &self.facts,
            beta_tried: self.sharpness.tried(),
            log_likelihood_kept,
            estimates: &self.estimates,
            brex: env!("CARGO_PKG_VERSION"),
        };
        serde_json::to_value(kept).unwrap_or(Value::Null)
    }

    /// The table for people.
    pub(crate) fn text(&self, style: Style) -> String {
        let Facts {
            sampler,
            chains,
            draws,
            delta,
            acceptance,
            divergences,
            ..
        } = self.facts;
        let Times {
            seconds,
            warmup_seconds,
            diagnostics_seconds,
            ..
        } = self.times;
        let mut text = format!(
            "{sampler}: {} draws in {chains} chains, {} (warm-up {}; diagnostics {} more)\n\n",
            numbers::count(draws),
            numbers::seconds(seconds),
            numbers::seconds(warmup_seconds),
            numbers::seconds(diagnostics_seconds),
        );
        let mut model = Vec::new();
        if self.evidence == Evidence::Trajectory {
            model.push(format!(
                "{} comparisons count as {} independent ones, about one for each trajectory",
                numbers::count(self.facts.preferences),
                numbers::trimmed(self.facts.evidence, 4)
            ));
        }
        model.extend(self.sharpness.text());
        if !model.is_empty() {
            text.push_str(&format!("{}\n\n", model.join("\n")));
        }
        let mut table = Table::new(["diagnostic", "worst", "needed"]);
        table.column("of", crate::table::Align::Left);
        let found = &self.convergence;
        table.row([
            "R-hat".to_owned(),
            rhat(found.max_rhat),
            format!("< {RHAT_LIMIT}"),
            found.max_rhat_of.to_string(),
        ]);
        table.row([
            format!("effective draws, {delta} quantile"),
            numbers::fixed(found.min_ess_quantile, 0),
            format!(">= {ESS_LIMIT}"),
            found.min_ess_quantile_of.to_string(),
        ]);
        table.row([
            "effective draws, tails".to_owned(),
            numbers::fixed(found.min_ess_tail, 0),
            format!(">= {ESS_LIMIT}"),
        ]);
        table.row([
            "effective draws, bulk".to_owned(),
            numbers::fixed(found.min_ess_bulk, 0),
        ]);
        table.row(["acceptance".to_owned(), numbers::fixed(acceptance, 2)]);
        table.row(["divergences".to_owned(), numbers::count(divergences)]);
        text.push_str(&table.show(style));
        let verdict = &self.facts.verdict;
        let verdict = if self.facts.converged {
            style.green(verdict)
        } else {
            style.red(verdict)
        };
        let out = self.out.display();
        text.push_str(&format!("\n{verdict}\nwritten to {out}\n"));
        if self.facts.converged {
            let next = match &self.run {
                Some(run) => run.display().to_string(),
                None => format!("--posterior {out} --policies FILE"),
            };
            text.push_str(&format!("next: brex evaluate {next}\n"));
        }
        text
    }
}

/// What all comparisons weigh together, without the last digits of a long sum.
fn counted_as(problem: &Problem<'_>) -> f64 {
    let items = problem.preferences().items().iter();
    let sum: f64 = items.map(|item| item.weight).sum();
    (sum * 1e6).round() / 1e6
}

/// R-hat with as many digits as it takes to see on which side of the limit it is.
fn rhat(value: f64) -> String {
    let shown = |decimals: usize| numbers::fixed(value, decimals);
    let below = |text: &str| text.parse::<f64>().is_ok_and(|shown| shown < RHAT_LIMIT);
    let faithful = (4..8)
        .map(shown)
        .find(|text| below(text) == (value < RHAT_LIMIT));
    faithful.unwrap_or_else(|| shown(8))
}

/// The verdict in words, with what was reached.
fn verdict(found: &Convergence) -> String {
    if found.converged && found.max_rhat.is_nan() {
        return "converged: the prior and the preferences leave only one answer".to_owned();
    }
    if found.converged {
        return format!(
            "converged: R-hat {}, at least {:.0} effective draws for every quantity",
            rhat(found.max_rhat),
            found.min_ess_quantile.min(found.min_ess_tail)
        );
    }
    let mut reasons = Vec::new();
    if found.max_rhat.is_nan() {
        reasons.push("R-hat is unknown (too few draws, or draws that never change)".to_owned());
    } else if found.max_rhat >= RHAT_LIMIT {
        reasons.push(format!(
            "R-hat of the {} is {}, {RHAT_LIMIT} or more",
            found.max_rhat_of,
            rhat(found.max_rhat)
        ));
    }
    if found.min_ess_quantile < ESS_LIMIT {
        reasons.push(format!(
            "the quantile of the {} has {:.0} effective draws, fewer than {ESS_LIMIT}",
            found.min_ess_quantile_of, found.min_ess_quantile
        ));
    }
    if found.min_ess_tail < ESS_LIMIT {
        reasons.push(format!(
            "the tails have {:.0} effective draws, fewer than {ESS_LIMIT}",
            found.min_ess_tail
        ));
    }
    format!(
        "not converged: {}; do not trust bounds from these draws",
        reasons.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rhat_is_never_rounded_across_its_limit() {
        assert_eq!(rhat(1.002_345), "1.0023");
        assert_eq!(rhat(1.009_96), "1.00996");
        assert_eq!(rhat(1.01), "1.0100");
        assert_eq!(rhat(1.0100), "1.0100");
        assert_eq!(rhat(f64::NAN), "NaN");
    }
}
