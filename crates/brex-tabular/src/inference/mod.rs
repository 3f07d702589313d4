//! Posteriors over reward weights in a finite MDP, from demonstrations and from preferences.
//!
//! - [`sample_irl`]: Bayesian IRL (Ramachandran and Amir 2007), with an MDP solved for every
//!   proposal; demonstrations to avoid as in Cui and Niekum (2018).
//! - [`sample_preferences`]: Bayesian REX's likelihood under the same priors and with the same
//!   sampler, so that only the evidence differs. (The sphere prior is also that of
//!   `brex_posterior`, which is faster and made for many features.)

mod demonstrations;
mod metropolis;
mod preferences;
mod prior;

pub use demonstrations::{Demonstrations, IrlError, sample_irl};
pub use metropolis::{Inference, InferenceOptions};
pub use preferences::sample_preferences;
pub use prior::WeightPrior;
