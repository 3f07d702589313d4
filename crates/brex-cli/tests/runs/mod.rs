//! Small run directories to test with, by the real binary.

#![allow(dead_code, reason = "each test program uses some of them")]

use crate::common::{Sandbox, files_below};
use std::path::Path;
use std::sync::OnceLock;

/// A training with little to do.
pub(crate) const TRAIN: &str = "--environments 8 --horizon 32";
/// More features than demonstrations: some weights agree with all of the ranking, and the posterior has one
/// peak. With fewer, it may have several, and then it is said not to have converged.
pub(crate) const PRETRAIN: &str = "--updates 12 --pairs 4 --features 16 --redrawn 8";

/// Demonstrations of an agent that hardly learned, made once.
fn demonstrations() -> &'static Path {
    static MADE: OnceLock<Sandbox> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let sandbox = Sandbox::new();
        let words =
            format!("demos pocket:breakout --out run --count 12 --steps 6000 --episodes 4 {TRAIN}");
        let ran = sandbox.brex(&format!("{words} --quiet"));
        // So short a training may leave A to D in another order; that is said, and no failure.
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
        sandbox
    });
    Box::leak(made.path("run").into_boxed_path())
}

/// Copies a folder.
pub(crate) fn copied(from: &Path, to: &Path) {
    for (name, content) in files_below(from) {
        let path = to.join(&name);
        if from.join(&name).is_dir() {
            std::fs::create_dir_all(path).unwrap();
        } else {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }
}

/// A sandbox with those demonstrations in `run`.
pub(crate) fn begun() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("run")).unwrap();
    copied(demonstrations(), &sandbox.path("run"));
    sandbox
}

/// With features and a posterior too.
pub(crate) fn sampled() -> Sandbox {
    let sandbox = begun();
    let ran = sandbox.brex(&format!("pretrain run {PRETRAIN} --quiet"));
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    sandbox.brex("features run --rollouts 3 --quiet").expect(0);
    sandbox.brex("sample run --quiet").expect(0);
    sandbox
}
