//! `brex export`: draws for programs that do not read Zarr.

use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::numbers;
use crate::terminal::{json_text, print};
use anyhow::Result;
use brex_store::{StoreError, read_draws, write_npy_draws};
use serde_json::json;
use std::path::PathBuf;

/// Write the draws of a posterior as one .npy array
///
/// The array has one row per draw, all chains in order, and one column per feature.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A directory that `brex sample` wrote
    #[arg(long, value_name = "DIR")]
    pub(crate) posterior: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE.npy")]
    pub(crate) draws: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    if arguments
        .draws
        .extension()
        .is_none_or(|extension| extension != "npy")
    {
        let path = arguments.draws.display();
        return Err(BadInput::new(format!(
            "{path}: draws are written as .npy; end the name so"
        ))
        .into());
    }
    if !arguments.force && arguments.draws.exists() {
        let path = arguments.draws.clone();
        return Err(StoreError::Exists { path }.into());
    }
    let draws = read_draws(&arguments.posterior)?;
    write_npy_draws(&arguments.draws, &draws, arguments.force)?;
    if common.json {
        let result = json!({
            "file": arguments.draws.display().to_string(),
            "chains": draws.chains(),
            "draws": draws.len(),
            "features": draws.dim(),
        });
        print(&json_text(&result)?)?;
    } else {
        print(&format!(
            "{}: {} draws ({} chains, in order) x {} features\n",
            arguments.draws.display(),
            numbers::count(draws.len()),
            draws.chains(),
            numbers::count(draws.dim())
        ))?;
    }
    Ok(Outcome::Done)
}
