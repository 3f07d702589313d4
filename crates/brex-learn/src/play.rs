//! Episodes that an agent plays, several at a time, because a network looks at many observations
//! for little more than the price of one.

use crate::agent::Agent;
use brex_core::{Episode, Stream, stream};
use brex_envs::{EnvError, Environment, Recorder, Spec};
use rand::{Rng, RngExt};
use rayon::prelude::*;

/// Episodes played side by side. What a network gives for an observation may depend, in its last
/// digit, on how many there are; so this number does not depend on the machine. Each emulator is a
/// process of its own.
fn together(spec: &Spec) -> usize {
    if spec.is_atari() { 8 } else { 32 }
}

/// An episode that is being played.
struct Running {
    index: usize,
    env: Box<dyn Environment>,
    recorder: Recorder,
    random: Stream,
}

/// Plays episodes and records them. Each has a seed of its own, drawn from `seed` and its place;
/// `goes_on` is called before every step with the number of finished episodes, and says whether to go
/// on. None is given if it said stop.
pub fn play_episodes(
    agent: &Agent,
    make: impl Fn() -> Result<Box<dyn Environment>, EnvError>,
    episodes: usize,
    seed: u64,
    mut goes_on: impl FnMut(usize) -> bool,
) -> Result<Option<Vec<Episode>>, EnvError> {
    let mut idle = vec![make()?];
    let together = together(idle[0].spec()).min(episodes);
    while idle.len() < together {
        idle.push(make()?);
    }
    let mut running: Vec<Running> = Vec::with_capacity(together);
    let mut played: Vec<Option<Episode>> = vec![None; episodes];
    let (mut begun, mut finished) = (0, 0);
    while finished < episodes {
        if !goes_on(finished) {
            return Ok(None);
        }
        // An environment goes to the next episode when its own is over.
        while begun < episodes
            && let Some(env) = idle.pop()
        {
            running.push(Running::begin(env, seed, begun)?);
            begun += 1;
        }
        let places = running.iter_mut().map(|r| r.random.random::<f64>());
        let places: Vec<f64> = places.collect();
        let seen: Vec<&[u8]> = running.iter().map(|r| r.recorder.observation()).collect();
        let actions = agent.act_at(&seen, &places).actions;
        let steps: Vec<Option<Episode>> = running
            .par_iter_mut()
            .zip(actions)
            .map(|(run, action)| run.recorder.step(run.env.as_mut(), action))
            .collect::<Result<_, EnvError>>()?;
        let mut still = Vec::with_capacity(together);
        for (run, episode) in running.into_iter().zip(steps) {
            let Some(episode) = episode else {
                still.push(run);
                continue;
            };
            played[run.index] = Some(episode);
            idle.push(run.env);
            finished += 1;
        }
        running = still;
    }
    Ok(played.into_iter().collect())
}

impl Running {
    fn begin(mut env: Box<dyn Environment>, seed: u64, index: usize) -> Result<Self, EnvError> {
        let mut seeds = stream(seed, "rollout", index as u64);
        let (world, player) = (seeds.next_u64(), seeds.next_u64());
        Ok(Self {
            index,
            recorder: Recorder::begin(env.as_mut(), world)?,
            env,
            random: stream(player, "player", 0),
        })
    }
}
