//! The learning curve of an agent: what is kept of each update, and the picture.

use crate::plot::{CurvePanel, Curves};
use crate::update_log::{Columns, LogRow, thinned};
use brex_learn::UpdateReport;

/// What is kept of an update, with the names in TensorBoard. The last ones are of rewards that learn.
const ALL: [(&str, &str); 16] = [
    ("steps", ""),
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
    ("discriminator_loss", "discriminator/loss"),
    ("experts_known", "discriminator/experts_known"),
    ("agent_known", "discriminator/agent_known"),
];
const OF_REWARDS_THAT_LEARN: usize = 3;

/// The columns of a training, whose reward learns or does not.
pub(crate) fn columns(learns: bool) -> Columns {
    let fewer = ALL.len() - OF_REWARDS_THAT_LEARN;
    if learns { &ALL } else { &ALL[..fewer] }
}

pub(crate) fn row_of(report: &UpdateReport) -> LogRow {
    let statistics = &report.statistics;
    let mut values = vec![
        Some(report.steps as f64),
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
    ];
    if let Some(lesson) = &report.reward {
        let learned = [lesson.loss, lesson.experts_known, lesson.agent_known];
        values.extend(learned.map(Some));
    }
    LogRow {
        update: report.update,
        values,
    }
}

/// Steps made until then.
pub(crate) fn steps(row: &LogRow) -> f64 {
    row.values[0].unwrap_or(0.0)
}

/// The mean score of recent episodes.
pub(crate) fn score(row: &LogRow) -> Option<f64> {
    row.values[2]
}

/// The mean score of recent episodes over millions of steps.
pub(crate) fn points(rows: &[LogRow]) -> Vec<(f64, f64)> {
    thinned(rows)
        .filter_map(|row| Some((steps(row) / 1e6, score(row)?)))
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
