//! Judging policies by posterior draws: high-confidence policy evaluation, section 4 of the paper.
//!
//! The return of a policy under the draw `w` is `w . Phi`, with `Phi` its expected feature sums.
//! Over all draws that is a distribution, and its `delta`-quantile is a bound that the true return
//! exceeds with probability `1 - delta`, as far as the posterior is right and the draws have
//! converged. So every bound carries its Monte-Carlo error and a verdict ([`Trust`]), and what the
//! finite number of rollouts adds is told apart from both.

mod evaluate;
mod result;
mod returns;
mod rollouts;
mod samples;
mod trust;

pub use evaluate::{EvaluateError, EvaluateOptions, evaluate, evaluate_returns};
pub use result::{Bound, Evaluation, PolicyEvaluation};
pub use rollouts::RolloutNoise;
pub use samples::evaluate_samples;
pub use trust::{Doubt, Trust};
