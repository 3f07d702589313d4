//! A training as a file, to go on from.

use super::container::{CheckpointError, Reader, Writer};
use crate::adam::Adam;
use crate::networks::PolicyShape;
use crate::parameters::{Arrays, parameters, with_parameters};
use crate::ppo::{
    PlayedEpisode, PpoConfig, RewardFunction, RewardState, Scaler, TrainError, Trainer, adam_config,
};
use brex_envs::{EnvError, Environment, Standing};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const KIND: &str = "training 1";

/// A training that was put down.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingFile {
    /// The environment.
    pub environment: String,
    /// Its version.
    pub version: u32,
    /// The seed.
    pub seed: u64,
    /// Updates made.
    pub update: u64,
    /// The settings.
    pub config: PpoConfig,
    /// Whatever else whoever trains wants to find again.
    pub notes: serde_json::Value,
    shape: PolicyShape,
    adam_steps: u64,
    network: Arrays,
    adam: Arrays,
    scaler: Scaler,
    standings: Vec<Standing>,
    recent: VecDeque<PlayedEpisode>,
    reward: Option<RewardState>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    kind: String,
    environment: String,
    version: u32,
    seed: u64,
    update: u64,
    config: PpoConfig,
    notes: serde_json::Value,
    shape: PolicyShape,
    adam_steps: u64,
    /// Episodes begun, for each environment.
    episodes: Vec<u64>,
    /// Steps of the optimiser of a reward that learns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward_steps: Option<u64>,
}

fn actions_of(environment: usize) -> String {
    format!("environment.{environment}.actions")
}

impl TrainingFile {
    /// A training as it is now.
    pub fn of(trainer: &Trainer, notes: serde_json::Value) -> Self {
        let spec = trainer.world.envs.spec();
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
            scaler: trainer.world.scaler.clone(),
            standings: trainer.world.envs.standings(),
            recent: trainer.recent.clone(),
            reward: trainer.world.reward.as_ref().and_then(|r| r.state()),
        }
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut writer = Writer::default();
        writer.floats("network.", &self.network);
        writer.floats("adam.", &self.adam);
        if let Some(reward) = &self.reward {
            writer.floats("reward.", &reward.arrays);
        }
        let scaler = &self.scaler;
        writer.doubles("scale.sums", &scaler.sums);
        writer.doubles(
            "scale.moments",
            &[scaler.count, scaler.mean, scaler.squares],
        );
        let recent = self.recent.iter();
        let recent: Vec<f64> = recent.flat_map(|e| [e.score, e.length as f64]).collect();
        writer.doubles("recent", &recent);
        for (index, standing) in self.standings.iter().enumerate() {
            writer.bytes(actions_of(index), &standing.actions);
        }
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
            episodes: self.standings.iter().map(|s| s.episodes).collect(),
            reward_steps: self.reward.as_ref().map(|reward| reward.steps),
        })
    }

    /// Reads the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let (reader, header): (_, Header) = Reader::open(bytes, KIND)?;
        let wrong = |problem: String| CheckpointError::Header { problem };
        header.config.check().map_err(|e| wrong(e.to_string()))?;
        let count = header.config.environments;
        if header.episodes.len() != count || !header.shape.is_sound() {
            return Err(wrong("shape and settings contradict each other".to_owned()));
        }
        let mut standings = Vec::with_capacity(count);
        for (index, episodes) in header.episodes.into_iter().enumerate() {
            let actions = reader.bytes(&actions_of(index))?;
            standings.push(Standing { episodes, actions });
        }
        let sums = reader.doubles("scale.sums")?;
        let moments = reader.doubles("scale.moments")?;
        let (3, true) = (moments.len(), sums.len() == count) else {
            let (name, problem) = ("scale".to_owned(), "has another length".to_owned());
            return Err(CheckpointError::Array { name, problem });
        };
        let recent = reader.doubles("recent")?;
        let (recent, _) = recent.as_chunks::<2>();
        let recent = recent.iter().map(|[score, length]| PlayedEpisode {
            score: *score,
            length: *length as usize,
        });
        let reward = match header.reward_steps {
            Some(steps) => Some(RewardState {
                steps,
                arrays: reader.floats("reward.")?,
            }),
            None => None,
        };
        Ok(Self {
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
            scaler: Scaler {
                sums,
                count: moments[0],
                mean: moments[1],
                squares: moments[2],
            },
            standings,
            recent: recent.collect(),
            reward,
        })
    }

    /// The training, ready to go on. `make` must make the environment that it was begun in.
    pub fn resume(
        self,
        make: impl Fn() -> Result<Box<dyn Environment>, EnvError>,
        reward: Option<Box<dyn RewardFunction>>,
        device: &Device,
    ) -> Result<Trainer, ResumeError> {
        let config = self.config;
        let adam = Adam::restored(adam_config(&config), self.adam_steps, &self.adam);
        let mut trainer = Trainer::new(config, self.seed, make, reward, device)?;
        let spec = trainer.world.envs.spec();
        if spec.name != self.environment || spec.version != self.version {
            return Err(ResumeError::Environment {
                then: format!("{} version {}", self.environment, self.version),
                now: format!("{} version {}", spec.name, spec.version),
            });
        }
        adam.check(&self.network)
            .map_err(CheckpointError::Parameters)?;
        trainer.network =
            with_parameters(trainer.network, &self.network).map_err(CheckpointError::Parameters)?;
        trainer.adam = adam;
        trainer.update = self.update;
        trainer.recent = self.recent;
        trainer.world.scaler = self.scaler;
        let reward = trainer.world.reward.as_mut();
        match (
            reward.filter(|reward| reward.state().is_some()),
            &self.reward,
        ) {
            (Some(reward), Some(state)) => {
                reward.restore(state).map_err(CheckpointError::Parameters)?;
            }
            (None, None) => {}
            (now, _) => {
                let learns = now.is_some();
                return Err(ResumeError::Reward { learns });
            }
        }
        trainer.restore(&self.standings)?;
        Ok(trainer)
    }
}

/// Why a training cannot go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ResumeError {
    /// It was begun in another environment.
    #[error("the training was begun in {then}; this is {now}")]
    Environment {
        /// The environment of the training.
        then: String,
        /// The environment at hand.
        now: String,
    },
    /// It was begun with a reward of another kind.
    #[error(
        "the training was begun with a reward that {}; this one {}",
        if *learns { "learns nothing" } else { "learns too" },
        if *learns { "learns too" } else { "learns nothing" }
    )]
    Reward {
        /// Whether the reward at hand learns.
        learns: bool,
    },
    /// The file does not fit together.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The environments or the settings fail.
    #[error(transparent)]
    Train(#[from] TrainError),
}
