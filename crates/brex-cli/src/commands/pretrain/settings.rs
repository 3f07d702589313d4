//! The settings of pre-training as flags.

use crate::exit::BadInput;
use brex_envs::Spec;
use brex_learn::{PretrainConfig, Sampling};

/// Settings that were given; the rest is the environment's default.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Learning (defaults depend on the environment)")]
pub(crate) struct Settings {
    /// Do what the authors' code did, as far as no other flag says otherwise
    #[arg(long)]
    published: bool,
    /// How many updates
    #[arg(long, value_name = "N")]
    pub(crate) updates: Option<u64>,
    /// Which losses teach: all, only the ranking of snippets, or only the self-supervised ones
    #[arg(long, value_enum, default_value_t = Teachers::All)]
    pub(crate) losses: Teachers,
    /// Compared pairs in each update
    #[arg(long, value_name = "N")]
    pairs: Option<usize>,
    /// How many features
    #[arg(long, value_name = "K")]
    features: Option<usize>,
    /// The learning rate
    #[arg(long, value_name = "X")]
    learning_rate: Option<f64>,
    /// The pull of the weights to zero
    #[arg(long, value_name = "X")]
    weight_decay: Option<f64>,
    /// What is compared: snippets of so many frames, as 50-99, or whole demonstrations
    #[arg(long, value_name = "MIN-MAX|whole", value_parser = sampling)]
    snippets: Option<Sampling>,
    /// The share of pairs of snippets that begin at the same step; of the others the better one begins
    /// no earlier
    #[arg(long, value_name = "SHARE")]
    abreast: Option<f64>,
    /// How many frames an update draws again; 0 draws all of them
    #[arg(long, value_name = "N")]
    redrawn: Option<usize>,
    /// Whether features are shifted to a mean of zero over the demonstrations' frames
    #[arg(long, value_name = "true|false")]
    centred: Option<bool>,
    /// The share of the preferences that is kept back to measure what was learned
    #[arg(long, value_name = "SHARE")]
    held_out: Option<f64>,
    /// The weight of the ranking loss
    #[arg(long, value_name = "X")]
    ranking: Option<f64>,
    /// The weight of the reconstruction loss, with its divergence
    #[arg(long, value_name = "X")]
    reconstruction: Option<f64>,
    /// The weight of the loss on the time between frames
    #[arg(long, value_name = "X")]
    temporal: Option<f64>,
    /// The weight of the loss on the action between frames
    #[arg(long, value_name = "X")]
    inverse: Option<f64>,
    /// The weight of the loss on the features five steps on
    #[arg(long, value_name = "X")]
    forward: Option<f64>,
}

/// Which losses teach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Teachers {
    #[default]
    All,
    Ranking,
    SelfSupervised,
}

fn sampling(text: &str) -> Result<Sampling, String> {
    if text == "whole" {
        return Ok(Sampling::Whole);
    }
    let wrong = || "expected two numbers of frames, as 50-99, or whole".to_owned();
    let (shortest, longest) = text.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| text.parse().map_err(|_| wrong());
    Ok(Sampling::Snippets {
        shortest: number(shortest)?,
        longest: number(longest)?,
        abreast: 0.0,
    })
}

impl Settings {
    /// The defaults of an environment with these settings over them.
    pub(crate) fn over(&self, spec: &Spec) -> Result<PretrainConfig, BadInput> {
        let mut config = if self.published {
            PretrainConfig::published(spec)
        } else {
            PretrainConfig::for_spec(spec)
        };
        fn set<T>(place: &mut T, given: Option<T>) {
            if let Some(given) = given {
                *place = given;
            }
        }
        set(&mut config.updates, self.updates);
        set(&mut config.pairs, self.pairs);
        set(&mut config.features, self.features);
        set(&mut config.learning_rate, self.learning_rate);
        set(&mut config.weight_decay, self.weight_decay);
        let usual = match config.sampling {
            Sampling::Snippets { abreast, .. } => abreast,
            Sampling::Whole | Sampling::Thinned { .. } => 0.0,
        };
        set(&mut config.sampling, self.snippets);
        if let Sampling::Snippets { abreast, .. } = &mut config.sampling {
            *abreast = self.abreast.unwrap_or(usual);
        }
        let redrawn = self.redrawn.map(|count| (count > 0).then_some(count));
        set(&mut config.redrawn, redrawn);
        set(&mut config.centred, self.centred);
        set(&mut config.held_out, self.held_out);
        let losses = &mut config.losses;
        set(&mut losses.ranking, self.ranking);
        set(&mut losses.reconstruction, self.reconstruction);
        set(&mut losses.temporal, self.temporal);
        set(&mut losses.inverse, self.inverse);
        set(&mut losses.forward, self.forward);
        *losses = match self.losses {
            Teachers::All => *losses,
            Teachers::Ranking => losses.ranking_only(),
            Teachers::SelfSupervised => losses.self_supervised_only(),
        };
        match config.check() {
            Ok(()) => Ok(config),
            Err(error) => Err(BadInput::new(format!(
                "--{}: {error}",
                error.field.replace('_', "-")
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_are_two_numbers_or_whole() {
        let expected = Sampling::Snippets {
            shortest: 50,
            longest: 99,
            abreast: 0.0,
        };
        assert_eq!(sampling("50-99"), Ok(expected));
        assert_eq!(sampling("whole"), Ok(Sampling::Whole));
        for wrong in ["", "50", "50-", "-9", "a-b", "50-99-1"] {
            assert!(sampling(wrong).is_err(), "{wrong}");
        }
    }
}
