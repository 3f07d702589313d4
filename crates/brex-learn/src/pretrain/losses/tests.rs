//! The losses against plain loops over features.

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
        let each = each.map(|(t, f)| 1.0 + spread[t][f] - mean[t][f].powi(2) - spread[t][f].exp());
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
    let sum =
        ranking + 10.0 * (reconstruction + kl) + 4.0 * temporal + inverse / 1.9 + 100.0 * forward;
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
