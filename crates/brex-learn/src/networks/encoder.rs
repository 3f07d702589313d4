//! The encoder phi: from frames to a few features, and from those a reward.

use super::convolutions::{convolution_shapes, convolved_len, is_modest};
use super::uniform;
use super::{ConvolutionShape, Decoder, DecoderShape};
use crate::layers::{Activation, conv2d, linear};
use brex_envs::Spec;
use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// The shape of an encoder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncoderShape {
    /// Frames, rows and columns of an observation.
    pub observation: [usize; 3],
    /// The convolutions, the first one first.
    pub convolutions: Vec<ConvolutionShape>,
    /// The width of the hidden layer.
    pub hidden: usize,
    /// How many features. None: the hidden layer's outputs are the features, as in T-REX.
    pub features: Option<usize>,
}

impl EncoderShape {
    /// The usual shape for an environment: the paper's for Atari, a small one for pocket games.
    pub fn for_spec(spec: &Spec, features: usize) -> Self {
        let layers: &[(usize, usize, usize)] = if spec.is_atari() {
            &[(16, 7, 3), (32, 5, 2), (32, 3, 1), (16, 3, 1)]
        } else {
            &[(16, 4, 2), (32, 3, 2)]
        };
        let mut shape = Self {
            observation: [spec.stack, spec.height, spec.width],
            convolutions: convolution_shapes(layers),
            hidden: 0,
            features: Some(features),
        };
        // As wide as the paper's for 64 features.
        let flat = shape.flat().unwrap_or(64);
        shape.hidden = flat.min((2 * features).max(64));
        shape
    }

    /// The shape of the published T-REX networks.
    pub fn trex() -> Self {
        Self {
            observation: [4, 84, 84],
            convolutions: convolution_shapes(&[(16, 7, 3), (16, 5, 2), (16, 3, 1), (16, 3, 1)]),
            hidden: 64,
            features: None,
        }
    }

    /// How many features it gives.
    pub fn feature_count(&self) -> usize {
        self.features.unwrap_or(self.hidden)
    }

    /// What the convolutions leave, flat.
    fn flat(&self) -> Option<usize> {
        convolved_len(self.observation, &self.convolutions)
    }

    /// Whether such a network can be made at all: what a file says may be anything.
    pub fn is_sound(&self) -> bool {
        is_modest(self.hidden) && self.features.is_none_or(is_modest) && self.flat().is_some()
    }
}

/// The encoder: mean and logarithm of the variance of each feature.
#[derive(Module, Debug)]
pub struct Encoder {
    convolutions: Vec<Conv2d>,
    hidden: Linear,
    mean: Option<Linear>,
    log_variance: Option<Linear>,
}

/// What an encoder says about frames, `[frames, features]` each.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The features: phi.
    pub mean: Tensor<2>,
    /// The logarithm of their variance, where the encoder has one.
    pub log_variance: Option<Tensor<2>>,
}

impl Encoder {
    /// An encoder that has learned nothing.
    ///
    /// # Panics
    /// If the shape is not sound.
    pub fn new(shape: &EncoderShape, seed: u64, device: &Device) -> Self {
        assert!(shape.is_sound(), "a sound shape");
        let mut stream = brex_core::stream(seed, "encoder", 0);
        let mut channels = shape.observation[0];
        let mut convolutions = Vec::new();
        for layer in &shape.convolutions {
            let ends = [channels, layer.filters];
            let (kernel, stride) = (layer.kernel, layer.stride);
            convolutions.push(uniform::convolution(
                ends,
                kernel,
                stride,
                &mut stream,
                device,
            ));
            channels = layer.filters;
        }
        let flat = shape.flat().unwrap_or(0);
        let hidden = uniform::linear(flat, shape.hidden, &mut stream, device);
        let mut outputs = || {
            let count = shape.features?;
            Some(uniform::linear(shape.hidden, count, &mut stream, device))
        };
        Self {
            convolutions,
            hidden,
            mean: outputs(),
            log_variance: outputs(),
        }
    }

