//! Times of networks, one measurement for each line `CASE THREADS` that is read; `benches/nets.py`
//! asks for them in turns with PyTorch's. Each answer is the least time of a call, in milliseconds.

mod networks;

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use brex_learn::{Adam, AdamConfig};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Distribution, Tensor};

use networks::{autoencoder, encoder, policy, pretrainer, redrawn};

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long a measurement goes on, and the fewest calls in it.
const ENOUGH: Duration = Duration::from_millis(300);
const FEWEST: usize = 3;

fn main() -> Result<()> {
    // `cargo bench` passes --bench; `cargo test` does not, and wants no measurement.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let mut cases: Vec<(String, Box<dyn FnMut() + Send>)> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.context("cannot read the next case")?;
        let mut words = line.split_whitespace();
        let (Some(name), Some(threads)) = (words.next(), words.next()) else {
            bail!("expected `CASE THREADS`, found {line:?}");
        };
        let threads: usize = threads.parse().context("THREADS is not a number")?;
        let found = cases.iter().position(|(known, _)| known == name);
        let index = match found {
            Some(index) => index,
            None => {
                cases.push((name.to_owned(), case(name)?));
                cases.len() - 1
            }
        };
        let call = &mut cases[index].1;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let least = pool
            .context("cannot start threads")?
            .install(|| least(call));
        println!("{:.4}", least.as_secs_f64() * 1e3);
        std::io::stdout().flush().context("cannot answer")?;
    }
    Ok(())
}

fn least(call: &mut (dyn FnMut() + Send)) -> Duration {
    call();
    let mut least = Duration::MAX;
    let begin = Instant::now();
    let mut calls = 0;
    while calls < FEWEST || begin.elapsed() < ENOUGH {
        let start = Instant::now();
        call();
        least = least.min(start.elapsed());
        calls += 1;
    }
    least
}

fn frames(batch: usize, size: usize, device: &Device) -> Tensor<4> {
    let between = Distribution::Uniform(0.0, 1.0);
    Tensor::random([batch, 4, size, size], between, device)
}

fn case(name: &str) -> Result<Box<dyn FnMut() + Send>> {
    let device = Device::flex().autodiff();
    let (work, batch) = name
        .rsplit_once('-')
        .with_context(|| format!("expected a case like encoder-forward-32, found {name:?}"))?;
    let batch: usize = batch.parse().context("the batch is not a number")?;
    Ok(match work {
        // With its spread, which phi alone does not need.
        "encoder-forward" => forward(&encoder(&device)?, batch, 84, |net, x| {
            let encoded = net.forward(x);
            encoded.log_variance.unwrap_or(encoded.mean)
        }),
        "encoder-train" => train(encoder(&device)?, batch, 84, |net, x| {
            let encoded = net.forward(x);
            let spread = encoded.log_variance.map(|spread| spread.square().mean());
            let mean = encoded.mean.square().mean();
            spread.map_or(mean.clone(), |spread| mean + spread)
        }),
        "autoencoder-train" => train(autoencoder(&device)?, batch, 84, |net, x| {
            (redrawn(net, x.clone()) - x).square().mean()
        }),
        "nature-forward" => policy_forward(true, batch, 84)?,
        "nature-train" => policy_train(true, batch, 84)?,
        "pocket-forward" => policy_forward(false, batch, 24)?,
        "pocket-train" => policy_train(false, batch, 24)?,
        "pretrain-atari" => pretrain(true, batch)?,
        "pretrain-pocket" => pretrain(false, batch)?,
        _ => bail!("unknown case {name:?}"),
    })
}

/// An update with all losses on a pair of snippets of so many frames each.
fn pretrain(atari: bool, frames: usize) -> Result<Box<dyn FnMut() + Send>> {
    let mut trainer = pretrainer(atari, frames, &Device::flex())?;
    Ok(Box::new(move || {
        // A loss that is not finite would not be a measurement.
        assert!(trainer.update().is_ok(), "an update");
    }))
}

fn policy_forward(atari: bool, batch: usize, size: usize) -> Result<Box<dyn FnMut() + Send>> {
    let net = policy(atari, &Device::flex().autodiff())?;
    Ok(forward(&net, batch, size, |net, x| net.forward(x).0))
}

fn policy_train(atari: bool, batch: usize, size: usize) -> Result<Box<dyn FnMut() + Send>> {
    let net = policy(atari, &Device::flex().autodiff())?;
    Ok(train(net, batch, size, |net, x| {
        let (logits, values) = net.forward(x);
        logits.square().mean() + values.square().mean()
    }))
}

fn forward<M: Module + Send + 'static>(
    net: &M,
    batch: usize,
    size: usize,
    output: impl Fn(&M, Tensor<4>) -> Tensor<2> + Send + 'static,
) -> Box<dyn FnMut() + Send> {
    let net = net.valid();
    let x = frames(batch, size, &Device::flex());
    Box::new(move || {
        std::hint::black_box(output(&net, x.clone()));
    })
}

fn train<M: Module + Send + 'static>(
    net: M,
    batch: usize,
    size: usize,
    loss: impl Fn(&M, Tensor<4>) -> Tensor<1> + Send + 'static,
) -> Box<dyn FnMut() + Send> {
    let x = frames(batch, size, &Device::flex().autodiff());
    let mut optimiser = Adam::new(AdamConfig::default());
    let mut net = Some(net);
    Box::new(move || {
        if let Some(before) = net.take() {
            let gradients = loss(&before, x.clone()).backward();
            let gradients = GradientsParams::from_grads(gradients, &before);
            net = Some(optimiser.step(before, gradients, 1e-4).0);
        }
    })
}
