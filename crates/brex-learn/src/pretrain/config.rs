//! What pre-training is told.

use crate::ConfigError;
use brex_envs::Spec;
use serde::{Deserialize, Serialize};

/// How much each loss counts; one of 0 is not computed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossWeights {
    /// Which of two snippets is better (T-REX).
    pub ranking: f64,
    /// Drawing the frames again from a sample of their features, with the divergence of that
    /// sample's distribution from the standard normal one (a variational autoencoder).
    pub reconstruction: f64,
    /// The time between two frames.
    pub temporal: f64,
    /// The action between a frame and the next.
    pub inverse: f64,
    /// The features five steps on.
    pub forward: f64,
}

impl LossWeights {
    /// The weights of the published code.
    pub const PUBLISHED: Self = Self {
        ranking: 1.0,
        reconstruction: 10.0,
        temporal: 4.0,
        inverse: 1.0 / 1.9,
        forward: 100.0,
    };

    /// Only the ranking loss: T-REX.
    pub fn ranking_only(self) -> Self {
        Self {
            ranking: self.ranking,
            reconstruction: 0.0,
            temporal: 0.0,
            inverse: 0.0,
            forward: 0.0,
        }
    }

    /// Everything but the ranking loss.
    pub fn self_supervised_only(self) -> Self {
        Self {
            ranking: 0.0,
            ..self
        }
    }

    /// Names and weights.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("ranking", self.ranking),
            ("reconstruction", self.reconstruction),
            ("temporal", self.temporal),
            ("inverse", self.inverse),
            ("forward", self.forward),
        ]
    }
}

/// What is compared: parts of two demonstrations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// Snippets of equal length; the better one never begins earlier than the worse one (the
    /// progress prior).
    Snippets {
        /// The least number of frames.
        shortest: usize,
        /// The greatest number of frames.
        longest: usize,
        /// The share of pairs that begin at the same step, so that what is late in an episode is not
        /// taken for better only because it is late.
        #[serde(default)]
        abreast: f64,
    },
    /// Whole demonstrations, of which every third to sixth frame is taken; the paper's way for
    /// Enduro, where early parts of good and bad play look the same.
    Whole,
    /// Whole demonstrations, of which every so many-th frame is taken from the first on; MC dropout
    /// of the paper's authors takes every second.
    Thinned {
        /// From one frame to the next.
        step: usize,
    },
}

/// How to pre-train.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PretrainConfig {
    /// How many updates.
    pub updates: u64,
    /// Compared pairs in each of them.
    pub pairs: usize,
    /// How many features.
    pub features: usize,
    /// The learning rate.
    pub learning_rate: f64,
    /// The pull of the weights to zero.
    pub weight_decay: f64,
    /// What is compared.
    pub sampling: Sampling,
    /// How much each loss counts.
    pub losses: LossWeights,
    /// How many frames an update draws again; none draws all of them, at several times the cost.
    pub redrawn: Option<usize>,
    /// The share of features that ranking does without, other ones for every pair and the same ones
    /// for all frames of both its snippets (MC dropout); what is left grows as much. None: all count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropout: Option<f64>,
    /// Whether features are shifted so that their mean over the demonstrations' frames is zero.
    /// Otherwise a posterior may explain everything by what all frames have in common, which is to
    /// say by length.
    #[serde(default)]
    pub centred: bool,
    /// The share of the preferences that is kept back to measure what was learned.
    pub held_out: f64,
}

impl PretrainConfig {
    /// The defaults for an environment.
    pub fn for_spec(spec: &Spec) -> Self {
        let published = Self::published(spec);
        if spec.is_atari() {
            return Self {
                updates: 10_000,
                redrawn: Some(16),
                centred: true,
                held_out: 0.1,
                ..published
            };
        }
        Self {
            updates: 2000,
            pairs: 16,
            learning_rate: 1e-3,
            losses: LossWeights {
                ranking: 100.0,
                ..LossWeights::PUBLISHED
            },
            sampling: Sampling::Snippets {
                shortest: 10,
                longest: 50,
                abreast: 0.5,
            },
            redrawn: Some(64),
            centred: true,
            held_out: 0.1,
            ..published
        }
    }

