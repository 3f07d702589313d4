//! What a bound is for: one of the agents that learned has to be taken, and nobody knows their scores.

use super::result::{GameResult, JudgedPolicy, Judgement};
use super::sections::{Section, Seeds, mean, title_of};
use super::unit::LEARNERS;
use crate::numbers;

/// How an agent may be chosen: the evaluation, and what of it decides.
type Rule = (&'static str, fn(&JudgedPolicy) -> Option<f64>);

const RULES: [Rule; 4] = [
    ("before", |policy| policy.var),
    ("before", |policy| Some(policy.mean)),
    ("ensemble", |policy| policy.var),
    ("dropout", |policy| policy.var),
];

/// The true scores of the agents that are taken, beside those of all; nothing where no seed has two agents
/// to choose from.
pub(super) fn chosen(games: &[String], results: &[Seeds<'_>]) -> Option<Section> {
    let mut section = Section::new(
        "One agent taken",
        "The agents that learned from a reward, whatever it was: the mean of their true scores, the greatest, and \
         the score of the one that is taken by the posterior's bound, by its mean, by the ensemble's bound or by \
         dropout's, mean over seeds; whom the posterior's bound takes, seed by seed.",
        &[
            "game",
            "mean",
            "greatest",
            "by the bound",
            "by the mean",
            "by the ensemble",
            "by dropout",
            "taken by the bound",
        ],
    );
    for (game, seeds) in games.iter().zip(results) {
        let with_choice: Vec<&GameResult> = seeds
            .iter()
            .copied()
            .filter(|result| agents(result.judgements.get("before")).len() > 1)
            .collect();
        if with_choice.is_empty() {
            continue;
        }
        let over = |of: &dyn Fn(&GameResult) -> Option<f64>| {
            let values: Vec<f64> = with_choice.iter().filter_map(|result| of(result)).collect();
            mean(&values).map_or_else(String::new, |value| numbers::trimmed(value, 4))
        };
        let scores = |result: &GameResult| -> Vec<f64> {
            let agents = agents(result.judgements.get("before"));
            agents.iter().map(|agent| agent.true_score).collect()
        };
        let mut row = vec![
            title_of(game),
            over(&|result| mean(&scores(result))),
            over(&|result| scores(result).into_iter().reduce(f64::max)),
        ];
        row.extend(RULES.map(|rule| over(&|result| Some(taken(result, rule)?.true_score))));
        let names = with_choice
            .iter()
            .filter_map(|result| Some(taken(result, RULES[0])?.policy.as_str()));
        row.push(names.collect::<Vec<&str>>().join(", "));
        section.rows.push(row);
    }
    (!section.rows.is_empty()).then_some(section)
}

/// The agents among the policies that were judged.
fn agents(judged: Option<&Judgement>) -> Vec<&JudgedPolicy> {
    let policies = judged.map_or(&[][..], |judged| &judged.policies);
    policies
        .iter()
        .filter(|policy| LEARNERS.contains(&policy.policy.as_str()))
        .collect()
}

/// The agent that a rule takes; of equals the first.
fn taken(result: &GameResult, (evaluation, decides): Rule) -> Option<&JudgedPolicy> {
    let known = agents(result.judgements.get(evaluation)).into_iter();
    let known = known.filter_map(|agent| Some((decides(agent)?, agent)));
    let best = known.reduce(|best, other| if other.0 > best.0 { other } else { best });
    best.map(|(_, agent)| agent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn judged(rows: &[(&str, f64, Option<f64>, f64)]) -> Value {
        let policies = rows.iter().map(|(name, mean, var, score)| {
            json!({ "policy": name, "mean": mean, "var": var, "true_score": score, "length": 9 })
        });
        json!({ "policies": policies.collect::<Vec<Value>>() })
    }

    fn result(judgements: &Value) -> GameResult {
        let result = json!({
            "demonstrations": { "scores": [2], "lengths": [1] },
            "learned": {}, "curves": {}, "ablation": {}, "judgements": judgements,
        });
        serde_json::from_value(result).unwrap()
    }

    #[test]
    fn each_rule_takes_whom_it_puts_highest() {
        let before = judged(&[
            ("D", 90.0, Some(90.0), 90.0),
            ("mean", 5.0, Some(1.0), 10.0),
            ("trex", 4.0, Some(3.0), 40.0),
            ("map", 9.0, None, 1.0),
        ]);
        let dropout = judged(&[("mean", 1.0, Some(2.0), 10.0), ("map", 1.0, Some(7.0), 1.0)]);
        let one = result(&json!({ "before": before, "dropout": dropout }));
        let games = ["pocket:breakout".to_owned()];
        let section = chosen(&games, &[&[&one, &one]]).unwrap();
        assert_eq!(
            section.rows[0][1..],
            ["17", "40", "40", "1", "", "1", "trex, trex"]
        );
        assert_eq!(section.rows[0].len(), section.heads.len());
    }

    #[test]
    fn one_agent_is_no_choice() {
        let before = judged(&[("D", 9.0, Some(9.0), 9.0), ("mean", 5.0, Some(1.0), 10.0)]);
        let one = result(&json!({ "before": before }));
        assert!(chosen(&["pocket:breakout".to_owned()], &[&[&one]]).is_none());
    }
}
