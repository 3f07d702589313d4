//! `brex evaluate` and `brex export` on draws that are known.

mod common;

use common::{POLICIES, Sandbox, draws, noise, npy, reference};
use std::process::Stdio;

const EVALUATE: &str = "evaluate --posterior draws.npy --policies policies.json";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("draws.npy", draws());
    sandbox.write("policies.json", POLICIES);
    sandbox
}

#[test]
fn the_table_has_the_best_bound_first() {
    let ran = sandbox().brex(EVALUATE).expect(0);
    insta::assert_snapshot!(ran.seen());
}

#[test]
fn several_deltas() {
    let ran = sandbox()
        .brex(&format!("{EVALUATE} --delta 0.01,0.25"))
        .expect(0);
    insta::assert_snapshot!(ran.seen());
}

#[test]
fn the_numbers_are_those_of_the_definitions() {
    let ran = sandbox()
        .brex(&format!("{EVALUATE} --json --delta 0.05 --delta 0.1"))
        .expect(0);
    let found = ran.json();
    let values = noise(12_000, 1);
    let weights: Vec<[f64; 3]> = values
        .chunks(3)
        .map(|z| [1.0 + 0.2 * z[0], 0.5 + 0.3 * z[1], 0.5 * z[2]])
        .collect();
    for (policy, phi) in [("fast", [4.0, 0.5, 0.0]), ("high", [1.0, 2.0, 0.1])] {
        let mut returns: Vec<f64> = weights
            .iter()
            .map(|w| w.iter().zip(phi).map(|(w, x)| w * x).sum())
            .collect();
        returns.sort_by(f64::total_cmp);
        let entries = found.as_array().unwrap();
        let entry = entries
            .iter()
            .find(|entry| entry["policy"] == policy)
            .unwrap();
        let close = |key: &str, expected: f64| {
            let value = entry[key].as_f64().unwrap();
            assert!(
                (value - expected).abs() < 1e-9,
                "{policy} {key}: {value} {expected}"
            );
        };
        let mean = returns.iter().sum::<f64>() / 4000.0;
        close("mean", mean);
        close("var", returns[200]);
        let square = returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>();
        close("sd", (square / 3999.0).sqrt());
        assert_eq!(entry["bounds"][1]["var"].as_f64().unwrap(), returns[400]);
        assert!(entry["var_mcse"].as_f64().unwrap() > 0.0);
        assert!(entry["cvar"].as_f64().unwrap() < entry["var"].as_f64().unwrap());
        assert!(entry["cvar_mcse"].as_f64().unwrap() > 0.0);
        assert_eq!(entry["converged"], true);
    }
}

#[test]
fn draws_of_others_that_look_bad_are_shown_with_a_warning() {
    let sandbox = sandbox();
    // A slow drift: hardly any effective draws.
    let values: Vec<f64> = (0..3000).map(|i| f64::from(i) / 1000.0).collect();
    sandbox.write("draws.npy", npy(&[1000, 3], &values));
    let ran = sandbox.brex(&format!("{EVALUATE} --json")).expect(0);
    assert!(ran.stderr.contains("warning:"), "{}", ran.stderr);
    let first = &ran.json()[0];
    assert_eq!(first["converged"], false);
    assert!(first["var"].is_number() && first["reason"].is_string());
    let ran = sandbox.brex(EVALUATE).expect(0);
    insta::assert_snapshot!(ran.seen());
}

#[test]
fn figures_are_written_in_both_formats() {
    let sandbox = sandbox();
    sandbox
        .brex(&format!("{EVALUATE} --plot p.svg --out e.json"))
        .expect(0);
    let svg = sandbox.read("p.svg");
    assert!(svg.starts_with("<svg") && svg.contains("5 % of the posterior lies below the bound"));
    assert!(svg.contains(">fast<") && svg.contains(">odd<"));
    sandbox
        .brex(&format!("{EVALUATE} --plot p.png --delta 0.1"))
        .expect(0);
    let png = std::fs::read(sandbox.path("p.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n"));
    let kept: serde_json::Value = serde_json::from_str(&sandbox.read("e.json")).unwrap();
    assert_eq!(kept, sandbox.brex(&format!("{EVALUATE} --json")).json());
    // With --force the same again.
    sandbox
        .brex(&format!("{EVALUATE} --plot p.svg --force"))
        .expect(0);
    assert_eq!(sandbox.read("p.svg"), svg);
}

