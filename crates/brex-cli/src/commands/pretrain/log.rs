//! What is kept of each update of pre-training, and the picture.

use crate::plot::{CurvePanel, Curves};
use crate::update_log::{Columns, LogRow, thinned};
use brex_learn::PretrainReport;

pub(super) const COLUMNS: Columns = &[
    ("total", "losses/total"),
    ("ranking", "losses/ranking"),
    ("ranking_accuracy", "accuracy/batch"),
    ("reconstruction", "losses/reconstruction"),
    ("divergence", "losses/divergence"),
    ("temporal", "losses/temporal"),
    ("inverse", "losses/inverse"),
    ("forward", "losses/forward"),
    ("gradient_norm", "losses/gradient_norm"),
    ("held_out_accuracy", "accuracy/held_out"),
];

/// The places of the losses that are drawn, and of the accuracies.
const LOSSES: [(usize, &str); 6] = [
    (1, "ranking"),
    (3, "reconstruction"),
    (4, "divergence a pixel"),
    (5, "time between frames"),
    (6, "action between frames"),
    (7, "features five steps on"),
];
const BATCH_ACCURACY: usize = 2;
const HELD_OUT: usize = 9;

/// A loss that does not teach is absent.
pub(super) fn row_of(report: &PretrainReport, held_out: Option<f64>) -> LogRow {
    let losses = report.losses.named().map(|(_, value)| value);
    let mut values: Vec<Option<f64>> = losses
        .iter()
        .map(|value| (*value != 0.0).then_some(*value))
        .collect();
    if values[1].is_some() {
        // None of a batch may be right.
        values[BATCH_ACCURACY] = Some(losses[BATCH_ACCURACY]);
    }
    values.push(Some(report.gradient_norm));
    values.push(held_out);
    LogRow {
        update: report.update,
        values,
    }
}

/// The mean of so many neighbours is drawn: single updates are noisy.
const SMOOTHED: usize = 25;

fn smoothed(rows: &[LogRow], column: usize) -> Vec<(f64, f64)> {
    let all: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| Some((row.update as f64, row.values[column]?)))
        .collect();
    let ends: Vec<usize> = (1..=all.len()).collect();
    thinned(&ends)
        .map(|end| {
            let window = &all[end.saturating_sub(SMOOTHED)..*end];
            let mean = window.iter().map(|point| point.1).sum::<f64>() / window.len() as f64;
            (all[end - 1].0, mean)
        })
        .collect()
}

/// Accuracies and losses over the updates, as SVG.
pub(super) fn picture(rows: &[LogRow]) -> String {
    let panel = |title: &str, points: Vec<(f64, f64)>| CurvePanel {
        title: title.to_owned(),
        curves: vec![(String::new(), points)],
        levels: Vec::new(),
        dots: Vec::new(),
    };
    let held_out = rows.iter();
    let held_out = held_out.filter_map(|row| Some((row.update as f64, row.values[HELD_OUT]?)));
    let accuracy = CurvePanel {
        title: "snippet pairs ranked right".to_owned(),
        curves: vec![
            ("in training".to_owned(), smoothed(rows, BATCH_ACCURACY)),
            ("kept back".to_owned(), held_out.collect()),
        ],
        levels: vec![("chance".to_owned(), 0.5)],
        dots: Vec::new(),
    };
    let mut panels = vec![accuracy];
    for (column, title) in LOSSES {
        let points = smoothed(rows, column);
        if !points.is_empty() {
            panels.push(panel(title, points));
        }
    }
    let curves = Curves {
        title: "Pre-training".to_owned(),
        x_name: "updates".to_owned(),
        y_name: "mean of 25 updates".to_owned(),
        panels,
    };
    curves.draw()
}
