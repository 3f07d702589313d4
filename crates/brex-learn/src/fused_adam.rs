//! Adam as PyTorch has it, as an optimiser of burn's, in one pass over the numbers on a CPU.
//!
//! Weight decay is added to the gradient, and epsilon to the root of the corrected second moment.
//! burn's own Adam does the same in a dozen operations, each with a pass and a buffer of its own;
//! it is used where the tensors are not on the CPU. The state is burn's, and so are records of it.

use brex_core::{Task, dispatch};
use burn::backend::Flex;
use burn::backend::flex::FlexTensor;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{AdamConfig, AdamState, AdaptiveMomentumState, LearningRate, Optimizer};
use burn::tensor::{Device, Tensor};
use rayon::prelude::*;

use crate::layers::on_flex;

/// Numbers that a thread takes at a time.
const CHUNK: usize = 1 << 15;

/// Adam (Kingma and Ba, 2015).
///
/// `ModuleOptimizer::from(FusedAdam::default())` makes an optimiser of modules of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusedAdam {
    /// How much of the mean of gradients is kept.
    pub beta_1: f32,
    /// How much of the mean of squared gradients is kept.
    pub beta_2: f32,
    /// Added to what the step is divided by.
    pub epsilon: f32,
    /// The share of each parameter that is added to its gradient.
    pub weight_decay: f32,
}

impl Default for FusedAdam {
    fn default() -> Self {
        Self {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
        }
    }
}

impl Optimizer for FusedAdam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        parameter: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let ours = on_flex(&parameter)
            && on_flex(&gradient)
            && state.as_ref().is_none_or(|state| {
                on_flex(&state.momentum.moment_1) && on_flex(&state.momentum.moment_2)
            });
        if !ours {
            return self.as_burn().step(rate, parameter, gradient, state);
        }
        let (time, first, second) = match state.map(|state| state.momentum) {
            Some(momentum) => (momentum.time, momentum.moment_1, momentum.moment_2),
            None => (0, parameter.zeros_like(), parameter.zeros_like()),
        };
        let time = time + 1;
        let [mut parameter, mut first, mut second] = [parameter, first, second].map(owned);
        let gradient = owned(gradient);
        let step = Step::new(self, rate, time);
        step.apply(
            parameter.storage_mut(),
            gradient.storage(),
            first.storage_mut(),
            second.storage_mut(),
        );
        let [parameter, first, second] =
            [parameter, first, second].map(Tensor::from_primitive::<Flex>);
        let momentum = AdaptiveMomentumState::new(time, first, second);
        (parameter, Some(AdamState::new(momentum)))
    }

    fn to_device<const D: usize>(mut state: AdamState<D>, device: &Device) -> AdamState<D> {
        state.momentum = state.momentum.to_device(device);
        state
    }
}

impl FusedAdam {
    fn as_burn(&self) -> burn::optim::Adam {
        AdamConfig::new()
            .with_beta_1(self.beta_1)
            .with_beta_2(self.beta_2)
            .with_epsilon(self.epsilon)
            .with_weight_decay(
                (self.weight_decay != 0.0).then(|| WeightDecayConfig::new(self.weight_decay)),
            )
            .build()
    }
}

/// A tensor of the CPU whose storage is exactly its numbers, in order.
pub(crate) fn owned<const D: usize>(tensor: Tensor<D>) -> FlexTensor {
    let tensor = tensor
        .try_into_primitive::<Flex>()
        .expect("only called with tensors that are on the CPU");
    // A tensor that is whole already is only counted twice for as long as this lasts.
    tensor.to_contiguous()
}

/// The constants of one step.
#[derive(Clone, Copy)]
struct Step {
    beta_1: f32,
    beta_2: f32,
    epsilon: f32,
    weight_decay: f32,
    /// The learning rate, corrected for the first moment's start at zero.
    rate: f32,
    /// What the second moment's root is multiplied with for the same reason.
    root: f32,
}

impl Step {
    fn new(adam: &FusedAdam, rate: LearningRate, time: usize) -> Self {
        let time = i32::try_from(time).unwrap_or(i32::MAX);
        let correction = |beta: f32| 1.0 - f64::from(beta).powi(time);
        Self {
            beta_1: adam.beta_1,
            beta_2: adam.beta_2,
            epsilon: adam.epsilon,
            weight_decay: adam.weight_decay,
            rate: (rate / correction(adam.beta_1)) as f32,
            root: (1.0 / correction(adam.beta_2)).sqrt() as f32,
        }
    }

    fn apply(self, parameter: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        if parameter.len() <= CHUNK {
            return dispatch(Pass {
                step: self,
                parameter,
                gradient,
                first,
                second,
            });
        }
        parameter
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(first.par_chunks_mut(CHUNK))
            .zip(second.par_chunks_mut(CHUNK))
            .for_each(|(((parameter, gradient), first), second)| {
                dispatch(Pass {
                    step: self,
                    parameter,
                    gradient,
                    first,
                    second,
                });
            });
    }
}

struct Pass<'a> {
    step: Step,
    parameter: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl Task for Pass<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let step = self.step;
        let moments = self.first.iter_mut().zip(self.second);
        for ((p, g), (m, v)) in self.parameter.iter_mut().zip(self.gradient).zip(moments) {
            let g = g + step.weight_decay * *p;
            *m = step.beta_1 * *m + (1.0 - step.beta_1) * g;
            *v = step.beta_2 * *v + (1.0 - step.beta_2) * g * g;
            *p -= step.rate * *m / (v.sqrt() * step.root + step.epsilon);
        }
    }
}
