//! Commands in a row, each kept with what it depends on: a step that was done is not done again, one
//! that was cut off goes on, and one whose words or forerunners changed is done anew.

use crate::args::Common;
use crate::checksum::checksum;
use crate::commands::steps::run_step;
use crate::exit::Outcome;
use crate::interrupt;
use crate::run_files::write_text;
use crate::terminal::{announce, without_printing};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Beside the notes: the name of each step, the seconds that it took and the threads that it had.
const TIMES: &str = "times.csv";

/// Steps in a row.
pub(crate) struct KeptSteps {
    /// Where it is written down what was done.
    notes: PathBuf,
    /// The run directory. It is not part of what a step depends on.
    run: String,
    common: Common,
    /// Whether it is noted how long steps take.
    timed: bool,
    /// All steps so far.
    chain: String,
}

impl KeptSteps {
    /// No step yet.
    pub(crate) fn new(notes: PathBuf, run: &Path, common: &Common) -> Result<Self> {
        fs::create_dir_all(&notes).with_context(|| format!("{}", notes.display()))?;
        Ok(Self {
            notes,
            run: run.display().to_string(),
            common: Common {
                json: false,
                ..common.clone()
            },
            timed: false,
            chain: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// Notes how long each step takes, for people: no result depends on it.
    pub(crate) fn timed(self) -> Self {
        Self {
            timed: true,
            ..self
        }
    }

    /// The steps that follow have another seed.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.common.seed = seed;
    }

    /// Does a command, unless it was done. `begun` is what the command can go on from with
    /// `--resume`, if it is there.
    pub(crate) fn step(&mut self, name: &str, words: &[&str], begun: Option<&Path>) -> Result<()> {
        self.chain = self.after(words);
        let (done, started) = (self.note(name, "done"), self.note(name, "started"));
        if self.says(&done) {
            return Ok(());
        }
        let goes_on = begun.filter(|path| path.exists() && self.says(&started));
        let mut all: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if goes_on.is_some() {
            all.push("--resume".to_owned());
        } else if can_replace(words) {
            all.push("--force".to_owned());
        }
        self.write(&started)?;
        if !self.common.quiet {
            announce(&format!("$ brex {}", all.join(" ")));
        }
        let clock = Instant::now();
        let outcome = without_printing(|| run_step(&all, &self.common))?;
        if self.timed {
            self.note_time(name, clock.elapsed())?;
        }
        if interrupt::requested() {
            bail!("stopped; what was done is kept, and the same command goes on from there");
        }
        if outcome == Outcome::NotTrusted && !self.common.quiet {
            announce(&format!("{name}: done, but not to be trusted"));
        }
        self.write(&done)
    }

    /// Does something else, unless it was done, and gives the text that it came to.
    pub(crate) fn text(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Result<String>,
    ) -> Result<String> {
        self.chain = self.after(&[name]);
        let (done, kept) = (self.note(name, "done"), self.note(name, "json"));
        if self.says(&done)
            && let Ok(text) = fs::read_to_string(&kept)
        {
            return Ok(text);
        }
        let text = make()?;
        write_text(&kept, &text)?;
        self.write(&done)?;
        Ok(text)
    }

    /// Writes down how long a step took. One that was cut off and went on has several lines.
    fn note_time(&self, name: &str, took: Duration) -> Result<()> {
        let path = self.notes.join(TIMES);
        let shown = || path.display().to_string();
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(shown)?;
        let threads = rayon::current_num_threads();
        let line = format!("{name},{:.1},{threads}\n", took.as_secs_f64());
        file.write_all(line.as_bytes()).with_context(shown)
    }

    fn after(&self, words: &[&str]) -> String {
        let words = words.join(" ").replace(&self.run, "RUN");
        checksum(format!("{}\n{words}\n{}", self.chain, self.common.seed).as_bytes())
    }

    fn note(&self, name: &str, what: &str) -> PathBuf {
        self.notes.join(format!("{name}.{what}"))
    }

    fn says(&self, path: &Path) -> bool {
        fs::read_to_string(path).is_ok_and(|text| text == self.chain)
    }

    fn write(&self, path: &Path) -> Result<()> {
        Ok(write_text(path, &self.chain)?)
    }
}

/// Whether a command replaces what an earlier one left when it is told to.
fn can_replace(words: &[&str]) -> bool {
    match words.first() {
        Some(&"demos") => !words.contains(&"--add"),
        Some(&"pretrain" | &"sample" | &"train" | &"improve" | &"rollout" | &"baseline") => true,
        _ => false,
    }
}
