//! The rules of Space Invaders, one by one.

use super::swarm::{COLUMNS, PITCH_X, PITCH_Y};
use super::*;
use crate::game_random;

/// A game in which no bomb falls by itself for a while.
fn game() -> SpaceInvaders {
    let mut game = SpaceInvaders::new(game_random(5));
    game.bomb_wait = 1000;
    game.saucer_wait = 1000;
    game
}

/// Lets the shot fly until it is gone; the points it makes.
fn until_shot_is_gone(game: &mut SpaceInvaders) -> i32 {
    let mut points = 0;
    while game.shot.is_some() {
        points += game.step(0);
    }
    points
}

/// Shoots all invaders but some from the swarm, without a game around it.
fn leave(swarm: &mut Swarm, keep: &[(usize, usize)]) {
    for (row, column, x, y) in swarm.clone().alive() {
        if !keep.contains(&(row, column)) {
            assert_eq!(swarm.hit(x, y), Some(row));
        }
    }
    assert_eq!(swarm.count() as usize, keep.len());
}

#[test]
fn each_row_has_its_value() {
    for (row, value) in VALUES.iter().enumerate() {
        let mut game = game();
        leave(&mut game.swarm, &[(row, 1), (0, 5)]);
        let (_, _, x, y) = game.swarm.alive().find(|i| i.1 == 1).unwrap();
        game.shot = Some(Dot { x, y: y + 2 });
        assert_eq!(game.step(0), *value, "row {row}");
        assert!(game.shot.is_none());
        assert!(game.is_loaded(), "a hit needs no reloading");
    }
}

#[test]
fn a_miss_needs_reloading_and_shields_stop_shots() {
    let mut game = game();
    game.cannon = 22 - CANNON_WIDTH + 1;
    assert_eq!(game.step(FIRE), 0);
    game.shot.as_mut().unwrap().x = WIDTH - 1;
    assert_eq!(until_shot_is_gone(&mut game), 0);
    assert_eq!(game.reload, RELOAD);
    for _ in 0..RELOAD - 1 {
        game.step(FIRE);
        assert!(game.shot.is_none());
    }
    game.step(FIRE);
    assert!(game.shot.is_some());

    let mut game = self::game();
    game.cannon = 4;
    let shield = game.shields;
    game.step(FIRE);
    assert_eq!(until_shot_is_gone(&mut game), 0);
    assert_eq!(game.shields[0], shield[0]);
    assert_eq!(game.shields[1], shield[1] & !(1 << 5));
    assert_eq!(game.reload, RELOAD);
}

#[test]
fn the_saucer_crosses_and_can_be_shot() {
    let mut game = game();
    game.saucer_wait = 1;
    game.step(0);
    assert!(game.saucer.is_some());
    game.saucer = Some(Saucer {
        x: 10,
        direction: 1,
        rests: false,
    });
    game.shot = Some(Dot { x: 11, y: 1 });
    assert_eq!(game.step(0), SAUCER_VALUE);
    assert!(game.saucer.is_none());

    game.saucer_wait = 1;
    let steps = (0..100).take_while(|_| {
        game.step(0);
        game.saucer.is_some()
    });
    assert_eq!(steps.count() as i32, 2 * (WIDTH + SAUCER_WIDTH - 1));
}

#[test]
fn a_bomb_costs_a_life_and_the_last_one_ends_the_game() {
    let mut game = game();
    for left in (0..LIVES).rev() {
        game.bombs[0] = Some(Dot {
            x: game.cannon + 2,
            y: CANNON_ROW - 1,
        });
        game.bombs[1] = Some(Dot { x: 20, y: 9 });
        assert_eq!(game.step(0), 0);
        assert_eq!(game.lives(), left);
        assert_eq!(game.bombs, [None; BOMBS]);
        if left > 0 {
            let (place, swarm) = (game.cannon, game.swarm.clone());
            for _ in 0..PAUSE {
                game.step(LEFT);
            }
            assert_eq!((game.cannon, &game.swarm), (place, &swarm), "all is still");
        }
    }
    assert!(game.is_over());
}

