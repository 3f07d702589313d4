//! A disk that is full: exit code 2, a message that says so, nothing left behind. Needs a system
//! that lets the test make a small file system of its own, and says so where it cannot.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should fail")]

mod common;

use common::{Ran, Sandbox, draws, npy};
use std::process::Command;

/// Runs a command with `disk` in the sandbox being a file system of the given size, and lists what
/// is on it afterwards. `None` where that is not allowed.
fn on_small_disk(sandbox: &Sandbox, kilobytes: usize, words: &str) -> Option<(Ran, String)> {
    std::fs::create_dir_all(sandbox.path("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k none disk || exit 77\n\
         \"$BREX\" {words}\ncode=$?\nls -A disk > listing\nexit $code\n"
    );
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(sandbox.path(""))
        .env("BREX", env!("CARGO_BIN_EXE_brex"))
        .env("NO_COLOR", "1")
        .output();
    let ran = output.ok().map(Ran::from);
    match ran {
        Some(ran) if ran.code != Some(77) && sandbox.path("listing").exists() => {
            let listing = sandbox.read("listing");
            Some((ran, listing))
        }
        _ => {
            eprintln!("skipped: this system does not let a test mount a small file system");
            None
        }
    }
}

#[test]
fn sampling_onto_a_full_disk_leaves_nothing() {
    let sandbox = Sandbox::with_problem();
    let words =
        "sample --quiet --features phi.csv --preferences prefs.csv --draws 40000 --out disk/run";
    let Some((ran, listing)) = on_small_disk(&sandbox, 300, words) else {
        return;
    };
    let ran = ran.expect(2);
    assert!(ran.stderr.contains("disk is full"), "{}", ran.stderr);
    assert_eq!(listing, "");
}

#[test]
fn exporting_and_plotting_onto_a_full_disk_leave_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("draws.npy", draws());
    let Some((ran, listing)) = on_small_disk(
        &sandbox,
        32,
        "export --posterior draws.npy --draws disk/d.npy",
    ) else {
        return;
    };
    let ran = ran.expect(2);
    assert!(ran.stderr.contains("disk is full"), "{}", ran.stderr);
    assert_eq!(listing, "");
    let rows: Vec<String> = (0..30)
        .map(|i| format!("\"p{i}\": {{\"phi\": [{i}, 1, 2]}}"))
        .collect();
    sandbox.write("policies.json", format!("{{{}}}", rows.join(", ")));
    let words = "evaluate --posterior draws.npy --policies policies.json --plot disk/p.svg";
    if let Some((ran, listing)) = on_small_disk(&sandbox, 32, words) {
        let ran = ran.expect(2);
        assert!(ran.stderr.contains("disk is full"), "{}", ran.stderr);
        assert_eq!(listing, "");
    }
    // The same disk is large enough for something small.
    sandbox.write("small.npy", npy(&[100, 3], &[0.5; 300]));
    if let Some((ran, listing)) = on_small_disk(
        &sandbox,
        32,
        "export --posterior small.npy --draws disk/d.npy",
    ) {
        ran.expect(0);
        assert_eq!(listing, "d.npy\n");
    }
}
