//! Clipping gradients by their norm over all parameters of a module, as PyTorch's
//! `clip_grad_norm_` does. burn's own clipping takes each parameter by itself.

use burn::backend::Flex;
use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::{ElementConversion, Tensor};

use crate::fused_adam::owned;
use crate::layers::on_flex;

/// Scales the gradients of a module's parameters so that their norm, taken together, is at most
/// `max`. Returns the norm that they had; gradients with a norm that is not a number are left as
/// they are.
pub fn clip_global_norm<M: Module>(module: &M, gradients: &mut GradientsParams, max: f32) -> f32 {
    let mut squares = Squares {
        gradients,
        seen: Vec::new(),
        sum: 0.0,
    };
    module.visit(&mut squares);
    let norm = squares.sum.sqrt() as f32;
    let factor = max / (norm + 1e-6);
    if factor < 1.0 {
        let seen = Vec::new();
        module.visit(&mut Scale {
            gradients,
            seen,
            factor,
        });
    }
    norm
}

/// Numbers whose squares are added side by side before they are added up.
const LANES: usize = 16;
/// Numbers whose squares are added in 32 bits.
const BLOCK: usize = 64 * LANES;

fn sum_of_squares(values: &[f32]) -> f64 {
    let block_sum = |block: &[f32]| {
        let (lanes, rest) = block.as_chunks::<LANES>();
        let mut sums = [0.0_f32; LANES];
        for values in lanes {
            for lane in 0..LANES {
                sums[lane] += values[lane] * values[lane];
            }
        }
        let rest: f32 = rest.iter().map(|value| value * value).sum();
        f64::from(sums.iter().sum::<f32>() + rest)
    };
    values.chunks(BLOCK).map(block_sum).sum()
}

struct Squares<'a> {
    gradients: &'a GradientsParams,
    /// A parameter that a module holds twice has one gradient.
    seen: Vec<ParamId>,
    sum: f64,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.seen.contains(&param.id) {
            return;
        }
        self.seen.push(param.id);
        let Some(gradient) = self.gradients.get::<D>(param.id) else {
            return;
        };
        self.sum += if on_flex(&gradient) {
            sum_of_squares(owned(gradient).storage())
        } else {
            gradient.square().sum().into_scalar::<f32>().elem::<f64>()
        };
    }
}

struct Scale<'a> {
    gradients: &'a mut GradientsParams,
    seen: Vec<ParamId>,
    factor: f32,
}

impl ModuleVisitor for Scale<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if self.seen.contains(&param.id) {
            return;
        }
        self.seen.push(param.id);
        let Some(gradient) = self.gradients.remove::<D>(param.id) else {
            return;
        };
        let scaled = if on_flex(&gradient) {
            let mut gradient = owned(gradient);
            for value in gradient.storage_mut::<f32>() {
                *value *= self.factor;
            }
            Tensor::from_primitive::<Flex>(gradient)
        } else {
            gradient.mul_scalar(self.factor)
        };
        self.gradients.register(param.id, scaled);
    }
}
