//! What the worlds of a coverage study come to: how often each bound held, next to what it
//! promises.
//!
//! Rates are judged by the standard error of the promised rate, sqrt(delta (1 - delta) / worlds).
//! Where so few failures are promised that a single one more would look like many standard errors,
//! the exact binomial chance must agree.

use brex_tabular::{Condition, GridCoverageRow, JudgedPolicy, Method};
use serde::Serialize;

/// A rate this many standard errors off is marked.
pub(super) const MARKED: Limit = Limit {
    standard_errors: 3.0,
    chance: 1.35e-3,
};

/// A rate this many standard errors too low is not chance, although many are looked at.
pub(super) const REFUSED: Limit = Limit {
    standard_errors: 4.0,
    chance: 3.17e-5,
};

/// Failures that a bound must promise at least for its standard errors to mean what they say.
pub(super) const ENOUGH_FAILURES: f64 = 5.0;

/// Standard errors, and the chance of that many under a normal distribution, to one side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) standard_errors: f64,
    chance: f64,
}

/// Everything in `summary.json`.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) worlds: usize,
    /// Posteriors that were sampled: one for each world, condition, number of demonstrations and
    /// method.
    pub(super) inferences: usize,
    /// How many of them had not converged. They count like the others.
    pub(super) not_converged: usize,
    /// Whether no bound was refused where the assumptions are true; absent where they never are.
    pub(super) holds_as_promised: Option<bool>,
    pub(super) rows: Vec<RowSummary>,
}

/// The bounds on one kind of policy.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RowSummary {
    pub(super) condition: Condition,
    pub(super) method: Method,
    pub(super) demonstrations: usize,
    pub(super) policy: JudgedPolicy,
    /// In how many worlds the chains had not converged.
    pub(super) not_converged: usize,
    pub(super) bounds: Vec<BoundSummary>,
}

/// How often the bound at one delta held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct BoundSummary {
    pub(super) delta: f64,
    pub(super) worlds: usize,
    pub(super) held: usize,
    pub(super) rate: f64,
    /// Of the promised rate.
    pub(super) standard_error: f64,
    /// Standard errors from the promised rate up to the observed one.
    pub(super) z: f64,
    /// The true value less the bound, averaged over worlds.
    pub(super) mean_margin: f64,
    pub(super) verdict: Verdict,
}

/// An observed rate against the promised one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    AsPromised,
    TooLow,
    High,
}

impl Summary {
    /// Of the rows of each world, which are about the same in the same order.
    pub(super) fn of(deltas: &[f64], worlds: &[&Vec<GridCoverageRow>]) -> Self {
        let first = worlds.first().map_or(&[][..], |rows| rows);
        let mut rows: Vec<RowSummary> = first
            .iter()
            .enumerate()
            .map(|(at, row)| {
                let all: Vec<_> = worlds.iter().map(|rows| &rows[at]).collect();
                RowSummary::of(row, deltas, &all)
            })
            .collect();
        rows.sort_by_key(|row| (row.condition, row.method, row.demonstrations, row.policy));
        // Every inference judges all policies; count it once.
        let inferred = || rows.iter().filter(|row| row.policy == JudgedPolicy::Random);
        Self {
            worlds: worlds.len(),
            inferences: inferred().count() * worlds.len(),
            not_converged: inferred().map(|row| row.not_converged).sum(),
            holds_as_promised: holds_as_promised(&rows),
            rows,
        }
    }

    /// The conditions that were looked at, in order.
    pub(super) fn conditions(&self) -> Vec<Condition> {
        let mut conditions: Vec<Condition> = self.rows.iter().map(|row| row.condition).collect();
        conditions.dedup();
        conditions
    }
}

fn holds_as_promised(rows: &[RowSummary]) -> Option<bool> {
    let mut promised = rows
        .iter()
        .filter(|row| row.condition == Condition::AsAssumed && row.is_promised())
        .peekable();
    promised.peek()?;
    let mut bounds = promised.flat_map(|row| &row.bounds);
    Some(!bounds.any(|bound| bound.is_below(REFUSED)))
}

impl RowSummary {
    /// Of the rows that are about the same as `about`, one from each world.
    fn of(about: &GridCoverageRow, deltas: &[f64], rows: &[&GridCoverageRow]) -> Self {
        let bounds = deltas.iter().enumerate().map(|(at, delta)| {
            let margins: Vec<f64> = rows.iter().map(|row| row.margins[at]).collect();
            BoundSummary::of(*delta, &margins)
        });
        Self {
            condition: about.condition,
            method: about.method,
            demonstrations: about.demonstrations,
            policy: about.policy,
            not_converged: rows.iter().filter(|row| !row.converged).count(),
            bounds: bounds.collect(),
        }
    }

    /// Whether anything is promised for this policy: it is chosen without knowing the truth.
    pub(super) fn is_promised(&self) -> bool {
        self.policy != JudgedPolicy::Optimal
    }
}

