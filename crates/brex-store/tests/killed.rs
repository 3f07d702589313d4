//! A process that is killed at any moment leaves its output whole or absent, and the next one
//! cleans up after it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use brex_core::{Draws, stream};
use brex_store::{AtomicDir, PosteriorFile, read_posterior, write_npy, write_posterior};
use rand::RngExt;

/// Tells the child process, which is this same program, where to write.
const CHILD: &str = "BREX_STORE_WRITES_TO";

fn posterior(seed: usize) -> PosteriorFile {
    let (chains, draws, dim) = (4, 50, 3);
    let values = vec![seed as f64; chains * draws * dim];
    PosteriorFile {
        draws: Draws::new(chains, draws, dim, values).unwrap(),
        lp: Some(vec![seed as f64; chains * draws]),
        sample_stats: BTreeMap::new(),
        attributes: [("seed".to_owned(), seed.into())].into_iter().collect(),
    }
}

fn write(target: &Path, seed: usize) {
    let out = AtomicDir::create(target, true).unwrap();
    write_posterior(out.path(), &posterior(seed), None).unwrap();
    out.commit().unwrap();
    let matrix = brex_core::Matrix::from_fn(100, 100, |_, _| seed as f64);
    write_npy(target.with_extension("npy"), &matrix, true).unwrap();
}

/// Not a test of its own: writes and replaces its output until it is killed.
#[test]
fn child() {
    let Some(target) = std::env::var_os(CHILD) else {
        return;
    };
    for seed in 1.. {
        write(Path::new(&target), seed);
    }
}

#[test]
fn a_killed_process_leaves_whole_or_nothing() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("run");
    // A busy machine may need long for its first output, so the children live longer and longer
    // until there is one.
    let mut most_micros = 50_000;
    let mut whole = 0;
    for round in 0.. {
        if whole >= 15 {
            break;
        }
        assert!(round < 300, "no child wrote anything in time");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact"])
            .env(CHILD, &target)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = stream(1, "killed", round).random_range(2_000..most_micros);
        std::thread::sleep(Duration::from_micros(patience));
        child.kill().unwrap();
        child.wait().unwrap();
        if target.exists() {
            whole += 1;
            let read = read_posterior(&target).unwrap();
            let seed = read.attributes["seed"].as_u64().unwrap() as usize;
            assert_eq!(read.draws, posterior(seed).draws, "round {round}");
            assert_eq!(read.lp, posterior(seed).lp, "round {round}");
        } else {
            most_micros += most_micros / 5;
        }
        let file = target.with_extension("npy");
        if file.exists() {
            let matrix = brex_store::read_matrix(&file).unwrap();
            assert!(matrix.as_slice().iter().all(|v| *v == matrix.row(0)[0]));
        }
    }
    write(&target, 1000);
    let mut left: Vec<_> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["run", "run.npy"]);
}
