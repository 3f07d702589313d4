//! Files that the real NumPy, PyArrow, safetensors and xarray wrote (see fixtures/make_fixtures.py)
//! are read as what they are.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use brex_core::FeatureTable;
use brex_store::{
    StoreError, read_draws, read_features, read_matrix, read_policies, read_posterior, read_vector,
};

const MATRIX: [f64; 6] = [1.5, -2.0, 3.0, 4.0, 5.25, -6.0];

fn fixture(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures", name]
        .iter()
        .collect()
}

fn message(name: &str) -> String {
    read_features(fixture(name)).unwrap_err().to_string()
}

fn assert_full(table: &FeatureTable, name: &str) {
    assert_eq!(table.matrix().as_slice(), MATRIX, "{name}");
    assert_eq!(table.ids().unwrap(), ["first", "zweite ä"], "{name}");
    assert_eq!(table.lengths().unwrap(), [10.0, 20.0], "{name}");
}

#[test]
fn npy_of_every_element_type_and_order() {
    let truncated: Vec<f64> = MATRIX.iter().map(|v| v.trunc()).collect();
    let absolute: Vec<f64> = truncated.iter().map(|v| v.abs()).collect();
    let signs: Vec<f64> = MATRIX.iter().map(|v| f64::from(*v > 0.0)).collect();
    for (name, expected) in [
        ("le_f2", MATRIX.to_vec()),
        ("le_f4", MATRIX.to_vec()),
        ("be_f4", MATRIX.to_vec()),
        ("le_f8", MATRIX.to_vec()),
        ("be_f8", MATRIX.to_vec()),
        ("fortran", MATRIX.to_vec()),
        ("le_i2", truncated.clone()),
        ("be_i4", truncated.clone()),
        ("le_i8", truncated.clone()),
        ("i1", truncated),
        ("unsigned", absolute),
        ("bool", signs),
    ] {
        let table = read_features(fixture(&format!("{name}.npy"))).unwrap();
        assert_eq!(table.matrix().as_slice(), expected, "{name}");
        assert_eq!((table.matrix().rows(), table.matrix().cols()), (2, 3));
    }
}

#[test]
fn npy_vectors_and_chains() {
    assert_eq!(read_vector(fixture("vector.npy")).unwrap(), MATRIX[..3]);
    for name in ["chains.npy", "chains_fortran.npy"] {
        let draws = read_draws(fixture(name)).unwrap();
        assert_eq!(
            (draws.chains(), draws.draws_per_chain(), draws.dim()),
            (2, 4, 3)
        );
        assert_eq!(draws.get(1, 0), [12.0, 13.0, 14.0], "{name}");
    }
    let draws = read_draws(fixture("le_f8.npy")).unwrap();
    assert_eq!(
        (draws.chains(), draws.draws_per_chain(), draws.dim()),
        (1, 2, 3)
    );
    assert!(matches!(
        read_vector(fixture("le_f8.npy")),
        Err(StoreError::Shape { .. })
    ));
    assert!(matches!(
        read_matrix(fixture("vector.npy")),
        Err(StoreError::Shape { .. })
    ));
}

#[test]
fn npy_that_cannot_be_used() {
    assert!(message("objects.npy").contains("pickles"));
    assert!(message("complex.npy").contains("'<c16'") || message("complex.npy").contains("<c16"));
    assert!(message("empty.npy").contains("0 rows"));
    assert!(message("nan.npy").contains("row 1, feature 1 is NaN"));
    assert!(message("chains.npy").contains("two dimensions"));
    assert!(message("nowhere.npy").contains("cannot read"));
    assert!(message("make_fixtures.py").contains("unknown kind"));
}

#[test]
fn npz() {
    for name in ["stored.npz", "deflated.npz"] {
        assert_full(&read_features(fixture(name)).unwrap(), name);
    }
    let only = read_features(fixture("only.npz")).unwrap();
    assert_eq!(only.matrix().as_slice(), MATRIX);
    assert!(message("object_ids.npz").contains("pickles"));
}

#[test]
fn safetensors() {
    let name = "full.safetensors";
    assert_full(&read_features(fixture(name)).unwrap(), name);
    let half = read_features(fixture("half.safetensors")).unwrap();
    assert_eq!(half.matrix().as_slice(), MATRIX);
}

#[test]
fn parquet() {
    for codec in ["none", "snappy", "zstd", "lz4"] {
        let name = format!("{codec}.parquet");
        assert_full(&read_features(fixture(&name)).unwrap(), &name);
    }
    for codec in ["gzip", "brotli"] {
        let message = message(&format!("{codec}.parquet"));
        assert!(message.contains("snappy, zstd or lz4"), "{message}");
    }
    for name in ["list.parquet", "fixed_list.parquet"] {
        let table = read_features(fixture(name)).unwrap();
        assert_eq!(table.matrix().as_slice(), MATRIX, "{name}");
    }
    let types = read_features(fixture("types.parquet")).unwrap();
    let (first, second) = (types.matrix().row(0), types.matrix().row(1));
    assert_eq!(first, [0.0, 0.5, 1.0, 1_099_511_627_776.0]);
    assert_eq!(second, [4_294_967_295.0, -2.0, 0.0, -1.0]);
    let pages = read_features(fixture("pages.parquet")).unwrap();
    assert_eq!(pages.matrix().rows(), 3000);
    assert_eq!(pages.matrix().row(2999), [2999.0, 3.0]);
}

#[test]
fn parquet_that_cannot_be_used() {
    assert!(message("ragged.parquet").contains("row 1 has 1 values"));
    assert!(message("missing.parquet").contains("row 1 has no value"));
    assert!(message("text.parquet").contains("`name`"));
    assert!(message("no_rows.parquet").contains("0 rows"));
}

#[test]
fn policies_from_a_table_are_named_by_id() {
    let policies = read_policies(fixture("stored.npz")).unwrap();
    assert_eq!(policies[1].name(), "zweite ä");
    assert_eq!(policies[1].expected_features(), MATRIX[3..]);
    assert_eq!(policies[1].mean_length(), Some(20.0));
    let unnamed = read_policies(fixture("le_f8.npy")).unwrap();
    assert_eq!(unnamed[1].name(), "1");
}

#[test]
fn a_posterior_that_xarray_wrote() {
    let posterior = read_posterior(fixture("xarray.zarr")).unwrap();
    assert_eq!(posterior.draws.chains(), 2);
    assert_eq!(posterior.draws.get(1, 3), [21.0, 22.0, 23.0]);
    let lp = posterior.lp.unwrap();
    assert_eq!(lp[7], -21.0);
}
