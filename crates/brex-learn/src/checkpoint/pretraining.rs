//! A pre-training as a file, to go on from.

use super::container::{CheckpointError, Reader, Writer};
use crate::adam::Adam;
use crate::networks::{PretrainNetwork, PretrainShape};
use crate::parameters::{Arrays, parameters, with_parameters};
use crate::pretrain::{
    PretrainConfig, PretrainError, Pretrainer, RankedDemonstrations, adam_config,
};
use brex_envs::Spec;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

const KIND: &str = "pretraining 1";

/// A pre-training that was put down.
#[derive(Debug, Clone, PartialEq)]
pub struct PretrainingFile {
    /// The environment.
    pub environment: String,
    /// Its version.
    pub version: u32,
    /// The seed.
    pub seed: u64,
    /// Updates made.
    pub update: u64,
    /// The settings.
    pub config: PretrainConfig,
    /// Whatever else whoever trains wants to find again.
    pub notes: serde_json::Value,
    shape: PretrainShape,
    adam_steps: u64,
    network: Arrays,
    adam: Arrays,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    kind: String,
    environment: String,
    version: u32,
    seed: u64,
    update: u64,
    config: PretrainConfig,
    notes: serde_json::Value,
    shape: PretrainShape,
    adam_steps: u64,
}

impl PretrainingFile {
    /// A pre-training as it is now.
    pub fn of(trainer: &Pretrainer, spec: &Spec, notes: serde_json::Value) -> Self {
        Self {
            environment: spec.name.to_owned(),
            version: spec.version,
            seed: trainer.seed,
            update: trainer.update,
            config: trainer.config.clone(),
            notes,
            shape: trainer.shape.clone(),
            adam_steps: trainer.adam.steps(),
            network: parameters(&trainer.network),
            adam: trainer.adam.state(),
        }
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut writer = Writer::default();
        writer.floats("network.", &self.network);
        writer.floats("adam.", &self.adam);
        writer.finish(&Header {
            kind: KIND.to_owned(),
            environment: self.environment.clone(),
            version: self.version,
            seed: self.seed,
            update: self.update,
            config: self.config.clone(),
            notes: self.notes.clone(),
            shape: self.shape.clone(),
            adam_steps: self.adam_steps,
        })
    }

    /// Reads the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (reader, header): (_, Header) = Reader::open(bytes, KIND)?;
        let wrong = |problem: String| CheckpointError::Header { problem };
        header.config.check().map_err(|e| wrong(e.to_string()))?;
        if !header.shape.is_sound() {
            return Err(wrong(format!(
                "no network has the shape {:?}",
                header.shape
            )));
        }
        let file = Self {
            environment: header.environment,
            version: header.version,
            seed: header.seed,
            update: header.update,
            config: header.config,
            notes: header.notes,
            shape: header.shape,
            adam_steps: header.adam_steps,
            network: reader.floats("network.")?,
            adam: reader.floats("adam.")?,
        };
        let network = PretrainNetwork::new(&file.shape, 0, &Device::flex());
        with_parameters(network, &file.network)?;
        Ok(file)
    }

    /// The pre-training, ready to go on with the demonstrations that it was begun with.
    pub fn resume(
        self,
        data: RankedDemonstrations,
        device: &Device,
    ) -> Result<Pretrainer, PretrainError> {
        let adam = Adam::restored(adam_config(&self.config), self.adam_steps, &self.adam);
        adam.check(&self.network)
            .map_err(CheckpointError::Parameters)?;
        let mut trainer = Pretrainer::new(self.config, self.seed, self.shape, data, device)?;
        trainer.network =
            with_parameters(trainer.network, &self.network).map_err(CheckpointError::Parameters)?;
        trainer.adam = adam;
        trainer.update = self.update;
        Ok(trainer)
    }
}
