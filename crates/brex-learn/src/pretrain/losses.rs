//! The five losses on a batch of snippet pairs. Each is the sum of what it is for the worse and for
//! the better snippet, averaged over the pairs.

use super::pixel_error::pixel_error;
use super::snippets::{Pair, Snippet};
use super::{PretrainConfig, RankedDemonstrations};
use crate::layers::{Activation, linear};
use crate::networks::{PretrainNetwork, PretrainShape};
use crate::observations::observation_tensor;
use crate::parameters::values_of;
use brex_core::Stream;
use burn::tensor::activation::{log_softmax, softplus};
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

/// A mask of MC dropout: each feature is dropped with a probability of `share`, and what is left
/// grows so that the mean stays.
pub fn dropout_mask(share: f64, features: usize, random: &mut impl Rng) -> Vec<f64> {
    let mut one = || {
        let kept = random.random::<f64>() >= share;
        if kept { 1.0 / (1.0 - share) } else { 0.0 }
    };
    (0..features).map(|_| one()).collect()
}

/// Steps that forward dynamics looks ahead.
const AHEAD: usize = 5;

/// The losses of an update, before their weights; those that do not count are 0.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Losses {
    /// All of them with their weights.
    pub total: f64,
    /// Cross-entropy of which snippet is better.
    pub ranking: f64,
    /// The share of pairs whose better snippet got the greater return.
    pub ranking_accuracy: f64,
    /// Binary cross-entropy of the pixels.
    pub reconstruction: f64,
    /// Divergence of the features' distribution from the standard normal one, a pixel.
    pub divergence: f64,
    /// Squared error of the time between frames, in hundreds.
    pub temporal: f64,
    /// Cross-entropy of the actions.
    pub inverse: f64,
    /// Squared error of the features five steps on.
    pub forward: f64,
}

impl Losses {
    /// Names and values.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("total", self.total),
            ("ranking", self.ranking),
            ("ranking_accuracy", self.ranking_accuracy),
            ("reconstruction", self.reconstruction),
            ("divergence", self.divergence),
            ("temporal", self.temporal),
            ("inverse", self.inverse),
            ("forward", self.forward),
        ]
    }
}

/// Snippets and where their frames stand in the batch.
pub(super) struct Batch<'a> {
    pub(super) data: &'a RankedDemonstrations,
    pub(super) shape: &'a PretrainShape,
    pub(super) pairs: &'a [Pair],
    pub(super) device: &'a Device,
}

/// Rows of a batch with a weight each, so that every snippet counts once whatever its length.
#[derive(Default)]
struct Rows {
    rows: Vec<i64>,
    weights: Vec<f32>,
}

