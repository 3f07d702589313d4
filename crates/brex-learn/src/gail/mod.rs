//! Generative adversarial imitation learning (Ho and Ermon, 2016), the imitation that the paper
//! compares with.
//!
//! A discriminator learns to tell what experts see and do from what the agent sees and does, and the
//! agent is paid for being taken for an expert. Here that is a [`RewardFunction`]: PPO asks it what
//! each step was worth, and lets it learn from the same steps afterwards.
//!
//! Ho and Ermon, and the paper's code, use trust region policy optimisation for the agent. Its
//! promise is that the policy moves a little in each update, which the clipped objective of PPO keeps
//! as well, without conjugate gradients and with the machinery that every other agent here is
//! trained by: what is compared are then rewards, not optimisers.
//!
//! [`RewardFunction`]: crate::RewardFunction

mod config;
mod lesson;
mod reward;

pub use config::{GailConfig, GailReward};
pub use reward::Gail;