#[test]
fn nobody_reading_is_not_a_panic() {
    let sandbox = sandbox();
    let mut child = sandbox
        .command(EVALUATE)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
}

#[test]
fn a_rewritten_export_is_the_same_array() {
    let sandbox = sandbox();
    let ran = sandbox
        .brex("export --posterior draws.npy --draws again.npy")
        .expect(0);
    assert_eq!(
        ran.stdout,
        "again.npy: 4,000 draws (1 chains, in order) x 3 features\n"
    );
    let again = std::fs::read(sandbox.path("again.npy")).unwrap();
    let values = |bytes: &[u8]| bytes[bytes.len() - 4000 * 3 * 8..].to_vec();
    assert_eq!(values(&again), values(&draws()));
    sandbox
        .brex("export --posterior draws.npy --draws again.npy --force")
        .expect(0);
    sandbox
        .brex("export --posterior draws.npy --draws again.txt")
        .expect(2);
}

#[test]
fn the_published_breakout_chain_gives_the_published_bounds() {
    let Some(folder) = reference("breakout-chain") else {
        return;
    };
    let sandbox = Sandbox::new();
    let output = sandbox
        .command("evaluate --json --posterior")
        .arg(folder.join("draws.npy"))
        .arg("--policies")
        .arg(folder.join("policies.json"))
        .output()
        .unwrap();
    let ran = common::Ran::from(output).expect(0);
    let text = std::fs::read_to_string(folder.join("policies.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let expected = expected.as_object().unwrap();
    let found = ran.json();
    assert_eq!(found.as_array().unwrap().len(), expected.len());
    for entry in found.as_array().unwrap() {
        let published = &expected[entry["policy"].as_str().unwrap()];
        let mean = published["mean"].as_f64().unwrap();
        let var = published["var05"].as_f64().unwrap();
        assert!((entry["mean"].as_f64().unwrap() - mean).abs() < 1e-9);
        assert!((entry["var"].as_f64().unwrap() - var).abs() < 1e-9);
    }
}

#[test]
fn samples_of_returns_are_judged_as_they_are() {
    let sandbox = Sandbox::new();
    sandbox.write("a.npy", npy(&[2000], &noise(2000, 3)));
    let high: Vec<f64> = noise(1000, 4).iter().map(|value| value + 5.0).collect();
    sandbox.write("b.npy", npy(&[1000], &high));
    let words = "evaluate --returns low=a.npy --returns high=b.npy --json";
    let result = sandbox.brex(words).expect(0).json();
    assert_eq!(result[0]["policy"], "high");
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let expected = sorted(high)[50];
    assert_eq!(result[0]["var"].as_f64().unwrap(), expected);
    assert!(result[0]["beats"]["low"].as_f64().unwrap() > 0.99);
    sandbox
        .brex("evaluate --returns low=a.npy --plot r.svg")
        .expect(0);
    for (words, problem) in [
        ("--returns low", "A=returns.npy"),
        ("--returns low=no.npy", "no.npy"),
        ("--returns low=a.npy --returns low=b.npy", "twice"),
    ] {
        let ran = sandbox.brex(&format!("evaluate {words}")).expect(2);
        assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    }
}

/// The authors' samples of MC dropout, if the reference data are there, against their tables.
#[test]
fn the_published_dropout_tables_are_met_to_the_printed_digit() {
    let Some(folder) = reference("dropout") else {
        return;
    };
    let table = std::fs::read_to_string(folder.join("expected.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 21);
    let sandbox = Sandbox::new();
    for row in rows {
        let &[game, policy, samples, mean, var] = &row[..] else {
            panic!("{row:?}");
        };
        let path = folder.join(format!("{game}_{policy}.npy"));
        let words = format!("evaluate --returns {policy}={} --json", path.display());
        let result = sandbox.brex(&words).expect(0).json();
        let found = |name: &str| format!("{:.1}", result[0][name].as_f64().unwrap());
        assert_eq!(
            (found("mean").as_str(), found("var").as_str()),
            (mean, var),
            "{game} {policy} {samples}"
        );
    }
}
