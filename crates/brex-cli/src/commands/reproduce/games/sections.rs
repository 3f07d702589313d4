//! The tables, in the paper's own form and beside its numbers, and what a reader wants to know about
//! all of them.

use super::choosing::chosen;
use super::paper::paper;
use super::result::{GameResult, JudgedPolicy, Judgement, Played};
use super::seeds::one_by_one;
use super::tables::PaperTable;
use crate::numbers;
use crate::table::{Align, Table};
use crate::terminal::Style;
use serde_json::{Value, json};

/// A table with a heading and what it shows.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) words: String,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Section {
    pub(super) fn new(title: impl Into<String>, words: &str, heads: &[&str]) -> Self {
        Self {
            title: title.into(),
            words: words.to_owned(),
            heads: heads.iter().map(|head| (*head).to_owned()).collect(),
            rows: Vec::new(),
        }
    }
}

pub(super) type Seeds<'a> = &'a [&'a GameResult];

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Below this a number is what rounding leaves of a difference, such as A's return measured from A's.
const NOTHING: f64 = 1e-9;

fn number(value: Option<f64>) -> String {
    let value = value.map(|value| if value.abs() < NOTHING { 0.0 } else { value });
    value.map_or_else(String::new, |value| numbers::trimmed(value, 4))
}

/// The mean over seeds of what some of them have.
fn over(seeds: Seeds<'_>, of: impl Fn(&GameResult) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = seeds.iter().filter_map(|result| of(result)).collect();
    mean(&values)
}

/// How many seeds say yes, of those that say anything.
fn share(seeds: Seeds<'_>, of: impl Fn(&GameResult) -> Option<bool>) -> String {
    let said: Vec<bool> = seeds.iter().filter_map(|result| of(result)).collect();
    if said.is_empty() {
        return String::new();
    }
    let yes = said.iter().filter(|yes| **yes).count();
    format!("{yes} of {}", said.len())
}

/// Mean and deviation over the rollouts of all seeds.
fn scored<'a>(played: impl Iterator<Item = &'a Played>) -> String {
    let scores: Vec<f64> = played.flat_map(|played| played.scores.clone()).collect();
    if scores.is_empty() {
        return String::new();
    }
    let (mean, sd) = numbers::mean_and_sd(&scores);
    let sd = sd.map_or_else(String::new, |sd| format!(" ({})", numbers::trimmed(sd, 3)));
    format!("{}{sd}", numbers::trimmed(mean, 4))
}

pub(super) fn title_of(game: &str) -> String {
    let place = game.split(':').next().unwrap_or_default();
    let name = paper(game).map_or(game, |paper| paper.name);
    format!("{name} ({place})")
}

