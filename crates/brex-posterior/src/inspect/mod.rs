//! What is in the preferences, before anything is sampled.

mod lowest;

pub use lowest::lowest_ranked;
