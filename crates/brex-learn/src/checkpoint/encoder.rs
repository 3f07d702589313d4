//! An encoder as a file.

use super::container::{CheckpointError, Reader, Writer};
use crate::networks::{Encoder, EncoderShape};
use crate::parameters::{Array, Arrays, parameters, with_parameters};
use crate::phi::Phi;
use crate::pretrain::{PretrainConfig, Pretrainer};
use brex_envs::Spec;
use burn::tensor::Device;
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};

const KIND: &str = "encoder 1";

/// Where an encoder comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum EncoderSource {
    /// It was pre-trained by brex.
    Pretrained {
        /// The seed.
        seed: u64,
        /// Updates made.
        updates: u64,
        /// The settings.
        config: PretrainConfig,
    },
    /// It is a published T-REX reward network.
    Trex,
}

/// An encoder, with a reward head.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderFile {
    /// The environment whose frames it encodes.
    pub environment: String,
    /// The version of that environment.
    pub version: u32,
    /// The shape.
    pub shape: EncoderShape,
    /// The root of the mean square of phi's norm over the demonstrations' frames: dividing features
    /// by it makes encoders comparable.
    pub norm: f64,
    /// Where it comes from.
    pub source: EncoderSource,
    encoder: Arrays,
    /// Weights and bias of the reward that ranking taught, in this order.
    reward: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    kind: String,
    environment: String,
    version: u32,
    shape: EncoderShape,
    norm: f64,
    source: EncoderSource,
}

impl EncoderFile {
    /// The encoder of a pre-training as it is now.
    pub fn of(trainer: &Pretrainer, spec: &Spec) -> Self {
        let network = trainer.network();
        let head = parameters(&network.reward);
        let values = |name: &str| head.get(name).map_or(&[][..], |array| &array.values);
        let reward = values("weight").iter().chain(values("bias"));
        let check = trainer.check();
        let mut file = Self {
            environment: spec.name.to_owned(),
            version: spec.version,
            shape: trainer.shape.encoder.clone(),
            norm: check.norm,
            source: EncoderSource::Pretrained {
                seed: trainer.seed,
                updates: trainer.update,
                config: trainer.config.clone(),
            },
            encoder: parameters(&network.encoder),
            reward: reward.map(|value| f64::from(*value)).collect(),
        };
        if trainer.is_centred() {
            file.shift(&check.means);
        }
        file
    }

    /// Takes something off each feature, and leaves the reward of every frame as it was.
    fn shift(&mut self, means: &[f64]) {
        if let Some(bias) = self.encoder.get_mut("mean.bias") {
            for (bias, mean) in bias.values.iter_mut().zip(means) {
                *bias -= *mean as f32;
            }
        }
        if let Some((bias, weights)) = self.reward.split_last_mut() {
            *bias += weights.iter().zip(means).map(|(w, m)| w * m).sum::<f64>();
        }
    }

    /// Whether the mean of its features over the demonstrations' frames is zero.
    pub fn is_centred(&self) -> bool {
        match &self.source {
            EncoderSource::Pretrained { config, .. } => {
                config.centred && self.shape.features.is_some()
            }
            EncoderSource::Trex => false,
        }
    }

