//! An agent that plays: a policy network without its gradients.

use crate::networks::{PolicyNetwork, PolicyShape};
use crate::observations::observation_tensor;
use crate::parameters::values_of;
use brex_core::Stream;
use burn::tensor::Device;
use rand::RngExt;

/// A policy as it plays.
#[derive(Debug, Clone)]
pub struct Agent {
    network: PolicyNetwork,
    shape: PolicyShape,
    device: Device,
    serves: bool,
}

/// What an agent chose, for each of several observations.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// The actions.
    pub actions: Vec<usize>,
    /// The logarithms of their probabilities.
    pub log_probabilities: Vec<f32>,
    /// What the states are worth.
    pub values: Vec<f32>,
}

impl Agent {
    pub(crate) fn new(network: PolicyNetwork, shape: PolicyShape, device: Device) -> Self {
        Self {
            network,
            shape,
            device,
            serves: false,
        }
    }

    /// The same agent, for whom play is begun where the game waits, or not.
    pub(crate) fn serving(self, serves: bool) -> Self {
        Self { serves, ..self }
    }

    /// The shape of its network.
    pub fn shape(&self) -> &PolicyShape {
        &self.shape
    }

    /// Whether play is begun for it where the game waits.
    pub fn serves(&self) -> bool {
        self.serves
    }

    /// Logits, row by row, and values.
    fn look(&self, observations: &[&[u8]]) -> (Vec<f32>, Vec<f32>) {
        let tensor = observation_tensor(observations, self.shape.observation, &self.device);
        let (logits, values) = self.network.forward(tensor);
        (values_of(logits), values_of(values))
    }

    /// What the states are worth.
    pub fn values(&self, observations: &[&[u8]]) -> Vec<f32> {
        self.look(observations).1
    }

    /// The most probable action for each observation; of equal ones the first.
    pub fn most_probable(&self, observations: &[&[u8]]) -> Vec<usize> {
        let (logits, _) = self.look(observations);
        let rows = logits.chunks_exact(self.shape.actions);
        rows.map(highest).collect()
    }

    /// Draws an action for each observation; one random number each, in their order.
    pub fn act(&self, observations: &[&[u8]], random: &mut Stream) -> Choices {
        let places = observations.iter().map(|_| random.random::<f64>());
        self.act_at(observations, &places.collect::<Vec<f64>>())
    }

    /// The actions at places between 0 and 1 of their distributions, one for each observation.
    pub fn act_at(&self, observations: &[&[u8]], places: &[f64]) -> Choices {
        let (logits, values) = self.look(observations);
        let mut choices = Choices {
            actions: Vec::with_capacity(values.len()),
            log_probabilities: Vec::with_capacity(values.len()),
            values,
        };
        let rows = logits.chunks_exact(self.shape.actions);
        for (row, place) in rows.zip(places) {
            let (action, log_probability) = draw(row, *place);
            choices.actions.push(action);
            choices.log_probabilities.push(log_probability);
        }
        choices
    }
}

/// The place of the highest value; of equal ones the first.
pub(crate) fn highest(values: &[f32]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = index;
        }
    }
    best
}

/// The action at a place between 0 and 1 of the distribution, and the logarithm of its probability.
fn draw(logits: &[f32], place: f64) -> (usize, f32) {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weight = |logit: &f32| f64::from(logit - highest).exp();
    let total: f64 = logits.iter().map(weight).sum();
    let mut left = place * total;
    let mut action = logits.len() - 1;
    for (index, logit) in logits.iter().enumerate() {
        left -= weight(logit);
        if left < 0.0 {
            action = index;
            break;
        }
    }
    let log_probability = f64::from(logits[action] - highest) - total.ln();
    (action, log_probability as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_come_as_often_as_their_logits_say() {
        let logits = [0.0, 2.0_f32.ln(), f32::NEG_INFINITY, 5.0_f32.ln()];
        let mut counts = [0; 4];
        for index in 0..8000 {
            let (action, log_probability) = draw(&logits, (f64::from(index) + 0.5) / 8000.0);
            counts[action] += 1;
            let expected = f64::from([1.0_f32, 2.0, 0.0, 5.0][action] / 8.0).ln();
            assert!((f64::from(log_probability) - expected).abs() < 1e-6);
        }
        assert_eq!(counts, [1000, 2000, 0, 5000]);
        assert_eq!(draw(&logits, 1.0).0, 3);
        assert_eq!((highest(&logits), highest(&[1.0, 2.0, 2.0])), (3, 1));
    }
}
