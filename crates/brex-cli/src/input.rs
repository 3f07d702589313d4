//! The two files that define a posterior, and the flags that several commands share.

use crate::exit::BadInput;
use anyhow::Result;
use brex_core::FeatureTable;
use brex_posterior::{Prior, lowest_ranked};
use brex_store::{PreferenceFile, read_features, read_preferences};
use std::path::PathBuf;

/// The two input files.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InputFiles {
    /// Feature sums, one row per trajectory (.npy, .npz, .safetensors, .parquet, .csv)
    #[arg(long, value_name = "FILE")]
    pub(crate) features: PathBuf,
    /// Preferences between the rows, by row number or id (.csv, .jsonl)
    #[arg(long, value_name = "FILE")]
    pub(crate) preferences: PathBuf,
}

/// What the files hold, checked.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) features: FeatureTable,
    pub(crate) preferences: PreferenceFile,
}

impl InputFiles {
    /// Reads and checks both files.
    pub(crate) fn read(&self) -> Result<Inputs> {
        let features = read_features(&self.features)?;
        let preferences = read_preferences(&self.preferences, &features)?;
        Ok(Inputs {
            features,
            preferences,
        })
    }
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
    /// The inverse temperature of the preferences: how reliably the better one is preferred
    #[arg(long, value_name = "B", default_value_t = 1.0, value_parser = positive)]
    pub(crate) beta: f64,
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
        Ok(match self.prior {
            PriorName::Sphere => Prior::Sphere,
            PriorName::Gaussian => Prior::Gaussian {
                scale: self.prior_scale,
            },
            PriorName::Nonnegative => {
                let preferences = &inputs.preferences.preferences;
                let lowest = lowest_ranked(preferences).ok_or_else(|| {
                    BadInput::new(
                        "the nonnegative prior needs a lowest-ranked trajectory, \
                         but the preferences rank none; use --prior sphere",
                    )
                })?;
                Prior::NonNegative { lowest }
            }
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
