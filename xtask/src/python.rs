//! Python environments under target/: made from a file of pinned requirements, used again while
//! that file and the interpreter stay the same, and made afresh when they change or when making
//! one was interrupted.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The oldest Python that the pinned packages support.
const OLDEST: (u32, u32) = (3, 11);

/// Written last, so that an environment without it is known to be half made.
const STAMP: &str = "brex-environment.txt";

/// Asks for all that is needed at once, so that one message can name what is missing.
const PROBE: &str = "import sys, venv, ensurepip; print(*sys.version_info[:3], sep='.')";

/// A virtual environment and what has to be in it.
pub(crate) struct Environment {
    pub(crate) folder: PathBuf,
    pub(crate) requirements: PathBuf,
}

impl Environment {
    /// Makes the environment unless it is already there as required. Returns its interpreter.
    pub(crate) fn ensure(&self) -> Result<PathBuf> {
        let requirements = std::fs::read_to_string(&self.requirements)
            .with_context(|| format!("cannot read {}", self.requirements.display()))?;
        let system = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let version = probe(&system)?;
        let expected = format!("python {version}\n{requirements}");
        let interpreter = self.interpreter();
        let stamp = self.folder.join(STAMP);
        if std::fs::read_to_string(&stamp).is_ok_and(|found| found == expected)
            && interpreter.exists()
        {
            eprintln!("    {} is up to date", self.folder.display());
            return Ok(interpreter);
        }
        eprintln!("    making {} (Python {version})", self.folder.display());
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)
                .with_context(|| format!("cannot remove {}", self.folder.display()))?;
        }
        run(Command::new(&system).args(["-m", "venv"]).arg(&self.folder))?;
        run(Command::new(&interpreter)
            .args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check", "--no-input", "--requirement"])
            .arg(&self.requirements))
        .with_context(|| format!("cannot install {}", self.requirements.display()))?;
        std::fs::write(&stamp, expected)
            .with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(interpreter)
    }

    fn interpreter(&self) -> PathBuf {
        if cfg!(windows) {
            self.folder.join("Scripts/python.exe")
        } else {
            self.folder.join("bin/python")
        }
    }
}

/// The version of an interpreter that can make environments, or what is missing.
fn probe(system: &str) -> Result<String> {
    let output = match Command::new(system).args(["-c", PROBE]).output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "{system} is missing; install Python {}.{} or newer (Debian, Ubuntu: \
             `apt install python3 python3-venv`; Fedora: `dnf install python3`; \
             macOS: `brew install python`), or name one in PYTHON",
            OLDEST.0,
            OLDEST.1
        ),
        Err(error) => return Err(error).with_context(|| format!("cannot start {system}")),
    };
    if !output.status.success() {
        bail!(
            "{system} cannot make virtual environments ({}); install its venv module \
             (Debian, Ubuntu: `apt install python3-venv`)",
            last_line(&output)
        );
    }
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if parse(&version).is_none_or(|found| found < OLDEST) {
        bail!(
            "{system} is Python {version}; {}.{} or newer is needed, name one in PYTHON",
            OLDEST.0,
            OLDEST.1
        );
    }
    Ok(version)
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines()
        .last()
        .unwrap_or("no message")
        .trim()
        .to_owned()
}

fn run(command: &mut Command) -> Result<()> {
    let program = Path::new(command.get_program()).to_owned();
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    if !status.success() {
        bail!("{} failed: {status}", program.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(parse("3.9.1"), Some((3, 9)));
        assert!(parse("3.9.1") < Some(OLDEST));
        assert!(parse("3.14.0") > Some(OLDEST));
        assert_eq!(parse("three"), None);
    }

    #[test]
    fn a_missing_interpreter_is_named_with_the_remedy() {
        let message = probe("no-such-python").unwrap_err().to_string();
        assert!(message.contains("no-such-python is missing"), "{message}");
        assert!(message.contains("apt install python3"), "{message}");
    }
}
