//! The layers against burn's own, with all their gradients.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_learn::{Activation, conv_transpose2d, conv2d, linear};
use burn::module::Param;
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::activation::{leaky_relu, relu};
use burn::tensor::{Device, Distribution, Tensor, TensorData};
use proptest::prelude::*;

const ACTIVATIONS: [Activation; 3] = [
    Activation::Identity,
    Activation::Relu,
    Activation::LeakyRelu,
];

fn device() -> Device {
    Device::flex().autodiff()
}

fn random<const D: usize>(dims: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::random(dims, Distribution::Uniform(-1.0, 1.0), device)
}

fn bend<const D: usize>(activation: Activation, x: Tensor<D>) -> Tensor<D> {
    match activation {
        Activation::Identity => x,
        Activation::Relu => relu(x),
        Activation::LeakyRelu => leaky_relu(x, 0.01),
    }
}

fn close(ours: &TensorData, theirs: &TensorData, what: &str) {
    assert_eq!(ours.shape(), theirs.shape(), "shape of {what}");
    let ours: Vec<f32> = ours.try_to_vec().unwrap();
    let theirs: Vec<f32> = theirs.try_to_vec().unwrap();
    let scale = theirs.iter().fold(1.0_f32, |most, x| most.max(x.abs()));
    for (index, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        let difference = (a - b).abs();
        assert!(
            difference <= 2e-5 * scale,
            "{what} [{index}]: {a} is not {b} (greatest {scale})"
        );
    }
}

/// Runs a layer twice and compares outputs and gradients.
///
/// `before` gives what the activation is applied to. Where that is all but zero, rounding decides
/// on which side of the bend it lies, so the loss leaves those places out.
fn compare<const D: usize>(
    x: &Tensor<D>,
    weight: &Param<Tensor<D>>,
    bias: Option<&Param<Tensor<1>>>,
    before: impl Fn(Tensor<D>) -> Tensor<D>,
    ours: impl Fn(Tensor<D>) -> Tensor<D>,
    theirs: impl Fn(Tensor<D>) -> Tensor<D>,
) {
    let clear = before(x.clone())
        .detach()
        .abs()
        .greater_scalar(1e-4)
        .float();
    let run = |layer: &dyn Fn(Tensor<D>) -> Tensor<D>| {
        let x = x.clone().detach().require_grad();
        let output = layer(x.clone());
        let coefficients = Tensor::<1, burn::tensor::Int>::arange(
            0..output.dims().iter().product::<usize>() as i64,
            &device(),
        )
        .float()
        .mul_scalar(0.37)
        .sin()
        .reshape(output.dims())
            * clear.clone();
        let gradients = (output.clone() * coefficients).sum().backward();
        (
            output.into_data(),
            x.grad(&gradients).unwrap().into_data(),
            weight.val().grad(&gradients).unwrap().into_data(),
            bias.map(|bias| bias.val().grad(&gradients).unwrap().into_data()),
        )
    };
    let ours = run(&ours);
    let theirs = run(&theirs);
    close(&ours.0, &theirs.0, "output");
    close(&ours.1, &theirs.1, "gradient of the input");
    close(&ours.2, &theirs.2, "gradient of the weights");
    if let (Some(ours), Some(theirs)) = (ours.3, theirs.3) {
        close(&ours, &theirs, "gradient of the bias");
    }
}

fn compare_convolution(layer: &Conv2d, x: &Tensor<4>, activation: Activation) {
    compare(
        x,
        &layer.weight,
        layer.bias.as_ref(),
        |x| layer.forward(x),
        |x| conv2d(layer, x, activation),
        |x| bend(activation, layer.forward(x)),
    );
}

fn compare_transposed(layer: &ConvTranspose2d, x: &Tensor<4>, activation: Activation) {
    compare(
        x,
        &layer.weight,
        layer.bias.as_ref(),
        |x| layer.forward(x),
        |x| conv_transpose2d(layer, x, activation),
        |x| bend(activation, layer.forward(x)),
    );
}

fn compare_linear(layer: &Linear, x: &Tensor<2>, activation: Activation) {
    compare(
        x,
        &layer.weight,
        layer.bias.as_ref(),
        |x| layer.forward(x),
        |x| linear(layer, x, activation),
        |x| bend(activation, layer.forward(x)),
    );
}

