//! The posterior over reward weights, given preferences between trajectories.
//!
//! Implements the inference of Bayesian Reward Extrapolation (Brown, Coleman, Srinivasan and Niekum,
//! ICML 2020): rewards are linear in features, `R(s) = w . phi(s)`; returns are dot products with
//! cached feature sums; comparisons follow Bradley and Terry; and what the draws of `w` say about a
//! policy's return becomes a bound. Past the paper there are samplers that converge, diagnostics that
//! say whether they did (Vehtari and others 2021), and bounds with Monte-Carlo errors.
//!
//! ```
//! use brex_core::{Matrix, Policy, Preferences};
//! use brex_posterior::{EvaluateOptions, Hmc, Prior, Problem, SampleOptions, evaluate, sample};
//! use std::ops::ControlFlow;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Four trajectories with two features each, ranked from worst to best.
//! let features = Matrix::new(4, 2, vec![1.0, 4.0, 2.0, 3.0, 5.0, 3.5, 7.0, 1.0])?;
//! let preferences = Preferences::full_ranking(4);
//! let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0)?;
//!
//! let watch = |_: &_| ControlFlow::Continue(());
//! let run = sample(&problem, &Hmc::default(), &SampleOptions::default(), None, &watch)?;
//! assert!(run.convergence.converged);
//!
//! let policies = [
//!     Policy::new("sure", Matrix::new(1, 2, vec![6.0, 2.0])?, None)?,
//!     Policy::new("risky", Matrix::new(1, 2, vec![6.0, -9.0])?, None)?,
//! ];
//! let evaluation = evaluate(&run.sampled.draws, &policies, &EvaluateOptions::default())?;
//! for policy in &evaluation.policies {
//!     let bound = &policy.bounds[0];
//!     println!("{}: {:.1} ± {:.1}", policy.name, bound.var, bound.var_mcse);
//! }
//! # Ok(())
//! # }
//! ```

mod algebra;
mod approximation;
mod bounds;
mod convergence;
mod coverage;
mod inspect;
mod knowledge;
mod lanes;
mod likelihood;
mod maximum;
mod prior;
mod problem;
mod sample;
mod sampler;
mod sharpness;
mod simulate;
mod subspace;
mod suspicion;

pub use algebra::DecompositionError;
pub use bounds::{
    Bound, Doubt, EvaluateError, EvaluateOptions, Evaluation, PolicyEvaluation, RolloutNoise,
    Trust, evaluate, evaluate_returns, evaluate_samples,
};
pub use convergence::{
    Convergence, ESS_LIMIT, MOST_RETURNS, Quantity, RHAT_LIMIT, check_convergence,
};
pub use coverage::{CoverageOptions, CoverageRow, Departure, Judged, coverage};
pub use inspect::{
    Answers, ComparisonGraph, Contradiction, Cycle, Degrees, FeatureScale, Inspection, cycles,
    inspect, lowest_ranked,
};
pub use knowledge::{Knowledge, knowledge};
pub use likelihood::Likelihood;
pub use maximum::{Maximum, best_of_chain, maximum_a_posteriori};
pub use prior::Prior;
pub use problem::{Problem, ProblemError};
pub use sample::{Length, Run, SampleOptions, Sampled, Timing, sample};
pub use sampler::{
    ChainBlock, Chains, EllipticalSlice, Hmc, Progress, RandomWalk, SampleError, Sampler, Stage,
    Watch, sampler_by_name,
};
pub use sharpness::{Sharpness, SharpnessError, TriedSharpness, find_sharpness};
pub use simulate::{BenchmarkProblem, benchmark_problem};
pub use suspicion::{Repetition, Suspicion, suspicions};
