//! Adam against burn's own and against steps worked out by hand; clipping by the global norm.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_learn::{Activation, FusedAdam, clip_global_norm, linear};
use burn::module::{Module, Param};
use burn::nn::{Linear, LinearConfig};
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;

fn device() -> Device {
    Device::flex().autodiff()
}

fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.to_data().try_to_vec().unwrap()
}

#[derive(Module, Debug)]
struct Net {
    first: Linear,
    second: Linear,
}

impl Net {
    fn new(hidden: usize) -> Self {
        Self {
            first: LinearConfig::new(30, hidden).init(&device()),
            second: LinearConfig::new(hidden, 2).init(&device()),
        }
    }

    fn gradients(&self, x: Tensor<2>) -> GradientsParams {
        let hidden = linear(&self.first, x, Activation::LeakyRelu);
        let output = linear(&self.second, hidden, Activation::Identity);
        GradientsParams::from_grads(output.square().sum().backward(), self)
    }

    fn parameters(&self) -> Vec<f32> {
        [
            values(&self.first.weight.val()),
            values(&self.first.bias.as_ref().unwrap().val()),
            values(&self.second.weight.val()),
            values(&self.second.bias.as_ref().unwrap().val()),
        ]
        .concat()
    }
}

/// Not from the device's own stream of random numbers: tests that run at once share that.
fn batch(seed: u64) -> Tensor<2> {
    let mut rng = brex_core::stream(seed, "optimiser tests", 0);
    let values: Vec<f32> = (0..5 * 30).map(|_| rng.random_range(-1.0..1.0)).collect();
    Tensor::from_data(TensorData::new(values, [5, 30]), &device())
}

#[test]
fn adam_takes_the_steps_of_burns_adam() {
    // The larger net has more numbers than one thread takes at a time.
    for (hidden, weight_decay) in [(7, 0.0), (7, 0.3), (1300, 0.01)] {
        let ours = FusedAdam {
            epsilon: 1e-5,
            weight_decay,
            ..FusedAdam::default()
        };
        let decay = (weight_decay > 0.0).then(|| WeightDecayConfig::new(weight_decay));
        let mut theirs = AdamConfig::new()
            .with_epsilon(1e-5)
            .with_weight_decay(decay)
            .init();
        let mut ours = ModuleOptimizer::from(ours);
        let start = Net::new(hidden);
        let (mut a, mut b) = (start.clone(), start);
        for step in 0..20 {
            let gradients = a.gradients(batch(step));
            a = ours.step(1e-3, a, gradients);
            let gradients = b.gradients(batch(step));
            b = theirs.step(1e-3, b, gradients);
        }
        let (a, b) = (a.parameters(), b.parameters());
        let most = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        let most = most.fold(0.0, f32::max);
        assert!(most < 2e-5, "hidden {hidden}, decay {weight_decay}: {most}");
    }
}

#[test]
fn adam_takes_the_steps_worked_out_by_hand() {
    let layer = Linear {
        weight: Param::from_tensor(Tensor::from_floats([[2.0], [-1.0]], &device())),
        bias: None,
    };
    let adam = FusedAdam {
        beta_1: 0.5,
        beta_2: 0.75,
        epsilon: 0.5,
        weight_decay: 0.25,
    };
    let mut optimiser = ModuleOptimizer::from(adam);
    // The loss is the sum of outputs for x = (3, 1), so its gradient is x.
    let x = Tensor::<2>::from_floats([[3.0, 1.0]], &device());
    let gradients = |layer: &Linear| {
        let output = linear(layer, x.clone(), Activation::Identity);
        GradientsParams::from_grads(output.sum().backward(), layer)
    };
    // With decay the gradients are 3.5 and 0.75. Corrected, the moments are g and g * g: the steps
    // are 3.5 / (3.5 + 0.5) and 0.75 / (0.75 + 0.5).
    let layer = optimiser.step(1.0, layer.clone(), gradients(&layer));
    let found = values(&layer.weight.val());
    let expected = [2.0 - 0.875, -1.0 - 0.6];
    for (found, wanted) in found.iter().zip(expected) {
        assert!((f64::from(*found) - wanted).abs() < 1e-6, "{found}");
    }
    let layer = optimiser.step(1.0, layer.clone(), gradients(&layer));
    let found = values(&layer.weight.val());
    for (index, (x, first)) in [(3.0, 3.5), (1.0, 0.75)].into_iter().enumerate() {
        let g: f64 = x + 0.25 * expected[index];
        let m = (0.5 * 0.5 * first + 0.5 * g) / (1.0 - 0.25);
        let v = (0.75 * 0.25 * first * first + 0.25 * g * g) / (1.0 - 0.75 * 0.75);
        let wanted = expected[index] - m / (v.sqrt() + 0.5);
        assert!((f64::from(found[index]) - wanted).abs() < 1e-6, "{found:?}");
    }
}

#[test]
fn adam_goes_on_from_a_record() {
    let optimiser = || ModuleOptimizer::from(FusedAdam::default());
    let mut whole = optimiser();
    let mut net = Net::new(6);
    for step in 0..3 {
        let gradients = net.gradients(batch(step));
        net = whole.step(0.01, net, gradients);
    }
    let mut resumed = optimiser().from_bytes(whole.into_bytes().unwrap()).unwrap();
    let mut other = net.clone();
    for step in 3..6 {
        let gradients = net.gradients(batch(step));
        net = whole.step(0.01, net, gradients);
        let gradients = other.gradients(batch(step));
        other = resumed.step(0.01, other, gradients);
    }
    assert_eq!(net.parameters(), other.parameters());
}

#[test]
fn a_clone_keeps_its_parameters() {
    // Steps are taken in place only where nobody else looks.
    let net = Net::new(4);
    let before = net.parameters();
    let gradients = net.gradients(batch(0));
    let moved = ModuleOptimizer::from(FusedAdam::default()).step(0.1, net.clone(), gradients);
    assert_eq!(net.parameters(), before);
    assert_ne!(moved.parameters(), before);
}

#[test]
fn clipping_takes_all_parameters_together() {
    let net = Net::new(700);
    let gather = |gradients: &GradientsParams| -> Vec<f32> {
        [
            values(&gradients.get::<2>(net.first.weight.id).unwrap()),
            values(
                &gradients
                    .get::<1>(net.first.bias.as_ref().unwrap().id)
                    .unwrap(),
            ),
            values(&gradients.get::<2>(net.second.weight.id).unwrap()),
            values(
                &gradients
                    .get::<1>(net.second.bias.as_ref().unwrap().id)
                    .unwrap(),
            ),
        ]
        .concat()
    };
    let norm = |values: &[f32]| {
        values
            .iter()
            .map(|&x| f64::from(x).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let mut gradients = net.gradients(batch(1));
    let before = gather(&gradients);
    let expected = norm(&before);

    let found = clip_global_norm(&net, &mut gradients, 2.0 * expected as f32);
    assert!((f64::from(found) / expected - 1.0).abs() < 1e-5);
    assert_eq!(
        gather(&gradients),
        before,
        "short gradients stay as they are"
    );

    let found = clip_global_norm(&net, &mut gradients, 0.5);
    assert!((f64::from(found) / expected - 1.0).abs() < 1e-5);
    let after = gather(&gradients);
    assert!((norm(&after) - 0.5).abs() < 1e-5, "{}", norm(&after));
    for (before, after) in before.iter().zip(&after) {
        let wanted = f64::from(*before) * 0.5 / expected;
        assert!((f64::from(*after) - wanted).abs() < 1e-6);
    }
}