    /// Encodes frames between 0 and 1, `[frames, channels, rows, columns]`.
    pub fn forward(&self, frames: Tensor<4>) -> Encoded {
        let hidden = self.hidden(frames);
        let log_variance = self.log_variance.as_ref();
        let log_variance =
            log_variance.map(|layer| linear(layer, hidden.clone(), Activation::Identity));
        Encoded {
            mean: self.features_of(hidden),
            log_variance,
        }
    }

    /// The features alone: phi.
    pub fn features(&self, frames: Tensor<4>) -> Tensor<2> {
        self.features_of(self.hidden(frames))
    }

    fn hidden(&self, frames: Tensor<4>) -> Tensor<2> {
        let mut x = frames;
        for layer in &self.convolutions {
            x = conv2d(layer, x, Activation::LeakyRelu);
        }
        linear(&self.hidden, x.flatten(1, 3), Activation::LeakyRelu)
    }

    fn features_of(&self, hidden: Tensor<2>) -> Tensor<2> {
        match &self.mean {
            Some(layer) => linear(layer, hidden, Activation::Identity),
            None => hidden,
        }
    }
}

/// The encoder with everything that teaches it.
#[derive(Module, Debug)]
pub struct PretrainNetwork {
    /// From frames to features.
    pub encoder: Encoder,
    /// From features to a reward.
    pub reward: Linear,
    /// From features back to frames.
    pub decoder: Decoder,
    /// From the features of two frames to the time between them.
    pub temporal: Linear,
    /// From the features of a frame and the next to the action between them.
    pub inverse: Linear,
    /// From the features of a frame and an action to the features of the next frame.
    pub dynamics: Linear,
}

/// The shape of everything that is pre-trained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PretrainShape {
    /// The encoder.
    pub encoder: EncoderShape,
    /// The decoder.
    pub decoder: DecoderShape,
    /// The number of actions.
    pub actions: usize,
}

impl PretrainShape {
    /// The usual shape for an environment.
    pub fn for_spec(spec: &Spec, features: usize) -> Self {
        Self {
            encoder: EncoderShape::for_spec(spec, features),
            decoder: DecoderShape::for_spec(spec),
            actions: spec.actions.len(),
        }
    }

    /// T-REX's shape for an environment: 64 features straight from the hidden layer. For pocket games
    /// the convolutions are the usual ones.
    pub fn trex(spec: &Spec) -> Self {
        let mut shape = Self::for_spec(spec, 64);
        shape.encoder = if spec.is_atari() {
            EncoderShape::trex()
        } else {
            EncoderShape {
                hidden: 64,
                features: None,
                ..shape.encoder
            }
        };
        shape
    }

    /// Whether such a network can be made at all.
    pub fn is_sound(&self) -> bool {
        self.encoder.is_sound()
            && is_modest(self.actions)
            && self.decoder.output() == Some(self.encoder.observation)
    }
}

impl PretrainNetwork {
    /// A network that has learned nothing.
    ///
    /// # Panics
    /// If the shape is not sound.
    pub fn new(shape: &PretrainShape, seed: u64, device: &Device) -> Self {
        assert!(shape.is_sound(), "a sound shape");
        let (features, actions) = (shape.encoder.feature_count(), shape.actions);
        let mut stream = brex_core::stream(seed, "heads", 0);
        Self {
            encoder: Encoder::new(&shape.encoder, seed, device),
            reward: uniform::linear(features, 1, &mut stream, device),
            decoder: Decoder::new(&shape.decoder, features, &mut stream, device),
            temporal: uniform::weights(2 * features, 1, &mut stream, device),
            inverse: uniform::weights(2 * features, actions, &mut stream, device),
            dynamics: uniform::weights(features + actions, features, &mut stream, device),
        }
    }
}
