//! What an agent learns from: the score of the game, or a reward that a run learned.

use super::gail::{Experts, Imitation, is_run};
use super::settings::Settings;
use crate::checksum::checksum;
use crate::commands::features::read_encoder;
use crate::exit::BadInput;
use crate::honesty::{check_dimensions, check_encoder, prior_of};
use crate::input::Evidence;
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use brex_envs::Spec;
use brex_learn::{AverageReward, Device, LearnedReward, Phi, RewardFunction, Squash};
use brex_posterior::{Problem, maximum_a_posteriori};
use brex_store::{read_features, read_posterior, read_preferences, read_run_features};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where rewards come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RewardSource {
    /// The score of the game.
    Truth,
    /// A run directory, and which of its rewards.
    Learned(PathBuf, Learned),
    /// Being taken for those who played the episodes of a run directory or a folder.
    Gail(PathBuf),
}

/// A reward of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    /// The mean of the posterior, measured by what the demonstrations' frames get and squashed from
    /// its own zero.
    Mean,
    /// The most probable weights, likewise.
    Map,
    /// The mean of the posterior as it is, as published.
    RawMean,
    /// The most probable weights as they are, as published.
    RawMap,
    /// The ranking head of pre-training, as T-REX uses it.
    Trex,
    /// The average of a T-REX ensemble.
    Ensemble,
    /// The network of MC dropout, with all features.
    Dropout,
}

const LEARNED: [(&str, Learned); 7] = [
    ("mean", Learned::Mean),
    ("map", Learned::Map),
    ("raw-mean", Learned::RawMean),
    ("raw-map", Learned::RawMap),
    ("trex", Learned::Trex),
    ("ensemble", Learned::Ensemble),
    ("dropout", Learned::Dropout),
];

const GAIL: &str = "gail";

impl fmt::Display for RewardSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truth => f.write_str("truth"),
            Self::Gail(source) => write!(f, "{}:{GAIL}", source.display()),
            Self::Learned(run, which) => {
                let name = LEARNED.iter().find(|(_, learned)| learned == which);
                write!(f, "{}:{}", run.display(), name.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FromStr for RewardSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "truth" {
            return Ok(Self::Truth);
        }
        let wrong = || {
            "expected truth, a run directory with :mean, :map, :raw-mean, :raw-map, :trex, \
             :ensemble or :dropout, or a directory with :gail"
                .to_owned()
        };
        let (run, name) = text.rsplit_once(':').ok_or_else(wrong)?;
        if name == GAIL && !run.is_empty() {
            return Ok(Self::Gail(PathBuf::from(run)));
        }
        let learned = LEARNED.iter().find(|(known, _)| *known == name);
        let (_, learned) = learned.filter(|_| !run.is_empty()).ok_or_else(wrong)?;
        Ok(Self::Learned(PathBuf::from(run), *learned))
    }
}

impl Learned {
    /// Whether it is one of a posterior, which speaks of sums over whole episodes.
    fn is_of_posterior(self) -> bool {
        match self {
            Self::Mean | Self::Map | Self::RawMean | Self::RawMap => true,
            Self::Trex | Self::Ensemble | Self::Dropout => false,
        }
    }
}

/// A reward and what tells it from others.
pub(crate) struct OpenedReward {
    pub(crate) function: Option<Box<dyn RewardFunction>>,
    pub(crate) identity: Option<String>,
}

impl RewardSource {
    /// How to learn from it, where nothing else was said.
    pub(crate) fn suit(&self, settings: &mut Settings, spec: &Spec) {
        match self {
            Self::Truth => {}
            Self::Gail(_) => settings.for_imitation(spec),
            Self::Learned(_, which) if which.is_of_posterior() => settings.for_returns(spec),
            Self::Learned(..) => settings.for_positive_rewards(spec),
        }
    }

    /// Whether a posterior can judge those who learn from it.
    pub(crate) fn is_of_posterior(&self) -> bool {
        matches!(self, Self::Learned(_, which) if which.is_of_posterior())
    }

    /// The run whose policies the trained one joins, if there is one.
    pub(crate) fn run(&self) -> Option<&Path> {
        match self {
            Self::Learned(run, _) => Some(run),
            Self::Gail(source) if is_run(source) => Some(source),
            Self::Truth | Self::Gail(_) => None,
        }
    }

    /// The reward, ready to score what is seen in an environment. How GAIL imitates is said by
    /// `imitation`, and its discriminator begins with the training's seed.
    pub(crate) fn open(
        &self,
        spec: &Spec,
        imitation: Option<&Imitation>,
        seed: u64,
        device: &Device,
        quiet: bool,
    ) -> Result<OpenedReward> {
        let (run, which) = match (self, imitation) {
            (Self::Learned(run, which), _) => (run, which),
            (Self::Gail(source), Some(imitation)) => {
                let experts = Experts::read(source, spec)?;
                let (gail, identity) = experts.open(imitation, seed, device, quiet)?;
                return Ok(OpenedReward {
                    function: Some(Box::new(gail)),
                    identity: Some(identity),
                });
            }
            _ => {
                return Ok(OpenedReward {
                    function: None,
                    identity: None,
                });
            }
        };
        let files = RunFiles::of(run);
        if let Some(folder) = networks_of(&files, *which) {
            return average(&folder, spec, device);
        }
        let (encoder, identity) = read_encoder(&files.encoder, spec)?;
        let (weights, bias, squash) = match which {
            Learned::Trex | Learned::Ensemble | Learned::Dropout => {
                let (weights, bias) = encoder.reward();
                (weights.to_vec(), bias, Squash::Sigmoid)
            }
            Learned::Mean | Learned::Map => {
                let weights = posterior_weights(&files, *which, &identity)?;
                let phi = encoder.phi(device)?;
                let unit = demonstrated(&files, &phi, &weights, quiet)?;
                let weights: Vec<f64> = weights.iter().map(|weight| weight / unit).collect();
                (weights, 0.0, Squash::FromZero)
            }
            Learned::RawMean | Learned::RawMap => {
                let weights = posterior_weights(&files, *which, &identity)?;
                (weights, 0.0, Squash::Nothing)
            }
        };
        let bytes = weights.iter().chain([&bias]).flat_map(|v| v.to_le_bytes());
        let identity = format!("{identity} {}", checksum(&bytes.collect::<Vec<u8>>()));
        let phi = encoder.phi(device)?;
        Ok(OpenedReward {
            function: Some(Box::new(LearnedReward::new(phi, weights, bias, squash))),
            identity: Some(identity),
        })
    }
}

