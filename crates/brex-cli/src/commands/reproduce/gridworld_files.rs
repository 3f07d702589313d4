//! The files that a finished gridworld study leaves: the losses of every world as CSV, in the form
//! of the authors' program, and a figure.

use super::gridworld_summary::{MethodSummary, SettingSummary, Summary, TableSummary};
use crate::numbers;
use crate::plot::{Panel, PanelSeries, Panels, Reading};
use brex_tabular::{LossRow, StudyTable};
use std::fmt::Write;

pub(super) const SUMMARY: &str = "summary.json";
pub(super) const FIGURE: &str = "losses.svg";

/// Standard errors to both sides of a mean that hold 95 % of a normal distribution.
const INTERVAL: f64 = 1.96;

/// The name of a table's file.
pub(super) fn csv_name(table: StudyTable) -> String {
    format!("{}.csv", table.file_stem())
}

/// The name and the text of a table's file: settings in order, worlds in order.
pub(super) fn csv(table: StudyTable, worlds: &[&Vec<LossRow>]) -> (String, String) {
    let setting = table.setting_name();
    let mut text = format!("{setting},world,bayesian_irl_loss,bayesian_rex_loss\n");
    for at in 0..table.settings().len() {
        for rows in worlds {
            let row = &rows[at];
            let losses = [row.irl.loss, row.rex.loss].map(numbers::six_digits);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{},{},{}",
                row.setting, row.world, losses[0], losses[1]
            );
        }
    }
    (csv_name(table), text)
}

/// Losses against demonstrations, a panel for every table.
pub(super) fn figure(summary: &Summary) -> String {
    let plural = if summary.worlds == 1 { "" } else { "s" };
    let worlds = format!("{} world{plural}", numbers::count(summary.worlds));
    let figure = Panels {
        title: format!("Loss of the learned policy, mean over {worlds}"),
        y_name: "loss (logarithmic)".to_owned(),
        readings_name: "bars: ± 1.96 standard errors".to_owned(),
        printed_name: "hollow: the paper's value".to_owned(),
        diagonal: None,
        panels: summary.tables.iter().map(panel).collect(),
    };
    figure.draw()
}

fn panel(table: &TableSummary) -> Panel {
    let series = |colour, name: &str, method: fn(&SettingSummary) -> &MethodSummary| {
        let (mut readings, mut printed) = (Vec::new(), Vec::new());
        for row in &table.rows {
            let (x, method) = (position(table.table, row.setting), method(row));
            let mean = method.loss.mean;
            let half = INTERVAL * method.loss.standard_error.unwrap_or(0.0);
            readings.push(Reading {
                x,
                y: mean,
                low: mean - half,
                high: mean + half,
            });
            printed.extend(method.paper.map(|loss| (x, loss)));
        }
        PanelSeries {
            name: name.to_owned(),
            colour,
            dashed: false,
            readings,
            printed,
        }
    };
    let x_name = match table.table {
        StudyTable::GoodBad => "taken as good, and as bad (% of 20 demonstrations)",
        StudyTable::OptSubopt | StudyTable::Ranked | StudyTable::OptNoise => "demonstrations",
    };
    Panel {
        title: format!("Table {}: {}", table.number, short_title(table.table)),
        x_name: x_name.to_owned(),
        series: vec![
            series(0, "Bayesian IRL", |row| &row.bayesian_irl),
            series(1, "Bayesian REX", |row| &row.bayesian_rex),
        ],
    }
}

/// Fractions are drawn as percentages.
fn position(table: StudyTable, setting: f64) -> f64 {
    match table {
        StudyTable::GoodBad => 100.0 * setting,
        StudyTable::OptSubopt | StudyTable::Ranked | StudyTable::OptNoise => setting,
    }
}

/// As much of a title as stands above a panel.
fn short_title(table: StudyTable) -> &'static str {
    match table {
        StudyTable::OptSubopt => "optimal for IRL, ranked random for REX",
        StudyTable::Ranked => "ranked random for both",
        StudyTable::GoodBad => "ranked random, good and bad for IRL",
        StudyTable::OptNoise => "optimal, REX prefers it to random",
    }
}
