//! Ways to draw from the posterior, behind one small trait.
//!
//! A sampler sets itself up and warms up in [`Sampler::start`]; the [`Chains`] it gives are then
//! advanced block by block, so that they can be watched, stopped, saved and continued. Adding a
//! sampler is one file that implements the two traits.

mod hmc;
mod random_walk;
mod scalar;
mod slice;

pub use hmc::Hmc;
pub use random_walk::RandomWalk;
pub use slice::EllipticalSlice;

use crate::Problem;
use brex_core::SavedState;
use std::ops::ControlFlow;

/// Where a sampler is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Preparing: decompositions, coordinates.
    SetUp,
    /// Adapting and leaving the starting points behind.
    WarmUp,
    /// Making draws.
    Sampling,
}

/// What a sampler tells while it works.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What it is doing.
    pub stage: Stage,
    /// Steps of this stage done so far; draws of all chains together when sampling.
    pub done: usize,
    /// Steps of this stage in all, where known.
    pub total: Option<usize>,
}

/// Called with every progress; [`ControlFlow::Break`] asks to stop with what there is.
pub type Watch<'a> = dyn Fn(&Progress) -> ControlFlow<()> + Sync + 'a;

/// Why sampling failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The set-up's linear algebra failed.
    #[error(transparent)]
    Decomposition(#[from] crate::DecompositionError),
    /// No point was found that the prior allows.
    #[error("no start inside the prior was found in {tries} tries")]
    NoStart {
        /// How many random points were tried.
        tries: usize,
    },
    /// Stopped before the first draw was made.
    #[error("stopped before the first draw")]
    Stopped,
    /// A saved state that does not belong to this sampler and problem.
    #[error("the saved state does not fit: {0}")]
    State(String),
    /// Data that do not fit together.
    #[error("the simulated data do not fit: {0}")]
    Simulation(String),
    /// A setting out of range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        expected: &'static str,
    },
}

/// Room for the next draws of one chain; its slices are equally many draws long.
#[derive(Debug)]
pub struct ChainBlock<'a> {
    /// The weights: draw after draw, `k` values each.
    pub weights: &'a mut [f64],
    /// The log likelihood of each draw.
    pub log_likelihood: &'a mut [f64],
    /// How likely the step to each draw was to be accepted.
    pub acceptance: &'a mut [f32],
    /// Whether the integrator failed on the way to the draw.
    pub diverging: &'a mut [bool],
}

/// Chains that are under way.
pub trait Chains: Send {
    /// Makes the next draws of every chain: one block per chain, all equally long.
    fn advance(&mut self, blocks: &mut [ChainBlock<'_>]);

    /// Whether the log likelihoods in the blocks are too rough to be reported, although the draws
    /// are right.
    fn log_likelihood_is_rough(&self) -> bool {
        false
    }

    /// What is needed to go on later exactly as if there had been no stop.
    fn save(&self) -> SavedState;
}

/// A way to draw from the posterior.
pub trait Sampler: Sync {
    /// The name that the command line uses.
    fn name(&self) -> &'static str;

    /// How many chains it runs unless told otherwise.
    fn default_chains(&self) -> usize;

    /// The most chains it uses for exactly `draws` draws unless told otherwise.
    fn chains_for(&self, draws: usize) -> usize {
        let _ = draws;
        self.default_chains()
    }

    /// Draws per chain before convergence is looked at for the first time, and the most that are
    /// made unless told otherwise.
    fn default_draws(&self) -> (usize, usize);

    /// Sets up, warms up and gives chains that are ready to draw.
    fn start<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Box<dyn Chains + 'p>, SampleError>;

    /// Takes up chains that were saved.
    fn resume<'p>(
        &self,
        problem: &Problem<'p>,
        chains: usize,
        state: &SavedState,
    ) -> Result<Box<dyn Chains + 'p>, SampleError>;
}

/// The sampler of that name with its default settings.
pub fn sampler_by_name(name: &str) -> Option<Box<dyn Sampler>> {
    match name {
        "hmc" => Some(Box::new(Hmc::default())),
        "random-walk" => Some(Box::new(RandomWalk::default())),
        "slice" => Some(Box::new(EllipticalSlice)),
        _ => None,
    }
}
