//! The experiment as it should be run: chains that converged or are counted as not, starts drawn
//! at random, exact values, and noise where it is asked for.

use super::world::{KnownWorld, StudyError, WorldOptions};
use super::{LossRow, MethodResult, StudyTable};
use crate::inference::{
    Demonstrations, Inference, InferenceOptions, sample_irl, sample_preferences,
};
use crate::{Step, StochasticPolicy, discounted_features};
use brex_core::{Matrix, Preference, Preferences, Stream, stream};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoundOptions {
    /// The worlds.
    pub world: WorldOptions,
    /// The inverse temperature that both methods assume.
    pub beta: f64,
    /// The inverse temperature with which preferences are answered; without one, the larger return
    /// is preferred for certain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer_beta: Option<f64>,
    /// The share of preferences that are turned round.
    pub flip: f64,
    /// The share of actions in optimal demonstrations that are taken at random.
    pub epsilon: f64,
    /// The most draws of each of eight chains before they count as not converged.
    pub most_draws_per_chain: usize,
}

impl Default for SoundOptions {
    fn default() -> Self {
        Self {
            world: WorldOptions::default(),
            beta: 50.0,
            answer_beta: None,
            flip: 0.0,
            epsilon: 0.0,
            most_draws_per_chain: 8_000,
        }
    }
}

impl SoundOptions {
    /// Says what is wrong with the options, if anything is.
    pub fn check(&self) -> Result<(), StudyError> {
        self.world.check()?;
        let wrong = |name, value, expected| StudyError {
            name,
            value,
            expected,
        };
        for (name, value) in [("beta", Some(self.beta)), ("answer-beta", self.answer_beta)] {
            if let Some(value) = value.filter(|v| !(v.is_finite() && *v > 0.0)) {
                return Err(wrong(name, value, "a positive number"));
            }
        }
        for (name, value) in [("flip", self.flip), ("epsilon", self.epsilon)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(wrong(name, value, "a share from 0 to 1"));
            }
        }
        if self.most_draws_per_chain < 4 {
            let value = self.most_draws_per_chain as f64;
            return Err(wrong("most-draws-per-chain", value, "at least 4"));
        }
        Ok(())
    }
}

/// Random demonstrations for each optimal one in Table 10.
const NOISE_EACH: usize = 10;
/// Demonstrations in Table 9.
const RANKED: usize = 20;

/// The rows of a table for one world, one per setting.
///
/// # Panics
/// If the options are not what [`SoundOptions::check`] lets pass.
pub fn sound_losses(table: StudyTable, number: usize, options: &SoundOptions) -> Vec<LossRow> {
    let study = WorldStudy::new(table, number, options);
    let settings = table.settings().iter().enumerate();
    // Table 9 differs in what Bayesian IRL gets only.
    let mut shared: Option<MethodResult> = None;
    settings
        .map(|(index, &setting)| {
            let rex = match shared {
                Some(result) if table == StudyTable::GoodBad => result,
                _ => study.rex(setting, index),
            };
            shared = Some(rex);
            LossRow {
                setting,
                world: number,
                irl: study.irl(setting, index),
                rex,
            }
        })
        .collect()
}

/// One world with as many demonstrations as the largest setting needs; smaller ones take the first.
struct WorldStudy<'a> {
    table: StudyTable,
    number: usize,
    options: &'a SoundOptions,
    world: KnownWorld,
    optimal: Vec<Vec<Step>>,
    random: Vec<Vec<Step>>,
}

impl<'a> WorldStudy<'a> {
    fn new(table: StudyTable, number: usize, options: &'a SoundOptions) -> Self {
        let world = KnownWorld::new(&options.world, number);
        let largest = |most: f64, setting: &f64| most.max(*setting);
        let count = match table {
            StudyTable::GoodBad => RANKED,
            _ => table.settings().iter().fold(0.0, largest) as usize,
        };
        let starts = world.starts(count);
        let stream = |purpose| stream(options.world.seed, purpose, number as u64);
        let best = StochasticPolicy::optimal(&world.solution.q, 1e-9)
            .and_then(|policy| policy.epsilon_mix(options.epsilon))
            .unwrap_or_else(|error| unreachable!("checked options: {error}"));
        let uniform = StochasticPolicy::uniform(&world.mdp);
        let each = if table == StudyTable::OptNoise {
            NOISE_EACH
        } else {
            1
        };
        let repeated = starts.iter().flat_map(|&s| std::iter::repeat_n(s, each));
        Self {
            optimal: world.follow(
                &best,
                starts.iter().copied(),
                &mut stream("optimal demonstrations"),
            ),
            random: world.follow(&uniform, repeated, &mut stream("random demonstrations")),
            table,
            number,
            options,
            world,
        }
    }

    fn inference(&self, index: usize) -> InferenceOptions {
        let tables = StudyTable::ALL.len() as u64;
        let settings = 8;
        let table = u64::from(self.table.number() - StudyTable::ALL[0].number());
        InferenceOptions {
            beta: self.options.beta,
            prior: self.options.world.prior,
            most_draws_per_chain: self.options.most_draws_per_chain,
            seed: self.options.world.seed,
            index: (self.number as u64 * tables + table) * settings + index as u64,
        }
    }

