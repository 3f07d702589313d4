//! Which Python runs the games.
//!
//! The interpreter that `BREX_PYTHON` names, or else that of an environment of brex's own in the
//! user's data folder, which is made when it is first needed.

use super::error::AtariError;
use super::games::GAMES;
use super::venv::{Venv, probe, system_python};
use super::worker::Worker;
use std::path::PathBuf;

/// What brex's own environment holds.
const REQUIREMENTS: &str = include_str!("requirements.txt");

/// The variable that names an interpreter.
const VARIABLE: &str = "BREX_PYTHON";

/// An interpreter that should have ale-py.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtariPython {
    /// The program.
    pub interpreter: PathBuf,
    /// Whether somebody else made it, and brex only uses it.
    pub foreign: bool,
}

impl AtariPython {
    /// An interpreter that somebody named.
    pub fn named(interpreter: impl Into<PathBuf>) -> Self {
        Self {
            interpreter: interpreter.into(),
            foreign: true,
        }
    }

    /// The interpreter that `BREX_PYTHON` names.
    pub fn from_variable() -> Option<Self> {
        let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
        named.map(Self::named)
    }

    /// The one to use; brex's own environment is made if it is needed and not there. `say` is told
    /// what is done.
    pub fn find_or_make(say: &mut dyn FnMut(&str)) -> Result<Self, AtariError> {
        if let Some(named) = Self::from_variable() {
            return Ok(named);
        }
        let venv = own_venv()?;
        let interpreter = if venv.is_ready() {
            venv.interpreter()
        } else {
            make(&venv, say)?
        };
        Ok(Self {
            interpreter,
            foreign: false,
        })
    }

    /// The program, as messages name it.
    pub(super) fn shown(&self) -> String {
        self.interpreter.display().to_string()
    }

    /// What to do if it cannot run the games.
    pub(super) fn remedy(&self) -> String {
        if !self.foreign {
            return "run `brex doctor --fix`".to_owned();
        }
        let packages = REQUIREMENTS.lines().filter(|line| !line.starts_with('#'));
        let packages: Vec<&str> = packages.collect();
        format!(
            "install what is missing (`{} -m pip install {}`), or unset {VARIABLE} and run \
             `brex doctor --fix`",
            self.shown(),
            packages.join(" ")
        )
    }

    pub(super) fn not_started(&self, why: String) -> AtariError {
        AtariError::NoStart {
            python: self.shown(),
            why,
            remedy: self.remedy(),
        }
    }
}

fn own_venv() -> Result<Venv, AtariError> {
    let folder = own_folder().ok_or_else(|| AtariError::Environment {
        why: format!(
            "there is no folder for a user's data (XDG_DATA_HOME, HOME or LOCALAPPDATA); set one, or \
             name an interpreter that has ale-py in {VARIABLE}"
        ),
    })?;
    Ok(Venv {
        folder,
        requirements: REQUIREMENTS.to_owned(),
    })
}

fn make(venv: &Venv, say: &mut dyn FnMut(&str)) -> Result<PathBuf, AtariError> {
    venv.ensure(say).map_err(|error| AtariError::Environment {
        why: format!("{error}; or name an interpreter that has ale-py in {VARIABLE}"),
    })
}

/// Where brex's own environment is or will be.
fn own_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = std::env::var_os(name)?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    };
    let data = if cfg!(windows) {
        folder("LOCALAPPDATA")?
    } else {
        folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")))?
    };
    Some(data.join("brex").join("python"))
}

/// What there is for Atari on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtariReport {
    /// The interpreter that environments are made with.
    pub system: String,
    /// Its version, or what is wrong with it.
    pub system_version: Result<String, String>,
    /// The interpreter that runs the games, if there is one.
    pub python: Option<AtariPython>,
    /// Where brex's own environment is or would be.
    pub own_folder: Option<PathBuf>,
    /// What the interpreter has, or what is wrong with it.
    pub packages: Result<AtariPackages, String>,
}

/// What an interpreter has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtariPackages {
    /// The version of Python.
    pub python: String,
    /// The version of ale-py.
    pub ale: String,
    /// The version that recordings are made with, if that is another one.
    pub pinned_ale: Option<String>,
    /// The version of numpy.
    pub numpy: String,
    /// How many games have their ROM.
    pub roms: usize,
    /// The ROMs that are missing.
    pub missing_roms: Vec<String>,
}

impl AtariReport {
    /// Looks, and changes nothing.
    pub fn look() -> Self {
        let system = system_python();
        let own = own_venv().ok();
        let ready = own.as_ref().filter(|venv| venv.is_ready());
        let ours = ready.map(|venv| AtariPython {
            interpreter: venv.interpreter(),
            foreign: false,
        });
        let python = AtariPython::from_variable().or(ours);
        let packages = match &python {
            Some(python) => packages(python).map_err(|error| error.to_string()),
            None => Err("there is no Python environment; run `brex doctor --fix`".to_owned()),
        };
        Self {
            system_version: probe(&system).map_err(|error| error.to_string()),
            system,
            python,
            own_folder: own.map(|venv| venv.folder),
            packages,
        }
    }

    /// Makes brex's own environment afresh if anything is wrong with it; does nothing if
    /// `BREX_PYTHON` names an interpreter.
    pub fn mend(&self, say: &mut dyn FnMut(&str)) -> Result<(), AtariError> {
        if AtariPython::from_variable().is_some() {
            return Ok(());
        }
        let venv = own_venv()?;
        if self.python.is_some() && self.packages.is_err() {
            venv.distrust();
        }
        make(&venv, say).map(|_| ())
    }
}

fn packages(python: &AtariPython) -> Result<AtariPackages, AtariError> {
    let roms: Vec<&str> = GAMES.iter().map(|game| game.rom).collect();
    let hello = Worker::check(python, &roms)?;
    let pinned = REQUIREMENTS
        .lines()
        .find_map(|line| line.strip_prefix("ale-py=="));
    Ok(AtariPackages {
        pinned_ale: pinned.filter(|p| *p != hello.ale).map(str::to_owned),
        python: hello.python,
        ale: hello.ale,
        numpy: hello.numpy,
        roms: roms.len() - hello.words.len(),
        missing_roms: hello.words,
    })
}
