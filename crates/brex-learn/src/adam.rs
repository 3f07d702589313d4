//! Adam in one pass over the parameters, and clipping by the norm of all gradients together.
//!
//! As in PyTorch: weight decay is added to the gradient, and epsilon stands outside the root. The
//! moments are plain arrays by the name of their parameter, so that a checkpoint can hold them.

use crate::parameters::{Array, Arrays, Path, replaced, values_of};
use burn::module::{Module, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};
use std::collections::BTreeMap;

/// How Adam moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamConfig {
    /// How long the mean of the gradient lasts.
    pub beta1: f32,
    /// How long the mean of its square lasts.
    pub beta2: f32,
    /// Keeps a step finite where gradients vanish.
    pub epsilon: f32,
    /// The strength of the pull to zero.
    pub weight_decay: f32,
    /// The greatest norm of all gradients together; longer ones are shortened.
    pub max_norm: Option<f32>,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            max_norm: None,
        }
    }
}

/// Adam and what it remembers.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    config: AdamConfig,
    steps: u64,
    moments: BTreeMap<String, Moments>,
}

#[derive(Debug, Clone, PartialEq)]
struct Moments {
    shape: Vec<usize>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Adam {
    /// Adam before its first step.
    pub fn new(config: AdamConfig) -> Self {
        Self {
            config,
            steps: 0,
            moments: BTreeMap::new(),
        }
    }

    /// How many steps were made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The moments by name: `PARAMETER.mean` and `PARAMETER.square`.
    pub fn state(&self) -> Arrays {
        let mut arrays = Arrays::new();
        for (name, moments) in &self.moments {
            for (which, values) in [("mean", &moments.mean), ("square", &moments.square)] {
                let (shape, values) = (moments.shape.clone(), values.clone());
                arrays.insert(format!("{name}.{which}"), Array { shape, values });
            }
        }
        arrays
    }

    /// Adam as it was when `state` was taken.
    pub fn restored(config: AdamConfig, steps: u64, state: &Arrays) -> Self {
        let mut moments = BTreeMap::new();
        for (key, mean) in state {
            let Some(name) = key.strip_suffix(".mean") else {
                continue;
            };
            let Some(square) = state.get(&format!("{name}.square")) else {
                continue;
            };
            let both = Moments {
                shape: mean.shape.clone(),
                mean: mean.values.clone(),
                square: square.values.clone(),
            };
            moments.insert(name.to_owned(), both);
        }
        Self {
            config,
            steps,
            moments,
        }
    }

    /// Moves the parameters of a module against their gradients, and gives the norm of these
    /// before clipping.
    pub fn step<M: Module>(
        &mut self,
        module: M,
        gradients: GradientsParams,
        learning_rate: f64,
    ) -> (M, f64) {
        self.steps += 1;
        let (values, norm) = self.gather(&module, gradients);
        let scale = match self.config.max_norm {
            Some(max) if norm > f64::from(max) => (f64::from(max) / (norm + 1e-6)) as f32,
            _ => 1.0,
        };
        let age = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let debias1 = 1.0 - f64::from(self.config.beta1).powi(age);
        let debias2 = 1.0 - f64::from(self.config.beta2).powi(age);
        let mut mover = Mover {
            adam: self,
            path: Path::default(),
            gradients: values,
            scale,
            step: (learning_rate / debias1) as f32,
            root_debias2: debias2.sqrt() as f32,
        };
        (module.map(&mut mover), norm)
    }

    /// The gradients as arrays, and the norm of all of them.
    fn gather<M: Module>(
        &self,
        module: &M,
        gradients: GradientsParams,
    ) -> (BTreeMap<String, Vec<f32>>, f64) {
        struct Gatherer {
            path: Path,
            gradients: GradientsParams,
            values: BTreeMap<String, Vec<f32>>,
            squares: f64,
        }
        impl burn::module::ModuleVisitor for Gatherer {
            fn enter_module(&mut self, name: &str, _: &str) {
                self.path.enter(name);
            }

            fn exit_module(&mut self, _: &str, _: &str) {
                self.path.leave();
            }

            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                if let Some(gradient) = self.gradients.remove::<D>(param.id) {
                    let values = values_of(gradient);
                    self.squares += sum_of_squares(&values);
                    self.values.insert(self.path.name(), values);
                }
            }
        }
        let mut gatherer = Gatherer {
            path: Path::default(),
            gradients,
            values: BTreeMap::new(),
            squares: 0.0,
        };
        module.visit(&mut gatherer);
        (gatherer.values, gatherer.squares.sqrt())
    }
}

/// In lanes of sixteen, each summed in single precision over short stretches only.
fn sum_of_squares(values: &[f32]) -> f64 {
    let mut total = 0.0;
    for stretch in values.chunks(1024) {
        let mut lanes = [0.0_f32; 16];
        let (whole, rest) = stretch.as_chunks::<16>();
        for chunk in whole {
            for lane in 0..16 {
                lanes[lane] += chunk[lane] * chunk[lane];
            }
        }
        total += lanes.iter().map(|lane| f64::from(*lane)).sum::<f64>();
        total += rest
            .iter()
            .map(|v| f64::from(*v) * f64::from(*v))
            .sum::<f64>();
    }
    total
}

struct Mover<'a> {
    adam: &'a mut Adam,
    path: Path,
    gradients: BTreeMap<String, Vec<f32>>,
    scale: f32,
    step: f32,
    root_debias2: f32,
}

impl ModuleMapper for Mover<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.leave();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.name();
        let Some(gradient) = self.gradients.remove(&name) else {
            return param;
        };
        let config = self.adam.config;
        let shape = param.lazy_shape();
        let moments = self.adam.moments.entry(name).or_insert_with(|| Moments {
            shape: shape.to_vec(),
            mean: vec![0.0; gradient.len()],
            square: vec![0.0; gradient.len()],
        });
        let (scale, step, root) = (self.scale, self.step, self.root_debias2);
        param.map(|tensor| {
            let mut values = values_of(tensor.clone());
            let all = values.iter_mut().zip(&gradient);
            let all = all.zip(moments.mean.iter_mut().zip(moments.square.iter_mut()));
            for ((value, gradient), (mean, square)) in all {
                let gradient = gradient * scale + config.weight_decay * *value;
                *mean += (gradient - *mean) * (1.0 - config.beta1);
                *square += (gradient * gradient - *square) * (1.0 - config.beta2);
                *value -= step * *mean / (square.sqrt() / root + config.epsilon);
            }
            replaced(&tensor, TensorData::new(values, shape))
        })
    }
}
