//! Policies from any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    drop(brex_store::policies_from_bytes(bytes));
});
