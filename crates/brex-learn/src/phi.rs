//! The frozen encoder: features of frames, and their sums over episodes.

use crate::networks::{Encoder, EncoderShape};
use crate::observations::observation_tensor;
use crate::parameters::values_of;
use crate::ppo::{PlayedSteps, RewardFunction};
use crate::pretrain::SeenEpisode;
use brex_core::Episode;
use brex_envs::{Environment, ReplayError, replay};
use burn::tensor::Device;

/// Frames that are encoded together. What a network gives for a frame may depend, in its last
/// digit, on how many there are; so this number does not depend on the machine.
const TOGETHER: usize = 256;

/// An encoder that learns no more.
#[derive(Debug, Clone)]
pub struct Phi {
    encoder: Encoder,
    shape: EncoderShape,
    device: Device,
}

/// Phi of an episode: the sum of its frames' features.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureSum {
    /// The sum.
    pub values: Vec<f64>,
    /// The sum of the squares of phi's norm over the frames.
    pub squares: f64,
    /// How many frames there were.
    pub length: usize,
}

impl Phi {
    pub(crate) fn new(encoder: Encoder, shape: EncoderShape, device: Device) -> Self {
        Self {
            encoder,
            shape,
            device,
        }
    }

    /// An encoder that has learned nothing, to compare others with.
    pub fn untrained(shape: &EncoderShape, seed: u64, device: &Device) -> Self {
        let encoder = Encoder::new(shape, seed, device);
        Self::new(encoder, shape.clone(), device.clone())
    }

    /// Its shape.
    pub fn shape(&self) -> &EncoderShape {
        &self.shape
    }

    /// The features of masked observations, row by row.
    pub fn features(&self, masked: &[&[u8]]) -> Vec<f32> {
        let input = observation_tensor(masked, self.shape.observation, &self.device);
        values_of(self.encoder.features(input))
    }

    /// The root of the mean square of phi's norm over the frames of episodes; 1 if there is none.
    pub fn norm(&self, episodes: &[SeenEpisode]) -> f64 {
        let (mut squares, mut frames) = (0.0, 0.0);
        for episode in episodes {
            self.each_frame(episode, |features| {
                frames += 1.0;
                squares += features.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
            });
        }
        let norm = f64::sqrt(squares / f64::max(frames, 1.0));
        if norm > 0.0 { norm } else { 1.0 }
    }

    /// Calls `each` with the features of every frame of an episode, in order.
    pub fn each_frame(&self, episode: &SeenEpisode, mut each: impl FnMut(&[f32])) {
        let count = self.shape.feature_count();
        for begin in (0..episode.len()).step_by(TOGETHER) {
            let end = episode.len().min(begin + TOGETHER);
            let frames: Vec<&[u8]> = (begin..end).map(|at| episode.observation(at)).collect();
            for row in self.features(&frames).chunks_exact(count) {
                each(row);
            }
        }
    }
}

/// The sums that several encoders give for an episode, which is played again once. Frames are
/// forgotten as soon as they are encoded, so that an episode may be very long, and one that looks like
/// the one before it is not encoded again: who does nothing often sees nothing new.
///
/// # Panics
/// If an encoder is for frames of another size.
pub fn replayed_sums(
    encoders: &[&Phi],
    env: &mut dyn Environment,
    episode: &Episode,
) -> Result<Vec<FeatureSum>, ReplayError> {
    let spec = env.spec().clone();
    let each = spec.observation_len();
    let sum_of = |phi: &&Phi| FeatureSum {
        values: vec![0.0; phi.shape.feature_count()],
        squares: 0.0,
        length: episode.actions.len(),
    };
    let mut sums: Vec<FeatureSum> = encoders.iter().map(sum_of).collect();
    let mut add = |frames: &mut Vec<u8>, times: &mut Vec<f64>| {
        let masked: Vec<&[u8]> = frames.chunks_exact(each).collect();
        for (phi, sum) in encoders.iter().zip(&mut sums) {
            sum.add(&phi.features(&masked), times);
        }
        frames.clear();
        times.clear();
    };
    let mut frames = Vec::with_capacity(each * TOGETHER.min(episode.actions.len()));
    let mut times: Vec<f64> = Vec::new();
    let mut masked = vec![0; each];
    let mut first = true;
    replay(env, episode, |seen, _| {
        if std::mem::take(&mut first) {
            return;
        }
        masked.copy_from_slice(seen);
        spec.mask(&mut masked);
        if let Some(again) = times.last_mut()
            && frames.ends_with(&masked)
        {
            *again += 1.0;
            return;
        }
        if times.len() == TOGETHER {
            add(&mut frames, &mut times);
        }
        frames.extend_from_slice(&masked);
        times.push(1.0);
    })?;
    if !frames.is_empty() {
        add(&mut frames, &mut times);
    }
    Ok(sums)
}

