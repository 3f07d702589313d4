//! The scripted players of Space Invaders.

use super::{CANNON_ROW, CANNON_WIDTH, FIRE, LEFT, RIGHT, SHOT_SPEED, WIDTH};
use super::{FIELD, SpaceInvaders};
use crate::GameRandom;
use rand::RngExt;

/// Steps for which the good player looks ahead; few, so that it can be surprised.
const GLANCE: i32 = 1;
/// Steps for which the one who hides looks ahead: until the bombs that fall now are down.
const LOOKOUT: i32 = 12;
/// Places of the cannon, one bit each.
const PLACES: u32 = (1 << (WIDTH - CANNON_WIDTH + 1)) - 1;

impl SpaceInvaders {
    /// Goes to the nearest place from which a shot would hit, and fires, as the bombs allow.
    pub(super) fn hunt(&self) -> usize {
        let places = 0..=WIDTH - CANNON_WIDTH;
        let wait = |place: i32| (place - self.cannon).abs();
        let nearest = places
            .filter(|place| self.would_hit(*place, wait(*place)))
            .min_by_key(|place| wait(*place));
        let wish = match nearest {
            Some(place) if place < self.cannon => LEFT,
            Some(place) if place > self.cannon => RIGHT,
            Some(_) if self.is_loaded() => FIRE,
            _ => 0,
        };
        self.safe(wish, GLANCE)
    }

    /// Strolls, stays alive, and fires only where nothing can be hit.
    pub(super) fn hide(&self, random: &mut GameRandom) -> usize {
        let wish = match random.random_range(0..4) {
            FIRE if self.saucer_is_near() || self.would_hit(self.cannon, 0) => 0,
            wish => wish,
        };
        self.safe(wish, LOOKOUT)
    }

    /// Whether a saucer is there, or will be before a shot is gone.
    fn saucer_is_near(&self) -> bool {
        self.saucer.is_some() || self.saucer_wait <= (CANNON_ROW / SHOT_SPEED) as u32 + 1
    }

    /// Whether a shot from a place, after some steps, would hit an invader.
    fn would_hit(&self, place: i32, wait: i32) -> bool {
        let x = place + CANNON_WIDTH / 2;
        let mut y = CANNON_ROW;
        let mut swarm = self.swarm.clone();
        for _ in 0..wait {
            swarm.march();
        }
        while y > 0 {
            for _ in 0..SHOT_SPEED {
                y -= 1;
                if self.shield_at(x, y) {
                    return false;
                }
                if swarm.hit(x, y).is_some() {
                    return true;
                }
            }
            swarm.march();
            if swarm.hit(x, y).is_some() {
                return true;
            }
        }
        false
    }

    /// The wish, if the cannon can then still escape all bombs that fall; else what saves it.
    fn safe(&self, wish: usize, steps: i32) -> usize {
        let places = self.safe_places(steps);
        let is_safe = |action: &usize| {
            let step = match *action {
                LEFT => -1,
                RIGHT => 1,
                _ => 0,
            };
            let place = (self.cannon + step).clamp(0, WIDTH - CANNON_WIDTH);
            places >> place & 1 == 1
        };
        let choices = [wish, 0, LEFT, RIGHT];
        choices.into_iter().find(is_safe).unwrap_or(wish)
    }

    /// The places after this step from which some path avoids the bombs for some steps more,
    /// one bit each. Worked out from the last step back to the first.
    fn safe_places(&self, steps: i32) -> u32 {
        let mut safe = PLACES;
        for step in (1..=steps).rev() {
            safe = (safe | safe << 1 | safe >> 1) & PLACES;
            for bomb in self.bombs.iter().flatten() {
                if (CANNON_ROW..FIELD as i32).contains(&(bomb.y + step)) {
                    safe &= !((0b111 << bomb.x) >> (CANNON_WIDTH - 1));
                }
            }
        }
        safe
    }
}
