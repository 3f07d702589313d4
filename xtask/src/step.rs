//! Running one step after the other: a heading, the step's own output, and how long it took. The
//! first step that fails ends the run.

use anyhow::{Context, Result, bail};
use std::process::Command;
use std::time::{Duration, Instant};

/// Steps of one run, with their times.
pub(crate) struct Steps {
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { done: Vec::new() }
    }

    /// Runs a program and fails unless it ends with success.
    pub(crate) fn run(&mut self, name: &'static str, mut command: Command) -> Result<()> {
        let shown = show(&command);
        self.timed(name, &shown, || {
            let status = command
                .status()
                .with_context(|| format!("cannot start `{shown}`"))?;
            if !status.success() {
                bail!("`{shown}` failed: {status}");
            }
            Ok(())
        })
    }

    /// Runs a step that is not a single program.
    pub(crate) fn call<T>(
        &mut self,
        name: &'static str,
        action: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.timed(name, "", action)
    }

    fn timed<T>(
        &mut self,
        name: &'static str,
        detail: &str,
        action: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let colon = if detail.is_empty() { "" } else { ": " };
        eprintln!("\n==> {name}{colon}{detail}");
        let start = Instant::now();
        let result = action().with_context(|| format!("step {name}"));
        let elapsed = start.elapsed();
        let verdict = if result.is_ok() {
            "done in"
        } else {
            "FAILED after"
        };
        eprintln!("==> {name} {verdict} {:.1} s", elapsed.as_secs_f64());
        self.done.push((name, elapsed));
        result
    }

    /// Prints the time of every step.
    pub(crate) fn finish(&self) {
        eprintln!("\n==> all steps passed");
        for (name, time) in &self.done {
            eprintln!("    {name:<12} {:>7.1} s", time.as_secs_f64());
        }
        let total: f64 = self.done.iter().map(|(_, time)| time.as_secs_f64()).sum();
        eprintln!("    {:<12} {total:>7.1} s", "total");
    }
}

/// The command as one would type it, with the program's name without its folder.
fn show(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
