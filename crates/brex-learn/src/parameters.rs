//! The parameters of a network by name: `convolutions.0.weight`, `policy.bias`.
//!
//! burn tells parameters apart by random numbers; files and optimisers here use the path of the
//! field instead, which is the same in every run.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use std::collections::BTreeMap;

/// Numbers with a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The length of each dimension.
    pub shape: Vec<usize>,
    /// The numbers, the last dimension running fastest.
    pub values: Vec<f32>,
}

/// Arrays by name.
pub type Arrays = BTreeMap<String, Array>;

/// Why parameters do not fit a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// A parameter is not there.
    #[error("parameter {name} is missing")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A parameter has another shape.
    #[error("parameter {name} has shape {found:?}; expected {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// The shape it has.
        found: Vec<usize>,
        /// The shape the network wants.
        expected: Vec<usize>,
    },
    /// A parameter is not a finite number.
    #[error("parameter {name} holds a value that is not finite, at {index}")]
    NotFinite {
        /// Its name.
        name: String,
        /// Where, in the flat array.
        index: usize,
    },
}

/// The numbers of a tensor, without a copy where nothing else holds them.
pub(crate) fn values_of<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let data = tensor.into_data();
    match data.try_into_vec_as::<f32>() {
        Ok(values) => values,
        Err(error) => unreachable!("a float tensor holds floats: {error:?}"),
    }
}

/// Where a walk through a module is.
#[derive(Default)]
pub(crate) struct Path(Vec<String>);

impl Path {
    pub(crate) fn enter(&mut self, name: &str) {
        self.0.push(name.to_owned());
    }

    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    pub(crate) fn name(&self) -> String {
        self.0.join(".")
    }
}

/// All parameters of a module by name.
pub fn parameters<M: Module>(module: &M) -> Arrays {
    #[derive(Default)]
    struct Reader {
        path: Path,
        arrays: Arrays,
    }
    impl ModuleVisitor for Reader {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.path.enter(name);
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.path.leave();
        }

        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let tensor = param.val();
            let shape = tensor.dims().to_vec();
            let values = values_of(tensor);
            self.arrays
                .insert(self.path.name(), Array { shape, values });
        }
    }
    let mut reader = Reader::default();
    module.visit(&mut reader);
    reader.arrays
}

/// The module with the parameters of `arrays`; names that it does not know are left alone.
pub fn with_parameters<M: Module>(module: M, arrays: &Arrays) -> Result<M, ParameterError> {
    struct Writer<'a> {
        path: Path,
        arrays: &'a Arrays,
        problem: Option<ParameterError>,
    }
    impl Writer<'_> {
        fn checked(&self, shape: &[usize]) -> Result<&Array, ParameterError> {
            let name = self.path.name();
            let Some(array) = self.arrays.get(&name) else {
                return Err(ParameterError::Missing { name });
            };
            if array.shape != shape || array.values.len() != shape.iter().product::<usize>() {
                return Err(ParameterError::Shape {
                    name,
                    found: array.shape.clone(),
                    expected: shape.to_vec(),
                });
            }
            match array.values.iter().position(|value| !value.is_finite()) {
                Some(index) => Err(ParameterError::NotFinite { name, index }),
                None => Ok(array),
            }
        }
    }
    impl ModuleMapper for Writer<'_> {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.path.enter(name);
        }

        fn exit_module(&mut self, _: &str, _: &str) {
            self.path.leave();
        }

        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let shape = param.lazy_shape();
            match self.checked(shape.as_ref()) {
                Ok(array) => {
                    let data = TensorData::new(array.values.clone(), array.shape.clone());
                    param.map(|old| replaced(&old, data))
                }
                Err(problem) => {
                    self.problem.get_or_insert(problem);
                    param
                }
            }
        }
    }
    let mut writer = Writer {
        path: Path::default(),
        arrays,
        problem: None,
    };
    let module = module.map(&mut writer);
    match writer.problem {
        None => Ok(module),
        Some(problem) => Err(problem),
    }
}

/// A leaf on the same device, wanting a gradient as the old one did.
pub(crate) fn replaced<const D: usize>(old: &Tensor<D>, data: TensorData) -> Tensor<D> {
    let wanted = old.is_require_grad();
    let new = Tensor::from_data(data, &old.device());
    if wanted { new.require_grad() } else { new }
}
