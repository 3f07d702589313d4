//! Learning from what was played: the clipped objective, epoch after epoch.

use crate::adam::Adam;
use crate::networks::PolicyNetwork;
use crate::observations::observation_tensor;
use crate::ppo::PpoConfig;
use crate::ppo::collect::Batch;
use brex_core::Stream;
use burn::optim::GradientsParams;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::seq::SliceRandom;

/// How an update went, averaged over its minibatches.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct UpdateStatistics {
    /// The loss of the policy.
    pub policy_loss: f64,
    /// The loss of the values.
    pub value_loss: f64,
    /// How undecided the policy is, in nats.
    pub entropy: f64,
    /// How far the policy moved: an estimate of the Kullback-Leibler divergence from the old one.
    pub divergence: f64,
    /// The share of actions whose probability moved to the limit.
    pub clipped: f64,
    /// The norm of the gradient before clipping.
    pub gradient_norm: f64,
}

impl UpdateStatistics {
    fn is_finite(&self) -> bool {
        [self.policy_loss, self.value_loss, self.gradient_norm]
            .iter()
            .all(|value| value.is_finite())
    }
}

/// What stays the same over an update.
pub(crate) struct Lesson<'a> {
    pub(crate) config: &'a PpoConfig,
    pub(crate) batch: &'a Batch,
    pub(crate) advantages: &'a [f32],
    pub(crate) returns: &'a [f32],
    pub(crate) observation: [usize; 3],
    /// Learning rate and clipping range of this update.
    pub(crate) learning_rate: f64,
    pub(crate) clip: f64,
    /// Whether the policy stays as it is.
    pub(crate) values_only: bool,
    pub(crate) device: &'a Device,
}

impl Lesson<'_> {
    /// The network after the update. An error holds the statistics of the minibatch that was not
    /// finite.
    pub(crate) fn improve(
        &self,
        mut network: PolicyNetwork,
        adam: &mut Adam,
        random: &mut Stream,
    ) -> Result<(PolicyNetwork, UpdateStatistics), UpdateStatistics> {
        let size = self.batch.actions.len();
        let mut order: Vec<usize> = (0..size).collect();
        let mut total = UpdateStatistics::default();
        let mut count = 0.0;
        for _ in 0..self.config.epochs {
            order.shuffle(random);
            for part in order.chunks(size.div_ceil(self.config.minibatches)) {
                let (loss, mut statistics) = self.loss(&network, part);
                let gradients = match self.values_only {
                    true => GradientsParams::from_grads(loss.backward(), network.value_head()),
                    false => GradientsParams::from_grads(loss.backward(), &network),
                };
                (network, statistics.gradient_norm) =
                    adam.step(network, gradients, self.learning_rate);
                if !statistics.is_finite() {
                    return Err(statistics);
                }
                total.policy_loss += statistics.policy_loss;
                total.value_loss += statistics.value_loss;
                total.entropy += statistics.entropy;
                total.divergence += statistics.divergence;
                total.clipped += statistics.clipped;
                total.gradient_norm += statistics.gradient_norm;
                count += 1.0;
            }
        }
        let mean = UpdateStatistics {
            policy_loss: total.policy_loss / count,
            value_loss: total.value_loss / count,
            entropy: total.entropy / count,
            divergence: total.divergence / count,
            clipped: total.clipped / count,
            gradient_norm: total.gradient_norm / count,
        };
        Ok((network, mean))
    }

    /// The loss on some of the steps.
    fn loss(&self, network: &PolicyNetwork, part: &[usize]) -> (Tensor<1>, UpdateStatistics) {
        let batch = self.batch;
        let each: usize = self.observation.iter().product();
        let seen = part
            .iter()
            .map(|at| &batch.observations[at * each..][..each]);
        let seen: Vec<&[u8]> = seen.collect();
        let (logits, values) =
            network.forward(observation_tensor(&seen, self.observation, self.device));

        let all = log_softmax(logits, 1);
        let actions: Vec<i64> = part.iter().map(|at| batch.actions[*at] as i64).collect();
        let actions = TensorData::new(actions, [part.len(), 1]);
        let actions = Tensor::<2, Int>::from_data(actions, self.device);
        let chosen: Tensor<1> = all.clone().gather(1, actions).flatten(0, 1);
        let log_ratio = chosen - self.pick(&batch.log_probabilities, part);
        let ratio = log_ratio.exp();

        let advantages = self.column(normalised(self.advantages, part));
        let (least, most) = (1.0 - self.clip, 1.0 + self.clip);
        let free = advantages.clone() * ratio.clone();
        let held = advantages * ratio.clone().clamp(least, most);
        let policy_loss = -free.min_pair(held).mean();

        let returns = self.pick(self.returns, part);
        let mut errors = (values.clone() - returns.clone()).square();
        if self.config.clip_values && !self.values_only {
            let before = self.pick(&batch.values, part);
            let moved = (values - before.clone()).clamp(-self.clip, self.clip);
            errors = errors.max_pair((before + moved - returns).square());
        }
        let value_loss = errors.mean() * 0.5;

        let entropy = -(all.clone().exp() * all).sum_dim(1).mean();
        let loss = policy_loss.clone() + value_loss.clone() * self.config.value
            - entropy.clone() * self.config.entropy;
        let ratios = crate::parameters::values_of(ratio.detach());
        let statistics = UpdateStatistics {
            policy_loss: number(policy_loss),
            value_loss: number(value_loss),
            entropy: number(entropy),
            divergence: mean(&ratios, |ratio| (ratio - 1.0) - ratio.ln()),
            clipped: mean(&ratios, |ratio| f64::from((ratio - 1.0).abs() > self.clip)),
            gradient_norm: 0.0,
        };
        (loss, statistics)
    }

    fn pick(&self, all: &[f32], part: &[usize]) -> Tensor<1> {
        self.column(part.iter().map(|at| all[*at]).collect())
    }

    fn column(&self, values: Vec<f32>) -> Tensor<1> {
        let count = values.len();
        Tensor::from_data(TensorData::new(values, [count]), self.device)
    }
}

/// Some of the values, shifted and scaled to mean 0 and deviation 1.
fn normalised(all: &[f32], part: &[usize]) -> Vec<f32> {
    let count = part.len() as f64;
    let values = || part.iter().map(|at| f64::from(all[*at]));
    let mean = values().sum::<f64>() / count;
    let variance = values().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    let scale = (variance.sqrt() + 1e-8).recip();
    values().map(|v| ((v - mean) * scale) as f32).collect()
}

fn number(tensor: Tensor<1>) -> f64 {
    f64::from(tensor.into_scalar::<f32>())
}

fn mean(values: &[f32], of: impl Fn(f64) -> f64) -> f64 {
    values.iter().map(|v| of(f64::from(*v))).sum::<f64>() / values.len() as f64
}