    /// What the authors' code does.
    pub fn published(spec: &Spec) -> Self {
        let whole = spec.name.ends_with(":enduro");
        Self {
            updates: if whole { 20_000 } else { 60_000 },
            pairs: 1,
            features: 64,
            learning_rate: 1e-4,
            weight_decay: 1e-3,
            sampling: if whole {
                Sampling::Whole
            } else {
                Sampling::Snippets {
                    shortest: 50,
                    longest: 99,
                    abreast: 0.0,
                }
            },
            losses: LossWeights::PUBLISHED,
            redrawn: None,
            dropout: None,
            centred: false,
            held_out: 0.0,
        }
    }

    /// T-REX as its authors train it: the ranking of snippets alone, five times over 6,000 pairs.
    pub fn trex(spec: &Spec) -> Self {
        let published = Self::published(spec);
        Self {
            updates: if published.sampling == Sampling::Whole {
                10_000
            } else {
                30_000
            },
            learning_rate: 5e-5,
            weight_decay: 0.0,
            losses: published.losses.ranking_only(),
            ..published
        }
    }

    /// MC dropout as the paper's authors train it: whole demonstrations, half of the features.
    pub fn mc_dropout(spec: &Spec) -> Self {
        Self {
            // Twenty times over the 66 pairs of twelve demonstrations.
            updates: 20 * 66,
            sampling: Sampling::Thinned { step: 2 },
            dropout: Some(0.5),
            ..Self::trex(spec)
        }
    }

    /// Whether one can learn with these settings.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.updates == 0 {
            return ConfigError::refuse("updates", &0, "at least 1");
        }
        for (field, found, most) in [
            ("pairs", self.pairs, 4096),
            ("features", self.features, 4096),
        ] {
            if !(1..=most).contains(&found) {
                return ConfigError::refuse(field, &found, "1 to 4096");
            }
        }
        let positive = self.learning_rate.is_finite() && self.learning_rate > 0.0;
        if !positive {
            return ConfigError::refuse(
                "learning_rate",
                &self.learning_rate,
                "a finite number above 0",
            );
        }
        let weights = self.losses.named();
        let mut numbers = weights.iter().map(|(name, weight)| (*name, *weight));
        let decay = ("weight_decay", self.weight_decay);
        if let Some((field, found)) = numbers
            .by_ref()
            .chain([decay])
            .find(|(_, number)| !(number.is_finite() && *number >= 0.0))
        {
            return ConfigError::refuse(field, &found, "a finite number of at least 0");
        }
        if weights.iter().all(|(_, weight)| *weight == 0.0) {
            return ConfigError::refuse("losses", &"all 0", "at least one that counts");
        }
        if !(0.0..=0.5).contains(&self.held_out) {
            return ConfigError::refuse("held_out", &self.held_out, "0 to 0.5");
        }
        if let Some(share) = self.dropout
            && !(0.0..1.0).contains(&share)
        {
            return ConfigError::refuse("dropout", &share, "at least 0 and below 1");
        }
        if self.sampling == (Sampling::Thinned { step: 0 }) {
            return ConfigError::refuse("snippets", &"every 0th frame", "at least 1");
        }
        if self.redrawn == Some(0) {
            return ConfigError::refuse("redrawn", &0, "at least 1");
        }
        if let Sampling::Snippets {
            shortest,
            longest,
            abreast,
        } = self.sampling
        {
            if !(2 <= shortest && shortest <= longest) {
                let found = format!("{shortest} to {longest}");
                let expected = "at least 2 frames, the shortest first";
                return ConfigError::refuse("snippets", &found, expected);
            }
            if !(0.0..=1.0).contains(&abreast) {
                return ConfigError::refuse("abreast", &abreast, "0 to 1");
            }
        }
        Ok(())
    }
}
