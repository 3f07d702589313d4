//! The swarm of Space Invaders: how it marches, sinks and speeds up.

use super::super::frame::SIDE;

pub(super) const ROWS: usize = 4;
pub(super) const COLUMNS: usize = 6;
/// Pixels from one invader to the next.
pub(super) const PITCH_X: i32 = 3;
pub(super) const PITCH_Y: i32 = 2;
/// Pixels of an invader, which is one row high.
pub(super) const INVADER_WIDTH: i32 = 2;
/// Steps from one move to the next when all are there, and when one is left.
const SLOWEST: u32 = 12;
const FASTEST: u32 = 1;

/// Invaders in rows and columns that move as one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Swarm {
    /// The invaders of each row, from the top, one bit each.
    rows: [u8; ROWS],
    /// Where the invader at the top left is, or would be.
    pub(super) x: i32,
    pub(super) y: i32,
    /// 1 to the right, -1 to the left.
    direction: i32,
    /// Steps until the next move.
    wait: u32,
}

impl Swarm {
    /// A full swarm, with its top row at `y`.
    pub(super) fn new(y: i32) -> Self {
        Self {
            rows: [(1 << COLUMNS) - 1; ROWS],
            x: 3,
            y,
            direction: 1,
            wait: SLOWEST,
        }
    }

    pub(super) fn is_alive(&self, row: usize, column: usize) -> bool {
        self.rows[row] >> column & 1 == 1
    }

    pub(super) fn count(&self) -> u32 {
        self.rows.iter().map(|row| row.count_ones()).sum()
    }

    /// All that are alive: row, column, and the pixel at their left.
    pub(super) fn alive(&self) -> impl Iterator<Item = (usize, usize, i32, i32)> {
        (0..ROWS * COLUMNS)
            .map(|i| (i / COLUMNS, i % COLUMNS))
            .filter(|(row, column)| self.is_alive(*row, *column))
            .map(|(row, column)| {
                let x = self.x + column as i32 * PITCH_X;
                (row, column, x, self.y + row as i32 * PITCH_Y)
            })
    }

    /// The row of the lowest invader of a column.
    pub(super) fn lowest(&self, column: usize) -> Option<usize> {
        (0..ROWS).rev().find(|row| self.is_alive(*row, column))
    }

    /// The pixel row of the lowest invader of all.
    pub(super) fn bottom(&self) -> Option<i32> {
        let row = (0..ROWS).rev().find(|row| self.rows[*row] != 0)?;
        Some(self.y + row as i32 * PITCH_Y)
    }

    /// Takes away the invader at a pixel; gives its row.
    pub(super) fn hit(&mut self, x: i32, y: i32) -> Option<usize> {
        let (dx, dy) = (x - self.x, y - self.y);
        if dx < 0 || dy < 0 || dy % PITCH_Y != 0 || dx % PITCH_X >= INVADER_WIDTH {
            return None;
        }
        let (row, column) = ((dy / PITCH_Y) as usize, (dx / PITCH_X) as usize);
        if row >= ROWS || column >= COLUMNS || !self.is_alive(row, column) {
            return None;
        }
        self.rows[row] &= !(1 << column);
        Some(row)
    }

    /// Steps from one move to the next: fewer with each invader that is gone.
    pub(super) fn interval(&self) -> u32 {
        let full = (ROWS * COLUMNS) as u32;
        FASTEST + (SLOWEST - FASTEST) * self.count() / full
    }

    /// Lets a step pass; true when the swarm has moved.
    pub(super) fn march(&mut self) -> bool {
        self.wait -= 1;
        if self.wait > 0 {
            return false;
        }
        self.wait = self.interval();
        let columns = self.rows.iter().fold(0, |all, row| all | row);
        if columns == 0 {
            return false;
        }
        let first = columns.trailing_zeros() as i32;
        let last = 7 - columns.leading_zeros() as i32;
        let left = self.x + first * PITCH_X + self.direction;
        let right = self.x + last * PITCH_X + INVADER_WIDTH - 1 + self.direction;
        if left < 0 || right >= SIDE as i32 {
            self.direction = -self.direction;
            self.y += 1;
        } else {
            self.x += self.direction;
        }
        true
    }
}
