//! Milliseconds to diagnose one quantity of 16 chains x 6,250 draws, by how well the chains mix.

use std::time::Instant;

use brex_core::{Workspace, diagnose, stream};
use rand::RngExt;

fn main() {
    let (chains, draws, repeats) = (16, 6_250, 20);
    let mut workspace = Workspace::default();
    for correlation in [-0.5, 0.0, 0.5, 0.9, 0.99, 0.999] {
        let mut random = stream(1, "bench", 0);
        let mut previous = 0.0;
        let values: Vec<f64> = (0..chains * draws)
            .map(|_| {
                previous = correlation * previous + random.random::<f64>() - 0.5;
                previous
            })
            .collect();
        let start = Instant::now();
        let mut ess = 0.0;
        for _ in 0..repeats {
            ess = diagnose(&values, chains, &[0.05, 0.1], &mut workspace).ess_bulk;
        }
        let milliseconds = start.elapsed().as_secs_f64() * 1e3 / f64::from(repeats);
        println!("correlation {correlation:6}: {milliseconds:6.2} ms, bulk ESS {ess:.0}");
    }
}
