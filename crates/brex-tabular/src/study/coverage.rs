//! High-confidence policy evaluation, measured: how often does a bound on a policy's value hold?
//!
//! In every world the truth is drawn from the prior, a demonstrator acts with Boltzmann's
//! probabilities and preferences are answered with Bradley and Terry's, both with a known inverse
//! temperature; so where the methods assume the same, a bound at delta must hold in a share of
//! 1 - delta of all worlds. It must for every policy that is chosen without knowing the truth. The
//! optimal policy is chosen with it, and does better than promised.

use super::sound::{answer, features, good};
use super::world::{KnownWorld, StudyError, WorldOptions};
use crate::inference::{
    Demonstrations, Inference, InferenceOptions, sample_irl, sample_preferences,
};
use crate::{Step, StochasticPolicy};
use brex_core::{Matrix, Preference, Preferences, stream, value_at_risk_of_sorted};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// How the world differs from what the methods assume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Not at all.
    AsAssumed,
    /// The methods take people to be five times as reliable as they are.
    TooSure,
    /// The methods take people to be a fifth as reliable as they are.
    TooCautious,
    /// One in ten answers is turned round, one in ten actions is taken at random.
    Flipped,
}

impl Condition {
    /// All conditions.
    pub const ALL: [Self; 4] = [
        Self::AsAssumed,
        Self::TooSure,
        Self::TooCautious,
        Self::Flipped,
    ];

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::AsAssumed => "as assumed",
            Self::TooSure => "beta assumed 5 times too large",
            Self::TooCautious => "beta assumed 5 times too small",
            Self::Flipped => "10 % of answers or actions wrong",
        }
    }

    fn assumed_beta(self, beta: f64) -> f64 {
        match self {
            Self::TooSure => 5.0 * beta,
            Self::TooCautious => 0.2 * beta,
            Self::AsAssumed | Self::Flipped => beta,
        }
    }
}

/// Which method gives the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// From preferences.
    BayesianRex,
    /// From demonstrations.
    BayesianIrl,
}

impl Method {
    /// Both.
    pub const ALL: [Self; 2] = [Self::BayesianRex, Self::BayesianIrl];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::BayesianRex => "Bayesian REX",
            Self::BayesianIrl => "Bayesian IRL",
        }
    }
}

/// Which policy is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgedPolicy {
    /// The best in truth.
    Optimal,
    /// All actions equally often.
    Random,
    /// The best for the mean of the posterior.
    MeanReward,
    /// The best for the one of 32 draws that promises the most: it hacks the reward where the data
    /// leave it open.
    Hacker,
}

impl JudgedPolicy {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Optimal, Self::Random, Self::MeanReward, Self::Hacker];

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Random => "random",
            Self::MeanReward => "best for the mean reward",
            Self::Hacker => "best for the rosiest draw",
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridCoverageOptions {
    /// The worlds.
    pub world: WorldOptions,
    /// The true inverse temperature.
    pub beta: f64,
    /// Numbers of demonstrations; each is compared with each other.
    pub demonstrations: Vec<usize>,
    /// Shares of the posterior below a bound.
    pub deltas: Vec<f64>,
    /// Departures from what is assumed.
    pub conditions: Vec<Condition>,
    /// The most draws of each of eight chains before they count as not converged.
    pub most_draws_per_chain: usize,
}

impl Default for GridCoverageOptions {
    fn default() -> Self {
        Self {
            world: WorldOptions::default(),
            beta: 5.0,
            demonstrations: vec![2, 5, 20],
            deltas: vec![0.01, 0.05, 0.1, 0.25],
            conditions: Condition::ALL.to_vec(),
            most_draws_per_chain: 8_000,
        }
    }
}

impl GridCoverageOptions {
    /// Says what is wrong with the options, if anything is.
    pub fn check(&self) -> Result<(), StudyError> {
        self.world.check()?;
        let wrong = |name, value, expected| {
            Err(StudyError {
                name,
                value,
                expected,
            })
        };
        if !(self.beta.is_finite() && self.beta > 0.0) {
            return wrong("beta", self.beta, "a positive number");
        }
        if let Some(count) = self
            .demonstrations
            .iter()
            .find(|d| !(2..=1000).contains(*d))
        {
            return wrong("demonstrations", *count as f64, "from 2 to 1000");
        }
        if let Some(delta) = self.deltas.iter().find(|d| !(**d > 0.0 && **d < 1.0)) {
            return wrong("delta", *delta, "more than 0 and less than 1");
        }
        if self.most_draws_per_chain < 4 {
            let value = self.most_draws_per_chain as f64;
            return wrong("most-draws-per-chain", value, "at least 4");
        }
        Ok(())
    }
}

/// What one inference says about one policy, next to the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridCoverageRow {
    /// How the world differs from what is assumed.
    pub condition: Condition,
    /// The method.
    pub method: Method,
    /// How many demonstrations it had.
    pub demonstrations: usize,
    /// Whether its chains converged.
    pub converged: bool,
    /// The policy.
    pub policy: JudgedPolicy,
    /// Its true value less the bound, for each delta; the bound holds where this is not negative.
    pub margins: Vec<f64>,
}

