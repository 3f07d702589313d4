//! What counts as an end: an agent in a room with a door, where every step costs something and the
//! door costs twice as much.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_envs::{EnvError, Environment, GameRandom, Info, Script, Spec, Step, make};
use brex_learn::{Device, PpoConfig, RewardScale, Trainer};

/// The action that leaves.
const LEAVE: usize = 1;

/// A room that is left by one of two actions.
struct Room {
    spec: Spec,
    steps: usize,
}

impl Room {
    fn new() -> Self {
        let spec = Spec {
            name: "test:room",
            actions: &["stay", "leave"],
            step_limit: 40,
            ..make("pocket:breakout").unwrap().spec().clone()
        };
        Self { spec, steps: 0 }
    }
}

impl Environment for Room {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn reset(&mut self, _: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
        self.steps = 0;
        observation.fill(100);
        Ok(Info::default())
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
        self.steps += 1;
        observation.fill(100);
        let terminated = action == LEAVE;
        Ok(Step {
            reward: if terminated { -2.0 } else { -1.0 },
            terminated,
            truncated: !terminated && self.steps >= self.spec.step_limit,
            info: Info::default(),
        })
    }

    fn scripted(&self, _: Script, _: &mut GameRandom) -> Option<usize> {
        None
    }
}

/// The lengths of the last episodes of a short training.
fn lengths(change: impl FnOnce(&mut PpoConfig)) -> f64 {
    let mut config = PpoConfig {
        steps: 8 * 32 * 40,
        environments: 8,
        horizon: 32,
        minibatches: 2,
        reward_scale: RewardScale::Raw,
        ..PpoConfig::for_spec(&Room::new().spec)
    };
    change(&mut config);
    let make = || Ok(Box::new(Room::new()) as Box<dyn Environment>);
    let mut trainer = Trainer::new(config, 3, make, None, &Device::flex()).unwrap();
    while !trainer.is_done() {
        trainer.update().unwrap();
    }
    trainer.recent().unwrap().1
}

#[test]
fn a_cost_a_step_drives_out_whoever_knows_that_it_ends() {
    let length = lengths(|_| {});
    assert!(length < 1.1, "{length}");
}

#[test]
fn a_cost_a_step_says_nothing_if_the_next_episode_is_a_continuation() {
    let length = lengths(|config| config.episode_ends = false);
    assert!(length > 20.0, "{length}");
}
