//! A game in which play is begun for the player.
//!
//! The paper's agents were trained so: a life was an episode of its own, and FIRE was pressed at its
//! beginning. Who is paid for what is seen can otherwise wait for ever before an open wall. A pocket game
//! leaves the player a moment, because where to begin from is a part of playing well.

use crate::environment::{EnvError, Environment, Info, Spec, Step};
use crate::{GameRandom, Script};

/// An environment that does by itself what [`Environment::serve`] asks for. The player sees nothing
/// of the steps that this takes; what they earn belongs to the step before.
pub struct Served {
    env: Box<dyn Environment>,
}

impl Served {
    /// Serves in an environment.
    pub fn boxed(env: Box<dyn Environment>) -> Box<dyn Environment> {
        Box::new(Self { env })
    }
}

impl Environment for Served {
    fn spec(&self) -> &Spec {
        self.env.spec()
    }

    fn reset(&mut self, seed: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
        let mut info = self.env.reset(seed, observation)?;
        while let Some(action) = self.env.serve() {
            info = self.env.step(action, observation)?.info;
        }
        Ok(info)
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
        let mut step = self.env.step(action, observation)?;
        while let Some(action) = self.env.serve() {
            let next = self.env.step(action, observation)?;
            step = Step {
                reward: step.reward + next.reward,
                ..next
            };
        }
        Ok(step)
    }

    fn scripted(&self, script: Script, random: &mut GameRandom) -> Option<usize> {
        self.env.scripted(script, random)
    }

    fn scripts(&self) -> &'static [Script] {
        self.env.scripts()
    }

    fn can_replay(&self) -> bool {
        self.env.can_replay()
    }

    fn worth_a_thread(&self) -> usize {
        self.env.worth_a_thread()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{game_random, make};

    #[test]
    fn whoever_does_nothing_soon_loses_every_ball() {
        let mut env = Served::boxed(make("pocket:breakout").unwrap());
        let mut seen = vec![0; env.spec().observation_len()];
        env.reset(3, &mut seen).unwrap();
        let mut steps = 0;
        loop {
            assert_eq!(env.serve(), None, "nothing waits for the player");
            let step = env.step(0, &mut seen).unwrap();
            steps += 1;
            if step.terminated {
                assert_eq!(step.info.lives, 0);
                break;
            }
        }
        assert!(steps < 400, "{steps} steps of flight");
    }

    #[test]
    fn it_is_the_same_game_with_the_ball_launched_by_hand() {
        let mut served = Served::boxed(make("pocket:breakout").unwrap());
        let mut plain = make("pocket:breakout").unwrap();
        let size = plain.spec().observation_len();
        let (mut here, mut there) = (vec![0; size], vec![0; size]);
        let (mut random, mut launched) = (game_random(5), 0);
        served.reset(5, &mut here).unwrap();
        plain.reset(5, &mut there).unwrap();
        assert_eq!(here, there);
        loop {
            let action = plain.scripted(Script::Random, &mut random).unwrap();
            let step = served.step(action, &mut here).unwrap();
            let mut by_hand = plain.step(action, &mut there).unwrap();
            while !by_hand.terminated
                && let Some(action) = plain.serve()
            {
                assert_eq!(action, 1, "fire");
                by_hand = plain.step(action, &mut there).unwrap();
                launched += 1;
            }
            assert_eq!((step.info, &here), (by_hand.info, &there));
            if step.terminated {
                break;
            }
        }
        assert!(launched > 0);
    }

    #[test]
    fn other_games_wait_for_nobody() {
        for name in ["beam-rider", "enduro", "seaquest", "space-invaders"] {
            let mut env = make(&format!("pocket:{name}")).unwrap();
            let mut seen = vec![0; env.spec().observation_len()];
            env.reset(1, &mut seen).unwrap();
            assert_eq!(env.serve(), None, "{name}");
        }
    }
}
