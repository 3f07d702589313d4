//! What the discriminator learns from: the binary cross-entropy of whose step it is.

use crate::networks::{Discriminator, DiscriminatorShape};
use crate::observations::observation_tensor;
use crate::parameters::values_of;
use burn::tensor::activation::{sigmoid, softplus};
use burn::tensor::{Device, Tensor, TensorData};

/// What was seen, and what was done then.
pub(super) struct Steps<'a> {
    pub(super) observations: Vec<&'a [u8]>,
    pub(super) actions: Vec<usize>,
}

impl Steps<'_> {
    /// The logits of the steps being an expert's.
    pub(super) fn logits(
        &self,
        network: &Discriminator,
        shape: &DiscriminatorShape,
        device: &Device,
    ) -> Tensor<1> {
        let seen = observation_tensor(&self.observations, shape.observation, device);
        network.forward(seen, one_hot(&self.actions, shape.actions, device))
    }
}

/// A 1 in each row, at the action.
fn one_hot(actions: &[usize], count: usize, device: &Device) -> Tensor<2> {
    let mut values = vec![0.0_f32; actions.len() * count];
    for (row, action) in actions.iter().enumerate() {
        values[row * count + action] = 1.0;
    }
    Tensor::from_data(TensorData::new(values, [actions.len(), count]), device)
}

/// The cross-entropy, half of it from either side, so that one who cannot tell is at log 2; and that
/// less the entropy of what is said, by its weight.
pub(super) struct Loss {
    pub(super) cross_entropy: Tensor<1>,
    pub(super) total: Tensor<1>,
}

/// The loss of logits for the experts' steps and for the agent's.
pub(super) fn loss(experts: &Tensor<1>, agent: &Tensor<1>, entropy: f64) -> Loss {
    let missed = softplus(-experts.clone(), 1.0).mean();
    let mistaken = softplus(agent.clone(), 1.0).mean();
    let cross_entropy = (missed + mistaken) * 0.5;
    let all = Tensor::cat(vec![experts.clone(), agent.clone()], 0);
    let uncertainty = (softplus(all.clone(), 1.0) - all.clone() * sigmoid(all)).mean();
    Loss {
        total: cross_entropy.clone() - uncertainty * entropy,
        cross_entropy,
    }
}

/// The share of logits on one side of zero.
pub(super) fn share(logits: Tensor<1>, is_right: impl Fn(f32) -> bool) -> f64 {
    let values = values_of(logits);
    let right = values.iter().filter(|logit| is_right(**logit)).count();
    right as f64 / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> Tensor<1> {
        let data = TensorData::new(values.to_vec(), [values.len()]);
        Tensor::from_data(data, &Device::flex())
    }

    #[test]
    fn the_loss_is_that_of_the_formula() {
        let (experts, agent, weight) = ([0.3, -1.2, 4.0], [-0.7, 2.0], 0.1);
        let d = |x: &f32| 1.0 / (1.0 + f64::from(-x).exp());
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let right = mean(&experts.each_ref().map(|x| -d(x).ln()));
        let wrong = mean(&agent.each_ref().map(|x| -(1.0 - d(x)).ln()));
        let all = experts.iter().chain(&agent);
        let entropy: Vec<f64> = all
            .map(|x| -(d(x) * d(x).ln() + (1.0 - d(x)) * (1.0 - d(x)).ln()))
            .collect();
        let expected = (right + wrong) / 2.0;
        let found = loss(&tensor(&experts), &tensor(&agent), weight);
        let number = |tensor: Tensor<1>| f64::from(tensor.into_scalar::<f32>());
        assert!((number(found.cross_entropy) - expected).abs() < 1e-6);
        assert!((number(found.total) - (expected - weight * mean(&entropy))).abs() < 1e-6);
    }

    #[test]
    fn who_cannot_tell_is_at_log_2() {
        let found = loss(&tensor(&[0.0; 4]), &tensor(&[0.0; 7]), 0.0);
        let found = f64::from(found.cross_entropy.into_scalar::<f32>());
        assert!((found - std::f64::consts::LN_2).abs() < 1e-6);
        assert_eq!(share(tensor(&[-1.0, 2.0, 3.0, 4.0]), |x| x > 0.0), 0.75);
    }

    #[test]
    fn every_action_has_its_place() {
        let found = values_of(one_hot(&[2, 0], 3, &Device::flex()));
        assert_eq!(found, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    }
}
