//! The seeds of a study one by one: an average of three hides what one of them did.

use super::result::{GameResult, JudgedPolicy, Judgement};
use super::sections::{Section, Seeds, title_of};
use crate::numbers;

/// What a posterior says of policies, and what its agents came to, for each seed of each game. Nothing if
/// there is one seed only, of which all other tables speak.
pub(super) fn one_by_one(games: &[String], first: u64, results: &[Seeds<'_>]) -> Vec<Section> {
    if results.iter().all(|seeds| seeds.len() < 2) {
        return Vec::new();
    }
    vec![
        policies(games, first, results),
        agents(games, first, results),
    ]
}

fn policies(games: &[String], first: u64, results: &[Seeds<'_>]) -> Section {
    let mut section = Section::new(
        "Seed by seed: policies",
        "Mean and bound of each policy, its true score in brackets; and whether means and bounds of \
         A to D rise as their true scores do.",
        &[
            "game",
            "seed",
            "A",
            "B",
            "C",
            "D",
            "No-Op",
            "hacker",
            "means in order",
            "bounds in order",
        ],
    );
    for (game, seed, judged, _) in units(games, first, results) {
        let mut row = vec![title_of(game), seed.to_string()];
        for name in ["A", "B", "C", "D", "No-Op", "hacker"] {
            row.push(judged.policy(name).map_or_else(String::new, |policy| {
                format!("{} ({})", mean_and_bound(policy), short(policy.true_score))
            }));
        }
        row.push(said(judged.orders(|policy| Some(policy.mean))));
        row.push(said(judged.orders(|policy| policy.var)));
        section.rows.push(row);
    }
    section
}

fn agents(games: &[String], first: u64, results: &[Seeds<'_>]) -> Section {
    let mut section = Section::new(
        "Seed by seed: agents and ranks",
        "The best demonstration; the true score of the agents that learned from the mean reward over all \
         their rollouts, at once and after being asked about; of the first, after how many steps of its training it was taken, mean and bound; \
         and rank correlations with the true score over all policies.",
        &[
            "game",
            "seed",
            "best",
            "mean",
            "taken after",
            "its mean, bound",
            "asked",
            "rank: mean",
            "bound",
            "length",
            "untrained",
            "its bound",
        ],
    );
    for (game, seed, judged, result) in units(games, first, results) {
        let ranks = judged.rank_correlation.unwrap_or_default();
        let ranks = [
            ranks.mean,
            ranks.bound,
            ranks.length,
            ranks.untrained_mean,
            ranks.untrained_bound,
        ];
        let mut row = vec![
            title_of(game),
            seed.to_string(),
            short(result.demonstrations.best()),
            scored(result, "mean"),
            (result.taken.get("mean"))
                .map_or_else(String::new, |steps| numbers::count(*steps as usize)),
            (judged.policy("mean")).map_or_else(String::new, mean_and_bound),
            scored(result, "asked"),
        ];
        let shown =
            |rank: Option<f64>| rank.map_or_else(String::new, |rank| numbers::fixed(rank, 3));
        row.extend(ranks.map(shown));
        section.rows.push(row);
    }
    section
}

/// Every game with every seed and how its posterior judges before anybody is asked.
fn units<'a>(
    games: &'a [String],
    first: u64,
    results: &[Seeds<'a>],
) -> Vec<(&'a str, u64, &'a Judgement, &'a GameResult)> {
    let of_game = |(game, seeds): (&'a String, &Seeds<'a>)| {
        let seeds = (first..).zip(*seeds);
        let judged = seeds.filter_map(|(seed, result)| {
            let judged = result.judgements.get("before")?;
            Some((game.as_str(), seed, judged, *result))
        });
        judged.collect::<Vec<_>>()
    };
    games.iter().zip(results).flat_map(of_game).collect()
}

fn mean_and_bound(policy: &JudgedPolicy) -> String {
    let bound = policy.var.map_or_else(|| "?".to_owned(), short);
    format!("{}, {bound}", short(policy.mean))
}

fn scored(result: &GameResult, agent: &str) -> String {
    result.score_of(agent).map_or_else(String::new, short)
}

fn short(value: f64) -> String {
    numbers::trimmed(value, 3)
}

fn said(answer: Option<bool>) -> String {
    match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(bounds: [f64; 4]) -> GameResult {
        let policies = ["A", "B", "C", "D"].iter().zip(bounds).zip(1..);
        let policies = policies.map(|((name, var), score)| {
            json!({ "policy": name, "mean": score, "var": var, "true_score": score, "length": 9 })
        });
        let policies: Vec<_> = policies.collect();
        let result = json!({
            "demonstrations": { "scores": [2, 7], "lengths": [1, 1] },
            "learned": { "mean": { "scores": [8, 10], "lengths": [1, 1] } },
            "curves": {},
            "taken": { "mean": 61440 },
            "judgements": { "before": {
                "policies": policies,
                "rank_correlation": { "policies": 4, "mean": 1.0, "bound": 0.25, "untrained_mean": -0.5 },
            } },
            "ablation": {},
        });
        serde_json::from_value(result).unwrap()
    }

    #[test]
    fn every_seed_has_a_row_that_says_what_it_did() {
        let games = ["pocket:breakout".to_owned()];
        let (good, bad) = (result([1.0, 2.0, 3.0, 4.0]), result([1.0, 2.0, 4.0, 3.0]));
        let seeds: Seeds<'_> = &[&good, &bad];
        let sections = one_by_one(&games, 5, &[seeds]);
        let policies = &sections[0].rows;
        assert_eq!(policies[0][1..4], ["5", "1, 1 (1)", "2, 2 (2)"]);
        assert_eq!(policies[1][8..], ["yes", "no"]);
        let agents = &sections[1].rows;
        let expected = [
            "6", "7", "9", "61,440", "", "", "1.000", "0.250", "", "-0.500", "",
        ];
        assert_eq!(agents[1][1..], expected);
        for section in &sections {
            assert!(
                section
                    .rows
                    .iter()
                    .all(|row| row.len() == section.heads.len())
            );
        }
        assert!(one_by_one(&games, 5, &[&seeds[..1]]).is_empty());
    }
}
