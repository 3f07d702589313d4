//! Scores and lengths of scripted policies and of mixtures of them, and how far length is from
//! being the score: `cargo run --release -p brex-envs --example ladder [GAME...]`.

use brex_core::rank_correlation;
use brex_envs::{EnvError, Mixture, Script, game_random, make, pocket_names};

const EPISODES: u64 = 100;

/// Mean score and mean length over episodes, with standard deviations.
struct Record {
    score: (f64, f64),
    length: (f64, f64),
}

fn main() -> Result<(), EnvError> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let all = pocket_names().map(str::to_owned);
    let names = if wanted.is_empty() {
        all.collect()
    } else {
        wanted
    };
    for name in names {
        println!("\n{name}\n{:24} {:>20} {:>20}", "policy", "score", "length");
        let mut records = Vec::new();
        for (label, policy) in ladder() {
            let record = play(&name, &policy)?;
            let (score, length) = (record.score, record.length);
            println!(
                "{label:24} {:>11.2} ± {:>6.2} {:>11.1} ± {:>6.1}",
                score.0, score.1, length.0, length.1
            );
            records.push(record);
        }
        let scores: Vec<f64> = records.iter().map(|r| r.score.0).collect();
        let lengths: Vec<f64> = records.iter().map(|r| r.length.0).collect();
        println!(
            "rank correlation of length with score: {:.2}",
            rank_correlation(&lengths, &scores).unwrap_or(0.0)
        );
    }
    Ok(())
}

/// The four scripts, and mixtures from bad to good.
fn ladder() -> Vec<(String, Mixture)> {
    let pure = Script::ALL.map(|s| (s.name().to_owned(), Mixture::pure(s)));
    let mixed = Mixture::ladder().into_iter().map(|mixture| {
        let ((a, share), (b, _)) = (mixture.parts[0], mixture.parts[1]);
        let label = format!("{:.0} % {}, {}", 100.0 * share, a.name(), b.name());
        (label, mixture)
    });
    pure.into_iter().chain(mixed).collect()
}

fn play(name: &str, policy: &Mixture) -> Result<Record, EnvError> {
    let mut env = make(name)?;
    let mut observation = vec![0; env.spec().observation_len()];
    let (mut scores, mut lengths) = (Vec::new(), Vec::new());
    for episode in 0..EPISODES {
        env.reset(episode, &mut observation)?;
        let mut random = game_random(1_000_000 + episode);
        let mut length = 0.0;
        loop {
            let action = policy.act(env.as_ref(), &mut random).unwrap_or(0);
            let step = env.step(action, &mut observation)?;
            length += 1.0;
            if step.terminated || step.truncated {
                scores.push(step.info.score);
                break;
            }
        }
        lengths.push(length);
    }
    Ok(Record {
        score: mean_and_sd(&scores),
        length: mean_and_sd(&lengths),
    })
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (count - 1.0);
    (mean, variance.sqrt())
}
