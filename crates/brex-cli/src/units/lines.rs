//! `units.jsonl`: one finished unit a line, `{"unit":"7/000012","result":...}`.
//!
//! A line is written at once, with its end. So a last line without an end is what a killed process
//! leaves, and that unit is done again; anything else that cannot be read is damage that somebody
//! has to look at.

use super::Study;
use anyhow::Result;
use brex_store::StoreError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

/// The file's name.
pub(super) const UNITS: &str = "units.jsonl";

#[derive(Serialize)]
struct LineToWrite<'a, R> {
    unit: &'a str,
    result: &'a R,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineRead<R> {
    unit: String,
    result: R,
}

/// A finished unit: its line, without the end, and the result that the line gives when read.
#[derive(Debug)]
pub(crate) struct Finished<R> {
    pub(crate) line: String,
    pub(crate) result: R,
}

impl<R> Finished<R> {
    /// Writes a result as a line. What is kept is what a reader of the line will see.
    pub(super) fn of<S: Study<UnitResult = R>>(
        study: &S,
        at: usize,
        unit: &str,
        result: &R,
    ) -> Result<Self>
    where
        R: Serialize + for<'de> Deserialize<'de>,
    {
        let line = serde_json::to_string(&LineToWrite { unit, result })?;
        let read: LineRead<R> = serde_json::from_str(&line)
            .map_err(|error| anyhow::anyhow!("unit {unit}: its result cannot be kept: {error}"))?;
        study
            .check(at, &read.result)
            .map_err(|problem| anyhow::anyhow!("unit {unit}: {problem}"))?;
        let result = read.result;
        Ok(Self { line, result })
    }
}

/// What a file of units holds.
pub(crate) struct Lines<R> {
    /// The units, by their positions in the study.
    pub(crate) finished: BTreeMap<usize, Finished<R>>,
    /// How many bytes of the file are whole lines.
    pub(super) whole_bytes: u64,
    /// Whether there is something after these.
    pub(super) torn: bool,
}

/// Reads the units in a study's folder. No file is no units.
pub(crate) fn read_lines<S: Study>(study: &S, directory: &Path) -> Result<Lines<S::UnitResult>> {
    let path = directory.join(UNITS);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(StoreError::Read { path, source }.into()),
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = whole.map_or(0, |last| last + 1);
    let units = study.units();
    let positions: HashMap<&str, usize> = units
        .iter()
        .enumerate()
        .map(|(at, unit)| (unit.as_str(), at))
        .collect();
    let mut finished = BTreeMap::new();
    for (number, line) in bytes[..whole]
        .split_inclusive(|byte| *byte == b'\n')
        .enumerate()
    {
        let damaged = |problem: String| StoreError::Line {
            path: path.clone(),
            line: number as u64 + 1,
            problem,
        };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (at, read) = read_line(study, &positions, line).map_err(damaged)?;
        if let Some(before) = finished.insert(at, read)
            && before.line.as_bytes() != line
        {
            let problem = format!(
                "unit {} stands here twice, with different results",
                units[at]
            );
            return Err(damaged(problem).into());
        }
    }
    Ok(Lines {
        finished,
        whole_bytes: whole as u64,
        torn: whole < bytes.len(),
    })
}

fn read_line<S: Study>(
    study: &S,
    positions: &HashMap<&str, usize>,
    line: &[u8],
) -> Result<(usize, Finished<S::UnitResult>), String> {
    let advice = "the file is damaged; remove the line to have its unit done again";
    let read: LineRead<S::UnitResult> = serde_json::from_slice(line)
        .map_err(|error| format!("not a finished unit: {error}; {advice}"))?;
    let at = positions.get(read.unit.as_str());
    let at = *at.ok_or_else(|| format!("{:?} is no unit of this study; {advice}", read.unit))?;
    study
        .check(at, &read.result)
        .map_err(|problem| format!("unit {}: {problem}; {advice}", read.unit))?;
    let line = String::from_utf8(line.to_vec()).map_err(|_| format!("not UTF-8; {advice}"))?;
    let result = read.result;
    Ok((at, Finished { line, result }))
}

/// The file's text for units in order.
pub(super) fn text_of<R>(finished: &BTreeMap<usize, Finished<R>>) -> String {
    let mut text = String::new();
    for unit in finished.values() {
        text.push_str(&unit.line);
        text.push('\n');
    }
    text
}
