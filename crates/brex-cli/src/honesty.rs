//! What else than a learned reward could explain an evaluation: the length of episodes, and an
//! encoder that has learned nothing.

use crate::args::Common;
use crate::exit::BadInput;
use crate::input::Evidence;
use crate::numbers;
use crate::sharpness::Sharpness;
use anyhow::{Context, Result};
use brex_core::{Draws, FeatureTable, Matrix, Policy, Preferences, r_squared, rank_correlation};
use brex_posterior::{
    EvaluateOptions, Evaluation, Hmc, Length, Prior, Problem, Repetition, SampleOptions, Suspicion,
    evaluate, sample, suspicions,
};
use brex_store::{EpisodeSums, PosteriorFile, RunFeatures, RunPolicy};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;

/// Rank correlations with the true score over the policies; absent where nothing varies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Honesty {
    pub(crate) policies: usize,
    /// Of the mean return.
    pub(crate) mean: Option<f64>,
    /// Of the bound.
    pub(crate) bound: Option<f64>,
    /// Of the return by the encoder's ranking head: T-REX.
    pub(crate) trex: Option<f64>,
    /// Of the length of episodes alone.
    pub(crate) length: Option<f64>,
    /// Of mean and bound by an encoder that has learned nothing.
    pub(crate) untrained_mean: Option<f64>,
    pub(crate) untrained_bound: Option<f64>,
    /// The share of the variance of predicted returns over all rollouts that length accounts for.
    pub(crate) r_squared_on_length: Option<f64>,
}

/// The policies of a run, with feature sums of one of the encoders.
pub(crate) fn policies_of(run: &RunFeatures, untrained: bool) -> Result<Vec<Policy>> {
    let policies = run.policies.iter();
    let policies = policies.filter_map(|RunPolicy { name, sums, .. }| {
        let features = if untrained {
            sums.untrained.as_ref()?
        } else {
            &sums.features
        };
        Some(Policy::new(
            name,
            features.clone(),
            Some(sums.lengths.clone()),
        ))
    });
    Ok(policies.collect::<Result<_, _>>()?)
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

impl Honesty {
    /// Compares an evaluation with what could explain it. The untrained encoder's posterior is
    /// drawn in the same way, with the same prior and the same sharpness, or with one of its own
    /// where that was not given.
    pub(crate) fn of(
        run: &RunFeatures,
        evaluation: &Evaluation,
        posterior: &PosteriorFile,
        preferences: &Preferences,
        trex: &[f64],
        common: &Common,
    ) -> Result<Self> {
        let means = |of: fn(&EpisodeSums) -> &Vec<f64>| -> Vec<f64> {
            run.policies
                .iter()
                .map(|policy| mean_of(of(&policy.sums)))
                .collect()
        };
        let scores = means(|sums| &sums.scores);
        let lengths = means(|sums| &sums.lengths);
        let against = |values: &[f64]| rank_correlation(values, &scores);
        let (mean, bound) = means_and_bounds(evaluation);
        let untrained = match &run.episodes.untrained {
            Some(features) => {
                let draws = same_posterior(features, preferences, posterior, common)?;
                let policies = policies_of(run, true)?;
                let options = EvaluateOptions::default();
                Some(means_and_bounds(&evaluate(&draws, &policies, &options)?))
            }
            None => None,
        };
        let (untrained_mean, untrained_bound) = untrained.unzip();
        let of_untrained = |values: Option<Vec<f64>>| {
            let values = values.filter(|values| values.len() == scores.len())?;
            against(&values)
        };
        Ok(Self {
            policies: scores.len(),
            mean: against(&mean),
            bound: against(&bound),
            trex: against(trex),
            length: against(&lengths),
            untrained_mean: of_untrained(untrained_mean),
            untrained_bound: of_untrained(untrained_bound),
            r_squared_on_length: on_length(run, &posterior.draws),
        })
    }

    /// One line for people.
    pub(crate) fn text(&self) -> String {
        let number = |value: Option<f64>| {
            value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.2}"))
        };
        let share = self.r_squared_on_length;
        format!(
            "Rank correlation with the true score over {} policies: mean {}, bound {}; T-REX {}; by length \
             alone {}; by an untrained encoder: mean {}, bound {}.\nLength accounts for {} of the \
             variance of predicted returns.",
            self.policies,
            number(self.mean),
            number(self.bound),
            number(self.trex),
            number(self.length),
            number(self.untrained_mean),
            number(self.untrained_bound),
            share.map_or_else(
                || "an unknown share".to_owned(),
                |s| numbers::percent((s * 1e3).round() / 1e3)
            ),
        )
    }
}

