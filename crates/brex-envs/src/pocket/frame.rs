//! Frames of grey pixels: the field of a game, and the display of score and lives above it.

/// Rows and columns of a frame.
pub(super) const SIDE: usize = 24;
/// Rows of the display at the top.
pub(super) const DISPLAY: usize = 5;
/// Rows of the field below it.
pub(super) const FIELD: usize = SIDE - DISPLAY;
/// Pixels of a frame.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// The brightness of score and lives.
const INK: u8 = 255;
/// Digits of the score that fit beside the lives.
const DIGITS: u32 = 5;

/// The rows below the display, black before a game draws: 24 columns, 19 rows.
pub(super) struct Field<'a>(&'a mut [u8]);

impl Field<'_> {
    /// Sets a pixel; outside the field nothing happens.
    #[inline]
    pub(super) fn dot(&mut self, x: i32, y: i32, brightness: u8) {
        if (0..SIDE as i32).contains(&x) && (0..FIELD as i32).contains(&y) {
            self.0[y as usize * SIDE + x as usize] = brightness;
        }
    }

    /// Fills a rectangle; what is outside the field is left out.
    #[inline]
    pub(super) fn fill(&mut self, x: i32, y: i32, width: i32, height: i32, brightness: u8) {
        let columns = x.clamp(0, SIDE as i32) as usize..(x + width).clamp(0, SIDE as i32) as usize;
        let rows = y.clamp(0, FIELD as i32)..(y + height).clamp(0, FIELD as i32);
        for row in rows {
            let start = row as usize * SIDE;
            if columns.start < columns.end {
                self.0[start + columns.start..start + columns.end].fill(brightness);
            }
        }
    }

    /// Draws a small picture: rows of characters, where a space is left as it is.
    pub(super) fn sprite(&mut self, x: i32, y: i32, rows: &[&str], brightness: u8) {
        for (dy, row) in rows.iter().enumerate() {
            for (dx, mark) in row.bytes().enumerate() {
                if mark != b' ' {
                    self.dot(x + dx as i32, y + dy as i32, brightness);
                }
            }
        }
    }
}

/// Draws a frame: the display, then the field by `draw`.
pub(super) fn draw_frame(
    pixels: &mut [u8],
    score: i64,
    lives: u32,
    draw: impl FnOnce(&mut Field<'_>),
) {
    pixels.fill(0);
    let (display, field) = pixels.split_at_mut(DISPLAY * SIDE);
    draw_display(display, score, lives);
    draw(&mut Field(field));
}

/// Five rows: the score in digits, and a dot for each life at the right edge.
fn draw_display(display: &mut [u8], score: i64, lives: u32) {
    let most = 10_i64.pow(DIGITS) - 1;
    let mut rest = score.clamp(0, most) as u64;
    for place in (0..DIGITS as usize).rev() {
        let digit = GLYPHS[(rest % 10) as usize];
        rest /= 10;
        for (y, row) in digit.iter().enumerate() {
            for x in 0..3 {
                if row >> (2 - x) & 1 == 1 {
                    display[y * SIDE + place * 4 + x] = INK;
                }
            }
        }
        if rest == 0 {
            break;
        }
    }
    for life in 0..(lives as usize).min(2 * DISPLAY) {
        let (column, row) = (SIDE - 1 - 2 * (life / DISPLAY), life % DISPLAY);
        display[row * SIDE + column] = INK;
    }
}

/// Digits of 3 x 5 pixels: one number per row, its bits from left to right.
const GLYPHS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_is_left_out() {
        let mut pixels = [9; PIXELS];
        draw_frame(&mut pixels, 0, 0, |field| {
            field.dot(-1, 0, 7);
            field.dot(0, -1, 7);
            field.dot(SIDE as i32, 0, 7);
            field.dot(0, FIELD as i32, 7);
            field.fill(22, 17, 9, 9, 1);
            field.fill(-3, -3, 4, 4, 2);
            field.fill(5, 5, -2, 3, 3);
            field.fill(i32::MAX - 5, 0, 3, 3, 3);
        });
        let below = &pixels[DISPLAY * SIDE..];
        assert_eq!(below.iter().filter(|p| **p == 1).count(), 4);
        assert_eq!(below.iter().filter(|p| **p == 2).count(), 1);
        assert!(below.iter().all(|p| [0, 1, 2].contains(p)));
    }

    #[test]
    fn the_display_tells_scores_and_lives_apart() {
        let frame = |score, lives| {
            let mut pixels = [0; PIXELS];
            draw_frame(&mut pixels, score, lives, |_| {});
            pixels
        };
        assert_ne!(
            frame(7, 1)[..DISPLAY * SIDE],
            frame(17, 1)[..DISPLAY * SIDE]
        );
        assert_ne!(frame(7, 1), frame(7, 2));
        assert_eq!(frame(-3, 1), frame(0, 1));
        assert_eq!(frame(1_000_000, 1), frame(99_999, 1));
        assert!(frame(88_888, 9)[DISPLAY * SIDE..].iter().all(|p| *p == 0));
    }
}
