//! The networks: what they are made of, and how they begin.

mod initial;
mod policy;

pub use policy::{ConvolutionShape, PolicyNetwork, PolicyShape};