#[test]
fn bombs_miss_beside_the_cannon_and_shields_stop_them() {
    let mut game = game();
    game.cannon = 0;
    game.bombs[0] = Some(Dot { x: 3, y: 13 });
    game.bombs[1] = Some(Dot { x: 4, y: 13 });
    for _ in 0..8 {
        game.step(0);
    }
    assert_eq!(game.lives(), LIVES);
    assert_eq!(game.bombs, [None; BOMBS]);
    assert!(!game.shield_at(4, SHIELD_ROW));
    assert!(game.shield_at(4, SHIELD_ROW + 1));
}

#[test]
fn landing_ends_the_game_with_lives_left() {
    let mut game = game();
    game.swarm.y = CANNON_ROW - 1 - (ROWS as i32 - 1) * PITCH_Y - 1;
    let mut steps = 0;
    while !game.is_over() {
        assert_eq!(game.step(0), 0);
        game.bomb_wait = 1000;
        steps += 1;
        assert!(steps < 200);
    }
    assert!(game.landed);
    assert_eq!(game.lives(), LIVES);
    let whole = SHIELDS.count_ones();
    assert!(
        game.shields[0].count_ones() < whole,
        "they trample the shields"
    );
}

#[test]
fn the_last_wave_ends_the_game() {
    let mut game = game();
    for wave in 1..=WAVES as i32 {
        assert_eq!(game.swarm.y, FIRST_ROW + wave - 1);
        assert!(!game.is_over());
        game.shields = [0; SHIELD_HEIGHT];
        leave(&mut game.swarm, &[(3, 2)]);
        let (_, _, x, y) = game.swarm.alive().next().unwrap();
        game.shot = Some(Dot { x, y: y + 1 });
        assert_eq!(game.step(0), VALUES[3]);
    }
    assert!(game.is_over());
    assert_eq!(game.lives(), LIVES);
}

#[test]
fn the_swarm_speeds_up_turns_and_sinks() {
    let mut swarm = Swarm::new(2);
    let full = swarm.interval();
    leave(&mut swarm, &[(0, 0), (3, 5)]);
    assert!(swarm.interval() < full);
    let (mut lowest_x, mut highest_x) = (swarm.x, swarm.x);
    while swarm.y < 5 {
        let (x, y) = (swarm.x, swarm.y);
        swarm.march();
        assert!((swarm.x - x).abs() + swarm.y - y <= 1);
        (lowest_x, highest_x) = (lowest_x.min(swarm.x), highest_x.max(swarm.x));
    }
    let width = (COLUMNS as i32 - 1) * PITCH_X + INVADER_WIDTH;
    assert_eq!((lowest_x, highest_x), (0, WIDTH - width));
}

#[test]
fn the_good_player_never_wastes_a_shot_that_chance_does_not_spoil() {
    let mut game = game();
    let mut random = game_random(1);
    for _ in 0..150 {
        let action = game.good(&mut random);
        game.step(action);
        game.bomb_wait = 1000;
        assert_eq!(game.reload, 0);
    }
    assert!(game.swarm.count() < 12);
}

#[test]
fn any_play_keeps_the_books() {
    for seed in 0..40 {
        let mut game = SpaceInvaders::new(game_random(seed));
        let mut random = game_random(1000 + seed);
        let mut steps = 0;
        while !game.is_over() {
            let (lives, count) = (game.lives(), game.swarm.count());
            let action = match seed % 3 {
                0 => game.good(&mut random),
                1 => game.hacker(&mut random),
                _ => random.random_range(0..4),
            };
            let points = game.step(action);
            assert!(game.lives() <= lives && game.lives() + 1 >= lives);
            let shot_down = count != game.swarm.count();
            assert!(points % 5 == 0 && (0..=SAUCER_VALUE).contains(&points));
            assert!(points == SAUCER_VALUE || (points > 0) == shot_down);
            steps += 1;
            assert!(steps < SpaceInvaders::STEP_LIMIT);
        }
    }
}
