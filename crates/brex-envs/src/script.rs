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

    /// Mixtures of two scripts from bad to good, beside which the scripts themselves are a ladder of
    /// skill.
    pub fn ladder() -> Vec<Self> {
        use Script::{Good, Hacker, Noop, Random};
        let mixed = [
            (Good, 0.25, Random),
            (Good, 0.5, Random),
            (Good, 0.75, Random),
            (Good, 0.9, Random),
            (Good, 0.5, Noop),
            (Good, 0.8, Noop),
            (Good, 0.5, Hacker),
            (Good, 0.8, Hacker),
            (Random, 0.5, Noop),
            (Random, 0.5, Hacker),
        ];
        mixed.map(|(a, share, b)| Self::of(a, share, b)).to_vec()
    }

    /// The mixture that a text names, as `good:0.5+random`: half of the actions are those of good.
    pub fn by_name(text: &str) -> Option<Self> {
        let (first, rest) = text.split_once('+')?;
        let (script, share) = first.split_once(':')?;
        let share: f64 = share.parse().ok()?;
        (share > 0.0 && share < 1.0).then(|| {
            Some(Self::of(
                Script::by_name(script)?,
                share,
                Script::by_name(rest)?,
            ))
        })?
    }

    /// The text that names it.
    pub fn name(&self) -> String {
        match &self.parts[..] {
            [(a, share), (b, _)] => format!("{}:{share}+{}", a.name(), b.name()),
            parts => {
                let names: Vec<&str> = parts.iter().map(|(script, _)| script.name()).collect();
                names.join("+")
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixtures_are_read_as_they_are_written() {
        for mixture in Mixture::ladder() {
            assert_eq!(Mixture::by_name(&mixture.name()), Some(mixture));
        }
        for wrong in [
            "good",
            "good:0.5",
            "good:0.5+",
            "good:1+random",
            "good:x+random",
            "good:0.5+best",
        ] {
            assert_eq!(Mixture::by_name(wrong), None, "{wrong}");
        }
    }
}
