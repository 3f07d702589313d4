//! Steps of PPO a second, learning included, in an environment that costs nothing. One measurement
//! for each line `THREADS` that is read; `benches/ppo.py` asks for them in turns with
//! Stable-Baselines3's.

use anyhow::{Context, Result};
use brex_envs::{EnvError, Environment, GameRandom, Info, Script, Spec, Step, make};
use brex_learn::{Device, PpoConfig, Trainer};
use std::io::{BufRead, Write};
use std::time::Instant;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Updates that are measured, after one that is not.
const UPDATES: u64 = 8;

/// Frames that change a little, episodes of a hundred steps.
struct Blank {
    spec: Spec,
    steps: usize,
}

impl Environment for Blank {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn reset(&mut self, _: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
        self.steps = 0;
        observation.fill(0);
        Ok(Info::default())
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
        self.steps += 1;
        observation[self.steps * 7] = 255;
        Ok(Step {
            reward: f64::from(action == 1),
            terminated: self.steps == 100,
            truncated: false,
            info: Info::default(),
        })
    }

    fn scripted(&self, _: Script, _: &mut GameRandom) -> Option<usize> {
        None
    }
}

fn steps_per_second(threads: usize) -> Result<f64> {
    let spec = make("pocket:breakout")?.spec().clone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool?.install(|| {
        let blank = || {
            let spec = spec.clone();
            Ok(Box::new(Blank { spec, steps: 0 }) as Box<dyn Environment>)
        };
        let config = PpoConfig::for_spec(&spec);
        let mut trainer = Trainer::new(config, 0, blank, None, &Device::flex())?;
        trainer.update()?;
        let clock = Instant::now();
        for _ in 0..UPDATES {
            trainer.update()?;
        }
        let steps = UPDATES * trainer.config().batch() as u64;
        Ok(steps as f64 / clock.elapsed().as_secs_f64())
    })
}

fn main() -> Result<()> {
    // `cargo bench` passes --bench; `cargo test` does not, and wants no measurement.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    for line in std::io::stdin().lock().lines() {
        let threads = line.context("cannot read the next line")?;
        let speed = steps_per_second(threads.trim().parse().context("a number of threads")?)?;
        println!("{speed}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
