//! The default sampler at L against NUTS in whitened coordinates: the same posterior from code that
//! shares nothing with it, in double precision.

use crate::agreement::{Agreement, largest, rms, spaced_rows};
use crate::measure::{Limit, run_sampler};
use crate::nuts::run_chains;
use crate::target::Weights;
use crate::whitened::Whitened;
use anyhow::{Result, ensure};
use brex_core::{Matrix, Preferences};
use brex_posterior::{Hmc, Prior, Problem};

const NUTS_CHAINS: u64 = 4;
const NUTS_TUNE: u64 = 60;
const NUTS_DRAWS: usize = 400;
const HMC_DRAWS: usize = 16 * 250;

/// Compares means and quantiles of 64 returns; fails if they differ by more than chance explains.
pub(crate) fn check(features: &Matrix, preferences: &Preferences, seed: u64) -> Result<()> {
    let problem = Problem::new(features, preferences, Prior::Sphere, 1.0)?;
    let limit = Limit {
        draws: HMC_DRAWS,
        seconds: f64::INFINITY,
    };
    eprintln!("hmc");
    let (_, draws) = run_sampler(&problem, &Hmc::default(), seed, limit)?;
    let Some(draws) = draws else {
        anyhow::bail!("hmc made no draws");
    };
    eprintln!("nuts-rs in whitened coordinates");
    let target = Whitened::new(features, preferences, 1.0, Weights::OnSphere)?;
    let nuts = run_chains(&target, NUTS_CHAINS, NUTS_TUNE, NUTS_DRAWS, seed)?;
    let rows = spaced_rows(features.rows(), 64);
    let found = Agreement::of(features, &rows, &draws, &nuts.draws);
    println!(
        "L: {} returns, hmc against nuts-rs ({} gradients a draw, {} divergences)",
        rows.len(),
        nuts.gradients / nuts.draws.len() as u64,
        nuts.divergences
    );
    println!(
        "  R-hat at most {:.4}, ESS at least {:.0}",
        found.max_rhat, found.min_ess
    );
    let (means, quantiles) = (&found.means, &found.quantiles);
    println!(
        "  means:     max |z| {:.2}, rms z {:.2}",
        largest(means),
        rms(means)
    );
    println!(
        "  quantiles: max |z| {:.2}, rms z {:.2}",
        largest(quantiles),
        rms(quantiles)
    );
    ensure!(
        largest(means) < 4.0 && largest(quantiles) < 4.5,
        "the samplers do not agree"
    );
    Ok(())
}
