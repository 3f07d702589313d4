//! The time of the gridworld study on one core: per chain, per MDP, per table.
//!
//! Run by `cargo xtask bench-gridworld`. The published protocol solves one MDP for every state of a
//! chain of Bayesian IRL; the sound one samples until converged. The least of three runs counts.

use brex_tabular::{
    Demonstrations, Gridworld, InferenceOptions, PUBLISHED_BATCH, PublishedTimes, StudyTable,
    feature_expectations, policy_iteration, published_losses_timed, sample_irl, value_iteration,
};
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 3;
const CHAIN_STATES: f64 = 5_000.0;

fn main() {
    published();
    solvers();
    sound();
}

/// The least time of several runs, in seconds.
fn least(mut run: impl FnMut() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn published() {
    println!(
        "published protocol, {PUBLISHED_BATCH} worlds side by side, one core, least of {RUNS} runs"
    );
    println!("table  ms a chain, IRL  us an MDP  ms a chain, REX  s for 100 worlds");
    let worlds: Vec<usize> = (0..2 * PUBLISHED_BATCH).collect();
    for table in StudyTable::ALL {
        let runs = (0..RUNS).map(|_| {
            let mut times = PublishedTimes::default();
            black_box(published_losses_timed(table, &worlds, &mut times));
            times
        });
        let total = |times: &PublishedTimes| times.irl_seconds + times.rex_seconds;
        let Some(times) = runs.min_by(|a, b| total(a).total_cmp(&total(b))) else {
            return;
        };
        let chains = times.chains as f64;
        println!(
            "{:5}  {:15.2}  {:9.2}  {:15.2}  {:16.2}",
            table.number(),
            1e3 * times.irl_seconds / chains,
            1e6 * times.irl_seconds / chains / CHAIN_STATES,
            1e3 * times.rex_seconds / chains,
            total(&times) * 100.0 / worlds.len() as f64,
        );
    }
}

fn solvers() {
    println!("\none MDP at a time, microseconds");
    for (side, slip) in [(6, 0.0), (6, 0.2), (20, 0.2)] {
        let mut random = brex_core::stream(1, "bench", side as u64);
        let grid = Gridworld::random(side, side, 4, slip, 0.9, &mut random);
        let Ok(mdp) = grid.to_mdp() else { return };
        let rewards = mdp.rewards(&[0.4, -0.3, 0.2, -0.1]);
        let policy = brex_tabular::StochasticPolicy::uniform(&mdp);
        let time = |work: &dyn Fn()| {
            let repeats = 400 / (side * side / 36);
            1e6 * least(|| {
                let clock = Instant::now();
                (0..repeats).for_each(|_| work());
                clock.elapsed().as_secs_f64() / repeats as f64
            })
        };
        println!(
            "{side} x {side}, slip {slip}: value iteration to 1e-9 {:.0}, policy iteration {:.0}, feature expectations {:.0}",
            time(&|| drop(black_box(value_iteration(&mdp, &rewards, 1e-9)))),
            time(&|| drop(black_box(policy_iteration(&mdp, &rewards)))),
            time(&|| drop(black_box(feature_expectations(&mdp, &policy)))),
        );
    }
}

fn sound() {
    let mut random = brex_core::stream(1, "bench", 0);
    let grid = Gridworld::random(6, 6, 4, 0.0, 0.9, &mut random);
    let Ok(mdp) = grid.to_mdp() else { return };
    let shown = Demonstrations {
        good: (0..20).map(|state| (state, state % 4)).collect(),
        bad: Vec::new(),
    };
    let options = InferenceOptions::default();
    let mut evaluations = 0;
    let seconds = least(|| {
        let clock = Instant::now();
        if let Ok(inference) = sample_irl(&mdp, &shown, &options) {
            // Eight chains, each with a warm-up of 1,000 steps for four weights.
            evaluations = inference.draws.len() + 8 * 1_000;
        }
        clock.elapsed().as_secs_f64()
    });
    println!(
        "\nsound Bayesian IRL on one world: {:.0} ms until converged, {:.2} us an MDP (differences to 1e-8)",
        1e3 * seconds,
        1e6 * seconds / f64::from(evaluations.max(1) as u32)
    );
}
