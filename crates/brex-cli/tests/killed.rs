//! Killed at any moment, the output is either whole or absent, and the next run is not in its way.

#![cfg(unix)]

mod common;

use common::Sandbox;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_killed_run_leaves_a_whole_output_or_none() {
    let sandbox = Sandbox::with_problem();
    let words = "sample --quiet --features phi.csv --preferences prefs.csv --draws 20000 --out run";
    let clock = Instant::now();
    sandbox.brex(words).expect(0);
    let whole = clock.elapsed();
    let expected = common::files_below(&sandbox.path("run"));
    std::fs::remove_dir_all(sandbox.path("run")).unwrap();
    let (mut absent, mut present) = (0, 0);
    for step in 0..24 {
        // From the very start to a little after the end.
        let delay = whole.mul_f64(f64::from(step) / 20.0);
        let mut child = sandbox
            .command(words)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(delay.min(Duration::from_secs(20)));
        // The child may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
        if sandbox.path("run").exists() {
            present += 1;
            assert!(
                common::files_below(&sandbox.path("run")) == expected,
                "step {step}"
            );
            std::fs::remove_dir_all(sandbox.path("run")).unwrap();
        } else {
            absent += 1;
        }
    }
    assert!(absent > 0, "never killed in time");
    eprintln!("killed before the end {absent} times, after it {present} times");
    // What was left under temporary names is cleared by the next run.
    sandbox.brex(words).expect(0);
    assert!(common::files_below(&sandbox.path("run")) == expected);
    let left: Vec<String> = std::fs::read_dir(sandbox.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["phi.csv", "prefs.csv", "run"].contains(&name.as_str()))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn replacing_with_force_never_loses_both() {
    let sandbox = Sandbox::with_problem();
    let inputs = "sample --quiet --features phi.csv --preferences prefs.csv --draws 4000";
    sandbox.brex(&format!("{inputs} --out run")).expect(0);
    let old = common::files_below(&sandbox.path("run"));
    sandbox
        .brex(&format!("{inputs} --seed 1 --out other"))
        .expect(0);
    let new = common::files_below(&sandbox.path("other"));
    let clock = Instant::now();
    let words = format!("{inputs} --seed 1 --force --out run");
    sandbox.brex(&words).expect(0);
    let whole = clock.elapsed();
    for step in 0..16 {
        sandbox
            .brex(&format!("{inputs} --force --out run"))
            .expect(0);
        let mut child = sandbox
            .command(&words)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(step) / 14.0));
        let _ = child.kill();
        child.wait().unwrap();
        let found = common::files_below(&sandbox.path("run"));
        assert!(found == old || found == new, "step {step}");
    }
}