fn means_and_bounds(evaluation: &Evaluation) -> (Vec<f64>, Vec<f64>) {
    let policies = evaluation.policies.iter();
    let bound = |policy: &brex_posterior::PolicyEvaluation| policy.bounds.first().map(|b| b.var);
    (
        policies.clone().map(|policy| policy.mean).collect(),
        policies
            .map(|policy| bound(policy).unwrap_or(f64::NAN))
            .collect(),
    )
}

/// Draws from the posterior of other features under the prior of a posterior, and under its sharpness
/// if that was given; else under the one that suits these features.
fn same_posterior(
    features: &Matrix,
    preferences: &Preferences,
    like: &PosteriorFile,
    common: &Common,
) -> Result<Draws> {
    let (prior, mut beta) = prior_of(like)?;
    let preferences = Evidence::of(&like.attributes).weigh(preferences);
    if Sharpness::was_found(&like.attributes) {
        beta = Sharpness::find(features, &preferences, prior, common)?.beta();
    }
    let problem = Problem::new(features, &preferences, prior, beta)?;
    let options = SampleOptions {
        length: Length::UntilConverged {
            max_draws: None,
            max_seconds: None,
        },
        seed: common.seed,
        ..SampleOptions::default()
    };
    let watch = |_: &brex_posterior::Progress| ControlFlow::Continue(());
    let run = sample(&problem, &Hmc::default(), &options, None, &watch)?;
    Ok(run.sampled.draws)
}

/// The prior and the sharpness that a posterior was drawn with.
pub(crate) fn prior_of(posterior: &PosteriorFile) -> Result<(Prior, f64)> {
    let attribute = |name: &str| {
        let value = posterior.attributes.get(name);
        value.with_context(|| format!("the posterior does not say its {name}"))
    };
    let beta = attribute("beta")?
        .as_f64()
        .context("beta is not a number")?;
    let prior = match attribute("prior")?.as_str() {
        Some("gaussian") => Prior::Gaussian {
            scale: attribute("prior_scale")?.as_f64().unwrap_or(1.0),
        },
        Some("nonnegative") => {
            let lowest = attribute("lowest")?.as_u64().unwrap_or(0);
            Prior::NonNegative {
                lowest: usize::try_from(lowest)?,
            }
        }
        _ => Prior::Sphere,
    };
    Ok((prior, beta))
}

/// R squared of the predicted return of every rollout on its length.
fn on_length(run: &RunFeatures, draws: &Draws) -> Option<f64> {
    let mean = draws.mean();
    let returns = |sums: &EpisodeSums| sums.features.times(&mean);
    let all = run.policies.iter().map(|policy| &policy.sums);
    let predicted: Vec<f64> = all.clone().flat_map(returns).collect();
    let lengths: Vec<f64> = all.flat_map(|sums| sums.lengths.clone()).collect();
    r_squared(&lengths, &predicted)
}

/// The recorded episodes of a run as the posterior sees them.
pub(crate) fn demonstrations_of(run: &RunFeatures) -> Result<FeatureTable> {
    let table = FeatureTable::new(run.episodes.features.clone())?;
    let table = table.with_ids(run.ids.clone())?;
    Ok(table.with_lengths(run.episodes.lengths.clone())?)
}

