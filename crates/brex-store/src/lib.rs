//! Every file format that brex reads and writes.
mod array;
mod atomic;
mod csv_lines;
mod csv_table;
mod error;
mod guard;
mod npy;
mod npy_header;
mod npz;
mod parquet_column;
mod parquet_pages;
mod parquet_table;
mod policies;
mod posterior;
mod preference_row;
mod preference_text;
mod preferences;
mod read;
mod state;
mod temporary;
mod tensors;
mod write;
mod zarr_array;
mod zarr_read;
mod zarr_write;

pub use atomic::{AtomicDir, write_atomic};
pub use error::StoreError;
pub use policies::{policies_from_bytes, read_policies};
pub use posterior::{
    FillBlock, LogLikelihood, POSTERIOR_NAME, PosteriorFile, StatArray, read_draws, read_posterior,
};
pub use preferences::{
    PreferenceFile, PreferenceFormat, ReferredBy, preferences_from_bytes, read_preferences,
};
pub use read::{TableFormat, features_from_bytes, read_features, read_matrix, read_vector};
pub use state::{read_state, state_from_bytes, write_state};
pub use write::{write_npy, write_npy_draws, write_preferences_csv};
pub use zarr_read::posterior_from_bytes;
pub use zarr_write::write_posterior;
