//! Posteriors are written and read again, the same bytes each time, block by block.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brex_core::Draws;
use brex_store::{
    LogLikelihood, PosteriorFile, StatArray, StoreError, read_draws, read_posterior,
    write_posterior,
};
use serde_json::json;

fn posterior(chains: usize, draws: usize, dim: usize) -> PosteriorFile {
    let count = chains * draws;
    let values = (0..count * dim).map(|i| (i as f64 * 0.37).sin()).collect();
    let settings = json!({"sampler": "hmc", "seed": 7, "beta": 1.5});
    PosteriorFile {
        draws: Draws::new(chains, draws, dim, values).unwrap(),
        lp: Some((0..count).map(|i| -(i as f64)).collect()),
        sample_stats: BTreeMap::from([
            (
                "acceptance_rate".to_owned(),
                StatArray::F64((0..count).map(|i| 1.0 / (i + 1) as f64).collect()),
            ),
            (
                "diverging".to_owned(),
                StatArray::Bool((0..count).map(|i| i % 3 == 0).collect()),
            ),
            (
                "n_steps".to_owned(),
                StatArray::I64((0..count).map(|i| i as i64 - 3).collect()),
            ),
        ]),
        attributes: settings.as_object().unwrap().clone(),
    }
}

/// All files below `directory` with their contents, sorted.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap().to_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn what_is_written_is_read_again() {
    let home = tempfile::tempdir().unwrap();
    let written = posterior(3, 10, 4);
    write_posterior(home.path(), &written, None).unwrap();
    for path in [home.path().to_owned(), home.path().join("posterior.zarr")] {
        let read = read_posterior(&path).unwrap();
        assert_eq!(read.draws, written.draws);
        assert_eq!(read.lp, written.lp);
        assert_eq!(read.sample_stats, written.sample_stats);
        assert_eq!(read.attributes["seed"], 7);
        assert_eq!(read.attributes["inference_library"], "brex");
        assert!(!read.attributes.contains_key("created_at"));
        assert_eq!(read_draws(&path).unwrap(), written.draws);
    }
}

#[test]
fn a_posterior_that_is_read_can_be_written_again() {
    let home = tempfile::tempdir().unwrap();
    let again = tempfile::tempdir().unwrap();
    write_posterior(home.path(), &posterior(2, 5, 3), None).unwrap();
    let read = read_posterior(home.path()).unwrap();
    write_posterior(again.path(), &read, None).unwrap();
    assert_eq!(read_posterior(again.path()).unwrap(), read);
}

#[test]
fn the_same_posterior_gives_the_same_bytes() {
    let first = tempfile::tempdir().unwrap();
    let second = tempfile::tempdir().unwrap();
    for home in [&first, &second] {
        let mut fill = |_: usize, _: std::ops::Range<usize>, out: &mut [f32]| out.fill(0.5);
        let log_likelihood = LogLikelihood {
            preferences: 6,
            fill: &mut fill,
        };
        write_posterior(home.path(), &posterior(2, 8, 3), Some(log_likelihood)).unwrap();
    }
    assert_eq!(files(first.path()), files(second.path()));
}

#[test]
fn long_chains_are_split_and_the_log_likelihood_is_asked_for_in_order() {
    let home = tempfile::tempdir().unwrap();
    // 9 MB a chain: three blocks of `w` and as many of the log likelihood.
    let written = posterior(2, 9001, 128);
    let mut asked = Vec::new();
    let mut fill = |chain: usize, draws: std::ops::Range<usize>, out: &mut [f32]| {
        assert_eq!(out.len(), draws.len() * 256);
        out.fill((chain * 9001 + draws.start) as f32);
        asked.push((chain, draws));
    };
    let log_likelihood = LogLikelihood {
        preferences: 256,
        fill: &mut fill,
    };
    write_posterior(home.path(), &written, Some(log_likelihood)).unwrap();
    assert_eq!(asked.len(), 6);
    for chain in 0..2 {
        let mut next = 0;
        for (_, draws) in asked.iter().filter(|(found, _)| *found == chain) {
            assert_eq!(draws.start, next);
            next = draws.end;
        }
        assert_eq!(next, 9001);
    }
    assert_eq!(read_posterior(home.path()).unwrap().draws, written.draws);
}

#[test]
fn counts_must_fit_and_nothing_is_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let mut short = posterior(2, 5, 3);
    short.lp = Some(vec![0.0; 9]);
    assert!(matches!(
        write_posterior(home.path(), &short, None),
        Err(StoreError::Count {
            expected: 10,
            found: 9,
            ..
        })
    ));
    write_posterior(home.path(), &posterior(1, 2, 2), None).unwrap();
    assert!(matches!(
        write_posterior(home.path(), &posterior(1, 2, 2), None),
        Err(StoreError::Exists { .. })
    ));
}

#[test]
fn damaged_stores_are_refused() {
    let home = tempfile::tempdir().unwrap();
    assert!(matches!(
        read_posterior(home.path()),
        Err(StoreError::Missing { .. })
    ));
    assert!(matches!(
        read_posterior(home.path().join("nowhere")),
        Err(StoreError::Read { .. })
    ));
    write_posterior(home.path(), &posterior(2, 5, 3), None).unwrap();
    let root = home.path().join("posterior.zarr");
    let metadata = root.join("posterior/w/zarr.json");
    let text = std::fs::read_to_string(&metadata).unwrap();
    let change = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        std::fs::write(&metadata, text.replacen(from, to, 1)).unwrap();
        read_posterior(home.path()).unwrap_err().to_string()
    };
    let shape = &text[text.find("\"shape\"").unwrap()..];
    let shape = &shape[..=shape.find(']').unwrap()];
    let huge = change(shape, "\"shape\": [2, 1000000000000, 3]");
    assert!(huge.contains("chunks"), "{huge}");
    let huge = change(
        "\"chunk_shape\"",
        "\"chunk_shape\": [2,999999999999,3], \"x\"",
    );
    assert!(huge.contains("claims"), "{huge}");
    assert!(change("float64", "complex128").contains("not supported"));
    assert!(change("\"bytes\"", "\"blosc\"").contains("blosc"));
    std::fs::write(&metadata, &text).unwrap();
    let chunk = root.join("posterior/w/c/0/0/0");
    std::fs::write(&chunk, b"short").unwrap();
    let message = read_posterior(home.path()).unwrap_err().to_string();
    assert!(message.contains("5 bytes, expected 120"), "{message}");
}
