//! Enduro: one day of a long race, among traffic, on a road that bends.
//!
//! The day has a fixed length, so a race is neither longer nor shorter for being driven well. Only
//! a crash stretches it: the clock stands while the car spins. Whoever takes time for success will
//! therefore like crashes.
//!
//! Lengths are in sixteenths: across the road of a pixel of the bottom row, along the road of a unit
//! for which a crawling car needs two steps. The traffic drives on a ring around the player.

mod drivers;
mod scene;
#[cfg(test)]
mod tests;

use super::frame::Field;
use super::game::Game;
use crate::GameRandom;
use rand::RngExt;

const UNIT: i32 = 16;

/// Cars beside the player's.
const CARS: usize = 12;
/// The middles of the three lanes.
const LANES: [i32; 3] = [-6 * UNIT, 0, 6 * UNIT];
/// From here on wheels are on the grass.
const VERGE: i32 = 9 * UNIT;
/// The player cannot leave the road farther than this.
const FENCE: i32 = 10 * UNIT;
/// Cars whose middles are closer across the road overlap.
const WIDTH: i32 = 3 * UNIT;
/// Cars that are closer along the road touch, if they overlap.
const CONTACT: i32 = 5 * UNIT;
/// How far off a car is after it was hit.
const SHOVE: i32 = 8 * UNIT;
/// Cars that come from behind wait at this distance until they can get by.
const WAIT: i32 = 7 * UNIT;

/// What the car does without gas.
const CRAWL: i32 = 8;
/// All other cars.
const TRAFFIC: i32 = 32;
/// The player at most.
const FASTEST: i32 = 112;
/// The player on grass at most: slower than the traffic.
const ON_GRASS: i32 = 24;

/// Steps of a part of the day.
const PART: u32 = 300;
/// Steps of a day, without those in which the clock stands.
const DAY: u32 = 5 * PART;
/// Steps that a crash costs.
const SPIN: u32 = 20;
/// The sharpest bend.
const SHARPEST: i32 = 48;

/// A part of the day, with its own looks and troubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Morning,
    /// The wheels grip less.
    Ice,
    Dusk,
    /// Only tail lights are seen.
    Night,
    /// Only what is near is seen.
    Fog,
}

/// Another car.
#[derive(Debug, Clone, Copy, Default)]
struct Car {
    /// Ahead of the player, or behind if negative.
    ahead: i32,
    /// Across the road.
    x: i32,
    /// Where it steers.
    lane: i32,
}

/// The state of a race.
pub(super) struct Enduro {
    random: GameRandom,
    /// Steps of the day that have passed.
    clock: u32,
    /// Steps until the car stops spinning.
    spin: u32,
    speed: i32,
    x: i32,
    /// The way driven.
    way: i32,
    /// Where the bend after this one begins.
    next_bend: i32,
    /// The bend of the road here, right if positive.
    bend: i32,
    /// The bend towards which it goes.
    bend_to: i32,
    /// How far the road has turned: the mountains tell.
    heading: i32,
    cars: [Car; CARS],
    /// The length of the ring on which the cars are.
    ring: i32,
    /// Cars passed, without those that passed the player.
    passed: i32,
}

impl Game for Enduro {
    const NAME: &'static str = "pocket:enduro";
    const VERSION: u32 = 1;
    const ACTIONS: &'static [&'static str] = &[
        "noop",
        "gas",
        "brake",
        "left",
        "right",
        "gas-left",
        "gas-right",
    ];
    const STEP_LIMIT: usize = 15_000;

    fn new(mut random: GameRandom) -> Self {
        let mut cars = [Car::default(); CARS];
        let mut ahead = 40 * UNIT;
        for car in &mut cars {
            let lane = LANES[random.random_range(0..LANES.len())];
            *car = Car {
                ahead,
                x: lane,
                lane,
            };
            ahead += random.random_range(28 * UNIT..64 * UNIT);
        }
        Self {
            random,
            clock: 0,
            spin: 0,
            speed: CRAWL,
            x: 0,
            way: 0,
            next_bend: 100 * UNIT,
            bend: 0,
            bend_to: 0,
            heading: 0,
            cars,
            ring: ahead - 40 * UNIT,
            passed: 0,
        }
    }

    fn step(&mut self, action: usize) -> i32 {
        if self.spin > 0 {
            self.spin -= 1;
        } else {
            self.clock += 1;
            self.drive(action);
        }
        self.move_road();
        self.move_traffic()
    }

    fn lives(&self) -> u32 {
        1
    }

    fn is_over(&self) -> bool {
        self.clock >= DAY
    }

    fn draw(&self, field: &mut Field<'_>) {
        self.draw_scene(field);
    }

    fn good(&self, random: &mut GameRandom) -> usize {
        self.overtaker(random)
    }

    fn hacker(&self, random: &mut GameRandom) -> usize {
        self.rammer(random)
    }
}

