//! The network of an agent: convolutions, one hidden layer, and from it the preferences for the
//! actions and the value of the state. For Atari this is the network of Mnih et al. (2015).

use super::ConvolutionShape;
use super::convolutions::{convolution_shapes, convolved_len, is_modest};
use super::orthogonal;
use crate::layers::{Activation, conv2d, linear};
use brex_envs::Spec;
use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// The shape of a policy network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyShape {
    /// Frames, rows and columns of an observation.
    pub observation: [usize; 3],
    /// The number of actions.
    pub actions: usize,
    /// The convolutions, the first one first.
    pub convolutions: Vec<ConvolutionShape>,
    /// The width of the hidden layer.
    pub hidden: usize,
}

impl PolicyShape {
    /// The usual shape for an environment: the Nature network for Atari, a small one for the pocket
    /// games.
    pub fn for_spec(spec: &Spec) -> Self {
        let (convolutions, hidden) = if spec.is_atari() {
            ([(32, 8, 4), (64, 4, 2), (64, 3, 1)].as_slice(), 512)
        } else {
            ([(16, 4, 2), (32, 3, 2)].as_slice(), 256)
        };
        Self {
            observation: [spec.stack, spec.height, spec.width],
            actions: spec.actions.len(),
            convolutions: convolution_shapes(convolutions),
            hidden,
        }
    }

    /// What the convolutions leave, flat; none if the observation is too small for them.
    fn flat(&self) -> Option<usize> {
        convolved_len(self.observation, &self.convolutions)
    }

    /// Whether such a network can be made at all: what a file says may be anything.
    pub fn is_sound(&self) -> bool {
        is_modest(self.actions) && is_modest(self.hidden) && self.flat().is_some()
    }
}

/// A policy and a value function on shared features.
#[derive(Module, Debug)]
pub struct PolicyNetwork {
    convolutions: Vec<Conv2d>,
    hidden: Linear,
    policy: Linear,
    value: Linear,
}

impl PolicyNetwork {
    /// A network before it has learned: orthogonal weights, hardly any preference for an action.
    ///
    /// # Panics
    /// If the shape is not sound.
    pub fn new(shape: &PolicyShape, seed: u64, device: &Device) -> Self {
        assert!(shape.is_sound(), "a sound shape");
        let mut stream = brex_core::stream(seed, "policy network", 0);
        let root2 = std::f64::consts::SQRT_2;
        let mut channels = shape.observation[0];
        let mut convolutions = Vec::new();
        for layer in &shape.convolutions {
            let (kernel, stride) = (layer.kernel, layer.stride);
            let ends = [channels, layer.filters];
            let made = orthogonal::convolution(ends, kernel, stride, root2, &mut stream, device);
            convolutions.push(made);
            channels = layer.filters;
        }
        let flat = shape.flat().unwrap_or(0);
        let hidden = shape.hidden;
        Self {
            convolutions,
            hidden: orthogonal::linear(flat, hidden, root2, &mut stream, device),
            policy: orthogonal::linear(hidden, shape.actions, 0.01, &mut stream, device),
            value: orthogonal::linear(hidden, 1, 1.0, &mut stream, device),
        }
    }

    /// Logits of the actions, `[batch, actions]`, and values, `[batch]`, of observations between 0
    /// and 1, `[batch, frames, rows, columns]`.
    pub fn forward(&self, observations: Tensor<4>) -> (Tensor<2>, Tensor<1>) {
        let mut x = observations;
        for layer in &self.convolutions {
            x = conv2d(layer, x, Activation::Relu);
        }
        let x = linear(&self.hidden, x.flatten(1, 3), Activation::Relu);
        let logits = linear(&self.policy, x.clone(), Activation::Identity);
        let values = linear(&self.value, x, Activation::Identity);
        (logits, values.flatten(0, 1))
    }

    /// The layer that gives values.
    pub(crate) fn value_head(&self) -> &Linear {
        &self.value
    }
}
