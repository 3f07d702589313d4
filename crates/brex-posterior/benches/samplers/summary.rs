//! From several runs of a sampler to one line.
//!
//! Noise of the machine only ever adds time, so times are the least over the runs; noise of the
//! draws goes both ways, so the effective sample size of a draw is the mean over the runs.

use crate::measure::Run;
use brex_posterior::BenchmarkProblem;
use serde_json::{Value, json};

/// What several runs of a sampler say.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    pub(crate) sampler: String,
    pub(crate) runs: usize,
    pub(crate) warmup_seconds: f64,
    pub(crate) cut_short: bool,
    pub(crate) rates: Option<Rates>,
}

/// What is known when there were draws.
#[derive(Debug, Clone)]
pub(crate) struct Rates {
    chains: usize,
    draws: usize,
    seconds_per_draw: f64,
    ess_per_draw: f64,
    max_rhat: f64,
    converged: bool,
    acceptance: Option<f64>,
    gradients_per_draw: Option<f64>,
    steps_per_second: Option<f64>,
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

impl Summary {
    /// Sums up the runs of a sampler; `steps_per_draw` is what lies between kept draws of a walk.
    pub(crate) fn of(sampler: &str, runs: &[Run], steps_per_draw: Option<usize>) -> Self {
        let good: Vec<_> = runs
            .iter()
            .filter_map(|run| Some((run, run.quality.as_ref()?)))
            .collect();
        let count = good.len() as f64;
        let rates = good.first().map(|(first, _)| {
            let mean = |of: &dyn Fn(&Run, &crate::measure::Quality) -> f64| {
                good.iter()
                    .map(|(run, quality)| of(run, quality))
                    .sum::<f64>()
                    / count
            };
            let seconds_per_draw = least(
                good.iter()
                    .map(|(run, _)| run.sampling_seconds / run.draws as f64),
            );
            let optional = |of: &dyn Fn(&crate::measure::Quality) -> Option<f64>| {
                let all: Option<Vec<f64>> = good.iter().map(|(_, quality)| of(quality)).collect();
                all.map(|all| all.iter().sum::<f64>() / count)
            };
            Rates {
                chains: first.chains,
                draws: first.draws,
                seconds_per_draw,
                ess_per_draw: mean(&|run, quality| quality.min_ess / run.draws as f64),
                max_rhat: good.iter().map(|(_, q)| q.max_rhat).fold(0.0, f64::max),
                converged: good.iter().all(|(_, quality)| quality.converged),
                acceptance: optional(&|quality| quality.acceptance),
                gradients_per_draw: optional(&|quality| quality.gradients_per_draw),
                steps_per_second: steps_per_draw.map(|steps| steps as f64 / seconds_per_draw),
            }
        });
        Self {
            sampler: sampler.to_owned(),
            runs: runs.len(),
            warmup_seconds: least(runs.iter().map(|run| run.warmup_seconds)),
            cut_short: runs.iter().any(|run| run.cut_short),
            rates,
        }
    }

    /// Effective draws per second of sampling.
    pub(crate) fn ess_per_second(&self) -> Option<f64> {
        let rates = self.rates.as_ref()?;
        Some(rates.ess_per_draw / rates.seconds_per_draw)
    }

    /// Effective draws per second of a whole run: set-up, warm-up and sampling.
    pub(crate) fn ess_per_second_of_run(&self) -> Option<f64> {
        let rates = self.rates.as_ref()?;
        let draws = rates.draws as f64;
        let seconds = self.warmup_seconds + draws * rates.seconds_per_draw;
        Some(draws * rates.ess_per_draw / seconds)
    }

    fn seconds_to_draws(&self, draws: f64) -> Option<f64> {
        let rates = self.rates.as_ref()?;
        Some(self.warmup_seconds + draws * rates.seconds_per_draw)
    }

    fn seconds_to_effective(&self, ess: f64) -> Option<f64> {
        Some(self.warmup_seconds + ess / self.ess_per_second()?)
    }

    /// How many times as many effective draws per second as `peer`: of sampling, of a whole run.
    fn ratios(&self, peer: &Summary) -> Option<(f64, f64)> {
        Some((
            self.ess_per_second()? / peer.ess_per_second()?,
            self.ess_per_second_of_run()? / peer.ess_per_second_of_run()?,
        ))
    }