/// All tables that were asked for, then the summary, then the seeds one by one.
pub(super) fn of(
    games: &[String],
    tables: &[PaperTable],
    first_seed: u64,
    results: &[Seeds<'_>],
) -> Vec<Section> {
    let mut sections = Vec::new();
    for table in tables {
        match table {
            PaperTable::Imitation => sections.push(imitation(games, results)),
            PaperTable::PolicyEvaluation => {
                let words = "The return that the posterior predicts, the bound that it holds with 95 % \
                             probability, and what is true.";
                sections.extend(judgements(
                    "Policy evaluation",
                    words,
                    "before",
                    games,
                    results,
                ));
            }
            PaperTable::Risk => {
                let learned = results
                    .iter()
                    .any(|seeds| seeds.iter().any(|unit| unit.learned.contains_key("map")));
                let words = if learned {
                    "After an episode of the agent that learned from the MAP reward and one of No-Op \
                     were ranked among the demonstrations."
                } else {
                    "After an episode of No-Op was ranked among the demonstrations."
                };
                sections.extend(judgements(
                    "Risk after asking",
                    words,
                    "after",
                    games,
                    results,
                ));
            }
            PaperTable::Prefix => {
                let words = "The first steps of rollouts only: an agent that learned from the true \
                             score (D), one that learned from the mean reward, and a hacker.";
                sections.extend(judgements("Fixed prefix", words, "prefix", games, results));
            }
            PaperTable::Ablation => sections.push(ablation(games, results)),
            PaperTable::Baselines => {
                for (name, method) in [("T-REX ensemble", "ensemble"), ("MC dropout", "dropout")] {
                    let words = "The same policies by the samples of another method.";
                    sections.extend(judgements(name, words, method, games, results));
                }
            }
        }
    }
    sections.push(correlations(games, results));
    sections.push(counts(games, results));
    sections.extend(chosen(games, results));
    sections.extend(one_by_one(games, first_seed, results));
    sections
}

fn imitation(games: &[String], results: &[Seeds<'_>]) -> Section {
    let mut section = Section::new(
        "Imitation",
        "True scores: the best and the average demonstration, and agents that learned from each \
         reward (standard deviation over rollouts); asked: from the mean reward, after episodes of \
         the agents before it were ranked. Below them the paper's, for the Atari game.",
        &[
            "game", "best", "average", "mean", "asked", "MAP", "T-REX", "GAIL", "ensemble",
            "dropout",
        ],
    );
    for (game, seeds) in games.iter().zip(results) {
        let learned =
            |name: &str| scored(seeds.iter().filter_map(|result| result.learned.get(name)));
        let average = |result: &GameResult| mean(&result.demonstrations.scores);
        section.rows.push(vec![
            title_of(game),
            number(over(seeds, |result| Some(result.demonstrations.best()))),
            number(over(seeds, average)),
            learned("mean"),
            learned("asked"),
            learned("map"),
            learned("trex"),
            learned("gail"),
            learned("ensemble"),
            learned("dropout"),
        ]);
        if let Some(paper) = paper(game) {
            let shown = |value: f64| numbers::trimmed(value, 5);
            section.rows.push(vec![
                format!("  paper, Atari {}", paper.name),
                shown(paper.best),
                shown(paper.average),
                shown(paper.mean),
                String::new(),
                shown(paper.map),
                shown(paper.trex),
                shown(paper.gail),
                shown(paper.ensemble),
                shown(paper.dropout),
            ]);
        }
    }
    section
}

/// A table of policies for each game that has such an evaluation.
fn judgements(
    name: &str,
    words: &str,
    which: &str,
    games: &[String],
    results: &[Seeds<'_>],
) -> Vec<Section> {
    let mut sections = Vec::new();
    for (game, seeds) in games.iter().zip(results) {
        let found: Vec<&Judgement> = seeds
            .iter()
            .filter_map(|result| result.judgements.get(which))
            .collect();
        let Some(first) = found.first() else {
            continue;
        };
        let mut heads = vec!["policy", "mean", "0.05-VaR", "true score", "length"];
        let printed = paper(game).filter(|_| which == "before");
        if printed.is_some() {
            heads.extend(["paper's mean", "paper's VaR"]);
        }
        let mut section = Section::new(format!("{name}: {}", title_of(game)), words, &heads);
        let order = [
            "A", "B", "C", "D", "mean", "asked", "map", "trex", "gail", "ensemble", "dropout",
            "No-Op", "hacker",
        ];
        for policy in order {
            let rows: Vec<&JudgedPolicy> = found
                .iter()
                .filter_map(|judged| judged.policy(policy))
                .collect();
            if first.policy(policy).is_none() {
                continue;
            }
            let of = |value: fn(&JudgedPolicy) -> Option<f64>| {
                let values: Vec<f64> = rows.iter().filter_map(|row| value(row)).collect();
                mean(&values)
            };
            let mut row = vec![
                policy.to_owned(),
                number(of(|row| Some(row.mean))),
                number(of(|row| row.var)),
                number(of(|row| Some(row.true_score))),
                number(of(|row| Some(row.length))),
            ];
            if let Some(printed) = printed
                && let Some((_, mean, var)) =
                    printed.bounds.iter().find(|(name, ..)| *name == policy)
            {
                row.extend([mean, var].map(|value| numbers::trimmed(*value, 5)));
            }
            row.resize(section.heads.len(), String::new());
            section.rows.push(row);
        }
        sections.push(section);
    }
    sections
}

fn ablation(games: &[String], results: &[Seeds<'_>]) -> Section {
    let mut section = Section::new(
        "Ablation of the losses",
        "Pre-training by some of the losses: snippet pairs of kept-back preferences that are ranked \
         right, rank correlation of mean and bound with the true score over all policies but those \
         that learned from a reward, and the true score of an agent that learned from the mean reward.",
        &[
            "game",
            "losses",
            "ranked right",
            "mean",
            "bound",
            "agent",
            "paper's agent",
        ],
    );
    for (game, seeds) in games.iter().zip(results) {
        for losses in ["ranking", "self-supervised", "all"] {
            let of = |value: fn(&super::result::Ablated) -> Option<f64>| {
                over(seeds, |result| result.ablation.get(losses).and_then(value))
            };
            let played = seeds
                .iter()
                .filter_map(|result| result.ablation.get(losses));
            let printed = paper(game).map(|paper| match losses {
                "ranking" => paper.ranking,
                "self-supervised" => paper.self_supervised,
                _ => paper.mean,
            });
            section.rows.push(vec![
                title_of(game),
                losses.to_owned(),
                of(|ablated| ablated.held_out_accuracy).map_or_else(String::new, numbers::percent),
                two_digits(of(|ablated| ablated.order.mean)),
                two_digits(of(|ablated| ablated.order.bound)),
                scored(played.map(|ablated| &ablated.played)),
                printed.map_or_else(String::new, |value| numbers::trimmed(value, 5)),
            ]);
        }
    }
    section
}

/// Rank correlation of means or bounds with the true score, for methods that give samples.
fn sampled(result: &GameResult, method: &str, of: fn(&JudgedPolicy) -> Option<f64>) -> Option<f64> {
    result.judgements.get(method)?.order(of, |_| true)
}

fn correlations(games: &[String], results: &[Seeds<'_>]) -> Section {
    let mut section = Section::new(
        "What ranks policies",
        "Rank correlation with the true score over all policies of a game, mean over seeds. Where \
         length alone or an untrained encoder do as well, nothing was shown to be learned.",
        &[
            "game",
            "mean",
            "bound",
            "T-REX",
            "ensemble",
            "its bound",
            "dropout",
            "its bound",
            "length",
            "untrained",
            "its bound",
            "R² on length",
        ],
    );
    for (game, seeds) in games.iter().zip(results) {
        let order = |value: fn(&super::result::Order) -> Option<f64>| {
            let of = |result: &GameResult| {
                let judged = result.judgements.get("before")?;
                judged.rank_correlation.as_ref().and_then(value)
            };
            two_digits(over(seeds, of))
        };
        let other = |method: &'static str, of: fn(&JudgedPolicy) -> Option<f64>| {
            two_digits(over(seeds, |result| sampled(result, method, of)))
        };
        section.rows.push(vec![
            title_of(game),
            order(|order| order.mean),
            order(|order| order.bound),
            order(|order| order.trex),
            other("ensemble", |policy| Some(policy.mean)),
            other("ensemble", |policy| policy.var),
            other("dropout", |policy| Some(policy.mean)),
            other("dropout", |policy| policy.var),
            order(|order| order.length),
            order(|order| order.untrained_mean),
            order(|order| order.untrained_bound),
            order(|order| order.r_squared_on_length),
        ]);
    }
    section
}

fn counts(games: &[String], results: &[Seeds<'_>]) -> Section {
    let mut section = Section::new(
        "How often",
        "Seeds in which the bound orders A to D as their true scores, in which the agent that learned \
         from the mean reward beats the best demonstration over all its rollouts, at once or after being \
         asked about; and of the policies A to D, how many a method's bound puts below one that does not play, mean \
         over seeds.",
        &[
            "game",
            "A to D ordered",
            "beats the best",
            "asked",
            "below idle",
            "after asking",
            "ensemble",
            "dropout",
        ],
    );
    for (game, seeds) in games.iter().zip(results) {
        let below = |which: &'static str| {
            let of = |result: &GameResult| {
                let count = result.judgements.get(which)?.below_idle()?;
                Some(count as f64)
            };
            number(over(seeds, of))
        };
        section.rows.push(vec![
            title_of(game),
            share(seeds, ordered),
            share(seeds, beats_best("mean")),
            share(seeds, beats_best("asked")),
            below("before"),
            below("after"),
            below("ensemble"),
            below("dropout"),
        ]);
    }
    section
}

fn ordered(result: &GameResult) -> Option<bool> {
    result.judgements.get("before")?.orders(|policy| policy.var)
}

/// Whether an agent scores more than the best demonstration, on average.
fn beats_best(agent: &str) -> impl Fn(&GameResult) -> Option<bool> {
    move |result| Some(result.score_of(agent)? > result.demonstrations.best())
}

/// For programs: the figures of the summary, and all results.
pub(super) fn json(games: &[String], results: &[Seeds<'_>], units: &[&GameResult]) -> Value {
    let each = games.iter().zip(results).map(|(game, seeds)| {
        let yes = |of: &dyn Fn(&GameResult) -> Option<bool>| {
            seeds.iter().map(|result| of(result)).collect::<Vec<Option<bool>>>()
        };
        json!({
            "game": game,
            "best_demonstration": seeds.iter().map(|r| r.demonstrations.best()).collect::<Vec<f64>>(),
            "a_to_d_ordered_by_bound": yes(&ordered),
            "mean_agent_beats_best_demonstration": yes(&beats_best("mean")),
            "asked_agent_beats_best_demonstration": yes(&beats_best("asked")),
        })
    });
    json!({ "games": each.collect::<Vec<Value>>(), "units": units })
}

/// For the terminal.
pub(super) fn text(sections: &[Section], style: Style) -> String {
    let mut text = String::new();
    for section in sections {
        let mut table = Table::new([section.heads.first().map_or("", String::as_str)]);
        for head in section.heads.iter().skip(1) {
            table.column(head.as_str(), Align::Right);
        }
        for row in &section.rows {
            table.row(row.clone());
        }
        let title = style.bold(&section.title);
        text.push_str(&format!("{title}\n{}\n", table.show(style)));
    }
    text
}

/// For documents.
pub(super) fn markdown(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        text.push_str(&format!("## {}\n\n{}\n\n", section.title, section.words));
        text.push_str(&format!("| {} |\n", section.heads.join(" | ")));
        text.push_str(&format!("|{}\n", "---|".repeat(section.heads.len())));
        for row in &section.rows {
            text.push_str(&format!("| {} |\n", row.join(" | ")));
        }
        text.push('\n');
    }
    text
}

/// Rank correlations as a table has them.
fn two_digits(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| numbers::fixed(value, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_leaves_of_a_difference_is_nothing() {
        assert_eq!(number(Some(-1.7e-14)), "0");
        assert_eq!(number(Some(-0.0123)), "-0.0123");
        assert_eq!(number(None), "");
    }
}
