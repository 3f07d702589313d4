//! The rules of Breakout, one by one.

use super::*;
use crate::game_random;

fn game() -> Breakout {
    Breakout::new(game_random(3))
}

/// A game with a ball in flight.
fn with_ball(column: i32, row: i32, dx: i32, dy: i32) -> Breakout {
    let mut game = game();
    game.ball = Some(Ball {
        x: column * UNIT + UNIT / 2,
        y: row * UNIT + UNIT / 2,
        dx,
        dy,
    });
    game
}

/// Lets the ball fly until it comes down to the row above the paddle: points and steps.
fn fly_down(game: &mut Breakout) -> Option<(i32, i32)> {
    let mut points = 0;
    for half_steps in 0..800 {
        let ball = game.ball?;
        if ball.dy > 0 && ball.row() >= PADDLE_ROW - 1 || game.is_over() {
            return Some((points, half_steps / 2));
        }
        points += game.fly(ball);
    }
    None
}

/// Aims: where the paddle should be so that the next flight breaks the most and can be returned.
fn aim(game: &Breakout) -> Option<i32> {
    let mut landed = game.clone();
    let (_, steps) = fly_down(&mut landed)?;
    let places = 0..=WIDTH - game.paddle_width;
    let reachable = places.filter(|place| (place - game.paddle).abs() <= steps);
    let worth = |place: i32| {
        let mut ahead = landed.clone();
        ahead.paddle = place;
        let touches = ahead.touches;
        for _ in 0..4 {
            if ahead.touches == touches {
                let ball = ahead.ball?;
                ahead.fly(ball);
            }
        }
        let (points, steps) = fly_down(&mut ahead)?;
        let way = (ahead.ball?.column() - place - ahead.paddle_width / 2).abs();
        let lost = (way - steps - 1).max(0);
        Some((points - 20 * lost, -(place - game.paddle).abs()))
    };
    reachable
        .filter_map(|place| Some((worth(place)?, place)))
        .max()
        .map(|(_, place)| place)
}

#[test]
fn the_ball_waits_until_fire_is_held() {
    let mut game = game();
    for _ in 0..50 {
        for action in [0, FIRE, FIRE, LEFT, FIRE, RIGHT, FIRE, FIRE] {
            assert_eq!(game.step(action), 0);
            assert!(game.ball.is_none());
        }
        game.step(0);
    }
    for _ in 0..LAUNCH_STEPS {
        assert!(game.ball.is_none());
        game.step(FIRE);
    }
    assert!(game.ball.is_some_and(|ball| ball.dy < 0));
    assert_eq!(game.lives(), LIVES);
}

#[test]
fn a_ball_is_launched_for_those_who_had_time_to_do_it() {
    let mut game = game();
    for life in 0..LIVES {
        for step in 0..PATIENCE {
            assert_eq!(game.serve(), None, "{step}");
            game.step([LEFT, RIGHT][step as usize % 2]);
        }
        for _ in 0..LAUNCH_STEPS {
            assert_eq!(game.serve(), Some(FIRE));
            game.step(FIRE);
        }
        assert!(game.ball.is_some() && game.serve().is_none());
        assert_eq!(game.lives(), LIVES - life);
        game.lose_ball();
    }
}

#[test]
fn each_row_has_its_value() {
    for (row, value) in VALUES.iter().enumerate() {
        let mut game = with_ball(1, WALL_TOP + row as i32 + 1, 4, -16);
        game.bricks = [0; VALUES.len()];
        game.bricks[row] = 0b11;
        assert_eq!(game.step(0), *value, "row {row}");
        assert_eq!(game.bricks[row], 0b10);
        assert!(game.ball.is_some_and(|ball| ball.dy > 0), "it bounces");
    }
}

#[test]
fn a_brick_from_the_side_turns_the_ball_sideways() {
    let mut game = with_ball(5, WALL_TOP, 16, -1);
    game.bricks[0] = 0b100;
    game.bricks[1] = 0;
    game.step(0);
    assert_eq!(game.bricks[0], 0);
    assert!(game.ball.is_some_and(|ball| ball.dx < 0));
}

#[test]
fn a_missed_ball_costs_a_life_and_the_last_one_ends_the_game() {
    let mut game = game();
    for left in (0..LIVES).rev() {
        game.ball = with_ball(1, PADDLE_ROW - 1, 4, 16).ball;
        game.paddle = 15;
        game.paddle_width = NARROW_PADDLE;
        for _ in 0..4 {
            if !game.is_over() && game.ball.is_some() {
                assert_eq!(game.step(0), 0);
            }
        }
        assert_eq!(game.lives(), left);
        assert_eq!(game.paddle_width, WIDE_PADDLE);
        assert!(game.ball.is_none());
    }
    assert!(game.is_over());
}

