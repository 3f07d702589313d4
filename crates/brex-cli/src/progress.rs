//! Progress of long work on standard error: a bar on a terminal, a plain line every few seconds
//! elsewhere, nothing with `--quiet`.

use crate::numbers;
use crate::terminal::{BARS, say};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two plain lines.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Shows how far something is. Can be used from several threads.
#[derive(Debug)]
pub(crate) struct Progress {
    label: &'static str,
    start: Instant,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    Bar(ProgressBar),
    Lines { last: Mutex<Instant> },
    Nothing,
}

impl Progress {
    /// Starts to show the work called `label`.
    pub(crate) fn start(label: &'static str, quiet: bool) -> Self {
        let start = Instant::now();
        let shown = if quiet {
            Shown::Nothing
        } else if std::io::stderr().is_terminal() {
            let bar = BARS.add(ProgressBar::no_length());
            if let Ok(style) = ProgressStyle::with_template("{prefix} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(label);
            Shown::Bar(bar)
        } else {
            let last = Mutex::new(start);
            Shown::Lines { last }
        };
        Self {
            label,
            start,
            shown,
        }
    }

    /// Shows that `done` of `total` is reached (if a total is known), with a remark.
    pub(crate) fn update(&self, done: u64, total: Option<u64>, remark: &str) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                if bar.length() != total {
                    // A stage without a known end has no bar to fill.
                    let template = match total {
                        Some(total) => {
                            bar.set_length(total);
                            "{prefix} [{bar:28}] {human_pos}/{human_len} {elapsed} {wide_msg}"
                        }
                        None => {
                            bar.unset_length();
                            "{prefix} {human_pos} {elapsed} {wide_msg}"
                        }
                    };
                    if let Ok(style) = ProgressStyle::with_template(template) {
                        bar.set_style(style.progress_chars("━╸─"));
                    }
                }
                bar.set_position(done);
                bar.set_message(remark.to_owned());
                bar.tick();
            }
            Shown::Lines { last } => {
                let Ok(mut last) = last.lock() else { return };
                if last.elapsed() >= BETWEEN_LINES {
                    *last = Instant::now();
                    say(&self.line(done, total, remark));
                }
            }
        }
    }

    fn line(&self, done: u64, total: Option<u64>, remark: &str) -> String {
        let elapsed = numbers::seconds(self.start.elapsed().as_secs_f64());
        let done = numbers::count(usize::try_from(done).unwrap_or(usize::MAX));
        let of = total.map_or(String::new(), |total| {
            let total = numbers::count(usize::try_from(total).unwrap_or(usize::MAX));
            format!(" of {total}")
        });
        let comma = if remark.is_empty() { "" } else { ", " };
        format!("{}: {done}{of} after {elapsed}{comma}{remark}", self.label)
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}