impl Batch<'_> {
    /// All snippets with the row of their first frame: the worse and the better one in turns.
    fn snippets(&self) -> impl Iterator<Item = (usize, &Snippet)> {
        let mut row = 0;
        self.pairs.iter().flatten().map(move |snippet| {
            let first = row;
            row += snippet.len;
            (first, snippet)
        })
    }

    pub(super) fn frames(&self) -> Vec<&[u8]> {
        let frames = self.snippets().flat_map(|(_, snippet)| {
            let episode = &self.data.episodes[snippet.episode];
            (0..snippet.len).map(move |frame| episode.observation(snippet.time(frame)))
        });
        frames.collect()
    }

    fn action(&self, snippet: &Snippet, frame: usize) -> usize {
        usize::from(self.data.episodes[snippet.episode].actions[snippet.time(frame)])
    }

    /// The loss to go down, and what it is made of. `redrawn` frames are drawn again.
    pub(super) fn loss(
        &self,
        network: &PretrainNetwork,
        config: &PretrainConfig,
        random: &mut Stream,
    ) -> (Tensor<1>, Losses) {
        let (weights, redrawn) = (&config.losses, config.redrawn);
        let frames = self.frames();
        let observation = self.shape.encoder.observation;
        let input = observation_tensor(&frames, observation, self.device);
        let encoded = network.encoder.forward(input.clone());
        let mean = encoded.mean;
        let sample = match &encoded.log_variance {
            Some(log_variance) => mean.clone() + self.noise(log_variance, random),
            None => mean.clone(),
        };
        let mut losses = Losses::default();
        let mut total = Tensor::zeros([1], self.device);
        let mut add = |value: &mut f64, weight: f64, loss: Tensor<1>| {
            *value = f64::from(values_of(loss.clone().detach())[0]);
            losses.total += weight * *value;
            total = total.clone() + loss * weight;
        };
        if weights.ranking > 0.0 {
            let ranked = match config.dropout {
                Some(share) => sample.clone() * self.kept(share, sample.dims(), random),
                None => sample.clone(),
            };
            let margins = self.margins(network, ranked);
            let right = values_of(margins.clone().detach());
            let right = right.iter().filter(|margin| **margin > 0.0).count();
            losses.ranking_accuracy = right as f64 / self.pairs.len() as f64;
            add(
                &mut losses.ranking,
                weights.ranking,
                softplus(-margins, 1.0).mean(),
            );
        }
        if weights.reconstruction > 0.0 {
            let (rows, drawn) = self.chosen(frames.len(), redrawn, random);
            let (logits, target) = match rows {
                None => (network.decoder.forward(sample), input),
                Some(rows) => {
                    let picked: Vec<&[u8]> = drawn.iter().map(|at| frames[*at]).collect();
                    let target = observation_tensor(&picked, observation, self.device);
                    (network.decoder.forward(sample.select(0, rows)), target)
                }
            };
            let error = pixel_error(logits, target) * 2.0;
            add(&mut losses.reconstruction, weights.reconstruction, error);
            if let Some(log_variance) = encoded.log_variance {
                let divergence = self.divergence(mean.clone(), log_variance);
                add(&mut losses.divergence, weights.reconstruction, divergence);
            }
        }
        if weights.temporal > 0.0 {
            let error = self.temporal(network, &mean, random);
            add(&mut losses.temporal, weights.temporal, error);
        }
        if weights.inverse > 0.0 {
            let error = self.inverse(network, &mean);
            add(&mut losses.inverse, weights.inverse, error);
        }
        if weights.forward > 0.0 {
            let error = self.forward(network, mean);
            add(&mut losses.forward, weights.forward, error);
        }
        (total, losses)
    }

    /// Normal noise with the features' deviation.
    fn noise(&self, log_variance: &Tensor<2>, random: &mut Stream) -> Tensor<2> {
        let dims = log_variance.dims();
        let noise = std::iter::repeat_with(|| StandardNormal.sample(random));
        let noise: Vec<f32> = noise.take(dims[0] * dims[1]).collect();
        let noise = Tensor::from_data(TensorData::new(noise, dims), self.device);
        (log_variance.clone() * 0.5).exp() * noise
    }

    /// What features are multiplied with: for each pair some are dropped, in all its frames.
    fn kept(&self, share: f64, dims: [usize; 2], random: &mut Stream) -> Tensor<2> {
        let [frames, features] = dims;
        let mut kept = Vec::with_capacity(frames * features);
        for pair in self.pairs {
            let mask = dropout_mask(share, features, random);
            for _ in 0..pair[0].len + pair[1].len {
                kept.extend(mask.iter().map(|factor| *factor as f32));
            }
        }
        Tensor::from_data(TensorData::new(kept, dims), self.device)
    }

    /// By how much the better snippet's return is greater, for each pair.
    pub(super) fn margins(&self, network: &PretrainNetwork, features: Tensor<2>) -> Tensor<1> {
        let count = features.dims()[0];
        let rewards = linear(&network.reward, features, Activation::Identity);
        let mut signs = vec![0.0_f32; self.pairs.len() * count];
        for (index, (first, snippet)) in self.snippets().enumerate() {
            let sign = if index % 2 == 0 { -1.0 } else { 1.0 };
            signs[index / 2 * count + first..][..snippet.len].fill(sign);
        }
        let signs = TensorData::new(signs, [self.pairs.len(), count]);
        let signs = Tensor::<2>::from_data(signs, self.device);
        signs.matmul(rewards).flatten(0, 1)
    }

    /// Which frames are drawn again; no rows means all of them, in order.
    fn chosen(
        &self,
        count: usize,
        redrawn: Option<usize>,
        random: &mut Stream,
    ) -> (Option<Tensor<1, Int>>, Vec<usize>) {
        match redrawn {
            Some(redrawn) if redrawn < count => {
                let chosen = rand::seq::index::sample(random, count, redrawn).into_vec();
                let rows: Vec<i64> = chosen.iter().map(|at| *at as i64).collect();
                (Some(self.indices(rows)), chosen)
            }
            _ => (None, Vec::new()),
        }
    }

    fn divergence(&self, mean: Tensor<2>, log_variance: Tensor<2>) -> Tensor<1> {
        let each = log_variance.clone() - mean.square() - log_variance.exp() + 1.0;
        let pixels: usize = self.shape.encoder.observation.iter().product();
        let weights = self.snippets().flat_map(|(_, snippet)| {
            let weight = -0.5 / (snippet.len * pixels * self.pairs.len()) as f32;
            std::iter::repeat_n(weight, snippet.len)
        });
        let weights = self.column(weights.collect());
        (each.sum_dim(1) * weights).sum()
    }

    /// One pair of frames of each snippet: how long after the first is the second?
    fn temporal(
        &self,
        network: &PretrainNetwork,
        mean: &Tensor<2>,
        random: &mut Stream,
    ) -> Tensor<1> {
        let (mut from, mut to, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for (first, snippet) in self.snippets() {
            let frames = [(); 2].map(|()| random.random_range(0..snippet.len));
            from.push((first + frames[0]) as i64);
            to.push((first + frames[1]) as i64);
            let [before, after] = frames.map(|frame| snippet.time(frame) as f32);
            times.push((after - before) / 100.0);
        }
        let two = [from, to].map(|rows| mean.clone().select(0, self.indices(rows)));
        let guess = linear(
            &network.temporal,
            Tensor::cat(two.to_vec(), 1),
            Activation::Identity,
        );
        (guess - self.column(times)).square().mean() * 2.0
    }

    /// Consecutive frames: which action lies between them?
    fn inverse(&self, network: &PretrainNetwork, mean: &Tensor<2>) -> Tensor<1> {
        let (mut from, mut to) = (Vec::new(), Rows::default());
        let mut actions = Vec::new();
        for (first, snippet) in self.snippets() {
            for frame in 1..snippet.len {
                from.push((first + frame - 1) as i64);
                to.rows.push((first + frame) as i64);
                to.weights.push(self.share(snippet.len - 1));
                actions.push(self.action(snippet, frame) as i64);
            }
        }
        let count = actions.len();
        let two = [from, to.rows].map(|rows| mean.clone().select(0, self.indices(rows)));
        let logits = linear(
            &network.inverse,
            Tensor::cat(two.to_vec(), 1),
            Activation::Identity,
        );
        let actions = TensorData::new(actions, [count, 1]);
        let actions = Tensor::<2, Int>::from_data(actions, self.device);
        let chosen = log_softmax(logits, 1).gather(1, actions);
        -(chosen * self.column(to.weights)).sum()
    }

    /// From the features of a frame and the next five actions: the features then.
    fn forward(&self, network: &PretrainNetwork, mean: Tensor<2>) -> Tensor<1> {
        let (mut from, mut to) = (Vec::new(), Rows::default());
        let count = self.shape.actions;
        let mut done: [Vec<f32>; AHEAD] = Default::default();
        for (first, snippet) in self.snippets() {
            for frame in AHEAD..snippet.len {
                from.push((first + frame - AHEAD) as i64);
                to.rows.push((first + frame) as i64);
                let features = self.shape.encoder.feature_count();
                to.weights
                    .push(self.share((snippet.len - AHEAD) * features));
                for (step, done) in done.iter_mut().enumerate() {
                    let begin = done.len();
                    done.resize(begin + count, 0.0);
                    done[begin + self.action(snippet, frame - AHEAD + step + 1)] = 1.0;
                }
            }
        }
        if from.is_empty() {
            return Tensor::zeros([1], self.device);
        }
        let rows = from.len();
        let target = mean.clone().select(0, self.indices(to.rows));
        let mut state = mean.select(0, self.indices(from));
        for done in done {
            let done = Tensor::from_data(TensorData::new(done, [rows, count]), self.device);
            let input = Tensor::cat(vec![state, done], 1);
            state = linear(&network.dynamics, input, Activation::Identity);
        }
        ((state - target).square().sum_dim(1) * self.column(to.weights)).sum()
    }

    /// The weight of one of `count` things of a snippet.
    fn share(&self, count: usize) -> f32 {
        1.0 / (count * self.pairs.len()) as f32
    }

    fn indices(&self, rows: Vec<i64>) -> Tensor<1, Int> {
        let count = rows.len();
        Tensor::from_data(TensorData::new(rows, [count]), self.device)
    }

    fn column(&self, values: Vec<f32>) -> Tensor<2> {
        let count = values.len();
        Tensor::from_data(TensorData::new(values, [count, 1]), self.device)
    }
}

#[cfg(test)]
mod tests;
