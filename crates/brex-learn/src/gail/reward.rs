//! The discriminator as a reward that learns.

use super::GailConfig;
use super::lesson::{Steps, loss, share};
use crate::ConfigError;
use crate::adam::{Adam, AdamConfig};
use crate::demonstrated::DemonstratedSteps;
use crate::networks::{Discriminator, DiscriminatorShape};
use crate::parameters::{Arrays, ParameterError, parameters, values_of, with_parameters};
use crate::ppo::{PlayedSteps, RewardFunction, RewardLesson, RewardState};
use brex_core::{Stream, stream};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Steps that are judged together. What a network gives for one may depend, in its last digit, on how
/// many there are; so this number does not depend on the machine.
const TOGETHER: usize = 256;

/// Pays an agent for being taken for an expert.
pub struct Gail {
    config: GailConfig,
    seed: u64,
    shape: DiscriminatorShape,
    network: Discriminator,
    adam: Adam,
    experts: DemonstratedSteps,
    /// With gradients.
    device: Device,
}

impl Gail {
    /// A discriminator that has learned nothing yet, with steps of experts in which score and lives
    /// are hidden.
    ///
    /// # Panics
    /// If there is no step of an expert.
    pub fn new(
        config: GailConfig,
        seed: u64,
        experts: DemonstratedSteps,
        device: &Device,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        assert!(!experts.is_empty(), "a step of an expert");
        let shape = DiscriminatorShape::for_spec(experts.spec());
        let device = device.clone().autodiff();
        Ok(Self {
            network: Discriminator::new(&shape, seed, &device),
            adam: Adam::new(AdamConfig::default()),
            config,
            seed,
            shape,
            experts,
            device,
        })
    }

    /// The logits of steps being an expert's.
    fn logits(&self, steps: &Steps<'_>) -> Vec<f32> {
        let device = self.device.clone().without_autodiff();
        let network = self.network.valid();
        let parts = steps.observations.chunks(TOGETHER);
        let parts = parts.zip(steps.actions.chunks(TOGETHER));
        let judged = parts.flat_map(|(observations, actions)| {
            let part = Steps {
                observations: observations.to_vec(),
                actions: actions.to_vec(),
            };
            values_of(part.logits(&network, &self.shape, &device))
        });
        judged.collect()
    }

    /// As many steps of experts as asked for, all equally likely.
    fn draw(&self, count: usize, random: &mut Stream) -> Steps<'_> {
        let all = 0..self.experts.len();
        let drawn: Vec<usize> = (0..count)
            .map(|_| random.random_range(all.clone()))
            .collect();
        Steps {
            observations: drawn
                .iter()
                .map(|at| self.experts.observation(*at))
                .collect(),
            actions: drawn.iter().map(|at| self.experts.action(*at)).collect(),
        }
    }

    /// Learns once from a part of the agent's steps: what the network is then, and how it did before.
    fn step(&mut self, agent: &Steps<'_>, random: &mut Stream) -> RewardLesson {
        let experts = self.draw(agent.actions.len(), random);
        let judge = |steps: &Steps<'_>| steps.logits(&self.network, &self.shape, &self.device);
        let (theirs, own) = (judge(&experts), judge(agent));
        let loss = loss(&theirs, &own, self.config.entropy);
        let lesson = RewardLesson {
            loss: f64::from(loss.cross_entropy.into_scalar::<f32>()),
            experts_known: share(theirs, |logit| logit > 0.0),
            agent_known: share(own, |logit| logit < 0.0),
        };
        let gradients = GradientsParams::from_grads(loss.total.backward(), &self.network);
        let network = self.network.clone();
        let rate = self.config.learning_rate;
        self.network = self.adam.step(network, gradients, rate).0;
        lesson
    }
}

impl RewardFunction for Gail {
    fn score(&mut self, played: &PlayedSteps<'_>, rewards: &mut [f32]) {
        let steps = Steps {
            observations: played.seen_before(),
            actions: played.actions.to_vec(),
        };
        for (reward, logit) in rewards.iter_mut().zip(self.logits(&steps)) {
            *reward = self.config.reward.of(f64::from(logit)) as f32;
        }
    }

    fn learn(&mut self, played: &PlayedSteps<'_>, update: u64) -> Option<RewardLesson> {
        let mut random = stream(self.seed, "discriminator", update);
        let seen = played.seen_before();
        let mut order: Vec<usize> = (0..seen.len()).collect();
        order.shuffle(&mut random);
        let size = order.len().div_ceil(self.config.parts).max(1);
        let mut lessons = Vec::new();
        for part in order.chunks(size) {
            let agent = Steps {
                observations: part.iter().map(|at| seen[*at]).collect(),
                actions: part.iter().map(|at| played.actions[*at]).collect(),
            };
            lessons.push(self.step(&agent, &mut random));
        }
        let count = lessons.len() as f64;
        let mean = |of: fn(&RewardLesson) -> f64| lessons.iter().map(of).sum::<f64>() / count;
        (!lessons.is_empty()).then(|| RewardLesson {
            loss: mean(|lesson| lesson.loss),
            experts_known: mean(|lesson| lesson.experts_known),
            agent_known: mean(|lesson| lesson.agent_known),
        })
    }

    fn state(&self) -> Option<RewardState> {
        let prefixed = |prefix: &str, arrays: Arrays| {
            let named = arrays.into_iter();
            let named = named.map(|(name, array)| (format!("{prefix}{name}"), array));
            named.collect::<Arrays>()
        };
        let mut arrays = prefixed("network.", parameters(&self.network));
        arrays.extend(prefixed("adam.", self.adam.state()));
        Some(RewardState {
            steps: self.adam.steps(),
            arrays,
        })
    }

    fn restore(&mut self, state: &RewardState) -> Result<(), ParameterError> {
        let below = |prefix: &str| {
            let all = state.arrays.iter();
            let named = all.filter_map(|(name, array)| {
                let name = name.strip_prefix(prefix)?.to_owned();
                Some((name, array.clone()))
            });
            named.collect::<Arrays>()
        };
        let network = below("network.");
        let adam = Adam::restored(AdamConfig::default(), state.steps, &below("adam."));
        adam.check(&network)?;
        self.network = with_parameters(self.network.clone(), &network)?;
        self.adam = adam;
        Ok(())
    }
}
