//! What the driver sees: mountains, a road that narrows and bends towards them, and cars.
//!
//! Bands on the grass and beats on the kerb run past with the road, so speed is seen; the road is
//! seen from its middle, so the place across it is seen too.

use super::{Enduro, Part, UNIT};
use crate::pocket::frame::Field;

/// Rows of the sky.
const SKY: i32 = 5;
/// Rows of the road.
const ROWS: usize = 14;
/// How far away each row is, from the horizon to the player.
const DEPTH: [i32; ROWS] = {
    let gaps = [3, 3, 4, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18];
    let mut depth = [0; ROWS];
    let mut row = 1;
    while row < ROWS {
        let at = ROWS - 1 - row;
        depth[at] = depth[at + 1] + gaps[row - 1] * UNIT;
        row += 1;
    }
    depth
};
/// Heights of the mountains, once around.
const MOUNTAINS: [i32; 32] = [
    1, 1, 2, 3, 4, 3, 2, 2, 1, 0, 0, 1, 2, 2, 1, 1, 2, 3, 3, 2, 1, 0, 0, 0, 1, 2, 3, 4, 4, 3, 2, 1,
];

/// The greys of a part of the day.
struct Look {
    sky: u8,
    mountain: u8,
    grass: [u8; 2],
    road: u8,
    kerb: [u8; 2],
    car: u8,
    player: u8,
}

const MORNING: Look = Look {
    sky: 150,
    mountain: 90,
    grass: [70, 90],
    road: 20,
    kerb: [200, 140],
    car: 170,
    player: 255,
};
const ICE: Look = Look {
    sky: 120,
    mountain: 230,
    grass: [190, 210],
    road: 50,
    kerb: [110, 140],
    car: 150,
    player: 255,
};
const DUSK: Look = Look {
    sky: 100,
    mountain: 20,
    grass: [45, 60],
    road: 10,
    kerb: [130, 90],
    car: 160,
    player: 255,
};
const NIGHT: Look = Look {
    sky: 8,
    mountain: 0,
    grass: [0, 12],
    road: 0,
    kerb: [50, 30],
    car: 180,
    player: 220,
};
const FOG: Look = Look {
    sky: 110,
    mountain: 110,
    grass: [50, 65],
    road: 15,
    kerb: [120, 90],
    car: 165,
    player: 240,
};
/// Rows of the road that fog hides.
const HIDDEN: usize = 6;

impl Part {
    fn look(self) -> &'static Look {
        match self {
            Self::Morning => &MORNING,
            Self::Ice => &ICE,
            Self::Dusk => &DUSK,
            Self::Night => &NIGHT,
            Self::Fog => &FOG,
        }
    }
}

impl Enduro {
    pub(super) fn draw_scene(&self, field: &mut Field<'_>) {
        let part = self.part();
        let look = part.look();
        let hidden = if part == Part::Fog { HIDDEN } else { 0 };
        field.fill(0, 0, 24, SKY + hidden as i32, look.sky);
        if part != Part::Fog {
            let turned = self.heading >> 13;
            for x in 0..24 {
                let height = MOUNTAINS[((x + turned) & 31) as usize];
                field.fill(x, SKY - height, 1, height, look.mountain);
            }
        }
        for row in hidden..ROWS {
            self.draw_road(field, row, look);
        }
        self.draw_cars(field, DEPTH[hidden] + 1, part);
    }

    fn draw_road(&self, field: &mut Field<'_>, row: usize, look: &Look) {
        let y = SKY + row as i32;
        let band = ((self.way + DEPTH[row]) >> 8 & 1) as usize;
        let left = self.pixel(-VISIBLE_EDGE, row);
        let right = self.pixel(VISIBLE_EDGE, row);
        field.fill(0, y, 24, 1, look.grass[band]);
        field.fill(left, y, right - left + 1, 1, look.road);
        field.dot(left, y, look.kerb[band]);
        field.dot(right, y, look.kerb[band]);
    }

    /// The column on which a place across the road is seen.
    fn pixel(&self, x: i32, row: usize) -> i32 {
        let from_bottom = (ROWS - 1 - row) as i32;
        let middle = 12 * UNIT - UNIT / 2 + self.bend * from_bottom * from_bottom / 80;
        (middle + x * (row as i32 + 1) / ROWS as i32) >> 4
    }

    fn draw_cars(&self, field: &mut Field<'_>, sight: i32, part: Part) {
        let look = part.look();
        // The farthest first, so that near cars cover far ones.
        for row in 0..ROWS + 2 {
            let far_edge = if row == 0 { i32::MAX } else { depth(row - 1) };
            for car in &self.cars {
                if car.ahead < sight && car.ahead >= depth(row) && car.ahead < far_edge {
                    let x = self.pixel(car.x, row.min(ROWS - 1));
                    draw_car(field, x, row, look.car, part == Part::Night);
                }
            }
        }
        let x = self.pixel(self.x, ROWS - 1);
        if self.spin % 4 >= 2 {
            field.sprite(x - 1, SKY + 11, &["###", " # ", "###"], look.player);
        } else {
            field.sprite(x - 1, SKY + 11, &["# #", "###", "# #"], look.player);
        }
    }
}

/// Where the kerbs are, across the road.
const VISIBLE_EDGE: i32 = 10 * UNIT;

/// How far away a row is; rows below the picture are behind the player.
fn depth(row: usize) -> i32 {
    if row < ROWS {
        DEPTH[row]
    } else {
        -(row as i32 - (ROWS as i32 - 1)) * 3 * UNIT
    }
}

/// A car from behind, its wheels on a row; at night its lights only.
fn draw_car(field: &mut Field<'_>, x: i32, row: usize, brightness: u8, lights_only: bool) {
    let y = SKY + row as i32;
    match (row, lights_only) {
        (0..3, _) => field.dot(x, y, brightness),
        (3..7, _) => field.fill(x, y, 2, 1, brightness),
        (7..10, false) => field.fill(x - 1, y - 1, 3, 2, brightness),
        (_, false) => field.sprite(x - 1, y - 2, &["###", " # ", "###"], brightness),
        (_, true) => {
            field.dot(x - 1, y, brightness);
            field.dot(x + 1, y, brightness);
        }
    }
}
