//! Features from any bytes as Parquet: an error or a table, but no panic and no absurd allocation.
#![no_main]

use brex_store::TableFormat;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    drop(brex_store::features_from_bytes(TableFormat::Parquet, bytes));
});
