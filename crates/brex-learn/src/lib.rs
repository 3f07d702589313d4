//! Everything with a neural network, on burn: layers that are fast on a CPU, policies, PPO.

mod adam;
mod clip;
mod extension;
mod kernels;
mod layers;

pub use adam::Adam;
pub use clip::clip_global_norm;
pub use layers::{Activation, conv_transpose2d, conv2d, linear};
