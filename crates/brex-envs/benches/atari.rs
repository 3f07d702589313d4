//! Steps per second of an Atari game, the observation included: several environments stepped
//! together with random actions. Needs an interpreter with ale-py, as `cargo xtask bench-atari`
//! provides, which runs ale-py's own vector environment next to it.
//! `cargo bench -p brex-envs --bench atari -- GAME ENVIRONMENTS THREADS STEPS`.

use brex_envs::{VectorEnv, game_random, make};
use rand::RngExt;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo itself passes flags.
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let [game, count, threads, steps] = words.as_slice() else {
        println!("nothing measured; expected GAME ENVIRONMENTS THREADS STEPS");
        return Ok(());
    };
    let (count, steps): (usize, usize) = (count.parse()?, steps.parse()?);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?);
    let rate = pool.build()?.install(|| rate(game, count, steps))?;
    println!("{rate:.1}");
    Ok(())
}

fn rate(game: &str, count: usize, steps: usize) -> Result<f64, brex_envs::EnvError> {
    let mut envs = VectorEnv::new(count, 0, || make(game))?;
    let actions = envs.spec().actions.len();
    let mut seen = vec![0; count * envs.spec().observation_len()];
    envs.reset(&mut seen)?;
    let mut random = game_random(0);
    let rounds = steps / count;
    let start = Instant::now();
    for _ in 0..rounds {
        let chosen: Vec<usize> = (0..count)
            .map(|_| random.random_range(0..actions))
            .collect();
        std::hint::black_box(envs.step(&chosen, &mut seen)?);
    }
    Ok((rounds * count) as f64 / start.elapsed().as_secs_f64())
}
