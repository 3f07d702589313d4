//! `brex evaluate DIR`: the policies of a run, beside what is true of them and beside what else
//! could explain how they were judged.

use super::evaluate::Arguments;
use super::evaluation_json::{PolicyJson, is_trusted};
use super::evaluation_report::Report;
use super::features::read_encoder;
use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::honesty::{
    Honesty, check_dimensions, check_encoder, in_short, in_words, policies_of, repeated,
    suspicions_beside,
};
use crate::numbers;
use crate::plot::DrawnFrom;
use crate::report::{self, Judged};
use crate::run_files::{RunFiles, write_text};
use crate::table::{Align, Table};
use crate::terminal::{Style, json_text, printable};
use anyhow::{Context, Result};
use brex_envs::make;
use brex_posterior::{EvaluateOptions, Evaluation, Suspicion, evaluate};
use brex_store::{
    EpisodeSums, RunFeatures, read_features, read_posterior, read_preferences, read_run_features,
};
use serde::Serialize;
use std::path::Path;

/// The policies of a run, judged.
pub(crate) struct RunEvaluation {
    pub(crate) run: RunFeatures,
    pub(crate) evaluation: Evaluation,
    pub(crate) suspicions: Vec<Vec<Suspicion>>,
    pub(crate) honesty: Honesty,
    /// The mean return of each policy by the encoder's ranking head, as T-REX would judge it.
    trex: Vec<f64>,
    untrusted: bool,
}

/// What `--json` says about a policy.
#[derive(Serialize)]
pub(crate) struct RunPolicyJson<'a> {
    #[serde(flatten)]
    judged: PolicyJson<'a>,
    /// By the ranking head.
    trex: f64,
    true_score: f64,
    true_score_sd: Option<f64>,
    length: f64,
    warnings: Vec<WarningJson>,
}

#[derive(Serialize)]
struct WarningJson {
    kind: &'static str,
    text: String,
}

/// What `--json` says.
#[derive(Serialize)]
pub(crate) struct RunJson<'a> {
    environment: &'a str,
    pub(crate) policies: Vec<RunPolicyJson<'a>>,
    rank_correlation: Honesty,
}

impl RunEvaluation {
    /// Judges the policies of a run directory, and leaves the result and a picture there.
    pub(crate) fn execute(arguments: &Arguments, run: &Path, common: &Common) -> Result<Self> {
        let files = RunFiles::of(run);
        let features = read_run_features(&files.features)?;
        let shown = files.features.display();
        let policies = policies_of(&features, false)?;
        if policies.is_empty() {
            let problem = "holds no policies; brex features --policy NAME=FILE adds some";
            return Err(BadInput::new(format!("{shown}: {problem}")).into());
        }
        let path = arguments.posterior.as_ref().unwrap_or(&files.posterior);
        let posterior = read_posterior(path)?;
        check_dimensions(&features, &posterior.draws)
            .map_err(|e| BadInput::new(format!("{}: {e}", path.display())))?;
        let named = read_features(&files.features)?;
        let preferences = read_preferences(&files.preferences, &named)?.preferences;
        let options = EvaluateOptions {
            deltas: arguments.delta.clone(),
            seed: common.seed,
            ..EvaluateOptions::default()
        };
        let evaluation = evaluate(&posterior.draws, &policies, &options);
        let evaluation = evaluation.with_context(|| format!("{shown}"))?;
        let repeated: Vec<Option<f64>> = features.policies.iter().map(repeated).collect();
        let trex = trex_returns(&files, &features)?;
        let draws = &posterior.draws;
        let judged = Self {
            suspicions: suspicions_beside(&features, &evaluation, &policies, &repeated, draws)?,
            honesty: Honesty::of(
                &features,
                &evaluation,
                &posterior,
                &preferences,
                &trex,
                common,
            )?,
            evaluation,
            run: features,
            trex,
            untrusted: arguments.untrusted,
        };
        let text = json_text(&judged.json())?;
        let picture = judged.report().figure(DrawnFrom::Posterior).draw();
        for (path, content) in [(&files.evaluation, &text), (&files.returns, &picture)] {
            write_text(path, content)?;
        }
        Ok(judged)
    }

