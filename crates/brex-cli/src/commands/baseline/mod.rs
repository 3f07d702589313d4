//! `brex baseline`: the bounds of other methods, which the paper compares with.

mod networks;

use super::evaluation_report::Report;
use crate::args::Common;
use crate::device::{DeviceArgument, open};
use crate::exit::{BadInput, Outcome};
use crate::feature_sums::feature_sums;
use crate::numbers;
use crate::plot::DrawnFrom;
use crate::recorded::RecordedEpisodes;
use crate::run_files::{RunFiles, rollouts_of};
use crate::table::Table;
use crate::terminal::{Style, json_text, print, say};
use anyhow::{Context, Result};
use brex_core::stream;
use brex_envs::Spec;
use brex_learn::{
    Device, EncoderFile, FeatureSum, LinearReward, Phi, PretrainConfig, Sampling, dropout_samples,
    ensemble_samples,
};
use brex_posterior::{EvaluateOptions, Evaluation, evaluate_samples};
use brex_store::{AtomicDir, RunFeatures, read_run_features, write_atomic, write_npy_vector};
use networks::Lessons;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// The policy that the returns of an ensemble are measured from unless told otherwise, as in the paper.
const ORIGIN: &str = "A";
/// The share of features that MC dropout leaves out.
const SHARE: f64 = 0.5;

/// Bound the return of policies by a T-REX ensemble or by MC dropout
///
/// Trains T-REX networks on the demonstrations of a run and judges the policies whose rollouts
/// `brex features` left. An ensemble's samples are the returns of every rollout by every network,
/// measured from policy A or another one; those of dropout the returns of every rollout under fresh
/// masks. Both are what the paper's appendix compares with. Leaves networks, samples (.npy),
/// evaluation.json and a picture in baselines/ of the run.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How the bounds come about
    #[arg(value_enum)]
    method: Method,
    /// A run directory with features, as `brex features` leaves it
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// ensemble only: how many networks
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=1000))]
    networks: u16,
    /// ensemble only: train none, and take networks that exist, one or several: published ones of T-REX
    /// (safetensors: conv1 to conv4, fc1, fc2), or encoders as `brex pretrain` leaves them
    #[arg(long, value_name = "FILE.safetensors", conflicts_with_all = ["networks", "updates", "published"])]
    import: Vec<PathBuf>,
    /// ensemble only: the policy that returns are measured from, as networks leave a constant unknown
    #[arg(long, value_name = "POLICY", default_value = ORIGIN)]
    origin: String,
    /// dropout only: masks for every rollout
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    masks: u16,
    /// Updates of each network
    #[arg(long, value_name = "N")]
    updates: Option<u64>,
    /// Train as the authors' code did
    #[arg(long)]
    published: bool,
    /// The share of the samples below the bound
    #[arg(long, value_name = "D", default_value_t = 0.05, value_parser = crate::input::probability)]
    delta: f64,
    /// Begin anew
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    on: DeviceArgument,
}

impl Arguments {
    /// How many networks are trained.
    fn network_count(&self) -> u64 {
        match self.method {
            Method::Ensemble => u64::from(self.networks),
            Method::Dropout => 1,
        }
    }
}

/// The methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Method {
    /// Several T-REX networks
    Ensemble,
    /// One T-REX network whose last layer is thinned at random
    Dropout,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Ensemble => "ensemble",
            Self::Dropout => "dropout",
        }
    }
}

/// What a baseline found.
pub(crate) struct Found {
    method: Method,
    run: RunFeatures,
    evaluation: Evaluation,
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let found = execute(arguments, common)?;
    if common.json {
        print(&json_text(&found.json())?)?;
    } else {
        print(&found.table().show(Style::for_stdout()))?;
        let folder = folder(arguments);
        say(&format!("look at {}", folder.join("returns.svg").display()));
    }
    Ok(Outcome::Done)
}

fn folder(arguments: &Arguments) -> PathBuf {
    let files = RunFiles::of(&arguments.run);
    files
        .directory
        .join("baselines")
        .join(arguments.method.name())
}

