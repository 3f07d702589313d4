//! A game with a known answer: a light shows which of three actions is right, a right one scores 1,
//! and an episode lasts thirty steps whatever is done.

use brex_core::Episode;
use brex_envs::{EnvError, Environment, GameRandom, Info, Script, Spec, Step, game_random, record};
use rand::RngExt;
use std::ops::Range;

const SIDE: usize = 12;
const LENGTH: usize = 30;
/// The row that shows the score, which only policies may see.
const SCORE: Range<usize> = 0..1;

/// The game.
pub(crate) struct Signals {
    spec: Spec,
    random: GameRandom,
    light: usize,
    score: f64,
    steps: usize,
}

impl Signals {
    pub(crate) fn new() -> Self {
        Self {
            spec: Spec {
                name: "test:signals",
                version: 1,
                actions: &["left", "middle", "right"],
                height: SIDE,
                width: SIDE,
                stack: 1,
                masked_rows: &[SCORE],
                step_limit: LENGTH,
            },
            random: game_random(0),
            light: 0,
            score: 0.0,
            steps: LENGTH,
        }
    }

    pub(crate) fn make() -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(Self::new()))
    }

    fn show(&mut self, observation: &mut [u8]) {
        self.light = self.random.random_range(0..3);
        observation.fill(0);
        observation[..SIDE].fill(self.score as u8);
        for row in 4..8 {
            let at = row * SIDE + 4 * self.light;
            observation[at..at + 4].fill(255);
        }
    }
}

impl Environment for Signals {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn reset(&mut self, seed: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
        self.random = game_random(seed);
        (self.score, self.steps) = (0.0, 0);
        self.show(observation);
        Ok(Info::default())
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
        let reward = f64::from(u8::from(action == self.light));
        self.score += reward;
        self.steps += 1;
        self.show(observation);
        Ok(Step {
            reward,
            terminated: self.steps == LENGTH,
            truncated: false,
            info: Info {
                score: self.score,
                lives: 0,
            },
        })
    }

    fn scripted(&self, _: Script, _: &mut GameRandom) -> Option<usize> {
        Some(self.light)
    }
}

/// The action that is right for what is seen.
pub(crate) fn right_for(observation: &[u8]) -> usize {
    let lit = (0..3).find(|light| observation[4 * SIDE + 4 * light] == 255);
    lit.unwrap_or(0)
}

/// An episode of somebody who does as `act` says of what is right.
pub(crate) fn played(seed: u64, mut act: impl FnMut(usize) -> usize) -> Episode {
    let mut env = Signals::new();
    record(&mut env, seed, |_, seen| act(right_for(seen)), |_| {}).unwrap()
}
