//! A policy as a file.

use super::container::{CheckpointError, Reader, Writer};
use crate::agent::Agent;
use crate::networks::{PolicyNetwork, PolicyShape};
use crate::parameters::{Arrays, parameters, with_parameters};
use crate::ppo::Trainer;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

const KIND: &str = "policy 1";

/// A policy and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyFile {
    /// The environment that it was trained in.
    pub environment: String,
    /// The version of that environment.
    pub version: u32,
    /// The seed of the training.
    pub seed: u64,
    /// Updates made.
    pub update: u64,
    /// Steps learned from.
    pub steps: u64,
    /// Whether play was begun for it where the game waits, as has to be done when it plays.
    pub serve: bool,
    /// The network's shape.
    pub shape: PolicyShape,
    /// The numbers of the network, by name.
    pub parameters: Arrays,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    kind: String,
    environment: String,
    version: u32,
    seed: u64,
    update: u64,
    steps: u64,
    #[serde(default)]
    serve: bool,
    shape: PolicyShape,
}

impl PolicyFile {
    /// The policy of a training as it is now.
    pub fn of(trainer: &Trainer) -> Self {
        let spec = trainer.world.envs.spec();
        Self {
            environment: spec.name.to_owned(),
            version: spec.version,
            seed: trainer.seed,
            update: trainer.update,
            steps: trainer.update * trainer.config.batch() as u64,
            serve: trainer.config.serve,
            shape: trainer.shape.clone(),
            parameters: parameters(&trainer.network),
        }
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut writer = Writer::default();
        writer.floats("", &self.parameters);
        writer.finish(&Header {
            kind: KIND.to_owned(),
            environment: self.environment.clone(),
            version: self.version,
            seed: self.seed,
            update: self.update,
            steps: self.steps,
            serve: self.serve,
            shape: self.shape.clone(),
        })
    }

    /// Reads the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (reader, header): (_, Header) = Reader::open(bytes, KIND)?;
        if !header.shape.is_sound() {
            let problem = format!("no network has the shape {:?}", header.shape);
            return Err(CheckpointError::Header { problem });
        }
        let file = Self {
            environment: header.environment,
            version: header.version,
            seed: header.seed,
            update: header.update,
            steps: header.steps,
            serve: header.serve,
            shape: header.shape,
            parameters: reader.floats("")?,
        };
        // What is wrong with the parameters is found now, not when somebody wants to play.
        file.network(&Device::flex())?;
        Ok(file)
    }

    fn network(&self, device: &Device) -> Result<PolicyNetwork, CheckpointError> {
        let network = PolicyNetwork::new(&self.shape, 0, device);
        Ok(with_parameters(network, &self.parameters)?)
    }

    /// The agent that plays it.
    pub fn agent(&self, device: &Device) -> Result<Agent, CheckpointError> {
        let network = self.network(device)?;
        Ok(Agent::new(network, self.shape.clone(), device.clone()).serving(self.serve))
    }
}
