//! An evaluation as a table and as a figure, its policies in the order to show them.

use super::evaluation_json::{PolicyJson, doubt, is_trusted};
use crate::numbers;
use crate::plot::{DrawnBound, DrawnFrom, Ridge, Ridgeline};
use crate::table::{Align, Table};
use crate::terminal::{Style, printable};
use brex_posterior::{Bound, Evaluation, PolicyEvaluation};

/// Comparing every policy with every other is shown up to so many of them.
const MOST_COMPARED: usize = 8;

/// An evaluation with its policies in the order to show them: best bound first, and the policies
/// whose bound is refused after all others, by their mean.
pub(crate) struct Report<'a> {
    evaluation: &'a Evaluation,
    order: Vec<usize>,
    /// Whether bounds that have not converged are shown, marked.
    untrusted: bool,
}

impl Report<'_> {
    /// Whether the numbers of a bound are shown.
    fn shows(&self, bound: &Bound) -> bool {
        self.untrusted || is_trusted(bound)
    }
}

impl<'a> Report<'a> {
    pub(crate) fn new(evaluation: &'a Evaluation, untrusted: bool) -> Self {
        let key = |index: &usize| {
            let policy = &evaluation.policies[*index];
            match policy.bounds.first() {
                Some(bound) if untrusted || is_trusted(bound) => (0, bound.var),
                _ => (1, policy.mean),
            }
        };
        let mut order: Vec<usize> = (0..evaluation.policies.len()).collect();
        order.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))
        });
        Self {
            evaluation,
            order,
            untrusted,
        }
    }

    /// The places of the policies in the evaluation, in the order to show them.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    fn policies(&self) -> impl Iterator<Item = &'a PolicyEvaluation> {
        self.order
            .iter()
            .map(|index| &self.evaluation.policies[*index])
    }

    /// Whether every bound converged.
    pub(crate) fn is_trusted(&self) -> bool {
        self.policies()
            .all(|policy| policy.bounds.iter().all(is_trusted))
    }

    /// One line for each bound that is not to be trusted.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let bounds = self.policies().flat_map(|policy| {
            policy.bounds.iter().filter_map(move |bound| {
                let reason = doubt(bound)?;
                let name = printable(&policy.name);
                Some(format!(
                    "{name}: the {}-VaR has not converged: {reason}",
                    bound.delta
                ))
            })
        });
        bounds.collect()
    }

    /// Remarks about policies that look better than they are.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let bounded: Vec<(&PolicyEvaluation, &Bound)> = self
            .policies()
            .filter_map(|policy| Some((policy, policy.bounds.first()?)))
            .filter(|(_, bound)| self.shows(bound))
            .collect();
        let Some(&(best, best_bound)) = bounded.first() else {
            return Vec::new();
        };
        let name = |policy: &PolicyEvaluation| printable(&policy.name);
        let mut remarks = Vec::new();
        let highest = bounded.iter().max_by(|a, b| a.0.mean.total_cmp(&b.0.mean));
        if let Some((policy, bound)) = highest
            && policy.mean > best.mean
            && bound.var < best_bound.var
        {
            remarks.push(format!(
                "{} has the highest mean but a lower bound than {}: what it does is not known \
                 to be wanted",
                name(policy),
                name(best)
            ));
        }
        let rates = bounded
            .iter()
            .filter_map(|(p, bound)| Some((*p, bound.var_per_step?)));
        let fastest = rates.max_by(|a, b| a.1.total_cmp(&b.1));
        if let (Some((policy, rate)), Some(best_rate)) = (fastest, best_bound.var_per_step)
            && rate > best_rate
        {
            remarks.push(format!(
                "{} has the best bound, but {} has more per step ({} against {}): \
                 length may be what makes the difference",
                name(best),
                name(policy),
                numbers::significant(rate, 3),
                numbers::significant(best_rate, 3),
            ));
        }
        remarks
    }

    /// The tables for people.
    pub(crate) fn text(&self, style: Style) -> String {
        let mut text = self.main_table().show(style);
        let compared = self.order.len();
        for doubt in self.doubts() {
            text.push_str(&format!("\n{doubt}"));
        }
        if !self.is_trusted() {
            text.push('\n');
        }
        if (2..=MOST_COMPARED).contains(&compared) {
            text.push_str("\nProbability that the policy of the row has the higher return:\n\n");
            text.push_str(&self.comparison().show(style));
        }
        text
    }

    fn main_table(&self) -> Table {
        let mut table = Table::new(["policy"]);
        let deltas = self
            .policies()
            .next()
            .map_or(&[][..], |policy| &policy.bounds);
        for bound in deltas {
            table.column(format!("{}-VaR", bound.delta), Align::Right);
            table.column(format!("{}-CVaR", bound.delta), Align::Right);
        }
        table.column("mean", Align::Right);
        table.column("sd", Align::Right);
        let noisy = self
            .policies()
            .any(|policy| policy.mean_rollout_se.is_some());
        if noisy {
            table.column("VaR with rollout noise", Align::Right);
        }
        let timed = self.policies().any(|policy| policy.mean_length.is_some());
        if timed {
            table.column("length", Align::Right);
            table.column("VaR per step", Align::Right);
        }
        for policy in self.policies() {
            let mut cells = vec![policy.name.clone()];
            for bound in &policy.bounds {
                cells.push(self.bound_cell(bound, bound.var, bound.var_mcse));
                cells.push(self.bound_cell(bound, bound.cvar, bound.cvar_mcse));
            }
            cells.push(numbers::with_error(policy.mean, policy.mean_mcse));
            cells.push(numbers::significant(policy.sd, 3));
            let first = policy.bounds.first();
            if noisy {
                let noise = first.and_then(|bound| Some((bound, bound.rollout_noise?)));
                cells.push(noise.map_or(String::new(), |(bound, noise)| {
                    self.bound_cell(bound, noise.var_with_rollouts, noise.var_with_rollouts_mcse)
                }));
            }
            if timed {
                cells.push(
                    policy
                        .mean_length
                        .map_or(String::new(), |v| numbers::trimmed(v, 4)),
                );
                let rate = first.and_then(|bound| Some((bound, bound.var_per_step?)));
                cells.push(rate.map_or(String::new(), |(bound, rate)| {
                    let rate = numbers::significant(rate, 3);
                    if self.shows(bound) {
                        rate
                    } else {
                        String::new()
                    }
                }));
            }
            table.row(cells);
        }
        table
    }

    fn bound_cell(&self, bound: &Bound, value: f64, error: f64) -> String {
        match (is_trusted(bound), self.shows(bound)) {
            (true, _) => numbers::with_error(value, error),
            (false, true) => format!("? {}", numbers::with_error(value, error)),
            (false, false) => "not converged".to_owned(),
        }
    }

    fn comparison(&self) -> Table {
        let mut table = Table::new(["policy"]);
        for policy in self.policies() {
            table.column(printable(&policy.name), Align::Right);
        }
        for &row in &self.order {
            let name = self.evaluation.policies[row].name.clone();
            let cells = self.order.iter().map(|&column| {
                if row == column {
                    return String::new();
                }
                numbers::probability(self.evaluation.beats.row(row)[column])
            });
            table.row(std::iter::once(name).chain(cells));
        }
        table
    }

    /// One object per policy.
    pub(crate) fn json(&self) -> Vec<PolicyJson<'a>> {
        self.order
            .iter()
            .map(|&index| {
                let policy = &self.evaluation.policies[index];
                let beats = (self.evaluation.policies.iter().enumerate())
                    .filter(|(other, _)| *other != index)
                    .map(|(other, them)| {
                        (them.name.as_str(), self.evaluation.beats.row(index)[other])
                    });
                PolicyJson::new(policy, beats.collect(), |bound| self.shows(bound))
            })
            .collect()
    }

    /// The figure of the bounds at the first delta.
    pub(crate) fn figure(&self, from: DrawnFrom) -> Ridgeline {
        let rows = self.policies().map(|policy| {
            let bound = policy.bounds.first();
            let bound = bound.filter(|bound| self.shows(bound));
            Ridge {
                name: policy.name.clone(),
                returns: policy.returns.clone(),
                mean: policy.mean,
                mean_error: policy.mean_mcse,
                bound: bound.map(|bound| DrawnBound {
                    value: bound.var,
                    error: bound.var_mcse,
                }),
            }
        });
        let delta = self.policies().find_map(|policy| policy.bounds.first());
        Ridgeline {
            title: match from {
                DrawnFrom::Posterior => "Return of the policies under the posterior".to_owned(),
                DrawnFrom::Samples => "Return of the policies as sampled".to_owned(),
            },
            from,
            delta: delta.map_or(0.05, |bound| bound.delta),
            rows: rows.collect(),
        }
    }
}