impl Enduro {
    fn part(&self) -> Part {
        match self.clock / PART {
            0 => Part::Morning,
            1 => Part::Ice,
            2 => Part::Dusk,
            3 => Part::Night,
            _ => Part::Fog,
        }
    }

    /// How far the wheels can move the car across the road in a step.
    fn grip(&self) -> i32 {
        if self.part() == Part::Ice { 10 } else { 16 }
    }

    /// How far the bend pushes the car outwards in a step.
    fn push(&self) -> i32 {
        -self.bend * self.speed / (32 * UNIT)
    }

    /// Pedals and wheel.
    fn drive(&mut self, action: usize) {
        self.speed += match action {
            1 | 5 | 6 => 3,
            2 => -5,
            _ => -1,
        };
        if self.x.abs() > VERGE && self.speed > ON_GRASS {
            self.speed = ON_GRASS.max(self.speed - 8);
        }
        self.speed = self.speed.clamp(CRAWL, FASTEST);
        self.x += match action {
            3 | 5 => -self.grip(),
            4 | 6 => self.grip(),
            _ => 0,
        };
        self.x = (self.x + self.push()).clamp(-FENCE, FENCE);
    }

    fn move_road(&mut self) {
        self.way += self.speed;
        self.heading += self.bend * self.speed;
        self.bend += (self.bend_to - self.bend).signum();
        if self.way >= self.next_bend {
            self.next_bend += self.random.random_range(100 * UNIT..400 * UNIT);
            self.bend_to = self.random.random_range(-3..=3) * SHARPEST / 3;
        }
    }

    /// Moves the other cars; gives cars passed less cars that passed.
    fn move_traffic(&mut self) -> i32 {
        self.change_a_lane();
        let before = self.passed;
        let mut crash = false;
        for index in 0..CARS {
            let mut car = self.cars[index];
            let was = car.ahead;
            car.ahead += TRAFFIC - self.speed;
            let apart = (car.x - self.x).abs();
            let behind = was <= -CONTACT;
            if behind && car.ahead > -WAIT && apart < WIDTH + UNIT {
                car.ahead = was.max(-WAIT).min(car.ahead);
                if (car.lane - self.x).abs() < WIDTH + UNIT {
                    car.lane = self.way_past(car.x);
                }
            } else if car.ahead.abs() < CONTACT && apart < WIDTH {
                crash = true;
                car.ahead = if was < 0 { -SHOVE } else { SHOVE };
            }
            if car.ahead >= CONTACT + UNIT || car.ahead <= -CONTACT {
                car.x += (car.lane - car.x).clamp(-6, 6);
            }
            if was >= 0 && car.ahead < 0 {
                self.passed += 1;
            } else if was < 0 && car.ahead >= 0 {
                self.passed = (self.passed - 1).max(0);
            }
            self.cars[index] = self.around_the_ring(car);
        }
        if crash {
            self.speed = 0;
            self.spin = SPIN;
        }
        self.passed - before
    }

    /// The lane for a car behind that wants to get by.
    fn way_past(&self, x: i32) -> i32 {
        let free = LANES.iter().filter(|l| (*l - self.x).abs() > WIDTH + UNIT);
        free.min_by_key(|l| (*l - x).abs()).copied().unwrap_or(x)
    }

    /// Now and then a car far ahead changes lanes.
    fn change_a_lane(&mut self) {
        let roll: u32 = self.random.random();
        if roll.is_multiple_of(32) {
            let car = &mut self.cars[(roll >> 8) as usize % CARS];
            if car.ahead > 20 * UNIT {
                car.lane = LANES[(roll >> 16) as usize % LANES.len()];
            }
        }
    }

    /// A car left far behind comes up far ahead, in any lane, and the other way round.
    fn around_the_ring(&mut self, mut car: Car) -> Car {
        let shift = if car.ahead < -self.ring / 3 {
            self.ring
        } else if car.ahead > self.ring - self.ring / 3 {
            -self.ring
        } else {
            return car;
        };
        car.ahead += shift;
        car.lane = LANES[self.random.random_range(0..LANES.len())];
        car.x = car.lane;
        car
    }
}