/// How much the frames of the run's demonstrations usually get, more or less than nothing, each
/// demonstration counting the same, however long. A reward in this unit is squashed, so that no frame
/// that nobody has seen gets many times what the best of the seen ones get; its zero is where the
/// posterior has it, which decides whether a return grows by going on.
fn demonstrated(files: &RunFiles, phi: &Phi, weights: &[f64], quiet: bool) -> Result<f64> {
    let mut rewards = Vec::new();
    for episode in RecordedEpisodes::read(&files.episodes)?.seen(quiet)? {
        let mut each = Vec::with_capacity(episode.len());
        phi.each_frame(&episode, |features| {
            let pairs = features.iter().zip(weights);
            each.push(pairs.map(|(f, w)| f64::from(*f) * w).sum());
        });
        rewards.push(each);
    }
    Ok(root_mean_square(&rewards))
}

/// Over the values of episodes that all count the same; 1 if it is nothing.
fn root_mean_square(episodes: &[Vec<f64>]) -> f64 {
    let some = episodes.iter().filter(|values| !values.is_empty());
    let squares = some.map(|v| v.iter().map(|v| v * v).sum::<f64>() / v.len() as f64);
    let squares: Vec<f64> = squares.collect();
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    if mean > 0.0 { mean.sqrt() } else { 1.0 }
}

/// Where `brex baseline` leaves the networks of a reward, if it is one of those.
fn networks_of(files: &RunFiles, which: Learned) -> Option<PathBuf> {
    let method = match which {
        Learned::Ensemble => "ensemble",
        Learned::Dropout => "dropout",
        _ => return None,
    };
    Some(files.directory.join("baselines").join(method))
}

/// The average reward of all networks in a folder, each squashed as T-REX does.
fn average(folder: &Path, spec: &Spec, device: &Device) -> Result<OpenedReward> {
    let (mut rewards, mut identities) = (Vec::new(), Vec::new());
    loop {
        let path = folder.join(format!("network-{}.safetensors", rewards.len()));
        if !path.exists() {
            break;
        }
        let (network, identity) = read_encoder(&path, spec)?;
        let (weights, bias) = network.reward();
        let (weights, phi) = (weights.to_vec(), network.phi(device)?);
        rewards.push(LearnedReward::new(phi, weights, bias, Squash::Sigmoid));
        identities.push(identity);
    }
    if rewards.is_empty() {
        let problem = "holds no networks; brex baseline trains some";
        return Err(BadInput::new(format!("{}: {problem}", folder.display())).into());
    }
    Ok(OpenedReward {
        function: Some(Box::new(AverageReward::new(rewards))),
        identity: Some(identities.join(" ")),
    })
}

/// The weights of the posterior's mean or maximum, for features as the encoder gives them.
fn posterior_weights(files: &RunFiles, which: Learned, encoder: &str) -> Result<Vec<f64>> {
    let run = read_run_features(&files.features)?;
    check_encoder(&files.features, &run, encoder)?;
    let posterior = read_posterior(&files.posterior)?;
    check_dimensions(&run, &posterior.draws)
        .map_err(|e| BadInput::new(format!("{}: {e}", files.posterior.display())))?;
    let weights = match which {
        Learned::Map | Learned::RawMap => {
            let features = read_features(&files.features)?;
            let preferences = read_preferences(&files.preferences, &features)?.preferences;
            let preferences = Evidence::of(&posterior.attributes).weigh(&preferences);
            let (prior, beta) = prior_of(&posterior)?;
            let problem = Problem::new(features.matrix(), &preferences, prior, beta)?;
            let maximum = maximum_a_posteriori(&problem);
            maximum
                .context("the most probable weights cannot be found")?
                .weights
        }
        _ => posterior.draws.mean(),
    };
    Ok(weights.iter().map(|weight| weight / run.scale).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_demonstration_counts_no_more_than_a_short_one() {
        let found = root_mean_square(&[vec![1.0; 4000], vec![-3.0, 5.0], vec![]]);
        assert!((found - f64::sqrt((1.0 + 17.0) / 2.0)).abs() < 1e-12);
        assert_eq!(root_mean_square(&[vec![0.0; 3]]), 1.0);
        assert_eq!(root_mean_square(&[]), 1.0);
    }

    #[test]
    fn rewards_are_read_as_they_are_written() {
        for text in [
            "truth",
            "run:mean",
            "a:b/c:map",
            "./x:trex",
            "run:raw-mean",
            "run:ensemble",
            "run:dropout",
            "run:gail",
        ] {
            let source: RewardSource = text.parse().unwrap();
            assert_eq!(source.to_string(), text);
        }
        for wrong in ["", "mean", ":mean", ":gail", "run", "run:median", "Truth"] {
            assert!(wrong.parse::<RewardSource>().is_err(), "{wrong}");
        }
    }
}
