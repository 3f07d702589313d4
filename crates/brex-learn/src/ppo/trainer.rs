//! A training, update by update.

use crate::PolicyFile;
use crate::adam::{Adam, AdamConfig};
use crate::agent::Agent;
use crate::networks::{PolicyNetwork, PolicyShape};
use crate::parameters::{ParameterError, with_parameters};
use crate::ppo::advantage::advantages;
use crate::ppo::collect::{Batch, World};
use crate::ppo::improve::Lesson;
use crate::ppo::reward::Scaler;
use crate::ppo::{ConfigError, PpoConfig, RewardFunction, RewardLesson, UpdateStatistics};
use brex_core::stream;
use brex_envs::{EnvError, Environment, Served, Standing, VectorEnv};
use burn::module::Module;
use burn::tensor::Device;
use std::collections::VecDeque;

/// Episodes that count as recent.
const RECENT: usize = 100;

/// Why a training cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// A setting cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The environment failed.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// A loss or a gradient is not a number any more.
    #[error(
        "update {update}: a loss is not finite (policy {}, value {}, norm of the gradient {})",
        statistics.policy_loss, statistics.value_loss, statistics.gradient_norm
    )]
    NotFinite {
        /// The update.
        update: u64,
        /// What was found.
        statistics: UpdateStatistics,
    },
    /// The loss of a reward that learns is not a number any more.
    #[error("update {update}: the loss of the reward is {loss}")]
    Reward {
        /// The update.
        update: u64,
        /// What was found.
        loss: f64,
    },
}

/// An episode that ended while training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlayedEpisode {
    /// Its true score.
    pub score: f64,
    /// Its steps.
    pub length: usize,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateReport {
    /// Its number, from 1.
    pub update: u64,
    /// Steps played so far.
    pub steps: u64,
    /// Episodes that ended in it.
    pub episodes: Vec<PlayedEpisode>,
    /// The mean score and length of the last hundred episodes, if any has ended.
    pub recent: Option<(f64, f64)>,
    /// How it went.
    pub statistics: UpdateStatistics,
    /// The share of the variance of returns that the values foretold.
    pub explained_variance: f64,
    /// The mean reward a step, as learned from.
    pub mean_reward: f64,
    /// The learning rate.
    pub learning_rate: f64,
    /// How the reward did, if it learns.
    pub reward: Option<RewardLesson>,
}

/// An agent that learns, and its environments.
pub struct Trainer {
    pub(crate) config: PpoConfig,
    pub(crate) seed: u64,
    pub(crate) shape: PolicyShape,
    pub(crate) network: PolicyNetwork,
    pub(crate) adam: Adam,
    pub(crate) world: World,
    pub(crate) update: u64,
    pub(crate) recent: VecDeque<PlayedEpisode>,
    /// With gradients.
    device: Device,
}

pub(crate) fn adam_config(config: &PpoConfig) -> AdamConfig {
    AdamConfig {
        epsilon: 1e-5,
        max_norm: Some(config.max_gradient_norm as f32),
        ..AdamConfig::default()
    }
}

impl Trainer {
    /// An agent that has learned nothing yet, in environments made by `make`. Without a reward
    /// function it learns from the true reward.
    pub fn new(
        config: PpoConfig,
        seed: u64,
        make: impl Fn() -> Result<Box<dyn Environment>, EnvError>,
        reward: Option<Box<dyn RewardFunction>>,
        device: &Device,
    ) -> Result<Self, TrainError> {
        config.check()?;
        let device = device.clone().autodiff();
        let make = || {
            let env = make()?;
            Ok(if config.serve {
                Served::boxed(env)
            } else {
                env
            })
        };
        let mut envs = VectorEnv::new(config.environments, seed, make)?;
        let shape = PolicyShape::for_spec(envs.spec());
        let mut observations = vec![0; envs.count() * envs.spec().observation_len()];
        envs.reset(&mut observations)?;
        let world = World {
            lives: vec![0; envs.count()],
            scaler: Scaler::new(envs.count()),
            envs,
            observations,
            reward,
        };
        Ok(Self {
            network: PolicyNetwork::new(&shape, seed, &device),
            adam: Adam::new(adam_config(&config)),
            config,
            seed,
            shape,
            world,
            update: 0,
            recent: VecDeque::new(),
            device,
        })
    }