/// The rows of one world.
///
/// # Panics
/// If the options are not what [`GridCoverageOptions::check`] lets pass.
pub fn grid_coverage(number: usize, options: &GridCoverageOptions) -> Vec<GridCoverageRow> {
    let study = CoverageWorld::new(number, options);
    let mut rows = Vec::new();
    let mut index = 0;
    for &condition in &options.conditions {
        for &count in &options.demonstrations {
            for method in Method::ALL {
                let inference = InferenceOptions {
                    beta: condition.assumed_beta(options.beta),
                    prior: options.world.prior,
                    most_draws_per_chain: options.most_draws_per_chain,
                    seed: options.world.seed,
                    index: number as u64 * 1024 + index,
                };
                index += 1;
                let inferred = match method {
                    Method::BayesianRex => study.rex(condition, count, &inference),
                    Method::BayesianIrl => study.irl(condition, count, &inference),
                };
                rows.extend(study.judge(condition, method, count, &inferred));
            }
        }
    }
    rows
}

struct CoverageWorld<'a> {
    number: usize,
    options: &'a GridCoverageOptions,
    world: KnownWorld,
    /// Of the Boltzmann demonstrator.
    shown: Vec<Vec<Step>>,
    /// Of the random policy, to be compared.
    compared: Matrix,
}

impl<'a> CoverageWorld<'a> {
    fn new(number: usize, options: &'a GridCoverageOptions) -> Self {
        let world = KnownWorld::new(&options.world, number);
        let count = options.demonstrations.iter().copied().max().unwrap_or(0);
        let starts = world.starts(count);
        let stream = |purpose| stream(options.world.seed, purpose, number as u64);
        let boltzmann = StochasticPolicy::boltzmann(&world.solution.q, options.beta)
            .unwrap_or_else(|error| unreachable!("finite values: {error}"));
        let uniform = StochasticPolicy::uniform(&world.mdp);
        let follow = |policy: &StochasticPolicy, purpose| {
            world.follow(policy, starts.iter().copied(), &mut stream(purpose))
        };
        let shown = follow(&boltzmann, "boltzmann demonstrations");
        let random = follow(&uniform, "random demonstrations");
        let compared = features(&world, &random.iter().collect::<Vec<_>>());
        Self {
            number,
            options,
            world,
            shown,
            compared,
        }
    }

    /// The same answers whatever is assumed about them; turned round only where that is the point.
    fn rex(&self, condition: Condition, count: usize, inference: &InferenceOptions) -> Inference {
        let stream = |purpose| stream(self.options.world.seed, purpose, self.number as u64);
        let (mut answers, mut flips) = (stream("answers"), stream("flips"));
        let returns = self.compared.times(&self.world.weights);
        let mut items = Vec::new();
        for j in 0..count {
            for i in 0..j {
                let gap = returns[j] - returns[i];
                let beta = Some(self.options.beta);
                let flip = flips.random::<f64>() < 0.1 && condition == Condition::Flipped;
                if let Some((worse, better)) = answer(i, j, gap, beta, &mut answers) {
                    items.push(if flip {
                        Preference::strict(better, worse)
                    } else {
                        Preference::strict(worse, better)
                    });
                }
            }
        }
        let preferences = Preferences::new(self.compared.rows(), items)
            .unwrap_or_else(|error| unreachable!("pairs of different trajectories: {error}"));
        sample_preferences(&self.compared, &preferences, inference)
    }

    fn irl(&self, condition: Condition, count: usize, inference: &InferenceOptions) -> Inference {
        let mut demonstrations: Demonstrations = good(self.shown[..count].iter());
        if condition == Condition::Flipped {
            let mut random = stream(self.options.world.seed, "wrong actions", self.number as u64);
            for step in &mut demonstrations.good {
                if random.random::<f64>() < 0.1 {
                    step.1 = random.random_range(0..self.world.mdp.actions());
                }
            }
        }
        sample_irl(&self.world.mdp, &demonstrations, inference)
            .unwrap_or_else(|error| unreachable!("steps of this world: {error}"))
    }

    fn judge(
        &self,
        condition: Condition,
        method: Method,
        demonstrations: usize,
        inference: &Inference,
    ) -> impl Iterator<Item = GridCoverageRow> {
        let draws = &inference.draws;
        JudgedPolicy::ALL.into_iter().map(move |policy| {
            let chosen = match policy {
                JudgedPolicy::Optimal => self.world.optimal_policy(),
                JudgedPolicy::Random => StochasticPolicy::uniform(&self.world.mdp),
                JudgedPolicy::MeanReward => self.world.best_policy(&draws.mean()),
                JudgedPolicy::Hacker => self.hacker(inference),
            };
            let features = self.world.expected_features(&chosen);
            let mut returns = draws.times(&features);
            returns.sort_unstable_by(f64::total_cmp);
            let truth: f64 = features
                .iter()
                .zip(&self.world.weights)
                .map(|(f, w)| f * w)
                .sum();
            let deltas = self.options.deltas.iter();
            GridCoverageRow {
                condition,
                method,
                demonstrations,
                converged: inference.quality.converged,
                policy,
                margins: deltas
                    .map(|delta| truth - value_at_risk_of_sorted(&returns, *delta))
                    .collect(),
            }
        })
    }

    /// The best policy for the draw under which the best policy has the largest value.
    fn hacker(&self, inference: &Inference) -> StochasticPolicy {
        const LOOKED_AT: usize = 32;
        let draws = &inference.draws;
        let step = draws.len().div_ceil(LOOKED_AT).max(1);
        let promise = |weights: &[f64]| {
            let policy = self.world.best_policy(weights);
            let features = self.world.expected_features(&policy);
            let value: f64 = features.iter().zip(weights).map(|(f, w)| f * w).sum();
            (value, policy)
        };
        let rosiest = draws.iter().step_by(step).map(promise);
        rosiest
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map_or_else(|| self.world.optimal_policy(), |(_, policy)| policy)
    }
}
