//! Policies, encoders and trainings as files: safetensors, with what they are in the header.
//!
//! A policy holds a network and where it comes from. A training holds all that is needed to go on
//! as if it had not been stopped: the network, Adam's moments, the scale of rewards, and where every
//! environment stands.

mod container;
mod encoder;
mod policy;
mod pretraining;
mod training;

pub use container::CheckpointError;
pub use encoder::{EncoderFile, EncoderSource};
pub use policy::PolicyFile;
pub use pretraining::PretrainingFile;
pub use training::{ResumeError, TrainingFile};