#[test]
fn the_paddle_sends_the_ball_where_it_is_hit() {
    for (column, right) in [(10, false), (13, true)] {
        let mut game = with_ball(column, PADDLE_ROW - 1, 0, 16);
        for _ in 0..2 {
            game.step(0);
        }
        let ball = game.ball.unwrap();
        assert!(ball.dy < 0);
        assert_eq!(ball.dx > 0, right);
        assert_eq!(game.lives(), LIVES);
    }
}

#[test]
fn touches_and_high_bricks_make_the_ball_faster_and_the_ceiling_shrinks_the_paddle() {
    let mut game = with_ball(11, PADDLE_ROW - 1, 0, 16);
    game.touches = FASTER_AFTER[0] - 1;
    game.step(0);
    game.step(0);
    assert_eq!(game.speed, 1);
    assert_eq!(game.ball.unwrap().dy, -SPEEDS[1]);

    let mut game = with_ball(1, WALL_TOP + 2, 4, -16);
    game.bricks[2] = 0;
    game.step(0);
    assert_eq!(game.ball.unwrap().dy, SPEEDS[2]);

    let mut game = with_ball(1, 0, 4, -16);
    game.step(0);
    assert_eq!(game.paddle_width, NARROW_PADDLE);
}

#[test]
fn a_cleared_wall_comes_back_once() {
    let mut game = with_ball(1, WALL_TOP + 1, 4, -16);
    game.bricks = [0b1, 0, 0, 0, 0, 0];
    assert_eq!(game.step(0), 7);
    assert_eq!(game.walls_left, 1);
    assert!(!game.is_over());
    game.ball = with_ball(11, PADDLE_ROW - 1, 4, 16).ball;
    game.step(0);
    assert_eq!(game.bricks, [FULL_ROW; VALUES.len()], "at the next touch");
    game.bricks = [0b1, 0, 0, 0, 0, 0];
    game.ball = with_ball(1, WALL_TOP + 1, 4, -16).ball;
    assert_eq!(game.step(0), 7);
    assert!(game.is_over());
    assert_eq!(game.lives(), LIVES);
}

#[test]
fn aiming_beats_the_good_player() {
    let (mut aimed, mut followed) = (0, 0);
    let mut random = game_random(1);
    for seed in 0..20 {
        for (total, aims) in [(&mut aimed, true), (&mut followed, false)] {
            let mut game = Breakout::new(game_random(seed));
            for _ in 0..Breakout::STEP_LIMIT {
                let action = match aim(&game) {
                    Some(place) if aims => game.toward(place + game.paddle_width / 2),
                    _ => game.good(&mut random),
                };
                *total += game.step(action);
                if game.is_over() {
                    break;
                }
            }
        }
    }
    assert!(3 * aimed > 4 * followed, "{aimed} {followed}");
}

#[test]
fn any_play_keeps_the_books() {
    let worth = |game: &Breakout| -> i32 {
        let bricks = game.bricks.iter().zip(VALUES);
        bricks
            .map(|(row, value)| row.count_ones() as i32 * value)
            .sum()
    };
    for seed in 0..40 {
        let mut game = Breakout::new(game_random(seed));
        let mut random = game_random(1000 + seed);
        for _ in 0..Breakout::STEP_LIMIT {
            let (lives, before) = (game.lives(), worth(&game));
            let action = match random.random_range(0..40) {
                0 => game.hacker(&mut random),
                wild if wild < seed as i32 => random.random_range(0..4),
                _ => game.good(&mut random),
            };
            let points = game.step(action);
            assert!(game.lives() == lives || game.lives() + 1 == lives);
            let renewed = before == 0 && worth(&game) > 0;
            assert!(renewed || points == before - worth(&game));
            let ball = game.ball.map_or((0, 0), |ball| (ball.column(), ball.row()));
            assert!((0..WIDTH).contains(&ball.0) && (0..=PADDLE_ROW).contains(&ball.1));
            assert!((0..=WIDTH - game.paddle_width).contains(&game.paddle));
            if game.is_over() {
                break;
            }
        }
    }
}

#[test]
fn only_flight_uses_up_the_time_and_then_the_game_ends() {
    let mut game = game();
    game.step(0);
    assert_eq!(game.flight_left, FLIGHT_STEPS);
    game.ball = with_ball(3, 12, 4, -16).ball;
    game.flight_left = 2;
    game.step(0);
    assert!(!game.is_over());
    game.step(0);
    assert!(game.is_over());
    assert_eq!(game.lives(), LIVES);
}