/// Channels, size, filters, kernel and stride of every convolution in use.
const CONVOLUTIONS: [[usize; 5]; 9] = [
    [4, 84, 16, 7, 3],
    [16, 26, 32, 5, 2],
    [32, 11, 32, 3, 1],
    [32, 9, 16, 3, 1],
    [4, 84, 32, 8, 4],
    [32, 20, 64, 4, 2],
    [64, 9, 64, 3, 1],
    [4, 24, 16, 4, 2],
    [16, 11, 32, 3, 2],
];

#[test]
fn convolutions_in_use() {
    for (index, [channels, size, filters, kernel, stride]) in CONVOLUTIONS.into_iter().enumerate() {
        let layer = Conv2dConfig::new([channels, filters], [kernel, kernel])
            .with_stride([stride, stride])
            .init(&device());
        let x = random([3, channels, size, size], &device());
        compare_convolution(&layer, &x, ACTIVATIONS[index % 3]);
    }
}

#[test]
fn transposed_convolutions_in_use() {
    let decoder = [
        [2, 28, 4, 3, 1],
        [4, 30, 16, 6, 1],
        [16, 35, 16, 7, 2],
        [16, 75, 4, 10, 1],
    ];
    for (index, [channels, size, filters, kernel, stride]) in decoder.into_iter().enumerate() {
        let layer = ConvTranspose2dConfig::new([channels, filters], [kernel, kernel])
            .with_stride([stride, stride])
            .init(&device());
        let x = random([2, channels, size, size], &device());
        compare_transposed(&layer, &x, ACTIVATIONS[(index + 2) % 3]);
    }
}

#[test]
fn linear_layers_in_use() {
    let sizes = [
        [784, 128],
        [128, 64],
        [64, 1],
        [64, 128],
        [128, 1568],
        [3136, 512],
        [512, 18],
        [800, 128],
        [128, 6],
    ];
    for (index, [inputs, outputs]) in sizes.into_iter().enumerate() {
        for batch in [1, 9, 130] {
            let layer = LinearConfig::new(inputs, outputs)
                .with_bias(index % 2 == 0)
                .init(&device());
            let x = random([batch, inputs], &device());
            compare_linear(&layer, &x, ACTIVATIONS[index % 3]);
        }
    }
}

#[test]
fn large_batches_are_cut_into_blocks() {
    for batch in [1, 2, 7, 8, 33, 128, 145] {
        let layer = Conv2dConfig::new([3, 5], [3, 2])
            .with_stride([2, 1])
            .init(&device());
        let x = random([batch, 3, 8, 7], &device());
        compare_convolution(&layer, &x, Activation::LeakyRelu);
        let layer = ConvTranspose2dConfig::new([3, 5], [3, 2])
            .with_stride([1, 2])
            .init(&device());
        compare_transposed(&layer, &x, Activation::Relu);
    }
}

#[test]
fn inputs_may_lie_in_memory_in_any_order() {
    let layer = Conv2dConfig::new([4, 8], [3, 3]).init(&device());
    let transposed = ConvTranspose2dConfig::new([4, 8], [3, 3]).init(&device());
    // Channels last, as frames come; rows and columns swapped; a slice of a larger batch; one
    // image shown many times.
    let inputs = [
        random([3, 9, 11, 4], &device()).permute([0, 3, 1, 2]),
        random([3, 4, 9, 11], &device()).permute([0, 1, 3, 2]),
        random([7, 4, 9, 11], &device()).narrow(0, 2, 3),
        random([3, 9, 11, 8], &device())
            .permute([0, 3, 1, 2])
            .narrow(1, 1, 4),
        random([1, 4, 9, 11], &device()).expand([5, 4, 9, 11]),
        random([5, 4, 9, 11], &device()).flip([2]),
    ];
    for x in inputs {
        compare_convolution(&layer, &x, Activation::Relu);
        compare_transposed(&transposed, &x, Activation::LeakyRelu);
    }
    let layer = LinearConfig::new(12, 20).init(&device());
    compare_linear(
        &layer,
        &random([12, 7], &device()).transpose(),
        Activation::Relu,
    );
    compare_linear(
        &layer,
        &random([9, 12], &device()).narrow(0, 4, 5),
        Activation::Identity,
    );
}

