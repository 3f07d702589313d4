//! Finite Markov decision processes, Bayesian inverse reinforcement learning, and the gridworld
//! study of the Bayesian REX paper.

mod lane_values;
mod lanes;
mod mdp;
mod published;
mod study;

pub use mdp::{Mdp, MdpError};
pub use published::{PUBLISHED_BATCH, published_losses};
pub use study::{ChainQuality, LossRow, MethodResult, StudyTable, paper_losses};
