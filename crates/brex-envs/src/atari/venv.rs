//! Virtual Python environments: made from pinned requirements, used again while these and the
//! interpreter stay the same, and made afresh when they change or when making one was interrupted.
//!
//! Two programs that want the same one at the same time wait for each other, by a lock on a file
//! beside it. brex makes its environment for Atari with this, and xtask, which shares this file,
//! those of the checks.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The oldest Python that the pinned packages support.
const OLDEST: (u32, u32) = (3, 11);

/// Written last, so that an environment without it is known to be half made.
const STAMP: &str = "brex-environment.txt";

/// Asks for all that is needed at once, so that one message can name what is missing.
const PROBE: &str = "import sys, venv, ensurepip; print(*sys.version_info[:3], sep='.')";

/// Why an environment cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VenvError {
    /// No such interpreter.
    #[error(
        "{system} is missing; install Python {}.{} or newer (Debian, Ubuntu: `apt install python3 \
         python3-venv`; Fedora: `dnf install python3`; macOS: `brew install python`), or name one in \
         PYTHON",
        OLDEST.0, OLDEST.1
    )]
    Missing {
        /// The interpreter.
        system: String,
    },
    /// The interpreter lacks what makes environments.
    #[error(
        "{system} cannot make virtual environments ({why}); install its venv module (Debian, Ubuntu: \
         `apt install python3-venv`)"
    )]
    NoVenv {
        /// The interpreter.
        system: String,
        /// What it says.
        why: String,
    },
    /// The interpreter is too old.
    #[error(
        "{system} is Python {version}; {}.{} or newer is needed, name one in PYTHON",
        OLDEST.0, OLDEST.1
    )]
    TooOld {
        /// The interpreter.
        system: String,
        /// Its version.
        version: String,
    },
    /// The operating system refused.
    #[error("{doing} {}: {why}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What it said.
        why: String,
    },
    /// A command failed.
    #[error("{doing} failed: {why}")]
    Failed {
        /// What was being done.
        doing: &'static str,
        /// What the command said.
        why: String,
    },
}

/// A virtual environment and what has to be in it.
pub(crate) struct Venv {
    /// Where it is.
    pub(crate) folder: PathBuf,
    /// The text of a requirements file.
    pub(crate) requirements: String,
}

impl Venv {
    /// Its interpreter, whether it is there or not.
    pub(crate) fn interpreter(&self) -> PathBuf {
        if cfg!(windows) {
            self.folder.join("Scripts/python.exe")
        } else {
            self.folder.join("bin/python")
        }
    }

    /// Whether it was made to its end from these requirements, by whatever Python.
    pub(crate) fn is_ready(&self) -> bool {
        let stamp = std::fs::read_to_string(self.folder.join(STAMP));
        let same = stamp.is_ok_and(|stamp| {
            let made_from = stamp.split_once('\n').map(|(_, rest)| rest);
            made_from == Some(&self.requirements)
        });
        same && self.interpreter().exists()
    }

    /// Has it made afresh when it is next wanted.
    pub(crate) fn distrust(&self) {
        // One that cannot be removed makes the next step fail, with its reason.
        let _ = std::fs::remove_file(self.folder.join(STAMP));
    }

    /// Makes the environment unless it is there as required, made by the same Python. `say` is told
    /// what is done. Returns its interpreter.
    pub(crate) fn ensure(&self, say: &mut dyn FnMut(&str)) -> Result<PathBuf, VenvError> {
        let system = system_python();
        let version = probe(&system)?;
        let expected = format!("python {version}\n{}", self.requirements);
        let _lock = self.lock()?;
        let stamp = self.folder.join(STAMP);
        let found = std::fs::read_to_string(&stamp);
        if found.is_ok_and(|found| found == expected) && self.interpreter().exists() {
            say(&format!("{} is up to date", self.folder.display()));
            return Ok(self.interpreter());
        }
        say(&format!(
            "making {} (Python {version})",
            self.folder.display()
        ));
        self.make(&system)?;
        std::fs::write(&stamp, expected).map_err(|e| io("cannot write", &stamp, &e))?;
        Ok(self.interpreter())
    }

    /// Waits until nobody else makes this environment. The lock ends with the file's handle.
    fn lock(&self) -> Result<File, VenvError> {
        let path = self.folder.with_extension("lock");
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| io("cannot make", parent, &e))?;
        }
        let file = File::create(&path).map_err(|e| io("cannot write", &path, &e))?;
        file.lock().map_err(|e| io("cannot lock", &path, &e))?;
        Ok(file)
    }

    fn make(&self, system: &str) -> Result<(), VenvError> {
        if self.folder.exists() {
            // Without its stamp first: removing can be interrupted too.
            self.distrust();
            std::fs::remove_dir_all(&self.folder)
                .map_err(|e| io("cannot remove", &self.folder, &e))?;
        }
        let mut make = Command::new(system);
        make.args(["-m", "venv"]).arg(&self.folder);
        run("making the virtual environment", &mut make)?;
        let list = self.folder.join("requirements.txt");
        std::fs::write(&list, &self.requirements).map_err(|e| io("cannot write", &list, &e))?;
        let mut install = Command::new(self.interpreter());
        install
            .args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check", "--no-input", "--requirement"])
            .arg(&list);
        run("installing packages with pip", &mut install)
    }
}

/// The interpreter that environments are made with: the one that PYTHON names, or the usual one.
pub(crate) fn system_python() -> String {
    let usual = if cfg!(windows) { "python" } else { "python3" };
    let named = std::env::var("PYTHON").ok();
    let named = named.filter(|name| !name.is_empty());
    named.unwrap_or_else(|| usual.to_owned())
}

/// The version of an interpreter that can make environments, or what is missing.
pub(crate) fn probe(system: &str) -> Result<String, VenvError> {
    let system = system.to_owned();
    let output = match Command::new(&system).args(["-c", PROBE]).output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(VenvError::Missing { system });
        }
        Err(error) => return Err(io("cannot start", Path::new(&system), &error)),
    };
    if !output.status.success() {
        let why = complaint(&output);
        return Err(VenvError::NoVenv { system, why });
    }
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if parse(&version).is_none_or(|found| found < OLDEST) {
        return Err(VenvError::TooOld { system, version });
    }
    Ok(version)
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

fn io(doing: &'static str, path: &Path, error: &std::io::Error) -> VenvError {
    VenvError::Io {
        doing,
        path: path.to_owned(),
        why: error.to_string(),
    }
}

fn run(doing: &'static str, command: &mut Command) -> Result<(), VenvError> {
    let program = PathBuf::from(command.get_program());
    let output = command.output();
    let output = output.map_err(|error| io("cannot start", &program, &error))?;
    if output.status.success() {
        return Ok(());
    }
    let why = complaint(&output);
    Err(VenvError::Failed { doing, why })
}

/// What a command that failed says: the lines that pip marks as errors, or the last line.
fn complaint(output: &Output) -> String {
    // `python -m venv` complains on standard output.
    let text = [&*output.stderr, &*output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    let errors: Vec<&str> = text.lines().filter(|l| l.starts_with("ERROR")).collect();
    if !errors.is_empty() {
        return errors.join("; ");
    }
    let lines = text.lines().map(str::trim).rev();
    let last = lines.clone().find(|line| !line.is_empty());
    last.map_or_else(|| output.status.to_string(), str::to_owned)
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
