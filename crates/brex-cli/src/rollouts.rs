//! Rollouts of policies in a run directory: played once, kept, and found again.

use crate::checksum::checksum;
use crate::exit::BadInput;
use crate::interrupt;
use crate::player::{Player, Ready, script_episode};
use crate::progress::Progress;
use crate::recorded::RecordedEpisodes;
use anyhow::{Context, Result, bail};
use brex_core::{Episode, stream};
use brex_envs::{EnvError, Environment, Mixture, TimeLimit, make};
use brex_learn::{Agent, Choice, DeviceName, play_noisy_episodes};
use brex_store::{AtomicDir, read_episode, write_atomic, write_episode};
use rand::Rng;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Who played, kept beside the episodes.
const WHO: &str = "policy.json";

/// What to play.
pub(crate) struct Rollouts<'a> {
    pub(crate) environment: &'a str,
    pub(crate) player: &'a Player,
    pub(crate) episodes: u32,
    /// Steps after which episodes are cut off, if not where the game does so.
    pub(crate) max_steps: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) device: DeviceName,
    pub(crate) quiet: bool,
}

impl Rollouts<'_> {
    /// Refuses an environment or a player that there is not.
    pub(crate) fn check(&self) -> Result<(), BadInput> {
        self.ready().map(drop)
    }

    fn ready(&self) -> Result<Ready, BadInput> {
        let env = make(self.environment).map_err(|error| BadInput::new(error.to_string()))?;
        self.player.ready(env.as_ref(), self.device)
    }

    /// The environment, with the limit of steps.
    fn make(&self) -> Result<Box<dyn Environment>, EnvError> {
        let env = make(self.environment)?;
        Ok(match self.max_steps {
            Some(steps) => TimeLimit::boxed(env, steps),
            None => env,
        })
    }

    /// Plays the episodes.
    pub(crate) fn play(&self) -> Result<Vec<Episode>> {
        let player = self.ready()?;
        let progress = Progress::start("rollout", self.quiet);
        interrupt::listen();
        let played = match player {
            Ready::Script(mixture) => self.play_script(&mixture, &progress),
            Ready::Agent(agent, noise) => self.play_agent(&agent, noise, &progress),
            Ready::Recorded(mut episodes) => {
                episodes.truncate(self.episodes as usize);
                Ok(Some(episodes))
            }
        };
        progress.finish();
        match played? {
            Some(episodes) => Ok(episodes),
            None => bail!("stopped; nothing is kept"),
        }
    }

    fn play_agent(
        &self,
        agent: &Agent,
        noise: f64,
        progress: &Progress,
    ) -> Result<Option<Vec<Episode>>> {
        let total = self.episodes as usize;
        let goes_on = |done: usize| {
            progress.update(done as u64, Some(total as u64), "episodes");
            !interrupt::requested()
        };
        let make = || self.make();
        let how = (noise, Choice::Drawn);
        Ok(play_noisy_episodes(
            agent, how, make, total, self.seed, goes_on,
        )?)
    }

    /// All episodes of a script or a mixture, in order; each has a seed of its own.
    fn play_script(&self, mixture: &Mixture, progress: &Progress) -> Result<Option<Vec<Episode>>> {
        let done = AtomicU64::new(0);
        let total = u64::from(self.episodes);
        let played = (0..total).into_par_iter().map_init(
            || None,
            |spare, index| {
                let episode = self.play_one(mixture, index, spare)?;
                if episode.is_some() {
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    progress.update(done, Some(total), "episodes");
                }
                Ok(episode)
            },
        );
        let episodes: Vec<Option<Episode>> = played.collect::<Result<_, EnvError>>()?;
        Ok(episodes.into_iter().collect())
    }

    /// `spare` is an environment that is used again: an Atari game has a process to start.
    fn play_one(
        &self,
        mixture: &Mixture,
        index: u64,
        spare: &mut Option<Box<dyn Environment>>,
    ) -> Result<Option<Episode>, EnvError> {
        let mut seeds = stream(self.seed, "rollout", index);
        let (world, player) = (seeds.next_u64(), seeds.next_u64());
        let env = match spare {
            Some(env) => env,
            None => spare.insert(self.make()?),
        };
        script_episode(env.as_mut(), mixture, (world, player))
    }

    /// What tells these rollouts from others.
    pub(crate) fn who(&self) -> Result<Value> {
        let player = match self.player {
            Player::Script(_) | Player::Mixture(_) => json!({ "script": self.player.name() }),
            Player::File(path) => {
                let bytes = fs::read(path).with_context(|| format!("{}", path.display()))?;
                json!({ "file": checksum(&bytes) })
            }
            Player::Noisy(path, share) => {
                let bytes = fs::read(path).with_context(|| format!("{}", path.display()))?;
                json!({ "file": checksum(&bytes), "share": share })
            }
            Player::Recorded(folder) => {
                let recorded = RecordedEpisodes::read(folder)?;
                json!({ "recorded": recorded.identity() })
            }
        };
        let mut who = json!({
            "environment": self.environment,
            "player": player,
            "episodes": self.episodes,
            "seed": self.seed,
        });
        if let Some(steps) = self.max_steps {
            who["max_steps"] = steps.into();
        }
        Ok(who)
    }

    /// The episodes in a folder if they are these, else they are played and kept there.
    pub(crate) fn kept(&self, folder: &Path) -> Result<Vec<Episode>> {
        let who = self.who()?;
        if let Some(episodes) = self.found(folder, &who) {
            return Ok(episodes);
        }
        let episodes = self.play()?;
        let out = AtomicDir::create(folder, true)?;
        for (index, episode) in episodes.iter().enumerate() {
            write_episode(out.path().join(file_name(index)), episode, false)?;
        }
        let text = serde_json::to_string_pretty(&who)? + "\n";
        let path = out.path().join(WHO);
        write_atomic(path, false, |writer| writer.write_all(text.as_bytes()))?;
        out.commit()?;
        Ok(episodes)
    }

    fn found(&self, folder: &Path, who: &Value) -> Option<Vec<Episode>> {
        let text = fs::read_to_string(folder.join(WHO)).ok()?;
        let there: Value = serde_json::from_str(&text).ok()?;
        let read = |index: usize| read_episode(folder.join(file_name(index))).ok();
        let all = || (0..self.episodes as usize).map(read).collect();
        (there == *who).then(all)?
    }
}

/// The name of an episode's file.
pub(crate) fn file_name(index: usize) -> String {
    format!("{index:06}.episode")
}
