//! What GAIL is told.

use crate::ConfigError;
use brex_envs::Spec;
use serde::{Deserialize, Serialize};

/// What an agent is paid for a step that the discriminator takes for an expert's with probability
/// `D`, the sigmoid of its logit `x`.
///
/// The sign matters more than the form, because episodes end: a reward that is never negative pays
/// for every step that is lived, whatever is done, and one that is never positive pays for dying. An
/// agent that survives or dies by that alone may look as if it imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GailReward {
    /// `-log(1 - D) = log(1 + exp(x))`: never negative, so that it pays to live. That of the paper's
    /// code; right where experts live as long as they can.
    Survive,
    /// `log D - log(1 - D) = x`: of either sign, as the discriminator is sure of one or the other.
    Both,
    /// `log D = -log(1 + exp(-x))`: never positive, so that it pays to be done soon. Ho and Ermon's
    /// own; right where experts finish a task as fast as they can.
    Finish,
}

impl GailReward {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Survive, Self::Both, Self::Finish];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Survive => "survive",
            Self::Both => "both",
            Self::Finish => "finish",
        }
    }

    /// The reward for a logit.
    pub fn of(self, logit: f64) -> f64 {
        match self {
            Self::Survive => softplus(logit),
            Self::Both => logit,
            Self::Finish => -softplus(-logit),
        }
    }
}

/// `log(1 + exp(x))`, exact for any `x`.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// How the discriminator learns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GailConfig {
    /// What the agent is paid.
    pub reward: GailReward,
    /// The learning rate of the discriminator.
    pub learning_rate: f64,
    /// Into how many parts the steps of an update are divided; the discriminator learns once from
    /// each, and from as many steps of the experts.
    pub parts: usize,
    /// The weight of its entropy, which keeps it from being too sure.
    pub entropy: f64,
}

impl GailConfig {
    /// The defaults for an environment: the published ones for Atari, quicker ones for pocket games.
    pub fn for_spec(spec: &Spec) -> Self {
        let published = Self {
            reward: GailReward::Survive,
            learning_rate: 3e-4,
            parts: 1,
            entropy: 1e-3,
        };
        if spec.is_atari() {
            return published;
        }
        Self {
            parts: 4,
            ..published
        }
    }

    /// Whether one can learn with these settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0) {
            return ConfigError::refuse(
                "discriminator_rate",
                &self.learning_rate,
                "a finite number above 0",
            );
        }
        if !(1..=4096).contains(&self.parts) {
            return ConfigError::refuse("discriminator_parts", &self.parts, "1 to 4096");
        }
        if !(self.entropy.is_finite() && self.entropy >= 0.0) {
            return ConfigError::refuse(
                "discriminator_entropy",
                &self.entropy,
                "a finite number of at least 0",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_those_of_the_formulas() {
        for logit in [-6.0, -1.0, 0.0, 0.5, 4.0] {
            let d = 1.0 / (1.0 + f64::exp(-logit));
            let expected = [-(1.0 - d).ln(), d.ln() - (1.0 - d).ln(), d.ln()];
            for (reward, expected) in GailReward::ALL.into_iter().zip(expected) {
                let found = reward.of(logit);
                assert!((found - expected).abs() < 1e-9, "{reward:?} {logit}");
            }
        }
    }

    #[test]
    fn signs_hold_and_nothing_overflows() {
        for logit in [-1e4, -50.0, 0.0, 50.0, 1e4] {
            assert!(GailReward::Survive.of(logit) >= 0.0);
            assert!(GailReward::Finish.of(logit) <= 0.0);
            for reward in GailReward::ALL {
                assert!(reward.of(logit).is_finite());
                assert!(reward.of(logit + 1.0) >= reward.of(logit));
            }
        }
    }

    #[test]
    fn settings_that_cannot_be_are_named() {
        let spec = brex_envs::make("pocket:breakout").unwrap().spec().clone();
        let good = GailConfig::for_spec(&spec);
        assert!(good.check().is_ok());
        let bad = [
            GailConfig {
                learning_rate: f64::NAN,
                ..good
            },
            GailConfig { parts: 0, ..good },
            GailConfig {
                entropy: -1.0,
                ..good
            },
        ];
        let fields = bad.map(|config| config.check().unwrap_err().field);
        let expected = [
            "discriminator_rate",
            "discriminator_parts",
            "discriminator_entropy",
        ];
        assert_eq!(fields, expected);
    }
}
