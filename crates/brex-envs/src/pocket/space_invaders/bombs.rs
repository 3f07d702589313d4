//! The bombs of Space Invaders: who drops them, when, and what they hit.

use super::swarm::{COLUMNS, INVADER_WIDTH, PITCH_X, PITCH_Y};
use super::{BOMBS, CANNON_ROW, CANNON_WIDTH, Dot, FIELD, SpaceInvaders};
use rand::RngExt;

/// Of eight bombs, how many are dropped by the column that is nearest to the cannon.
const AIMED: u32 = 6;

impl SpaceInvaders {
    /// Moves the bombs by a pixel; true if one hits the cannon.
    pub(super) fn move_bombs(&mut self) -> bool {
        let mut hit = false;
        for slot in 0..BOMBS {
            let Some(mut bomb) = self.bombs[slot].take() else {
                continue;
            };
            bomb.y += 1;
            let over_cannon = (0..CANNON_WIDTH).contains(&(bomb.x - self.cannon));
            if over_cannon && (CANNON_ROW..FIELD as i32).contains(&bomb.y) {
                hit = true;
            } else if bomb.y < FIELD as i32 && !self.erode(bomb.x, bomb.y) {
                self.bombs[slot] = Some(bomb);
            }
        }
        hit
    }

    /// Drops a bomb when it is time: mostly from the column that is nearest to the cannon.
    pub(super) fn drop_bomb(&mut self) {
        self.bomb_wait = self.bomb_wait.saturating_sub(1);
        let free = self.bombs.iter().position(Option::is_none);
        let (Some(slot), 0) = (free, self.bomb_wait) else {
            return;
        };
        let mut columns = [0; COLUMNS];
        let mut count = 0;
        for column in (0..COLUMNS).filter(|c| self.swarm.lowest(*c).is_some()) {
            columns[count] = column;
            count += 1;
        }
        if count == 0 {
            return;
        }
        let middle = self.cannon + CANNON_WIDTH / 2;
        let x_of = |column: usize| self.swarm.x + column as i32 * PITCH_X;
        let aimed = self.random.random_range(0..8) < AIMED;
        let chosen = if aimed {
            let near = columns[..count]
                .iter()
                .min_by_key(|c| (x_of(**c) - middle).abs());
            near.copied().unwrap_or(columns[0])
        } else {
            columns[self.random.random_range(0..count)]
        };
        let row = self.swarm.lowest(chosen).unwrap_or(0) as i32;
        self.bombs[slot] = Some(Dot {
            x: x_of(chosen) + self.random.random_range(0..INVADER_WIDTH),
            y: self.swarm.y + row * PITCH_Y,
        });
        let longest = 4 + self.swarm.count() * 3 / 4;
        self.bomb_wait = self.random.random_range(longest / 2..=longest);
    }
}
