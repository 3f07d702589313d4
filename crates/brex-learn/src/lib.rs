//! Everything with a neural network, on burn: layers that are fast on a CPU, policies, PPO.

mod adam;
mod agent;
mod baselines;
mod checkpoint;
mod cloning;
mod demonstrated;
mod device;
mod extension;
mod gail;
mod kernels;
mod layers;
mod networks;
mod observations;
mod parameters;
mod phi;
mod play;
mod ppo;
mod pretrain;

pub use adam::{Adam, AdamConfig};
pub use agent::{Agent, Choices};
pub use baselines::{LinearReward, dropout_samples, ensemble_samples};
pub use burn::tensor::Device;
pub use checkpoint::{
    CheckpointError, EncoderFile, EncoderSource, PolicyFile, PretrainingFile, ResumeError,
    TrainingFile,
};
pub use cloning::{CloneCheck, CloneConfig, CloneError, Cloner};
pub use demonstrated::DemonstratedSteps;
pub use device::{DeviceError, DeviceKind, DeviceName};
pub use gail::{Gail, GailConfig, GailReward};
pub use layers::{Activation, conv_transpose2d, conv2d, linear};
pub use networks::{
    ConvolutionShape, Decoder, DecoderShape, Discriminator, DiscriminatorShape, Encoded, Encoder,
    EncoderShape, PolicyNetwork, PolicyShape, PretrainNetwork, PretrainShape,
};
pub use observations::observation_tensor;
pub use parameters::{Array, Arrays, ParameterError, parameters, with_parameters};
pub use phi::{
    AverageReward, FeatureSum, LearnedReward, Phi, Squash, replayed_prefix, replayed_sums,
};
pub use play::{Choice, play_episodes, play_noisy_episodes};
pub use ppo::{
    ConfigError, PlayedEpisode, PlayedSteps, PpoConfig, RewardFunction, RewardLesson, RewardScale,
    RewardState, TrainError, Trainer, UpdateReport, UpdateStatistics,
};
pub use pretrain::{
    DemonstrationError, EncoderCheck, LossWeights, Losses, PretrainConfig, PretrainError,
    PretrainReport, Pretrainer, RankedDemonstrations, Reconstruction, Sampling, SeenEpisode,
    dropout_mask,
};
