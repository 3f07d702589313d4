//! Policies on the first steps of their rollouts only, so that none is judged by how long it lives.

use super::result::{JudgedPolicy, Judgement};
use crate::args::Common;
use crate::commands::features::read_encoder;
use crate::numbers;
use crate::recorded::RecordedEpisodes;
use crate::run_files::{RunFiles, rollouts_of};
use crate::terminal::json_text;
use anyhow::Result;
use brex_core::{Matrix, Policy};
use brex_envs::make;
use brex_learn::{Device, replayed_prefix};
use brex_posterior::{EvaluateOptions, evaluate};
use brex_store::{read_posterior, read_run_features};

/// Judges policies of a run by the first steps of their rollouts.
pub(super) fn judged(
    files: &RunFiles,
    game: &str,
    names: &[&str],
    steps: usize,
    common: &Common,
) -> Result<String> {
    let mut env = make(game)?;
    let (encoder, _) = read_encoder(&files.encoder, env.spec())?;
    let phi = encoder.phi(&Device::flex())?;
    let scale = read_run_features(&files.features)?.scale;
    let mut policies = Vec::new();
    let mut truth = Vec::new();
    for name in names {
        let rollouts = RecordedEpisodes::read(&rollouts_of(files, name))?;
        let (mut rows, mut scores, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for episode in &rollouts.episodes {
            let (sum, score) = replayed_prefix(&phi, env.as_mut(), episode, steps)?;
            rows.extend(sum.values.iter().map(|value| value / scale));
            scores.push(score);
            lengths.push(sum.length as f64);
        }
        let sums = Matrix::new(scores.len(), phi.shape().feature_count(), rows)?;
        truth.push((
            numbers::mean_and_sd(&scores).0,
            numbers::mean_and_sd(&lengths).0,
        ));
        policies.push(Policy::new(*name, sums, Some(lengths))?);
    }
    let posterior = read_posterior(&files.posterior)?;
    let options = EvaluateOptions {
        seed: common.seed,
        ..EvaluateOptions::default()
    };
    let evaluation = evaluate(&posterior.draws, &policies, &options)?;
    let judged = evaluation.policies.iter().zip(truth);
    let policies = judged.map(|(policy, (score, length))| JudgedPolicy {
        policy: policy.name.clone(),
        mean: policy.mean,
        mean_mcse: policy.mean_mcse,
        var: policy.bounds.first().map(|bound| bound.var),
        var_mcse: policy.bounds.first().map(|bound| bound.var_mcse),
        true_score: score,
        length,
        returns: Vec::new(),
    });
    let judgement = Judgement {
        policies: policies.collect(),
        rank_correlation: None,
    };
    Ok(json_text(&judgement)?)
}