    /// This sampler against all others that made draws, in words.
    pub(crate) fn comparison(&self, all: &[Summary]) -> Option<String> {
        let ratios = all.iter().filter(|peer| peer.sampler != self.sampler);
        let ratios = ratios.filter_map(|peer| {
            let (sampling, whole) = self.ratios(peer)?;
            let (name, sampling, whole) = (&peer.sampler, short(sampling), short(whole));
            Some(format!("{sampling} x {name} ({whole} x)"))
        });
        let list: Vec<String> = ratios.collect();
        let what = "min ESS per second of sampling (of a whole run)";
        let line = format!("{}, {what}: {}", self.sampler, list.join(", "));
        (!list.is_empty()).then_some(line)
    }

    /// One line of the table, under [`heading`].
    pub(crate) fn line(&self) -> String {
        let Some(rates) = &self.rates else {
            return format!(
                "{:<13} {:>4}  no draws after {:.0} s",
                self.sampler, self.runs, self.warmup_seconds
            );
        };
        let or_dash = |value: Option<f64>| value.map_or("-".to_owned(), short);
        let columns = [
            rates.chains.to_string(),
            rates.draws.to_string(),
            rates
                .acceptance
                .map_or("-".to_owned(), |a| format!("{a:.3}")),
            or_dash(rates.gradients_per_draw),
            format!("{:.4}", rates.max_rhat),
            or_dash(self.ess_per_second()),
            or_dash(self.ess_per_second_of_run()),
            short(self.warmup_seconds),
            or_dash(self.seconds_to_draws(1e5)),
            or_dash(self.seconds_to_effective(1e3)),
            or_dash(rates.steps_per_second),
        ];
        let note = match (rates.converged, self.cut_short) {
            (true, _) => "",
            (false, true) => "  not converged in time",
            (false, false) => "  not converged",
        };
        format!(
            "{:<13} {:>4}{}{note}",
            self.sampler,
            self.runs,
            row(&columns)
        )
    }

    /// The same for programs.
    pub(crate) fn json(&self, problem: BenchmarkProblem, all: &[Summary]) -> Value {
        let ratios: serde_json::Map<String, Value> = all
            .iter()
            .filter_map(|peer| {
                let (sampling, whole) = self.ratios(peer)?;
                let ratios = json!({ "sampling": sampling, "whole_run": whole });
                Some((peer.sampler.clone(), ratios))
            })
            .collect();
        let rates = self.rates.as_ref();
        json!({
            "problem": problem.name(),
            "sampler": self.sampler,
            "runs": self.runs,
            "chains": rates.map(|r| r.chains),
            "draws": rates.map(|r| r.draws),
            "acceptance": rates.and_then(|r| r.acceptance),
            "gradients_per_draw": rates.and_then(|r| r.gradients_per_draw),
            "max_rhat": rates.map(|r| r.max_rhat),
            "converged": rates.is_some_and(|r| r.converged),
            "min_ess_per_draw": rates.map(|r| r.ess_per_draw),
            "min_ess_per_second": self.ess_per_second(),
            "min_ess_per_second_of_run": self.ess_per_second_of_run(),
            "warmup_seconds": self.warmup_seconds,
            "seconds_to_100000_draws": self.seconds_to_draws(1e5),
            "seconds_to_1000_effective": self.seconds_to_effective(1e3),
            "steps_per_second": rates.and_then(|r| r.steps_per_second),
            "times_as_fast_as": ratios,
        })
    }
}

/// Columns behind the sampler and the number of runs.
fn row(columns: &[impl std::fmt::Display; 11]) -> String {
    let widths = [6, 7, 6, 6, 7, 8, 9, 9, 10, 10, 8];
    let cells = columns.iter().zip(widths);
    cells
        .map(|(text, width)| format!(" {text:>width$}"))
        .collect()
}

/// The head of the table.
pub(crate) fn heading() -> String {
    let first = [
        "",
        "",
        "",
        "grads",
        "largest",
        "ESS/s,",
        "ESS/s,",
        "set-up,",
        "seconds to",
        "seconds to",
        "steps",
    ];
    let second = [
        "chains",
        "draws",
        "accept",
        "a draw",
        "R-hat",
        "sampling",
        "whole run",
        "warm-up s",
        "100k draws",
        "1000 ESS",
        "a second",
    ];
    let start = |sampler, runs, columns| format!("{sampler:<13} {runs:>4}{}", row(columns));
    format!(
        "{}\n{}",
        start("", "", &first),
        start("sampler", "runs", &second)
    )
}

/// A number with three digits that matter.
fn short(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let digits = 2 - value.abs().max(1e-9).log10().floor() as i32;
    if digits <= 0 {
        let unit = 10_f64.powi(-digits);
        format!("{:.0}", (value / unit).round() * unit)
    } else {
        format!("{value:.0$}", digits as usize)
    }
}
