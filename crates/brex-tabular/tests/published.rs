//! The published protocol against the authors' own values.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_tabular::{StudyTable, published_losses};
use rayon::prelude::*;

/// Rows of a file of the authors' losses: setting, world, Bayesian IRL, Bayesian REX.
fn published(text: &str) -> Vec<[f64; 4]> {
    let rows = text.lines().skip(1);
    rows.map(|line| {
        let fields: Vec<f64> = line
            .split(',')
            .map(|field| field.parse().unwrap())
            .collect();
        fields.try_into().unwrap()
    })
    .collect()
}

fn assert_matched(table: StudyTable, text: &str) {
    let batches: Vec<Vec<usize>> = (0..13)
        .map(|b| (8 * b..(8 * b + 8).min(100)).collect())
        .collect();
    let rows: Vec<_> = batches
        .par_iter()
        .flat_map(|worlds| published_losses(table, worlds))
        .collect();
    let mut matched = 0;
    for [setting, world, irl, rex] in published(text) {
        let row = rows[world as usize]
            .iter()
            .find(|row| row.setting == setting)
            .unwrap();
        for (ours, theirs) in [(row.irl.loss, irl), (row.rex.loss, rex)] {
            assert!(
                (ours / theirs - 1.0).abs() < 2e-5,
                "{table:?} {setting} {world}: {ours} {theirs}"
            );
            matched += 1;
        }
    }
    assert_eq!(matched, 1000);
}

#[test]
fn table_7_is_matched_to_the_last_digit() {
    assert_matched(StudyTable::OptSubopt, include_str!("data/optsubopt.csv"));
}

#[test]
fn table_8_is_matched_to_the_last_digit() {
    assert_matched(StudyTable::Ranked, include_str!("data/ranked.csv"));
}

/// Averages of Tables 9 and 10 that a second program reached.
#[test]
fn averages_of_tables_9_and_10() {
    let averages = |table| {
        let worlds: Vec<usize> = (0..100).collect();
        let rows: Vec<_> = worlds
            .par_chunks(8)
            .flat_map(|w| published_losses(table, w))
            .collect();
        let mean = |setting: usize, of: fn(&brex_tabular::LossRow) -> f64| {
            rows.iter().map(|r| of(&r[setting])).sum::<f64>() / 100.0
        };
        let count = rows[0].len();
        (0..count)
            .map(|s| (mean(s, |r| r.irl.loss), mean(s, |r| r.rex.loss)))
            .collect::<Vec<_>>()
    };
    let good_bad = averages(StudyTable::GoodBad);
    for ((irl, _), expected) in good_bad.iter().zip([1.215, 0.976, 1.156, 2.203]) {
        assert!((irl - expected).abs() < 0.001, "{good_bad:?}");
    }
    let noise = averages(StudyTable::OptNoise);
    let expected = [
        (0.0575, 0.1185),
        (0.0450, 0.0509),
        (0.0345, 0.0449),
        (0.0185, 0.0399),
        (0.0087, 0.0339),
        (0.0063, 0.0337),
    ];
    for ((irl, rex), (wanted_irl, wanted_rex)) in noise.iter().zip(expected) {
        assert!((irl - wanted_irl).abs() < 6e-5, "{noise:?}");
        assert!((rex - wanted_rex).abs() < 6e-5, "{noise:?}");
    }
}
