//! What the command knows about where it prints: colour or not, and how to print without panicking
//! when nobody reads any more.

use indicatif::{MultiProgress, ProgressDrawTarget};
use std::io::{IsTerminal, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether text may carry colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// Text without colour.
    #[cfg(test)]
    pub(crate) const fn plain() -> Self {
        Self { colour: false }
    }

    /// For results: colour if standard output is a terminal and `NO_COLOR` is not set.
    pub(crate) fn for_stdout() -> Self {
        Self {
            colour: std::io::stdout().is_terminal() && colour_wanted(),
        }
    }

    /// For messages: the same for standard error.
    pub(crate) fn for_stderr() -> Self {
        Self {
            colour: std::io::stderr().is_terminal() && colour_wanted(),
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Heads and what must be seen first.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What may be overlooked.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// What is wrong.
    pub(crate) fn red(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// What needs a second look.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// What is as it should be.
    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }
}

fn colour_wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// All bars of progress: several may be shown at once, below each other.
pub(crate) static BARS: LazyLock<MultiProgress> =
    LazyLock::new(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10)));

/// How many pieces of work keep their results back, because they are steps of something greater.
static SILENT: AtomicUsize = AtomicUsize::new(0);

/// Counted for as long as it lives.
struct Silence;

impl Silence {
    fn begin() -> Self {
        SILENT.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        SILENT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Does something whose results and advice are not to be printed; bars of progress are. May be
/// nested, and done by several threads: as long as one of them is at it, only what is announced is
/// printed.
pub(crate) fn without_printing<T>(work: impl FnOnce() -> T) -> T {
    let _silence = Silence::begin();
    work()
}

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed) > 0
}

/// Writes results to standard output. A closed pipe is an error for `main` to see, not a panic.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    if is_silent() {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// A value as JSON for `--json` and for files: indented, with the last line ended.
pub(crate) fn json_text(value: &impl serde::Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Writes a line of progress or advice to standard error, where nobody has to read it.
pub(crate) fn say(text: &str) {
    if !is_silent() {
        announce(text);
    }
}

/// Writes a line to standard error, also amid work that keeps its results back.
pub(crate) fn announce(text: &str) {
    BARS.suspend(|| {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    });
}

/// A warning on standard error.
pub(crate) fn warn(text: &str) {
    let style = Style::for_stderr();
    say(&format!("{} {text}", style.yellow("warning:")));
}

/// Names from files as they may be shown: control characters, which could move the cursor or hide
/// text, become a replacement sign.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|letter| {
            if letter.is_control() {
                '\u{fffd}'
            } else {
                letter
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_lasts_until_the_last_of_those_that_asked_for_it_is_done() {
        without_printing(|| {
            without_printing(|| assert!(is_silent()));
            assert!(is_silent(), "the outer work is not done");
        });
        let failed = without_printing(|| Err::<(), ()>(()));
        assert!(failed.is_err());
        assert!(!is_silent());
    }
}
