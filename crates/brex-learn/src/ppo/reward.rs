//! What an agent learns from: the true reward, or whatever scores what is seen and done.

use crate::parameters::{Arrays, ParameterError};
use serde::{Deserialize, Serialize};

/// Steps that were just played, one after the other. Score and lives are hidden in what is seen.
#[derive(Debug, Clone, Copy)]
pub struct PlayedSteps<'a> {
    /// What was seen before each action.
    pub before: &'a [u8],
    /// The actions.
    pub actions: &'a [usize],
    /// What each action led to; after an episode's last action this is its last observation.
    pub after: &'a [u8],
}

impl<'a> PlayedSteps<'a> {
    /// What was seen before each action, one by one.
    pub fn seen_before(&self) -> Vec<&'a [u8]> {
        split(self.before, self.actions.len())
    }

    /// What each action led to, one by one.
    pub fn seen_after(&self) -> Vec<&'a [u8]> {
        split(self.after, self.actions.len())
    }
}

fn split(observations: &[u8], count: usize) -> Vec<&[u8]> {
    let each = observations.len() / count.max(1);
    observations.chunks_exact(each.max(1)).collect()
}

/// How a reward that learns did in an update, before it learned from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RewardLesson {
    /// The loss.
    pub loss: f64,
    /// The share of the experts' steps that were taken for theirs.
    pub experts_known: f64,
    /// The share of the agent's steps that were taken for the agent's.
    pub agent_known: f64,
}

/// All that a reward has learned.
#[derive(Debug, Clone, PartialEq)]
pub struct RewardState {
    /// Steps of its optimiser.
    pub steps: u64,
    /// Numbers by name.
    pub arrays: Arrays,
}

/// A reward for what is seen and done. Most say the same for ever; some learn while the agent does.
pub trait RewardFunction: Send {
    /// Writes a reward for each step.
    fn score(&mut self, played: &PlayedSteps<'_>, rewards: &mut [f32]);

    /// Learns from what the agent just played and was paid for. All that is random in it must depend
    /// on the number of the update alone. None if this reward learns nothing.
    fn learn(&mut self, _played: &PlayedSteps<'_>, _update: u64) -> Option<RewardLesson> {
        None
    }

    /// What it has learned, for a checkpoint; none if it learns nothing.
    fn state(&self) -> Option<RewardState> {
        None
    }

    /// Takes up what another one had learned.
    fn restore(&mut self, _state: &RewardState) -> Result<(), ParameterError> {
        Ok(())
    }
}

/// What is done to rewards before learning from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RewardScale {
    /// Nothing.
    Raw,
    /// Only whether they are gains or losses counts.
    Sign,
    /// They are divided by the running standard deviation of the discounted return.
    Running,
}

/// The running scale of rewards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaler {
    /// The discounted sum of rewards so far, for each environment.
    pub(crate) sums: Vec<f64>,
    /// How many sums were seen, their mean and the sum of squared distances from it.
    pub(crate) count: f64,
    pub(crate) mean: f64,
    pub(crate) squares: f64,
}

impl Scaler {
    pub(crate) fn new(environments: usize) -> Self {
        Self {
            sums: vec![0.0; environments],
            count: 0.0,
            mean: 0.0,
            squares: 0.0,
        }
    }

    /// Takes the rewards of one step in (Welford's way), and scales them.
    pub(crate) fn scale(&mut self, discount: f64, rewards: &mut [f32], ends: &[f32]) {
        for (sum, reward) in self.sums.iter_mut().zip(&*rewards) {
            *sum = *sum * discount + f64::from(*reward);
            self.count += 1.0;
            let before = *sum - self.mean;
            self.mean += before / self.count;
            self.squares += before * (*sum - self.mean);
        }
        for (sum, end) in self.sums.iter_mut().zip(ends) {
            *sum *= f64::from(1.0 - end);
        }
        let deviation = (self.squares / self.count).sqrt();
        let factor = if deviation > 1e-6 {
            deviation.recip()
        } else {
            1.0
        };
        for reward in rewards {
            *reward = (f64::from(*reward) * factor).clamp(-10.0, 10.0) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_scale_is_the_deviation_of_returns() {
        let mut scaler = Scaler::new(1);
        let given = [3.0, -1.0, 2.0, 0.0, 5.0];
        let mut seen: Vec<f64> = Vec::new();
        let mut sum = 0.0;
        for (index, reward) in given.into_iter().enumerate() {
            sum = 0.5 * sum + f64::from(reward);
            seen.push(sum);
            let mut rewards = [reward];
            scaler.scale(0.5, &mut rewards, &[if index == 2 { 1.0 } else { 0.0 }]);
            if index == 2 {
                sum = 0.0;
            }
            let count = seen.len() as f64;
            let mean = seen.iter().sum::<f64>() / count;
            let variance = seen.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / count;
            if variance > 0.0 {
                let expected = f64::from(reward) / variance.sqrt();
                assert!((f64::from(rewards[0]) - expected).abs() < 1e-5, "{index}");
            }
        }
    }
}