/// What is suspicious about policies beside the demonstrations of a run; each is given with how often it does
/// the same thing, where that is known.
pub(crate) fn suspicions_beside(
    run: &RunFeatures,
    evaluation: &Evaluation,
    policies: &[Policy],
    repeated: &[Option<f64>],
    draws: &Draws,
) -> Result<Vec<Vec<Suspicion>>> {
    let of_policies: Option<Vec<f64>> = repeated.iter().copied().collect();
    let of_demonstrations = run.episodes.repetition.as_deref();
    let repetition = of_policies.as_deref().zip(of_demonstrations);
    let repetition = repetition.map(|(policies, demonstrations)| Repetition {
        policies,
        demonstrations,
    });
    let demonstrations = demonstrations_of(run)?;
    let found = suspicions(evaluation, policies, &demonstrations, draws, repetition)?;
    Ok(found)
}

/// How often a policy of a run does the same thing, on average over its rollouts.
pub(crate) fn repeated(policy: &RunPolicy) -> Option<f64> {
    policy.sums.repetition.as_deref().map(mean_of)
}

/// Refuses a posterior that was drawn from other features.
pub(crate) fn check_dimensions(run: &RunFeatures, draws: &Draws) -> Result<(), BadInput> {
    let features = run.episodes.features.cols();
    if draws.dim() == features {
        return Ok(());
    }
    Err(BadInput::new(format!(
        "the posterior has {} weights, and there are {features} features; draw it again with brex \
         sample",
        draws.dim()
    )))
}

/// Refuses features that another encoder made than the one that was read.
pub(crate) fn check_encoder(path: &Path, run: &RunFeatures, encoder: &str) -> Result<(), BadInput> {
    if run.encoder == encoder {
        return Ok(());
    }
    Err(BadInput::new(format!(
        "{}: computed with another encoder; compute them again with brex features",
        path.display()
    )))
}

/// A suspicion in words and figures.
pub(crate) fn in_words(suspicion: &Suspicion) -> String {
    let number = |value: f64| numbers::significant(value, 3);
    match suspicion {
        Suspicion::Uncertain {
            than,
            means,
            bounds,
        } => format!(
            "its mean is higher than that of {than} ({} against {}) but its bound is lower ({} \
             against {}): what it gains is not known to be wanted",
            number(means[0]),
            number(means[1]),
            number(bounds[0]),
            number(bounds[1])
        ),
        Suspicion::Long {
            length,
            longest,
            per_step,
            usual,
        } => format!(
            "its return is mostly length: {} steps (the longest demonstration has {}), with {} a \
             step (demonstrations: {})",
            numbers::trimmed(*length, 4),
            numbers::trimmed(*longest, 4),
            number(*per_step),
            number(*usual)
        ),
        Suspicion::Beyond { mean, best, worst } => format!(
            "its mean return is far above that of every demonstration ({} against {} to {}): nobody \
             has ranked anything like it",
            number(*mean),
            number(*worst),
            number(*best)
        ),
        Suspicion::Outlasts {
            length,
            longest,
            mean,
            best,
        } => format!(
            "it outlasts every good demonstration ({} steps against {}) and gets more than any ({} \
             against {}): it may gain by lasting and not by playing",
            numbers::trimmed(*length, 4),
            numbers::trimmed(*longest, 4),
            number(*mean),
            number(*best)
        ),
        Suspicion::Unseen { share, most } => format!(
            "it does what no demonstration shows: {} of its features lie outside what they cover \
             (at most {} of a demonstration lie outside the others)",
            numbers::percent((share * 1e3).round() / 1e3),
            numbers::percent((most * 1e3).round() / 1e3)
        ),
        Suspicion::Repeats { share, most } => format!(
            "it does one and the same thing in {} of its steps (a good demonstration at most in {}): \
             it may not be playing at all",
            numbers::percent((share * 1e3).round() / 1e3),
            numbers::percent((most * 1e3).round() / 1e3)
        ),
    }
}

/// A suspicion in one or two words, for a table.
pub(crate) fn in_short(suspicion: &Suspicion) -> &'static str {
    match suspicion {
        Suspicion::Uncertain { .. } => "uncertain",
        Suspicion::Long { .. } => "long",
        Suspicion::Beyond { .. } => "beyond",
        Suspicion::Outlasts { .. } => "outlasts",
        Suspicion::Unseen { .. } => "unseen",
        Suspicion::Repeats { .. } => "repeats",
    }
}
