//! What one game with one seed comes to: numbers that all tables are made from.

use super::sections::mean;
use brex_core::rank_correlation;
use brex_store::EpisodeSums;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Scores and lengths of episodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Played {
    pub(super) scores: Vec<f64>,
    pub(super) lengths: Vec<f64>,
}

/// A policy as a method judges it, beside what is true. Other fields of an evaluation are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JudgedPolicy {
    pub(super) policy: String,
    pub(super) mean: f64,
    /// Its Monte-Carlo error; methods that do not sample weights have none.
    #[serde(default)]
    pub(super) mean_mcse: f64,
    /// Absent if it is not to be trusted.
    pub(super) var: Option<f64>,
    /// Its Monte-Carlo error.
    #[serde(default)]
    pub(super) var_mcse: Option<f64>,
    pub(super) true_score: f64,
    pub(super) length: f64,
    /// What its return may be under the posterior, from the least to the greatest at even steps of
    /// probability; for the policies that are drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) returns: Vec<f64>,
}

/// Rank correlations with the true score.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(super) policies: usize,
    pub(super) mean: Option<f64>,
    pub(super) bound: Option<f64>,
    pub(super) trex: Option<f64>,
    pub(super) length: Option<f64>,
    pub(super) untrained_mean: Option<f64>,
    pub(super) untrained_bound: Option<f64>,
    pub(super) r_squared_on_length: Option<f64>,
}

/// An evaluation, as `brex evaluate` leaves it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Judgement {
    pub(super) policies: Vec<JudgedPolicy>,
    /// Not there for methods that give samples instead of weights.
    #[serde(default)]
    pub(super) rank_correlation: Option<Order>,
}

/// Pre-training by some of the losses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ablated {
    pub(super) held_out_accuracy: Option<f64>,
    /// Over the policies that did not learn from a reward, which are the same whatever the losses.
    pub(super) order: Order,
    /// Of the agent that learned from the mean reward.
    pub(super) played: Played,
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GameResult {
    pub(super) demonstrations: Played,
    /// Rollouts of agents by what they learned from.
    pub(super) learned: BTreeMap<String, Played>,
    /// Their learning curves: steps and recent scores.
    pub(super) curves: BTreeMap<String, Vec<[f64; 2]>>,
    /// After how many steps the policy was taken, of agents that were stopped.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) taken: BTreeMap<String, f64>,
    /// Evaluations by what they are: `before`, `after`, `prefix`, `ensemble`, `dropout`.
    pub(super) judgements: BTreeMap<String, Judgement>,
    /// By the losses.
    pub(super) ablation: BTreeMap<String, Ablated>,
    /// Episodes to look at; the first seed's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) clips: Vec<KeptClip>,
}

/// An episode as a moving picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptClip {
    /// Who plays.
    pub(super) name: String,
    pub(super) score: f64,
    pub(super) steps: usize,
    /// A GIF in base64.
    pub(super) gif: String,
}

impl GameResult {
    /// The true score of an agent, over all rollouts that it was judged by; over fewer if it was not judged.
    pub(super) fn score_of(&self, agent: &str) -> Option<f64> {
        let judged = self.judgements.get("before");
        let judged = judged.and_then(|judged| judged.policy(agent));
        judged.map(|policy| policy.true_score).or_else(|| {
            let played = self.learned.get(agent)?;
            mean(&played.scores)
        })
    }
}

impl Played {
    /// The first so many episodes.
    pub(super) fn of(sums: &EpisodeSums, count: usize) -> Self {
        let first = |values: &[f64]| values.iter().copied().take(count).collect();
        Self {
            scores: first(&sums.scores),
            lengths: first(&sums.lengths),
        }
    }

