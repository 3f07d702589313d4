//! How sharp preferences are taken to be: as told, or as the best trajectories tell, foretold from the others.

use crate::args::Common;
use crate::interrupt;
use crate::numbers;
use crate::progress::Progress;
use anyhow::Result;
use brex_core::{Matrix, Preferences};
use brex_posterior::{Prior, SharpnessError, find_sharpness};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;

/// What a posterior says in its attributes of where its sharpness is from.
const ATTRIBUTE: &str = "beta_from";
const GIVEN: &str = "given";
const KEPT_BACK: &str = "the best trajectories, kept back";

/// The inverse temperature of preferences, and where it is from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sharpness {
    /// It was given.
    Given(f64),
    /// It foretells preferences of trajectories that were kept back.
    Found(brex_posterior::Sharpness),
    /// It should have been found, but too few trajectories are compared; it is 1.
    TooFew(usize),
}

/// One value as files have it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Tried {
    beta: f64,
    loss: f64,
    excess: f64,
    excess_error: f64,
}

impl Sharpness {
    /// Finds it.
    pub(crate) fn find(
        features: &Matrix,
        preferences: &Preferences,
        prior: Prior,
        common: &Common,
    ) -> Result<Self> {
        interrupt::listen();
        let progress = Progress::start("sharpness", common.quiet);
        let watch = |_: &brex_posterior::Progress| match interrupt::requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let found = find_sharpness(features, preferences, prior, common.seed, &watch);
        progress.finish();
        match found {
            Ok(found) => Ok(Self::Found(found)),
            Err(SharpnessError::TooFew { trajectories }) => Ok(Self::TooFew(trajectories)),
            Err(error) => Err(error.into()),
        }
    }

    /// The inverse temperature.
    pub(crate) fn beta(&self) -> f64 {
        match self {
            Self::Given(beta) => *beta,
            Self::Found(found) => found.beta,
            Self::TooFew(_) => 1.0,
        }
    }

    /// What tells draws with this sharpness from others.
    pub(crate) fn note(&self, map: &mut Map<String, Value>) {
        map.insert("beta".to_owned(), json!(self.beta()));
        let from = match self {
            Self::Given(_) => GIVEN,
            Self::Found(_) | Self::TooFew(_) => KEPT_BACK,
        };
        map.insert(ATTRIBUTE.to_owned(), json!(from));
    }

    /// Whether the sharpness of draws with these attributes was not given.
    pub(crate) fn was_found(attributes: &Map<String, Value>) -> bool {
        attributes
            .get(ATTRIBUTE)
            .is_some_and(|from| from == KEPT_BACK)
    }

    /// As the command line takes it.
    pub(crate) fn setting(&self) -> toml::Value {
        match self {
            Self::Given(beta) => (*beta).into(),
            Self::Found(_) | Self::TooFew(_) => "auto".into(),
        }
    }

    /// All that were tried.
    pub(crate) fn tried(&self) -> Vec<Tried> {
        let Self::Found(found) = self else {
            return Vec::new();
        };
        let each = found.tried.iter().map(|tried| Tried {
            beta: tried.beta,
            loss: tried.loss,
            excess: tried.excess[0],
            excess_error: tried.excess[1],
        });
        each.collect()
    }

    /// For people; nothing if it was given.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Given(_) => None,
            Self::TooFew(trajectories) => Some(format!(
                "beta 1: {trajectories} compared trajectories are too few to find a better one"
            )),
            Self::Found(found) => {
                let least = found.tried.iter().map(|tried| tried.loss);
                let least = least.fold(f64::INFINITY, f64::min);
                Some(format!(
                    "beta {}: foretells comparisons of the best {} of {} trajectories from those of \
                     the others best (loss {}; a coin's: 0.693)",
                    found.beta,
                    found.kept_back,
                    found.trajectories,
                    numbers::fixed(least, 3),
                ))
            }
        }
    }
}
