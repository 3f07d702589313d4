//! Every reader on files made to hurt it, and on thousands of damaged copies of good files: an
//! error or a result, but no panic, no absurd allocation and no endless work.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use brex_core::{FeatureTable, Matrix, stream};
use brex_store::{
    PreferenceFormat, TableFormat, features_from_bytes, policies_from_bytes, posterior_from_bytes,
    preferences_from_bytes, read_features, state_from_bytes,
};
use rand::RngExt;

/// A reader gets no longer than this for one file, even in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most memory that the whole test may ever hold.
const MEMORY_MIB: u64 = 1024;

const TABLES: [(&str, TableFormat); 5] = [
    ("npy", TableFormat::Npy),
    ("npz", TableFormat::Npz),
    ("safetensors", TableFormat::Safetensors),
    ("parquet", TableFormat::Parquet),
    ("csv", TableFormat::Csv),
];

/// Runs the reader of `kind` and says whether it found the bytes usable.
fn read(kind: &str, bytes: &[u8]) -> bool {
    if let Some((_, format)) = TABLES.iter().find(|(name, _)| *name == kind) {
        return features_from_bytes(*format, bytes).is_ok();
    }
    match kind {
        "state" => state_from_bytes(bytes).is_ok(),
        "policies" => policies_from_bytes(bytes).is_ok(),
        "zarr" => {
            let cut = bytes.iter().position(|byte| *byte == 0);
            let (metadata, chunk) = bytes.split_at(cut.unwrap_or(bytes.len()));
            posterior_from_bytes(metadata, chunk.get(1..).unwrap_or_default()).is_ok()
        }
        "preferences" => {
            let features = FeatureTable::new(Matrix::zeros(4, 1)).unwrap();
            [PreferenceFormat::Csv, PreferenceFormat::Jsonl]
                .into_iter()
                .any(|format| preferences_from_bytes(format, bytes, &features).is_ok())
        }
        other => panic!("no reader for {other}"),
    }
}

const KINDS: [&str; 9] = [
    "npy",
    "npz",
    "safetensors",
    "parquet",
    "csv",
    "state",
    "policies",
    "zarr",
    "preferences",
];

/// Runs the reader and reports a panic or a lack of progress with the name of the case.
fn endure(kind: &str, name: &str, bytes: &[u8]) -> bool {
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| read(kind, bytes)));
    assert!(start.elapsed() < PATIENCE, "{kind} took too long on {name}");
    match result {
        Ok(usable) => usable,
        Err(_) => {
            let kept = std::env::temp_dir().join(format!("brex-panic-{kind}"));
            std::fs::write(&kept, bytes).unwrap();
            panic!(
                "{kind} panicked on {name}; the bytes are in {}",
                kept.display()
            );
        }
    }
}

fn tests_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The attacks on one format, by name.
fn corpus(kind: &str) -> Vec<(String, Vec<u8>)> {
    let directory = tests_directory().join("corpus").join(kind);
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (
                format!("{kind}/{name}"),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

/// Peak memory of this process, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024)
}

fn assert_memory() {
    if let Some(peak) = peak_mib() {
        assert!(peak < MEMORY_MIB, "readers held {peak} MiB");
    }
}

#[test]
fn every_reader_endures_every_attack() {
    let mut count = 0;
    let mut unexpected = Vec::new();
    for kind in KINDS {
        for (name, bytes) in corpus(kind) {
            count += 1;
            for reader in KINDS {
                let usable = endure(reader, &name, &bytes);
                // Attacks are refused; a few files are there to be changed.
                let harmless = name.contains("/valid") || name.contains("/harmless");
                if reader == kind && !name.contains("/fuzz-") && usable != harmless {
                    unexpected.push(format!("{name} usable: {usable}"));
                }
            }
        }
    }
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    assert!(count > 100, "only {count} attacks found");
    assert_memory();
}

/// Changes some bytes, cuts, doubles or removes a part, or writes a number that tends to hurt.
fn damage(original: &[u8], random: &mut impl RngExt) -> Vec<u8> {
    const NUMBERS: [u64; 8] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX];
    let mut bytes = original.to_vec();
    for _ in 0..random.random_range(1..=4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.random_range(0..bytes.len());
        let end = bytes.len().min(at + random.random_range(1..=16));
        match random.random_range(0..7) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            5 => {
                let number = NUMBERS[random.random_range(0..NUMBERS.len())].to_le_bytes();
                for (byte, new) in bytes[at..end].iter_mut().zip(number) {
                    *byte = new;
                }
            }
            _ => bytes[at] = b"0123456789-.,\"'{}[]()\n\0\xff"[random.random_range(0..23)],
        }
    }
    bytes
}

/// Good files to be damaged: what other programs wrote, and the good ones of the corpus.
fn originals(kind: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = corpus(kind);
    files.retain(|(_, bytes)| bytes.len() < 10_000);
    let fixtures = std::fs::read_dir(tests_directory().join("fixtures")).unwrap();
    for entry in fixtures {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if extension == Some(kind) && path.is_file() {
            files.push((path.display().to_string(), std::fs::read(path).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn every_reader_endures_damaged_files() {
    let mut cases = 0;
    for kind in KINDS {
        let source = if kind == "state" { "safetensors" } else { kind };
        let originals = originals(source);
        assert!(!originals.is_empty(), "nothing to damage for {kind}");
        let copies = (3000 / originals.len() as u64).max(20);
        for (index, (name, bytes)) in originals.iter().enumerate() {
            for copy in 0..copies {
                let mut random = stream(copy, name, index as u64);
                let damaged = damage(bytes, &mut random);
                endure(kind, &format!("{name}, damaged {copy}"), &damaged);
                cases += 1;
            }
        }
    }
    assert!(cases > 20_000, "only {cases} cases");
    assert_memory();
}

#[test]
fn every_truncation_of_a_small_file_is_endured() {
    for kind in KINDS {
        for (name, bytes) in originals(kind) {
            if name.contains("valid") {
                for length in 0..bytes.len() {
                    endure(kind, &format!("{name}, cut at {length}"), &bytes[..length]);
                }
            }
        }
    }
}

#[test]
fn files_that_are_not_files_are_refused() {
    let home = tempfile::tempdir().unwrap();
    for (extension, _) in TABLES {
        let path = home.path().join(format!("directory.{extension}"));
        std::fs::create_dir(&path).unwrap();
        assert!(read_features(&path).is_err(), "{extension}");
    }
}
