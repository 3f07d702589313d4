//! The two files that define a posterior, and the flags that several commands share.

use crate::args::Common;
use crate::exit::BadInput;
use crate::run_files::RunFiles;
use crate::sharpness::Sharpness;
use anyhow::{Error, Result};
use brex_core::{FeatureTable, Matrix, Preferences};
use brex_posterior::{Prior, lowest_ranked};
use brex_store::{PreferenceFile, StoreError, read_features, read_preferences};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The two input files, or the run directory that holds them.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InputFiles {
    /// A run directory with features, as `brex features` leaves it
    #[arg(value_name = "DIR")]
    pub(crate) run: Option<PathBuf>,
    /// Feature sums, one row per trajectory (.npy, .npz, .safetensors, .parquet, .csv)
    #[arg(long, value_name = "FILE", required_unless_present = "run")]
    features: Option<PathBuf>,
    /// Preferences between the rows, by row number or id (.csv, .jsonl)
    #[arg(long, value_name = "FILE", required_unless_present = "run")]
    preferences: Option<PathBuf>,
}

/// What the files hold, checked.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) features: FeatureTable,
    pub(crate) preferences: PreferenceFile,
}

impl InputFiles {
    /// The run directory, if one was named.
    fn run(&self) -> RunFiles {
        RunFiles::of(self.run.as_deref().unwrap_or(Path::new(".")))
    }

    /// Where the features are.
    pub(crate) fn features(&self) -> PathBuf {
        let named = self.features.clone();
        named.unwrap_or_else(|| self.run().features)
    }

    /// Where the preferences are.
    pub(crate) fn preferences(&self) -> PathBuf {
        let named = self.preferences.clone();
        named.unwrap_or_else(|| self.run().preferences)
    }

    /// Reads and checks both files.
    pub(crate) fn read(&self) -> Result<Inputs> {
        let features = read_features(self.features())?;
        let read = read_preferences(self.preferences(), &features);
        let preferences = match &self.run {
            Some(run) => unknown_id(read, |id, _| {
                format!(
                    "there are no features of {id:?} in {}; brex features {} sums those of all recorded episodes",
                    self.features().display(),
                    run.display()
                )
            })?,
            None => read?,
        };
        Ok(Inputs {
            features,
            preferences,
        })
    }
}

/// Preferences that were read. An id that nothing has is said in other words than those of the file alone:
/// `problem` is given the id, and the one that comes nearest.
pub(crate) fn unknown_id(
    read: Result<PreferenceFile, StoreError>,
    problem: impl Fn(&str, Option<&str>) -> String,
) -> Result<PreferenceFile, Error> {
    read.map_err(|error| match &error {
        StoreError::UnknownId {
            path,
            line,
            field,
            id,
            closest,
        } => {
            let (path, problem) = (path.display(), problem(id, closest.as_deref()));
            BadInput::new(format!("{path}: line {line}, {field}: {problem}")).into()
        }
        _ => error.into(),
    })
}

/// What is believed about the weights before any preference, and how sharp preferences are.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ModelFlags {
    /// What is believed about the weights beforehand
    #[arg(long, value_enum, default_value_t = PriorName::Sphere)]
    pub(crate) prior: PriorName,
    /// The standard deviation of every weight under the gaussian prior
    #[arg(long, value_name = "SD", default_value_t = 1.0, value_parser = positive)]
    pub(crate) prior_scale: f64,
    /// nonnegative prior only: the trajectory whose return is not negative, by row number or id
    /// [default: the lowest-ranked]
    #[arg(long, value_name = "ROW|ID")]
    pub(crate) lowest: Option<String>,
    /// The inverse temperature of the preferences: how reliably the better one is preferred; auto
    /// finds the one that foretells those of the best trajectories from those of the others [default: 1]
    #[arg(long, value_name = "B|auto")]
    pub(crate) beta: Option<Beta>,
    /// What counts as a piece of evidence of its own [default: trajectory for a run directory,
    /// comparison for files]
    #[arg(long, value_enum)]
    pub(crate) evidence: Option<Evidence>,
}

/// What counts once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Evidence {
    /// Every comparison, as published: right where each was judged by itself
    Comparison,
    /// Every trajectory: right where all comparisons come from one ranking
    Trajectory,
}

impl Evidence {
    /// What a posterior calls it in its attributes.
    const ATTRIBUTE: &str = "evidence";