    pub(super) fn best(&self) -> f64 {
        self.scores
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Judgement {
    pub(super) fn policy(&self, name: &str) -> Option<&JudgedPolicy> {
        self.policies.iter().find(|policy| policy.policy == name)
    }

    /// Rank correlation of bounds (or means) with the true score over the policies that count.
    pub(super) fn order(
        &self,
        of: fn(&JudgedPolicy) -> Option<f64>,
        counts: impl Fn(&str) -> bool,
    ) -> Option<f64> {
        let counted = self.policies.iter().filter(|judged| counts(&judged.policy));
        let (values, scores): (Vec<f64>, Vec<f64>) = counted
            .filter_map(|judged| Some((of(judged)?, judged.true_score)))
            .unzip();
        rank_correlation(&values, &scores)
    }

    /// Whether bounds (or means) of A to D rise as their true scores do.
    pub(super) fn orders(&self, of: fn(&JudgedPolicy) -> Option<f64>) -> Option<bool> {
        let mut known: Vec<(f64, f64)> = Vec::new();
        for name in ["A", "B", "C", "D"] {
            let policy = self.policy(name)?;
            known.push((policy.true_score, of(policy)?));
        }
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(known.windows(2).all(|two| two[0].1 < two[1].1))
    }

    /// Policies among A to D that are put below one that does not play.
    pub(super) fn below_idle(&self) -> Option<usize> {
        let idle = ["No-Op", "hacker"]
            .iter()
            .filter_map(|name| self.policy(name)?.var);
        let idle = idle.fold(None, |most: Option<f64>, var| {
            Some(most.map_or(var, |most| most.max(var)))
        })?;
        let players = ["A", "B", "C", "D"]
            .iter()
            .filter_map(|name| self.policy(name)?.var);
        Some(players.filter(|var| *var < idle).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(rows: &[(&str, f64, f64)]) -> Judgement {
        let policies = rows.iter().map(|(name, var, score)| JudgedPolicy {
            policy: (*name).to_owned(),
            mean: *var,
            mean_mcse: 0.0,
            var: Some(*var),
            var_mcse: None,
            true_score: *score,
            length: 1.0,
            returns: Vec::new(),
        });
        Judgement {
            policies: policies.collect(),
            rank_correlation: None,
        }
    }

    #[test]
    fn order_is_that_of_true_scores_not_of_names() {
        let rows = [
            ("A", 1.0, 5.0),
            ("B", 2.0, 6.0),
            ("C", 4.0, 9.0),
            ("D", 3.0, 8.0),
        ];
        assert_eq!(judgement(&rows).orders(|policy| policy.var), Some(true));
        let rows = [
            ("A", 1.0, 5.0),
            ("B", 2.0, 6.0),
            ("C", 3.0, 9.0),
            ("D", 4.0, 8.0),
        ];
        assert_eq!(judgement(&rows).orders(|policy| policy.var), Some(false));
        assert_eq!(judgement(&rows[..3]).orders(|policy| policy.var), None);
    }

    #[test]
    fn scores_are_those_of_all_rollouts() {
        let few = Played {
            scores: vec![1.0, 2.0],
            lengths: vec![1.0, 1.0],
        };
        let mut result = GameResult {
            demonstrations: few.clone(),
            learned: BTreeMap::from([("mean".to_owned(), few)]),
            curves: BTreeMap::new(),
            taken: BTreeMap::new(),
            judgements: BTreeMap::new(),
            ablation: BTreeMap::new(),
            clips: Vec::new(),
        };
        assert_eq!(result.score_of("mean"), Some(1.5));
        assert_eq!(result.score_of("map"), None);
        let judged = judgement(&[("mean", 0.0, 3.0)]);
        result.judgements.insert("before".to_owned(), judged);
        assert_eq!(result.score_of("mean"), Some(3.0));
    }

    #[test]
    fn order_is_over_the_policies_that_count() {
        let rows = [("A", 1.0, 5.0), ("B", 2.0, 6.0), ("mean", 3.0, 0.0)];
        let of = |policy: &JudgedPolicy| policy.var;
        assert_eq!(judgement(&rows).order(of, |_| true), Some(-0.5));
        assert_eq!(judgement(&rows).order(of, |name| name != "mean"), Some(1.0));
    }

    #[test]
    fn who_is_put_below_the_idle_is_counted() {
        let mut rows = vec![
            ("A", 1.0, 5.0),
            ("B", 2.0, 6.0),
            ("C", 3.0, 7.0),
            ("D", 4.0, 8.0),
        ];
        assert_eq!(judgement(&rows).below_idle(), None);
        rows.push(("No-Op", 2.5, 0.0));
        assert_eq!(judgement(&rows).below_idle(), Some(2));
        rows.push(("hacker", 9.0, 0.0));
        assert_eq!(judgement(&rows).below_idle(), Some(4));
    }
}
