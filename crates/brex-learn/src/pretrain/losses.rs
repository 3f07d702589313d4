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
mod tests {
    use super::*;
    use crate::LossWeights;
    use crate::networks::{DecoderShape, EncoderShape, PretrainShape};
    use crate::parameters::parameters;
    use crate::pretrain::demonstrations::tests::made_up;
    use brex_core::stream;

    fn shape() -> PretrainShape {
        let spec = brex_envs::make("pocket:breakout").unwrap().spec().clone();
        PretrainShape {
            encoder: EncoderShape::for_spec(&spec, 6),
            decoder: DecoderShape::for_spec(&spec),
            actions: spec.actions.len(),
        }
    }

    fn config() -> PretrainConfig {
        let spec = brex_envs::make("pocket:breakout").unwrap().spec().clone();
        PretrainConfig::published(&spec)
    }

    fn snippet(episode: usize, start: usize, step: usize, len: usize) -> Snippet {
        Snippet {
            episode,
            start,
            step,
            len,
        }
    }

    fn weight(network: &PretrainNetwork, name: &str) -> Vec<Vec<f64>> {
        let all = parameters(network);
        let array = &all[name];
        let rows = array.values.chunks(array.shape[1]);
        rows.map(|row| row.iter().map(|v| f64::from(*v)).collect())
            .collect()
    }

    fn through(matrix: &[Vec<f64>], input: &[f64]) -> Vec<f64> {
        (0..matrix[0].len())
            .map(|out| matrix.iter().zip(input).map(|(row, x)| row[out] * x).sum())
            .collect()
    }

