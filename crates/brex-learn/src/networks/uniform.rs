//! Layers as PyTorch begins them, drawn from brex's own streams: weights and biases are uniform
//! within one over the root of the number of inputs.

use brex_core::Stream;
use burn::module::Param;
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;

fn drawn<const D: usize>(
    shape: [usize; D],
    inputs: usize,
    stream: &mut Stream,
    device: &Device,
) -> Param<Tensor<D>> {
    let bound = (inputs as f64).sqrt().recip();
    let count = shape.iter().product();
    let values = std::iter::repeat_with(|| stream.random_range(-bound..bound) as f32);
    let values: Vec<f32> = values.take(count).collect();
    Param::from_data(TensorData::new(values, shape), device)
}

/// A convolution; `channels` are those that come in and go out.
pub(crate) fn convolution(
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
    stream: &mut Stream,
    device: &Device,
) -> Conv2d {
    let config = Conv2dConfig::new(channels, [kernel, kernel]).with_stride([stride, stride]);
    let mut layer = config.init(device);
    let [from, to] = channels;
    let inputs = from * kernel * kernel;
    layer.weight = drawn([to, from, kernel, kernel], inputs, stream, device);
    layer.bias = Some(drawn([to], inputs, stream, device));
    layer
}

/// A transposed convolution. PyTorch counts the channels that go out as its inputs.
pub(crate) fn transposed(
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
    stream: &mut Stream,
    device: &Device,
) -> ConvTranspose2d {
    let config = ConvTranspose2dConfig::new(channels, [kernel, kernel]);
    let mut layer = config.with_stride([stride, stride]).init(device);
    let [from, to] = channels;
    let inputs = to * kernel * kernel;
    layer.weight = drawn([from, to, kernel, kernel], inputs, stream, device);
    layer.bias = Some(drawn([to], inputs, stream, device));
    layer
}

/// A linear layer.
pub(crate) fn linear(
    inputs: usize,
    outputs: usize,
    stream: &mut Stream,
    device: &Device,
) -> Linear {
    let mut layer = weights(inputs, outputs, stream, device);
    layer.bias = Some(drawn([outputs], inputs, stream, device));
    layer
}

/// A linear layer without a bias.
pub(crate) fn weights(
    inputs: usize,
    outputs: usize,
    stream: &mut Stream,
    device: &Device,
) -> Linear {
    let config = LinearConfig::new(inputs, outputs).with_bias(false);
    let mut layer = config.init(device);
    layer.weight = drawn([inputs, outputs], inputs, stream, device);
    layer
}
