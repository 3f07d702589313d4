//! The kernels as an operation of burn's CPU backend, with its gradient.
//!
//! burn asks for a trait over backends; the macro routes tensors that are chosen at run time to
//! the backends named here, and only to those. Tensors keep burn's shape, channels first, but
//! images that leave a layer lie in memory with channels last, seen through strides: the next
//! layer finds them so without a copy.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients as Tape;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::{FlexTensor, Layout};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, TensorMetadata, backend_extension};
use burn::tensor::TensorData;

use crate::kernels::{
    Bent, Convolution, Gradients, Images, Wanted, convolve, convolve_backward, convolve_transposed,
    convolve_transposed_backward, multiply, multiply_backward,
};

/// Which layer is meant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A convolution with the given stride and no padding.
    Convolution([usize; 2]),
    /// A transposed convolution with the given stride and no padding.
    Transposed([usize; 2]),
    /// A linear layer.
    Linear,
}

impl Kind {
    /// Whether input and weights have sizes that go together and leave something to compute.
    pub(crate) fn fits(self, x: &[usize], weight: &[usize]) -> bool {
        let full = |dims: &[usize]| dims.iter().all(|&size| size > 0);
        if !full(x) || !full(weight) {
            return false;
        }
        match (self, x, weight) {
            (
                Self::Convolution(stride),
                &[_, channels, height, width],
                &[_, inner, rows, columns],
            ) => channels == inner && height >= rows && width >= columns && full(&stride),
            (Self::Transposed(stride), &[_, channels, _, _], &[inner, _, _, _]) => {
                channels == inner && full(&stride)
            }
            (Self::Linear, &[_, features], &[inner, _]) => features == inner,
            _ => false,
        }
    }

    /// How many numbers the bias has.
    pub(crate) fn outputs(self, weight: &[usize]) -> usize {
        match self {
            Self::Convolution(_) => weight[0],
            Self::Transposed(_) | Self::Linear => weight[1],
        }
    }
}

/// A layer with its activation, as one operation.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait FusedLayer: Backend {
    /// The layer's output; negative numbers are multiplied with `slope`.
    fn fused_layer(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        kind: Kind,
        slope: f32,
    ) -> FloatTensor<Self>;
}

impl FusedLayer for Flex {
    fn fused_layer(
        x: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        kind: Kind,
        slope: f32,
    ) -> FlexTensor {
        forward(&x, &weight, &bias, kind, slope)
    }
}

impl<C: CheckpointStrategy> FusedLayer for Autodiff<Flex, C> {
    fn fused_layer(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        kind: Kind,
        slope: f32,
    ) -> FloatTensor<Self> {
        let (x, x_node) = x.into_parts();
        let (weight, weight_node) = weight.into_parts();
        let (bias, bias_node) = bias.into_parts();
        let output = forward(&x, &weight, &bias, kind, slope);
        let prepared = FusedBackward
            .prepare::<C>([x_node, weight_node, bias_node])
            .compute_bound()
            .stateful();
        match prepared {
            OpsKind::Tracked(prepared) => {
                let saved = Saved {
                    x,
                    weight,
                    output: output.clone(),
                    kind,
                    slope,
                };
                prepared.finish(saved, output)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }
}

#[derive(Debug)]
struct FusedBackward;

/// What the backward pass needs; the activation is undone from the output.
#[derive(Debug, Clone)]
struct Saved {
    x: FlexTensor,
    weight: FlexTensor,
    output: FlexTensor,
    kind: Kind,
    slope: f32,
}

impl Backward<Flex, 3> for FusedBackward {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 3>, tape: &mut Tape, _: &mut Checkpointer) {
        let gradient = tape.consume::<Flex>(&ops.node);
        let wanted = Wanted {
            input: ops.parents[0].is_some(),
            weight: ops.parents[1].is_some(),
            bias: ops.parents[2].is_some(),
        };
        let found = backward(&ops.state, &gradient, wanted);
        let [x, weight, bias] = ops.parents;
        if let (Some(node), Some(values)) = (x, found.input) {
            let dims = dims(&ops.state.x);
            tape.register::<Flex>(node.id, layer_tensor(values, &dims));
        }
        if let (Some(node), Some(values)) = (weight, found.weight) {
            let dims = dims(&ops.state.weight);
            tape.register::<Flex>(node.id, tensor(values, &dims));
        }
        if let (Some(node), Some(values)) = (bias, found.bias) {
            let len = values.len();
            tape.register::<Flex>(node.id, tensor(values, &[len]));
        }
    }
}

fn dims(tensor: &FlexTensor) -> Vec<usize> {
    tensor.shape().to_vec()
}

/// A tensor that lies in memory as its shape says.
fn tensor(values: Vec<f32>, dims: &[usize]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, dims.to_vec()))
}

/// A tensor of the given shape; images lie in memory with channels last.
fn layer_tensor(values: Vec<f32>, dims: &[usize]) -> FlexTensor {
    let &[batch, channels, rows, columns] = dims else {
        return tensor(values, dims);
    };
    let stored = tensor(values, &[batch, rows, columns, channels]);
    let layout: Layout = stored.layout().permute(&[0, 3, 1, 2]);
    stored.with_layout(layout)
}

/// A tensor whose numbers can be had as one slice, and whether they have channels last.
struct Stored {
    tensor: FlexTensor,
    channels_last: bool,
}

