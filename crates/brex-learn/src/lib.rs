//! Everything with a neural network, on burn: layers that are fast on a CPU, policies, PPO.

mod extension;
mod kernels;
mod layers;

pub use layers::{Activation, conv_transpose2d, conv2d, linear};
