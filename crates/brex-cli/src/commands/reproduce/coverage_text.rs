//! The rates on the terminal, a table for every condition, and what they say.

use super::coverage_files::{name_of, title};
use super::coverage_summary::{
    BoundSummary, ENOUGH_FAILURES, MARKED, REFUSED, RowSummary, Summary, Verdict,
};
use crate::numbers;
use crate::table::{Align, Table};
use crate::terminal::Style;
use brex_tabular::{Condition, GridCoverageOptions, JudgedPolicy, Method};

pub(super) fn text(options: &GridCoverageOptions, summary: &Summary, style: Style) -> String {
    let world = &options.world;
    let mut text = format!(
        "How often the bound at delta on a policy's value held, in {}.\n\
         {} x {} cells, {} features, slip {}, gamma {}, {} steps, beta {}.\n",
        plural(summary.worlds, "world"),
        world.rows,
        world.cols,
        world.features,
        world.slip,
        world.gamma,
        world.steps,
        options.beta,
    );
    for condition in summary.conditions() {
        text.push('\n');
        text.push_str(&style.bold(&title(condition)));
        text.push('\n');
        text.push_str(&shown(summary, condition, style));
    }
    text.push('\n');
    for line in legend(summary) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push('\n');
    for line in reading(summary, style) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn shown(summary: &Summary, condition: Condition, style: Style) -> String {
    let mut table = Table::new(["method", "demos"]);
    table.column("policy", Align::Left);
    let rows = || summary.rows.iter().filter(|row| row.condition == condition);
    for bound in rows().next().map_or(&[][..], |row| &row.bounds) {
        let head = format!("{}: {}", bound.delta, numbers::percent(bound.promised()));
        table.column(head, Align::Left);
    }
    table.column("unconverged", Align::Right);
    for row in rows() {
        let names = [
            short(row.method).to_owned(),
            row.demonstrations.to_string(),
            name_of(row.policy),
        ];
        let rates = row.bounds.iter().map(rate);
        let converged = [row.not_converged.to_string()];
        table.row(names.into_iter().chain(rates).chain(converged));
    }
    table.show(style)
}

/// A method in a narrow column.
fn short(method: Method) -> &'static str {
    match method {
        Method::BayesianRex => "REX",
        Method::BayesianIrl => "IRL",
    }
}

/// The observed rate, with a word where it is not as promised.
fn rate(bound: &BoundSummary) -> String {
    let mark = match bound.verdict {
        Verdict::AsPromised => "",
        Verdict::TooLow => " too low",
        Verdict::High => " high",
    };
    format!("{:>5.1}{mark}", 100.0 * bound.rate)
}

fn legend(summary: &Summary) -> Vec<String> {
    let bounds = summary.rows.first().map_or(&[][..], |row| &row.bounds);
    let errors: Vec<String> = bounds
        .iter()
        .map(|bound| format!("{:.1}", 100.0 * bound.standard_error))
        .collect();
    let mut lines = vec![
        "Heads: delta, and the rate that is promised. Below: the rate at which bounds held, in %."
            .to_owned(),
        format!(
            "too low, high: more than {} standard errors ({} %) from what is promised.",
            MARKED.standard_errors,
            errors.join(", ")
        ),
    ];
    if bounds.iter().any(|bound| !bound.promises_enough_failures()) {
        lines.push(format!(
            "Where fewer than {ENOUGH_FAILURES} failures are promised, the binomial chance must be as small \
             too."
        ));
    }
    lines.extend(
        [
            "mean-reward: the best policy for the posterior mean; hacker: the best for the rosiest \
             of 32 draws.",
            "unconverged: worlds whose chains had not converged; they count like the others.",
            "mean margin: the true value less the bound; the larger, the less the bound says.",
            "All rows are of the same worlds, so they go up and down together.",
        ]
        .map(str::to_owned),
    );
    lines
}

/// What the numbers say, computed from them.
fn reading(summary: &Summary, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for condition in summary.conditions() {
        lines.push(format!("{}:", title(condition)));
        for method in Method::ALL {
            let promised = summary.rows.iter().filter(|row| {
                row.condition == condition && row.method == method && row.is_promised()
            });
            lines.push(told(method, promised));
        }
    }
    lines.extend(optimal(summary));
    lines.push(convergence(summary));
    match summary.holds_as_promised {
        Some(true) => lines.push(style.green(&format!(
            "Where the assumptions are true, no rate is more than {} standard errors too low.",
            REFUSED.standard_errors
        ))),
        Some(false) => lines.extend(refusal(summary, style)),
        None => lines.push(
            "Nothing here says whether bounds hold where the assumptions are true; \
             that is --conditions as-assumed."
                .to_owned(),
        ),
    }
    lines
}

