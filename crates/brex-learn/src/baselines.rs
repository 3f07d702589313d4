//! The bounds that the paper compares with: ensembles of T-REX networks, and MC dropout of the last
//! layer. Both give samples of a policy's return instead of weights.

use crate::phi::FeatureSum;
use crate::pretrain::dropout_mask;
use brex_core::Stream;

/// A reward that is linear in features: the last layer of a T-REX network.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearReward {
    /// One weight for each feature.
    pub weights: Vec<f64>,
    /// What every step adds.
    pub bias: f64,
}

impl LinearReward {
    /// The return of an episode.
    pub fn of(&self, sum: &FeatureSum) -> f64 {
        self.masked(sum, |weight, value, _| weight * value)
    }

    fn masked(&self, sum: &FeatureSum, each: impl Fn(f64, f64, usize) -> f64) -> f64 {
        let pairs = self.weights.iter().zip(&sum.values).enumerate();
        let features: f64 = pairs.map(|(at, (w, v))| each(*w, *v, at)).sum();
        features + self.bias * sum.length as f64
    }
}

/// Samples of a policy's return by an ensemble: every network's return of every rollout, shifted by
/// that network's mean return of a policy that all are measured from. `rollouts` and `origin` hold
/// the sums of one episode by each network in turn.
pub fn ensemble_samples(
    networks: &[LinearReward],
    rollouts: &[Vec<FeatureSum>],
    origin: &[Vec<FeatureSum>],
) -> Vec<f64> {
    let mut samples = Vec::with_capacity(networks.len() * rollouts.len());
    for (index, network) in networks.iter().enumerate() {
        let shift = origin
            .iter()
            .map(|sums| network.of(&sums[index]))
            .sum::<f64>();
        let shift = shift / origin.len().max(1) as f64;
        samples.extend(rollouts.iter().map(|sums| network.of(&sums[index]) - shift));
    }
    samples
}

/// Samples of a policy's return by MC dropout: `masks` fresh masks for every rollout.
pub fn dropout_samples(
    network: &LinearReward,
    rollouts: &[FeatureSum],
    share: f64,
    masks: usize,
    random: &mut Stream,
) -> Vec<f64> {
    let mut samples = Vec::with_capacity(masks * rollouts.len());
    for sum in rollouts {
        for _ in 0..masks {
            let mask = dropout_mask(share, network.weights.len(), random);
            samples.push(network.masked(sum, |weight, value, at| weight * value * mask[at]));
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::stream;

    fn sum(values: &[f64], length: usize) -> FeatureSum {
        FeatureSum {
            values: values.to_vec(),
            squares: 0.0,
            length,
        }
    }

    fn reward(weights: &[f64], bias: f64) -> LinearReward {
        LinearReward {
            weights: weights.to_vec(),
            bias,
        }
    }

    /// Networks that differ by a constant a step agree once they are measured from one policy.
    #[test]
    fn an_ensemble_is_measured_from_one_policy() {
        let networks = [reward(&[1.0, 2.0], 0.5), reward(&[1.0, 2.0], 7.5)];
        let episode = |values: [f64; 2]| vec![sum(&values, 10), sum(&values, 10)];
        let origin = [episode([0.0, 1.0]), episode([2.0, 1.0])];
        let samples = ensemble_samples(&networks, &[episode([4.0, 3.0])], &origin);
        // The origin's returns are 2 and 4 plus a constant; the rollout's is 10 plus the same.
        assert_eq!(samples, [7.0, 7.0]);
        let own = ensemble_samples(&networks, &origin, &origin);
        assert!(own.iter().sum::<f64>().abs() < 1e-12);
    }

    /// Mean and variance over masks have closed forms.
    #[test]
    fn dropout_has_the_moments_of_its_masks() {
        let network = reward(&[1.0, -2.0, 0.5, 3.0], 0.25);
        let rollout = sum(&[2.0, 1.0, 4.0, -1.0], 8);
        for share in [0.5, 0.2] {
            let mut random = stream(1, "test", 0);
            let rollouts = std::slice::from_ref(&rollout);
            let samples = dropout_samples(&network, rollouts, share, 200_000, &mut random);
            let count = samples.len() as f64;
            let mean = samples.iter().sum::<f64>() / count;
            let variance = samples.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count;
            // Products 2, -2, 2 and -3, and 0.25 for each of 8 steps.
            let expected = (1.0, (4.0 + 4.0 + 4.0 + 9.0) * share / (1.0 - share));
            assert!((mean - expected.0).abs() < 0.05, "{share}: {mean}");
            assert!(
                (variance / expected.1 - 1.0).abs() < 0.02,
                "{share}: {variance}"
            );
        }
        let none = dropout_samples(
            &network,
            std::slice::from_ref(&rollout),
            0.0,
            3,
            &mut stream(1, "test", 0),
        );
        assert_eq!(none, [network.of(&rollout); 3]);
    }
}