/// Trains what is not trained yet, and judges the policies.
pub(crate) fn execute(arguments: &Arguments, common: &Common) -> Result<Found> {
    let files = RunFiles::of(&arguments.run);
    let features = read_run_features(&files.features)?;
    let shown = files.features.display();
    if features.policies.is_empty() {
        return Err(BadInput::new(format!("{shown}: holds no policies")).into());
    }
    let names: Vec<&str> = features.policies.iter().map(|p| p.name.as_str()).collect();
    let origin = arguments.origin.as_str();
    if arguments.method == Method::Ensemble && !names.contains(&origin) {
        let problem = format!(
            "has no policy {origin}, which an ensemble is measured from; choose one with --origin: {}",
            names.join(", ")
        );
        return Err(BadInput::new(format!("{shown}: {problem}")).into());
    }
    if arguments.method == Method::Dropout && !arguments.import.is_empty() {
        return Err(BadInput::new("--import is for an ensemble only".to_owned()).into());
    }
    let device = open(arguments.on.device)?;
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    let spec = recorded.spec()?;
    let config = config(arguments, &spec);
    config
        .check()
        .map_err(|e| BadInput::new(format!("--{}: {e}", e.field)))?;
    let imported = networks::imported(&arguments.import, &spec)?;
    let folder = folder(arguments);
    if !folder.exists() || arguments.force {
        let parent = folder.parent().unwrap_or(&folder);
        fs::create_dir_all(parent).with_context(|| format!("{}", parent.display()))?;
        AtomicDir::create(&folder, arguments.force)?.commit()?;
    }
    let encoders = if imported.is_empty() {
        let lessons = Lessons::read(&recorded, &files, common.quiet)?;
        let mut encoders = Vec::new();
        for index in 0..arguments.network_count() {
            let path = folder.join(networks::name(index));
            // Seeds far from each other, the same ones for the same run.
            let seed = common.seed.wrapping_add(index.wrapping_mul(0x9e37_79b9));
            encoders.push(lessons.network(&path, &config, seed, &device, common.quiet)?);
        }
        encoders
    } else {
        networks::keep(&imported, &folder)?;
        imported
    };
    let judge = Judge::new(&encoders, &device)?;
    let mut sums = Vec::new();
    for policy in &features.policies {
        let rollouts = RecordedEpisodes::read(&rollouts_of(&files, &policy.name))?;
        let encoders: Vec<&Phi> = judge.encoders.iter().collect();
        let episodes = &rollouts.episodes;
        sums.push(feature_sums(&encoders, spec.name, episodes, common.quiet)?);
    }
    let samples = judge.samples(arguments, common.seed, &features, &sums);
    let samples_folder = folder.join("samples");
    fs::create_dir_all(&samples_folder).with_context(|| format!("{}", samples_folder.display()))?;
    for (name, values) in &samples {
        let path = samples_folder.join(format!("{}.npy", name.replace(':', "-")));
        write_npy_vector(path, values, true)?;
    }
    let options = EvaluateOptions {
        deltas: vec![arguments.delta],
        seed: common.seed,
        ..EvaluateOptions::default()
    };
    let found = Found {
        method: arguments.method,
        evaluation: evaluate_samples(&samples, &options)?,
        run: features,
    };
    let picture = Report::new(&found.evaluation, true)
        .figure(DrawnFrom::Samples)
        .draw();
    let text = json_text(&found.json())?;
    for (name, content) in [("evaluation.json", &text), ("returns.svg", &picture)] {
        write_atomic(folder.join(name), true, |writer| {
            writer.write_all(content.as_bytes())
        })?;
    }
    Ok(found)
}