/// How often the bounds of a method held, and the worst of them.
fn told<'r>(method: Method, rows: impl Iterator<Item = &'r RowSummary> + Clone) -> String {
    let bounds = || {
        let rows = rows.clone();
        rows.flat_map(|row| row.bounds.iter().map(move |bound| (row, bound)))
    };
    let count = |verdict| bounds().filter(|(_, b)| b.verdict == verdict).count();
    let all = bounds().count();
    let (low, high) = (count(Verdict::TooLow), count(Verdict::High));
    let name = method.name();
    let worst = bounds()
        .filter(|(_, bound)| bound.verdict == Verdict::TooLow)
        .max_by(|a, b| a.1.shortfall().total_cmp(&b.1.shortfall()));
    // A bound that always holds may be one that says nothing.
    let margin = bounds().map(|(_, b)| b.mean_margin).sum::<f64>() / all as f64;
    let margin = format!("mean margin {}", numbers::fixed(margin, 2));
    match worst {
        Some((row, bound)) => format!(
            "  {name}: {low} of {all} rates too low, {high} high; {margin};\n    at worst {}",
            described(row, bound)
        ),
        None if high > 0 => format!("  {name}: no rate too low, {high} of {all} high; {margin}"),
        None => format!("  {name}: none of {all} rates too low or high; {margin}"),
    }
}

/// A bound in words.
fn described(row: &RowSummary, bound: &BoundSummary) -> String {
    format!(
        "{:.1} % instead of {} ({}, {} demonstrations)",
        100.0 * bound.rate,
        numbers::percent(bound.promised()),
        name_of(row.policy),
        row.demonstrations,
    )
}

/// The optimal policy, where something is promised for the others.
fn optimal(summary: &Summary) -> Vec<String> {
    let bounds: Vec<&BoundSummary> = summary
        .rows
        .iter()
        .filter(|row| row.policy == JudgedPolicy::Optimal)
        .filter(|row| row.condition == Condition::AsAssumed)
        .flat_map(|row| &row.bounds)
        .collect();
    let count = |verdict| bounds.iter().filter(|b| b.verdict == verdict).count();
    let mut lines = vec![
        "The optimal policy is chosen with knowledge of the truth: nothing is promised for it, its"
            .to_owned(),
        "bounds may hold more often, and it is not counted above.".to_owned(),
    ];
    if !bounds.is_empty() {
        let (all, high, low) = (bounds.len(), count(Verdict::High), count(Verdict::TooLow));
        lines.push(format!(
            "  as assumed: {high} of its {all} rates high, {low} too low"
        ));
    }
    lines
}

fn convergence(summary: &Summary) -> String {
    let all = numbers::count(summary.inferences);
    match summary.not_converged {
        0 => format!("All {all} posteriors converged."),
        some => format!(
            "{} of {all} posteriors had not converged; they count like the others.",
            numbers::count(some)
        ),
    }
}

/// Which bounds make the study fail.
fn refusal(summary: &Summary, style: Style) -> Vec<String> {
    const NAMED: usize = 5;
    let mut refused: Vec<(&RowSummary, &BoundSummary)> = summary
        .rows
        .iter()
        .filter(|row| row.condition == Condition::AsAssumed && row.is_promised())
        .flat_map(|row| row.bounds.iter().map(move |bound| (row, bound)))
        .filter(|(_, bound)| bound.is_below(REFUSED))
        .collect();
    refused.sort_by(|a, b| a.1.z.total_cmp(&b.1.z));
    let mut lines = vec![style.red(&format!(
        "Bounds do not hold although the assumptions are true: {} more than {} standard errors too \
         low",
        plural(refused.len(), "rate"),
        REFUSED.standard_errors,
    ))];
    lines.extend(refused.iter().take(NAMED).map(|(row, bound)| {
        let method = row.method.name();
        format!("  {method}: {}", described(row, bound))
    }));
    if refused.len() > NAMED {
        lines.push(format!("  and {} more", refused.len() - NAMED));
    }
    lines
}

fn plural(count: usize, name: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {name}{end}", numbers::count(count))
}
