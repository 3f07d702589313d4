//! Proximal policy optimisation (Schulman et al., 2017), with the details that make it work.
//!
//! [`Trainer`] holds an agent and its environments; each call of [`Trainer::update`] plays a few
//! steps in every environment ([`collect`]), looks how much better than expected each action was
//! ([`advantage`]) and moves the network accordingly ([`improve`]). Everything random is keyed by
//! the seed and the number of the update, and where the environments stand is part of a checkpoint,
//! so that a training that was stopped goes on as if it had not been.

mod advantage;
mod collect;
mod config;
mod improve;
mod reward;
mod trainer;

pub use config::{ConfigError, PpoConfig};
pub use improve::UpdateStatistics;
pub(crate) use reward::Scaler;
pub use reward::{PlayedSteps, RewardFunction, RewardLesson, RewardScale, RewardState};
pub(crate) use trainer::adam_config;
pub use trainer::{PlayedEpisode, TrainError, Trainer, UpdateReport};