    fn report(&self) -> Report<'_> {
        Report::new(&self.evaluation, self.untrusted)
    }

    /// The place of a policy in the evaluation, the best bound first.
    pub(crate) fn order(&self) -> Vec<usize> {
        self.report().order().to_vec()
    }

    fn sums(&self, index: usize) -> &EpisodeSums {
        &self.run.policies[index].sums
    }

    pub(crate) fn json(&self) -> RunJson<'_> {
        let judged = self.report().json().into_iter().zip(self.order());
        let policies = judged.map(|(judged, index)| {
            let (score, sd) = numbers::mean_and_sd(&self.sums(index).scores);
            let warnings = self.suspicions[index].iter().map(|suspicion| WarningJson {
                kind: in_short(suspicion),
                text: in_words(suspicion),
            });
            RunPolicyJson {
                judged,
                trex: self.trex[index],
                true_score: score,
                true_score_sd: sd,
                length: numbers::mean_and_sd(&self.sums(index).lengths).0,
                warnings: warnings.collect(),
            }
        });
        RunJson {
            environment: &self.run.environment,
            policies: policies.collect(),
            rank_correlation: self.honesty,
        }
    }

    /// The paper's table: policy, mean, bound, true score, length; and what is suspicious.
    fn table(&self) -> Table {
        let (heads, rows) = self.cells();
        let mut table = Table::new([heads[0].as_str()]);
        for head in &heads[1..] {
            table.column(head.as_str(), Align::Right);
        }
        for row in rows {
            table.row(row);
        }
        table
    }

    /// Heads and rows of the table.
    pub(crate) fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let first = self.evaluation.policies.first();
        let delta = first.and_then(|policy| policy.bounds.first());
        let bound = format!("{}-VaR", delta.map_or(0.05, |bound| bound.delta));
        let heads = [
            "policy",
            "mean",
            bound.as_str(),
            "T-REX",
            "true score",
            "length",
            "VaR per step",
            "look twice",
        ];
        let mut rows = Vec::new();
        let number = |value: f64| numbers::trimmed(value, 5);
        for index in self.order() {
            let policy = &self.evaluation.policies[index];
            let sums = self.sums(index);
            let bound = policy.bounds.first();
            let shown = bound.filter(|bound| self.untrusted || is_trusted(bound));
            let value = |error: f64, value: f64| numbers::with_error(value, error);
            let short: Vec<&str> = self.suspicions[index].iter().map(in_short).collect();
            rows.push(vec![
                printable(&policy.name),
                value(policy.mean_mcse, policy.mean),
                shown.map_or_else(|| "not converged".to_owned(), |b| value(b.var_mcse, b.var)),
                numbers::significant(self.trex[index], 3),
                number(numbers::mean_and_sd(&sums.scores).0),
                number(numbers::mean_and_sd(&sums.lengths).0),
                shown
                    .and_then(|bound| bound.var_per_step)
                    .map_or_else(String::new, |rate| numbers::significant(rate, 3)),
                short.join(", "),
            ]);
        }
        (heads.map(str::to_owned).to_vec(), rows)
    }

    /// A line for each suspicion.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for index in self.order() {
            let name = printable(&self.evaluation.policies[index].name);
            for suspicion in &self.suspicions[index] {
                lines.push(format!("{name}: {}", in_words(suspicion)));
            }
        }
        lines
    }

    pub(crate) fn text(&self, style: Style) -> String {
        let mut text = self.table().show(style);
        text.push_str(&format!("\n{}\n", self.honesty.text()));
        for doubt in self.report().doubts() {
            text.push_str(&format!("\n{doubt}\n"));
        }
        let warnings = self.warnings();
        if !warnings.is_empty() {
            text.push_str("\nLook twice (heuristics, no proof):\n");
            for warning in warnings {
                text.push_str(&format!("- {warning}\n"));
            }
        }
        text
    }

    /// Writes the page about the run.
    pub(crate) fn report_page(&self, files: &RunFiles) -> Result<()> {
        let judged = Judged {
            title: "Bounds on the return of policies",
            words: report::ABOUT_BOUNDS,
            evaluation: self,
            returns_svg: self.report().figure(DrawnFrom::Posterior).draw(),
        };
        let out = files.directory.display();
        let page = report::Report {
            files,
            evaluations: &[judged],
            short: vec![self.honesty.text().replace('\n', " ")],
            next: vec![
                format!(
                    "brex train {} --reward {out}:mean --out mean",
                    self.run.environment
                ),
                format!("brex demos {out} --add EPISODE --rank worse-than-all"),
                format!("brex features {out} && brex sample {out} --force && brex evaluate {out}"),
            ],
        };
        page.write()
    }

    pub(crate) fn outcome(&self) -> Outcome {
        if self.report().is_trusted() {
            Outcome::Done
        } else {
            Outcome::NotTrusted
        }
    }
}

/// The mean return of each policy by the ranking head of the encoder that made the features.
fn trex_returns(files: &RunFiles, run: &RunFeatures) -> Result<Vec<f64>> {
    let env = make(&run.environment).map_err(|error| BadInput::new(error.to_string()))?;
    let (encoder, identity) = read_encoder(&files.encoder, env.spec())?;
    check_encoder(&files.features, run, &identity)?;
    let (weights, bias) = encoder.reward();
    let raw: Vec<f64> = weights.iter().map(|weight| weight * run.scale).collect();
    let mean = |sums: &EpisodeSums| {
        let returns = sums.features.times(&raw);
        let returns = returns.iter().zip(&sums.lengths).map(|(r, l)| r + bias * l);
        returns.sum::<f64>() / sums.lengths.len() as f64
    };
    Ok(run
        .policies
        .iter()
        .map(|policy| mean(&policy.sums))
        .collect())
}
