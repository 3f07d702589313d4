//! Gradients against finite differences of the kernels' own outputs, and the same bits on any
//! number of threads.

use proptest::prelude::*;
use rand::{Rng, RngExt};

use super::*;

const SLOPE: f32 = 0.25;

fn numbers(rng: &mut impl Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// One of the three layers, with numbers to work on; images are channels last.
struct Case {
    layer: Layer,
    x: Vec<f32>,
    weight: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
enum Layer {
    Convolution(Convolution),
    Transposed(Convolution),
    Linear([usize; 2]),
}

impl Case {
    fn new(seed: u64, layer: Layer, batch: usize) -> Self {
        let mut rng = brex_core::stream(seed, "kernel tests", 0);
        let (inputs, weights, biases) = match layer {
            Layer::Convolution(conv) => (conv.image_len(), conv.weight_len(), conv.filters),
            Layer::Transposed(conv) => (conv.output_len(), conv.weight_len(), conv.channels),
            Layer::Linear([inputs, outputs]) => (inputs, inputs * outputs, outputs),
        };
        Self {
            layer,
            x: numbers(&mut rng, batch * inputs),
            weight: numbers(&mut rng, weights),
            bias: numbers(&mut rng, biases),
        }
    }

    fn forward(&self, slope: f32) -> Vec<f32> {
        let images = Images {
            values: &self.x,
            channels_last: true,
        };
        let bias = Some(self.bias.as_slice());
        match self.layer {
            Layer::Convolution(conv) => convolve(&conv, images, &self.weight, bias, slope),
            Layer::Transposed(conv) => {
                convolve_transposed(&conv, images, &self.weight, bias, slope)
            }
            Layer::Linear([inputs, outputs]) => {
                let sizes = [self.x.len() / inputs, inputs, outputs];
                multiply(sizes, &self.x, &self.weight, bias, slope)
            }
        }
    }

    fn backward(&self, slope: f32, gradient: &[f32], wanted: Wanted) -> Gradients {
        let output = self.forward(slope);
        let bent = Bent {
            output: &output,
            slope,
        };
        let [images, gradients] = [&self.x, gradient].map(|values| Images {
            values,
            channels_last: true,
        });
        match self.layer {
            Layer::Convolution(conv) => {
                convolve_backward(&conv, images, &self.weight, bent, gradients, wanted)
            }
            Layer::Transposed(conv) => {
                convolve_transposed_backward(&conv, images, &self.weight, bent, gradients, wanted)
            }
            Layer::Linear([inputs, outputs]) => {
                let sizes = [self.x.len() / inputs, inputs, outputs];
                multiply_backward(sizes, &self.x, &self.weight, bent, gradient, wanted)
            }
        }
    }
}

const ALL: Wanted = Wanted {
    input: true,
    weight: true,
    bias: true,
};

/// Compares a few entries of each gradient with differences of the loss `sum(gradient * output)`.
///
/// A layer is linear in each of its numbers up to the bend, so a difference is exact but for
/// rounding, unless an output crosses zero between its two ends; those outputs are left out of the
/// loss.
fn check_differences(mut case: Case, seed: u64, slope: f32) -> Result<(), TestCaseError> {
    let mut rng = brex_core::stream(seed, "kernel tests", 1);
    let step = 0.03125;
    let margin = 2.0 * step;
    let gradient: Vec<f32> = case
        .forward(1.0)
        .into_iter()
        .map(|sum| {
            if sum.abs() > margin {
                rng.random_range(-1.0..1.0)
            } else {
                0.0
            }
        })
        .collect();
    let found = case.backward(slope, &gradient, ALL);
    let loss = |case: &Case| -> f64 {
        let output = case.forward(slope);
        let terms = output.iter().zip(&gradient);
        terms.map(|(y, g)| f64::from(*y) * f64::from(*g)).sum()
    };
    let found = [found.input, found.weight, found.bias];
    for (which, found) in found.into_iter().enumerate() {
        let found = found.unwrap();
        let field = |case: &mut Case, index: usize, change: f32| match which {
            0 => case.x[index] += change,
            1 => case.weight[index] += change,
            _ => case.bias[index] += change,
        };
        for _ in 0..8 {
            let index = rng.random_range(0..found.len());
            field(&mut case, index, step);
            let up = loss(&case);
            field(&mut case, index, -2.0 * step);
            let down = loss(&case);
            field(&mut case, index, step);
            let difference = (up - down) / f64::from(2.0 * step);
            let error = (difference - f64::from(found[index])).abs();
            prop_assert!(
                error < 2e-3 * (1.0 + difference.abs()),
                "{:?}, gradient {which} [{index}]: {} is not {difference}",
                case.layer,
                found[index]
            );
        }
    }
    Ok(())
}

fn convolutions() -> impl Strategy<Value = Convolution> {
    let size = (1..=6_usize, 1..=4_usize, 0..6_usize);
    (1..7_usize, 1..9_usize, size.clone(), size).prop_map(|(channels, filters, rows, columns)| {
        Convolution {
            channels,
            height: rows.0 + rows.2,
            width: columns.0 + columns.2,
            filters,
            kernel: [rows.0, columns.0],
            stride: [rows.1, columns.1],
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn convolutions_have_the_gradients_of_their_differences(
        conv in convolutions(), batch in 1..4_usize, seed: u64, bent: bool,
    ) {
        let case = Case::new(seed, Layer::Convolution(conv), batch);
        check_differences(case, seed, if bent { SLOPE } else { 1.0 })?;
    }

    #[test]
    fn transposed_convolutions_have_the_gradients_of_their_differences(
        conv in convolutions(), batch in 1..4_usize, seed: u64, bent: bool,
    ) {
        // Every pixel of the image is reached: that is what a transposed convolution writes.
        let [rows, columns] = conv.output();
        let conv = Convolution {
            height: (rows - 1) * conv.stride[0] + conv.kernel[0],
            width: (columns - 1) * conv.stride[1] + conv.kernel[1],
            ..conv
        };
        let case = Case::new(seed, Layer::Transposed(conv), batch);
        check_differences(case, seed, if bent { SLOPE } else { 1.0 })?;
    }

    #[test]
    fn linear_layers_have_the_gradients_of_their_differences(
        inputs in 1..40_usize, outputs in 1..40_usize, batch in 1..20_usize, seed: u64, bent: bool,
    ) {
        let case = Case::new(seed, Layer::Linear([inputs, outputs]), batch);
        check_differences(case, seed, if bent { SLOPE } else { 1.0 })?;
    }
}

#[test]
fn threads_change_nothing() {
    let conv = Convolution {
        channels: 4,
        height: 17,
        width: 15,
        filters: 16,
        kernel: [5, 4],
        stride: [2, 1],
    };
    let layers = [
        Layer::Convolution(conv),
        Layer::Transposed(conv),
        Layer::Linear([700, 150]),
    ];
    for layer in layers {
        for batch in [1, 13, 140] {
            let case = Case::new(3, layer, batch);
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(|| {
                    let output = case.forward(0.0);
                    let gradients = case.backward(0.0, &output, ALL);
                    (output, gradients)
                })
            };
            let alone = run(1);
            assert!(alone == run(2), "{layer:?}, two threads");
            assert!(alone == run(5), "{layer:?}, five threads");
        }
    }
}

#[test]
fn only_what_is_wanted_is_made() {
    let conv = Convolution {
        channels: 3,
        height: 9,
        width: 9,
        filters: 5,
        kernel: [3, 3],
        stride: [2, 2],
    };
    for layer in [
        Layer::Convolution(conv),
        Layer::Transposed(conv),
        Layer::Linear([9, 7]),
    ] {
        let case = Case::new(1, layer, 6);
        let gradient = case.forward(0.0);
        let all = case.backward(0.0, &gradient, ALL);
        for bits in 0..8 {
            let wanted = Wanted {
                input: bits & 1 > 0,
                weight: bits & 2 > 0,
                bias: bits & 4 > 0,
            };
            let some = case.backward(0.0, &gradient, wanted);
            assert_eq!(some.input, wanted.input.then(|| all.input.clone().unwrap()));
            assert_eq!(
                some.weight,
                wanted.weight.then(|| all.weight.clone().unwrap())
            );
            assert_eq!(some.bias, wanted.bias.then(|| all.bias.clone().unwrap()));
        }
    }
}
