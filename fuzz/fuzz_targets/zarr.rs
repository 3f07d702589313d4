//! A posterior with any metadata (up to the first zero byte) and any chunk (after it).
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let cut = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (metadata, chunk) = bytes.split_at(cut);
    let chunk = chunk.get(1..).unwrap_or_default();
    drop(brex_store::posterior_from_bytes(metadata, chunk));
});
