//! A posterior as it is stored: draws, what is known about each draw, and how they were made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brex_core::Draws;
use serde_json::{Map, Value};

use crate::StoreError;
use crate::read::read_draws_file;
use crate::zarr_read::{DirectoryStore, read_groups};

/// The directory, inside an output directory, that holds the posterior.
pub const POSTERIOR_NAME: &str = "posterior.zarr";

/// Something known about every draw: chain by chain, one value per draw.
#[derive(Debug, Clone, PartialEq)]
pub enum StatArray {
    /// Real numbers, such as an acceptance rate.
    F64(Vec<f64>),
    /// Whole numbers, such as a number of steps.
    I64(Vec<i64>),
    /// Yes or no, such as whether the draw diverged.
    Bool(Vec<bool>),
}

impl StatArray {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Bool(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A posterior to be written, or one that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct PosteriorFile {
    /// The draws of the reward weights: variable `w` of group `posterior`.
    pub draws: Draws,
    /// The log posterior density of each draw, up to a constant: `lp` of group `sample_stats`.
    pub lp: Option<Vec<f64>>,
    /// More of group `sample_stats`, by name, such as `diverging` and `acceptance_rate`.
    pub sample_stats: BTreeMap<String, StatArray>,
    /// How the draws were made: sampler, seed, prior. They become attributes of group
    /// `posterior`. No time is added, so that the same seed gives the same bytes.
    pub attributes: Map<String, Value>,
}

/// The log likelihood of every comparison under every draw, computed block by block while it is
/// written, because all of it together may not fit in memory.
pub struct LogLikelihood<'a> {
    /// How many comparisons there are.
    pub preferences: usize,
    /// Fills one block: called with the chain, the draws of the block and the place for draws x
    /// comparisons values, draw by draw. Called for each chain in order, from its first draw to
    /// its last.
    pub fill: &'a mut FillBlock<'a>,
}

/// The callback of [`LogLikelihood`].
pub type FillBlock<'a> = dyn FnMut(usize, std::ops::Range<usize>, &mut [f32]) + 'a;

/// Reads a posterior from an output directory that contains `posterior.zarr`, or from that
/// directory itself. If there is no variable `w` but a single other one of three dimensions, that
/// one is taken, so that posteriors from elsewhere can be evaluated. The log likelihood is not
/// read.
pub fn read_posterior(path: impl AsRef<Path>) -> Result<PosteriorFile, StoreError> {
    let root = find_zarr(path.as_ref())?;
    read_groups(&root, &DirectoryStore::new(&root))
}

/// Reads draws from wherever they may be: an output directory or `posterior.zarr` (as
/// [`read_posterior`]), a `.npy` of three dimensions (chain, draw, feature), or any matrix file of
/// draws x features, which counts as one chain.
pub fn read_draws(path: impl AsRef<Path>) -> Result<Draws, StoreError> {
    let path = path.as_ref();
    if path.is_dir() {
        return Ok(read_posterior(path)?.draws);
    }
    read_draws_file(path)
}

fn find_zarr(path: &Path) -> Result<PathBuf, StoreError> {
    let inside = path.join(POSTERIOR_NAME);
    if inside.is_dir() {
        return Ok(inside);
    }
    if path.join("zarr.json").is_file() {
        return Ok(path.to_owned());
    }
    // Says "no such file" where that is the reason.
    std::fs::metadata(path).map_err(crate::error::read_error(path))?;
    let path = path.to_owned();
    let problem = format!("holds no {POSTERIOR_NAME}");
    Err(StoreError::Missing { path, problem })
}
