//! Behaviour cloning: a policy that does what was done, by the cross-entropy of recorded actions.
//!
//! As in the code of D-REX, a share of the steps is kept back and looked at now and then; the network
//! that did best on them is the one that stays, and learning ends when it was long ago. Steps of the
//! same episode are on both sides, so that the accuracy is that of states like those that were seen.

use crate::ConfigError;
use crate::adam::{Adam, AdamConfig};
use crate::agent::Agent;
use crate::checkpoint::PolicyFile;
use crate::demonstrated::DemonstratedSteps;
use crate::networks::{PolicyNetwork, PolicyShape};
use crate::observations::observation_tensor;
use crate::parameters::{parameters, values_of};
use brex_core::stream;
use brex_envs::Spec;
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Steps that are looked at together when measuring; not dependent on the machine.
const TOGETHER: usize = 256;

/// How to clone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloneConfig {
    /// Updates at most.
    pub updates: u64,
    /// Steps of each.
    pub batch: usize,
    /// The learning rate.
    pub learning_rate: f64,
    /// The share of steps that is kept back.
    pub held_out: f64,
    /// Updates between looks at them.
    pub between_looks: u64,
    /// Looks without a better one before learning ends.
    pub patience: u64,
}

impl CloneConfig {
    /// The defaults for an environment: those of D-REX for Atari, quicker ones for pocket games.
    pub fn for_spec(spec: &Spec) -> Self {
        let published = Self {
            updates: 75_000,
            batch: 32,
            learning_rate: 1e-4,
            held_out: 0.2,
            between_looks: 500,
            patience: 6,
        };
        if spec.is_atari() {
            return published;
        }
        Self {
            updates: 4000,
            batch: 64,
            learning_rate: 1e-3,
            between_looks: 200,
            ..published
        }
    }

    /// Whether one can learn with these settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.updates == 0 || self.between_looks == 0 {
            return ConfigError::refuse("updates", &0, "at least 1");
        }
        if !(1..=65_536).contains(&self.batch) {
            return ConfigError::refuse("batch", &self.batch, "1 to 65536");
        }
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0) {
            return ConfigError::refuse(
                "learning_rate",
                &self.learning_rate,
                "a finite number above 0",
            );
        }
        if !(self.held_out > 0.0 && self.held_out <= 0.5) {
            return ConfigError::refuse("held_out", &self.held_out, "above 0, at most 0.5");
        }
        Ok(())
    }
}

/// Why there is no clone.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CloneError {
    /// A setting cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There are too few steps to keep any back.
    #[error("{found} steps were recorded; at least {expected} are needed")]
    TooFew {
        /// How many there are.
        found: usize,
        /// How many it takes.
        expected: usize,
    },
    /// The loss is not a number any more.
    #[error("update {update}: the loss is {loss}")]
    NotFinite {
        /// The update.
        update: u64,
        /// What was found.
        loss: f64,
    },
}

/// How well a clone does on some steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloneCheck {
    /// The update.
    pub update: u64,
    /// The mean cross-entropy of the actions, in nats.
    pub loss: f64,
    /// The share of actions that the clone finds most probable too.
    pub accuracy: f64,
}

/// A policy that learns to do what was done.
pub struct Cloner {
    config: CloneConfig,
    seed: u64,
    shape: PolicyShape,
    network: PolicyNetwork,
    adam: Adam,
    update: u64,
    steps: DemonstratedSteps,
    /// Places of the steps to learn from, and of those kept back.
    learned: Vec<usize>,
    held_out: Vec<usize>,
    best: (PolicyNetwork, CloneCheck),
    looks_since: u64,
    /// With gradients.
    device: Device,
}

impl Cloner {
    /// A policy that has learned nothing yet.
    pub fn new(
        config: CloneConfig,
        seed: u64,
        steps: DemonstratedSteps,
        device: &Device,
    ) -> Result<Self, CloneError> {
        config.check()?;
        let (found, expected) = (steps.len(), 20);
        if found < expected {
            return Err(CloneError::TooFew { found, expected });
        }
        let mut learned: Vec<usize> = (0..found).collect();
        learned.shuffle(&mut stream(seed, "clone held out", 0));
        let kept = ((found as f64 * config.held_out) as usize).max(1);
        let held_out = learned.split_off(found - kept);
        let shape = PolicyShape::for_spec(steps.spec());
        let device = device.clone().autodiff();
        let network = PolicyNetwork::new(&shape, seed, &device);
        let nothing = CloneCheck {
            update: 0,
            loss: f64::INFINITY,
            accuracy: 0.0,
        };
        Ok(Self {
            best: (network.valid(), nothing),
            network,
            adam: Adam::new(AdamConfig::default()),
            config,
            seed,
            shape,
            update: 0,
            steps,
            learned,
            held_out,
            looks_since: 0,
            device,
        })
    }