    /// Begins as a policy that exists, of the same shape.
    pub fn begin_as(&mut self, policy: &PolicyFile) -> Result<(), ParameterError> {
        self.network = with_parameters(self.network.clone(), &policy.parameters)?;
        Ok(())
    }

    /// Brings fresh environments to where others stood.
    pub(crate) fn restore(&mut self, standings: &[Standing]) -> Result<(), TrainError> {
        let world = &mut self.world;
        let infos = world.envs.restore(standings, &mut world.observations)?;
        // Before the first step of an episode its lives are not known.
        let lives = infos.iter().zip(standings);
        let known = lives.map(|(info, at)| if at.actions.is_empty() { 0 } else { info.lives });
        world.lives = known.collect();
        Ok(())
    }

    /// The settings.
    pub fn config(&self) -> &PpoConfig {
        &self.config
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many updates were made.
    pub fn updates(&self) -> u64 {
        self.update
    }

    /// Whether the training is over.
    pub fn is_done(&self) -> bool {
        self.update >= self.config.updates()
    }

    /// The agent as it is now.
    pub fn agent(&self) -> Agent {
        let device = self.device.clone().without_autodiff();
        Agent::new(self.network.valid(), self.shape.clone(), device)
    }

    /// The mean score and length of the last episodes.
    pub fn recent(&self) -> Option<(f64, f64)> {
        let count = self.recent.len() as f64;
        let mean = |of: fn(&PlayedEpisode) -> f64| self.recent.iter().map(of).sum::<f64>() / count;
        (count > 0.0).then(|| (mean(|e| e.score), mean(|e| e.length as f64)))
    }

    /// Plays a while and learns from it.
    pub fn update(&mut self) -> Result<UpdateReport, TrainError> {
        let number = self.update + 1;
        let agent = self.agent();
        let mut random = stream(self.seed, "actions", number);
        let mut batch = self
            .world
            .collect(&agent, &self.config, number, &mut random)?;
        if let Some(lesson) = batch.lesson.filter(|lesson| !lesson.loss.is_finite()) {
            return Err(TrainError::Reward {
                update: number,
                loss: lesson.loss,
            });
        }
        let (discount, trace) = (self.config.discount as f32, self.config.trace as f32);
        let (advantages, returns) = advantages(
            &batch.rewards,
            &batch.values,
            &batch.ends,
            &batch.last,
            discount,
            trace,
        );
        if number == self.config.values_first + 1 {
            // Moments of the values alone would misjudge how old all the others are.
            self.adam = Adam::new(adam_config(&self.config));
        }
        let left = 1.0 - self.update as f64 / self.config.updates() as f64;
        let lesson = Lesson {
            config: &self.config,
            batch: &batch,
            advantages: &advantages,
            returns: &returns,
            observation: self.shape.observation,
            learning_rate: self.config.learning_rate * left,
            values_only: number <= self.config.values_first,
            clip: self.config.clip * if self.config.clip_falls { left } else { 1.0 },
            device: &self.device,
        };
        let mut random = stream(self.seed, "minibatches", number);
        let network = self.network.clone();
        let improved = lesson.improve(network, &mut self.adam, &mut random);
        let (network, statistics) = improved.map_err(|statistics| TrainError::NotFinite {
            update: number,
            statistics,
        })?;
        self.network = network;
        self.update = number;
        self.recent.extend(&batch.episodes);
        let old = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..old);
        Ok(UpdateReport {
            update: number,
            steps: number * self.config.batch() as u64,
            statistics,
            explained_variance: explained(&batch, &returns),
            mean_reward: mean(&batch.rewards),
            learning_rate: self.config.learning_rate * left,
            recent: self.recent(),
            reward: batch.lesson,
            episodes: std::mem::take(&mut batch.episodes),
        })
    }
}

fn mean(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64
}

/// One less the share of the returns' variance that is left when the values are taken off.
fn explained(batch: &Batch, returns: &[f32]) -> f64 {
    let variance = |values: &[f32]| {
        let mean = mean(values);
        let squares = values.iter().map(|v| (f64::from(*v) - mean).powi(2));
        squares.sum::<f64>() / values.len() as f64
    };
    let pairs = returns.iter().zip(&batch.values);
    let left: Vec<f32> = pairs.map(|(r, v)| r - v).collect();
    let all = variance(returns);
    if all > 0.0 {
        1.0 - variance(&left) / all
    } else {
        0.0
    }
}
