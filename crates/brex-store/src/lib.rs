//! Every file format that brex reads and writes.
//!
//! **In**: feature sums from `.npy`, `.npz`, `.safetensors`, `.parquet` and `.csv`
//! ([`read_features`]); comparisons from `.csv` and `.jsonl` ([`read_preferences`]); policies from
//! `.json` or any of the table files ([`read_policies`]); draws that others made ([`read_draws`]).
//!
//! **Out, and in again**: a posterior as Zarr in the layout that ArviZ reads
//! ([`write_posterior`], [`read_posterior`]) and the state of a sampler as safetensors
//! ([`write_state`], [`read_state`]); recorded episodes as JSON ([`write_episode`],
//! [`read_episode`]). Matrices and draws also go to `.npy`, learning curves to TensorBoard
//! ([`EventFile`]).
//!
//! # What holds everywhere
//!
//! - **Errors say where.** A [`StoreError`] names the file, and the line and field or the row and
//!   column, what was expected and what was found.
//! - **Input is hostile.** What a header claims is measured against the bytes that are there before
//!   anything is allocated; compressed data may not be absurdly larger than its file; pickles are
//!   never loaded. The readers are fuzzed, and the attacks are kept as a test.
//! - **Output is whole or absent.** [`AtomicDir`] and [`write_atomic`] write under a temporary name
//!   and rename; a killed run or a full disk leaves nothing half-done. What exists is not
//!   overwritten unless that is asked for.
//! - **The same content gives the same bytes.** No time and no order of a hash map gets into a
//!   file.
//!
//! # A complete example
//!
//! ```
//! use std::collections::BTreeMap;
//! use brex_core::Draws;
//! use brex_store::{
//!     AtomicDir, PosteriorFile, read_features, read_posterior, read_preferences, write_posterior,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let home = home.path();
//! // Two files are enough.
//! std::fs::write(home.join("features.csv"), "id,x,y\nslow,1,0\nfast,4,1\nwild,9,7\n")?;
//! std::fs::write(home.join("preferences.csv"), "worse,better\nslow,fast\nwild,fast\n")?;
//! let features = read_features(home.join("features.csv"))?;
//! let file = read_preferences(home.join("preferences.csv"), &features)?;
//! assert_eq!(file.preferences.items()[1].a, 2);
//!
//! // A mistake is named by line and field.
//! std::fs::write(home.join("preferences.csv"), "worse,better\nslow,fasst\n")?;
//! let error = read_preferences(home.join("preferences.csv"), &features).unwrap_err();
//! assert!(error.to_string().ends_with(
//!     "line 2, better: no trajectory has the id \"fasst\"; did you mean \"fast\"?"
//! ));
//!
//! // A sampler would make these draws: two chains of three draws of two weights.
//! let posterior = PosteriorFile {
//!     draws: Draws::new(2, 3, 2, (0..12).map(f64::from).collect())?,
//!     lp: None,
//!     sample_stats: BTreeMap::new(),
//!     attributes: [("seed".to_owned(), 7.into())].into_iter().collect(),
//! };
//! let out = AtomicDir::create(home.join("run"), false)?;
//! write_posterior(out.path(), &posterior, None)?;
//! out.commit()?;
//!
//! let read = read_posterior(home.join("run"))?;
//! assert_eq!(read.draws.get(1, 2), [10.0, 11.0]);
//! # Ok(())
//! # }
//! ```

mod array;
mod atomic;
mod csv_lines;
mod csv_table;
mod episode;
mod error;
mod guard;
mod npy;
mod npy_header;
mod npz;
mod parquet_column;
mod parquet_footer;
mod parquet_pages;
mod parquet_table;
mod policies;
mod posterior;
mod preference_row;
mod preference_text;
mod preferences;
mod read;
mod run_features;
mod state;
mod temporary;
mod tensorboard;
mod tensors;
mod thrift;
mod write;
mod zarr_array;
mod zarr_metadata;
mod zarr_read;
mod zarr_write;

pub use atomic::{AtomicDir, write_atomic};
pub use episode::{episode_from_bytes, read_episode, write_episode};
pub use error::StoreError;
pub use policies::{policies_from_bytes, read_policies};
pub use posterior::{
    FillBlock, LogLikelihood, POSTERIOR_NAME, PosteriorFile, StatArray, read_draws, read_posterior,
};
pub use preferences::{
    PreferenceFile, PreferenceFormat, ReferredBy, preferences_from_bytes, read_preferences,
};
pub use read::{TableFormat, features_from_bytes, read_features, read_matrix, read_vector};
pub use run_features::{
    EpisodeSums, RunFeatures, RunPolicy, read_run_features, run_features_from_bytes,
    write_run_features,
};
pub use state::{read_state, state_from_bytes, write_state};
pub use tensorboard::EventFile;
pub use write::{write_npy, write_npy_draws, write_npy_vector, write_preferences_csv};
pub use zarr_read::posterior_from_bytes;
pub use zarr_write::write_posterior;
