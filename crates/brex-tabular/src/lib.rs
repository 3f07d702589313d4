//! Finite Markov decision processes, Bayesian inverse reinforcement learning, and the gridworld
//! study of the Bayesian REX paper.

mod colour;
mod evaluate;
mod gridworld;
mod inference;
mod lane_values;
mod lanes;
mod mdp;
mod picture;
mod policy;
mod published;
mod rollout;
mod solve;
mod study;
mod svg;

pub use evaluate::{expected_features, feature_expectations, policy_values};
pub use gridworld::{CellFeatures, Gridworld, GridworldError};
pub use inference::{
    Demonstrations, Inference, InferenceOptions, IrlError, WeightPrior, sample_irl,
    sample_preferences,
};
pub use mdp::{Mdp, MdpError};
pub use picture::{GridPicture, draw_gridworld};
pub use policy::{StochasticPolicy, StochasticPolicyError};
pub use published::{PUBLISHED_BATCH, PublishedTimes, published_losses, published_losses_timed};
pub use rollout::{Step, discounted_features, rollout};
pub use solve::{
    Solution, action_values, greedy, optimal_actions, policy_iteration, value_iteration,
};
pub use study::{
    ChainQuality, Condition, GridCoverageOptions, GridCoverageRow, JudgedPolicy, LossRow, Method,
    MethodResult, SoundOptions, StudyError, StudyTable, WorldOptions, grid_coverage, paper_losses,
    sound_losses,
};
