//! The network that tells two players apart by what they see and what they do then.

use super::ConvolutionShape;
use super::convolutions::{convolved_len, is_modest};
use super::{PolicyShape, uniform};
use crate::layers::{Activation, conv2d, linear};
use brex_envs::Spec;
use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::{Device, Tensor};

/// The shape of a discriminator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscriminatorShape {
    /// Frames, rows and columns of an observation.
    pub observation: [usize; 3],
    /// The number of actions.
    pub actions: usize,
    /// The convolutions, the first one first.
    pub convolutions: Vec<ConvolutionShape>,
    /// The width of the hidden layer.
    pub hidden: usize,
}

impl DiscriminatorShape {
    /// The usual shape for an environment: that of its policies, which for Atari is the one that the
    /// paper's GAIL has too.
    pub fn for_spec(spec: &Spec) -> Self {
        let policy = PolicyShape::for_spec(spec);
        Self {
            observation: policy.observation,
            actions: policy.actions,
            convolutions: policy.convolutions,
            hidden: policy.hidden,
        }
    }

    fn flat(&self) -> Option<usize> {
        convolved_len(self.observation, &self.convolutions)
    }

    /// Whether such a network can be made at all.
    pub fn is_sound(&self) -> bool {
        is_modest(self.actions) && is_modest(self.hidden) && self.flat().is_some()
    }
}

/// Tells one player's steps from another's.
///
/// The action joins what the convolutions make of the observation before the hidden layer: joined
/// after it, what an action is worth could not depend on what is seen. The paper's code paints the
/// action over whole planes beside the frames instead, which comes to the same and is slower.
#[derive(Module, Debug)]
pub struct Discriminator {
    convolutions: Vec<Conv2d>,
    hidden: Linear,
    logit: Linear,
}

impl Discriminator {
    /// A network that has learned nothing.
    ///
    /// # Panics
    /// If the shape is not sound.
    pub fn new(shape: &DiscriminatorShape, seed: u64, device: &Device) -> Self {
        assert!(shape.is_sound(), "a sound shape");
        let mut stream = brex_core::stream(seed, "discriminator network", 0);
        let mut channels = shape.observation[0];
        let mut convolutions = Vec::new();
        for layer in &shape.convolutions {
            let ends = [channels, layer.filters];
            let (kernel, stride) = (layer.kernel, layer.stride);
            let made = uniform::convolution(ends, kernel, stride, &mut stream, device);
            convolutions.push(made);
            channels = layer.filters;
        }
        let joined = shape.flat().unwrap_or(0) + shape.actions;
        Self {
            convolutions,
            hidden: uniform::linear(joined, shape.hidden, &mut stream, device),
            logit: uniform::linear(shape.hidden, 1, &mut stream, device),
        }
    }

    /// The logits `[batch]` of steps being the first player's, from observations between 0 and 1,
    /// `[batch, frames, rows, columns]`, and actions, `[batch, actions]` with a 1 for the one that was
    /// taken.
    pub fn forward(&self, observations: Tensor<4>, actions: Tensor<2>) -> Tensor<1> {
        let mut x = observations;
        for layer in &self.convolutions {
            x = conv2d(layer, x, Activation::LeakyRelu);
        }
        let joined = Tensor::cat(vec![x.flatten(1, 3), actions], 1);
        let hidden = linear(&self.hidden, joined, Activation::LeakyRelu);
        linear(&self.logit, hidden, Activation::Identity).flatten(0, 1)
    }
}
