//! The vocabulary of brex: what the other crates talk about, and the statistics they share.
//!
//! - [`Matrix`], [`FeatureTable`]: cached feature sums `Phi_i = sum over s in trajectory i of phi(s)`;
//! - [`Preference`], [`Preferences`]: comparisons between trajectories;
//! - [`Policy`]: the policy to judge, as expected feature sums or as rollouts;
//! - [`Draws`]: samples of the reward weights, chain by chain;
//! - [`Episode`]: a recorded episode, as actions that can be played again;
//! - [`stream`]: random streams keyed by (seed, purpose, index), so that results do not depend on
//!   the number of threads;
//! - [`dispatch`]: loops compiled for the vector instructions at hand;
//! - quantiles, effective sample sizes, R-hat and Monte-Carlo errors.
//!
//! No files, no clock, no network.

mod draws;
mod episode;
mod features;
mod matrix;
mod policy;
mod preference;
mod random;
mod state;
mod stats;
mod vectorised;

pub use draws::Draws;
pub use episode::{Episode, EpisodeFrames, EpisodeSum};
pub use features::{FeatureError, FeatureTable};
pub use matrix::{Matrix, ShapeError};
pub use policy::{Policy, PolicyError};
pub use preference::{Preference, PreferenceError, Preferences};
pub use random::{Stream, stream, stream_from_words, stream_words};
pub use state::{SavedState, StateArray};
pub use stats::{
    Diagnosis, QuantileDiagnosis, Workspace, cvar, cvar_of_sorted, diagnose, ess_mean, mcse_mean,
    r_squared, rank_correlation, value_at_risk, value_at_risk_of_sorted,
};
pub use vectorised::{Task, dispatch, exp_lane, keep_lanes, ln_lane};
