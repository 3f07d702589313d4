//! The three layers that all networks here are made of, each with its activation.
//!
//! burn's own modules hold the parameters, so that initialisation, optimisers and devices are
//! burn's; what is done with them is said here: on a CPU our own kernels, elsewhere burn's layers.

use burn::backend::{Dispatch, DispatchDevice};
use burn::module::Param;
use burn::nn::conv::{Conv2d, ConvTranspose2d};
use burn::nn::{Linear, PaddingConfig2d};
use burn::tensor::activation::{leaky_relu, relu};
use burn::tensor::{DType, Tensor};

use crate::extension::{FusedLayer, Kind};

/// What is done to the output of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// The greater of the value and zero.
    Relu,
    /// As `Relu`, but a hundredth of a negative value is kept.
    LeakyRelu,
}

impl Activation {
    /// What a negative value is multiplied with.
    pub fn slope(self) -> f32 {
        match self {
            Self::Identity => 1.0,
            Self::Relu => 0.0,
            Self::LeakyRelu => 0.01,
        }
    }

    fn apply<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Identity => x,
            Self::Relu => relu(x),
            Self::LeakyRelu => leaky_relu(x, 0.01),
        }
    }
}

/// A convolution: `[batch, channels, rows, columns]` in and out.
pub fn conv2d(layer: &Conv2d, x: Tensor<4>, activation: Activation) -> Tensor<4> {
    let padded = match layer.padding {
        PaddingConfig2d::Valid => false,
        PaddingConfig2d::Same => layer.kernel_size != [1, 1],
        PaddingConfig2d::Explicit(top, left, bottom, right) => [top, left, bottom, right] != [0; 4],
    };
    let kind = Kind::Convolution(layer.stride);
    let other = padded || layer.dilation != [1, 1] || layer.groups != 1;
    if other || !can_fuse(&x, &layer.weight, kind) {
        return activation.apply(layer.forward(x));
    }
    fused(x, &layer.weight, layer.bias.as_ref(), kind, activation)
}

/// A transposed convolution: `[batch, channels, rows, columns]` in and out.
pub fn conv_transpose2d(
    layer: &ConvTranspose2d,
    x: Tensor<4>,
    activation: Activation,
) -> Tensor<4> {
    let padded = layer.padding != [0, 0] || layer.padding_out != [0, 0];
    let kind = Kind::Transposed(layer.stride);
    let other = padded || layer.dilation != [1, 1] || layer.groups != 1;
    if other || !can_fuse(&x, &layer.weight, kind) {
        return activation.apply(layer.forward(x));
    }
    fused(x, &layer.weight, layer.bias.as_ref(), kind, activation)
}

/// A linear layer: `[batch, features]` in and out.
pub fn linear(layer: &Linear, x: Tensor<2>, activation: Activation) -> Tensor<2> {
    let kind = Kind::Linear;
    if !can_fuse(&x, &layer.weight, kind) {
        return activation.apply(layer.forward(x));
    }
    fused(x, &layer.weight, layer.bias.as_ref(), kind, activation)
}

/// Whether our own kernels can be used: not on other devices, not with other numbers than those of
/// 32 bits, and not for shapes that are wrong or empty, of which burn's layer makes what it makes.
fn can_fuse<const D: usize>(x: &Tensor<D>, weight: &Param<Tensor<D>>, kind: Kind) -> bool {
    let weight = weight.val();
    on_flex(x) && on_flex(&weight) && kind.fits(&x.dims(), &weight.dims())
}

/// The layer by our own kernels.
fn fused<const D: usize>(
    x: Tensor<D>,
    weight: &Param<Tensor<D>>,
    bias: Option<&Param<Tensor<1>>>,
    kind: Kind,
    activation: Activation,
) -> Tensor<D> {
    let weight = weight.val();
    let bias = match bias {
        Some(bias) => bias.val(),
        // Nobody asks for this one's gradient.
        None => Tensor::zeros([kind.outputs(&weight.dims())], &x.device()),
    };
    Tensor::from_dispatch(<Dispatch as FusedLayer>::fused_layer(
        x.into_dispatch(),
        weight.into_dispatch(),
        bias.into_dispatch(),
        kind,
        activation.slope(),
    ))
}

/// Whether a tensor is one of 32-bit numbers on burn's CPU backend.
pub(crate) fn on_flex<const D: usize>(tensor: &Tensor<D>) -> bool {
    tensor.dtype() == DType::F32 && is_flex(tensor.device().as_dispatch())
}

fn is_flex(device: &DispatchDevice) -> bool {
    match device {
        DispatchDevice::Autodiff(device) => is_flex(device),
        DispatchDevice::Flex(_) => true,
        #[allow(unreachable_patterns, reason = "other devices are features of burn")]
        _ => false,
    }
}
