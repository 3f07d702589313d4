//! Two players of Seaquest: one that rescues and shoots, one that only looks busy.

use super::swimmers::lane_row;
use super::{DOWN, FIRE, LANES, LEFT, LOAD, LONG, RIGHT, RIGHTMOST, SHORT, Seaquest, UP};
use crate::GameRandom;
use rand::RngExt;

/// Air that is kept in hand for the way up.
const RESERVE: i32 = 40;
/// Columns within which something hostile matters.
const NEAR: i32 = 9;

impl Seaquest {
    /// Shoots what comes near in its own lane, fetches the nearest diver, and rises in time.
    pub(super) fn good_action(&self) -> usize {
        if self.must_rise() {
            return self.vertical(-1);
        }
        if let Some(action) = self.defence() {
            return action;
        }
        let (mut target, mut nearest) = (None, i32::MAX);
        for lane in 0..LANES {
            let Some(diver) = self.lanes[lane].diver else {
                continue;
            };
            let (dx, dy) = (diver.x() - self.x, lane_row(lane) - self.y);
            let inside = (0..=RIGHTMOST).contains(&diver.x());
            if inside && dx.abs() + 2 * dy.abs() < nearest {
                (target, nearest) = (Some((dx, dy)), dx.abs() + 2 * dy.abs());
            }
        }
        match target {
            Some((_, dy)) if dy != 0 => self.vertical(dy.signum()),
            Some((dx, _)) if dx >= LONG => RIGHT,
            Some((dx, _)) if dx <= -SHORT => LEFT,
            _ if self.y < lane_row(1) => self.vertical(1),
            _ => self.towards(RIGHTMOST / 2),
        }
    }

    fn must_rise(&self) -> bool {
        let urgent = self.air <= self.y + RESERVE && self.aboard > 0;
        self.diving && (urgent || self.aboard == LOAD)
    }

    /// One row up or down, unless something hostile is in the way there.
    fn vertical(&self, direction: i32) -> usize {
        let y = self.y + direction;
        let blocked = (0..LANES).any(|lane| {
            let overlaps = |row: i32| (row - y).abs() < 2 && (row - self.y).abs() >= 2;
            let near = |x: i32| (x - self.x).abs() <= LONG + 2;
            let lane_is = &self.lanes[lane];
            overlaps(lane_row(lane))
                && (lane_is.hostile.is_some_and(|h| near(h.x()))
                    || lane_is.shot.is_some_and(|s| near(s.place >> 3)))
        });
        match (blocked, direction > 0) {
            (true, _) => 0,
            (false, true) => DOWN,
            (false, false) => UP,
        }
    }

    /// What to do about something hostile in the submarine's rows, if anything.
    fn defence(&self) -> Option<usize> {
        for (index, lane) in self.lanes.iter().enumerate() {
            if (lane_row(index) - self.y).abs() >= 2 {
                continue;
            }
            let in_reach = (0..2).contains(&(self.y + 1 - lane_row(index)));
            if let Some(shot) = lane.shot {
                let gap = (shot.place >> 3) - self.x - 1;
                if gap.abs() <= NEAR && gap.signum() != shot.speed.signum() {
                    // Out of the way of a torpedo: up is always free.
                    return Some(self.vertical(-1));
                }
            }
            let Some(hostile) = lane.hostile else {
                continue;
            };
            let gap = hostile.x() - self.x;
            let comes = gap.signum() != hostile.speed.signum();
            let faces = gap.signum() == self.heading;
            if faces && in_reach && self.torpedo.is_none() && gap.abs() < 18 {
                return Some(FIRE);
            }
            if gap.abs() <= NEAR && !faces && gap.abs() > LONG + 1 {
                return Some(if gap > 0 { RIGHT } else { LEFT });
            }
            if gap.abs() <= NEAR && comes {
                return Some(self.vertical(-1));
            }
        }
        None
    }

    fn towards(&self, x: i32) -> usize {
        match (x - self.x).signum() {
            1 => RIGHT,
            -1 => LEFT,
            _ => 0,
        }
    }

    /// Cruises and fires along the surface, where nothing is hit and nothing can hit.
    pub(super) fn hacker_action(&self, random: &mut GameRandom) -> usize {
        match random.random_range(0..4) {
            _ if self.y > 0 => UP,
            0 => FIRE,
            1 => LEFT,
            2 => RIGHT,
            // Keeps its heading, to go to and fro.
            _ if self.heading > 0 && self.x < RIGHTMOST => RIGHT,
            _ if self.x > 0 => LEFT,
            _ => RIGHT,
        }
    }
}
