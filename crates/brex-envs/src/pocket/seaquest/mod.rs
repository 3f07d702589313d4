//! Seaquest: dive for divers among fish and hostile submarines, and be back before the air is used.
//!
//! Nothing reaches the surface, so that idling there is safe for ever and worth nothing. Below it,
//! fish are quick points and divers are slow ones that pay only when they are brought home, but then
//! far more. The sun moves only while the submarine is under water, so a day is the same for all who
//! live to see its end. Positions of what swims are in eighths of a pixel; the rest are
//! pixels.

mod picture;
mod scripts;
mod swimmers;
#[cfg(test)]
mod tests;

use super::frame::{Field, SIDE};
use super::game::Game;
use crate::GameRandom;
use swimmers::{Kind, Lane, lane_row};

/// Submarines at the start.
const LIVES: u32 = 4;
/// Steps under water that make a day, which is an episode.
const DAY: i32 = 400;
/// Steps that the air of a dive lasts.
const AIR: i32 = 96;
/// Divers of a full load.
const LOAD: i32 = 6;
/// Points for each diver who is brought home.
const HOME: i32 = 15;
/// Lanes in which fish, submarines and divers swim.
const LANES: usize = 4;
/// From this row on the submarine is under water and uses air.
const UNDER: i32 = 3;
/// The lowest row of the submarine.
const DEEPEST: i32 = 13;
/// Columns of the submarine and of what is hostile.
const LONG: i32 = 3;
/// Columns of a diver.
const SHORT: i32 = 2;
/// The rightmost column of the submarine.
const RIGHTMOST: i32 = SIDE as i32 - LONG;
/// Columns that the submarine's torpedo moves in a step.
const TORPEDO_SPEED: i32 = 3;

const UP: usize = 1;
const DOWN: usize = 2;
const LEFT: usize = 3;
const RIGHT: usize = 4;
const FIRE: usize = 5;

/// The submarine's own torpedo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Torpedo {
    x: i32,
    row: i32,
    heading: i32,
}

/// The state of a game.
pub(super) struct Seaquest {
    random: GameRandom,
    x: i32,
    y: i32,
    /// 1 to the right, -1 to the left.
    heading: i32,
    diving: bool,
    air: i32,
    aboard: i32,
    lives: u32,
    /// Steps under water so far.
    day: i32,
    /// 1 at first; grows with every full load, and with it speeds and points.
    wave: i32,
    torpedo: Option<Torpedo>,
    lanes: [Lane; LANES],
}

impl Seaquest {
    /// A lost submarine: the next one starts at the surface, with one diver fewer aboard.
    fn lose_life(&mut self) {
        self.lives = self.lives.saturating_sub(1);
        self.aboard = (self.aboard - 1).max(0);
        (self.x, self.y, self.heading) = (RIGHTMOST / 2, 0, 1);
        (self.diving, self.air, self.torpedo) = (false, AIR, None);
        self.lanes = swimmers::empty_lanes(&mut self.random);
    }

    fn steer(&mut self, action: usize) {
        match action {
            UP => self.y = (self.y - 1).max(0),
            DOWN => self.y = (self.y + 1).min(DEEPEST),
            LEFT => (self.x, self.heading) = ((self.x - 1).max(0), -1),
            RIGHT => (self.x, self.heading) = ((self.x + 1).min(RIGHTMOST), 1),
            FIRE if self.torpedo.is_none() => {
                let x = self.x + if self.heading > 0 { LONG - 1 } else { 0 };
                let (row, heading) = (self.y + 1, self.heading);
                self.torpedo = Some(Torpedo { x, row, heading });
            }
            _ => {}
        }
    }

    /// What coming to the surface pays, beside the air.
    fn come_home(&mut self) -> i32 {
        let mut points = HOME * self.aboard * self.wave;
        if self.aboard == LOAD {
            points += self.air / 8;
            self.wave += 1;
        }
        self.aboard = 0;
        (self.diving, self.air) = (false, AIR);
        points
    }

    /// Whether the submarine overlaps two rows from `row` on and `columns` columns from `x` on.
    fn touches(&self, x: i32, columns: i32, row: i32) -> bool {
        (self.y - row).abs() < 2 && self.x < x + columns && x < self.x + LONG
    }

    /// Moves the torpedo; what it passes is hit by [`Self::strike`].
    fn fly(&mut self) -> Option<(i32, i32, i32)> {
        let torpedo = self.torpedo.as_mut()?;
        let from = torpedo.x;
        torpedo.x += TORPEDO_SPEED * torpedo.heading;
        let (to, row) = (torpedo.x, torpedo.row);
        if !(0..SIDE as i32).contains(&to) {
            self.torpedo = None;
        }
        Some((from.min(to), from.max(to), row))
    }

    /// The points of a torpedo that passes columns `from` to `to` of a row.
    fn strike(&mut self, (from, to, row): (i32, i32, i32)) -> i32 {
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            let Some(hostile) = lane.hostile else {
                continue;
            };
            let height = row - lane_row(index);
            if (0..2).contains(&height) && hostile.x() <= to && from < hostile.x() + LONG {
                lane.hostile = None;
                self.torpedo = None;
                return match hostile.kind {
                    Kind::Submarine => 2 * self.wave,
                    Kind::Fish | Kind::Diver => self.wave,
                };
            }
        }
        0
    }

    /// Takes divers aboard; says whether the submarine was hit.
    fn meet(&mut self) -> bool {
        for index in 0..LANES {
            let (lane, row) = (self.lanes[index], lane_row(index));
            if let Some(diver) = lane.diver
                && self.aboard < LOAD
                && self.touches(diver.x(), SHORT, row)
            {
                self.lanes[index].diver = None;
                self.aboard += 1;
            }
            let hostile = lane.hostile.is_some_and(|h| self.touches(h.x(), LONG, row));
            let shot = lane.shot.is_some_and(|s| {
                // A shot is one row high, in the lower row of its lane.
                (0..2).contains(&(row + 1 - self.y)) && self.touches(s.place >> 3, 1, row)
            });
            if hostile || shot {
                return true;
            }
        }
        false
    }
}

impl Game for Seaquest {
    const NAME: &'static str = "pocket:seaquest";
    const VERSION: u32 = 2;
    const ACTIONS: &'static [&'static str] = &["noop", "up", "down", "left", "right", "fire"];
    const STEP_LIMIT: usize = 4500;

    fn new(mut random: GameRandom) -> Self {
        Self {
            lanes: swimmers::empty_lanes(&mut random),
            random,
            x: RIGHTMOST / 2,
            y: 0,
            heading: 1,
            diving: false,
            air: AIR,
            aboard: 0,
            lives: LIVES,
            day: 0,
            wave: 1,
            torpedo: None,
        }
    }

    fn step(&mut self, action: usize) -> i32 {
        self.steer(action);
        self.diving |= self.y >= UNDER;
        let mut points = 0;
        if self.diving && self.y == 0 {
            points += self.come_home();
        } else if self.diving {
            self.air -= 1;
            self.day += 1;
        }
        let path = self.fly();
        self.swim();
        if let Some(path) = path {
            points += self.strike(path);
        }
        if self.air == 0 {
            self.aboard = 0;
            self.lose_life();
        } else if self.meet() {
            self.lose_life();
        }
        points
    }

    fn lives(&self) -> u32 {
        self.lives
    }

    fn is_over(&self) -> bool {
        self.lives == 0 || self.day == DAY
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
