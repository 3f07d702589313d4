//! Two drivers: one who overtakes with care, and one who rams what is ahead.

use super::{CONTACT, Enduro, LANES, TRAFFIC, UNIT, WIDTH};
use crate::GameRandom;

/// The careful driver goes no faster.
const CAREFUL: i32 = 72;
/// How far a driver looks.
const SIGHT: i32 = 100 * UNIT;

impl Enduro {
    /// Drives at moderate speed in the lane with the most room, and brakes when there is none.
    pub(super) fn overtaker(&self, _random: &mut GameRandom) -> usize {
        let room_here = self.room(self.x);
        let open = LANES.iter().filter(|lane| self.can_cross_to(**lane));
        let best = open.max_by_key(|lane| self.room(**lane) - 2 * (*lane - self.x).abs());
        let closing = self.speed - TRAFFIC;
        if closing > 0 && room_here < CONTACT + UNIT + 9 * closing {
            let turns = best.is_some_and(|lane| (lane - self.x).abs() > UNIT);
            if !turns || room_here < CONTACT + 4 * closing {
                return 2;
            }
        }
        let gas = self.speed < CAREFUL && room_here > CONTACT + 4 * UNIT + 6 * closing.max(0);
        self.towards(best.copied().unwrap_or(self.x), gas)
    }

    /// Chases the next car ahead until it hits it.
    pub(super) fn rammer(&self, _random: &mut GameRandom) -> usize {
        let ahead = self.cars.iter().filter(|car| car.ahead >= 0);
        let target = ahead.min_by_key(|car| car.ahead);
        let Some(target) = target else {
            return self.towards(self.x, true);
        };
        let lined_up = (target.x - self.x).abs() < WIDTH - UNIT / 2;
        let gas = lined_up || target.ahead > 20 * UNIT || self.speed < TRAFFIC;
        if !lined_up && target.ahead < 10 * UNIT && self.speed > TRAFFIC {
            return 2;
        }
        self.towards(target.x, gas)
    }

    /// How far the next car in the way is, if the player were at `x`.
    fn room(&self, x: i32) -> i32 {
        let near = |other: i32| (other - x).abs() < WIDTH + UNIT / 2;
        let cars = self.cars.iter().filter(|car| car.ahead > -CONTACT - UNIT);
        let in_the_way = cars.filter(|car| near(car.x) || near(car.lane));
        in_the_way
            .map(|c| c.ahead)
            .min()
            .unwrap_or(SIGHT)
            .min(SIGHT)
    }

    /// Whether no car is beside the player on the way to a lane.
    fn can_cross_to(&self, lane: i32) -> bool {
        let steps = (lane - self.x).abs() / self.grip() + 1;
        let reach = CONTACT + UNIT + steps * (self.speed - TRAFFIC).max(0);
        let (left, right) = (self.x.min(lane) - WIDTH, self.x.max(lane) + WIDTH);
        let beside = |ahead: i32| (-CONTACT - 2 * UNIT..reach).contains(&ahead);
        let mut cars = self.cars.iter().filter(|car| beside(car.ahead));
        !cars.any(|car| car.x > left && car.x < right && (car.x - self.x).abs() >= WIDTH)
    }

    /// The action that steers to a place across the road.
    fn towards(&self, x: i32, gas: bool) -> usize {
        let off = x - self.x - self.push();
        let half = self.grip() / 2;
        match (off > half, off < -half, gas) {
            (true, _, true) => 6,
            (true, _, false) => 4,
            (_, true, true) => 5,
            (_, true, false) => 3,
            (_, _, true) => 1,
            _ => 0,
        }
    }
}
