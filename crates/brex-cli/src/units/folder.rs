//! A study's folder: opened by one process at a time, compared with the configuration that is
//! asked for, appended to, and closed with the results when all units are there.

use super::configuration::{CONFIGURATION, parsed, read_configuration, same_configuration};
use super::lines::{Finished, UNITS, read_lines, text_of};
use super::{Results, Study, read_error, write_error};
use crate::exit::{BadInput, Outcome};
use crate::run_files::write_text;
use crate::terminal::json_text;
use anyhow::{Context, Result};
use brex_store::AtomicDir;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const LOCK: &str = ".lock";
/// What is there to be looked at until all units are.
pub(crate) const SO_FAR: &str = "so-far.html";

/// The units of a study that are done, in a folder or only in memory.
pub(crate) struct StudyFolder<'s, S: Study> {
    study: &'s S,
    units: Vec<String>,
    finished: BTreeMap<usize, Finished<S::UnitResult>>,
    place: Option<Place>,
}

struct Place {
    directory: PathBuf,
    log: File,
    /// Held as long as the folder is open.
    _lock: File,
}

impl<'s, S: Study> StudyFolder<'s, S> {
    /// Keeps everything in memory only.
    pub(crate) fn in_memory(study: &'s S) -> Self {
        Self {
            study,
            units: study.units(),
            finished: BTreeMap::new(),
            place: None,
        }
    }

    /// Opens a folder to go on from, or makes it. With `force`, what an earlier study of the same
    /// kind left there is removed.
    pub(crate) fn open(study: &'s S, directory: &Path, force: bool) -> Result<Self> {
        refuse_other_things(directory)?;
        let create = |path: &Path| fs::create_dir_all(path).map_err(write_error(path));
        create(directory)?;
        let lock = take_lock(directory)?;
        let wanted = study.configuration()?;
        let text = json_text(&wanted)?;
        let there = directory.join(CONFIGURATION).exists();
        if there && force {
            start_anew::<S>(directory, &wanted)?;
        } else if there {
            let found = read_configuration(directory)?;
            let advice = "choose another --out, or start anew with --force";
            same_configuration(directory, &found, &parsed(&text)?, advice)?;
        }
        if force || !there {
            write_text(&directory.join(CONFIGURATION), &text)?;
        }
        let lines = read_lines(study, directory)?;
        let path = directory.join(UNITS);
        let log = OpenOptions::new().create(true).append(true).open(&path);
        let log = log.map_err(write_error(&path))?;
        if lines.torn {
            log.set_len(lines.whole_bytes).map_err(write_error(&path))?;
        }
        Ok(Self {
            study,
            units: study.units(),
            finished: lines.finished,
            place: Some(Place {
                directory: directory.to_owned(),
                log,
                _lock: lock,
            }),
        })
    }

    /// Whether a unit is there.
    pub(crate) fn has(&self, unit: usize) -> bool {
        self.finished.contains_key(&unit)
    }

    /// How many units are there, and how many there will be.
    pub(crate) fn progress(&self) -> (usize, usize) {
        (self.finished.len(), self.units.len())
    }

    /// Keeps the results of units.
    pub(crate) fn add(&mut self, units: &[usize], results: &[S::UnitResult]) -> Result<()> {
        anyhow::ensure!(
            units.len() == results.len(),
            "{} units gave {} results",
            units.len(),
            results.len()
        );
        for (unit, result) in units.iter().zip(results) {
            let finished = Finished::of(self.study, *unit, &self.units[*unit], result)?;
            if let Some(place) = &mut self.place {
                place.append(&finished.line)?;
            }
            self.finished.insert(*unit, finished);
        }
        if let Some(place) = &self.place {
            place.log.sync_data().map_err(|error| place.failed(error))?;
            write_so_far(self.study, &self.finished, &place.directory)?;
        }
        Ok(())
    }

    /// Whether the results can be trusted. Nothing is wrong with those that are not there yet.
    pub(crate) fn outcome(&self) -> Outcome {
        outcome_of(self.study, &self.finished)
    }

    /// The results, written into the folder, if all units are there; else a page of those that are.
    pub(crate) fn finish(self) -> Result<Option<Results>> {
        let Some(results) = results_of(self.study, &self.finished)? else {
            if let Some(place) = &self.place {
                write_so_far(self.study, &self.finished, &place.directory)?;
            }
            return Ok(None);
        };
        if let Some(place) = &self.place {
            write_finished(&place.directory, &self.finished, &results)?;
            remove(&place.directory.join(SO_FAR))?;
        }
        Ok(Some(results))
    }
}

