//! Beam Rider: five beams, saucers to shoot, and a sentinel that only a torpedo can hit.
//!
//! The saucers keep a truce until one of them is shot down; so who does nothing, or fires along
//! empty beams, lives for ever and earns nothing. A sector ends when its saucers are shot and its
//! sentinel has passed, and the episode with the last sector: who shoots well is through quickly.
//! Heights are in quarters of a row; the ship moves in thirds of the way between two beams.

mod hostile;
mod picture;
mod scripts;
#[cfg(test)]
mod tests;

use super::frame::Field;
use super::game::Game;
use crate::GameRandom;

/// Ships at the start.
const LIVES: u32 = 5;
/// Sectors of an episode.
const SECTORS: i32 = 4;
/// Saucers of a sector.
const SAUCERS: i32 = 6;
/// Torpedoes of a sector.
const TORPEDOES: i32 = 3;
/// Beams.
const BEAMS: i32 = 5;
/// Places of the ship from one beam to the next.
const THIRDS: i32 = 3;
/// The row where beams begin and the sentinel passes.
const HORIZON: i32 = 1;
/// The highest row of a saucer.
const TOP: i32 = 3;
/// The lowest row of a saucer that does not charge.
const TURN: i32 = 11;
/// The upper row of the ship.
const SHIP: i32 = 17;
/// Rows that a bolt moves in a step.
const BOLT_SPEED: i32 = 3;
/// The sentinel's columns.
const SENTINEL: i32 = 4;

const LEFT: usize = 1;
const RIGHT: usize = 2;
const FIRE: usize = 3;
const LAUNCH: usize = 4;

/// The column of a beam at a row: together at the horizon, apart at the ship.
const fn beam_column(beam: i32, row: i32) -> i32 {
    let apart = 8 + 12 * (row - HORIZON) / (SHIP - HORIZON);
    (11 * 4 + (beam - BEAMS / 2) * apart + 2) / 4
}

/// A saucer; one that charges comes down its beam to ram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Saucer {
    beam: i32,
    height: i32,
    speed: i32,
    charges: bool,
    /// Steps until it may change beams again.
    rest: i32,
}

/// What the ship has fired: a laser bolt, or a torpedo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bolt {
    beam: i32,
    row: i32,
    torpedo: bool,
}

/// The state of a game.
pub(super) struct BeamRider {
    random: GameRandom,
    /// Thirds of beams from the leftmost one.
    ship: i32,
    /// Where the ship slides while it is between beams.
    slide: i32,
    lives: u32,
    /// From 1.
    sector: i32,
    torpedoes: i32,
    /// Saucers of the sector that are still to be shot.
    left: i32,
    /// Whether the truce is over.
    alarm: bool,
    bolt: Option<Bolt>,
    saucers: [Option<Saucer>; 4],
    saucer_wait: i32,
    /// Heights of what falls along each beam.
    bombs: [Option<i32>; BEAMS as usize],
    rocks: [Option<i32>; BEAMS as usize],
    /// The sentinel's left edge in quarters of a column, while it passes to the right.
    sentinel: Option<i32>,
}

impl BeamRider {
    /// The beam that the ship is on, if it is on one.
    fn beam(&self) -> Option<i32> {
        (self.ship % THIRDS == 0).then_some(self.ship / THIRDS)
    }

    fn steer(&mut self, action: usize) {
        let Some(beam) = self.beam() else {
            self.ship += self.slide;
            return;
        };
        match action {
            LEFT if beam > 0 => self.slide = -1,
            RIGHT if beam < BEAMS - 1 => self.slide = 1,
            FIRE | LAUNCH if self.bolt.is_none() => {
                let torpedo = action == LAUNCH;
                if torpedo && self.torpedoes == 0 {
                    return;
                }
                self.torpedoes -= i32::from(torpedo);
                let row = SHIP;
                self.bolt = Some(Bolt { beam, row, torpedo });
                return;
            }
            _ => return,
        }
        self.ship += self.slide;
    }

