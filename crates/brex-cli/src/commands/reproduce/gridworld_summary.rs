//! What the losses of all worlds come to: means, standard errors and paired differences, beside
//! what the paper prints.

use super::gridworld::Protocol;
use brex_tabular::{LossRow, MethodResult, StudyTable, paper_losses};
use serde::Serialize;

/// Everything in `summary.json`.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    pub(super) protocol: Protocol,
    pub(super) worlds: usize,
    pub(super) tables: Vec<TableSummary>,
}

/// One of the paper's tables.
#[derive(Debug, Serialize)]
pub(super) struct TableSummary {
    #[serde(skip)]
    pub(super) table: StudyTable,
    #[serde(rename = "table")]
    pub(super) number: u32,
    pub(super) title: &'static str,
    pub(super) setting_name: &'static str,
    pub(super) rows: Vec<SettingSummary>,
}

/// Both methods in one setting.
#[derive(Debug, Serialize)]
pub(super) struct SettingSummary {
    pub(super) setting: f64,
    pub(super) bayesian_irl: MethodSummary,
    pub(super) bayesian_rex: MethodSummary,
    /// The loss of Bayesian IRL less that of Bayesian REX, world by world.
    pub(super) difference: Estimate,
}

/// A mean over worlds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    /// One world has none.
    pub(super) standard_error: Option<f64>,
}

/// The losses of a method in one setting.
#[derive(Debug, Serialize)]
pub(super) struct MethodSummary {
    #[serde(flatten)]
    pub(super) loss: Estimate,
    /// What the paper prints, if it prints this setting.
    pub(super) paper: Option<f64>,
    /// How many worlds' chains had not converged; absent where the protocol does not ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_converged: Option<usize>,
}

impl Estimate {
    /// Of independent values.
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = (squares / (count - 1.0) / count).sqrt();
        Self {
            mean,
            standard_error: standard_error.is_finite().then_some(standard_error),
        }
    }
}

impl MethodSummary {
    fn of(results: &[MethodResult], paper: Option<f64>) -> Self {
        let losses: Vec<f64> = results.iter().map(|result| result.loss).collect();
        let chains = results.iter().filter_map(|result| result.chain);
        let (mut asked, mut failed) = (false, 0);
        for chain in chains {
            asked = true;
            failed += usize::from(!chain.converged);
        }
        Self {
            loss: Estimate::of(&losses),
            paper,
            not_converged: asked.then_some(failed),
        }
    }
}

impl Summary {
    /// Of the rows of each world, table by table.
    pub(super) fn of(protocol: Protocol, tables: &[(StudyTable, &[&Vec<LossRow>])]) -> Self {
        Self {
            protocol,
            worlds: tables.first().map_or(0, |(_, worlds)| worlds.len()),
            tables: tables
                .iter()
                .map(|(table, worlds)| TableSummary::of(*table, worlds))
                .collect(),
        }
    }

    /// How many chains there were and how many of them had not converged, if that is known.
    pub(super) fn chains(&self) -> Option<(usize, usize)> {
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        let methods = rows.flat_map(|row| [&row.bayesian_irl, &row.bayesian_rex]);
        let known: Vec<usize> = methods.filter_map(|method| method.not_converged).collect();
        let failed = known.iter().sum();
        (!known.is_empty()).then_some((known.len() * self.worlds, failed))
    }
}

impl TableSummary {
    fn of(table: StudyTable, worlds: &[&Vec<LossRow>]) -> Self {
        let rows = table.settings().iter().enumerate().map(|(at, setting)| {
            let rows = || worlds.iter().map(|rows| rows[at]);
            let irl: Vec<MethodResult> = rows().map(|row| row.irl).collect();
            let rex: Vec<MethodResult> = rows().map(|row| row.rex).collect();
            let differences: Vec<f64> = rows().map(|row| row.irl.loss - row.rex.loss).collect();
            let paper = paper_losses(table, *setting);
            SettingSummary {
                setting: *setting,
                bayesian_irl: MethodSummary::of(&irl, paper.map(|paper| paper.0)),
                bayesian_rex: MethodSummary::of(&rex, paper.map(|paper| paper.1)),
                difference: Estimate::of(&differences),
            }
        });
        Self {
            table,
            number: table.number(),
            title: table.title(),
            setting_name: table.setting_name(),
            rows: rows.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_standard_error_of_the_textbook() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(estimate.mean, 3.0);
        // Variance 14 / 3, over four worlds.
        assert!((estimate.standard_error.unwrap() - (14.0_f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!(Estimate::of(&[4.0]).standard_error, None);
    }
}
