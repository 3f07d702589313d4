//! Everything with a neural network, on burn: layers that are fast on a CPU, policies, PPO.

mod adam;
mod agent;
mod checkpoint;
mod clip;
mod extension;
mod fused_adam;
mod kernels;
mod layers;
mod networks;
mod observations;
mod parameters;
mod play;
mod ppo;

pub use adam::{Adam, AdamConfig};
pub use agent::{Agent, Choices};
pub use burn::tensor::Device;
pub use checkpoint::{CheckpointError, PolicyFile, ResumeError, TrainingFile};
pub use clip::clip_global_norm;
pub use fused_adam::FusedAdam;
pub use layers::{Activation, conv_transpose2d, conv2d, linear};
pub use networks::{ConvolutionShape, PolicyNetwork, PolicyShape};
pub use observations::observation_tensor;
pub use parameters::{Array, Arrays, ParameterError, parameters, with_parameters};
pub use play::play_episodes;
pub use ppo::{
    ConfigError, PlayedEpisode, PpoConfig, RewardFunction, RewardScale, TrainError, Trainer,
    UpdateReport, UpdateStatistics,
};
