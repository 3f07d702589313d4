//! Which of the paper's tables are asked for, and what each of them needs.

use serde::{Deserialize, Serialize};

/// A table of the paper.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PaperTable {
    /// Scores of agents that learned from the mean and the MAP reward, T-REX and GAIL (Table 1)
    Imitation,
    /// Bounds of policies A to D, of agents that learned, and of No-Op
    PolicyEvaluation,
    /// The same bounds after an episode of the MAP agent and one of No-Op were ranked
    Risk,
    /// An RL agent, an imitation agent and a hacker on a fixed prefix
    Prefix,
    /// Pre-training by ranking alone, by the self-supervised losses alone, and by both
    Ablation,
    /// Bounds of a T-REX ensemble and of MC dropout
    Baselines,
}

impl PaperTable {
    /// All of them, in the order in which they are shown.
    pub(super) const ALL: [Self; 6] = [
        Self::Imitation,
        Self::PolicyEvaluation,
        Self::Risk,
        Self::Prefix,
        Self::Ablation,
        Self::Baselines,
    ];

    /// Whether it needs the agent that learned from one of the rewards.
    pub(super) fn needs(self, reward: &str) -> bool {
        match self {
            Self::Imitation => !matches!(reward, "ensemble" | "dropout"),
            Self::PolicyEvaluation => matches!(reward, "mean" | "map"),
            Self::Risk => reward == "map",
            Self::Prefix => reward == "mean",
            Self::Baselines => matches!(reward, "ensemble" | "dropout"),
            Self::Ablation => reward == "mean",
        }
    }
}
