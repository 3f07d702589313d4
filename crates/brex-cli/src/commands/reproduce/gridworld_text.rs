//! The tables on the terminal, each beside the paper's, and what differs.

use super::gridworld::{Gridworld, Protocol};
use super::gridworld_summary::{Estimate, Summary, TableSummary};
use crate::numbers;
use crate::table::Table;
use crate::terminal::Style;
use brex_tabular::StudyTable;

/// How many worlds the paper's means are over.
const WORLDS_OF_THE_PAPER: usize = 100;

/// The paper prints three decimals; a little more than half of the last one allows for means that
/// were rounded twice.
const LAST_DIGIT: f64 = 0.000_501;

pub(super) fn text(study: &Gridworld, summary: &Summary, style: Style) -> String {
    let mut text = String::new();
    for table in &summary.tables {
        text.push_str(&style.bold(&format!("Table {}: {}", table.number, table.title)));
        text.push('\n');
        text.push_str(&shown(table, style));
        text.push('\n');
    }
    let worlds = numbers::count(summary.worlds);
    text.push_str(&format!(
        "Losses: how much less than optimal the value of the learned policy is.\n\
         Means ± standard errors over {worlds} worlds; IRL - REX is paired, world by world.\n"
    ));
    for line in remarks(study, summary) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn shown(table: &TableSummary, style: Style) -> String {
    let mut shown = Table::new([
        table.setting_name,
        "Bayesian IRL",
        "paper",
        "Bayesian REX",
        "paper",
        "IRL - REX",
    ]);
    let paper =
        |loss: Option<f64>| loss.map_or_else(|| "–".to_owned(), |loss| format!("{loss:.3}"));
    for row in &table.rows {
        shown.row([
            row.setting.to_string(),
            estimate(row.bayesian_irl.loss),
            paper(row.bayesian_irl.paper),
            estimate(row.bayesian_rex.loss),
            paper(row.bayesian_rex.paper),
            estimate(row.difference),
        ]);
    }
    shown.show(style)
}

/// Three decimals, as the paper prints them, or as many as the standard error's first digit needs.
fn estimate(estimate: Estimate) -> String {
    let Some(error) = estimate.standard_error else {
        return numbers::significant(estimate.mean, 4);
    };
    let needed = (-error.log10()).ceil().clamp(3.0, 8.0);
    let decimals = if error > 0.0 { needed as usize } else { 3 };
    let mean = numbers::fixed(estimate.mean, decimals);
    format!("{mean} ± {error:.decimals$}")
}

fn remarks(study: &Gridworld, summary: &Summary) -> Vec<String> {
    match study.protocol {
        Protocol::Published => published_remarks(summary),
        Protocol::Sound => sound_remarks(summary),
    }
}

fn published_remarks(summary: &Summary) -> Vec<String> {
    let mut lines = vec![
        "Protocol published: what the authors' program does, its random numbers and roundings too."
            .to_owned(),
    ];
    if summary.worlds == WORLDS_OF_THE_PAPER {
        lines.extend(agreement(summary));
    } else {
        lines.push(format!(
            "The paper's means are over {WORLDS_OF_THE_PAPER} worlds, so they are not comparable digit by digit."
        ));
    }
    let mut tables = summary.tables.iter();
    if tables.any(|table| table.table == StudyTable::GoodBad) {
        lines.extend([
            "Table 9, Bayesian IRL: the authors' test for duplicate bad pairs reads memory out of"
                .to_owned(),
            "bounds, so their losses cannot be had again; here duplicates are left out properly."
                .to_owned(),
        ]);
    }
    lines
}

/// Whether the means are the paper's, with those that are not. What is known to differ is left to
/// its own remark.
fn agreement(summary: &Summary) -> Vec<String> {
    let (mut compared, mut others) = (0, Vec::new());
    for table in &summary.tables {
        for row in &table.rows {
            let methods = [
                ("Bayesian IRL", &row.bayesian_irl),
                ("Bayesian REX", &row.bayesian_rex),
            ];
            for (at, (name, method)) in methods.into_iter().enumerate() {
                let undefined = table.table == StudyTable::GoodBad && at == 0;
                let Some(paper) = method.paper.filter(|_| !undefined) else {
                    continue;
                };
                compared += 1;
                if (method.loss.mean - paper).abs() > LAST_DIGIT {
                    others.push(format!(
                        "Table {}, {} {}, {name}: {:.4} here, {paper:.3} in the paper",
                        table.number, table.setting_name, row.setting, method.loss.mean
                    ));
                }
            }
        }
    }
    if compared == 0 {
        return Vec::new();
    }
    let agree = compared - others.len();
    let mut lines = vec![format!(
        "{agree} of {compared} means agree with the paper's to its last digit."
    )];
    lines.extend(others);
    lines
}

fn sound_remarks(summary: &Summary) -> Vec<String> {
    let mut lines = vec![
        "Protocol sound: other worlds, eight chains from draws of the prior, a warm-up that is thrown"
            .to_owned(),
        "away, draws until R-hat < 1.01 and ESS >= 400, exact values, every step of a demonstration counted.".to_owned(),
    ];
    if let Some((chains, failed)) = summary.chains() {
        lines.push(format!(
            "{} of {} posteriors had not converged; their losses count all the same.",
            numbers::count(failed),
            numbers::count(chains)
        ));
    }
    lines
}
