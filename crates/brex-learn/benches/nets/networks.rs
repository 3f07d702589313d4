//! The networks that are measured, the same as in `benches/nets.py`: brex's own.

use anyhow::{Context, Result};
use brex_core::{Preference, Preferences};
use brex_envs::make;
use brex_learn::{
    Encoder, EncoderShape, PolicyNetwork, PolicyShape, PretrainConfig, PretrainNetwork,
    PretrainShape, Pretrainer, RankedDemonstrations, Sampling, SeenEpisode,
};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};

/// A game with six actions and large frames, and one with small ones.
const ATARI: &str = "atari:space-invaders";
const POCKET: &str = "pocket:seaquest";

/// The paper's encoder, to mean and log variance of 64 features.
pub(crate) fn encoder(device: &Device) -> Result<Encoder> {
    let shape = EncoderShape::for_spec(make(ATARI)?.spec(), 64);
    Ok(Encoder::new(&shape, 0, device))
}

/// The paper's encoder and decoder, among the heads that are not used here.
pub(crate) fn autoencoder(device: &Device) -> Result<PretrainNetwork> {
    let shape = PretrainShape::for_spec(make(ATARI)?.spec(), 64);
    Ok(PretrainNetwork::new(&shape, 0, device))
}

/// Frames drawn again; the sample is replaced by the sum of mean and spread.
pub(crate) fn redrawn(net: &PretrainNetwork, frames: Tensor<4>) -> Tensor<4> {
    let encoded = net.encoder.forward(frames);
    let features = match encoded.log_variance {
        Some(spread) => encoded.mean + (spread * 0.5).exp(),
        None => encoded.mean,
    };
    sigmoid(net.decoder.forward(features))
}

/// The network of an agent, as brex trains it in a game.
pub(crate) fn policy(atari: bool, device: &Device) -> Result<PolicyNetwork> {
    let shape = PolicyShape::for_spec(make(if atari { ATARI } else { POCKET })?.spec());
    Ok(PolicyNetwork::new(&shape, 0, device))
}

/// Pre-training with the published settings on two episodes of noise; snippets have `frames` frames.
pub(crate) fn pretrainer(atari: bool, frames: usize, device: &Device) -> Result<Pretrainer> {
    let env = make(if atari { ATARI } else { POCKET })?;
    let spec = env.spec();
    let config = PretrainConfig {
        sampling: Sampling::Snippets {
            shortest: frames,
            longest: frames,
            abreast: 0.0,
        },
        ..PretrainConfig::published(spec)
    };
    let length = 2 * frames;
    let episode = |by: usize| {
        let pixels = (0..length * spec.observation_len()).map(|i| (i * by % 251) as u8);
        let actions = (0..length).map(|i| (i * by % spec.actions.len()) as u8);
        SeenEpisode::of_frames(pixels.collect(), actions.collect()).context("an episode")
    };
    let preferences = Preferences::new(2, vec![Preference::strict(0, 1)])?;
    let episodes = vec![episode(7)?, episode(11)?];
    let data = RankedDemonstrations::new(episodes, &preferences, 0.0, 0)?;
    let shape = PretrainShape::for_spec(spec, config.features);
    Ok(Pretrainer::new(config, 0, shape, data, device)?)
}
