//! The posterior over reward weights.

mod algebra;
mod approximation;
mod bounds;
mod convergence;
mod inspect;
mod knowledge;
mod lanes;
mod likelihood;
mod maximum;
mod prior;
mod problem;
mod sample;
mod sampler;
mod simulate;
mod subspace;

pub use algebra::DecompositionError;
pub use bounds::{
    Bound, Doubt, EvaluateError, EvaluateOptions, Evaluation, PolicyEvaluation, RolloutNoise,
    Trust, evaluate, evaluate_returns,
};
pub use convergence::{
    Convergence, ESS_LIMIT, MOST_RETURNS, Quantity, RHAT_LIMIT, check_convergence,
};
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
pub use simulate::{BenchmarkProblem, benchmark_problem};
