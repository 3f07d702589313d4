//! `--reward DIR:gail`: whom to imitate, and how.

use crate::exit::BadInput;
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use anyhow::Result;
use brex_envs::Spec;
use brex_learn::{Device, Gail, GailConfig, GailReward};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Demonstrations of a run that are imitated, the best-scoring ones: they range from clumsy to fair.
const EXPERTS_OF_A_RUN: usize = 3;

/// Settings of GAIL that were given; the rest is the environment's default.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(
    next_help_heading = "Imitating, with --reward DIR:gail (defaults depend on the environment)"
)]
pub(crate) struct GailSettings {
    /// Imitate so many of the best-scoring episodes [default: 3 of a run directory, all of a folder]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    experts: Option<u16>,
    /// What is paid for a step that is an expert's with probability D: survive is -log(1 - D), both
    /// log D - log(1 - D), finish log D
    #[arg(long, value_name = "survive|both|finish", value_parser = gail_reward)]
    gail_reward: Option<GailReward>,
    /// The learning rate of the discriminator
    #[arg(long, value_name = "X")]
    discriminator_rate: Option<f64>,
    /// Into how many parts an update's steps are divided for it; it learns once from each
    #[arg(long, value_name = "N")]
    discriminator_parts: Option<usize>,
    /// The weight of its entropy
    #[arg(long, value_name = "X")]
    discriminator_entropy: Option<f64>,
}

fn gail_reward(text: &str) -> Result<GailReward, String> {
    let known = GailReward::ALL.into_iter().find(|r| r.name() == text);
    known.ok_or_else(|| "expected survive, both or finish".to_owned())
}

/// How a training imitates, with everything settled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Imitation {
    /// How many episodes.
    experts: usize,
    config: GailConfig,
}

impl GailSettings {
    /// The first setting that was given, by its flag.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("--experts", self.experts.is_some()),
            ("--gail-reward", self.gail_reward.is_some()),
            ("--discriminator-rate", self.discriminator_rate.is_some()),
            ("--discriminator-parts", self.discriminator_parts.is_some()),
            (
                "--discriminator-entropy",
                self.discriminator_entropy.is_some(),
            ),
        ];
        given.iter().find(|(_, is)| *is).map(|(flag, _)| *flag)
    }

    /// Refuses settings that mean nothing for other rewards.
    pub(crate) fn refuse(&self) -> Result<(), BadInput> {
        match self.given() {
            None => Ok(()),
            Some(flag) => Err(BadInput::new(format!(
                "{flag} is a setting of --reward DIR:gail only"
            ))),
        }
    }

    /// A way of imitating with these settings over it.
    fn over(&self, before: Imitation) -> Imitation {
        let config = before.config;
        Imitation {
            experts: self.experts.map_or(before.experts, usize::from),
            config: GailConfig {
                reward: self.gail_reward.unwrap_or(config.reward),
                learning_rate: self.discriminator_rate.unwrap_or(config.learning_rate),
                parts: self.discriminator_parts.unwrap_or(config.parts),
                entropy: self.discriminator_entropy.unwrap_or(config.entropy),
            },
        }
    }

    /// Refuses to go on in another way than a training was begun.
    pub(crate) fn check_resumed(&self, then: Imitation) -> Result<Imitation, BadInput> {
        match self.given() {
            Some(flag) if self.over(then) != then => Err(BadInput::new(format!(
                "{flag}: the training was begun in another way; leave the flag out, or choose \
                 another --out"
            ))),
            _ => Ok(then),
        }
    }
}

/// Whether a directory is a run, and no mere folder of episodes.
pub(crate) fn is_run(source: &Path) -> bool {
    RunFiles::of(source).episodes.is_dir()
}

/// Episodes of experts.
pub(crate) struct Experts {
    recorded: RecordedEpisodes,
}

impl Experts {
    /// All episodes of a source, if they were recorded in the environment.
    pub(crate) fn read(source: &Path, spec: &Spec) -> Result<Self> {
        let recorded = RecordedEpisodes::of_source(source)?;
        recorded.check_environment(spec)?;
        Ok(Self { recorded })
    }

    /// How to imitate them.
    pub(crate) fn imitation(
        &self,
        source: &Path,
        settings: &GailSettings,
        spec: &Spec,
    ) -> Result<Imitation, BadInput> {
        let all = self.recorded.episodes.len();
        let usual = if is_run(source) {
            EXPERTS_OF_A_RUN
        } else {
            all
        };
        let imitation = settings.over(Imitation {
            experts: usual.min(all),
            config: GailConfig::for_spec(spec),
        });
        if imitation.experts > all {
            let (wanted, shown) = (imitation.experts, source.display());
            return Err(BadInput::new(format!(
                "--experts {wanted}: {shown} holds {all} episodes"
            )));
        }
        match imitation.config.check() {
            Ok(()) => Ok(imitation),
            Err(error) => {
                let flag = error.field.replace('_', "-");
                Err(BadInput::new(format!("--{flag}: {error}")))
            }
        }
    }

    /// The reward, and what tells it from others.
    pub(crate) fn open(
        self,
        imitation: &Imitation,
        seed: u64,
        device: &Device,
        quiet: bool,
    ) -> Result<(Gail, String)> {
        let best = self.recorded.best_scoring(imitation.experts);
        let identity = best.identity();
        let steps = best.demonstrated(true, quiet)?;
        Ok((Gail::new(imitation.config, seed, steps, device)?, identity))
    }
}
