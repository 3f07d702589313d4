//! Every file format that brex reads and writes.
mod array;
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
mod preference_row;
mod preference_text;
mod preferences;
mod read;
mod tensors;
pub use error::StoreError;
pub use policies::{policies_from_bytes, read_policies};
pub use preferences::{
    PreferenceFile, PreferenceFormat, ReferredBy, preferences_from_bytes, read_preferences,
};
pub use read::{TableFormat, features_from_bytes, read_features, read_matrix, read_vector};
