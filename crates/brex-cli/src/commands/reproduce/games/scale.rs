//! How much work the study of games is: steps, updates and rollouts.

use serde::{Deserialize, Serialize};

/// The budgets of one game with one seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scale {
    /// Steps of the agent whose checkpoints give the demonstrations and policies A to D.
    pub(super) demonstrator_steps: u64,
    /// Demonstrations. Twelve are the paper's; episodes of pocket games are shorter by a factor of ten
    /// and their frames smaller, and agents exploit what is learned from twelve of them.
    pub(super) count: u16,
    /// Updates of each pre-training.
    pub(super) updates: u64,
    /// Updates of each network of an ensemble, of dropout's, and of each encoder that is learned again.
    pub(super) baseline_updates: u64,
    /// Networks of an ensemble.
    pub(super) networks: u16,
    /// Steps of every agent that learns from a learned reward.
    pub(super) learner_steps: u64,
    /// How often an agent's episodes are ranked and the reward is learned again.
    pub(super) rounds: u16,
    /// Rollouts that each policy is judged by.
    pub(super) rollouts: u32,
    /// Steps after which rollouts are cut off, if not where the game does so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_steps: Option<u32>,
    /// Steps of the prefix on which agents and a hacker are compared.
    pub(super) prefix: usize,
}

impl Scale {
    /// Enough to see every table.
    pub(super) const QUICK: Self = Self {
        demonstrator_steps: 400_000,
        count: 100,
        updates: 1000,
        baseline_updates: 200,
        networks: 5,
        learner_steps: 150_000,
        rounds: 1,
        rollouts: 30,
        max_steps: None,
        prefix: 200,
    };

    /// What the tables of the documentation were made with.
    pub(super) const FULL: Self = Self {
        demonstrator_steps: 500_000,
        count: 200,
        updates: 2000,
        baseline_updates: 1000,
        networks: 5,
        learner_steps: 600_000,
        rounds: 2,
        rollouts: 100,
        max_steps: None,
        prefix: 200,
    };

    /// For emulated games: what two cores do in an hour or two. The paper had 60,000 updates and 50
    /// million steps.
    pub(super) const ATARI: Self = Self {
        demonstrator_steps: 1_670_400,
        count: 12,
        updates: 3000,
        baseline_updates: 1000,
        networks: 5,
        learner_steps: 200_000,
        rounds: 0,
        rollouts: 30,
        max_steps: Some(7000),
        prefix: 2000,
    };
}
