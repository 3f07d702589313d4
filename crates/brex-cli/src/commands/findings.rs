//! What is odd about features and preferences, in words. Nothing here is an error: it is data that
//! the likelihood can use, but perhaps not what was meant.

use crate::input::Inputs;
use crate::numbers;
use crate::terminal::printable;
use brex_posterior::{Cycle, Inspection};
use serde::Serialize;

/// How many examples of one kind are named.
const MOST_EXAMPLES: usize = 5;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Worth knowing.
    Note,
    /// Probably not what was meant.
    Warning,
}

/// Something that the user may not have expected.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// "3 ties" and the like.
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
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

/// Everything that the user may not have expected.
pub(crate) fn findings(inputs: &Inputs, inspection: &Inspection) -> Vec<Finding> {
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
