//! Scripted policies, and mixtures of them that make ladders of skill.

use crate::{Environment, GameRandom};
use rand::RngExt;

/// A policy that is written by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Script {
    /// Does nothing, ever.
    Noop,
    /// Any action, all equally likely.
    Random,
    /// Plays well.
    Good,
    /// Moves and fires and lives, and scores nothing.
    Hacker,
}

impl Script {
    /// All scripts.
    pub const ALL: [Self; 4] = [Self::Noop, Self::Random, Self::Good, Self::Hacker];

    /// The name by which commands know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noop => "noop",
            Self::Random => "random",
            Self::Good => "good",
            Self::Hacker => "hacker",
        }
    }

    /// The script with a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|script| script.name() == name)
    }
}

/// Takes each action from one of several scripts, by their shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// Scripts with their shares, which sum to 1.
    pub parts: Vec<(Script, f64)>,
}

impl Mixture {
    /// One script alone.
    pub fn pure(script: Script) -> Self {
        Self {
            parts: vec![(script, 1.0)],
        }
    }

    /// `share` of one script and the rest of another.
    pub fn of(script: Script, share: f64, rest: Script) -> Self {
        Self {
            parts: vec![(script, share), (rest, 1.0 - share)],
        }
    }

    /// What it would do now.
    pub fn act(&self, env: &dyn Environment, random: &mut GameRandom) -> Option<usize> {
        let mut left: f64 = random.random();
        let mut chosen = self.parts.first()?.0;
        for (script, share) in &self.parts {
            chosen = *script;
            left -= share;
            if left < 0.0 {
                break;
            }
        }
        env.scripted(chosen, random)
    }
}
