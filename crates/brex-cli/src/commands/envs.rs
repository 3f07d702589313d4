//! `brex envs`: which environments there are.

use crate::args::Common;
use crate::exit::Outcome;
use crate::numbers;
use crate::table::{Align, Table};
use crate::terminal::{Style, json_text, print};
use anyhow::Result;
use brex_envs::{Environment, make, names};
use serde_json::{Value, json};

/// List the environments
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(common: &Common) -> Result<Outcome> {
    // No Atari game starts its process before it is played, so Python is not needed here.
    let environments: Vec<Box<dyn Environment>> = names().map(make).collect::<Result<_, _>>()?;
    if common.json {
        let list: Vec<Value> = environments.iter().map(|env| spec_json(&**env)).collect();
        print(&json_text(&list)?)?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(["environment", "version", "frames", "step limit"]);
    table.column("actions", Align::Left);
    for env in &environments {
        let spec = env.spec();
        table.row([
            spec.name.to_owned(),
            spec.version.to_string(),
            format!("{} x {} x {}", spec.stack, spec.height, spec.width),
            numbers::count(spec.step_limit),
            spec.actions.join(" "),
        ]);
    }
    print(&table.show(Style::for_stdout()))?;
    Ok(Outcome::Done)
}

fn spec_json(env: &dyn Environment) -> Value {
    let spec = env.spec();
    let masked = spec.masked_rows.iter();
    let masked: Vec<[usize; 2]> = masked.map(|rows| [rows.start, rows.end]).collect();
    json!({
        "name": spec.name,
        "version": spec.version,
        "actions": spec.actions,
        "stack": spec.stack,
        "height": spec.height,
        "width": spec.width,
        "masked_rows": masked,
        "step_limit": spec.step_limit,
    })
}
