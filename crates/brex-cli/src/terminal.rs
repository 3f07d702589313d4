//! What the command knows about where it prints: colour or not, and how to print without panicking
//! when nobody reads any more.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Whether results are kept back, because they are a step of something greater.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Does something whose results and advice are not to be printed; progress is.
pub(crate) fn without_printing<T>(work: impl FnOnce() -> T) -> T {
    SILENT.store(true, Ordering::Relaxed);
    let done = work();
    SILENT.store(false, Ordering::Relaxed);
    done
}

/// Writes results to standard output. A closed pipe is an error for `main` to see, not a panic.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    if SILENT.load(Ordering::Relaxed) {
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
    if SILENT.load(Ordering::Relaxed) {
        return;
    }
    let _ = writeln!(std::io::stderr().lock(), "{text}");
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
