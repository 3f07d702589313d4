//! Steps per second of each pocket game, the observation included: random actions, on one thread
//! and on two, the least time of five runs. `cargo bench -p brex-envs --bench pocket [GAME...]`.

use brex_envs::{EnvError, game_random, make, pocket_names};
use rand::RngExt;
use std::time::Instant;

const RUNS: usize = 5;
const STEPS: usize = 400_000;

fn main() -> Result<(), EnvError> {
    // Cargo itself passes flags.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    println!(
        "{:24} {:>16} {:>16} {:>8}",
        "steps a second", "one thread", "two threads", "scaling"
    );
    for name in pocket_names() {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        let one = STEPS as f64 / least(|| play(name, 0))?;
        let two = 2.0 * STEPS as f64 / least(|| on_two_threads(name))?;
        println!("{name:24} {one:>16.0} {two:>16.0} {:>8.2}", two / one);
    }
    Ok(())
}

/// The seconds of the fastest run.
fn least(mut run: impl FnMut() -> Result<(), EnvError>) -> Result<f64, EnvError> {
    let mut seconds = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        run()?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

fn on_two_threads(name: &str) -> Result<(), EnvError> {
    let (first, second) = rayon::join(|| play(name, 0), || play(name, 1));
    first.and(second)
}

/// Plays at random, one episode after the other.
fn play(name: &str, stream: u64) -> Result<(), EnvError> {
    let mut env = make(name)?;
    let count = env.spec().actions.len();
    let mut observation = vec![0; env.spec().observation_len()];
    let mut random = game_random(stream);
    let mut seed = stream << 32;
    env.reset(seed, &mut observation)?;
    for _ in 0..STEPS {
        let step = env.step(random.random_range(0..count), &mut observation)?;
        std::hint::black_box(&observation);
        if step.terminated || step.truncated {
            seed += 1;
            env.reset(seed, &mut observation)?;
        }
    }
    Ok(())
}
