//! Breakout: a paddle, a ball, two walls of bricks.
//!
//! The ball lies on the paddle until fire is held for a while, so that whoever does nothing, or only
//! taps, keeps it for ever. The time of flight is limited, as in the timed variants of the model, so
//! that a better player scores more in the same time instead of playing longer. Positions of the ball are
//! in sixteenths of a pixel.

use super::frame::{FIELD, Field, SIDE};
use super::game::Game;
use crate::GameRandom;
use rand::RngExt;

const FIRE: usize = 1;
const LEFT: usize = 2;
const RIGHT: usize = 3;

/// Parts of a pixel.
const UNIT: i32 = 16;
const WIDTH: i32 = SIDE as i32;
const PADDLE_ROW: i32 = FIELD as i32 - 1;
const WIDE_PADDLE: i32 = 4;
const NARROW_PADDLE: i32 = 3;
/// Points of a brick by its row, from the top.
const VALUES: [i32; 6] = [7, 7, 4, 4, 1, 1];
const WALL_TOP: i32 = 3;
const BRICK_WIDTH: i32 = 3;
const BRICKS_IN_ROW: u32 = (WIDTH / BRICK_WIDTH) as u32;
const FULL_ROW: u8 = ((1_u32 << BRICKS_IN_ROW) - 1) as u8;
const WALLS: u32 = 2;
const LIVES: u32 = 8;
/// Steps of flight, of all balls together, after which the game is over.
const FLIGHT_STEPS: u32 = 400;
/// Steps in a row for which fire is held to launch the ball.
const LAUNCH_STEPS: u32 = 3;
/// Steps for which a ball lies on the paddle before it is launched for a player for whom play is begun.
const PATIENCE: u32 = 10;
/// Rows per step, in units: at first, after some touches of the paddle, and at the end.
const SPEEDS: [i32; 3] = [16, 24, 32];
/// Touches of the paddle after which the ball is faster.
const FASTER_AFTER: [u32; 2] = [3, 8];
/// Columns per row of a ball from the end of the paddle, in units.
const STEEPEST: i32 = 16;
const FLATTEST: i32 = 7;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ball {
    x: i32,
    y: i32,
    dx: i32,
    dy: i32,
}

impl Ball {
    fn column(self) -> i32 {
        self.x.div_euclid(UNIT)
    }

    fn row(self) -> i32 {
        self.y.div_euclid(UNIT)
    }
}

/// The game.
#[derive(Clone)]
pub(super) struct Breakout {
    random: GameRandom,
    /// Its left column.
    paddle: i32,
    paddle_width: i32,
    /// None while it lies on the paddle.
    ball: Option<Ball>,
    /// Steps for which fire has been held with the ball on the paddle.
    charge: u32,
    /// Steps for which the ball has been lying there.
    rest: u32,
    /// How often the paddle has hit this ball.
    touches: u32,
    /// Which of [`SPEEDS`] the ball has.
    speed: usize,
    /// The bricks of each row, one bit each.
    bricks: [u8; VALUES.len()],
    walls_left: u32,
    /// Steps of flight that are left.
    flight_left: u32,
    lives: u32,
}

impl Breakout {
    /// Where the ball lies on the paddle.
    fn rest_column(&self) -> i32 {
        self.paddle + self.paddle_width / 2
    }

    fn hold_fire(&mut self, fire: bool) {
        self.charge = if fire { self.charge + 1 } else { 0 };
        if self.charge < LAUNCH_STEPS {
            return;
        }
        self.charge = 0;
        let dx = self.random.random_range(FLATTEST..=STEEPEST / 2 + FLATTEST);
        let left = self.random.random_range(0..2) == 0;
        self.ball = Some(Ball {
            x: self.rest_column() * UNIT + UNIT / 2,
            y: (PADDLE_ROW - 1) * UNIT + UNIT / 2,
            dx: if left { -dx } else { dx },
            dy: -SPEEDS[0],
        });
    }

    /// Half a step of a ball that flies; a step is at most two pixels, so that nothing is jumped.
    fn fly(&mut self, mut ball: Ball) -> i32 {
        let mut points = 0;
        let (old_x, old_y) = (ball.x, ball.y);
        ball.x += ball.dx / 2;
        if ball.x < 0 || ball.x >= WIDTH * UNIT {
            ball.dx = -ball.dx;
            ball.x = old_x;
        }
        if let Some(value) = self.break_brick(ball) {
            points += value;
            ball.dx = -ball.dx;
            ball.x = old_x;
        }
        ball.y += ball.dy / 2;
        if ball.y < 0 {
            ball.dy = -ball.dy;
            ball.y = old_y;
            self.paddle_width = NARROW_PADDLE;
        }
        if let Some(value) = self.break_brick(ball) {
            points += value;
            ball.dy = -ball.dy;
            ball.y = old_y;
        }
        if ball.dy.abs() < SPEEDS[self.speed] {
            ball.dy = ball.dy.signum() * SPEEDS[self.speed];
        }
        self.ball = Some(ball);
        if ball.dy > 0 && ball.row() >= PADDLE_ROW {
            self.come_down(ball);
        }
        points
    }

