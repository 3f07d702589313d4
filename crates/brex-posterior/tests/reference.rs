//! Against the data that the paper's authors published. The data is not part of this repository:
//! it is found at `BREX_REFERENCE`, or as `shared/reference` beside the repository, and where it is
//! absent the tests say so and pass.

use std::{env, fs, path::Path, path::PathBuf};

use brex_core::{Draws, Matrix, Policy};
use brex_posterior::{EvaluateOptions, evaluate, evaluate_returns};
use serde_json::Value;

fn reference(folder: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|above| above.join("shared/reference"));
    let found = env::var_os("BREX_REFERENCE")
        .map(PathBuf::from)
        .into_iter()
        .chain(beside)
        .map(|root| root.join(folder))
        .find(|path| path.is_dir());
    if found.is_none() {
        eprintln!("skipped: no {folder} in BREX_REFERENCE or in shared/reference");
    }
    found
}

/// The values of a little-endian array of doubles or singles in version 1 of the npy format.
fn read_npy(path: &Path) -> Vec<f64> {
    let bytes = fs::read(path).expect("the file can be read");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..start]);
    assert!(header.contains("'fortran_order': False"), "{header}");
    let body = &bytes[start..];
    if header.contains("'<f8'") {
        let values = body.as_chunks().0.iter();
        values.map(|chunk| f64::from_le_bytes(*chunk)).collect()
    } else {
        assert!(header.contains("'<f4'"), "{header}");
        let values = body.as_chunks().0.iter();
        values
            .map(|chunk| f64::from(f32::from_le_bytes(*chunk)))
            .collect()
    }
}

#[test]
fn breakout_means_and_bounds_are_the_authors() {
    let Some(folder) = reference("breakout-chain") else {
        return;
    };
    let weights = read_npy(&folder.join("draws.npy"));
    let draws = Draws::new(1, 4750, 65, weights).unwrap();
    let text = fs::read_to_string(folder.join("policies.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let published = file.as_object().unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        let list = value.as_array().unwrap();
        list.iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let policies: Vec<Policy> = published
        .iter()
        .map(|(name, policy)| {
            let phi = Matrix::new(1, 65, numbers(&policy["phi"])).unwrap();
            Policy::new(name, phi, None).unwrap()
        })
        .collect();
    assert_eq!(policies.len(), 3);
    let found = evaluate(&draws, &policies, &EvaluateOptions::default()).unwrap();
    for judged in &found.policies {
        let expected = &published[&judged.name];
        let close = |found: f64, field: &str| {
            let expected = expected[field].as_f64().unwrap();
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                "{} {field}: {found}, published {expected}",
                judged.name
            );
        };
        close(judged.mean, "mean");
        close(judged.bounds[0].var, "var05");
    }
}

#[test]
fn dropout_returns_give_the_papers_table_to_the_printed_digit() {
    let Some(folder) = reference("dropout") else {
        return;
    };
    let table = fs::read_to_string(folder.join("expected.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 21);
    for row in rows {
        let &[game, policy, samples, mean, var] = row.as_slice() else {
            panic!("expected five fields: {row:?}");
        };
        let returns = read_npy(&folder.join(format!("{game}_{policy}.npy")));
        assert_eq!(returns.len().to_string(), samples);
        let found = evaluate_returns(policy, &returns, &EvaluateOptions::default()).unwrap();
        for (found, printed) in [(found.mean, mean), (found.bounds[0].var, var)] {
            let off = (found - printed.parse::<f64>().unwrap()).abs();
            assert!(
                off <= 0.05 + 1e-9,
                "{game} {policy}: {found}, printed {printed}"
            );
        }
    }
}