    /// The settings.
    pub fn config(&self) -> &CloneConfig {
        &self.config
    }

    /// Updates made.
    pub fn updates(&self) -> u64 {
        self.update
    }

    /// Whether there is nothing more to learn.
    pub fn is_done(&self) -> bool {
        self.update >= self.config.updates || self.looks_since >= self.config.patience
    }

    /// How the best network so far did on the steps that were kept back.
    pub fn best(&self) -> CloneCheck {
        self.best.1
    }

    /// Makes one update, looks at what was kept back if it is time to, and gives the loss.
    pub fn update(&mut self) -> Result<f64, CloneError> {
        let number = self.update + 1;
        let mut random = stream(self.seed, "cloning", number);
        let all = 0..self.learned.len();
        let places = (0..self.config.batch).map(|_| self.learned[random.random_range(all.clone())]);
        let places: Vec<usize> = places.collect();
        let (log_probabilities, actions) = self.look(&self.network, &places, &self.device);
        let loss = -log_probabilities.gather(1, actions).mean();
        let value = f64::from(loss.clone().into_scalar::<f32>());
        if !value.is_finite() {
            let (update, loss) = (number, value);
            return Err(CloneError::NotFinite { update, loss });
        }
        let gradients = GradientsParams::from_grads(loss.backward(), &self.network);
        let network = self.network.clone();
        let rate = self.config.learning_rate;
        self.network = self.adam.step(network, gradients, rate).0;
        self.update = number;
        if number.is_multiple_of(self.config.between_looks) || number == self.config.updates {
            let network = self.network.valid();
            let check = self.check(&network, &self.held_out);
            if check.loss < self.best.1.loss {
                self.best = (network, check);
                self.looks_since = 0;
            } else {
                self.looks_since += 1;
            }
        }
        Ok(value)
    }

    /// Logarithms of the probabilities of all actions, and the actions that were taken.
    fn look(
        &self,
        network: &PolicyNetwork,
        places: &[usize],
        device: &Device,
    ) -> (Tensor<2>, Tensor<2, Int>) {
        let seen = places.iter().map(|at| self.steps.observation(*at));
        let seen: Vec<&[u8]> = seen.collect();
        let input = observation_tensor(&seen, self.shape.observation, device);
        let actions = places.iter().map(|at| self.steps.action(*at) as i64);
        let data = TensorData::new(actions.collect::<Vec<i64>>(), [places.len(), 1]);
        let logits = network.forward(input).0;
        (log_softmax(logits, 1), Tensor::from_data(data, device))
    }

    fn check(&self, network: &PolicyNetwork, places: &[usize]) -> CloneCheck {
        let device = self.device.clone().without_autodiff();
        let (mut loss, mut right) = (0.0, 0);
        for part in places.chunks(TOGETHER) {
            let rows = values_of(self.look(network, part, &device).0);
            for (at, row) in part.iter().zip(rows.chunks_exact(self.shape.actions)) {
                let action = self.steps.action(*at);
                loss -= f64::from(row[action]);
                right += usize::from(crate::agent::highest(row) == action);
            }
        }
        let count = places.len() as f64;
        CloneCheck {
            update: self.update,
            loss: loss / count,
            accuracy: right as f64 / count,
        }
    }

    /// The best network so far on the steps that it learns from.
    pub fn training_check(&self) -> CloneCheck {
        CloneCheck {
            update: self.best.1.update,
            ..self.check(&self.best.0, &self.learned)
        }
    }

    /// The best clone so far, as it plays.
    pub fn agent(&self) -> Agent {
        let device = self.device.clone().without_autodiff();
        Agent::new(self.best.0.clone(), self.shape.clone(), device)
    }

    /// The same as a file.
    pub fn policy(&self) -> PolicyFile {
        let (network, check) = &self.best;
        let spec = self.steps.spec();
        PolicyFile {
            serve: false,
            environment: spec.name.to_owned(),
            version: spec.version,
            seed: self.seed,
            update: check.update,
            steps: check.update * self.config.batch as u64,
            shape: self.shape.clone(),
            parameters: parameters(network),
        }
    }
}
