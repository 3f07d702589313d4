//! What PPO is told.

use crate::ppo::RewardScale;
use brex_envs::Spec;
use serde::{Deserialize, Serialize};

/// How to learn. The learning rate falls linearly to zero over the whole training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PpoConfig {
    /// How many steps to learn from, over all environments; rounded up to whole updates.
    pub steps: u64,
    /// Environments played side by side.
    pub environments: usize,
    /// Steps in each of them between updates.
    pub horizon: usize,
    /// How often an update goes through what was played.
    pub epochs: usize,
    /// Into how many parts it is divided each time.
    pub minibatches: usize,
    /// The learning rate at the start.
    pub learning_rate: f64,
    /// How far the probability of an action may move at the start, as a share.
    pub clip: f64,
    /// Whether that falls to zero too. With both falling, the last quarter of a training changes next
    /// to nothing.
    pub clip_falls: bool,
    /// What a reward is worth a step later.
    pub discount: f64,
    /// How far advantages look ahead (lambda of GAE).
    pub trace: f64,
    /// The weight of the entropy, which keeps the policy trying things.
    pub entropy: f64,
    /// The weight of the error of the values.
    pub value: f64,
    /// Whether values may move no further than the clipping range in an update.
    pub clip_values: bool,
    /// The greatest norm of the gradient.
    pub max_gradient_norm: f64,
    /// Whether the loss of a life counts as an end when looking ahead.
    pub life_loss_ends: bool,
    /// Whether the end of an episode does. If not, the next episode counts as its continuation, and
    /// what every step adds to a reward no longer says whether to live long or to die soon.
    #[serde(default = "counts")]
    pub episode_ends: bool,
    /// The share of what would come after it that an end costs, if it counts: with 1 nothing follows it,
    /// with 0 it does not count.
    #[serde(default = "all")]
    pub end_cost: f64,
    /// Whether play is begun for the agent where the game waits for it ([`Environment::serve`]): a
    /// ball that lies on the paddle is launched in time. Who learns from a reward that was learned
    /// could otherwise wait wherever it likes best.
    ///
    /// [`Environment::serve`]: brex_envs::Environment::serve
    #[serde(default)]
    pub serve: bool,
    /// Updates at the start in which only the values are learned, from what the network sees already.
    /// An agent that begins as somebody who plays would otherwise unlearn it by advantages over values
    /// that mean nothing yet.
    #[serde(default)]
    pub values_first: u64,
    /// What is done to rewards before learning from them.
    pub reward_scale: RewardScale,
}

/// What trainings did before there was a choice.
fn counts() -> bool {
    true
}

/// Likewise.
fn all() -> f64 {
    1.0
}

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} is {found}; expected {expected}")]
pub struct ConfigError {
    /// The setting.
    pub field: &'static str,
    /// What it is.
    pub found: String,
    /// What it may be.
    pub expected: &'static str,
}

impl ConfigError {
    /// A setting, what it is and what it may be, as what a check ends with.
    pub(crate) fn refuse(
        field: &'static str,
        found: &dyn ToString,
        expected: &'static str,
    ) -> Result<(), Self> {
        Err(Self {
            field,
            found: found.to_string(),
            expected,
        })
    }
}

impl PpoConfig {
    /// The defaults for an environment: those of the paper's agents for Atari, quicker ones for the
    /// pocket games.
    pub fn for_spec(spec: &Spec) -> Self {
        let atari = Self {
            steps: 50_000_000,
            environments: 9,
            horizon: 128,
            epochs: 4,
            minibatches: 4,
            learning_rate: 2.5e-4,
            clip: 0.1,
            clip_falls: true,
            discount: 0.99,
            trace: 0.95,
            entropy: 0.01,
            value: 0.5,
            clip_values: true,
            max_gradient_norm: 0.5,
            life_loss_ends: true,
            episode_ends: true,
            end_cost: 1.0,
            serve: false,
            values_first: 0,
            reward_scale: RewardScale::Sign,
        };
        if spec.is_atari() {
            return atari;
        }
        Self {
            steps: 2_000_000,
            environments: 32,
            horizon: 64,
            minibatches: 8,
            learning_rate: 1e-3,
            clip: 0.2,
            clip_falls: false,
            reward_scale: RewardScale::Running,
            ..atari
        }
    }

    /// Steps of one update.
    pub fn batch(&self) -> usize {
        self.environments * self.horizon
    }

    /// How many updates the training takes.
    pub fn updates(&self) -> u64 {
        self.steps.div_ceil(self.batch().max(1) as u64)
    }

    /// Whether one can learn with these settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        let counts = [
            ("environments", self.environments, 4096),
            ("horizon", self.horizon, 65_536),
            ("epochs", self.epochs, 1000),
            ("minibatches", self.minibatches, self.batch().max(1)),
        ];
        for (field, found, most) in counts {
            if !(1..=most).contains(&found) {
                let expected = match field {
                    "minibatches" => "at least 1 and at most environments x horizon",
                    _ => "a count of at least 1, within reason",
                };
                return ConfigError::refuse(field, &found, expected);
            }
        }
        if self.steps == 0 {
            return ConfigError::refuse("steps", &0, "at least 1");
        }
        let numbers = [
            ("learning_rate", self.learning_rate, f64::MAX),
            ("clip", self.clip, f64::MAX),
            ("discount", self.discount, 1.0),
            ("trace", self.trace, 1.0),
            ("end_cost", self.end_cost, 1.0),
            ("entropy", self.entropy, f64::MAX),
            ("value", self.value, f64::MAX),
            ("max_gradient_norm", self.max_gradient_norm, f64::MAX),
        ];
        for (field, found, most) in numbers {
            if !(0.0..=most).contains(&found) {
                let expected = if most == 1.0 {
                    "a number from 0 to 1"
                } else {
                    "a number of at least 0"
                };
                return ConfigError::refuse(field, &found, expected);
            }
        }
        Ok(())
    }
}