    /// A published T-REX network, as converted from PyTorch: `conv1` to `conv4`, `fc1`, `fc2`. Its
    /// features are what comes before the last layer.
    pub fn from_trex(bytes: &[u8], spec: &Spec) -> Result<Self, CheckpointError> {
        let tensors = SafeTensors::deserialize(bytes);
        let tensors = tensors.map_err(|error| CheckpointError::Damaged {
            problem: error.to_string(),
        })?;
        let array = |name: &str| -> Result<Array, CheckpointError> {
            super::container::float_array(&tensors, name)
        };
        let mut encoder = Arrays::new();
        for index in 0..4 {
            for part in ["weight", "bias"] {
                let name = format!("convolutions.{index}.{part}");
                encoder.insert(name, array(&format!("conv{}.{part}", index + 1))?);
            }
        }
        encoder.insert(
            "hidden.weight".to_owned(),
            transposed(&array("fc1.weight")?),
        );
        encoder.insert("hidden.bias".to_owned(), array("fc1.bias")?);
        let (weights, bias) = (array("fc2.weight")?, array("fc2.bias")?);
        let shape = EncoderShape::trex();
        if weights.values.len() != shape.hidden || bias.values.len() != 1 {
            return Err(CheckpointError::Array {
                name: "fc2.weight".to_owned(),
                problem: format!("has shape {:?}; expected [1, 64]", weights.shape),
            });
        }
        let observation = [spec.stack, spec.height, spec.width];
        if observation != shape.observation {
            return Err(CheckpointError::Header {
                problem: format!(
                    "the network sees {:?}, and {} shows {observation:?}",
                    shape.observation, spec.name
                ),
            });
        }
        let reward = weights.values.iter().chain(&bias.values);
        let file = Self {
            environment: spec.name.to_owned(),
            version: spec.version,
            shape,
            norm: 1.0,
            source: EncoderSource::Trex,
            encoder,
            reward: reward.map(|value| f64::from(*value)).collect(),
        };
        file.network(&Device::flex())?;
        Ok(file)
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut writer = Writer::default();
        writer.floats("encoder.", &self.encoder);
        writer.doubles("reward", &self.reward);
        writer.finish(&Header {
            kind: KIND.to_owned(),
            environment: self.environment.clone(),
            version: self.version,
            shape: self.shape.clone(),
            norm: self.norm,
            source: self.source.clone(),
        })
    }

    /// Reads the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (reader, header): (_, Header) = Reader::open(bytes, KIND)?;
        let wrong = |problem: String| Err(CheckpointError::Header { problem });
        if !header.shape.is_sound() {
            return wrong(format!("no network has the shape {:?}", header.shape));
        }
        if !(header.norm.is_finite() && header.norm > 0.0) {
            return wrong(format!("the norm is {}", header.norm));
        }
        let file = Self {
            environment: header.environment,
            version: header.version,
            norm: header.norm,
            source: header.source,
            encoder: reader.floats("encoder.")?,
            reward: reader.doubles("reward")?,
            shape: header.shape,
        };
        if file.reward.len() != file.shape.feature_count() + 1 {
            let problem = "not one weight for each feature and a bias".to_owned();
            let name = "reward".to_owned();
            return Err(CheckpointError::Array { name, problem });
        }
        // What is wrong with the parameters is found now, not when somebody wants features.
        file.network(&Device::flex())?;
        Ok(file)
    }

    fn network(&self, device: &Device) -> Result<Encoder, CheckpointError> {
        let encoder = Encoder::new(&self.shape, 0, device);
        Ok(with_parameters(encoder, &self.encoder)?)
    }

    /// The encoder, ready to encode.
    pub fn phi(&self, device: &Device) -> Result<Phi, CheckpointError> {
        let encoder = self.network(device)?;
        Ok(Phi::new(encoder, self.shape.clone(), device.clone()))
    }

    /// The reward that ranking taught: weights of the features, and a bias.
    pub fn reward(&self) -> (&[f64], f64) {
        let (bias, weights) = self.reward.split_last().unwrap_or((&0.0, &[]));
        (weights, *bias)
    }
}

/// PyTorch keeps the weights of a linear layer row by output, burn by input.
fn transposed(array: &Array) -> Array {
    let [rows, columns] = [0, 1].map(|at| array.shape.get(at).copied().unwrap_or(0));
    let values = (0..columns).flat_map(|c| (0..rows).map(move |r| (r, c)));
    Array {
        shape: vec![columns, rows],
        values: values.map(|(r, c)| array.values[r * columns + c]).collect(),
    }
}
