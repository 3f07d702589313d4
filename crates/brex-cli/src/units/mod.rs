//! Studies that are cut into units: independent pieces of work whose results are kept one by one,
//! so that a killed study is resumed and a large one is shared out over machines.
//!
//! A study's folder holds `study.json` (the resolved configuration), `units.jsonl` (one finished
//! unit a line, only ever appended to until all are there) and, when all are there, the results; until
//! then perhaps a page of what is there.
//! Results are computed from the lines as they stand in the file, never from what was in memory:
//! so it does not matter where and in how many goes they came about.

mod configuration;
mod folder;
mod lanes;
mod lines;
mod plan;
mod run;

pub(crate) use configuration::{read_configuration, same_configuration};
pub(crate) use folder::{SO_FAR, StudyFolder, outcome_of, take_lock, write_merged};
pub(crate) use lanes::run_in_lanes;
pub(crate) use lines::{Finished, read_lines};
pub(crate) use plan::Shard;
pub(crate) use run::{Ended, run_units};

use crate::exit::Outcome;
use anyhow::{Result, bail};
use brex_store::StoreError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;

/// The version of the folder's layout.
pub(crate) const FORMAT: u32 = 1;

/// A study: what it is made of, and what becomes of it when all units are there.
/// Serialised, it is everything that the results depend on, with `format` and `kind`.
pub(crate) trait Study: Serialize + DeserializeOwned + Sync {
    /// What a unit comes to.
    type UnitResult: Serialize + DeserializeOwned + Send + Sync;

    /// Whether a study that was read makes sense to this version of brex.
    fn is_usable(&self) -> Result<(), String>;

    /// The study as `study.json` holds it.
    fn configuration(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self)? {
            Value::Object(fields) => Ok(fields),
            other => bail!("a configuration became {other}"),
        }
    }

    /// The study with a configuration.
    fn from_configuration(configuration: &Map<String, Value>) -> Result<Self, String> {
        let configuration = Value::Object(configuration.clone());
        let unusable = |problem: String| format!("study.json cannot be used: {problem}");
        let study: Self =
            serde_json::from_value(configuration).map_err(|error| unusable(error.to_string()))?;
        study.is_usable().map_err(unusable)?;
        Ok(study)
    }

    /// The names of all units, in the order in which results list them.
    fn units(&self) -> Vec<String>;

    /// Units that are best computed together: ranges of their positions, which cover all.
    fn batches(&self) -> Vec<Range<usize>>;

    /// Whether a result that was read can belong to the unit at a position.
    fn check(&self, unit: usize, result: &Self::UnitResult) -> Result<(), String>;

    /// The results, given those of all units in order.
    fn results(&self, units: &[&Self::UnitResult]) -> Result<Results>;

    /// A page to look at before all units are there, given those that are, by their positions. None where
    /// there is nothing to be seen yet.
    fn so_far(&self, _units: &BTreeMap<usize, &Self::UnitResult>) -> Option<String> {
        None
    }

    /// Whether the results can be trusted, given those of all units in order. The text of the
    /// results says why not.
    fn outcome(&self, _units: &[&Self::UnitResult]) -> Outcome {
        Outcome::Done
    }

    /// Every file that results of this kind may consist of, whatever the configuration.
    fn result_names() -> Vec<String>;
}

/// What a finished study comes to.
#[derive(Debug)]
pub(crate) struct Results {
    /// Names and contents of files.
    pub(crate) files: Vec<(String, String)>,
    /// For people.
    pub(crate) text: String,
    /// For programs.
    pub(crate) json: String,
}

fn read_error(path: &Path) -> impl Fn(io::Error) -> StoreError + '_ {
    move |source| StoreError::Read {
        path: path.to_owned(),
        source,
    }
}

fn write_error(path: &Path) -> impl Fn(io::Error) -> StoreError + '_ {
    move |source| StoreError::Write {
        path: path.to_owned(),
        source,
    }
}
