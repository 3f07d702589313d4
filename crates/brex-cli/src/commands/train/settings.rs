//! The settings of PPO as flags.

use crate::config::MADE_BY;
use crate::exit::BadInput;
use anyhow::{Context, Result};
use brex_envs::Spec;
use brex_learn::{PpoConfig, RewardScale};
use toml::{Table, Value};

/// What an end costs those who learn from a reward that is always positive, in pocket games.
const POSITIVE_END_COST: f64 = 0.2;
/// What a reward is worth a step later to those who are to gather a return: episodes take hundreds of
/// steps and more, and sums over them are what a posterior speaks of.
const RETURN_DISCOUNT: f64 = 0.997;

/// The learning rate of agents of pocket games that can play when they begin.
const PLAYERS_LEARNING_RATE: f64 = 5e-4;
/// Updates in which such agents only learn what states are worth.
const PLAYERS_VALUES_FIRST: u64 = 20;

/// Settings that were given; the rest is the environment's default.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Learning (defaults depend on the environment)")]
pub(crate) struct Settings {
    /// How many steps to learn from, over all environments together
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// Environments played side by side
    #[arg(long, value_name = "N")]
    environments: Option<usize>,
    /// Steps in each environment between updates
    #[arg(long, value_name = "N")]
    horizon: Option<usize>,
    /// How often an update goes through what was played
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Into how many parts it is divided each time
    #[arg(long, value_name = "N")]
    minibatches: Option<usize>,
    /// The learning rate at the start; it falls to zero
    #[arg(long, value_name = "X")]
    learning_rate: Option<f64>,
    /// How far the probability of an action may move at the start
    #[arg(long, value_name = "X")]
    clip: Option<f64>,
    /// Whether that falls to zero with the learning rate
    #[arg(long, value_name = "true|false")]
    clip_falls: Option<bool>,
    /// What a reward is worth a step later
    #[arg(long, value_name = "X")]
    discount: Option<f64>,
    /// How far advantages look ahead (lambda of GAE)
    #[arg(long, value_name = "X")]
    trace: Option<f64>,
    /// The weight of the entropy
    #[arg(long, value_name = "X")]
    entropy: Option<f64>,
    /// The weight of the error of the values
    #[arg(long, value_name = "X")]
    value: Option<f64>,
    /// Whether values may move no further than the clipping range in an update
    #[arg(long, value_name = "true|false")]
    clip_values: Option<bool>,
    /// The greatest norm of the gradient
    #[arg(long, value_name = "X")]
    max_gradient_norm: Option<f64>,
    /// Whether the loss of a life counts as an end when looking ahead
    #[arg(long, value_name = "true|false")]
    life_loss_ends: Option<bool>,
    /// Whether the end of an episode does; if not, the next one counts as its continuation
    #[arg(long, value_name = "true|false")]
    episode_ends: Option<bool>,
    /// The share of what would come after it that an end costs, if it counts
    #[arg(long, value_name = "X")]
    end_cost: Option<f64>,
    /// Whether play is begun for the agent where the game waits for it (a ball on the paddle)
    #[arg(long, value_name = "true|false")]
    serve: Option<bool>,
    /// Learn only the values in so many updates at the start, for an agent that begins with --start
    #[arg(long, value_name = "N")]
    values_first: Option<u64>,
    /// What is done to rewards: nothing, only their sign, or division by the deviation of returns
    #[arg(long, value_name = "raw|sign|running", value_parser = reward_scale)]
    reward_scale: Option<RewardScale>,
}

fn reward_scale(text: &str) -> Result<RewardScale, String> {
    let quoted = serde_json::Value::String(text.to_owned());
    serde_json::from_value(quoted).map_err(|_| "expected raw, sign or running".to_owned())
}

/// Does something for each setting that was given: its name, its place, its value.
macro_rules! each_given {
    ($settings:expr, $config:expr, |$name:ident, $place:ident, $value:ident| $body:expr) => {
        each_given!(@ $settings, $config, $name, $place, $value, $body;
            steps, environments, horizon, epochs, minibatches, learning_rate, clip, clip_falls,
            discount,
            trace, entropy, value, clip_values, max_gradient_norm, life_loss_ends, episode_ends,
            end_cost, serve, values_first, reward_scale)
    };
    (@ $settings:expr, $config:expr, $name:ident, $place:ident, $given:ident, $body:expr;
        $($field:ident),*) => {
        $(if let Some($given) = $settings.$field {
            let $name = stringify!($field);
            let $place = &mut $config.$field;
            $body
        })*
    };
}