/// The sum over the first steps of an episode, and the score then. The episode is played again to
/// its end, so that it is known to be the recorded one.
///
/// # Panics
/// If the encoder is for frames of another size.
pub fn replayed_prefix(
    phi: &Phi,
    env: &mut dyn Environment,
    episode: &Episode,
    steps: usize,
) -> Result<(FeatureSum, f64), ReplayError> {
    let spec = env.spec().clone();
    let (mut frames, mut score, mut first) = (Vec::new(), 0.0, true);
    let mut left = steps.min(episode.actions.len());
    let length = left;
    replay(env, episode, |seen, reward| {
        if std::mem::take(&mut first) || left == 0 {
            return;
        }
        left -= 1;
        score += reward;
        let begin = frames.len();
        frames.extend_from_slice(seen);
        spec.mask(&mut frames[begin..]);
    })?;
    let mut sum = FeatureSum {
        values: vec![0.0; phi.shape.feature_count()],
        squares: 0.0,
        length,
    };
    let seen: Vec<&[u8]> = frames.chunks_exact(spec.observation_len()).collect();
    for together in seen.chunks(TOGETHER) {
        sum.add(&phi.features(together), &vec![1.0; together.len()]);
    }
    Ok((sum, score))
}

impl FeatureSum {
    /// Adds the features of frames, row by row, each as often as it was seen.
    fn add(&mut self, features: &[f32], times: &[f64]) {
        for (row, times) in features.chunks_exact(self.values.len()).zip(times) {
            for (sum, value) in self.values.iter_mut().zip(row) {
                *sum += times * f64::from(*value);
                self.squares += times * f64::from(*value) * f64::from(*value);
            }
        }
    }
}

/// What is done to a learned reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Squash {
    /// Nothing, as Bayesian REX does.
    Nothing,
    /// A sigmoid, as T-REX does: every frame is worth something.
    Sigmoid,
    /// A sigmoid less a half: what is worth nothing stays so, and what costs something too.
    FromZero,
}

impl Squash {
    fn of(self, value: f64) -> f64 {
        match self {
            Self::Nothing => value,
            Self::Sigmoid => 1.0 / (1.0 + (-value).exp()),
            Self::FromZero => (value / 2.0).tanh() / 2.0,
        }
    }
}

/// A reward that is linear in the features of what is seen.
#[derive(Debug, Clone)]
pub struct LearnedReward {
    phi: Phi,
    weights: Vec<f64>,
    bias: f64,
    squash: Squash,
}

impl LearnedReward {
    /// The reward `squash(weights . phi(s) + bias)`.
    ///
    /// # Panics
    /// If there is not one weight for each feature.
    pub fn new(phi: Phi, weights: Vec<f64>, bias: f64, squash: Squash) -> Self {
        let count = phi.shape().feature_count();
        assert_eq!(weights.len(), count, "one weight for each feature");
        Self {
            phi,
            weights,
            bias,
            squash,
        }
    }

    fn of_each(&self, masked: &[&[u8]]) -> Vec<f32> {
        let features = self.phi.features(masked);
        let rows = features.chunks_exact(self.weights.len());
        let values = rows.map(|row| {
            let pairs = row.iter().zip(&self.weights);
            let value = pairs.map(|(f, w)| f64::from(*f) * w).sum::<f64>() + self.bias;
            self.squash.of(value) as f32
        });
        values.collect()
    }
}

/// The average of several rewards, as an ensemble gives it.
#[derive(Debug, Clone)]
pub struct AverageReward {
    rewards: Vec<LearnedReward>,
}

impl AverageReward {
    /// Of these.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(rewards: Vec<LearnedReward>) -> Self {
        assert!(!rewards.is_empty(), "at least one reward");
        Self { rewards }
    }

    fn of_each(&self, masked: &[&[u8]]) -> Vec<f32> {
        let mut sums = vec![0.0; masked.len()];
        for reward in &self.rewards {
            for (sum, value) in sums.iter_mut().zip(reward.of_each(masked)) {
                *sum += f64::from(value);
            }
        }
        let count = self.rewards.len() as f64;
        sums.into_iter().map(|sum| (sum / count) as f32).collect()
    }
}

impl RewardFunction for AverageReward {
    fn score(&mut self, played: &PlayedSteps<'_>, rewards: &mut [f32]) {
        rewards.copy_from_slice(&self.of_each(&played.seen_after()));
    }
}

impl RewardFunction for LearnedReward {
    /// For what an action led to, as in the paper.
    fn score(&mut self, played: &PlayedSteps<'_>, rewards: &mut [f32]) {
        rewards.copy_from_slice(&self.of_each(&played.seen_after()));
    }
}