    /// The ball reaches the row of the paddle: it is hit or lost.
    fn come_down(&mut self, mut ball: Ball) {
        let under = self.paddle..self.paddle + self.paddle_width;
        if ball.row() > PADDLE_ROW || !under.contains(&ball.column()) {
            if ball.row() > PADDLE_ROW {
                self.lose_ball();
            }
            return;
        }
        self.touches += 1;
        let earned = FASTER_AFTER.iter().filter(|n| self.touches >= **n).count();
        self.speed = self.speed.max(earned);
        let middle = self.paddle * UNIT + self.paddle_width * UNIT / 2;
        // A little chance, so that no ball runs in a circle for ever.
        let off = ball.x - middle + self.random.random_range(-3..=3);
        let reach = self.paddle_width * UNIT / 2;
        let slope = (off.abs() * STEEPEST / reach).clamp(FLATTEST, STEEPEST);
        ball.dx = off.signum() * slope * SPEEDS[self.speed] / UNIT;
        if ball.dx == 0 {
            ball.dx = FLATTEST;
        }
        ball.dy = -SPEEDS[self.speed];
        ball.y = PADDLE_ROW * UNIT - 1;
        self.ball = Some(ball);
        if self.bricks == [0; VALUES.len()] {
            self.bricks = [FULL_ROW; VALUES.len()];
        }
    }

    fn lose_ball(&mut self) {
        self.lives -= 1;
        self.ball = None;
        self.charge = 0;
        self.rest = 0;
        self.touches = 0;
        self.speed = 0;
        self.paddle_width = WIDE_PADDLE;
        self.paddle = self.paddle.min(WIDTH - WIDE_PADDLE);
        if self.bricks == [0; VALUES.len()] {
            self.bricks = [FULL_ROW; VALUES.len()];
        }
    }

    /// Takes away the brick where the ball is; its points, if there is one.
    fn break_brick(&mut self, ball: Ball) -> Option<i32> {
        let row = usize::try_from(ball.row() - WALL_TOP).ok()?;
        let bricks = self.bricks.get_mut(row)?;
        let bit = 1_u8 << (ball.column().clamp(0, WIDTH - 1) / BRICK_WIDTH);
        if *bricks & bit == 0 {
            return None;
        }
        *bricks &= !bit;
        if VALUES[row] == VALUES[0] {
            self.speed = SPEEDS.len() - 1;
        }
        if self.bricks == [0; VALUES.len()] {
            self.walls_left -= 1;
        }
        Some(VALUES[row])
    }

    fn toward(&self, column: i32) -> usize {
        let middle = self.paddle + self.paddle_width / 2;
        match column - middle {
            off if off < 0 => LEFT,
            off if off > 0 => RIGHT,
            _ => 0,
        }
    }
}

impl Game for Breakout {
    const NAME: &'static str = "pocket:breakout";
    const VERSION: u32 = 1;
    const ACTIONS: &'static [&'static str] = &["noop", "fire", "left", "right"];
    const STEP_LIMIT: usize = 4000;

    fn new(random: GameRandom) -> Self {
        Self {
            random,
            paddle: (WIDTH - WIDE_PADDLE) / 2,
            paddle_width: WIDE_PADDLE,
            ball: None,
            charge: 0,
            rest: 0,
            touches: 0,
            speed: 0,
            bricks: [FULL_ROW; VALUES.len()],
            walls_left: WALLS,
            flight_left: FLIGHT_STEPS,
            lives: LIVES,
        }
    }

    fn step(&mut self, action: usize) -> i32 {
        match action {
            LEFT => self.paddle = (self.paddle - 1).max(0),
            RIGHT => self.paddle = (self.paddle + 1).min(WIDTH - self.paddle_width),
            _ => {}
        }
        let mut points = 0;
        if self.ball.is_none() {
            self.rest += 1;
            self.hold_fire(action == FIRE);
            return points;
        }
        for _ in 0..2 {
            if let Some(ball) = self.ball
                && !self.is_over()
            {
                points += self.fly(ball);
            }
        }
        self.flight_left -= 1;
        points
    }

    fn lives(&self) -> u32 {
        self.lives
    }

    fn is_over(&self) -> bool {
        self.lives == 0 || self.walls_left == 0 || self.flight_left == 0
    }

    fn draw(&self, field: &mut Field<'_>) {
        for (row, bricks) in self.bricks.iter().enumerate() {
            let brightness = 190 - 25 * row as u8;
            for brick in (0..BRICKS_IN_ROW as i32).filter(|b| bricks >> b & 1 == 1) {
                let y = WALL_TOP + row as i32;
                field.fill(brick * BRICK_WIDTH, y, BRICK_WIDTH, 1, brightness);
            }
        }
        field.fill(self.paddle, PADDLE_ROW, self.paddle_width, 1, 220);
        match self.ball {
            Some(ball) => field.dot(ball.column(), ball.row(), 255),
            None => {
                let glow = 150 + 50 * self.charge as u8;
                field.dot(self.rest_column(), PADDLE_ROW - 1, glow);
            }
        }
    }

    /// Only for those who have had the time to go where they like to launch from: agents that learned to
    /// choose that place score half as much where they may not.
    fn serve(&self) -> Option<usize> {
        (self.ball.is_none() && self.rest >= PATIENCE).then_some(FIRE)
    }

    /// Follows the column of the ball, which is too late for fast and steep balls.
    fn good(&self, _: &mut GameRandom) -> usize {
        self.ball.map_or(FIRE, |ball| self.toward(ball.column()))
    }

    /// Taps fire but never holds it, and strolls.
    fn hacker(&self, random: &mut GameRandom) -> usize {
        match random.random_range(1..4) {
            FIRE if self.charge + 1 < LAUNCH_STEPS => FIRE,
            FIRE => LEFT,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