impl Place {
    /// Adds a line with one write.
    fn append(&mut self, line: &str) -> Result<()> {
        let line = format!("{line}\n");
        self.log
            .write_all(line.as_bytes())
            .map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> anyhow::Error {
        let path = self.directory.join(UNITS);
        anyhow::Error::from(error).context(format!(
            "{}: cannot write; what was done before is kept",
            path.display()
        ))
    }
}

/// Whether the results can be trusted, if all units are there.
pub(crate) fn outcome_of<S: Study>(
    study: &S,
    finished: &BTreeMap<usize, Finished<S::UnitResult>>,
) -> Outcome {
    if finished.len() < study.units().len() {
        return Outcome::Done;
    }
    let units: Vec<&S::UnitResult> = finished.values().map(|unit| &unit.result).collect();
    study.outcome(&units)
}

/// The results, if all units are there.
fn results_of<S: Study>(
    study: &S,
    finished: &BTreeMap<usize, Finished<S::UnitResult>>,
) -> Result<Option<Results>> {
    if finished.len() < study.units().len() {
        return Ok(None);
    }
    let units: Vec<&S::UnitResult> = finished.values().map(|unit| &unit.result).collect();
    study.results(&units).map(Some)
}

/// Leaves a page to look at while units are missing.
fn write_so_far<S: Study>(
    study: &S,
    finished: &BTreeMap<usize, Finished<S::UnitResult>>,
    directory: &Path,
) -> Result<()> {
    let there = finished.iter().map(|(at, unit)| (*at, &unit.result));
    if finished.len() < study.units().len()
        && let Some(page) = study.so_far(&there.collect())
    {
        write_text(&directory.join(SO_FAR), &page)?;
    }
    Ok(())
}

/// Leaves the units in their order, whatever the order they came in, and the results.
fn write_finished<R>(
    directory: &Path,
    finished: &BTreeMap<usize, Finished<R>>,
    results: &Results,
) -> Result<()> {
    let path = directory.join(UNITS);
    let sorted = text_of(finished);
    if fs::read(&path).map_or(true, |bytes| bytes != sorted.as_bytes()) {
        write_text(&path, &sorted)?;
    }
    for (name, text) in &results.files {
        write_text(&directory.join(name), text)?;
    }
    Ok(())
}

/// Writes joined units, and the results if all are there, as a new folder. `from` is where the
/// configuration comes from.
pub(crate) fn write_merged<S: Study>(
    study: &S,
    finished: &BTreeMap<usize, Finished<S::UnitResult>>,
    from: &Path,
    (directory, force): (&Path, bool),
) -> Result<Option<Results>> {
    let out = AtomicDir::create(directory, force)?;
    let path = from.join(CONFIGURATION);
    let configuration = fs::read_to_string(&path).map_err(read_error(&path))?;
    write_text(&out.path().join(CONFIGURATION), &configuration)?;
    let results = results_of(study, finished)?;
    match &results {
        Some(results) => write_finished(out.path(), finished, results)?,
        None => {
            write_text(&out.path().join(UNITS), &text_of(finished))?;
            write_so_far(study, finished, out.path())?;
        }
    }
    out.commit()?;
    Ok(results)
}

/// A folder that is neither new, nor empty, nor a study is left alone.
fn refuse_other_things(directory: &Path) -> Result<()> {
    let shown = directory.display();
    if fs::symlink_metadata(directory).is_err() || directory.join(CONFIGURATION).exists() {
        return Ok(());
    }
    if !directory.is_dir() {
        return Err(BadInput::new(format!("{shown}: not a directory")).into());
    }
    let entries = fs::read_dir(directory).map_err(read_error(directory))?;
    // What a process leaves that was killed before it had written the configuration.
    let begun =
        |name: &str| name == LOCK || name.starts_with(&format!(".{CONFIGURATION}.brex-tmp"));
    for entry in entries {
        let name = entry.map_err(read_error(directory))?.file_name();
        if !begun(&name.to_string_lossy()) {
            let problem = "there are files in it, but it is not a study; choose another directory";
            return Err(BadInput::new(format!("{shown}: {problem}")).into());
        }
    }
    Ok(())
}

/// One process at a time. The system drops the lock when the process ends, however it ends.
pub(crate) fn take_lock(directory: &Path) -> Result<File> {
    let path = directory.join(LOCK);
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let file = file.map_err(write_error(&path))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let shown = directory.display();
            let problem = "another brex is at work here; wait for it, or use another --out";
            Err(BadInput::new(format!("{shown}: {problem}")).into())
        }
        // Where the file system knows no locks, do without.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Removes what an earlier study of the same kind left.
fn start_anew<S: Study>(directory: &Path, wanted: &Map<String, Value>) -> Result<()> {
    let found = read_configuration(directory)?;
    let kind = |configuration: &Map<String, Value>| configuration.get("kind").cloned();
    if kind(&found) != kind(wanted) {
        let shown = directory.display();
        let problem = "holds a study of another kind; choose another --out";
        return Err(BadInput::new(format!("{shown}: {problem}")).into());
    }
    // The results first: no moment shows results without their units.
    let others = [SO_FAR, UNITS].map(str::to_owned);
    for name in S::result_names().into_iter().chain(others) {
        remove(&directory.join(name))?;
    }
    Ok(())
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}: cannot remove", path.display()))
        }
        _ => Ok(()),
    }
}
