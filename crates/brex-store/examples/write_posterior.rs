//! Writes a small posterior whose every number is known, so that other programs can be asked what
//! they make of it: `cargo run -p brex-store --example write_posterior -- DIRECTORY`.

use std::collections::BTreeMap;
use std::error::Error;

use brex_core::Draws;
use brex_store::{AtomicDir, LogLikelihood, PosteriorFile, StatArray, write_posterior};

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).ok_or("expected a directory")?;
    let (chains, draws, features, preferences) = (4, 250, 3, 5);
    let count = chains * draws;
    let posterior = PosteriorFile {
        // Chain c, draw d, feature f: 10000 c + 10 d + f.
        draws: Draws::new(
            chains,
            draws,
            features,
            (0..count * features)
                .map(|i| {
                    let (draw, feature) = (i / features, i % features);
                    (10_000 * (draw / draws) + 10 * (draw % draws) + feature) as f64
                })
                .collect(),
        )?,
        lp: Some((0..count).map(|i| -0.5 * i as f64).collect()),
        sample_stats: BTreeMap::from([
            (
                "diverging".to_owned(),
                StatArray::Bool((0..count).map(|i| i == 7).collect()),
            ),
            (
                "n_steps".to_owned(),
                StatArray::I64((0..count).map(|i| i as i64).collect()),
            ),
        ]),
        attributes: [("sampler".to_owned(), "hmc".into())].into_iter().collect(),
    };
    // Draw d, preference p: -(d + p / 8) in every chain.
    let mut fill = |_: usize, draws: std::ops::Range<usize>, out: &mut [f32]| {
        for (draw, row) in draws.zip(out.chunks_exact_mut(preferences)) {
            for (preference, value) in row.iter_mut().enumerate() {
                *value = -(draw as f32 + preference as f32 / 8.0);
            }
        }
    };
    let out = AtomicDir::create(&target, true)?;
    let log_likelihood = LogLikelihood {
        preferences,
        fill: &mut fill,
    };
    write_posterior(out.path(), &posterior, Some(log_likelihood))?;
    out.commit()?;
    println!("wrote {target}");
    Ok(())
}
