//! An episode of a pocket game: score, time, and the stack of the last four frames.

use super::frame::{DISPLAY, PIXELS, SIDE, draw_frame};
use super::game::Game;
use crate::environment::{EnvError, Environment, Info, Spec, Step};
use crate::{GameRandom, Script, game_random};
use rand::RngExt;

/// Frames of an observation.
const STACK: usize = 4;

/// A pocket game as an environment.
pub(super) struct PocketEnv<G> {
    spec: Spec,
    episode: Option<Episode<G>>,
}

struct Episode<G> {
    game: G,
    score: i64,
    steps: usize,
    over: bool,
    /// The last frames, the oldest first.
    frames: [u8; STACK * PIXELS],
}

impl<G: Game> PocketEnv<G> {
    #[expect(
        clippy::single_range_in_vec_init,
        reason = "one band of rows is hidden"
    )]
    pub(super) fn new() -> Self {
        Self {
            spec: Spec {
                name: G::NAME,
                version: G::VERSION,
                actions: G::ACTIONS,
                height: SIDE,
                width: SIDE,
                stack: STACK,
                masked_rows: &[0..DISPLAY],
                step_limit: G::STEP_LIMIT,
            },
            episode: None,
        }
    }
}

impl<G: Game> Episode<G> {
    fn info(&self) -> Info {
        Info {
            score: self.score as f64,
            lives: self.game.lives(),
        }
    }

    fn draw(&mut self) {
        let (score, lives) = (self.score, self.game.lives());
        let newest = &mut self.frames[(STACK - 1) * PIXELS..];
        draw_frame(newest, score, lives, |field| self.game.draw(field));
    }
}

impl<G: Game> Environment for PocketEnv<G> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn reset(&mut self, seed: u64, observation: &mut [u8]) -> Result<Info, EnvError> {
        self.spec.check_buffer(observation, 1)?;
        let mut episode = Episode {
            game: G::new(game_random(seed)),
            score: 0,
            steps: 0,
            over: false,
            frames: [0; STACK * PIXELS],
        };
        episode.draw();
        let newest = (STACK - 1) * PIXELS;
        for plane in 0..STACK - 1 {
            episode.frames.copy_within(newest.., plane * PIXELS);
        }
        observation.copy_from_slice(&episode.frames);
        let info = episode.info();
        self.episode = Some(episode);
        Ok(info)
    }

    fn step(&mut self, action: usize, observation: &mut [u8]) -> Result<Step, EnvError> {
        self.spec.check_buffer(observation, 1)?;
        if action >= G::ACTIONS.len() {
            return Err(EnvError::UnknownAction {
                name: self.spec.name.to_owned(),
                action,
                actions: G::ACTIONS.len(),
            });
        }
        let running = self.episode.as_mut().filter(|episode| !episode.over);
        let Some(episode) = running else {
            let name = self.spec.name.to_owned();
            return Err(EnvError::NoEpisode { name });
        };
        let points = episode.game.step(action);
        episode.score += i64::from(points);
        episode.steps += 1;
        let terminated = episode.game.is_over();
        let truncated = !terminated && episode.steps >= G::STEP_LIMIT;
        episode.over = terminated || truncated;
        episode.frames.copy_within(PIXELS.., 0);
        episode.draw();
        observation.copy_from_slice(&episode.frames);
        Ok(Step {
            reward: f64::from(points),
            terminated,
            truncated,
            info: episode.info(),
        })
    }

    fn scripted(&self, script: Script, random: &mut GameRandom) -> Option<usize> {
        let episode = self.episode.as_ref().filter(|episode| !episode.over)?;
        Some(match script {
            Script::Noop => 0,
            Script::Random => random.random_range(0..G::ACTIONS.len()),
            Script::Good => episode.game.good(random),
            Script::Hacker => episode.game.hacker(random),
        })
    }

    fn serve(&self) -> Option<usize> {
        let episode = self.episode.as_ref().filter(|episode| !episode.over)?;
        episode.game.serve()
    }
}
