//! Draws against exact laws, at 100,000 effective draws.

use crate::exact::Law;
use brex_core::{Workspace, ess_mean};
use brex_posterior::{ChainBlock, Chains, Problem, Sampler};
use std::ops::ControlFlow;

/// Effective draws of every mean and of every 5 % quantile.
const EFFECTIVE: f64 = 100_000.0;

/// The most draws kept, and the farthest apart; more would mean that the sampler does not mix.
const MOST: f64 = 600_000.0;
const LARGEST_THINNING: usize = 1000;

/// How one function of the weights compares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    pub(crate) mean_z: f64,
    pub(crate) quantile_z: f64,
    /// The standard deviation over the exact one, less 1.
    pub(crate) sd_excess: f64,
}

impl Comparison {
    pub(crate) fn passes(&self) -> bool {
        self.mean_z.abs() < 4.0 && self.quantile_z.abs() < 4.0 && self.sd_excess.abs() < 0.01
    }
}

/// Values of several functions of the weights, chain by chain.
struct Series {
    /// By function, then chain.
    values: Vec<Vec<Vec<f64>>>,
}

impl Series {
    /// Makes `draws` draws per chain, keeping one in `thinning`.
    fn extend(
        &mut self,
        running: &mut dyn Chains,
        chains: usize,
        vectors: &[Vec<f64>],
        draws: usize,
        thinning: usize,
    ) {
        let k = vectors[0].len();
        let block = (thinning * 250).min(50_000).max(thinning);
        for _ in 0..draws.div_ceil(block / thinning) {
            let mut weights = vec![0.0; chains * block * k];
            let mut log_likelihood = vec![0.0; chains * block];
            let mut acceptance = vec![0.0; chains * block];
            let mut diverging = vec![false; chains * block];
            let mut blocks: Vec<ChainBlock<'_>> = weights
                .chunks_exact_mut(block * k)
                .zip(log_likelihood.chunks_exact_mut(block))
                .zip(acceptance.chunks_exact_mut(block))
                .zip(diverging.chunks_exact_mut(block))
                .map(
                    |(((weights, log_likelihood), acceptance), diverging)| ChainBlock {
                        weights,
                        log_likelihood,
                        acceptance,
                        diverging,
                    },
                )
                .collect();
            running.advance(&mut blocks);
            for (values, vector) in self.values.iter_mut().zip(vectors) {
                for (values, weights) in values.iter_mut().zip(weights.chunks_exact(block * k)) {
                    let kept = weights.chunks_exact(k).skip(thinning - 1).step_by(thinning);
                    values.extend(kept.map(|w| dot(w, vector)));
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.values[0][0].len()
    }

    /// All chains of one function, one after the other.
    fn of(&self, index: usize) -> Vec<f64> {
        self.values[index].concat()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Samples until everything has enough effective draws, and compares; an error says why that
/// cannot be done.
pub(crate) fn compare(
    problem: &Problem<'_>,
    sampler: &dyn Sampler,
    chains: usize,
    vectors: &[Vec<f64>],
    laws: &[Law],
    seed: u64,
) -> Result<Vec<Comparison>, String> {
    let mut running = sampler
        .start(problem, chains, seed, &|_| ControlFlow::Continue(()))
        .map_err(|error| error.to_string())?;
    let empty = || Series {
        values: vec![vec![Vec::new(); chains]; vectors.len()],
    };
    let mut workspace = Workspace::default();
    // The fewest effective draws of anything, as a part of what is wanted and of what is kept.
    let mut measure = |series: &Series| {
        let mut least = (f64::INFINITY, f64::INFINITY);
        for (index, law) in laws.iter().enumerate() {
            let values = series.of(index);
            let below = indicator(&values, law.q05);
            let squares = values.iter().map(|v| (v - law.mean).powi(2)).collect();
            let wanted = [EFFECTIVE, EFFECTIVE, squares_wanted(law)];
            for (values, wanted) in [values, below, squares].into_iter().zip(wanted) {
                let effective = ess_mean(&values, chains, &mut workspace);
                let effective = if effective.is_nan() { 1.0 } else { effective };
                least.0 = least.0.min(effective / wanted);
                least.1 = least.1.min(effective / values.len() as f64);
            }
        }
        least
    };
    let mut series = empty();
    let (mut goal, mut thinning) = (16_000.0, 1);
    loop {
        let kept = series.len() * chains;
        let more = (goal - kept as f64).max(1000.0) / chains as f64;
        series.extend(
            running.as_mut(),
            chains,
            vectors,
            more.ceil() as usize,
            thinning,
        );
        let kept = (series.len() * chains) as f64;
        let (reached, share) = measure(&series);
        if reached >= 1.0 {
            break;
        }
        // The first draws tell how far apart draws have to be to be worth keeping.
        if share < 0.3 {
            thinning = (thinning as f64 * 0.8 / share.max(0.001)) as usize;
            series = empty();
            goal = 16_000.0;
        } else {
            goal = kept * (1.05 / reached).clamp(1.1, 8.0);
        }
        if thinning > LARGEST_THINNING || kept > MOST {
            return Err(format!(
                "{kept:.0} draws, one in {thinning} kept, are {:.1} % of what is wanted",
                100.0 * reached
            ));
        }
    }
    Ok((0..vectors.len())
        .map(|index| judge(&series.of(index), chains, &laws[index], &mut workspace))
        .collect())
}

/// Effective draws of the squares that give the standard deviation an error of a quarter of a per
/// cent: few if the law is near normal, many where there are rare outliers.
fn squares_wanted(law: &Law) -> f64 {
    (law.kurtosis - 1.0) / 4.0 / 0.0025_f64.powi(2)
}

fn indicator(values: &[f64], limit: f64) -> Vec<f64> {
    values
        .iter()
        .map(|v| f64::from(u8::from(*v <= limit)))
        .collect()
}

fn judge(values: &[f64], chains: usize, law: &Law, workspace: &mut Workspace) -> Comparison {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    let below = indicator(values, law.q05);
    let share = below.iter().sum::<f64>() / count;
    let share_error = (0.05 * 0.95 / ess_mean(&below, chains, workspace)).sqrt();
    Comparison {
        mean_z: (mean - law.mean) / (square / ess_mean(values, chains, workspace)).sqrt(),
        quantile_z: (share - 0.05) / share_error,
        sd_excess: square.sqrt() / law.sd - 1.0,
    }
}
