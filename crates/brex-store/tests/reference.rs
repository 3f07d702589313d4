//! The readers on the published data of the paper's authors. The data are not part of the
//! project: they are looked for in the directory that BREX_REFERENCE names, or in
//! `shared/reference` beside the repository or above it. A test that does not find them says so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use brex_core::{FeatureTable, Matrix};
use brex_store::{
    ReferredBy, StoreError, read_draws, read_features, read_policies, read_preferences, read_vector,
};

fn reference(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("BREX_REFERENCE").map(PathBuf::from);
    let above = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|directory| directory.join("shared/reference"));
    let found = given
        .into_iter()
        .chain(above)
        .map(|directory| directory.join(name))
        .find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: no reference data {name}; set BREX_REFERENCE to their directory");
    }
    found
}

#[test]
fn the_authors_chain_and_policies() {
    let Some(directory) = reference("breakout-chain") else {
        return;
    };
    let draws = read_draws(directory.join("draws.npy")).unwrap();
    assert_eq!((draws.chains(), draws.len(), draws.dim()), (1, 4750, 65));
    let log_likelihood = read_vector(directory.join("log_likelihood.npy")).unwrap();
    assert_eq!(log_likelihood.len(), 4750);
    let policies = read_policies(directory.join("policies.json")).unwrap();
    let names: Vec<&str> = policies.iter().map(|policy| policy.name()).collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert!(policies.iter().all(|policy| policy.rollouts().cols() == 65));
    let first = policies[0].expected_features()[0];
    assert!((first - 330.279_445_892_572_4).abs() < 1e-12);
}

#[test]
fn returns_of_dropout_networks_are_vectors() {
    let Some(path) = reference("dropout/beam_rider_No-Op.npy") else {
        return;
    };
    assert_eq!(read_vector(path).unwrap().len(), 50);
}

#[test]
fn human_labels_resolve_by_id() {
    let Some(directory) = reference("human-labels") else {
        return;
    };
    for game in ["beam_rider", "breakout", "qbert", "space_invaders"] {
        let path = directory.join(format!("{game}.csv"));
        let text = std::fs::read_to_string(&path).unwrap();
        let ids: BTreeSet<String> = text
            .lines()
            .skip(1)
            .flat_map(|line| line.split(',').take(2))
            .map(str::to_owned)
            .collect();
        let table = FeatureTable::new(Matrix::zeros(ids.len(), 1)).unwrap();
        let table = table.with_ids(ids.into_iter().collect()).unwrap();
        let file = read_preferences(&path, &table).unwrap();
        assert_eq!(file.preferences.len(), text.lines().count() - 1, "{game}");
        assert_eq!(file.referred_by, ReferredBy::Id);
        assert_eq!(file.lines.first(), Some(&2));
        let strict = |label: f64| label == 0.0 || label == 1.0;
        assert!(file.preferences.items().iter().all(|p| strict(p.label)));
    }
}

#[test]
fn a_network_is_not_a_table_of_features() {
    let Some(path) = reference("trex-nets/breakout.safetensors") else {
        return;
    };
    assert!(matches!(
        read_features(path),
        Err(StoreError::Missing { .. })
    ));
}
