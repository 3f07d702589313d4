//! Random gridworlds whose truth is known exactly, and demonstrations in them.

use crate::inference::WeightPrior;
use crate::{
    Gridworld, Mdp, Solution, Step, StochasticPolicy, expected_features, greedy, policy_iteration,
    policy_values, rollout,
};
use brex_core::{Stream, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// A setting that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name} is {value}; expected {expected}")]
pub struct StudyError {
    /// The setting.
    pub name: &'static str,
    /// What was found.
    pub value: f64,
    /// What would do.
    pub expected: &'static str,
}

/// What worlds are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorldOptions {
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub cols: usize,
    /// How many kinds of cell there are.
    pub features: usize,
    /// The chance that a move goes to one of the two sides instead.
    pub slip: f64,
    /// The discount.
    pub gamma: f64,
    /// Steps of a demonstration.
    pub steps: usize,
    /// Where true weights come from, and what the methods assume.
    pub prior: WeightPrior,
    /// The seed.
    pub seed: u64,
}

impl Default for WorldOptions {
    /// The paper's worlds.
    fn default() -> Self {
        Self {
            rows: 6,
            cols: 6,
            features: 4,
            slip: 0.0,
            gamma: 0.9,
            steps: 20,
            prior: WeightPrior::AbsoluteSum,
            seed: 0,
        }
    }
}

impl WorldOptions {
    /// Says what is wrong with the options, if anything is.
    pub fn check(&self) -> Result<(), StudyError> {
        let wrong = |name, value, expected| {
            Err(StudyError {
                name,
                value,
                expected,
            })
        };
        for (name, value, most) in [
            ("rows", self.rows, 100),
            ("cols", self.cols, 100),
            ("steps", self.steps, 1_000_000),
        ] {
            if value == 0 || value > most {
                let expected = "at least 1, and rows and columns at most 100";
                return wrong(name, value as f64, expected);
            }
        }
        if !(2..=64).contains(&self.features) {
            return wrong("features", self.features as f64, "from 2 to 64");
        }
        if !(0.0..=1.0).contains(&self.slip) {
            return wrong("slip", self.slip, "a probability");
        }
        if !(0.0..=0.999).contains(&self.gamma) {
            return wrong("gamma", self.gamma, "from 0 to 0.999");
        }
        Ok(())
    }
}

/// A world with its truth.
pub(super) struct KnownWorld {
    pub(super) mdp: Mdp,
    pub(super) weights: Vec<f64>,
    pub(super) rewards: Vec<f64>,
    pub(super) solution: Solution,
    steps: usize,
    /// Where each demonstration starts.
    starts: Stream,
}

impl KnownWorld {
    /// World number `number`. The options have been checked.
    pub(super) fn new(options: &WorldOptions, number: usize) -> Self {
        let mut random = stream(options.seed, "gridworld", number as u64);
        let grid = Gridworld::random(
            options.rows,
            options.cols,
            options.features,
            options.slip,
            options.gamma,
            &mut random,
        );
        let mdp = grid
            .to_mdp()
            .unwrap_or_else(|error| unreachable!("checked options: {error}"));
        let weights = options.prior.draw(options.features, &mut random);
        let rewards = mdp.rewards(&weights);
        let (solution, _) = policy_iteration(&mdp, &rewards);
        Self {
            mdp,
            weights,
            rewards,
            solution,
            steps: options.steps,
            starts: stream(options.seed, "gridworld starts", number as u64),
        }
    }

    /// The starts of `count` demonstrations: any state, all equally likely.
    pub(super) fn starts(&self, count: usize) -> Vec<usize> {
        let mut random = self.starts.clone();
        let states = self.mdp.states();
        (0..count).map(|_| random.random_range(0..states)).collect()
    }

    /// One demonstration from each start.
    pub(super) fn follow(
        &self,
        policy: &StochasticPolicy,
        starts: impl Iterator<Item = usize>,
        random: &mut Stream,
    ) -> Vec<Vec<Step>> {
        starts
            .map(|start| rollout(&self.mdp, policy, start, self.steps, random))
            .collect()
    }

    /// The policy that is best for the given weights.
    pub(super) fn best_policy(&self, weights: &[f64]) -> StochasticPolicy {
        let (_, choices) = policy_iteration(&self.mdp, &self.mdp.rewards(weights));
        self.policy(&choices)
    }

    /// The policy that is best in truth.
    pub(super) fn optimal_policy(&self) -> StochasticPolicy {
        self.policy(&greedy(&self.solution.q))
    }

    fn policy(&self, choices: &[usize]) -> StochasticPolicy {
        StochasticPolicy::deterministic(&self.mdp, choices)
            .unwrap_or_else(|error| unreachable!("one choice per state: {error}"))
    }

    /// How much worse a policy is than the best, averaged over all states as starts.
    pub(super) fn loss(&self, policy: &StochasticPolicy) -> f64 {
        let values = policy_values(&self.mdp, &self.rewards, policy);
        let total: f64 = self
            .solution
            .values
            .iter()
            .zip(&values)
            .map(|(b, v)| b - v)
            .sum();
        // Rounding can make the best policy look better than itself.
        (total / values.len() as f64).max(0.0)
    }

    /// The expected feature sums of a policy, all states being equally likely starts.
    pub(super) fn expected_features(&self, policy: &StochasticPolicy) -> Vec<f64> {
        let states = self.mdp.states();
        expected_features(&self.mdp, policy, &vec![1.0 / states as f64; states])
    }
}