impl Settings {
    /// Whether play is begun, if it was told.
    pub(crate) fn serve(&self) -> Option<bool> {
        self.serve
    }

    /// For rewards of a posterior over returns. The agent is to gather what the posterior speaks of, the
    /// sum over a whole episode: a lost life is no end, the end of the game is one, and what comes late
    /// counts nearly as much as what comes soon.
    pub(crate) fn for_returns(&mut self, spec: &Spec) {
        self.for_what_is_seen(spec);
        self.life_loss_ends.get_or_insert(false);
        self.discount.get_or_insert(RETURN_DISCOUNT);
    }

    /// For rewards that are positive everywhere. They say nothing about what a step is worth as such,
    /// so that in pocket games an end costs a part of the future only. If it cost all, hiding would beat
    /// every risk; if nothing, a lost ball were no loss.
    pub(crate) fn for_positive_rewards(&mut self, spec: &Spec) {
        self.for_what_is_seen(spec);
        if !spec.is_atari() {
            self.end_cost.get_or_insert(POSITIVE_END_COST);
        }
    }

    /// For rewards of what is seen: nobody may wait for ever where such a reward is highest.
    fn for_what_is_seen(&mut self, spec: &Spec) {
        self.for_other_rewards(spec);
        self.serve.get_or_insert(true);
    }

    /// For being taken for somebody else. What that pays for every step alike says nothing: whether an
    /// agent should live long must not depend on it, so in pocket games ends do not count.
    pub(crate) fn for_imitation(&mut self, spec: &Spec) {
        self.for_other_rewards(spec);
        if !spec.is_atari() {
            self.life_loss_ends.get_or_insert(false);
            self.episode_ends.get_or_insert(false);
        }
    }

    /// For agents that can play when they begin: they would unlearn it by great steps, and by advantages
    /// over values that mean nothing yet.
    pub(crate) fn for_players(&mut self, spec: &Spec) {
        if !spec.is_atari() {
            self.learning_rate.get_or_insert(PLAYERS_LEARNING_RATE);
        }
        self.values_first.get_or_insert(PLAYERS_VALUES_FIRST);
    }

    /// The size of rewards that are not the game's says something: Atari's default would keep only
    /// their sign.
    fn for_other_rewards(&mut self, spec: &Spec) {
        if spec.is_atari() {
            self.reward_scale.get_or_insert(RewardScale::Raw);
        }
    }

    /// The defaults of an environment with these settings over them.
    pub(crate) fn over(&self, spec: &Spec) -> Result<PpoConfig, BadInput> {
        let mut config = PpoConfig::for_spec(spec);
        each_given!(self, config, |_name, place, value| *place = value);
        match config.check() {
            Ok(()) => Ok(config),
            Err(error) => Err(BadInput::new(format!(
                "--{}: {error}",
                error.field.replace('_', "-")
            ))),
        }
    }

    /// A setting that was given and is not that of a training: its name, there and here.
    pub(crate) fn difference(
        &self,
        training: &PpoConfig,
    ) -> Option<(&'static str, String, String)> {
        let mut training = training.clone();
        each_given!(self, training, |name, place, value| {
            if *place != value {
                return Some((name, format!("{place:?}"), format!("{value:?}")));
            }
        });
        None
    }
}

/// The resolved settings as a file that `--config` takes, with flags that are none of PPO's.
pub(crate) fn run_file(
    command: &str,
    environment: &str,
    seed: u64,
    config: &PpoConfig,
    others: &[(&str, String)],
) -> Result<String> {
    let settings = Table::try_from(config).context("cannot write the settings as TOML")?;
    let settings = settings.into_iter();
    let mut flags: Table = settings
        .map(|(name, value)| {
            // A switch of two values is text on the command line.
            let value = match value {
                Value::Boolean(on) => Value::String(on.to_string()),
                other => other,
            };
            (name.replace('_', "-"), value)
        })
        .collect();
    flags.insert("seed".to_owned(), Value::String(seed.to_string()));
    let others = others.iter().cloned();
    flags.extend(others.map(|(name, value)| (name.to_owned(), Value::String(value))));
    let made_by = Table::from_iter([
        ("brex".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ("environment".to_owned(), environment.into()),
    ]);
    let file = Table::from_iter([
        (command.to_owned(), Value::Table(flags)),
        (MADE_BY.to_owned(), Value::Table(made_by)),
    ]);
    let text = toml::to_string(&file).context("cannot write the settings as TOML")?;
    Ok(format!(
        "# To do it again: brex {command} {environment} --config run.toml --out DIR\n\n{text}"
    ))
}
