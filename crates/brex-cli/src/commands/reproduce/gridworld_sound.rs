//! What can be set for the protocol `sound`.

use brex_tabular::{SoundOptions, WeightPrior, WorldOptions};

/// Where true weights come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PriorOfWeights {
    /// Absolute values sum to 1, as in the paper's gridworlds
    AbsoluteSum,
    /// Squares sum to 1
    Sphere,
}

#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Protocol sound")]
pub(super) struct SoundArguments {
    /// Rows of the grid [default: 6]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Columns of the grid [default: 6]
    #[arg(long, value_name = "N")]
    cols: Option<usize>,
    /// Kinds of cell, each with a weight [default: 4]
    #[arg(long, value_name = "K")]
    features: Option<usize>,
    /// The chance that a move goes to one of the two sides instead [default: 0]
    #[arg(long, value_name = "P")]
    slip: Option<f64>,
    /// The discount [default: 0.9]
    #[arg(long, value_name = "G")]
    gamma: Option<f64>,
    /// Steps of a demonstration [default: 20]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Where true weights come from, which both methods know [default: absolute-sum]
    #[arg(long, value_enum)]
    prior: Option<PriorOfWeights>,
    /// The inverse temperature that both methods assume [default: 50]
    #[arg(long, value_name = "B")]
    beta: Option<f64>,
    /// Answer preferences with this inverse temperature; without it, the larger return always wins
    #[arg(long, value_name = "B")]
    answer_beta: Option<f64>,
    /// Turn this share of the preferences round [default: 0]
    #[arg(long, value_name = "SHARE")]
    flip: Option<f64>,
    /// Take this share of the actions in optimal demonstrations at random [default: 0]
    #[arg(long, value_name = "SHARE")]
    epsilon: Option<f64>,
    /// The most draws of each of eight chains before they count as not converged [default: 8000]
    #[arg(long, value_name = "N")]
    most_draws_per_chain: Option<usize>,
}

impl SoundArguments {
    /// The first flag that was given, if any was.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        [
            ("--rows", self.rows.is_some()),
            ("--cols", self.cols.is_some()),
            ("--features", self.features.is_some()),
            ("--slip", self.slip.is_some()),
            ("--gamma", self.gamma.is_some()),
            ("--steps", self.steps.is_some()),
            ("--prior", self.prior.is_some()),
            ("--beta", self.beta.is_some()),
            ("--answer-beta", self.answer_beta.is_some()),
            ("--flip", self.flip.is_some()),
            ("--epsilon", self.epsilon.is_some()),
            (
                "--most-draws-per-chain",
                self.most_draws_per_chain.is_some(),
            ),
        ]
        .into_iter()
        .find_map(|(flag, given)| given.then_some(flag))
    }

    /// What was given, and defaults for the rest.
    pub(super) fn options(&self, seed: u64) -> SoundOptions {
        let default = SoundOptions::default();
        let world = &default.world;
        SoundOptions {
            world: WorldOptions {
                rows: self.rows.unwrap_or(world.rows),
                cols: self.cols.unwrap_or(world.cols),
                features: self.features.unwrap_or(world.features),
                slip: self.slip.unwrap_or(world.slip),
                gamma: self.gamma.unwrap_or(world.gamma),
                steps: self.steps.unwrap_or(world.steps),
                prior: match self.prior {
                    Some(PriorOfWeights::Sphere) => WeightPrior::Sphere,
                    Some(PriorOfWeights::AbsoluteSum) | None => WeightPrior::AbsoluteSum,
                },
                seed,
            },
            beta: self.beta.unwrap_or(default.beta),
            answer_beta: self.answer_beta,
            flip: self.flip.unwrap_or(default.flip),
            epsilon: self.epsilon.unwrap_or(default.epsilon),
            most_draws_per_chain: self
                .most_draws_per_chain
                .unwrap_or(default.most_draws_per_chain),
        }
    }
}