impl Stored {
    /// Copies only what is neither channels first nor channels last.
    fn new(tensor: &FlexTensor) -> Self {
        if tensor.layout().num_dims() == 4 {
            let layout = tensor.layout().permute(&[0, 2, 3, 1]);
            if layout.is_contiguous() {
                return Self {
                    tensor: tensor.clone().with_layout(layout),
                    channels_last: true,
                };
            }
        }
        Self {
            tensor: tensor.to_contiguous(),
            channels_last: false,
        }
    }

    fn values(&self) -> &[f32] {
        self.tensor
            .as_slice()
            .expect("layers are only called with contiguous numbers of 32 bits")
    }

    fn images(&self) -> Images<'_> {
        Images {
            values: self.values(),
            channels_last: self.channels_last,
        }
    }
}

/// How contiguous numbers become a tensor of a shape again.
pub(crate) struct Shaped {
    dims: Vec<usize>,
    channels_last: bool,
}

impl Shaped {
    pub(crate) fn tensor(&self, values: Vec<f32>) -> FlexTensor {
        if self.channels_last {
            layer_tensor(values, &self.dims)
        } else {
            tensor(values, &self.dims)
        }
    }
}

/// Two tensors of one shape with their numbers in one order, without a copy if that can be.
pub(crate) fn contiguous_pair(a: &FlexTensor, b: &FlexTensor) -> (FlexTensor, FlexTensor, Shaped) {
    let dims = dims(a);
    let [first, second] = [a, b].map(Stored::new);
    let channels_last = first.channels_last && second.channels_last;
    let [a, b] = if channels_last {
        [first.tensor, second.tensor]
    } else {
        [a, b].map(FlexTensor::to_contiguous)
    };
    let shaped = Shaped {
        dims,
        channels_last,
    };
    (a, b, shaped)
}

/// The sizes of a layer: those of the convolution that it is or transposes, or of the product.
enum Sizes {
    Convolution(Convolution),
    Transposed(Convolution),
    Linear([usize; 3]),
}

impl Sizes {
    fn new(kind: Kind, x: &[usize], weight: &[usize]) -> Self {
        match (kind, x, weight) {
            (
                Kind::Convolution(stride),
                &[_, channels, height, width],
                &[filters, _, rows, columns],
            ) => Self::Convolution(Convolution {
                channels,
                height,
                width,
                filters,
                kernel: [rows, columns],
                stride,
            }),
            (
                Kind::Transposed(stride),
                &[_, filters, height, width],
                &[_, channels, rows, columns],
            ) => Self::Transposed(Convolution {
                channels,
                height: (height - 1) * stride[0] + rows,
                width: (width - 1) * stride[1] + columns,
                filters,
                kernel: [rows, columns],
                stride,
            }),
            (Kind::Linear, &[batch, inputs], &[_, outputs]) => {
                Self::Linear([batch, inputs, outputs])
            }
            _ => unreachable!("a layer's tensors have the number of dimensions of its kind"),
        }
    }
}

fn forward(
    x: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
    kind: Kind,
    slope: f32,
) -> FlexTensor {
    let (input_dims, weight_dims) = (dims(x), dims(weight));
    let (weight, bias) = (weight.to_contiguous(), bias.to_contiguous());
    let [weight, bias] = [&weight, &bias].map(|tensor| {
        tensor
            .as_slice::<f32>()
            .expect("parameters are contiguous numbers of 32 bits")
    });
    let batch = input_dims[0];
    match Sizes::new(kind, &input_dims, &weight_dims) {
        Sizes::Convolution(conv) => {
            let x = Stored::new(x);
            let values = convolve(&conv, x.images(), weight, Some(bias), slope);
            let [rows, columns] = conv.output();
            layer_tensor(values, &[batch, conv.filters, rows, columns])
        }
        Sizes::Transposed(conv) => {
            let x = Stored::new(x);
            let values = convolve_transposed(&conv, x.images(), weight, Some(bias), slope);
            layer_tensor(values, &[batch, conv.channels, conv.height, conv.width])
        }
        Sizes::Linear(sizes) => {
            let x = Stored::new(x);
            let values = multiply(sizes, x.values(), weight, Some(bias), slope);
            tensor(values, &[batch, sizes[2]])
        }
    }
}

fn backward(saved: &Saved, gradient: &FlexTensor, wanted: Wanted) -> Gradients {
    let sizes = Sizes::new(saved.kind, &dims(&saved.x), &dims(&saved.weight));
    let weight = saved.weight.to_contiguous();
    let weight = weight
        .as_slice::<f32>()
        .expect("parameters are contiguous numbers of 32 bits");
    let [x, output, gradient] = [&saved.x, &saved.output, gradient].map(Stored::new);
    let bent = Bent {
        output: output.values(),
        slope: saved.slope,
    };
    match sizes {
        Sizes::Convolution(conv) => {
            convolve_backward(&conv, x.images(), weight, bent, gradient.images(), wanted)
        }
        Sizes::Transposed(conv) => {
            convolve_transposed_backward(&conv, x.images(), weight, bent, gradient.images(), wanted)
        }
        Sizes::Linear(sizes) => {
            multiply_backward(sizes, x.values(), weight, bent, gradient.values(), wanted)
        }
    }
}
