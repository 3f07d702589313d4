//! How Beam Rider looks: beams that come together at the horizon, brighter when the truce is over.

use super::{BEAMS, BeamRider, HORIZON, SENTINEL, SHIP, THIRDS, beam_column};
use crate::pocket::frame::{Field, SIDE};

const BEAM: u8 = 35;
const BEAM_ALARM: u8 = 60;
const PIP: u8 = 110;
const ROCK: u8 = 90;
const BOMB: u8 = 130;
const SAUCER: u8 = 200;
const CHARGER: u8 = 165;
const SENTRY: u8 = 180;
const LASER: u8 = 225;
const TORPEDO: u8 = 245;
const OWN: u8 = 255;

/// The columns of beams at every row.
const COLUMNS: [[i32; BEAMS as usize]; SHIP as usize + 2] = {
    let mut columns = [[0; BEAMS as usize]; SHIP as usize + 2];
    let mut row = 0;
    while row < SHIP as usize + 2 {
        let mut beam = 0;
        while beam < BEAMS as usize {
            columns[row][beam] = beam_column(beam as i32, row as i32);
            beam += 1;
        }
        row += 1;
    }
    columns
};

fn column(beam: i32, row: i32) -> i32 {
    COLUMNS[row.clamp(0, SHIP + 1) as usize][beam as usize]
}

impl BeamRider {
    pub(super) fn picture(&self, field: &mut Field<'_>) {
        let beam_grey = if self.alarm { BEAM_ALARM } else { BEAM };
        for row in HORIZON + 1..=SHIP + 1 {
            for x in COLUMNS[row as usize] {
                field.dot(x, row, beam_grey);
            }
        }
        for torpedo in 0..self.torpedoes {
            field.dot(SIDE as i32 - 1 - 2 * torpedo, 0, PIP);
        }
        for beam in 0..BEAMS {
            if let Some(height) = self.rocks[beam as usize] {
                let row = height >> 2;
                field.fill(column(beam, row) - 1, row - 1, 3, 2, ROCK);
            }
            if let Some(height) = self.bombs[beam as usize] {
                let row = height >> 2;
                field.fill(column(beam, row), row - 1, 1, 2, BOMB);
            }
        }
        for saucer in self.saucers.iter().flatten() {
            let row = saucer.height >> 2;
            let grey = if saucer.charges { CHARGER } else { SAUCER };
            // Near ones are larger.
            let x = column(saucer.beam, row);
            field.fill(x - 1, row, 3, 1, grey);
            if row > 6 {
                field.dot(x, row - 1, grey);
            }
        }
        if let Some(left) = self.sentinel {
            let x = left >> 2;
            field.fill(x, HORIZON, SENTINEL, 1, SENTRY);
            field.fill(x + 1, HORIZON - 1, SENTINEL - 2, 1, SENTRY);
        }
        if let Some(bolt) = self.bolt {
            let grey = if bolt.torpedo { TORPEDO } else { LASER };
            let x = column(bolt.beam, bolt.row);
            field.fill(x, bolt.row, 1, if bolt.torpedo { 3 } else { 2 }, grey);
        }
        let (beam, third) = (self.ship / THIRDS, self.ship % THIRDS);
        let x = column(beam, SHIP);
        let next = if third > 0 { column(beam + 1, SHIP) } else { x };
        let x = x + (next - x) * third / THIRDS;
        field.dot(x, SHIP, OWN);
        field.fill(x - 1, SHIP + 1, 3, 1, OWN);
    }
}
