//! What was played with how much noise, and what follows from it: preferences, a table, a picture.

use super::files::CloneFigures;
use super::levels::Level;
use crate::numbers;
use crate::plot::{Chart, Reading, Series};
use crate::table::Table;
use crate::terminal::Style;
use brex_core::Episode;
use serde_json::{Value, json};

/// The episodes of one level.
pub(super) struct PlayedLevel {
    pub(super) level: Level,
    pub(super) episodes: Vec<Episode>,
}

impl PlayedLevel {
    fn scores(&self) -> Vec<f64> {
        self.episodes.iter().map(|episode| episode.score).collect()
    }

    fn mean_length(&self) -> f64 {
        let lengths = self.episodes.iter().map(|e| e.actions.len() as f64);
        numbers::mean_and_sd(&lengths.collect::<Vec<f64>>()).0
    }
}

/// Everything that was played.
pub(super) struct Results {
    environment: String,
    demonstrated: Vec<f64>,
    clone: CloneFigures,
    /// The noisiest level first.
    levels: Vec<PlayedLevel>,
}

/// How preferences compare with the true scores.
#[derive(Default)]
struct Agreement {
    preferences: usize,
    right: usize,
    wrong: usize,
}

impl Agreement {
    /// The share of preferences that the scores agree with, of those that they say anything about.
    fn share(&self) -> Option<f64> {
        let told = self.right + self.wrong;
        (told > 0).then(|| self.right as f64 / told as f64)
    }
}

impl Results {
    pub(super) fn new(
        environment: &str,
        demonstrated: Vec<f64>,
        clone: CloneFigures,
        levels: Vec<PlayedLevel>,
    ) -> Self {
        Self {
            environment: environment.to_owned(),
            demonstrated,
            clone,
            levels,
        }
    }

    /// Calls `each` with every preference: the level and place of the worse and of the better one.
    fn each_preference(&self, mut each: impl FnMut([(usize, usize); 2])) {
        for (worse, noisy) in self.levels.iter().enumerate() {
            for (better, clear) in self.levels.iter().enumerate().skip(worse + 1) {
                for first in 0..noisy.episodes.len() {
                    for second in 0..clear.episodes.len() {
                        each([(worse, first), (better, second)]);
                    }
                }
            }
        }
    }

    /// The preferences, a line each.
    pub(super) fn lines(&self) -> String {
        let mut lines = String::new();
        let mut number = 0;
        let id = |(level, episode): (usize, usize)| self.levels[level].level.id(episode);
        self.each_preference(|[worse, better]| {
            let line = json!({
                "id": number,
                "a": id(worse),
                "b": id(better),
                "label": "b",
                "annotator": "noise",
            });
            lines.push_str(&format!("{line}\n"));
            number += 1;
        });
        lines
    }

    fn agreement(&self) -> Agreement {
        let mut agreement = Agreement::default();
        let score = |(level, episode): (usize, usize)| self.levels[level].episodes[episode].score;
        self.each_preference(|[worse, better]| {
            agreement.preferences += 1;
            agreement.right += usize::from(score(better) > score(worse));
            agreement.wrong += usize::from(score(better) < score(worse));
        });
        agreement
    }

    pub(super) fn json(&self) -> Value {
        let levels = self.levels.iter().map(|played| {
            let (mean, sd) = numbers::mean_and_sd(&played.scores());
            json!({
                "level": played.level.number,
                "noise": played.level.noise,
                "episodes": played.episodes.len(),
                "mean_score": mean,
                "sd_score": sd,
                "mean_length": played.mean_length(),
            })
        });
        let agreement = self.agreement();
        json!({
            "environment": self.environment,
            "demonstrations": self.demonstrated.len(),
            "demonstrated_score": numbers::mean_and_sd(&self.demonstrated).0,
            "clone": self.clone,
            "levels": levels.collect::<Vec<Value>>(),
            "preferences": agreement.preferences,
            "agree_with_scores": agreement.share(),
        })
    }

    pub(super) fn text(&self, style: Style) -> String {
        let number = |value: f64| numbers::trimmed(value, 5);
        let mut table = Table::new(["noise", "episodes", "true score", "sd", "length"]);
        for played in &self.levels {
            let (mean, sd) = numbers::mean_and_sd(&played.scores());
            table.row([
                number(played.level.noise),
                numbers::count(played.episodes.len()),
                number(mean),
                sd.map_or_else(String::new, number),
                number(played.mean_length()),
            ]);
        }
        let agreement = self.agreement();
        let agree = agreement.share().map_or_else(String::new, |share| {
            format!("; true scores agree with {}", numbers::percent(share))
        });
        format!(
            "{}\nthe clone foretells {} of actions that were kept back ({} steps, update {})\n\
             demonstrations score {} on average\n{} preferences{agree}\n",
            table.show(style),
            numbers::percent(self.clone.held_out_accuracy),
            numbers::count(self.clone.steps),
            self.clone.best_update,
            number(numbers::mean_and_sd(&self.demonstrated).0),
            numbers::count(agreement.preferences),
        )
    }

    /// Means with an interval of two standard errors, and the demonstrations' mean beside them.
    pub(super) fn picture(&self) -> String {
        let readings = self.levels.iter().map(|played| {
            let (mean, sd) = numbers::mean_and_sd(&played.scores());
            let error = 2.0 * sd.unwrap_or(0.0) / (played.episodes.len() as f64).sqrt();
            Reading {
                x: played.level.noise,
                y: mean,
                low: mean - error,
                high: mean + error,
            }
        });
        let mean = numbers::mean_and_sd(&self.demonstrated).0;
        let level = [0.0, 1.0].map(|x| Reading {
            x,
            y: mean,
            low: mean,
            high: mean,
        });
        let series = |name: &str, readings| Series {
            name: name.to_owned(),
            readings,
        };
        let chart = Chart {
            title: format!("{}: true score by noise", self.environment),
            x_name: "noise: probability of a random action".to_owned(),
            x_places: Vec::new(),
            y_name: "mean true score".to_owned(),
            series: vec![
                series("clone, with two standard errors", readings.collect()),
                series("mean of the demonstrations", level.to_vec()),
            ],
            diagonal: None,
        };
        chart.draw()
    }

    /// Why these preferences may not serve, if they may not.
    pub(super) fn problem(&self) -> Option<String> {
        let agreement = self.agreement();
        let share = agreement.share().unwrap_or(0.5);
        (share <= 0.5).then(|| {
            format!(
                "not to be trusted: true scores agree with {} of the preferences; chance is 50 %. \
                 The clone plays no better than noise: give more or better demonstrations",
                numbers::percent(share)
            )
        })
    }
}
