//! Comparisons from any bytes, by row number and by id, as CSV and as JSONL.
#![no_main]

use brex_core::{FeatureTable, Matrix};
use brex_store::{PreferenceFormat, preferences_from_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(rows) = FeatureTable::new(Matrix::zeros(4, 1)) else {
        return;
    };
    let ids = ["a", "1", "00050", "é"].map(str::to_owned).to_vec();
    let Ok(named) = rows.clone().with_ids(ids) else {
        return;
    };
    for format in [PreferenceFormat::Csv, PreferenceFormat::Jsonl] {
        for features in [&rows, &named] {
            drop(preferences_from_bytes(format, bytes, features));
        }
    }
});