/// How the networks are trained: for pocket games as the encoder is, by ranking alone.
fn config(arguments: &Arguments, spec: &Spec) -> PretrainConfig {
    let published = match arguments.method {
        Method::Ensemble => PretrainConfig::trex(spec),
        Method::Dropout => PretrainConfig::mc_dropout(spec),
    };
    let mut config = published.clone();
    if !arguments.published && !spec.is_atari() {
        let usual = PretrainConfig::for_spec(spec);
        config = PretrainConfig {
            losses: usual.losses.ranking_only(),
            held_out: 0.0,
            dropout: published.dropout,
            ..usual
        };
        if let Sampling::Thinned { .. } = published.sampling {
            config.sampling = published.sampling;
            config.pairs = 2;
        }
    }
    config.updates = arguments.updates.unwrap_or(config.updates);
    config
}

/// Networks, ready to judge.
struct Judge {
    encoders: Vec<Phi>,
    rewards: Vec<LinearReward>,
}

impl Judge {
    fn new(files: &[EncoderFile], device: &Device) -> Result<Self> {
        let mut judge = Self {
            encoders: Vec::new(),
            rewards: Vec::new(),
        };
        for file in files {
            judge.encoders.push(file.phi(device)?);
            let (weights, bias) = file.reward();
            let weights = weights.to_vec();
            judge.rewards.push(LinearReward { weights, bias });
        }
        Ok(judge)
    }

    /// Samples of every policy's return.
    fn samples(
        &self,
        arguments: &Arguments,
        seed: u64,
        features: &RunFeatures,
        sums: &[Vec<Vec<FeatureSum>>],
    ) -> Vec<(String, Vec<f64>)> {
        let policies = features.policies.iter().zip(sums).enumerate();
        let origin = features
            .policies
            .iter()
            .position(|policy| policy.name == arguments.origin);
        let origin = origin.map_or(&[][..], |at| &sums[at]);
        let each = policies.map(|(index, (policy, rollouts))| {
            let samples = match arguments.method {
                Method::Ensemble => ensemble_samples(&self.rewards, rollouts, origin),
                Method::Dropout => {
                    let mut random = stream(seed, "dropout masks", index as u64);
                    let own: Vec<FeatureSum> =
                        rollouts.iter().map(|sums| sums[0].clone()).collect();
                    let masks = usize::from(arguments.masks);
                    dropout_samples(&self.rewards[0], &own, SHARE, masks, &mut random)
                }
            };
            (policy.name.clone(), samples)
        });
        each.collect()
    }
}

impl Found {
    /// The policies by their bounds, the best one first: the place of each.
    fn order(&self) -> Vec<usize> {
        Report::new(&self.evaluation, true).order().to_vec()
    }

    pub(crate) fn json(&self) -> Value {
        let policies = self.order().into_iter().map(|at| {
            let (judged, sums) = (&self.evaluation.policies[at], &self.run.policies[at].sums);
            json!({
                "policy": judged.name,
                "mean": judged.mean,
                "var": judged.bounds.first().map(|bound| bound.var),
                "true_score": numbers::mean_and_sd(&sums.scores).0,
                "length": numbers::mean_and_sd(&sums.lengths).0,
                "samples": judged.returns.len(),
            })
        });
        json!({
            "method": self.method.name(),
            "environment": self.run.environment,
            "policies": policies.collect::<Vec<Value>>(),
        })
    }

    fn table(&self) -> Table {
        let delta = self
            .evaluation
            .policies
            .first()
            .and_then(|policy| policy.bounds.first());
        let bound = format!("{}-VaR", delta.map_or(0.05, |bound| bound.delta));
        let mut table = Table::new(["policy", "mean", &bound, "true score", "length"]);
        let number = |value: f64| numbers::trimmed(value, 5);
        for at in self.order() {
            let (judged, sums) = (&self.evaluation.policies[at], &self.run.policies[at].sums);
            let bound = judged.bounds.first().map_or(f64::NAN, |bound| bound.var);
            table.row([
                judged.name.clone(),
                numbers::significant(judged.mean, 3),
                numbers::significant(bound, 3),
                number(numbers::mean_and_sd(&sums.scores).0),
                number(numbers::mean_and_sd(&sums.lengths).0),
            ]);
        }
        table
    }
}
