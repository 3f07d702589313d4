//! What an agent begins as: somebody who knows nothing, a policy that exists, or a clone of the best
//! demonstrations.
//!
//! A learned reward is right where demonstrations have been. An agent that knows nothing first has to find
//! the way there, through what nobody has ranked, and gets lost; one that begins by doing what the best
//! demonstrations did is there already.

use super::reward::RewardSource;
use crate::checksum::checksum;
use crate::commands::cloning::cloned;
use crate::exit::BadInput;
use crate::interrupt;
use crate::player::read_policy;
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use anyhow::{Context, Result, bail};
use brex_envs::Spec;
use brex_learn::{CloneConfig, Device, PolicyFile};
use brex_store::write_atomic;
use std::convert::Infallible;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Of how many demonstrations one is cloned, the best.
const ONE_OF: usize = 5;
/// The fewest that are, if there are as many.
const AT_LEAST: usize = 10;
/// Where a run keeps its clones.
const CLONES: &str = "clones";

/// What to begin as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// Somebody who has learned nothing.
    Nothing,
    /// A clone of the best demonstrations of the run whose reward is learned from.
    Clone,
    /// A policy file.
    Policy(PathBuf),
}

impl FromStr for Start {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "nothing" => Self::Nothing,
            "clone" => Self::Clone,
            path => Self::Policy(PathBuf::from(path)),
        })
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Clone => f.write_str("clone"),
            Self::Policy(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Start {
    /// What agents begin as if nobody says: those of learned rewards in pocket games as a clone, all
    /// others as nobody, as published.
    pub(crate) fn usual(source: &RewardSource, spec: &Spec) -> Self {
        match source {
            RewardSource::Learned(..) if !spec.is_atari() => Self::Clone,
            _ => Self::Nothing,
        }
    }

    /// The policy to begin as, if it is one.
    pub(crate) fn policy(
        &self,
        source: &RewardSource,
        spec: &Spec,
        seed: u64,
        device: &Device,
        quiet: bool,
    ) -> Result<Option<PolicyFile>> {
        match (self, source) {
            (Self::Nothing, _) => Ok(None),
            (Self::Policy(path), _) => Ok(Some(read_policy(path, spec)?)),
            (Self::Clone, RewardSource::Learned(run, _)) => {
                clone_of(run, spec, seed, device, quiet).map(Some)
            }
            (Self::Clone, _) => {
                let problem =
                    "--start clone: of a run's demonstrations, with --reward DIR:WHICH only";
                Err(BadInput::new(problem.to_owned()).into())
            }
        }
    }
}

/// A clone of the best of a run's demonstrations, by its preferences. It is kept in the run: agents of
/// several rewards begin as the same one.
fn clone_of(
    run: &Path,
    spec: &Spec,
    seed: u64,
    device: &Device,
    quiet: bool,
) -> Result<PolicyFile> {
    let files = RunFiles::of(run);
    let recorded = RecordedEpisodes::read(&files.episodes)?;
    recorded.check_environment(spec)?;
    let count = recorded.episodes.len().div_ceil(ONE_OF).max(AT_LEAST);
    let best = recorded.best_ranked(&files.preferences, count)?;
    let version = env!("CARGO_PKG_VERSION");
    let name = checksum(format!("{version} {seed} {}", best.identity()).as_bytes());
    let kept = run.join(CLONES).join(format!("{name}.safetensors"));
    if let Ok(clone) = read_policy(&kept, spec) {
        return Ok(clone);
    }
    let shown = files.episodes.display().to_string();
    interrupt::listen();
    let config = CloneConfig::for_spec(spec);
    let Some((cloner, _)) = cloned(&best, &shown, config, seed, device, quiet)? else {
        bail!("stopped before the training began");
    };
    let clone = cloner.policy();
    let (folder, bytes) = (run.join(CLONES), clone.to_bytes()?);
    fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    write_atomic(kept, true, |writer| writer.write_all(&bytes))?;
    Ok(clone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_envs::make;

    #[test]
    fn agents_of_learned_rewards_begin_as_a_clone_in_pocket_games() {
        let spec = make("pocket:breakout").unwrap().spec().clone();
        let learned: RewardSource = "run:mean".parse().unwrap();
        let imitating: RewardSource = "run:gail".parse().unwrap();
        assert_eq!(Start::usual(&learned, &spec), Start::Clone);
        assert_eq!(Start::usual(&imitating, &spec), Start::Nothing);
        assert_eq!(Start::usual(&RewardSource::Truth, &spec), Start::Nothing);
        let words = ["nothing", "clone", "a.safetensors"];
        let said = words.map(|text| text.parse::<Start>().unwrap());
        assert_eq!(said.each_ref().map(Start::to_string), words);
        let file = Start::Policy("a.safetensors".into());
        assert_eq!(said, [Start::Nothing, Start::Clone, file]);
    }
}