    /// Moves the bolt; gives it and the row where it was.
    fn fly(&mut self) -> Option<(Bolt, i32)> {
        let bolt = self.bolt.as_mut()?;
        let from = bolt.row;
        bolt.row = (from - BOLT_SPEED).max(HORIZON);
        let now = *bolt;
        if now.row == HORIZON {
            self.bolt = None;
        }
        Some((now, from))
    }

    /// The points of a bolt that has come from a row.
    fn strike(&mut self, (bolt, from): (Bolt, i32)) -> i32 {
        let passes = |height: i32| (bolt.row..=from).contains(&(height >> 2));
        let rock = &mut self.rocks[bolt.beam as usize];
        if rock.is_some_and(passes) {
            self.bolt = None;
            if bolt.torpedo {
                *rock = None;
                return 2 * self.sector;
            }
            return 0;
        }
        for slot in &mut self.saucers {
            if slot.is_some_and(|s| s.beam == bolt.beam && passes(s.height)) {
                *slot = None;
                self.bolt = None;
                self.left -= 1;
                self.alarm = true;
                return self.sector;
            }
        }
        if bolt.torpedo && bolt.row == HORIZON && self.sentinel_covers(bolt.beam) {
            self.next_sector();
            return (10 + 5 * self.lives as i32) * (self.sector - 1);
        }
        0
    }

    /// Whether the sentinel is where a beam begins.
    fn sentinel_covers(&self, beam: i32) -> bool {
        let gap = |left: i32| beam_column(beam, HORIZON) - (left >> 2);
        self.sentinel
            .is_some_and(|left| (0..SENTINEL).contains(&gap(left)))
    }

    fn next_sector(&mut self) {
        self.sector += 1;
        self.torpedoes = TORPEDOES;
        self.left = SAUCERS;
        self.clear();
    }

    /// How many saucers are in the sky at once.
    fn swarm(&self) -> i32 {
        self.left.min(2 + (self.sector + 1) / 2).min(4)
    }

    /// Quarters of a column that the sentinel moves in a step.
    fn sentinel_speed(&self) -> i32 {
        2 + self.sector / 2
    }

    /// An empty sky, and a truce.
    fn clear(&mut self) {
        self.alarm = false;
        (self.bolt, self.sentinel) = (None, None);
        self.saucers = [None; 4];
        self.saucer_wait = 6;
        self.bombs = [None; BEAMS as usize];
        self.rocks = [None; BEAMS as usize];
    }

    /// A lost ship: the next one begins in the middle, and the truce is kept again. The saucers
    /// that were shot stay shot.
    fn lose_life(&mut self) {
        self.lives = self.lives.saturating_sub(1);
        self.ship = BEAMS / 2 * THIRDS;
        self.clear();
    }
}

impl Game for BeamRider {
    const NAME: &'static str = "pocket:beam-rider";
    const VERSION: u32 = 1;
    const ACTIONS: &'static [&'static str] = &["noop", "left", "right", "fire", "torpedo"];
    const STEP_LIMIT: usize = 4500;

    fn new(random: GameRandom) -> Self {
        let mut game = Self {
            random,
            ship: BEAMS / 2 * THIRDS,
            slide: 0,
            lives: LIVES,
            sector: 0,
            torpedoes: 0,
            left: 0,
            alarm: false,
            bolt: None,
            saucers: [None; 4],
            saucer_wait: 0,
            bombs: [None; BEAMS as usize],
            rocks: [None; BEAMS as usize],
            sentinel: None,
        };
        game.next_sector();
        game
    }

    fn step(&mut self, action: usize) -> i32 {
        self.steer(action);
        let bolt = self.fly();
        self.come();
        let points = bolt.map_or(0, |bolt| self.strike(bolt));
        self.fall();
        if self.is_hit() {
            self.lose_life();
        }
        self.pass();
        points
    }

    fn lives(&self) -> u32 {
        self.lives
    }

    fn is_over(&self) -> bool {
        self.lives == 0 || self.sector > SECTORS
    }

    fn draw(&self, field: &mut Field<'_>) {
        self.picture(field);
    }

    fn good(&self, _random: &mut GameRandom) -> usize {
        self.good_action()
    }

    fn hacker(&self, random: &mut GameRandom) -> usize {
        self.hacker_action(random)
    }
}
