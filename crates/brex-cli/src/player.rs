//! Who plays: a script by name, or a policy from a file.

use crate::device::open;
use crate::exit::BadInput;
use crate::interrupt;
use crate::recorded::RecordedEpisodes;
use anyhow::Result;
use brex_core::Episode;
use brex_envs::{EnvError, Environment, Mixture, Recorder, Script, Spec, game_random};
use brex_learn::{Agent, Device, DeviceName, PolicyFile};
use std::path::{Path, PathBuf};

/// Who plays, as the command line says it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Player {
    Script(Script),
    Mixture(Mixture),
    File(PathBuf),
    /// A policy from a file that chooses a share of the actions; the others are random.
    Noisy(PathBuf, f64),
    /// Somebody whose episodes were recorded before, in a folder.
    Recorded(PathBuf),
}

impl Player {
    /// For clap: a name, or a path to what `brex train` leaves.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(script) = Script::by_name(text) {
            return Ok(Self::Script(script));
        }
        if let Some(mixture) = Mixture::by_name(text) {
            return Ok(Self::Mixture(mixture));
        }
        if let Some(noisy) = Self::noisy(text) {
            return Ok(noisy);
        }
        let path = PathBuf::from(text);
        if path.extension().is_some_and(|end| end == "safetensors") {
            return Ok(Self::File(path));
        }
        if path.is_dir() {
            return Ok(Self::Recorded(path));
        }
        let names = Script::ALL.map(Script::name).join(", ");
        Err(format!(
            "expected {names}, a mixture as good:0.5+random, a .safetensors file of brex train, alone or \
             as FILE.safetensors:0.5+random, or a folder of recorded episodes"
        ))
    }

    /// A policy and its share of the actions, as `D.safetensors:0.5+random`.
    fn noisy(text: &str) -> Option<Self> {
        let (path, share) = text.strip_suffix("+random")?.rsplit_once(':')?;
        let share: f64 = share.parse().ok()?;
        let known = path.ends_with(".safetensors") && share > 0.0 && share < 1.0;
        known.then(|| Self::Noisy(PathBuf::from(path), share))
    }

    /// What tables call it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Script(script) => script.name().to_owned(),
            Self::Mixture(mixture) => mixture.name(),
            Self::File(path) | Self::Recorded(path) => path.display().to_string(),
            Self::Noisy(path, share) => format!("{}:{share}+random", path.display()),
        }
    }
}

/// Who plays, ready to.
pub(crate) enum Ready {
    Script(Mixture),
    /// An agent, and the share of its actions that are random instead.
    Agent(Box<Agent>, f64),
    Recorded(Vec<Episode>),
}

impl Player {
    /// Refuses a script that an environment does not have, or a policy of another one.
    pub(crate) fn ready(
        &self,
        env: &dyn Environment,
        device: DeviceName,
    ) -> Result<Ready, BadInput> {
        let mixture = match self {
            Self::Script(script) => Mixture::pure(*script),
            Self::Mixture(mixture) => mixture.clone(),
            Self::File(path) => {
                let agent = read_agent(path, env, &open(device)?)?;
                return Ok(Ready::Agent(Box::new(agent), 0.0));
            }
            Self::Noisy(path, share) => {
                let agent = read_agent(path, env, &open(device)?)?;
                return Ok(Ready::Agent(Box::new(agent), 1.0 - share));
            }
            Self::Recorded(folder) => {
                let bad = |error: anyhow::Error| BadInput::new(format!("{error:#}"));
                let recorded = RecordedEpisodes::read(folder).map_err(bad)?;
                recorded.check_environment(env.spec())?;
                return Ok(Ready::Recorded(recorded.episodes));
            }
        };
        let mut parts = mixture.parts.iter().map(|(script, _)| *script);
        let Some(script) = parts.find(|script| !env.scripts().contains(script)) else {
            return Ok(Ready::Script(mixture));
        };
        let known: Vec<&str> = env.scripts().iter().map(|script| script.name()).collect();
        Err(BadInput::new(format!(
            "{} has no policy {:?}; there are {}, and what brex train leaves",
            env.spec().name,
            script.name(),
            known.join(", ")
        )))
    }
}

/// An episode that a script plays; `seeds` are those of the world and of the player. None if
/// somebody asked to stop.
pub(crate) fn script_episode(
    env: &mut dyn Environment,
    mixture: &Mixture,
    seeds: (u64, u64),
) -> Result<Option<Episode>, EnvError> {
    let mut random = game_random(seeds.1);
    let mut recorder = Recorder::begin(env, seeds.0)?;
    while !interrupt::requested() {
        // A script alone needs no number to be chosen by.
        let action = match mixture.parts[..] {
            [(script, _)] => env.scripted(script, &mut random),
            _ => mixture.act(env, &mut random),
        };
        let action = action.unwrap_or(0);
        if let Some(episode) = recorder.step(env, action)? {
            return Ok(Some(episode));
        }
    }
    Ok(None)
}

/// Reads a policy that plays in an environment.
pub(crate) fn read_agent(
    path: &Path,
    env: &dyn Environment,
    device: &Device,
) -> Result<Agent, BadInput> {
    let agent = read_policy(path, env.spec())?.agent(device);
    agent.map_err(|error| BadInput::new(format!("{}: {error}", path.display())))
}

/// A policy from a file, if it was trained in the environment.
pub(crate) fn read_policy(path: &Path, spec: &Spec) -> Result<PolicyFile, BadInput> {
    let bad = |problem: String| BadInput::new(format!("{}: {problem}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| bad(format!("cannot read: {error}")))?;
    let file = PolicyFile::from_bytes(&bytes).map_err(|error| bad(error.to_string()))?;
    if file.environment != spec.name || file.version != spec.version {
        return Err(bad(format!(
            "the policy was trained in {} version {}; this is {} version {}",
            file.environment, file.version, spec.name, spec.version
        )));
    }
    let expected = [spec.stack, spec.height, spec.width];
    if file.shape.observation != expected || file.shape.actions != spec.actions.len() {
        return Err(bad(format!(
            "its network sees {:?} and has {} actions; expected {expected:?} and {}",
            file.shape.observation,
            file.shape.actions,
            spec.actions.len()
        )));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_choose_a_share_of_the_actions() {
        let noisy = Player::parse("runs/a:b/D.safetensors:0.75+random").unwrap();
        let path = PathBuf::from("runs/a:b/D.safetensors");
        assert_eq!(noisy, Player::Noisy(path, 0.75));
        assert_eq!(noisy.name(), "runs/a:b/D.safetensors:0.75+random");
        for wrong in [
            "D.safetensors:1+random",
            "D.safetensors:x+random",
            "D:0.5+random",
        ] {
            assert!(Player::parse(wrong).is_err(), "{wrong}");
        }
    }
}
