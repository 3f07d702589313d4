//! Runs the real binary in a temporary directory.

#![allow(dead_code, reason = "every test file uses its own part of this")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should fail")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A temporary directory that commands run in.
pub(crate) struct Sandbox {
    home: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
        }
    }

    /// With `phi.csv` and `prefs.csv`: six ranked trajectories with three features.
    pub(crate) fn with_problem() -> Self {
        let sandbox = Self::new();
        sandbox.write("phi.csv", FEATURES);
        sandbox.write("prefs.csv", PREFERENCES);
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The command with words that are split at spaces, not yet run.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_brex"));
        command
            .args(words.split_whitespace())
            .current_dir(self.home.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn brex(&self, words: &str) -> Ran {
        self.command(words).output().unwrap().into()
    }

    /// Everything in the directory, hidden things too: relative paths and contents.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(self.home.path())
    }
}

/// Starts a command, and kills it as soon as it has got so far. Fails if it never does.
#[track_caller]
pub(crate) fn killed_when(mut command: Command, so_far: impl Fn() -> bool) {
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let clock = Instant::now();
    while !so_far() {
        assert!(clock.elapsed() < Duration::from_secs(120), "too slow");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Published data, at `BREX_REFERENCE` or in `shared/reference` beside the repository or above it; says so if
/// they are not there.
pub(crate) fn reference(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("BREX_REFERENCE").map(PathBuf::from);
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let above = above.map(|directory| directory.join("shared/reference"));
    let places = given.into_iter().chain(above);
    let found = places.map(|at| at.join(name)).find(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: no reference data {name}; set BREX_REFERENCE to their directory");
    }
    found
}

/// Whether `BREX_PYTHON` names an interpreter that plays Atari games; says so if it does not.
pub(crate) fn has_emulator() -> bool {
    let named = std::env::var_os("BREX_PYTHON").is_some_and(|name| !name.is_empty());
    if !named {
        eprintln!("skipped: BREX_PYTHON names no interpreter with ale-py; run `cargo xtask test`");
    }
    named
}

/// What is in a study's folder, without what is hidden.
pub(crate) fn study_files(sandbox: &Sandbox, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = files_below(&sandbox.path(name));
    files.retain(|name, _| !name.starts_with('.'));
    files
}

/// Runs a whole study into a folder called `whole`, which then holds the named files.
#[track_caller]
pub(crate) fn whole_study(
    sandbox: &Sandbox,
    words: &str,
    results: &[&str],
) -> (BTreeMap<String, Vec<u8>>, Ran) {
    let ran = sandbox.brex(&format!("{words} --out whole")).expect(0);
    let files = study_files(sandbox, "whole");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(names, results);
    (files, ran)
}

/// Relative paths and contents of all files below a directory; directories have no content.
pub(crate) fn files_below(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if path.is_dir() {
                found.insert(name, Vec::new());
                open.push(path);
            } else {
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// How a command ended.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Fails the test unless the exit code is as expected.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// All that can be seen, for a snapshot.
    pub(crate) fn seen(&self) -> String {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        let (out, err) = (self.stdout.trim_end(), self.stderr.trim_end());
        format!("exit code {code}\n----- stdout -----\n{out}\n----- stderr -----\n{err}\n")
    }
}

pub(crate) const FEATURES: &str = "\
id,length,speed,height,noise
a,10,0.0,0.1,0.5
b,12,0.6,0.0,-0.5
c,11,1.1,0.4,0.2
d,14,1.9,0.3,-0.1
e,16,2.4,0.9,0.4
f,18,3.2,1.0,0.0
";

pub(crate) const PREFERENCES: &str =
    "worse,better\na,b\na,c\nb,c\nb,d\nc,d\nc,e\nd,e\nd,f\ne,f\na,f\n";

/// A `.npy` file of `f64`.
pub(crate) fn npy(shape: &[usize], values: &[f64]) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(|n| format!("{n},")).collect();
    let mut header = format!(
        "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}",
        shape.join(" ")
    );
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

/// Numbers that look random but are the same everywhere, roughly normal.
pub(crate) fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count)
        .map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0)
        .collect()
}

/// A posterior that is converged: 4,000 independent draws of three weights, as a `.npy`.
pub(crate) fn draws() -> Vec<u8> {
    let values = noise(12_000, 1);
    let values: Vec<f64> = values
        .chunks(3)
        .flat_map(|z| [1.0 + 0.2 * z[0], 0.5 + 0.3 * z[1], 0.5 * z[2]])
        .collect();
    npy(&[4000, 3], &values)
}

pub(crate) const POLICIES: &str = r#"{
  "fast": {"phi": [4.0, 0.5, 0.0], "lengths": 20},
  "high": {"phi": [1.0, 2.0, 0.1], "lengths": 10},
  "odd": {"rollouts": [[3.0, 0.5, 8.0], [3.5, 0.4, 9.0], [2.5, 0.6, 10.0]], "lengths": [90, 100, 110]}
}
"#;
