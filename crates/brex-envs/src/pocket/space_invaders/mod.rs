//! Space Invaders: a swarm that sinks and speeds up, bombs, shields, a saucer, two waves.
//!
//! The invaders bomb whoever stands still. Whoever only hides and dodges lives until they land, and
//! scores nothing; each invader that is shot makes the rest faster and its bombs more frequent.

mod bombs;
mod players;
mod swarm;

use super::frame::{FIELD, Field, SIDE};
use super::game::Game;
use crate::GameRandom;
use rand::RngExt;
use swarm::{INVADER_WIDTH, ROWS, Swarm};

const FIRE: usize = 1;
const LEFT: usize = 2;
const RIGHT: usize = 3;

const WIDTH: i32 = SIDE as i32;
const CANNON_WIDTH: i32 = 3;
/// The upper one of the two rows of the cannon; invaders that get above it have landed.
const CANNON_ROW: i32 = FIELD as i32 - 2;
const SHIELD_ROW: i32 = 14;
const SHIELD_HEIGHT: usize = 2;
/// The columns of the shields, one bit each.
const SHIELDS: u32 = 0b1111_0011_1100_1111_0000;
const LIVES: u32 = 3;
const WAVES: u32 = 2;
/// The row in which the first wave begins; each later one begins a row lower.
const FIRST_ROW: i32 = 2;
/// Points of an invader by its row, from the top.
const VALUES: [i32; ROWS] = [20, 15, 10, 5];
const SAUCER_VALUE: i32 = 100;
const SAUCER_WIDTH: i32 = 3;
/// Steps from one saucer to the next, at least and at most.
const SAUCER_WAIT: std::ops::Range<u32> = 60..120;
/// Pixels per step; one at a time, so that nothing is jumped.
const SHOT_SPEED: i32 = 2;
/// Steps without a new shot after one that missed.
const RELOAD: u32 = 24;
const BOMBS: usize = 4;
/// Steps for which all stands still after a hit.
const PAUSE: u32 = 20;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Dot {
    x: i32,
    y: i32,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Saucer {
    x: i32,
    direction: i32,
    /// It moves every second step.
    rests: bool,
}

/// The game.
#[derive(Clone)]
pub(super) struct SpaceInvaders {
    random: GameRandom,
    swarm: Swarm,
    /// Its left column.
    cannon: i32,
    shot: Option<Dot>,
    /// Steps until the next shot is ready.
    reload: u32,
    bombs: [Option<Dot>; BOMBS],
    bomb_wait: u32,
    shields: [u32; SHIELD_HEIGHT],
    saucer: Option<Saucer>,
    saucer_wait: u32,
    /// Steps for which all still stands still.
    pause: u32,
    waves_left: u32,
    lives: u32,
    landed: bool,
}

impl SpaceInvaders {
    fn begin_wave(&mut self) {
        self.swarm = Swarm::new(FIRST_ROW + (WAVES - self.waves_left) as i32);
        self.shot = None;
        self.bombs = [None; BOMBS];
        self.shields = [SHIELDS; SHIELD_HEIGHT];
    }

    fn is_loaded(&self) -> bool {
        self.shot.is_none() && self.reload == 0
    }

    /// Whether a shield is at a pixel.
    fn shield_at(&self, x: i32, y: i32) -> bool {
        let row = usize::try_from(y - SHIELD_ROW).ok();
        row.and_then(|row| self.shields.get(row))
            .is_some_and(|row| row >> x & 1 == 1)
    }

    /// Takes away the piece of shield at a pixel; true if there was one.
    fn erode(&mut self, x: i32, y: i32) -> bool {
        let there = self.shield_at(x, y);
        if there {
            self.shields[(y - SHIELD_ROW) as usize] &= !(1 << x);
        }
        there
    }

    /// Moves the shot by a pixel.
    fn move_shot(&mut self) -> i32 {
        let Some(mut shot) = self.shot.take() else {
            return 0;
        };
        shot.y -= 1;
        if shot.y < 0 || self.erode(shot.x, shot.y) {
            self.reload = RELOAD;
            return 0;
        }
        if let Some(row) = self.swarm.hit(shot.x, shot.y) {
            return VALUES[row];
        }
        let over = |s: &Saucer| shot.y == 0 && (s.x..s.x + SAUCER_WIDTH).contains(&shot.x);
        if self.saucer.as_ref().is_some_and(over) {
            self.saucer = None;
            return SAUCER_VALUE;
        }
        self.shot = Some(shot);
        0
    }

    fn move_swarm(&mut self) {
        if !self.swarm.march() {
            return;
        }
        if self.swarm.bottom().is_some_and(|y| y >= SHIELD_ROW) {
            for (_, _, x, y) in self.swarm.clone().alive() {
                for x in x..x + INVADER_WIDTH {
                    self.erode(x, y);
                }
            }
        }
        self.landed = self.swarm.bottom().is_some_and(|y| y >= CANNON_ROW - 1);
    }

    fn move_saucer(&mut self) {
        let Some(saucer) = &mut self.saucer else {
            self.saucer_wait -= 1;
            if self.saucer_wait == 0 {
                self.saucer_wait = self.random.random_range(SAUCER_WAIT);
                let right = self.random.random_range(0..2) == 0;
                self.saucer = Some(Saucer {
                    x: if right { 1 - SAUCER_WIDTH } else { WIDTH - 1 },
                    direction: if right { 1 } else { -1 },
                    rests: false,
                });
            }
            return;
        };
        saucer.rests = !saucer.rests;
        if !saucer.rests {
            saucer.x += saucer.direction;
            if saucer.x <= -SAUCER_WIDTH || saucer.x >= WIDTH {
                self.saucer = None;
            }
        }
    }
}

impl Game for SpaceInvaders {
    const NAME: &'static str = "pocket:space-invaders";
    const VERSION: u32 = 1;
    const ACTIONS: &'static [&'static str] = &["noop", "fire", "left", "right"];
    const STEP_LIMIT: usize = 3000;

    fn new(mut random: GameRandom) -> Self {
        let saucer_wait = random.random_range(SAUCER_WAIT);
        Self {
            random,
            swarm: Swarm::new(FIRST_ROW),
            cannon: 7,
            shot: None,
            reload: 0,
            bombs: [None; BOMBS],
            bomb_wait: PAUSE,
            shields: [SHIELDS; SHIELD_HEIGHT],
            saucer: None,
            saucer_wait,
            pause: 0,
            waves_left: WAVES,
            lives: LIVES,
            landed: false,
        }
    }

    fn step(&mut self, action: usize) -> i32 {
        if self.pause > 0 {
            self.pause -= 1;
            return 0;
        }
        self.reload = self.reload.saturating_sub(1);
        match action {
            LEFT => self.cannon = (self.cannon - 1).max(0),
            RIGHT => self.cannon = (self.cannon + 1).min(WIDTH - CANNON_WIDTH),
            FIRE if self.is_loaded() => {
                let x = self.cannon + CANNON_WIDTH / 2;
                self.shot = Some(Dot { x, y: CANNON_ROW });
            }
            _ => {}
        }
        let mut points = (0..SHOT_SPEED).map(|_| self.move_shot()).sum();
        self.move_swarm();
        self.move_saucer();
        if self.move_bombs() {
            self.lives -= 1;
            self.bombs = [None; BOMBS];
            self.shot = None;
            self.pause = PAUSE;
        }
        self.drop_bomb();
        // What marched into the shot is hit as well.
        if let Some(shot) = self.shot
            && let Some(row) = self.swarm.hit(shot.x, shot.y)
        {
            self.shot = None;
            points += VALUES[row];
        }
        if self.swarm.count() == 0 {
            self.waves_left -= 1;
            if self.waves_left > 0 {
                self.begin_wave();
            }
        }
        points
    }

    fn lives(&self) -> u32 {
        self.lives
    }

    fn is_over(&self) -> bool {
        self.lives == 0 || self.landed || self.waves_left == 0
    }

    fn draw(&self, field: &mut Field<'_>) {
        for (row, _, x, y) in self.swarm.alive() {
            field.fill(x, y, INVADER_WIDTH, 1, 190 - 20 * row as u8);
        }
        for row in 0..SHIELD_HEIGHT {
            for x in (0..WIDTH).filter(|x| self.shields[row] >> x & 1 == 1) {
                field.dot(x, SHIELD_ROW + row as i32, 60);
            }
        }
        if let Some(saucer) = self.saucer {
            field.fill(saucer.x, 0, SAUCER_WIDTH, 1, 210);
        }
        if let Some(shot) = self.shot {
            field.dot(shot.x, shot.y, 100);
        }
        for bomb in self.bombs.iter().flatten() {
            field.dot(bomb.x, bomb.y, 255);
        }
        // While all stands still, the cannon is a dim wreck.
        let brightness = if self.pause > 0 { 40 } else { 200 };
        if self.is_loaded() {
            field.dot(self.cannon + 1, CANNON_ROW, brightness);
        }
        field.fill(self.cannon, CANNON_ROW + 1, CANNON_WIDTH, 1, brightness);
    }

    fn good(&self, _: &mut GameRandom) -> usize {
        self.hunt()
    }

    fn hacker(&self, random: &mut GameRandom) -> usize {
        self.hide(random)
    }
}

#[cfg(test)]
mod tests;
