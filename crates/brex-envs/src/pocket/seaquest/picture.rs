//! How Seaquest looks: sky and waves above, lanes of swimmers, divers aboard and air below.

use super::swimmers::{Kind, lane_row};
use super::{AIR, LANES, LOAD, RETURNS, Seaquest};
use crate::pocket::frame::{Field, SIDE};

const SKY: u8 = 50;
const BUOY: u8 = 110;
const WAVES: u8 = 70;
const WATER: u8 = 20;
const FLOOR: u8 = 60;
const FISH: u8 = 130;
const HOSTILE: u8 = 190;
const SHOT: u8 = 160;
const DIVER: u8 = 90;
const OWN: u8 = 255;
const NOSE: u8 = 210;
const TORPEDO: u8 = 235;
const AIR_LEFT: u8 = 220;

/// A submarine.
const BOAT: &[&str] = &[" # ", "###"];

/// The row of the waves.
const SURFACE: i32 = 2;
/// The row of the sea floor; the divers aboard and the air follow.
const BOTTOM: i32 = 16;

impl Seaquest {
    pub(super) fn picture(&self, field: &mut Field<'_>) {
        let wide = SIDE as i32;
        field.fill(0, 0, wide, SURFACE, SKY);
        field.fill(0, SURFACE, wide, 1, WAVES);
        field.fill(0, SURFACE + 1, wide, BOTTOM - SURFACE - 1, WATER);
        field.fill(0, BOTTOM, wide, 1, FLOOR);
        for left in self.returns..RETURNS {
            field.dot(wide - 1 - 2 * left as i32, 0, BUOY);
        }
        for diver in 0..self.aboard.min(LOAD) {
            field.fill(4 * diver + 1, BOTTOM + 1, 2, 1, DIVER);
        }
        // A little air always shows, so that an empty bar means none.
        let bar = (self.air * wide + AIR - 1) / AIR;
        field.fill(0, BOTTOM + 2, bar, 1, AIR_LEFT);
        for lane in 0..LANES {
            self.draw_lane(lane, field);
        }
        let nose = if self.heading > 0 { 2 } else { 0 };
        field.sprite(self.x, self.y, BOAT, OWN);
        field.dot(self.x + nose, self.y + 1, NOSE);
        if let Some(torpedo) = self.torpedo {
            field.dot(torpedo.x, torpedo.row, TORPEDO);
        }
    }

    fn draw_lane(&self, lane: usize, field: &mut Field<'_>) {
        let (row, lane) = (lane_row(lane), self.lanes[lane]);
        if let Some(diver) = lane.diver {
            field.dot(diver.x(), row, DIVER);
            field.fill(diver.x(), row + 1, 2, 1, DIVER);
        }
        if let Some(shot) = lane.shot {
            field.dot(shot.place >> 3, row + 1, SHOT);
        }
        let Some(hostile) = lane.hostile else {
            return;
        };
        let x = hostile.x();
        if hostile.kind == Kind::Submarine {
            field.sprite(x, row, BOAT, HOSTILE);
        } else {
            // A body of two columns, and a tail behind it.
            let (body, tail) = if hostile.speed > 0 { (1, 0) } else { (0, 2) };
            field.fill(x + body, row, 2, 2, FISH);
            field.dot(x + tail, row, FISH);
        }
    }
}
