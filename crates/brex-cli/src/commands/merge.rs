//! `brex merge`: joins the parts of a study that were run with `--shard` in folders of their own.

use super::reproduce::{Coverage, Games, Gridworld, report};
use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::units::{
    Finished, Study, outcome_of, read_configuration, read_lines, same_configuration, write_merged,
};
use anyhow::Result;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Join parts of a study that were run with --shard
///
/// All parts must have the same configuration. A unit that is in several of them must have the
/// same result everywhere. When all units are there the results are written and printed, the same
/// bytes as of a study that was run in one go; otherwise the joined folder can be gone on from
/// with the command that made the parts.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folders of the parts
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace an existing folder that brex merge wrote
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let first = &arguments.folders[0];
    let configuration = read_configuration(first)?;
    match configuration.get("kind").and_then(Value::as_str) {
        Some(Gridworld::KIND) => merge::<Gridworld>(arguments, &configuration, common),
        Some(Coverage::KIND) => merge::<Coverage>(arguments, &configuration, common),
        Some(Games::KIND) => merge::<Games>(arguments, &configuration, common),
        other => {
            let kind = other.unwrap_or("unknown");
            let problem = format!("{}: a study of the kind {kind:?}", first.display());
            Err(BadInput::new(format!("{problem}, which this brex does not know")).into())
        }
    }
}

fn merge<S: Study>(
    arguments: &Arguments,
    configuration: &Map<String, Value>,
    common: &Common,
) -> Result<Outcome> {
    let first = &arguments.folders[0];
    let study = S::from_configuration(configuration)
        .map_err(|problem| BadInput::new(format!("{}: {problem}", first.display())))?;
    let names = study.units();
    let mut joined: BTreeMap<usize, (Finished<S::UnitResult>, &PathBuf)> = BTreeMap::new();
    for folder in &arguments.folders {
        let advice = format!(
            "only parts of one study can be joined ({})",
            first.display()
        );
        same_configuration(folder, &read_configuration(folder)?, configuration, &advice)?;
        for (at, unit) in read_lines(&study, folder)?.finished {
            if let Some((known, other)) = joined.get(&at)
                && known.line != unit.line
            {
                let (other, folder, name) = (other.display(), folder.display(), &names[at]);
                let problem =
                    format!("unit {name} has one result in {other} and another in {folder}");
                return Err(BadInput::new(problem).into());
            }
            joined.insert(at, (unit, folder));
        }
    }
    let joined: BTreeMap<usize, _> = joined
        .into_iter()
        .map(|(at, (unit, _))| (at, unit))
        .collect();
    let progress = (joined.len(), names.len());
    let results = write_merged(&study, &joined, first, (&arguments.out, arguments.force))?;
    report(results.as_ref(), progress, Some(&arguments.out), common)?;
    Ok(outcome_of(&study, &joined))
}
