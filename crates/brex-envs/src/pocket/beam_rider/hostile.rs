//! What comes at the ship: saucers, bombs, rocks and the sentinel.

use super::{BEAMS, BeamRider, SENTINEL, SHIP, Saucer, THIRDS, TOP, TURN};
use crate::pocket::frame::SIDE;
use rand::RngExt;

impl BeamRider {
    /// Moves saucers and lets new ones come while the sector has some.
    pub(super) fn come(&mut self) {
        let (sector, alarm, swarm) = (self.sector, self.alarm, self.swarm());
        let (ship, bolt) = (self.nearest_beam(), self.bolt);
        let random = &mut self.random;
        let mut present = 0;
        for slot in &mut self.saucers {
            let Some(saucer) = slot else { continue };
            present += 1;
            saucer.height += saucer.speed;
            if saucer.charges {
                if saucer.height >> 2 > SHIP + 1 {
                    // It has missed, and comes again from above.
                    *slot = Some(Saucer {
                        beam: random.random_range(0..BEAMS),
                        ..NEW
                    });
                }
                continue;
            }
            if saucer.height >> 2 >= TURN {
                saucer.speed = -1;
            } else if saucer.height >> 2 <= TOP {
                saucer.speed = 1;
            }
            // One draw decides all that a saucer may do.
            let chance = random.random_range(0..256);
            saucer.rest -= i32::from(saucer.rest > 0);
            let aimed_at =
                bolt.is_some_and(|b| b.beam == saucer.beam && b.row > saucer.height >> 2);
            let evades = aimed_at && random.random_range(0..8) < sector.min(4);
            if saucer.rest == 0 && (evades || chance < 16) {
                // Without a truce they prefer the ship's beam.
                let hunted = (ship - saucer.beam).signum();
                let aside = match chance {
                    0..8 if alarm && hunted != 0 => hunted,
                    _ if saucer.beam == 0 => 1,
                    _ if saucer.beam == BEAMS - 1 => -1,
                    _ if chance & 1 == 0 => -1,
                    _ => 1,
                };
                saucer.beam += aside;
                saucer.rest = 8;
            } else if alarm && (64..74 + 6 * sector).contains(&chance) {
                let bomb = &mut self.bombs[saucer.beam as usize];
                *bomb = bomb.or(Some(saucer.height + 4));
            } else if alarm && (128..127 + 2 * sector).contains(&chance) {
                saucer.charges = true;
                saucer.speed = 3 + sector / 3;
            }
        }
        self.saucer_wait -= i32::from(self.saucer_wait > 0);
        if present < swarm && self.saucer_wait == 0 {
            let beam = random.random_range(0..BEAMS);
            if let Some(slot) = self.saucers.iter_mut().find(|slot| slot.is_none()) {
                *slot = Some(Saucer { beam, ..NEW });
            }
            self.saucer_wait = 8;
        }
    }

    /// Lets bombs and rocks fall; new rocks come from the third sector on, while there is no truce.
    pub(super) fn fall(&mut self) {
        let bomb_speed = 3 + self.sector / 2;
        for (falling, speed) in [(&mut self.bombs, bomb_speed), (&mut self.rocks, 3)] {
            for slot in falling {
                *slot = slot
                    .map(|height| height + speed)
                    .filter(|height| height >> 2 <= SHIP + 1);
            }
        }
        if self.alarm && self.sector >= 3 && self.random.random_range(0..48) == 0 {
            let rock = &mut self.rocks[self.random.random_range(0..BEAMS as usize)];
            *rock = rock.or(Some(4 * TOP));
        }
    }

    /// The beam that the ship is on or near.
    fn nearest_beam(&self) -> i32 {
        (self.ship + THIRDS / 2) / THIRDS
    }

    /// Whether anything is where the ship is.
    pub(super) fn is_hit(&self) -> bool {
        let beam = self.nearest_beam();
        let low = |height: i32| (SHIP..=SHIP + 1).contains(&(height >> 2));
        self.bombs[beam as usize].is_some_and(low)
            || self.rocks[beam as usize].is_some_and(low)
            || self
                .saucers
                .iter()
                .flatten()
                .any(|s| s.beam == beam && low(s.height))
    }

    /// Moves the sentinel, which comes when the saucers are shot; behind it the next sector begins.
    pub(super) fn pass(&mut self) {
        let speed = self.sentinel_speed();
        match &mut self.sentinel {
            Some(left) => {
                *left += speed;
                if *left >> 2 >= SIDE as i32 {
                    self.next_sector();
                } else if self.random.random_range(0..8) == 0 {
                    let bomb = &mut self.bombs[self.random.random_range(0..BEAMS as usize)];
                    *bomb = bomb.or(Some(4 * TOP));
                }
            }
            None if self.left == 0 => {
                self.sentinel = Some(-4 * SENTINEL - self.random.random_range(0..16));
            }
            None => {}
        }
    }
}

/// A saucer as it comes.
const NEW: Saucer = Saucer {
    beam: 0,
    height: 4 * TOP,
    speed: 1,
    charges: false,
    rest: 8,
};
