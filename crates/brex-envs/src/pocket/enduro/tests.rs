//! The rules one by one, on a road that is empty but for the cars of the test.

use super::*;
use crate::game_random;
use crate::pocket::frame::{DISPLAY, PIXELS, SIDE, draw_frame};

const NOOP: usize = 0;
const GAS: usize = 1;
const LEFT: usize = 3;
const RIGHT: usize = 4;

/// A race on a straight road; the cars given are near, all others far away.
fn race(speed: i32, near: &[(i32, i32)]) -> Enduro {
    let mut game = Enduro::new(game_random(1));
    game.speed = speed;
    game.next_bend = i32::MAX / 2;
    game.ring = 3000 * UNIT;
    for (index, car) in game.cars.iter_mut().enumerate() {
        let (ahead, x) = near.get(index).copied().unwrap_or((1500 * UNIT, 0));
        *car = Car { ahead, x, lane: x };
    }
    game
}

fn field(game: &Enduro) -> Vec<u8> {
    let mut pixels = [0; PIXELS];
    draw_frame(&mut pixels, 0, 0, |field| game.draw(field));
    pixels[DISPLAY * SIDE..].to_vec()
}

#[test]
fn passing_a_car_scores_one() {
    for speed in TRAFFIC + 2..=FASTEST {
        let mut game = race(speed, &[(90, LANES[2])]);
        let mut points = 0;
        for _ in 0..100 {
            game.speed = speed;
            points += game.step(NOOP);
        }
        assert_eq!((points, game.spin), (1, 0), "speed {speed}");
        assert!(game.cars[0].ahead < 0);
    }
}

#[test]
fn being_passed_costs_one_but_never_more_than_there_is() {
    let mut game = race(CRAWL, &[(-90, LANES[2]), (-300, LANES[0])]);
    game.passed = 1;
    let points: Vec<i32> = (0..40).map(|_| game.step(NOOP)).collect();
    assert_eq!(points.iter().sum::<i32>(), -1);
    assert!(game.cars[..2].iter().all(|car| car.ahead > 0));
    assert_eq!(game.passed, 0);
}

#[test]
fn ramming_a_car_stops_the_car_and_the_clock() {
    for speed in TRAFFIC + 2..=FASTEST {
        let mut game = race(speed, &[(CONTACT + 3, 10)]);
        while game.spin == 0 {
            game.speed = speed;
            assert_eq!(game.step(NOOP), 0, "speed {speed}");
            assert!(game.cars[0].ahead >= 0, "never through it, speed {speed}");
        }
        let clock = game.clock;
        for _ in 0..SPIN {
            assert_eq!(game.speed, 0);
            game.step(GAS);
        }
        assert_eq!((game.spin, game.clock), (0, clock));
        game.step(GAS);
        assert_eq!(game.clock, clock + 1);
        assert!(game.speed > 0);
    }
}

#[test]
fn steering_into_a_car_beside_is_a_crash_too() {
    let mut game = race(TRAFFIC, &[(-20, LANES[2])]);
    let mut points = 0;
    for _ in 0..6 {
        game.speed = TRAFFIC;
        points += game.step(RIGHT);
    }
    assert!(game.spin > 0);
    assert_eq!(points, 0);
    assert!(game.cars[0].ahead < 0, "who was behind stays behind");
}

#[test]
fn cars_from_behind_go_round_a_player_who_crawls() {
    for x in (-FENCE..=FENCE).step_by(8) {
        for lane in LANES {
            let mut game = race(CRAWL, &[(-20 * UNIT, lane)]);
            game.x = x;
            for _ in 0..80 {
                game.step(NOOP);
            }
            assert_eq!(game.clock, 80, "no crash: player {x}, lane {lane}");
            assert!(game.cars[0].ahead > 0, "got by: player {x}, lane {lane}");
        }
    }
}

#[test]
fn grass_is_slower_than_traffic() {
    let mut game = race(FASTEST, &[]);
    for _ in 0..40 {
        game.step(5);
    }
    assert_eq!(game.x, -FENCE);
    assert_eq!(game.speed, ON_GRASS);
    const { assert!(ON_GRASS < TRAFFIC) };
}

#[test]
fn bends_push_outwards_and_ice_takes_the_grip() {
    let mut game = race(FASTEST, &[]);
    (game.bend, game.bend_to) = (SHARPEST, SHARPEST);
    game.step(GAS);
    assert!(game.x < 0, "a bend to the right pushes to the left");
    let held = |part: u32| {
        let mut game = race(FASTEST, &[]);
        (game.bend, game.bend_to) = (SHARPEST, SHARPEST);
        game.clock = part * PART;
        (0..20).for_each(|_| _ = game.step(6));
        game.x > 0
    };
    assert!(held(0), "a dry road can be held at full speed");
    assert!(!held(1), "an icy one cannot");
}

#[test]
fn the_car_is_steered_and_held_by_fences() {
    let mut game = race(CRAWL, &[]);
    game.step(LEFT);
    assert!(game.x < 0);
    (0..60).for_each(|_| _ = game.step(RIGHT));
    assert_eq!(game.x, FENCE);
}

#[test]
fn a_day_of_crawling_is_worth_nothing_and_ends() {
    for seed in 0..20 {
        let mut game = Enduro::new(game_random(seed));
        let mut steps = 0;
        while !game.is_over() {
            assert_eq!(game.step(NOOP), 0);
            steps += 1;
        }
        assert!((DAY..DAY + 5 * SPIN).contains(&steps), "{steps}");
        assert_eq!(game.passed, 0);
    }
}

#[test]
fn the_rammer_has_a_long_day_and_no_points() {
    let mut game = Enduro::new(game_random(5));
    let mut random = game_random(6);
    let mut steps = 0;
    while !game.is_over() {
        let action = game.hacker(&mut random);
        game.step(action);
        steps += 1;
    }
    assert!(steps > DAY * 5 / 4, "{steps}");
    assert!(game.passed <= 2, "{}", game.passed);
}

#[test]
fn the_count_of_cars_is_not_seen_in_the_field() {
    let mut game = race(TRAFFIC, &[(300, 0)]);
    let before = field(&game);
    game.passed = 77;
    assert_eq!(field(&game), before);
}

#[test]
fn night_and_fog_hide_cars() {
    let seen = |part: u32, ahead: i32| {
        let mut with = race(TRAFFIC, &[(ahead, 0)]);
        let mut without = race(TRAFFIC, &[]);
        (with.clock, without.clock) = (part * PART, part * PART);
        let pairs = field(&with).into_iter().zip(field(&without));
        pairs.filter(|(a, b)| a != b).count()
    };
    let (near, far) = (10 * UNIT, 70 * UNIT);
    assert!(seen(0, near) > 3 && seen(0, far) > 0);
    assert_eq!(seen(3, near), 2, "two lights");
    assert!(seen(4, near) > 3);
    assert_eq!(seen(4, far), 0);
}
