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
    goes_on: impl FnMut(usize) -> bool,
) -> Result<Option<Vec<Episode>>, EnvError> {
    let choose = |seen: &[&[u8]], places: &[f64]| agent.act_at(seen, places).actions;
    play(choose, agent.serves(), make, episodes, seed, goes_on)
}

/// How an agent chooses when no noise does it for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// By drawing from its distribution, as agents usually play.
    Drawn,
    /// What it finds most probable.
    MostProbable,
}

/// The same with noise: with a probability of `noise` an action is any one, all equally likely, and
/// else the agent's own choice.
pub fn play_noisy_episodes(
    agent: &Agent,
    (noise, choice): (f64, Choice),
    make: impl Fn() -> Result<Box<dyn Environment>, EnvError>,
    episodes: usize,
    seed: u64,
    goes_on: impl FnMut(usize) -> bool,
) -> Result<Option<Vec<Episode>>, EnvError> {
    let actions = agent.shape().actions;
    let choose = |seen: &[&[u8]], places: &[f64]| {
        let split: Vec<Fate> = places
            .iter()
            .map(|place| Fate::of(*place, noise, actions))
            .collect();
        let own = match choice {
            Choice::MostProbable => agent.most_probable(seen),
            Choice::Drawn => {
                let places: Vec<f64> = split.iter().map(Fate::place).collect();
                agent.act_at(seen, &places).actions
            }
        };
        let pairs = own.into_iter().zip(split);
        let actions = pairs.map(|(own, fate)| match fate {
            Fate::Noise(any) => any,
            Fate::Own(_) => own,
        });
        actions.collect()
    };
    play(choose, agent.serves(), make, episodes, seed, goes_on)
}

/// What one number between 0 and 1 says: which action noise brings, or at which place of its
/// distribution the agent finds its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Noise(usize),
    Own(f64),
}

impl Fate {
    fn of(place: f64, noise: f64, actions: usize) -> Self {
        if place < noise {
            let any = (place / noise * actions as f64) as usize;
            return Self::Noise(any.min(actions - 1));
        }
        Self::Own((place - noise) / (1.0 - noise))
    }

    fn place(&self) -> f64 {
        match self {
            Self::Noise(_) => 0.0,
            Self::Own(place) => *place,
        }
    }
}

/// `choose` gives the actions for what is seen, with a random number between 0 and 1 for each; where
/// the game waits, play is begun for a player who is served.
fn play(
    choose: impl Fn(&[&[u8]], &[f64]) -> Vec<usize>,
    served: bool,
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
        let actions = choose(&seen, &places);
        let steps: Vec<Option<Episode>> = running
            .par_iter_mut()
            .zip(actions)
            .map(|(run, action)| {
                let served = run.env.serve().filter(|_| served);
                run.recorder
                    .step(run.env.as_mut(), served.unwrap_or(action))
            })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_takes_its_share_and_both_sides_are_spread_evenly() {
        let (mut counts, mut own) = ([0; 4], Vec::new());
        for index in 0..8000 {
            let place = (f64::from(index) + 0.5) / 8000.0;
            match Fate::of(place, 0.5, 4) {
                Fate::Noise(action) => counts[action] += 1,
                Fate::Own(place) => own.push(place),
            }
            assert_eq!(Fate::of(place, 0.0, 4), Fate::Own(place));
            assert!(matches!(Fate::of(place, 1.0, 4), Fate::Noise(_)));
        }
        assert_eq!((counts, own.len()), ([1000; 4], 4000));
        for (index, place) in own.iter().enumerate() {
            assert!((place - (index as f64 + 0.5) / 4000.0).abs() < 1e-9);
        }
    }
}
