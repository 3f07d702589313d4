//! The paper's gridworld experiments: what is compared in each table, and what came out.

mod coverage;
mod paper;
mod sound;
mod world;

use serde::{Deserialize, Serialize};

pub use coverage::{
    Condition, GridCoverageOptions, GridCoverageRow, JudgedPolicy, Method, grid_coverage,
};
pub use paper::paper_losses;
pub use sound::{SoundOptions, sound_losses};
pub use world::{StudyError, WorldOptions};

/// The four tables of the paper's appendix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StudyTable {
    /// Table 7: optimal demonstrations for Bayesian IRL, ranked random ones for Bayesian REX.
    OptSubopt,
    /// Table 8: ranked random demonstrations for both.
    Ranked,
    /// Table 9: the same, with the best and the worst told apart for Bayesian IRL.
    GoodBad,
    /// Table 10: optimal demonstrations, for Bayesian REX preferred to random ones.
    OptNoise,
}

impl StudyTable {
    /// All tables in the paper's order.
    pub const ALL: [Self; 4] = [Self::OptSubopt, Self::Ranked, Self::GoodBad, Self::OptNoise];

    /// The number of the table in the paper.
    pub fn number(self) -> u32 {
        match self {
            Self::OptSubopt => 7,
            Self::Ranked => 8,
            Self::GoodBad => 9,
            Self::OptNoise => 10,
        }
    }

    /// The table with a number.
    pub fn by_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.number() == number)
    }

    /// The name of the table's file, without an ending.
    pub fn file_stem(self) -> &'static str {
        match self {
            Self::OptSubopt => "optsubopt",
            Self::Ranked => "ranked",
            Self::GoodBad => "ranked_goodbad",
            Self::OptNoise => "optnoise",
        }
    }

    /// One line that says what is compared.
    pub fn title(self) -> &'static str {
        match self {
            Self::OptSubopt => {
                "optimal demonstrations for Bayesian IRL, ranked random ones for Bayesian REX"
            }
            Self::Ranked => "ranked random demonstrations for both",
            Self::GoodBad => {
                "20 ranked random demonstrations; Bayesian IRL gets the best and the worst"
            }
            Self::OptNoise => {
                "optimal demonstrations; Bayesian REX prefers each to ten random ones"
            }
        }
    }

    /// What the first column of the table's file is called.
    pub fn setting_name(self) -> &'static str {
        match self {
            Self::GoodBad => "top_fraction",
            Self::OptSubopt | Self::Ranked | Self::OptNoise => "demos",
        }
    }

    /// The settings: numbers of demonstrations, or fractions taken as good and as bad.
    pub fn settings(self) -> &'static [f64] {
        match self {
            Self::OptSubopt | Self::Ranked => &[2.0, 5.0, 10.0, 20.0, 30.0],
            Self::GoodBad => &[0.05, 0.1, 0.25, 0.5],
            Self::OptNoise => &[1.0, 2.0, 5.0, 10.0, 20.0, 30.0],
        }
    }
}

/// How far a chain can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChainQuality {
    /// Whether R-hat and effective sample sizes are within the limits.
    pub converged: bool,
    /// The largest R-hat over weights; unknown where a weight never moved.
    pub max_rhat: Option<f64>,
    /// The smallest effective sample size over weights.
    pub min_ess: f64,
    /// Draws kept, over all chains.
    pub draws: usize,
    /// The share of proposals that were accepted.
    pub acceptance: f64,
}

/// What one method came to in one world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MethodResult {
    /// How much worse than optimal the policy for the mean reward is: the difference of the values,
    /// averaged over all states as starts.
    pub loss: f64,
    /// How far the chain can be trusted; the published protocol does not ask.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chain: Option<ChainQuality>,
}

/// One row of a table's file: both methods in one world and setting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LossRow {
    /// The number of demonstrations or the fraction.
    pub setting: f64,
    /// The world's number.
    pub world: usize,
    /// Bayesian IRL.
    pub irl: MethodResult,
    /// Bayesian REX.
    pub rex: MethodResult,
}