    fn name(self) -> &'static str {
        match self {
            Self::Comparison => "comparison",
            Self::Trajectory => "trajectory",
        }
    }

    /// Comparisons as they count.
    pub(crate) fn weigh(self, preferences: &Preferences) -> Preferences {
        match self {
            Self::Comparison => preferences.clone(),
            Self::Trajectory => preferences.weighed_by_trajectory(),
        }
    }

    /// Says so in the attributes of a posterior.
    pub(crate) fn note(self, attributes: &mut Map<String, Value>) {
        attributes.insert(Self::ATTRIBUTE.to_owned(), self.name().into());
    }

    /// As a posterior's attributes have it; as published where they say nothing.
    pub(crate) fn of(attributes: &Map<String, Value>) -> Self {
        match attributes.get(Self::ATTRIBUTE) {
            Some(value) if value == Self::Trajectory.name() => Self::Trajectory,
            _ => Self::Comparison,
        }
    }
}

/// How sharp preferences are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Beta {
    /// As foretells the preferences of the best trajectories from those of the others.
    Auto,
    /// As given.
    Given(f64),
}

impl FromStr for Beta {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => positive(text).map(Self::Given),
        }
    }
}

/// The priors by the names of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PriorName {
    /// Uniform on the unit sphere
    Sphere,
    /// The same, with the return of the lowest-ranked trajectory not negative
    Nonnegative,
    /// Independent normal weights, for embeddings
    Gaussian,
}

impl ModelFlags {
    /// The prior over the weights for these inputs.
    pub(crate) fn prior(&self, inputs: &Inputs) -> Result<Prior> {
        if self.lowest.is_some() && self.prior != PriorName::Nonnegative {
            return Err(BadInput::new("--lowest is a setting of --prior nonnegative only").into());
        }
        Ok(match self.prior {
            PriorName::Sphere => Prior::Sphere,
            PriorName::Gaussian => Prior::Gaussian {
                scale: self.prior_scale,
            },
            PriorName::Nonnegative => {
                let lowest = self.lowest_of(inputs)?;
                Prior::NonNegative { lowest }
            }
        })
    }
}

impl ModelFlags {
    /// What counts as a piece of evidence of its own. A run directory's comparisons come from a ranking
    /// of its demonstrations.
    pub(crate) fn evidence(&self, files: &InputFiles) -> Evidence {
        self.evidence.unwrap_or(match files.run {
            Some(_) => Evidence::Trajectory,
            None => Evidence::Comparison,
        })
    }

    /// How sharp preferences between trajectories are. Where too few of these are compared to tell, 1.
    pub(crate) fn sharpness(
        &self,
        features: &Matrix,
        preferences: &Preferences,
        prior: Prior,
        common: &Common,
    ) -> Result<Sharpness> {
        match self.beta.unwrap_or(Beta::Given(1.0)) {
            Beta::Given(beta) => Ok(Sharpness::Given(beta)),
            Beta::Auto => Sharpness::find(features, preferences, prior, common),
        }
    }

    /// The trajectory whose return is not negative: the one named, else the lowest-ranked.
    fn lowest_of(&self, inputs: &Inputs) -> Result<usize, BadInput> {
        let features = &inputs.features;
        let Some(name) = &self.lowest else {
            return lowest_ranked(&inputs.preferences.preferences).ok_or_else(|| {
                BadInput::new(
                    "the nonnegative prior needs a lowest-ranked trajectory, but the preferences \
                     rank none; name one with --lowest or use --prior sphere",
                )
            });
        };
        let rows = features.matrix().rows();
        let by_id = features
            .ids()
            .and_then(|ids| ids.iter().position(|id| id == name));
        let by_row = || name.parse().ok().filter(|row| *row < rows);
        by_id.or_else(by_row).ok_or_else(|| {
            let ids = if features.ids().is_some() {
                "an id or "
            } else {
                ""
            };
            let last = rows.saturating_sub(1);
            BadInput::new(format!(
                "--lowest {name:?}: no such trajectory; expected {ids}a row number from 0 to {last}"
            ))
        })
    }
}

/// Parses a number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        Ok(_) => Err("expected a number above 0".to_owned()),
        Err(_) => Err("expected a number".to_owned()),
    }
}

/// Parses a probability strictly between 0 and 1.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        Ok(_) => Err("expected a probability above 0 and below 1, such as 0.05".to_owned()),
        Err(_) => Err("expected a number".to_owned()),
    }
}