#[test]
fn layers_stack_with_flattening_between() {
    // The flattened gradient reaches the convolution with channels first.
    let conv = Conv2dConfig::new([4, 16], [3, 3]).init(&device());
    let fc = LinearConfig::new(16 * 36, 5).init(&device());
    let x = random([6, 4, 8, 8], &device());
    compare(
        &x,
        &conv.weight,
        conv.bias.as_ref(),
        |x| {
            // The bend is inside; with these few numbers none is close to it.
            fc.forward(relu(conv.forward(x)).flatten::<2>(1, 3))
                .reshape([6, 5, 1, 1])
        },
        |x| {
            let hidden = conv2d(&conv, x, Activation::Relu).flatten::<2>(1, 3);
            linear(&fc, hidden, Activation::Identity).reshape([6, 5, 1, 1])
        },
        |x| {
            let hidden = relu(conv.forward(x)).flatten::<2>(1, 3);
            fc.forward(hidden).reshape([6, 5, 1, 1])
        },
    );
}

#[test]
fn what_the_kernels_cannot_do_is_left_to_burn() {
    let x = random([2, 4, 9, 9], &device());
    let config = Conv2dConfig::new([4, 8], [3, 3]);
    for layer in [
        config
            .clone()
            .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
            .init(&device()),
        config
            .clone()
            .with_padding(PaddingConfig2d::Same)
            .init(&device()),
        config.clone().with_dilation([2, 2]).init(&device()),
        config.with_groups(2).init(&device()),
    ] {
        compare_convolution(&layer, &x, Activation::LeakyRelu);
    }
    let layer = ConvTranspose2dConfig::new([4, 8], [3, 3])
        .with_padding([1, 1])
        .with_stride([2, 2])
        .with_padding_out([1, 1])
        .init(&device());
    compare_transposed(&layer, &x, Activation::Relu);
}

#[test]
fn without_gradients_too() {
    let device = Device::flex();
    let layer = Conv2dConfig::new([4, 8], [3, 3]).init(&device);
    let x = random([2, 4, 9, 9], &device);
    close(
        &conv2d(&layer, x.clone(), Activation::Relu).into_data(),
        &relu(layer.forward(x)).into_data(),
        "output",
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_convolution(
        batch in 1..4_usize,
        channels in 1..20_usize,
        filters in 1..36_usize,
        kernel in (1..=10_usize, 1..=10_usize),
        stride in (1..=4_usize, 1..=4_usize),
        more in (0..9_usize, 0..9_usize),
        activation in 0..3_usize,
        bias: bool,
    ) {
        let layer = Conv2dConfig::new([channels, filters], [kernel.0, kernel.1])
            .with_stride([stride.0, stride.1])
            .with_bias(bias)
            .init(&device());
        let x = random([batch, channels, kernel.0 + more.0, kernel.1 + more.1], &device());
        compare_convolution(&layer, &x, ACTIVATIONS[activation]);
    }

    #[test]
    fn any_transposed_convolution(
        batch in 1..4_usize,
        channels in 1..20_usize,
        filters in 1..20_usize,
        kernel in (1..=10_usize, 1..=10_usize),
        stride in (1..=4_usize, 1..=4_usize),
        size in (1..9_usize, 1..9_usize),
        activation in 0..3_usize,
    ) {
        let layer = ConvTranspose2dConfig::new([channels, filters], [kernel.0, kernel.1])
            .with_stride([stride.0, stride.1])
            .init(&device());
        let x = random([batch, channels, size.0, size.1], &device());
        compare_transposed(&layer, &x, ACTIVATIONS[activation]);
    }

    #[test]
    fn any_linear_layer(
        batch in 1..300_usize,
        inputs in 1..600_usize,
        outputs in 1..150_usize,
        activation in 0..3_usize,
    ) {
        let layer = LinearConfig::new(inputs, outputs).init(&device());
        compare_linear(&layer, &random([batch, inputs], &device()), ACTIVATIONS[activation]);
    }
}
