//! The binary cross-entropy of pixels, as one operation: the slowest of the losses by far if it is
//! put together from several.

use crate::extension::contiguous_pair;
use crate::layers::on_flex;
use brex_core::{Task, dispatch, exp_lane, ln_lane};
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients as Tape;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::activation::softplus;
use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;

/// Pixels that are summed together; the sums of such stretches are added in their order, so that
/// the number of threads changes nothing.
const STRETCH: usize = 1 << 14;

/// The mean over all pixels of the cross-entropy between grey values from 0 to 1 and the sigmoid of
/// logits.
pub(super) fn pixel_error(logits: Tensor<4>, targets: Tensor<4>) -> Tensor<1> {
    if on_flex(&logits) && on_flex(&targets) && logits.dims() == targets.dims() {
        let (logits, targets) = (logits.into_dispatch(), targets.into_dispatch());
        return Tensor::from_dispatch(<Dispatch as PixelError>::pixel_error(logits, targets));
    }
    (softplus(logits.clone(), 1.0) - logits * targets).mean()
}

/// The error as an operation of burn's CPU backend.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait PixelError: Backend {
    /// The mean error.
    fn pixel_error(logits: FloatTensor<Self>, targets: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl PixelError for Flex {
    fn pixel_error(logits: FlexTensor, targets: FlexTensor) -> FlexTensor {
        scalar(Errors::of(&logits, &targets).mean)
    }
}

impl<C: CheckpointStrategy> PixelError for Autodiff<Flex, C> {
    fn pixel_error(logits: FloatTensor<Self>, targets: FloatTensor<Self>) -> FloatTensor<Self> {
        let (logits, node) = logits.into_parts();
        let (targets, _) = targets.into_parts();
        let errors = Errors::of(&logits, &targets);
        let output = scalar(errors.mean);
        match ErrorBackward
            .prepare::<C>([node])
            .compute_bound()
            .stateful()
        {
            OpsKind::Tracked(prepared) => prepared.finish(errors, output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }
}

fn scalar(value: f32) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(vec![value], [1]))
}

/// The mean error, and how it changes with each logit.
#[derive(Debug, Clone)]
struct Errors {
    mean: f32,
    slopes: FlexTensor,
}

impl Errors {
    fn of(logits: &FlexTensor, targets: &FlexTensor) -> Self {
        let (logits, targets, shaped) = contiguous_pair(logits, targets);
        let values = |tensor: &FlexTensor| tensor.as_slice::<f32>().map(<[f32]>::to_vec);
        let (mut slopes, targets) = match (values(&logits), targets.as_slice::<f32>()) {
            (Some(logits), Some(targets)) => (logits, targets),
            _ => unreachable!("contiguous numbers of 32 bits"),
        };
        let count = slopes.len();
        let sums: Vec<f64> = slopes
            .par_chunks_mut(STRETCH)
            .zip(targets.par_chunks(STRETCH))
            .map(|(logits, targets)| {
                dispatch(Stretch {
                    logits,
                    targets,
                    share: 1.0 / count as f32,
                })
            })
            .collect();
        let mean = (sums.iter().sum::<f64>() / count as f64) as f32;
        Self {
            mean,
            slopes: shaped.tensor(slopes),
        }
    }
}

/// Replaces logits by slopes, and gives the sum of the errors.
struct Stretch<'a> {
    logits: &'a mut [f32],
    targets: &'a [f32],
    share: f32,
}

impl Task for Stretch<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        const LANES: usize = 16;
        let mut total = 0.0;
        // Single precision is enough for the sum of a few hundred numbers.
        for (logits, targets) in self.logits.chunks_mut(1024).zip(self.targets.chunks(1024)) {
            let mut sums = [0.0_f32; LANES];
            let (whole, rest) = logits.as_chunks_mut::<LANES>();
            let (targets, left) = targets.as_chunks::<LANES>();
            for (logits, targets) in whole.iter_mut().zip(targets) {
                for lane in 0..LANES {
                    let (error, slope) = one(logits[lane], targets[lane]);
                    sums[lane] += error;
                    logits[lane] = slope * self.share;
                }
            }
            for (lane, (logit, target)) in rest.iter_mut().zip(left).enumerate() {
                let (error, slope) = one(*logit, *target);
                sums[lane] += error;
                *logit = slope * self.share;
            }
            total += sums.iter().map(|sum| f64::from(*sum)).sum::<f64>();
        }
        total
    }
}

