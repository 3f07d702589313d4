//! Adam in one pass over the parameters, and clipping by the norm of all gradients together.
//!
//! As in PyTorch: weight decay is added to the gradient, and epsilon stands outside the root. The
//! moments are plain arrays by the name of their parameter, so that a checkpoint can hold them.

use crate::parameters::{Array, Arrays, ParameterError, Path, replaced, values_of};
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

    /// Whether the moments are those of such parameters.
    pub(crate) fn check(&self, parameters: &Arrays) -> Result<(), ParameterError> {
        for (name, moments) in &self.moments {
            let Some(parameter) = parameters.get(name) else {
                let name = name.clone();
                return Err(ParameterError::Missing { name });
            };
            let count = parameter.values.len();
            if moments.mean.len() != count || moments.square.len() != count {
                return Err(ParameterError::Shape {
                    name: format!("adam.{name}"),
                    found: moments.shape.clone(),
                    expected: parameter.shape.clone(),
                });
            }
        }
        Ok(())
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
        let (values, norm) = gathered(&module, gradients);
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
}

/// The gradients as arrays, and the norm of all of them.
fn gathered<M: Module>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::LinearConfig;
    use burn::tensor::Device;

    /// One step after the other by the formulas of Kingma and Ba (2015), in double precision.
    fn by_hand(config: AdamConfig, start: f64, gradients: &[f64], rate: f64) -> f64 {
        let (beta1, beta2) = (f64::from(config.beta1), f64::from(config.beta2));
        let (mut value, mut mean, mut square) = (start, 0.0, 0.0);
        for (index, gradient) in gradients.iter().enumerate() {
            let age = index as i32 + 1;
            let gradient = gradient + f64::from(config.weight_decay) * value;
            mean = beta1 * mean + (1.0 - beta1) * gradient;
            square = beta2 * square + (1.0 - beta2) * gradient * gradient;
            let (mean, square) = (
                mean / (1.0 - beta1.powi(age)),
                square / (1.0 - beta2.powi(age)),
            );
            value -= rate * mean / (square.sqrt() + f64::from(config.epsilon));
        }
        value
    }

    #[test]
    fn steps_are_those_of_the_formulas() {
        let config = AdamConfig {
            weight_decay: 0.01,
            ..AdamConfig::default()
        };
        let device = Device::flex().autodiff();
        let mut layer = LinearConfig::new(3, 2).init(&device);
        let start = crate::parameters::parameters(&layer)["weight"].values[1];
        let mut adam = Adam::new(config);
        let inputs = [2.0_f32, -1.0, 0.5, 3.0];
        for input in inputs {
            let x = Tensor::<2>::from_data(TensorData::new(vec![input, 0.0, 0.0], [1, 3]), &device);
            let y = layer.forward(x).slice([0..1, 1..2]).sum();
            let gradients = GradientsParams::from_grads(y.backward(), &layer);
            layer = adam.step(layer, gradients, 0.1).0;
        }
        let found = crate::parameters::parameters(&layer)["weight"].values[1];
        let gradients = inputs.map(f64::from);
        let expected = by_hand(config, f64::from(start), &gradients, 0.1);
        assert!(
            (f64::from(found) - expected).abs() < 1e-5,
            "{found} {expected}"
        );
        assert_eq!(adam.steps(), 4);
    }

    #[test]
    fn the_norm_is_that_of_all_gradients_and_long_ones_are_shortened() {
        let device = Device::flex().autodiff();
        let layer = LinearConfig::new(2, 1).init(&device);
        let mut adam = Adam::new(AdamConfig {
            max_norm: Some(1.0),
            ..AdamConfig::default()
        });
        let x = Tensor::<2>::from_data(TensorData::new(vec![2.0_f32, 6.0], [1, 2]), &device);
        let gradients = GradientsParams::from_grads(layer.forward(x).sum().backward(), &layer);
        let (_, norm) = adam.step(layer, gradients, 0.1);
        // Two weights and a bias: 4 + 36 + 1.
        assert!((norm - 41.0_f64.sqrt()).abs() < 1e-6);
        let mean = &adam.state()["weight.mean"].values;
        assert!((mean[1] - 0.1 * 6.0 / 41.0_f32.sqrt()).abs() < 1e-5);
    }

    #[test]
    fn adam_comes_back_from_its_state() {
        let device = Device::flex().autodiff();
        let layer = LinearConfig::new(2, 1).init(&device);
        let mut adam = Adam::new(AdamConfig::default());
        let x = Tensor::<2>::ones([1, 2], &device);
        let gradients = GradientsParams::from_grads(layer.forward(x).sum().backward(), &layer);
        let layer = adam.step(layer, gradients, 0.1).0;
        let back = Adam::restored(AdamConfig::default(), adam.steps(), &adam.state());
        assert_eq!(back, adam);
        assert!(back.check(&crate::parameters::parameters(&layer)).is_ok());
        assert!(back.check(&Arrays::new()).is_err());
    }
}
