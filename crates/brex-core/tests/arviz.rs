//! Diagnostics against ArviZ. `golden/make_golden.py` wrote what ArviZ says; the sequences are made
//! again here, bit for bit.

use brex_core::{Workspace, diagnose};
use serde::Deserialize;

const GOLDEN: &str = include_str!("golden/arviz.json");

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    seed: u64,
    chains: usize,
    draws: usize,
    correlation: f64,
    kind: String,
    mean: f64,
    sd: f64,
    rhat: f64,
    ess_bulk: f64,
    ess_tail: f64,
    ess_mean: f64,
    ess_sd: f64,
    mcse_mean: f64,
    mcse_sd: f64,
    quantiles: Vec<Quantile>,
}

#[derive(Deserialize)]
struct Quantile {
    probability: f64,
    ess: f64,
    mcse: f64,
}

fn sequence(case: &Case) -> Vec<f64> {
    let mut state = case.seed;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut values = Vec::new();
    for chain in 0..case.chains {
        let mut previous = 0.0;
        for draw in 0..case.draws {
            let mut noise = 0.0;
            for _ in 0..12 {
                noise += uniform();
            }
            noise -= 6.0;
            if case.kind == "heavy" {
                noise /= uniform();
            }
            previous = case.correlation * previous + noise;
            values.push(match case.kind.as_str() {
                "disagree" => previous + chain as f64 * 0.25,
                "scales" => previous * (1.0 + chain as f64 * 0.25),
                "drift" => previous + draw as f64 / case.draws as f64,
                "ties" => (previous * 2.0).floor(),
                "binary" => f64::from(u8::from(previous > 0.5)),
                "far" => previous + 10_000.0,
                _ => previous,
            });
        }
    }
    values
}

/// Agreement to 1e-9, apart from rounding of a value near zero.
fn assert_same(case: &str, what: &str, found: f64, expected: f64, scale: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(scale),
        "{case}: {what} is {found}, ArviZ says {expected}"
    );
}

#[test]
fn every_diagnostic_agrees_with_arviz() {
    let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(golden.cases.len(), 20);
    // One workspace for all: what a quantity leaves behind must not change the next.
    let mut workspace = Workspace::default();
    for case in golden.cases {
        let values = sequence(&case);
        let probabilities: Vec<f64> = case.quantiles.iter().map(|q| q.probability).collect();
        let found = diagnose(&values, case.chains, &probabilities, &mut workspace);
        for (what, found, expected, scale) in [
            ("mean", found.mean, case.mean, case.sd),
            ("sd", found.sd, case.sd, 0.0),
            ("rhat", found.rhat, case.rhat, 0.0),
            ("bulk ESS", found.ess_bulk, case.ess_bulk, 0.0),
            ("ESS of the mean", found.ess_mean, case.ess_mean, 0.0),
            ("ESS of the sd", found.ess_sd, case.ess_sd, 0.0),
            ("error of the mean", found.mcse_mean, case.mcse_mean, 0.0),
            ("error of the sd", found.mcse_sd, case.mcse_sd, 0.0),
        ] {
            assert_same(&case.name, what, found, expected, scale);
        }
        // Where most draws equal the quantile, everything is "at most the quantile". ArviZ calls
        // such a constant fully effective; here it is unknown.
        if found.ess_tail.is_nan() {
            assert_eq!(case.kind, "binary");
        } else {
            assert_same(&case.name, "tail ESS", found.ess_tail, case.ess_tail, 0.0);
        }
        for (found, expected) in found.quantiles.iter().zip(&case.quantiles) {
            let what = format!("at {}", expected.probability);
            if found.ess.is_nan() {
                assert_eq!(case.kind, "binary");
                assert!(found.mcse.is_nan());
            } else {
                assert_same(&case.name, &what, found.ess, expected.ess, 0.0);
                assert_same(&case.name, &what, found.mcse, expected.mcse, 0.0);
            }
        }
    }
}
