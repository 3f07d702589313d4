//! Two players of Beam Rider: one that shoots and dodges, one that fires along empty beams.

use super::{BEAMS, BeamRider, FIRE, LAUNCH, LEFT, RIGHT, SHIP};
use crate::GameRandom;
use rand::RngExt;

/// Rows above the ship within which what falls matters.
const NEAR: i32 = 3;

impl BeamRider {
    /// Dodges what falls, shoots the lowest saucer, and launches at the sentinel.
    pub(super) fn good_action(&self) -> usize {
        let Some(beam) = self.beam() else { return 0 };
        if self.danger(beam) {
            return self.dodge(beam);
        }
        if self.sentinel.is_some() {
            return self.meet_sentinel(beam);
        }
        if self.has_saucer(beam) && self.bolt.is_none() {
            return FIRE;
        }
        let lowest = self.saucers.iter().flatten().max_by_key(|s| s.height);
        lowest.map_or(0, |saucer| self.go(beam, saucer.beam))
    }

    /// Whether something will come down a beam soon.
    fn danger(&self, beam: i32) -> bool {
        let near = |height: i32| height >> 2 >= SHIP - NEAR;
        let charges = |beam: i32| {
            let mut saucers = self.saucers.iter().flatten();
            saucers.any(|s| s.charges && s.beam == beam && near(s.height))
        };
        self.bombs[beam as usize].is_some_and(near)
            || self.rocks[beam as usize].is_some_and(near)
            || charges(beam)
    }

    fn has_saucer(&self, beam: i32) -> bool {
        self.saucers.iter().flatten().any(|s| s.beam == beam)
    }

    /// To a neighbouring beam, a free one if there is one.
    fn dodge(&self, beam: i32) -> usize {
        if beam > 0 && !self.danger(beam - 1) {
            LEFT
        } else if beam < BEAMS - 1 && !self.danger(beam + 1) {
            RIGHT
        } else {
            FIRE
        }
    }

    /// One step from beam to beam, unless it is dangerous there.
    fn go(&self, from: i32, to: i32) -> usize {
        match (to - from).signum() {
            1 if !self.danger(from + 1) => RIGHT,
            -1 if !self.danger(from - 1) => LEFT,
            _ => 0,
        }
    }

    /// Waits at the middle beam and launches as soon as the sentinel is there: in time for the slow
    /// ones of the first sector only, since a torpedo takes a while.
    fn meet_sentinel(&self, beam: i32) -> usize {
        if beam != BEAMS / 2 {
            return self.go(beam, BEAMS / 2);
        }
        if self.sentinel_covers(beam) && self.bolt.is_none() {
            LAUNCH
        } else {
            0
        }
    }

    /// Wanders, and fires only along beams that are empty and stay so.
    pub(super) fn hacker_action(&self, random: &mut GameRandom) -> usize {
        let Some(beam) = self.beam() else { return 0 };
        if self.danger(beam) {
            return self.dodge(beam);
        }
        // A saucer changes beams at most once while a bolt flies; a new one may come anywhere.
        let complete = self.saucers.iter().flatten().count() as i32 == self.swarm();
        let empty = complete && (beam - 1..=beam + 1).all(|beam| !self.has_saucer(beam));
        match random.random_range(0..4) {
            0 | 1 if empty && self.bolt.is_none() => FIRE,
            2 => self.go(beam, (beam - 1).max(0)),
            3 => self.go(beam, (beam + 1).min(BEAMS - 1)),
            _ => 0,
        }
    }
}
