//! Trains an agent on a pocket game and prints how its score grows.
//!
//! `cargo run --release -p brex-learn --example learn pocket:breakout 500000 0`

use brex_learn::{Device, PpoConfig, Trainer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().map_or("pocket:breakout", String::as_str);
    let steps = words.get(1).map_or(Ok(200_000), |word| word.parse())?;
    let seed = words.get(2).map_or(Ok(0), |word| word.parse())?;
    let mut config = PpoConfig::for_spec(brex_envs::make(name)?.spec());
    config.steps = steps;
    let mut trainer = Trainer::new(
        config,
        seed,
        || brex_envs::make(name),
        None,
        &Device::flex(),
    )?;
    let began = std::time::Instant::now();
    let mut scores: Vec<f64> = Vec::new();
    while !trainer.is_done() {
        let report = trainer.update()?;
        scores.extend(report.episodes.iter().map(|episode| episode.score));
        if report.update % 10 == 0 || trainer.is_done() {
            let recent = &scores[scores.len().saturating_sub(100)..];
            let mean = recent.iter().sum::<f64>() / recent.len().max(1) as f64;
            let seconds = began.elapsed().as_secs_f64();
            let speed = report.steps as f64 / seconds;
            let explained = report.explained_variance;
            let entropy = report.statistics.entropy;
            println!(
                "{:>9} steps  score {mean:>8.2}  entropy {entropy:.3}  explained {explained:.3}  {speed:.0} steps/s",
                report.steps
            );
        }
    }
    Ok(())
}
