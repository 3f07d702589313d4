//! Finite Markov decision processes, Bayesian inverse reinforcement learning, and the gridworld
//! study of the Bayesian REX paper.

mod inference;
mod lane_values;
mod lanes;
mod mdp;
mod published;
mod study;

pub use inference::{
    Demonstrations, Inference, InferenceOptions, IrlError, WeightPrior, sample_irl,
    sample_preferences,
};
pub use mdp::{Mdp, MdpError};
pub use published::{PUBLISHED_BATCH, published_losses};
pub use study::{ChainQuality, LossRow, MethodResult, StudyTable, paper_losses};
