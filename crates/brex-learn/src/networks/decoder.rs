//! The decoder: from features back to frames.

use super::ConvolutionShape;
use super::convolutions::{MOST_INPUTS, convolution_shapes, deconvolved, is_modest};
use super::uniform;
use crate::layers::{Activation, conv_transpose2d, linear};
use brex_core::Stream;
use brex_envs::Spec;
use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::ConvTranspose2d;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// The shape of a decoder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecoderShape {
    /// The width of the hidden layer.
    pub hidden: usize,
    /// Channels, rows and columns of the image that the transposed convolutions begin with.
    pub image: [usize; 3],
    /// The transposed convolutions, the first one first; the last gives the frames.
    pub convolutions: Vec<ConvolutionShape>,
}

impl DecoderShape {
    /// The usual shape for an environment: the paper's for Atari, a small one for pocket games.
    pub fn for_spec(spec: &Spec) -> Self {
        let frames = spec.stack;
        let (image, layers) = if spec.is_atari() {
            let layers = vec![(4, 3, 1), (16, 6, 1), (16, 7, 2), (frames, 10, 1)];
            ([2, 28, 28], layers)
        } else {
            ([32, 5, 5], vec![(16, 3, 2), (frames, 4, 2)])
        };
        Self {
            hidden: 128,
            image,
            convolutions: convolution_shapes(&layers),
        }
    }

    /// Frames, rows and columns of what it draws; none if it cannot be.
    pub fn output(&self) -> Option<[usize; 3]> {
        let output = deconvolved(self.image, &self.convolutions)?;
        let begun = self.image.iter().product::<usize>() <= MOST_INPUTS;
        let sound = begun && is_modest(self.hidden) && !self.convolutions.is_empty();
        sound.then_some(output)
    }
}

/// The decoder.
#[derive(Module, Debug)]
pub struct Decoder {
    hidden: Vec<Linear>,
    convolutions: Vec<ConvTranspose2d>,
    image: [usize; 3],
}

impl Decoder {
    pub(super) fn new(
        shape: &DecoderShape,
        features: usize,
        stream: &mut Stream,
        device: &Device,
    ) -> Self {
        let flat = shape.image.iter().product();
        let hidden = vec![
            uniform::linear(features, shape.hidden, stream, device),
            uniform::linear(shape.hidden, flat, stream, device),
        ];
        let mut channels = shape.image[0];
        let mut convolutions = Vec::new();
        for layer in &shape.convolutions {
            let ends = [channels, layer.filters];
            let (kernel, stride) = (layer.kernel, layer.stride);
            convolutions.push(uniform::transposed(ends, kernel, stride, stream, device));
            channels = layer.filters;
        }
        Self {
            hidden,
            convolutions,
            image: shape.image,
        }
    }

    /// The logits of the pixels of frames, `[frames, channels, rows, columns]`, for features,
    /// `[frames, features]`; a sigmoid makes them grey values between 0 and 1.
    pub fn forward(&self, features: Tensor<2>) -> Tensor<4> {
        let mut x = features;
        for layer in &self.hidden {
            x = linear(layer, x, Activation::LeakyRelu);
        }
        let [channels, rows, columns] = self.image;
        let count = x.dims()[0];
        let mut image = x.reshape([count, channels, rows, columns]);
        let last = self.convolutions.len() - 1;
        for (index, layer) in self.convolutions.iter().enumerate() {
            let activation = if index < last {
                Activation::LeakyRelu
            } else {
                Activation::Identity
            };
            image = conv_transpose2d(layer, image, activation);
        }
        image
    }
}
