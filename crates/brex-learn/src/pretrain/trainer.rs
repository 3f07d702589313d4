//! Pre-training, update by update.

use super::losses::{Batch, Losses};
use super::snippets::{Pair, draw_pair};
use super::{DemonstrationError, PretrainConfig, RankedDemonstrations};
use crate::ConfigError;
use crate::adam::{Adam, AdamConfig};
use crate::checkpoint::CheckpointError;
use crate::networks::{PretrainNetwork, PretrainShape};
use crate::observations::observation_tensor;
use crate::parameters::values_of;
use brex_core::stream;
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;

/// Pairs that accuracy is measured on.
const MEASURED: usize = 200;

/// Why pre-training cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PretrainError {
    /// A setting cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The demonstrations cannot be used.
    #[error(transparent)]
    Demonstrations(#[from] DemonstrationError),
    /// What was put down does not fit together.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A loss is not a number any more.
    #[error("update {update}: a loss is not finite ({})", shown(losses))]
    NotFinite {
        /// The update.
        update: u64,
        /// What was found.
        losses: Losses,
    },
}

fn shown(losses: &Losses) -> String {
    let each = losses
        .named()
        .map(|(name, value)| format!("{name} {value}"));
    each.join(", ")
}

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PretrainReport {
    /// Its number, from 1.
    pub update: u64,
    /// The losses before it.
    pub losses: Losses,
    /// The norm of the gradient.
    pub gradient_norm: f64,
}

/// An encoder that learns.
pub struct Pretrainer {
    pub(crate) config: PretrainConfig,
    pub(crate) seed: u64,
    pub(crate) shape: PretrainShape,
    pub(crate) network: PretrainNetwork,
    pub(crate) adam: Adam,
    pub(crate) update: u64,
    pub(super) data: RankedDemonstrations,
    /// With gradients.
    pub(super) device: Device,
}

pub(crate) fn adam_config(config: &PretrainConfig) -> AdamConfig {
    AdamConfig {
        weight_decay: config.weight_decay as f32,
        ..AdamConfig::default()
    }
}

impl Pretrainer {
    /// An encoder that has learned nothing yet.
    ///
    /// # Panics
    /// If the shape is not sound.
    pub fn new(
        config: PretrainConfig,
        seed: u64,
        shape: PretrainShape,
        data: RankedDemonstrations,
        device: &Device,
    ) -> Result<Self, PretrainError> {
        config.check()?;
        data.check_lengths(config.sampling.least_frames())?;
        let device = device.clone().autodiff();
        Ok(Self {
            network: PretrainNetwork::new(&shape, seed, &device),
            adam: Adam::new(adam_config(&config)),
            config,
            seed,
            shape,
            update: 0,
            data,
            device,
        })
    }

    /// The settings.
    pub fn config(&self) -> &PretrainConfig {
        &self.config
    }

    /// Updates made.
    pub fn updates(&self) -> u64 {
        self.update
    }

    /// Whether all updates were made.
    pub fn is_done(&self) -> bool {
        self.update >= self.config.updates
    }

    /// The network as it is now, without gradients.
    pub fn network(&self) -> PretrainNetwork {
        self.network.valid()
    }

    fn batch<'a>(&'a self, pairs: &'a [Pair], device: &'a Device) -> Batch<'a> {
        Batch {
            data: &self.data,
            shape: &self.shape,
            pairs,
            device,
        }
    }

    /// Makes one update.
    pub fn update(&mut self) -> Result<PretrainReport, PretrainError> {
        let number = self.update + 1;
        let mut random = stream(self.seed, "pretraining", number);
        let sampling = self.config.sampling;
        let pairs: Vec<Pair> = (0..self.config.pairs)
            .map(|_| draw_pair(sampling, &self.data, &self.data.pairs, &mut random))
            .collect();
        let batch = self.batch(&pairs, &self.device);
        let (loss, losses) = batch.loss(&self.network, &self.config, &mut random);
        if !losses.total.is_finite() {
            return Err(PretrainError::NotFinite {
                update: number,
                losses,
            });
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &self.network);
        let network = self.network.clone();
        let rate = self.config.learning_rate;
        let (network, gradient_norm) = self.adam.step(network, gradients, rate);
        self.network = network;
        self.update = number;
        Ok(PretrainReport {
            update: number,
            losses,
            gradient_norm,
        })
    }

    /// The share of snippet pairs whose better one has the greater return by the ranking head, over
    /// preferences that were kept back; none if there are none.
    pub fn held_out_accuracy(&self) -> Option<f64> {
        (!self.data.held_out.is_empty()).then(|| self.accuracy(&self.data.held_out))
    }

    /// The same over the preferences that are learned from.
    pub fn training_accuracy(&self) -> f64 {
        self.accuracy(&self.data.pairs)
    }

    /// Always of the same snippets, with the features themselves and no sample of them.
    fn accuracy(&self, preferences: &[[usize; 2]]) -> f64 {
        let network = self.network();
        let device = self.device.clone().without_autodiff();
        let mut random = stream(self.seed, "accuracy", 0);
        let mut right = 0;
        for _ in 0..MEASURED {
            let pair = draw_pair(self.config.sampling, &self.data, preferences, &mut random);
            let pairs = [pair];
            let batch = self.batch(&pairs, &device);
            let observation = self.shape.encoder.observation;
            let input = observation_tensor(&batch.frames(), observation, &device);
            let margins = batch.margins(&network, network.encoder.features(input));
            right += usize::from(values_of(margins)[0] > 0.0);
        }
        right as f64 / MEASURED as f64
    }
}
