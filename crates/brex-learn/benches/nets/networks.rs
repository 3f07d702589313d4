//! The networks that are measured, the same as in `benches/nets.py`.

use anyhow::Result;
use brex_envs::make;
use brex_learn::{Activation, PolicyNetwork, PolicyShape, conv_transpose2d, conv2d, linear};
use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor};

fn convolution(channels: [usize; 2], kernel: usize, stride: usize, device: &Device) -> Conv2d {
    Conv2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .init(device)
}

fn transposed(
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
    device: &Device,
) -> ConvTranspose2d {
    ConvTranspose2dConfig::new(channels, [kernel, kernel])
        .with_stride([stride, stride])
        .init(device)
}

fn dense(inputs: usize, outputs: usize, device: &Device) -> Linear {
    LinearConfig::new(inputs, outputs).init(device)
}

/// The paper's encoder, to mean and log variance of 64 features.
#[derive(Module, Debug)]
pub(crate) struct Encoder {
    convolutions: Vec<Conv2d>,
    hidden: Linear,
    mean: Linear,
    spread: Linear,
}

impl Encoder {
    pub(crate) fn new(device: &Device) -> Self {
        Self {
            convolutions: vec![
                convolution([4, 16], 7, 3, device),
                convolution([16, 32], 5, 2, device),
                convolution([32, 32], 3, 1, device),
                convolution([32, 16], 3, 1, device),
            ],
            hidden: dense(784, 128, device),
            mean: dense(128, 64, device),
            spread: dense(128, 64, device),
        }
    }

    pub(crate) fn forward(&self, mut x: Tensor<4>) -> (Tensor<2>, Tensor<2>) {
        for layer in &self.convolutions {
            x = conv2d(layer, x, Activation::LeakyRelu);
        }
        let hidden = linear(&self.hidden, x.flatten(1, 3), Activation::LeakyRelu);
        (
            linear(&self.mean, hidden.clone(), Activation::Identity),
            linear(&self.spread, hidden, Activation::Identity),
        )
    }
}

/// The paper's encoder and decoder; the sample is replaced by the sum of mean and spread.
#[derive(Module, Debug)]
pub(crate) struct Autoencoder {
    encoder: Encoder,
    hidden: Vec<Linear>,
    transposed: Vec<ConvTranspose2d>,
    frames: ConvTranspose2d,
}

impl Autoencoder {
    pub(crate) fn new(device: &Device) -> Self {
        Self {
            encoder: Encoder::new(device),
            hidden: vec![dense(64, 128, device), dense(128, 1568, device)],
            transposed: vec![
                transposed([2, 4], 3, 1, device),
                transposed([4, 16], 6, 1, device),
                transposed([16, 16], 7, 2, device),
            ],
            frames: transposed([16, 4], 10, 1, device),
        }
    }

    pub(crate) fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let batch = x.dims()[0];
        let (mean, spread) = self.encoder.forward(x);
        let mut hidden = mean + (spread * 0.5).exp();
        for layer in &self.hidden {
            hidden = linear(layer, hidden, Activation::LeakyRelu);
        }
        let mut image = hidden.reshape([batch, 2, 28, 28]);
        for layer in &self.transposed {
            image = conv_transpose2d(layer, image, Activation::LeakyRelu);
        }
        sigmoid(conv_transpose2d(&self.frames, image, Activation::Identity))
    }
}

/// The network of an agent with six actions, as brex trains it in a game.
pub(crate) fn policy(game: &str, device: &Device) -> Result<PolicyNetwork> {
    let shape = PolicyShape::for_spec(make(game)?.spec());
    Ok(PolicyNetwork::new(&shape, 0, device))
}