    /// Every loss by plain loops over the features, for snippets of different lengths and steps.
    #[test]
    fn losses_are_those_of_the_formulas() {
        let device = Device::flex();
        let shape = shape();
        let network = PretrainNetwork::new(&shape, 3, &device);
        let data = made_up(&shape, &[30, 40]);
        let pairs = [
            [snippet(0, 2, 1, 9), snippet(1, 7, 1, 9)],
            [snippet(1, 0, 3, 12), snippet(0, 1, 3, 8)],
        ];
        let batch = Batch {
            data: &data,
            shape: &shape,
            pairs: &pairs,
            device: &device,
        };
        let mut random = stream(1, "test", 0);
        let mut again = random.clone();
        let (total, losses) = batch.loss(&network, &config(), &mut random);

        let frames = batch.frames();
        let input = observation_tensor(&frames, shape.encoder.observation, &device);
        let encoded = network.encoder.forward(input.clone());
        let rows = |tensor: Tensor<2>| -> Vec<Vec<f64>> {
            let values = values_of(tensor);
            values
                .chunks(6)
                .map(|row| row.iter().map(|v| f64::from(*v)).collect())
                .collect()
        };
        let (mean, spread) = (rows(encoded.mean), rows(encoded.log_variance.unwrap()));
        let noise: Vec<f32> = (0..frames.len() * 6)
            .map(|_| StandardNormal.sample(&mut again))
            .collect();
        let sample: Vec<Vec<f64>> = (0..frames.len())
            .map(|t| {
                let draw = |f: usize| (spread[t][f] / 2.0).exp() * f64::from(noise[t * 6 + f]);
                (0..6).map(|f| mean[t][f] + draw(f)).collect()
            })
            .collect();
        let near = |found: f64, expected: f64, what: &str| {
            assert!(
                (found - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                "{what}: {found} {expected}"
            );
        };

        let (reward, bias) = (weight(&network, "reward.weight"), parameters(&network));
        let bias = f64::from(bias["reward.bias"].values[0]);
        let (mut ranking, mut kl, mut inverse, mut forward) = (0.0, 0.0, 0.0, 0.0);
        let (mut returns, mut row) = (Vec::new(), 0);
        let pixels = (4 * 24 * 24) as f64;
        for snippet in pairs.iter().flatten() {
            let at = row..row + snippet.len;
            returns.push(
                at.clone()
                    .map(|t| through(&reward, &sample[t])[0] + bias)
                    .sum::<f64>(),
            );
            let each = at.clone().flat_map(|t| (0..6).map(move |f| (t, f)));
            let each =
                each.map(|(t, f)| 1.0 + spread[t][f] - mean[t][f].powi(2) - spread[t][f].exp());
            kl += -0.5 * each.sum::<f64>() / (snippet.len as f64 * pixels) / 2.0;
            let action = |frame: usize| batch.action(snippet, frame);
            for frame in 1..snippet.len {
                let two = [mean[row + frame - 1].clone(), mean[row + frame].clone()].concat();
                let logits = through(&weight(&network, "inverse.weight"), &two);
                let sum: f64 = logits.iter().map(|l| l.exp()).sum();
                inverse += (sum.ln() - logits[action(frame)]) / (snippet.len - 1) as f64 / 2.0;
            }
            for frame in 5..snippet.len {
                let mut state = mean[row + frame - 5].clone();
                for step in 1..=5 {
                    let mut done = vec![0.0; shape.actions];
                    done[action(frame - 5 + step)] = 1.0;
                    state.extend(done);
                    state = through(&weight(&network, "dynamics.weight"), &state);
                }
                let error = state.iter().zip(&mean[row + frame]);
                let error: f64 = error.map(|(a, b)| (a - b).powi(2)).sum();
                forward += error / (6 * (snippet.len - 5)) as f64 / 2.0;
            }
            row += snippet.len;
        }
        for pair in returns.chunks(2) {
            ranking += (pair[0] - pair[1]).exp().ln_1p() / 2.0;
        }
        near(losses.ranking, ranking, "ranking");
        near(losses.divergence * 1e3, kl * 1e3, "divergence");
        near(losses.inverse, inverse, "inverse");
        near(losses.forward, forward, "forward");
        let right = returns.chunks(2).filter(|pair| pair[1] > pair[0]).count();
        assert_eq!(losses.ranking_accuracy, right as f64 / 2.0);

        let mut temporal = 0.0;
        let mut row = 0;
        for snippet in pairs.iter().flatten() {
            let [a, b] = [(); 2].map(|()| again.random_range(0..snippet.len));
            let two = [mean[row + a].clone(), mean[row + b].clone()].concat();
            let guess = through(&weight(&network, "temporal.weight"), &two)[0];
            let time = (b as f64 - a as f64) * snippet.step as f64 / 100.0;
            temporal += (guess - time).powi(2) / 2.0;
            row += snippet.len;
        }
        near(losses.temporal, temporal, "temporal");

        let data = TensorData::new(
            sample
                .concat()
                .iter()
                .map(|v| *v as f32)
                .collect::<Vec<_>>(),
            [frames.len(), 6],
        );
        let drawn = network
            .decoder
            .forward(Tensor::<2>::from_data(data, &device));
        let drawn = values_of(drawn).into_iter().zip(values_of(input));
        let errors = drawn.map(|(x, y)| {
            let (x, y) = (f64::from(x), f64::from(y));
            x.max(0.0) - x * y + (-x.abs()).exp().ln_1p()
        });
        let errors: Vec<f64> = errors.collect();
        let reconstruction = 2.0 * errors.iter().sum::<f64>() / errors.len() as f64;
        near(losses.reconstruction, reconstruction, "reconstruction");
        let sum = ranking
            + 10.0 * (reconstruction + kl)
            + 4.0 * temporal
            + inverse / 1.9
            + 100.0 * forward;
        near(losses.total, sum, "total");
        near(f64::from(values_of(total)[0]), sum, "the tensor");
    }

    #[test]
    fn what_does_not_count_is_not_computed() {
        let device = Device::flex();
        let shape = shape();
        let network = PretrainNetwork::new(&shape, 3, &device);
        let data = made_up(&shape, &[30, 40]);
        let pairs = [[snippet(0, 2, 1, 9), snippet(1, 7, 1, 9)]];
        let batch = Batch {
            data: &data,
            shape: &shape,
            pairs: &pairs,
            device: &device,
        };
        let only = PretrainConfig {
            losses: LossWeights::PUBLISHED.ranking_only(),
            ..config()
        };
        let (_, losses) = batch.loss(&network, &only, &mut stream(1, "test", 0));
        assert!(losses.ranking > 0.0 && losses.total == losses.ranking);
        let rest = PretrainConfig {
            losses: LossWeights::PUBLISHED.self_supervised_only(),
            redrawn: Some(3),
            ..config()
        };
        let (_, losses) = batch.loss(&network, &rest, &mut stream(1, "test", 0));
        assert_eq!(losses.ranking, 0.0);
        assert!(losses.reconstruction > 0.0 && losses.forward > 0.0);
    }

    /// The same features are dropped in all frames of a pair, and other ones in the next pair.
    #[test]
    fn dropout_is_one_mask_a_pair() {
        let device = Device::flex();
        let shape = shape();
        let data = made_up(&shape, &[30, 40]);
        let pairs = [
            [snippet(0, 2, 1, 4), snippet(1, 7, 1, 6)],
            [snippet(1, 0, 1, 5), snippet(0, 1, 1, 5)],
        ];
        let batch = Batch {
            data: &data,
            shape: &shape,
            pairs: &pairs,
            device: &device,
        };
        let mut random = stream(2, "test", 0);
        let kept = values_of(batch.kept(0.5, [20, 6], &mut random));
        let rows: Vec<&[f32]> = kept.chunks(6).collect();
        assert!(rows[..10].iter().all(|row| *row == rows[0]));
        assert!(rows[10..].iter().all(|row| *row == rows[10]));
        assert_ne!(rows[0], rows[10]);
        assert!(kept.iter().all(|factor| *factor == 0.0 || *factor == 2.0));
        let many = dropout_mask(0.25, 40_000, &mut random);
        let mean = many.iter().sum::<f64>() / 40_000.0;
        assert!((mean - 1.0).abs() < 0.015, "{mean}");
    }
}