impl BoundSummary {
    fn of(delta: f64, margins: &[f64]) -> Self {
        let count = margins.len() as f64;
        let held = margins.iter().filter(|margin| **margin >= 0.0).count();
        let rate = held as f64 / count;
        let standard_error = (delta * (1.0 - delta) / count).sqrt();
        let mut bound = Self {
            delta,
            worlds: margins.len(),
            held,
            rate,
            standard_error,
            z: (rate - (1.0 - delta)) / standard_error,
            mean_margin: margins.iter().sum::<f64>() / count,
            verdict: Verdict::AsPromised,
        };
        if bound.is_below(MARKED) {
            bound.verdict = Verdict::TooLow;
        } else if bound.z > MARKED.standard_errors {
            bound.verdict = Verdict::High;
        }
        bound
    }

    /// The rate that is promised.
    pub(super) fn promised(&self) -> f64 {
        1.0 - self.delta
    }

    /// How much less often the bound held than promised.
    pub(super) fn shortfall(&self) -> f64 {
        self.promised() - self.rate
    }

    /// Whether a rate can be judged by its standard errors alone.
    pub(super) fn promises_enough_failures(&self) -> bool {
        self.delta * self.worlds as f64 >= ENOUGH_FAILURES
    }

    /// Whether the bound held less often than promised by more than a limit.
    pub(super) fn is_below(&self, limit: Limit) -> bool {
        let chance = || at_least(self.worlds - self.held, self.worlds, self.delta);
        self.z < -limit.standard_errors
            && (self.promises_enough_failures() || chance() < limit.chance)
    }
}

/// The chance of at least `failures` in `count` independent tries. For few expected failures only:
/// the chance of none must not be too small to be written down.
fn at_least(failures: usize, count: usize, chance: f64) -> f64 {
    let odds = chance / (1.0 - chance);
    let mut exactly = (count as f64 * (-chance).ln_1p()).exp();
    let mut fewer = 0.0;
    for number in 0..failures {
        fewer += exactly;
        exactly *= odds * (count - number) as f64 / (number + 1) as f64;
    }
    1.0 - fewer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(delta: f64, held: usize, worlds: usize) -> BoundSummary {
        let margin = |world| if world < held { 0.5 } else { -0.5 };
        BoundSummary::of(delta, &(0..worlds).map(margin).collect::<Vec<_>>())
    }

    fn row(condition: Condition, policy: JudgedPolicy, bound: BoundSummary) -> RowSummary {
        RowSummary {
            condition,
            method: Method::BayesianRex,
            demonstrations: 2,
            policy,
            not_converged: 0,
            bounds: vec![bound],
        }
    }

    #[test]
    fn rates_are_judged_by_the_promised_standard_error() {
        // One standard error of 75 % in 300 worlds is 2.5 %.
        let low = bound(0.25, 202, 300);
        assert!((low.standard_error - 0.025).abs() < 1e-12);
        assert!((low.z + (0.75 - 202.0 / 300.0) / 0.025).abs() < 1e-9);
        assert!((low.mean_margin - 0.5 * (202.0 - 98.0) / 300.0).abs() < 1e-12);
        assert_eq!(low.verdict, Verdict::TooLow);
        assert_eq!(bound(0.25, 203, 300).verdict, Verdict::AsPromised);
        assert_eq!(bound(0.25, 247, 300).verdict, Verdict::AsPromised);
        assert_eq!(bound(0.25, 248, 300).verdict, Verdict::High);
        assert!(!bound(0.25, 195, 300).is_below(REFUSED));
        assert!(bound(0.25, 194, 300).is_below(REFUSED));
    }

    #[test]
    fn one_failure_in_few_worlds_is_no_verdict() {
        // 4.3 standard errors, but one such bound in twenty has it by chance.
        let one = bound(0.01, 4, 5);
        assert!(one.z < -4.0);
        assert_eq!(one.verdict, Verdict::AsPromised);
        assert!(!one.is_below(REFUSED));
        assert!(bound(0.01, 0, 5).is_below(REFUSED));
        assert!((at_least(1, 5, 0.01) - (1.0 - 0.99_f64.powi(5))).abs() < 1e-12);
        let two = 1.0 - 0.99_f64.powi(40) - 40.0 * 0.01 * 0.99_f64.powi(39);
        assert!((at_least(2, 40, 0.01) - two).abs() < 1e-12);
        assert_eq!(at_least(0, 40, 0.01), 1.0);
    }

    #[test]
    fn only_policies_chosen_without_the_truth_are_promised_anything_and_only_as_assumed() {
        let (bad, good) = (bound(0.25, 100, 300), bound(0.25, 225, 300));
        let fine = row(Condition::AsAssumed, JudgedPolicy::Hacker, good);
        let other = row(Condition::TooSure, JudgedPolicy::Hacker, bad);
        let knowing = row(Condition::AsAssumed, JudgedPolicy::Optimal, bad);
        let broken = row(Condition::AsAssumed, JudgedPolicy::Random, bad);
        assert_eq!(holds_as_promised(std::slice::from_ref(&other)), None);
        let rows = [fine, other, knowing];
        assert_eq!(holds_as_promised(&rows), Some(true));
        let rows = [&rows[..], &[broken]].concat();
        assert_eq!(holds_as_promised(&rows), Some(false));
    }
}
