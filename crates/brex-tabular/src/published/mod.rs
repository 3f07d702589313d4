//! The published protocol: what the authors' program computes, to the last digit.
//!
//! With its quirks: the C library's generator and seeds, no burn-in, discounted returns, exactly one
//! feature per cell, start states in order, rounding to single precision, values carried along the
//! chain, loose tolerances, and a loss that holds the error of evaluation. In one place the program
//! is undefined (its search for duplicates among bad demonstrations, Table 9, reads memory that is
//! not its own); there each set is made free of its own duplicates.
//!
//! Eight worlds run side by side in the lanes of vector registers. Sums of log likelihoods run in
//! another order than the authors', which can only matter where a random number meets its threshold
//! within one part in 10^13.

mod chains;
mod demonstrations;
mod glibc_rand;
mod walk;
mod world;

use crate::lanes::LANES;
use crate::study::{LossRow, MethodResult, StudyTable};
use brex_core::dispatch;
use chains::{IrlChains, RexChains};
use demonstrations::{Evidence, demonstrate};
use std::time::Instant;
use world::World;

/// How many worlds are best given to [`published_losses`] at once.
pub const PUBLISHED_BATCH: usize = LANES;

/// Where the time of [`published_losses`] goes, on one core.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PublishedTimes {
    /// Chains of each method; each has 5,000 states, and for Bayesian IRL as many MDPs are solved.
    pub chains: usize,
    /// Of all chains of Bayesian IRL.
    pub irl_seconds: f64,
    /// Of all chains of Bayesian REX.
    pub rex_seconds: f64,
}

/// The rows of a table for each of the given worlds: one row per setting. Worlds 0 to 99 are the
/// paper's; the formula of their seeds goes on.
pub fn published_losses(table: StudyTable, worlds: &[usize]) -> Vec<Vec<LossRow>> {
    published_losses_timed(table, worlds, &mut PublishedTimes::default())
}

/// The same, adding up what it took.
pub fn published_losses_timed(
    table: StudyTable,
    worlds: &[usize],
    times: &mut PublishedTimes,
) -> Vec<Vec<LossRow>> {
    let mut rows = vec![Vec::new(); worlds.len()];
    for (batch, worlds) in worlds.chunks(LANES).enumerate() {
        for &setting in table.settings() {
            for (lane, row) in losses_of_batch(table, setting, worlds, times)
                .into_iter()
                .enumerate()
            {
                rows[batch * LANES + lane].push(row);
            }
        }
    }
    rows
}

fn losses_of_batch(
    table: StudyTable,
    setting: f64,
    numbers: &[usize],
    times: &mut PublishedTimes,
) -> Vec<LossRow> {
    // Lanes without a world of their own repeat the last one.
    let number = |lane: usize| numbers[lane.min(numbers.len() - 1)];
    let mut worlds: [World; LANES] = std::array::from_fn(|lane| World::new(number(lane)));
    let evidence: Vec<Evidence> = worlds
        .iter_mut()
        .map(|world| demonstrate(world, table, setting))
        .collect();
    let evidence: [&Evidence; LANES] = std::array::from_fn(|lane| &evidence[lane]);
    let mut random = std::array::from_fn(|lane| worlds[lane].random.clone());
    let clock = Instant::now();
    let irl = dispatch(IrlChains {
        feature: std::array::from_fn(|lane| &worlds[lane].feature),
        evidence,
        random: &mut random,
    });
    times.irl_seconds += clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let rex = dispatch(RexChains {
        evidence,
        random: &mut random,
    });
    times.rex_seconds += clock.elapsed().as_secs_f64();
    times.chains += numbers.len();
    let result = |loss| MethodResult { loss, chain: None };
    (0..numbers.len())
        .map(|lane| LossRow {
            setting,
            world: numbers[lane],
            irl: result(worlds[lane].loss(&irl[lane])),
            rex: result(worlds[lane].loss(&rex[lane])),
        })
        .collect()
}
