//! What a sampler has to remember so that it can go on later: named arrays, nothing else.

use std::collections::BTreeMap;

/// One named array of a saved state, flat.
#[derive(Debug, Clone, PartialEq)]
pub enum StateArray {
    /// Real numbers.
    F64(Vec<f64>),
    /// Real numbers in single precision.
    F32(Vec<f32>),
    /// Whole numbers: counters and the words of random generators.
    U64(Vec<u64>),
}

/// The state of a sampler as named arrays; any file format can hold it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SavedState {
    /// The arrays by name.
    pub arrays: BTreeMap<String, StateArray>,
}
