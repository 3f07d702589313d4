//! The three layers that all networks here are made of, each with its activation.
//!
//! burn's own modules hold the parameters, so that initialisation, optimisers and devices are
//! burn's; what is done with them is said here.

use burn::nn::Linear;
use burn::nn::conv::{Conv2d, ConvTranspose2d};
use burn::tensor::Tensor;
use burn::tensor::activation::{leaky_relu, relu};

/// What is done to the output of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// The greater of the value and zero.
    Relu,
    /// As `Relu`, but a hundredth of a negative value is kept.
    LeakyRelu,
}

impl Activation {
    /// What a negative value is multiplied with.
    pub fn slope(self) -> f32 {
        match self {
            Self::Identity => 1.0,
            Self::Relu => 0.0,
            Self::LeakyRelu => 0.01,
        }
    }

    fn apply<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Identity => x,
            Self::Relu => relu(x),
            Self::LeakyRelu => leaky_relu(x, 0.01),
        }
    }
}

/// A convolution: `[batch, channels, rows, columns]` in and out.
pub fn conv2d(layer: &Conv2d, x: Tensor<4>, activation: Activation) -> Tensor<4> {
    activation.apply(layer.forward(x))
}

/// A transposed convolution: `[batch, channels, rows, columns]` in and out.
pub fn conv_transpose2d(
    layer: &ConvTranspose2d,
    x: Tensor<4>,
    activation: Activation,
) -> Tensor<4> {
    activation.apply(layer.forward(x))
}

/// A linear layer: `[batch, features]` in and out.
pub fn linear(layer: &Linear, x: Tensor<2>, activation: Activation) -> Tensor<2> {
    activation.apply(layer.forward(x))
}
