//! nuts-rs on a log density.

use crate::target::Target;
use brex_core::{Draws, Stream, stream};
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings,
};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::collections::HashMap;

/// A log density that nuts-rs can sample: a state, and the weights that follow from it.
pub(crate) trait Density: Clone {
    /// The number of coordinates.
    fn dim(&self) -> usize;
    /// The log density and its gradient.
    fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> f64;
    /// Appends the weights at a position.
    fn weights_of(&self, position: &[f64], out: &mut Vec<f64>);
}

impl Density for Target {
    fn dim(&self) -> usize {
        Target::dim(self)
    }

    fn evaluate(&mut self, position: &[f64], gradient: &mut [f64]) -> f64 {
        Target::evaluate(self, position, gradient)
    }

    fn weights_of(&self, position: &[f64], out: &mut Vec<f64>) {
        Target::weights_of(self, position, out);
    }
}

/// A position where the density is not a number: nuts-rs treats it as a divergence.
#[derive(Debug, thiserror::Error)]
#[error("the log density is not finite")]
pub(crate) struct NotFinite;

impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

struct Function<D>(D);

impl<D: Density> HasDims for Function<D> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_owned(), self.0.dim() as u64)])
    }
}

impl<D: Density> CpuLogpFunc for Function<D> {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        let value = self.0.evaluate(position, gradient);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(NotFinite)
        }
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        position: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(position.to_vec())
    }
}

/// One chain of nuts-rs with its draws of the weights.
pub(crate) struct NutsChain<D: Density + 'static> {
    chain: <DiagNutsSettings as Settings>::Chain<CpuMath<Function<D>>>,
    density: D,
    /// The weights of all draws after tuning, one after the other.
    pub(crate) weights: Vec<f64>,
    /// Gradients since the end of tuning.
    pub(crate) gradients: u64,
    /// Divergences since the end of tuning.
    pub(crate) divergences: u64,
}

impl<D: Density + 'static> NutsChain<D> {
    /// A chain with nuts-rs's own settings (diagonal mass matrix) but `tune` tuning steps, at a
    /// standard normal starting point.
    pub(crate) fn new(density: &D, tune: u64, seed: u64, index: u64) -> anyhow::Result<Self> {
        let settings = DiagNutsSettings {
            num_tune: tune,
            ..DiagNutsSettings::default()
        };
        let mut random: Stream = stream(seed, "nuts-rs", index);
        let math = CpuMath::new(Function(density.clone()));
        let mut chain = settings.new_chain(index, math, &mut random)?;
        let start: Vec<f64> = (0..density.dim())
            .map(|_| random.sample(StandardNormal))
            .collect();
        chain.set_position(&start)?;
        Ok(Self {
            chain,
            density: density.clone(),
            weights: Vec::new(),
            gradients: 0,
            divergences: 0,
        })
    }

    /// One draw that is thrown away.
    pub(crate) fn tune(&mut self) -> anyhow::Result<()> {
        self.chain.draw()?;
        Ok(())
    }

    /// One draw that is kept.
    pub(crate) fn draw(&mut self) -> anyhow::Result<()> {
        let (position, progress) = self.chain.draw()?;
        self.density.weights_of(&position, &mut self.weights);
        self.gradients += progress.num_gradients;
        self.divergences += u64::from(progress.diverging);
        Ok(())
    }
}

/// What chains of equal length gave.
pub(crate) struct NutsDraws {
    pub(crate) draws: Draws,
    /// Gradients of all chains together, after tuning.
    pub(crate) gradients: u64,
    /// Divergences of all chains together, after tuning.
    pub(crate) divergences: u64,
}

/// Runs chains on as many threads as there are.
pub(crate) fn run_chains<D: Density + Sync + 'static>(
    density: &D,
    chains: u64,
    tune: u64,
    draws: usize,
    seed: u64,
) -> anyhow::Result<NutsDraws> {
    let all: Vec<(Vec<f64>, u64, u64)> = (0..chains)
        .into_par_iter()
        .map(|index| {
            let mut chain = NutsChain::new(density, tune, seed, index)?;
            for _ in 0..tune {
                chain.tune()?;
            }
            for _ in 0..draws {
                chain.draw()?;
            }
            Ok((chain.weights, chain.gradients, chain.divergences))
        })
        .collect::<anyhow::Result<_>>()?;
    let weights = all.iter().flat_map(|chain| chain.0.iter().copied());
    Ok(NutsDraws {
        draws: Draws::new(all.len(), draws, density.dim(), weights.collect())?,
        gradients: all.iter().map(|chain| chain.1).sum(),
        divergences: all.iter().map(|chain| chain.2).sum(),
    })
}
