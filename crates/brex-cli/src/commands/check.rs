//! `brex check`: what is in the files, and what is odd about it, before any long work.

use super::findings::{Finding, Level, findings, plural};
use crate::args::Common;
use crate::exit::Outcome;
use crate::input::{InputFiles, Inputs, ModelFlags};
use crate::numbers;
use crate::terminal::{Style, json_text, print, printable};
use anyhow::Result;
use brex_posterior::{Inspection, Knowledge, Problem, inspect, knowledge};
use brex_store::ReferredBy;
use serde::Serialize;
use serde_json::Value;

/// Look at features and preferences before sampling
///
/// Says what is in the files and what is wrong with them: ties, duplicates, contradictions, cycles,
/// trajectories that nothing connects, features that no preference can weigh.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) files: InputFiles,
    #[command(flatten)]
    pub(crate) model: ModelFlags,
}

/// Files that were looked at, to be reported.
pub(crate) struct Checked {
    inputs: Inputs,
    inspection: Inspection,
    report: CheckJson,
    files: InputFiles,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let checked = execute(arguments, common)?;
    if common.json {
        print(&json_text(&checked.json()?)?)?;
    } else {
        print(&checked.text(Style::for_stdout()))?;
    }
    Ok(Outcome::Done)
}

/// Reads the files and looks at them.
pub(crate) fn execute(arguments: &Arguments, common: &Common) -> Result<Checked> {
    let inputs = arguments.files.read()?;
    let inspection = inspect(&inputs.features, &inputs.preferences.preferences);
    let prior = arguments.model.prior(&inputs)?;
    let (model, files) = (&arguments.model, &arguments.files);
    let features = inputs.features.matrix();
    let preferences = (model.evidence(files)).weigh(&inputs.preferences.preferences);
    let sharpness = model.sharpness(features, &preferences, prior, common)?;
    let problem = Problem::new(features, &preferences, prior, sharpness.beta())?;
    let knowledge = knowledge(&problem)?;
    let report = CheckJson::new(&inputs, &inspection, &knowledge);
    let files = arguments.files.clone();
    Ok(Checked {
        inputs,
        inspection,
        report,
        files,
    })
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct CheckJson {
    trajectories: usize,
    features: usize,
    comparisons: usize,
    skipped: usize,
    strict: usize,
    ties: usize,
    soft: usize,
    weightless: usize,
    pairs: usize,
    duplicates: usize,
    contradictions: usize,
    cycles: usize,
    never_compared: usize,
    components: Vec<usize>,
    rms_norm: f64,
    median_distance: Option<f64>,
    lowest_ranked: Option<String>,
    /// Directions of weight space in which compared trajectories differ.
    rank: usize,
    /// Directions that the comparisons settle, approximately.
    learned: f64,
    /// The share of all directions in which the posterior is still the prior.
    prior_share: f64,
    findings: Vec<Finding>,
}

impl CheckJson {
    fn new(inputs: &Inputs, inspection: &Inspection, knowledge: &Knowledge) -> Self {
        let answers = &inspection.answers;
        let matrix = inputs.features.matrix();
        Self {
            trajectories: matrix.rows(),
            features: matrix.cols(),
            comparisons: answers.comparisons,
            skipped: inputs.preferences.skipped,
            strict: answers.strict,
            ties: answers.ties,
            soft: answers.soft,
            weightless: answers.weightless,
            pairs: answers.pairs,
            duplicates: answers.duplicates,
            contradictions: answers.contradictions.len(),
            cycles: inspection.cycles.len(),
            never_compared: inspection.graph.never_compared.len(),
            components: inspection.graph.components.clone(),
            rms_norm: inspection.scale.rms_norm,
            median_distance: inspection.scale.median_distance,
            lowest_ranked: inspection
                .lowest_ranked
                .map(|row| inputs.features.name(row)),
            rank: knowledge.rank,
            learned: knowledge.learned,
            prior_share: knowledge.prior_share(),
            findings: findings(inputs, inspection),
        }
    }
}

impl Checked {
    /// What `--json` prints.
    pub(crate) fn json(&self) -> Result<Value> {
        Ok(serde_json::to_value(&self.report)?)
    }

    /// What people read.
    pub(crate) fn text(&self, style: Style) -> String {
        let Self {
            inputs,
            inspection,
            report,
            files,
        } = self;
        let mut lines = Vec::new();
        let mut line = |key: &str, value: String| {
            lines.push(format!("{} {value}", style.bold(&format!("{key:<12}"))));
        };
        let ids = if inputs.features.ids().is_some() {
            ", with ids"
        } else {
            ""
        };
        let lengths = inputs.features.lengths().map_or(String::new(), |lengths| {
            let low = lengths.iter().copied().fold(f64::INFINITY, f64::min);
            let high = lengths.iter().copied().fold(0.0, f64::max);
            format!(
                ", {} to {} steps long",
                numbers::trimmed(low, 4),
                numbers::trimmed(high, 4)
            )
        });
        line(
            "features",
            format!(
                "{}: {} of {}{ids}{lengths}",
                files.features().display(),
                plural(report.trajectories, "trajectory", "trajectories"),
                plural(report.features, "feature", "features"),
            ),
        );
        let by = match inputs.preferences.referred_by {
            ReferredBy::Row => "row number",
            ReferredBy::Id => "id",
        };
        line(
            "preferences",
            format!(
                "{}: {} by {by}",
                files.preferences().display(),
                plural(report.comparisons, "comparison", "comparisons"),
            ),
        );
        line(
            "answers",
            format!(
                "{} strict, {}, {}, {} skipped; {}",
                numbers::count(report.strict),
                plural(report.ties, "tie", "ties"),
                plural(report.soft, "soft label", "soft labels"),
                numbers::count(report.skipped),
                plural(report.pairs, "different pair", "different pairs"),
            ),
        );
        if let Some(degrees) = &inspection.graph.degrees {
            let compared = report.trajectories - report.never_compared;
            let each = if degrees.min == degrees.max {
                plural(degrees.min, "comparison", "comparisons")
            } else {
                let median = numbers::trimmed(degrees.median, 3);
                format!(
                    "{} to {} comparisons (median {median})",
                    degrees.min, degrees.max
                )
            };
            let compared = plural(compared, "trajectory", "trajectories");
            line("graph", format!("{compared} compared, each in {each}"));
        }
        let distance = report.median_distance.map_or(String::new(), |distance| {
            format!(
                "; compared ones differ by {} (median)",
                numbers::significant(distance, 3)
            )
        });
        line(
            "scale",
            format!(
                "feature sums are {} long (root mean square){distance}",
                numbers::significant(report.rms_norm, 3)
            ),
        );
        line(
            "knowledge",
            format!(
                "the comparisons see {} of {} directions and settle about {}; {} of the posterior \
                 is still the prior",
                report.rank,
                report.features,
                numbers::significant(report.learned, 2),
                numbers::percent((report.prior_share * 100.0).round() / 100.0),
            ),
        );
        if let Some(lowest) = &report.lowest_ranked {
            line("lowest", format!("{} is ranked lowest", printable(lowest)));
        }
        lines.push(String::new());
        if report.findings.is_empty() {
            lines.push(style.green("nothing wrong found"));
        }
        for finding in &report.findings {
            let mark = match finding.level {
                Level::Note => style.bold("note:"),
                Level::Warning => style.yellow("warning:"),
            };
            lines.push(format!("{mark} {}", finding.text));
        }
        lines.join("\n") + "\n"
    }
}
