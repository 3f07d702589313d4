//! What swims in the lanes: fish and hostile submarines with their torpedoes, and divers.

use super::{LANES, LONG, Seaquest};
use crate::GameRandom;
use crate::pocket::frame::SIDE;
use rand::RngExt;

/// Eighths of a column that a hostile torpedo moves in a step.
const SHOT_SPEED: i32 = 10;

/// The row of what swims in a lane; it is two rows high.
pub(super) const fn lane_row(lane: usize) -> i32 {
    4 + 3 * lane as i32
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Fish,
    Submarine,
    Diver,
}

/// Something that swims in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Swimmer {
    pub(super) kind: Kind,
    /// The left edge, in eighths of a column.
    pub(super) place: i32,
    /// Eighths of a column a step.
    pub(super) speed: i32,
}

impl Swimmer {
    pub(super) fn x(self) -> i32 {
        self.place >> 3
    }

    fn is_outside(self) -> bool {
        self.x() < -LONG || self.x() >= SIDE as i32
    }
}

/// A torpedo of a hostile submarine: place and speed in eighths of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shot {
    pub(super) place: i32,
    pub(super) speed: i32,
}

/// What a lane holds, and the steps until the next ones come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) hostile: Option<Swimmer>,
    pub(super) diver: Option<Swimmer>,
    pub(super) shot: Option<Shot>,
    pub(super) hostile_wait: i32,
    pub(super) diver_wait: i32,
}

/// Lanes in which nothing swims yet.
pub(super) fn empty_lanes(random: &mut GameRandom) -> [Lane; LANES] {
    [(); LANES].map(|()| Lane {
        hostile: None,
        diver: None,
        shot: None,
        hostile_wait: random.random_range(1..12),
        diver_wait: random.random_range(1..90),
    })
}

impl Seaquest {
    /// Moves what swims, and lets new ones come.
    pub(super) fn swim(&mut self) {
        let (random, wave) = (&mut self.random, self.wave);
        for lane in &mut self.lanes {
            move_swimmer(&mut lane.hostile, &mut lane.hostile_wait, || {
                let kind = if random.random_range(0..3) == 0 {
                    Kind::Submarine
                } else {
                    Kind::Fish
                };
                let speed = random.random_range(3..6) + 2 * wave;
                (swimmer(kind, speed, random), random.random_range(2..14))
            });
            move_swimmer(&mut lane.diver, &mut lane.diver_wait, || {
                let diver = swimmer(Kind::Diver, 2, random);
                (diver, random.random_range(30..120))
            });
            if let Some(shot) = &mut lane.shot {
                shot.place += shot.speed;
                if !(0..SIDE as i32).contains(&(shot.place >> 3)) {
                    lane.shot = None;
                }
            } else if let Some(hostile) = lane.hostile
                && hostile.kind == Kind::Submarine
                && random.random_range(0..24) == 0
            {
                let speed = (SHOT_SPEED + wave) * hostile.speed.signum();
                let place = hostile.place + 8;
                lane.shot = Some(Shot { place, speed });
            }
        }
    }
}

/// A swimmer that comes in from a side.
fn swimmer(kind: Kind, speed: i32, random: &mut GameRandom) -> Swimmer {
    let (place, speed) = if random.random() {
        (-8 * LONG, speed)
    } else {
        (8 * SIDE as i32 - 1, -speed)
    };
    Swimmer { kind, place, speed }
}

/// Moves a swimmer; when there is none, counts down to the `next` one and its successor's wait.
fn move_swimmer(slot: &mut Option<Swimmer>, wait: &mut i32, next: impl FnOnce() -> (Swimmer, i32)) {
    if let Some(swimmer) = slot {
        swimmer.place += swimmer.speed;
        if swimmer.is_outside() {
            *slot = None;
        }
    } else if *wait > 0 {
        *wait -= 1;
    } else {
        let (swimmer, steps) = next();
        (*slot, *wait) = (Some(swimmer), steps);
    }
}
