//! `brex check`: what is in the files, and what is odd about it, before any long work.

use crate::args::Common;
use crate::exit::Outcome;
use crate::input::{InputFiles, Inputs, ModelFlags};
use crate::numbers;
use crate::terminal::{Style, json_text, print, printable};
use anyhow::Result;
use brex_posterior::{Cycle, Inspection, Knowledge, Problem, inspect, knowledge};
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

/// How many examples of one kind are named.
const MOST_EXAMPLES: usize = 5;

/// Files that were looked at, to be reported.
pub(crate) struct Checked {
    inputs: Inputs,
    inspection: Inspection,
    report: CheckJson,
    files: InputFiles,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let checked = execute(arguments)?;
    if common.json {
        print(&json_text(&checked.json()?)?)?;
    } else {
        print(&checked.text(Style::for_stdout()))?;
    }
    Ok(Outcome::Done)
}

/// Reads the files and looks at them.
pub(crate) fn execute(arguments: &Arguments) -> Result<Checked> {
    let inputs = arguments.files.read()?;
    let inspection = inspect(&inputs.features, &inputs.preferences.preferences);
    let prior = arguments.model.prior(&inputs)?;
    let beta = arguments.model.beta;
    let features = inputs.features.matrix();
    let problem = Problem::new(features, &inputs.preferences.preferences, prior, beta)?;
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

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// Worth knowing.
    Note,
    /// Probably not what was meant.
    Warning,
}

/// Something that the user may not have expected.
#[derive(Debug, Clone, Serialize)]
struct Finding {
    level: Level,
    text: String,
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

/// "3 ties" and the like.
fn plural(count: usize, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", numbers::count(count))
}

/// Some names out of a list, and how many more there are.
fn examples(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MOST_EXAMPLES);
    let mut text: Vec<String> = names
        .take(MOST_EXAMPLES)
        .map(|name| printable(&name))
        .collect();
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    text.join(", ")
}

fn findings(inputs: &Inputs, inspection: &Inspection) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |level, text: String| findings.push(Finding { level, text });
    let name = |row: &usize| inputs.features.name(*row);
    let (answers, graph, scale) = (&inspection.answers, &inspection.graph, &inspection.scale);
    if answers.duplicates > 0 {
        let count = plural(answers.duplicates, "duplicate", "duplicates");
        add(
            Level::Note,
            format!("{count}: each counts as one more observation"),
        );
    }
    if !answers.contradictions.is_empty() {
        let pairs = answers.contradictions.iter();
        let pairs = pairs.map(|pair| {
            let (first, second) = (name(&pair.first), name(&pair.second));
            format!(
                "{first} and {second} ({}:{})",
                pair.for_first, pair.for_second
            )
        });
        let count = plural(answers.contradictions.len(), "pair has", "pairs have");
        add(
            Level::Note,
            format!(
                "{count} answers both ways, which says that they are close: {}",
                examples(pairs)
            ),
        );
    }
    for Cycle {
        members, example, ..
    } in inspection.cycles.iter().take(MOST_EXAMPLES)
    {
        // Two trajectories in a circle are a contradiction, which is reported above.
        if members.len() > 2 {
            let size = plural(members.len(), "trajectory", "trajectories");
            let circle = if example.len() > 2 {
                let circle = example.iter().chain(example.first()).map(name);
                let circle: Vec<String> = circle.collect();
                format!(": {}", printable(&circle.join(" < ")))
            } else if members.len() <= MOST_EXAMPLES {
                format!(": {}", examples(members.iter().map(name)))
            } else {
                String::new()
            };
            add(
                Level::Note,
                format!("preferences run in circles among {size}{circle}"),
            );
        }
    }
    if answers.weightless > 0 {
        let count = plural(
            answers.weightless,
            "comparison has weight 0 and says",
            "comparisons have weight 0 and say",
        );
        add(Level::Note, format!("{count} nothing"));
    }
    if scale.zero_distances > 0 {
        let count = plural(
            scale.zero_distances,
            "comparison is between trajectories with the same features and says",
            "comparisons are between trajectories with the same features and say",
        );
        add(Level::Warning, format!("{count} nothing"));
    }
    if !scale.duplicate_rows.is_empty() {
        let pairs = scale.duplicate_rows.iter();
        let pairs = pairs.map(|(row, first)| format!("{} = {}", name(row), name(first)));
        let count = plural(scale.duplicate_rows.len(), "row repeats", "rows repeat");
        add(
            Level::Warning,
            format!(
                "{count} the features of an earlier row: {}",
                examples(pairs)
            ),
        );
    }
    if graph.components.len() > 1 {
        let sizes = graph.components.iter().map(|size| numbers::count(*size));
        add(
            Level::Warning,
            format!(
                "the comparisons fall into {} parts that nothing connects, of {} trajectories: \
                 compare across them",
                graph.components.len(),
                examples(sizes)
            ),
        );
    }
    if !graph.never_compared.is_empty() {
        let count = plural(
            graph.never_compared.len(),
            "trajectory is",
            "trajectories are",
        );
        let names = examples(graph.never_compared.iter().map(name));
        add(Level::Note, format!("{count} in no comparison: {names}"));
    }
    if !scale.constant_features.is_empty() {
        let count = plural(
            scale.constant_features.len(),
            "feature has",
            "features have",
        );
        let columns = examples(scale.constant_features.iter().map(usize::to_string));
        add(
            Level::Warning,
            format!(
                "{count} the same value in every row, so no preference can weigh it: {columns}"
            ),
        );
    }
    findings
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
                files.features.display(),
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
                files.preferences.display(),
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
