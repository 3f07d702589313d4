//! The files that a finished coverage study leaves: all rates as CSV, and the reliability plot.

use super::coverage_summary::{RowSummary, Summary};
use crate::numbers;
use crate::plot::{Panel, PanelSeries, Panels, Reading};
use brex_tabular::{Condition, JudgedPolicy, Method};
use serde::Serialize;
use std::fmt::Write;

pub(super) const TABLE: &str = "coverage.csv";
pub(super) const SUMMARY: &str = "summary.json";
pub(super) const FIGURE: &str = "reliability.svg";

/// All of them.
pub(super) const NAMES: [&str; 3] = [TABLE, SUMMARY, FIGURE];

/// Standard errors to both sides that hold 95 % of a normal distribution.
const INTERVAL: f64 = 1.96;

/// The policies that are drawn. Nothing is promised for the optimal one, and the random one is of
/// little interest.
const DRAWN: [JudgedPolicy; 2] = [JudgedPolicy::MeanReward, JudgedPolicy::Hacker];

/// What files call a condition, a method or a policy.
pub(super) fn name_of(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// One line for every bound.
pub(super) fn csv(summary: &Summary) -> String {
    let mut text = "condition,method,demonstrations,policy,delta,worlds,held,rate,standard_error,\
                    z,mean_margin,not_converged\n"
        .to_owned();
    for row in &summary.rows {
        let (condition, method) = (name_of(row.condition), name_of(row.method));
        let (count, policy) = (row.demonstrations, name_of(row.policy));
        for bound in &row.bounds {
            let measured = [bound.rate, bound.standard_error, bound.z, bound.mean_margin];
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{condition},{method},{count},{policy},{},{},{},{},{}",
                bound.delta,
                bound.worlds,
                bound.held,
                measured.map(numbers::six_digits).join(","),
                row.not_converged
            );
        }
    }
    text
}

/// The share of worlds in which bounds failed against delta, a panel for every condition.
pub(super) fn figure(summary: &Summary) -> String {
    let plural = if summary.worlds == 1 { "" } else { "s" };
    let figure = Panels {
        title: format!(
            "How often bounds fail in {} world{plural}, against what they promise",
            numbers::count(summary.worlds)
        ),
        y_name: "share of worlds (logarithmic)".to_owned(),
        readings_name: "bars: 95 %; means over numbers of demonstrations".to_owned(),
        printed_name: String::new(),
        diagonal: Some("as promised; above it, too often".to_owned()),
        panels: summary
            .conditions()
            .into_iter()
            .map(|condition| panel(summary, condition))
            .collect(),
    };
    figure.draw()
}

fn panel(summary: &Summary, condition: Condition) -> Panel {
    let mut series = Vec::new();
    for method in Method::ALL {
        // The colours of the figure of losses.
        let colour = match method {
            Method::BayesianIrl => 0,
            Method::BayesianRex => 1,
        };
        for (at, policy) in DRAWN.into_iter().enumerate() {
            let rows = summary.rows.iter().filter(|row| {
                (row.condition, row.method, row.policy) == (condition, method, policy)
            });
            series.push(PanelSeries {
                name: format!("{}, {}", method.name(), policy.describe()),
                colour,
                dashed: at > 0,
                readings: readings(&rows.collect::<Vec<_>>()),
                printed: Vec::new(),
            });
        }
    }
    Panel {
        title: title(condition),
        x_name: "delta, the share that is promised (logarithmic)".to_owned(),
        series,
    }
}

/// A condition as a heading.
pub(super) fn title(condition: Condition) -> String {
    match condition {
        Condition::AsAssumed => "All as the methods assume".to_owned(),
        Condition::TooSure | Condition::TooCautious => {
            let text = condition.describe();
            text[..1].to_uppercase() + &text[1..]
        }
        Condition::Flipped => condition.describe().to_owned(),
    }
}

/// The rates of failure, averaged over numbers of demonstrations. These share their worlds, so
/// that only worlds count for the interval, which is wide enough whatever they have in common.
fn readings(rows: &[&RowSummary]) -> Vec<Reading> {
    let deltas = rows.first().map_or(0, |row| row.bounds.len());
    let mean_of = |at: usize| {
        let rates = rows.iter().map(|row| 1.0 - row.bounds[at].rate);
        rates.sum::<f64>() / rows.len() as f64
    };
    (0..deltas)
        .map(|at| {
            let bound = rows[0].bounds[at];
            let failed = mean_of(at).clamp(0.0, 1.0);
            let (low, high) = wilson(failed, bound.worlds as f64);
            Reading {
                x: bound.delta,
                y: failed,
                low,
                high,
            }
        })
        .collect()
}

/// Wilson's 95 % interval of a share, which is sound for shares near 0 too.
fn wilson(share: f64, count: f64) -> (f64, f64) {
    let square = INTERVAL * INTERVAL / count;
    let middle = (share + square / 2.0) / (1.0 + square);
    let spread = share * (1.0 - share) / count + square / (4.0 * count);
    let half = INTERVAL * spread.sqrt() / (1.0 + square);
    let low = if share > 0.0 { middle - half } else { 0.0 };
    (low.max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 5e-5, "{a} {b}");
        // From the tables: 10 of 100, and 0 of 20.
        let (low, high) = wilson(0.1, 100.0);
        near(low, 0.0552);
        near(high, 0.1744);
        let (low, high) = wilson(0.0, 20.0);
        assert_eq!(low, 0.0);
        near(high, 0.1611);
    }
}
