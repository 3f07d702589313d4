//! What is written is read again, whatever it holds.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use brex_core::{Draws, FeatureTable, Matrix, Preference, Preferences, SavedState, StateArray};
use brex_store::{
    PosteriorFile, StatArray, read_matrix, read_posterior, read_preferences, read_state, write_npy,
    write_posterior, write_preferences_csv, write_state,
};
use proptest::collection::{btree_map, hash_set, vec};
use proptest::num::f64::{ANY, NORMAL, SUBNORMAL, ZERO};
use proptest::prelude::*;

fn finite() -> impl Strategy<Value = f64> {
    NORMAL | SUBNORMAL | ZERO
}

/// Files are brought to the disk each time, so there are fewer cases than usual.
fn few() -> ProptestConfig {
    ProptestConfig::with_cases(24)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Ids as people choose them and as they do not; spaces around them are not kept.
fn ids() -> impl Strategy<Value = Vec<String>> {
    let id = "[ -~äé\n\"',;]{1,12}|[0-9]{1,4}"
        .prop_map(|id| id.trim().to_owned())
        .prop_filter("an id is not empty", |id| !id.is_empty());
    hash_set(id, 3..8).prop_map(|ids| ids.into_iter().collect())
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn matrices(rows in 1..6_usize, cols in 1..6_usize, values in vec(finite(), 36)) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.npy");
        let matrix = Matrix::new(rows, cols, values[..rows * cols].to_vec()).unwrap();
        write_npy(&path, &matrix, false).unwrap();
        let read = read_matrix(&path).unwrap();
        prop_assert_eq!((read.rows(), read.cols()), (rows, cols));
        prop_assert_eq!(bits(read.as_slice()), bits(matrix.as_slice()));
    }

    #[test]
    fn preferences(
        ids in ids(),
        named in any::<bool>(),
        raw in vec((0..3_usize, 0..3_usize, 0.0..=1.0_f64, 0.0..1e9_f64), 1..20),
    ) {
        let items: Vec<Preference> = raw
            .into_iter()
            .filter(|(a, b, ..)| a != b)
            .map(|(a, b, label, weight)| Preference { a, b, label, weight })
            .collect();
        prop_assume!(!items.is_empty());
        let mut features = FeatureTable::new(Matrix::zeros(ids.len(), 1)).unwrap();
        if named {
            features = features.with_ids(ids).unwrap();
        }
        let preferences = Preferences::new(features.matrix().rows(), items).unwrap();
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("p.csv");
        write_preferences_csv(&path, &preferences, Some(&features), false).unwrap();
        let read = read_preferences(&path, &features).unwrap();
        prop_assert_eq!(read.preferences, preferences);
    }

    #[test]
    fn states(
        reals in btree_map("[a-z.]{1,5}", vec(ANY, 0..9), 0..3),
        whole in btree_map("[A-Z_ ]{1,5}", vec(any::<u64>(), 0..9), 0..3),
    ) {
        let mut state = SavedState::default();
        for (name, values) in reals {
            state.arrays.insert(name, StateArray::F64(values));
        }
        for (name, values) in whole {
            state.arrays.insert(name, StateArray::U64(values));
        }
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state.safetensors");
        write_state(&path, &state, false).unwrap();
        let read = read_state(&path).unwrap();
        // NaN is not equal to itself, so the text is compared.
        prop_assert_eq!(format!("{read:?}"), format!("{state:?}"));
    }

    #[test]
    fn posteriors(
        chains in 1..4_usize,
        draws in 1..7_usize,
        dim in 1..5_usize,
        values in vec(finite(), 72),
        stats in vec(ANY, 18),
        seed in any::<u64>(),
        beta in finite(),
    ) {
        let count = chains * draws;
        let posterior = PosteriorFile {
            draws: Draws::new(chains, draws, dim, values[..count * dim].to_vec()).unwrap(),
            lp: Some(stats[..count].to_vec()),
            sample_stats: BTreeMap::from([(
                "n_steps".to_owned(),
                StatArray::I64(stats[..count].iter().map(|v| v.to_bits() as i64).collect()),
            )]),
            attributes: [("seed".to_owned(), seed.into()), ("beta".to_owned(), beta.into())]
                .into_iter()
                .collect(),
        };
        let home = tempfile::tempdir().unwrap();
        write_posterior(home.path(), &posterior, None).unwrap();
        let read = read_posterior(home.path()).unwrap();
        prop_assert_eq!(bits(read.draws.as_slice()), bits(posterior.draws.as_slice()));
        prop_assert_eq!(read.draws.chains(), chains);
        prop_assert_eq!(bits(&read.lp.unwrap()), bits(&posterior.lp.unwrap()));
        prop_assert_eq!(&read.sample_stats, &posterior.sample_stats);
        prop_assert_eq!(&read.attributes["seed"], &posterior.attributes["seed"]);
        prop_assert_eq!(&read.attributes["beta"], &posterior.attributes["beta"]);
    }
}