/// The error of one pixel, and how it changes with its logit.
#[inline(always)]
fn one(logit: f32, target: f32) -> (f32, f32) {
    let tail = exp_lane(-logit.abs());
    let over = 1.0 / (1.0 + tail);
    let sigmoid = if logit >= 0.0 { over } else { tail * over };
    let error = logit.max(0.0) - logit * target + ln_lane(1.0 + tail);
    (error, sigmoid - target)
}

#[derive(Debug)]
struct ErrorBackward;

impl Backward<Flex, 1> for ErrorBackward {
    type State = Errors;

    fn backward(self, ops: Ops<Errors, 1>, tape: &mut Tape, _: &mut Checkpointer) {
        let above = tape.consume::<Flex>(&ops.node);
        let [Some(node)] = ops.parents else { return };
        let factor = above.as_slice::<f32>().map_or(1.0, |values| values[0]);
        let slopes = Flex::float_mul_scalar(ops.state.slopes, factor.into());
        tape.register::<Flex>(node.id, slopes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::values_of;
    use burn::tensor::Device;

    fn numbers(count: usize, by: f32) -> Vec<f32> {
        (0..count)
            .map(|i| ((i as f32 * by).sin() * 1.3).powi(3) * 8.0)
            .collect()
    }

    /// Errors and gradients by this operation, and put together from burn's own ones in double
    /// precision by hand.
    #[test]
    fn errors_and_slopes_are_those_of_the_formula() {
        let device = Device::flex().autodiff();
        let dims = [5, 3, 7, 11];
        let count = dims.iter().product();
        let logits = numbers(count, 0.37);
        let targets: Vec<f32> = numbers(count, 0.11)
            .iter()
            .map(|v| v.abs() / 20.0)
            .collect();
        let expected: f64 = logits
            .iter()
            .zip(&targets)
            .map(|(x, y)| by_hand(*x, *y).0)
            .sum();
        for channels_last in [false, true] {
            let tensor = |values: &[f32]| {
                let tensor =
                    Tensor::<4>::from_data(TensorData::new(values.to_vec(), dims), &device);
                if channels_last {
                    // Laid out with channels last, and seen in the same order as before.
                    let moved = values_of(tensor.permute([0, 2, 3, 1]));
                    let data = TensorData::new(moved, [dims[0], dims[2], dims[3], dims[1]]);
                    return Tensor::<4>::from_data(data, &device).permute([0, 3, 1, 2]);
                }
                tensor
            };
            let x = tensor(&logits).require_grad();
            let error = pixel_error(x.clone(), tensor(&targets));
            let found = f64::from(values_of(error.clone())[0]);
            let mean = expected / count as f64;
            assert!((found - mean).abs() < 1e-6 * mean, "{found} {mean}");
            let gradients = (error * 3.0).backward();
            let slopes = values_of(x.grad(&gradients).unwrap());
            for ((slope, x), y) in slopes.iter().zip(&logits).zip(&targets) {
                let expected = 3.0 * by_hand(*x, *y).1 / count as f64;
                assert!(
                    (f64::from(*slope) - expected).abs() < 1e-8,
                    "{slope} {expected}"
                );
            }
        }
    }

    fn by_hand(x: f32, y: f32) -> (f64, f64) {
        let (x, y) = (f64::from(x), f64::from(y));
        let sigmoid = 1.0 / (1.0 + (-x).exp());
        (
            -(y * sigmoid.ln() + (1.0 - y) * (-x).exp().ln_1p().mul_add(-1.0, -x)),
            sigmoid - y,
        )
    }
}
