//! Who plays better: the policy that was kept so far, or a new one.

use crate::numbers;
use crate::plot::{Chart, Reading, Series};
use crate::table::Table;
use crate::terminal::Style;
use brex_core::Episode;
use serde_json::{Value, json};

/// What one policy played for the person to rank.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contest {
    /// Who played.
    pub(super) name: String,
    pub(super) scores: Vec<f64>,
    pub(super) lengths: Vec<f64>,
    /// Whether it was preferred to the one before.
    pub(super) kept: bool,
}

impl Contest {
    pub(super) fn of(name: &str, episodes: &[Episode]) -> Self {
        let lengths = episodes.iter().map(|e| e.actions.len() as f64);
        Self {
            name: name.to_owned(),
            scores: episodes.iter().map(|episode| episode.score).collect(),
            lengths: lengths.collect(),
            kept: false,
        }
    }

    /// Whether more of its episodes are ranked above the other's than below: ranks alone decide, by
    /// all pairs, so that one lucky episode does not.
    pub(super) fn beats(&self, other: &Self) -> bool {
        let pairs = self.scores.iter().flat_map(|own| {
            let theirs = other.scores.iter();
            theirs.map(move |their| i64::from(own > their) - i64::from(own < their))
        });
        pairs.sum::<i64>() > 0
    }
}

/// Everything that was played, in its order.
pub(super) struct Contests {
    pub(super) environment: String,
    /// True scores of the demonstrations that were given.
    pub(super) demonstrated: Vec<f64>,
    pub(super) all: Vec<Contest>,
}

impl Contests {
    /// The policy that was kept last.
    pub(super) fn champion(&self) -> Option<&Contest> {
        self.all.iter().rev().find(|contest| contest.kept)
    }

    /// A policy played: whether it is the one to go on with.
    pub(super) fn enter(&mut self, mut contest: Contest) -> bool {
        contest.kept = self.champion().is_none_or(|before| contest.beats(before));
        let kept = contest.kept;
        self.all.push(contest);
        kept
    }

    fn best(&self) -> f64 {
        self.demonstrated.iter().copied().fold(f64::NAN, f64::max)
    }

    pub(super) fn json(&self) -> Value {
        let played = self.all.iter().map(|contest| {
            json!({
                "policy": contest.name,
                "scores": contest.scores,
                "mean_score": numbers::mean_and_sd(&contest.scores).0,
                "mean_length": numbers::mean_and_sd(&contest.lengths).0,
                "kept": contest.kept,
            })
        });
        json!({
            "environment": self.environment,
            "demonstrations": self.demonstrated.len(),
            "best_demonstration": self.best(),
            "episodes_ranked": self.all.iter().map(|c| c.scores.len()).sum::<usize>(),
            "played": played.collect::<Vec<Value>>(),
            "improved": self.champion().map(|contest| contest.name.clone()),
        })
    }

    pub(super) fn text(&self, style: Style) -> String {
        let number = |value: f64| numbers::trimmed(value, 4);
        let mut table = Table::new(["policy", "true scores", "mean", "length", "kept"]);
        for contest in &self.all {
            let scores: Vec<String> = contest.scores.iter().map(|s| number(*s)).collect();
            table.row([
                contest.name.clone(),
                scores.join(" "),
                number(numbers::mean_and_sd(&contest.scores).0),
                number(numbers::mean_and_sd(&contest.lengths).0),
                if contest.kept { "yes" } else { "" }.to_owned(),
            ]);
        }
        let ranked: usize = self.all.iter().map(|contest| contest.scores.len()).sum();
        format!(
            "{}\nthe best of {} demonstrations scores {}; {} episodes were ranked among them\n",
            table.show(style),
            self.demonstrated.len(),
            number(self.best()),
            numbers::count(ranked),
        )
    }

    /// The scores of what was ranked, one policy after the other.
    pub(super) fn picture(&self) -> String {
        let reading = |(at, contest): (usize, &Contest)| {
            let mean = numbers::mean_and_sd(&contest.scores).0;
            let least = contest.scores.iter().copied().fold(mean, f64::min);
            let most = contest.scores.iter().copied().fold(mean, f64::max);
            Reading {
                x: at as f64,
                y: mean,
                low: least,
                high: most,
            }
        };
        let best = self.best();
        let level = [0, self.all.len().saturating_sub(1)].map(|at| Reading {
            x: at as f64,
            y: best,
            low: best,
            high: best,
        });
        let kept = self.all.iter().enumerate().filter(|(_, c)| c.kept);
        let series = |name: &str, readings: Vec<Reading>| Series {
            name: name.to_owned(),
            readings,
        };
        Chart {
            title: format!("{}: true scores of what was ranked", self.environment),
            x_name: "policies, in the order in which they played".to_owned(),
            x_places: self.all.iter().map(|one| one.name.clone()).collect(),
            y_name: "true score, mean and range".to_owned(),
            series: vec![
                series("played", self.all.iter().enumerate().map(reading).collect()),
                series("kept", kept.map(reading).collect()),
                series("best demonstration", level.to_vec()),
            ],
            diagonal: None,
        }
        .draw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contest(name: &str, scores: &[f64]) -> Contest {
        Contest {
            name: name.to_owned(),
            scores: scores.to_vec(),
            lengths: vec![1.0; scores.len()],
            kept: false,
        }
    }

    #[test]
    fn ranks_decide_and_not_one_lucky_episode() {
        let before = contest("before", &[10.0, 11.0, 12.0]);
        assert!(contest("steady", &[11.5, 12.5, 13.0]).beats(&before));
        assert!(!contest("lucky", &[1.0, 2.0, 500.0]).beats(&before));
        assert!(!before.beats(&before));
        assert!(!contest("nobody", &[]).beats(&before));
    }

    #[test]
    fn only_who_is_preferred_to_the_last_kept_is_kept() {
        let mut contests = Contests {
            environment: "pocket:breakout".to_owned(),
            demonstrated: vec![3.0, 7.0],
            all: Vec::new(),
        };
        let entered = [
            ("mean", [5.0, 5.0]),
            ("worse", [1.0, 2.0]),
            ("better", [6.0, 8.0]),
            ("between", [5.0, 7.0]),
        ]
        .map(|(name, scores)| contests.enter(contest(name, &scores)));
        assert_eq!(entered, [true, false, true, false]);
        assert_eq!(contests.champion().unwrap().name, "better");
        let json = contests.json();
        assert_eq!(json["improved"], "better");
        assert_eq!(json["best_demonstration"], 7.0);
        assert_eq!(json["episodes_ranked"], 8);
    }
}
