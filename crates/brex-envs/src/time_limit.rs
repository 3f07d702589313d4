//! A game that is cut off after a number of steps, as Gymnasium's `TimeLimit` does.
//!
//! Somebody who waits in Breakout waits for as long as the emulator lets him, a hundred thousand steps;
//! the paper's rollouts ended after 7,000.

use crate::environment::{EnvError, Environment, Info, Spec, Step};
use crate::{GameRandom, Script};

/// An environment whose episodes are truncated after a number of steps, if they are not over before.
pub struct TimeLimit {
    env: Box<dyn Environment>,
    steps: u32,
    done: u32,
}

impl TimeLimit {
    /// Cuts episodes of an environment off after `steps`.
    pub fn boxed(env: Box<dyn Environment>, steps: u32) -> Box<dyn Environment> {
        Box::new(Self {
            env,
            steps,
            done: 0,
        })
    }
}

impl Environment for TimeLimit {
    fn spec(&self) -> &Spec {
        self.env.spec()
    }

    fn reset(&mut self, seed: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
        self.done = 0;
        self.env.reset(seed, observation)
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
        let mut step = self.env.step(action, observation)?;
        self.done += 1;
        step.truncated |= self.done >= self.steps && !step.terminated;
        Ok(step)
    }

    fn scripted(&self, script: Script, random: &mut GameRandom) -> Option<usize> {
        self.env.scripted(script, random)
    }

    fn serve(&self) -> Option<usize> {
        self.env.serve()
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
    use crate::{ReplayError, make, record, replay};

    fn waiting(steps: u32) -> brex_core::Episode {
        let mut env = TimeLimit::boxed(make("pocket:breakout").unwrap(), steps);
        record(env.as_mut(), 3, |_, _| 0, |_| {}).unwrap()
    }

    #[test]
    fn an_episode_is_cut_off_and_the_next_one_has_all_its_steps() {
        let mut env = TimeLimit::boxed(make("pocket:breakout").unwrap(), 50);
        for seed in 0..2 {
            let cut = record(env.as_mut(), seed, |_, _| 0, |_| {}).unwrap();
            assert_eq!((cut.actions.len(), cut.truncated), (50, true));
        }
    }

    #[test]
    fn an_end_at_the_limit_is_an_end() {
        let game = || make("pocket:space-invaders").unwrap();
        let whole = record(game().as_mut(), 4, |_, _| 0, |_| {}).unwrap();
        let steps = u32::try_from(whole.actions.len()).unwrap();
        assert!(!whole.truncated);
        let limited = record(
            TimeLimit::boxed(game(), steps).as_mut(),
            4,
            |_, _| 0,
            |_| {},
        );
        assert_eq!(limited.unwrap(), whole);
    }

    #[test]
    fn what_was_cut_off_is_played_again_and_what_only_claims_to_be_whole_is_not() {
        let mut game = make("pocket:breakout").unwrap();
        let mut cut = waiting(50);
        let mut seen = 0;
        replay(game.as_mut(), &cut, |_, _| seen += 1).unwrap();
        assert_eq!(seen, 51);
        cut.truncated = false;
        let refused = replay(game.as_mut(), &cut, |_, _| {});
        assert!(matches!(refused, Err(ReplayError::Length { .. })));
    }
}
