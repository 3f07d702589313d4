//! The learning curve: a row for each update, as CSV, for TensorBoard, and as a picture.
//!
//! The CSV holds nothing that depends on the clock, so that the same seed gives the same bytes.

use crate::exit::BadInput;
use crate::plot::{CurvePanel, Curves};
use anyhow::Result;
use brex_learn::UpdateReport;
use brex_store::EventFile;

/// The columns after `update` and `steps`, with their names in TensorBoard.
const COLUMNS: [(&str, &str); 12] = [
    ("episodes", "charts/episodes"),
    ("score", "charts/score"),
    ("length", "charts/length"),
    ("mean_reward", "charts/mean_reward"),
    ("learning_rate", "charts/learning_rate"),
    ("policy_loss", "losses/policy"),
    ("value_loss", "losses/value"),
    ("entropy", "losses/entropy"),
    ("divergence", "losses/divergence"),
    ("clipped", "losses/clipped"),
    ("explained_variance", "losses/explained_variance"),
    ("gradient_norm", "losses/gradient_norm"),
];

/// One update. A number is absent where there was nothing to measure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) update: u64,
    pub(crate) steps: u64,
    values: [Option<f64>; 12],
}

impl Row {
    pub(crate) fn of(report: &UpdateReport) -> Self {
        let statistics = &report.statistics;
        Self {
            update: report.update,
            steps: report.steps,
            values: [
                Some(report.episodes.len() as f64),
                report.recent.map(|(score, _)| score),
                report.recent.map(|(_, length)| length),
                Some(report.mean_reward),
                Some(report.learning_rate),
                Some(statistics.policy_loss),
                Some(statistics.value_loss),
                Some(statistics.entropy),
                Some(statistics.divergence),
                Some(statistics.clipped),
                Some(report.explained_variance),
                Some(statistics.gradient_norm),
            ],
        }
    }

    /// The mean score of recent episodes.
    pub(crate) fn score(&self) -> Option<f64> {
        self.values[1]
    }

    fn line(&self) -> String {
        let mut line = format!("{},{}", self.update, self.steps);
        for value in self.values {
            line.push(',');
            if let Some(value) = value {
                line.push_str(&value.to_string());
            }
        }
        line.push('\n');
        line
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(',');
        let (update, steps) = (fields.next()?.parse(), fields.next()?.parse());
        let mut values = [None; 12];
        for value in &mut values {
            let field = fields.next()?;
            if !field.is_empty() {
                *value = Some(field.parse().ok()?);
            }
        }
        let (update, steps) = (update.ok()?, steps.ok()?);
        fields.next().is_none().then_some(Self {
            update,
            steps,
            values,
        })
    }
}

fn header() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    format!("update,steps,{}\n", names.join(","))
}

/// All rows as CSV.
pub(crate) fn to_csv(rows: &[Row]) -> String {
    let mut text = header();
    text.extend(rows.iter().map(Row::line));
    text
}

/// Rows from CSV, up to an update; what was written later is forgotten, because it comes again.
pub(crate) fn from_csv(text: &str, until: u64) -> Result<Vec<Row>, BadInput> {
    let Some(rest) = text.strip_prefix(&header()) else {
        return Err(BadInput::new(
            "line 1 is not the header of a learning curve",
        ));
    };
    let mut rows = Vec::new();
    let wanted = usize::try_from(until).unwrap_or(usize::MAX);
    for (index, line) in rest.lines().enumerate().take(wanted) {
        let row = Row::parse(line).filter(|row| row.update == index as u64 + 1);
        let Some(row) = row else {
            let line = index + 2;
            return Err(BadInput::new(format!(
                "line {line} is not update {}",
                index + 1
            )));
        };
        rows.push(row);
    }
    if (rows.len() as u64) < until {
        let problem = format!("ends at update {}, the training at {until}", rows.len());
        return Err(BadInput::new(problem));
    }
    Ok(rows)
}

/// Adds a row to what TensorBoard shows.
pub(crate) fn add_to_events(events: &mut EventFile, row: &Row, seconds: f64) {
    let named = COLUMNS.iter().zip(row.values);
    let values: Vec<(&str, f64)> = named
        .filter_map(|((_, name), value)| Some((*name, value?)))
        .collect();
    events.scalars(seconds, row.steps, &values);
}

/// The mean score of recent episodes over millions of steps, thinned to what can be told apart.
pub(crate) fn points(rows: &[Row]) -> Vec<(f64, f64)> {
    let every = rows.len().div_ceil(300).max(1);
    let chosen = rows.iter().enumerate();
    let chosen = chosen.filter(|(index, _)| index % every == 0 || index + 1 == rows.len());
    chosen
        .filter_map(|(_, row)| Some((row.steps as f64 / 1e6, row.score()?)))
        .collect()
}

/// Curves of trainings, as SVG.
pub(crate) fn picture(title: &str, panels: Vec<CurvePanel>) -> String {
    let curves = Curves {
        title: title.to_owned(),
        x_name: "million steps".to_owned(),
        y_name: "mean score of the last 100 episodes".to_owned(),
        panels,
    };
    curves.draw()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(update: u64) -> Row {
        let mut values = [Some(0.1 + update as f64); 12];
        values[1] = None;
        Row {
            update,
            steps: update * 10,
            values,
        }
    }

    #[test]
    fn rows_come_back_up_to_the_update() {
        let rows: Vec<Row> = (1..=5).map(row).collect();
        let text = to_csv(&rows);
        assert_eq!(from_csv(&text, 5).unwrap(), rows);
        assert_eq!(from_csv(&text, 3).unwrap(), rows[..3]);
        // A row that was being written when the power failed.
        let torn = &text[..text.len() - 20];
        assert_eq!(from_csv(torn, 4).unwrap(), rows[..4]);
        assert!(from_csv(torn, 5).is_err());
        assert!(from_csv("a,b\n1,2\n", 0).is_err());
        assert!(from_csv(&text, 6).is_err());
    }
}