    fn result(&self, inference: &Inference) -> MethodResult {
        let policy = self.world.best_policy(&inference.draws.mean());
        MethodResult {
            loss: self.world.loss(&policy),
            chain: Some(inference.quality),
        }
    }

    fn irl(&self, setting: f64, index: usize) -> MethodResult {
        let demonstrations = match self.table {
            StudyTable::OptSubopt | StudyTable::OptNoise => {
                good(self.optimal[..setting as usize].iter())
            }
            StudyTable::Ranked => good(self.random[..setting as usize].iter()),
            StudyTable::GoodBad => self.best_and_worst(setting),
        };
        let inference = sample_irl(&self.world.mdp, &demonstrations, &self.inference(index))
            .unwrap_or_else(|error| unreachable!("steps of this world: {error}"));
        self.result(&inference)
    }

    fn rex(&self, setting: f64, index: usize) -> MethodResult {
        let count = match self.table {
            StudyTable::GoodBad => RANKED,
            _ => setting as usize,
        };
        let (trajectories, pairs): (Vec<&Vec<Step>>, Vec<(usize, usize)>) =
            if self.table == StudyTable::OptNoise {
                let noise = &self.random[..count * NOISE_EACH];
                let pairs = (0..noise.len()).map(|n| (count + n, n / NOISE_EACH));
                (
                    self.optimal[..count].iter().chain(noise).collect(),
                    pairs.collect(),
                )
            } else {
                let pairs = (0..count).flat_map(|j| (0..j).map(move |i| (i, j)));
                (self.random[..count].iter().collect(), pairs.collect())
            };
        let features = features(&self.world, &trajectories);
        let mut random = stream(
            self.options.world.seed,
            "answers",
            self.inference(index).index,
        );
        let preferences = if self.table == StudyTable::OptNoise {
            // Known from where they come, whatever their returns.
            let known = pairs
                .into_iter()
                .map(|(worse, better)| Some((worse, better)));
            self.noisy(known, trajectories.len(), &mut random)
        } else {
            let returns = features.times(&self.world.weights);
            let beta = self.options.answer_beta;
            let answered: Vec<_> = pairs
                .into_iter()
                .map(|(i, j)| answer(i, j, returns[j] - returns[i], beta, &mut random))
                .collect();
            self.noisy(answered.into_iter(), trajectories.len(), &mut random)
        };
        let inference = sample_preferences(&features, &preferences, &self.inference(index));
        self.result(&inference)
    }

    /// The answers as preferences, some of them turned round. Ties say nothing.
    fn noisy(
        &self,
        answers: impl Iterator<Item = Option<(usize, usize)>>,
        trajectories: usize,
        random: &mut Stream,
    ) -> Preferences {
        let items = answers.flatten().map(|(worse, better)| {
            if random.random::<f64>() < self.options.flip {
                Preference::strict(better, worse)
            } else {
                Preference::strict(worse, better)
            }
        });
        Preferences::new(trajectories, items.collect())
            .unwrap_or_else(|error| unreachable!("pairs of different trajectories: {error}"))
    }

    /// The best and the worst of the random demonstrations by their true returns.
    fn best_and_worst(&self, fraction: f64) -> Demonstrations {
        let trajectories: Vec<&Vec<Step>> = self.random.iter().collect();
        let returns = features(&self.world, &trajectories).times(&self.world.weights);
        let mut order: Vec<usize> = (0..RANKED).collect();
        order.sort_by(|&a, &b| returns[b].total_cmp(&returns[a]));
        let count = (fraction * RANKED as f64).round() as usize;
        let of = |chosen: &[usize]| good(chosen.iter().map(|&d| &self.random[d])).good;
        Demonstrations {
            good: of(&order[..count]),
            bad: of(&order[RANKED - count..]),
        }
    }
}

/// Demonstrations to imitate.
pub(super) fn good<'a>(demonstrations: impl Iterator<Item = &'a Vec<Step>>) -> Demonstrations {
    let steps = demonstrations.flatten();
    Demonstrations {
        good: steps.map(|step| (step.state, step.action)).collect(),
        bad: Vec::new(),
    }
}

/// The discounted feature sums of trajectories, one row each.
pub(super) fn features(world: &KnownWorld, trajectories: &[&Vec<Step>]) -> Matrix {
    let gamma = world.mdp.gamma();
    let rows: Vec<Vec<f64>> = trajectories
        .iter()
        .map(|steps| discounted_features(&world.mdp, steps, gamma))
        .collect();
    Matrix::from_fn(rows.len(), world.weights.len(), |i, k| rows[i][k])
}

/// (worse, better) of two trajectories, where the return of `j` is larger by `gap`: for certain, or
/// with Bradley and Terry's probability.
pub(super) fn answer(
    i: usize,
    j: usize,
    gap: f64,
    beta: Option<f64>,
    random: &mut Stream,
) -> Option<(usize, usize)> {
    let j_is_better = match beta {
        Some(beta) => random.random::<f64>() < 1.0 / (1.0 + (-beta * gap).exp()),
        None if gap == 0.0 => return None,
        None => gap > 0.0,
    };
    Some(if j_is_better { (i, j) } else { (j, i) })
}
