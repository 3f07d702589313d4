//! Finite Markov decision processes, Bayesian inverse reinforcement learning, and the gridworld
//! study of the Bayesian REX paper.

mod mdp;
mod study;

pub use mdp::{Mdp, MdpError};
pub use study::{ChainQuality, LossRow, MethodResult, StudyTable, paper_losses};
