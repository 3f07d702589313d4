//! Playing: a few steps in every environment, with all that is needed to learn from them.

use crate::agent::Agent;
use crate::ppo::reward::Scaler;
use crate::ppo::trainer::PlayedEpisode;
use crate::ppo::{PlayedSteps, PpoConfig, RewardFunction, RewardLesson, RewardScale};
use brex_core::Stream;
use brex_envs::{EnvError, VectorEnv};

/// Steps of all environments, one step of all after the other.
pub(crate) struct Batch {
    pub(crate) observations: Vec<u8>,
    pub(crate) actions: Vec<usize>,
    pub(crate) log_probabilities: Vec<f32>,
    pub(crate) values: Vec<f32>,
    pub(crate) rewards: Vec<f32>,
    /// How much of what follows a step is lost.
    pub(crate) ends: Vec<f32>,
    /// What was worth what is seen after the last step.
    pub(crate) last: Vec<f32>,
    /// Episodes that ended.
    pub(crate) episodes: Vec<PlayedEpisode>,
    /// How the reward did, if it learns.
    pub(crate) lesson: Option<RewardLesson>,
}

/// The world of a training: environments, what is seen in them, and where rewards come from.
pub(crate) struct World {
    pub(crate) envs: VectorEnv,
    pub(crate) observations: Vec<u8>,
    pub(crate) lives: Vec<u32>,
    pub(crate) reward: Option<Box<dyn RewardFunction>>,
    pub(crate) scaler: Scaler,
}

/// What was seen when an episode was cut off, and where in the batch that was.
type CutOff = (usize, Vec<u8>);

impl World {
    /// What is seen in each environment.
    fn seen(&self) -> Vec<&[u8]> {
        let each = self.envs.spec().observation_len();
        self.observations.chunks_exact(each).collect()
    }

    /// Plays `horizon` steps in every environment, as part of the update with a number.
    pub(crate) fn collect(
        &mut self,
        agent: &Agent,
        config: &PpoConfig,
        update: u64,
        random: &mut Stream,
    ) -> Result<Batch, EnvError> {
        let spec = self.envs.spec().clone();
        let (count, size) = (self.envs.count(), config.batch());
        let mut batch = Batch {
            observations: Vec::with_capacity(size * spec.observation_len()),
            actions: Vec::with_capacity(size),
            log_probabilities: Vec::with_capacity(size),
            values: Vec::with_capacity(size),
            rewards: Vec::with_capacity(size),
            ends: Vec::with_capacity(size),
            last: Vec::new(),
            episodes: Vec::new(),
            lesson: None,
        };
        let mut cut_off: Vec<CutOff> = Vec::new();
        let mut led_to: Vec<u8> = Vec::new();
        for _ in 0..config.horizon {
            let choices = agent.act(&self.seen(), random);
            batch.observations.extend_from_slice(&self.observations);
            let steps = self.envs.step(&choices.actions, &mut self.observations)?;
            for (env, played) in steps.into_iter().enumerate() {
                let step = played.step;
                let lost = config.life_loss_ends && step.info.lives < self.lives[env];
                self.lives[env] = step.info.lives;
                batch.rewards.push(step.reward as f32);
                let over = config.episode_ends && (step.terminated || step.truncated);
                // An episode that was cut off ends: what it goes on with is not what comes next.
                let cost = if over && !step.terminated {
                    1.0
                } else {
                    config.end_cost as f32
                };
                batch.ends.push(if lost || over { cost } else { 0.0 });
                if self.reward.is_some() {
                    let shown = spec.observation_len() * env;
                    let now = &self.observations[shown..shown + spec.observation_len()];
                    let after = played
                        .ended
                        .as_ref()
                        .map_or(now, |ended| &ended.observation);
                    let start = led_to.len();
                    led_to.extend_from_slice(after);
                    spec.mask(&mut led_to[start..]);
                }
                if let Some(ended) = played.ended {
                    // The next episode has begun; its lives show with its first step.
                    self.lives[env] = 0;
                    batch.episodes.push(PlayedEpisode {
                        score: ended.score,
                        length: ended.length,
                    });
                    if config.episode_ends && !step.terminated {
                        cut_off.push((batch.ends.len() - 1, ended.observation));
                    }
                }
            }
            batch.actions.extend(choices.actions);
            batch.log_probabilities.extend(choices.log_probabilities);
            batch.values.extend(choices.values);
        }
        if let Some(reward) = &mut self.reward {
            let mut before = batch.observations.clone();
            for seen in before.chunks_exact_mut(spec.observation_len()) {
                spec.mask(seen);
            }
            let played = PlayedSteps {
                before: &before,
                actions: &batch.actions,
                after: &led_to,
            };
            reward.score(&played, &mut batch.rewards);
            batch.lesson = reward.learn(&played, update);
        }
        self.scale(config, count, &mut batch);
        look_past_cuts(agent, config, &cut_off, &mut batch.rewards);
        batch.last = agent.values(&self.seen());
        Ok(batch)
    }

    fn scale(&mut self, config: &PpoConfig, count: usize, batch: &mut Batch) {
        match config.reward_scale {
            RewardScale::Raw => {}
            RewardScale::Sign => {
                for reward in &mut batch.rewards {
                    *reward = if *reward == 0.0 { 0.0 } else { reward.signum() };
                }
            }
            RewardScale::Running => {
                let steps = batch.rewards.chunks_exact_mut(count);
                for (rewards, ends) in steps.zip(batch.ends.chunks_exact(count)) {
                    self.scaler.scale(config.discount, rewards, ends);
                }
            }
        }
    }
}

/// An episode that was cut off would have gone on: what its last state is worth is added to its
/// last reward.
fn look_past_cuts(agent: &Agent, config: &PpoConfig, cut_off: &[CutOff], rewards: &mut [f32]) {
    if cut_off.is_empty() {
        return;
    }
    let seen: Vec<&[u8]> = cut_off.iter().map(|(_, seen)| seen.as_slice()).collect();
    for ((at, _), value) in cut_off.iter().zip(agent.values(&seen)) {
        rewards[*at] += (config.discount * f64::from(value)) as f32;
    }
}
