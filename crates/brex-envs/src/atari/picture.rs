//! From the emulator's screen to a frame: 210 x 160 grey values become 84 x 84 by averaging areas.
//!
//! This is OpenCV's `INTER_AREA`, the same operations in the same order and in single precision, so
//! that every pixel is the same: weights of columns are applied first, then those of rows, and the
//! sum is rounded half to even.

use super::games::{PIXELS, SIDE};
use std::sync::LazyLock;

/// Rows of the emulator's screen.
pub(super) const ROWS: usize = 210;
/// Columns of the emulator's screen.
pub(super) const COLUMNS: usize = 160;
/// Bytes of the emulator's screen.
pub(super) const SCREEN: usize = ROWS * COLUMNS;

/// A pixel of a frame covers at most this many pixels of a row or column of the screen.
const TAPS: usize = 3;

/// Where an output pixel begins on the screen, and the weight of each pixel from there on. Weights
/// of zero at the end change nothing: all sums are positive.
#[derive(Clone, Copy)]
struct Cell {
    start: usize,
    weights: [f32; TAPS],
}

static COLUMN_CELLS: LazyLock<[Cell; SIDE]> = LazyLock::new(|| cells(COLUMNS));
static ROW_CELLS: LazyLock<[Cell; SIDE]> = LazyLock::new(|| cells(ROWS));

/// OpenCV's `computeResizeAreaTab`.
fn cells(size: usize) -> [Cell; SIDE] {
    let scale = 1.0 / (SIDE as f64 / size as f64);
    std::array::from_fn(|index| {
        let from = index as f64 * scale;
        let to = from + scale;
        let width = scale.min(size as f64 - from);
        let last = (to.floor() as usize).min(size - 1);
        let first = (from.ceil() as usize).min(last);
        let mut taps = Vec::with_capacity(TAPS);
        if first as f64 - from > 1e-3 {
            taps.push((first - 1, (first as f64 - from) / width));
        }
        taps.extend((first..last).map(|i| (i, 1.0 / width)));
        if to - last as f64 > 1e-3 {
            let part = (to - last as f64).min(1.0).min(width);
            taps.push((last, part / width));
        }
        // Reading past the edge with weight zero must stay inside the screen.
        let start = taps[0].0.min(size - TAPS);
        let mut weights = [0.0; TAPS];
        for (place, weight) in taps {
            weights[place - start] = weight as f32;
        }
        Cell { start, weights }
    })
}

/// Shrinks one screen after the other. Most rows of a game stand still, so only those that changed
/// are computed; the frames are the same as if all were.
pub(super) struct Shrinker {
    screen: Vec<u8>,
    /// The rows of the screen, shrunk to the columns of a frame.
    narrow: Vec<[f32; SIDE]>,
    frame: Vec<u8>,
}

impl Shrinker {
    pub(super) fn new() -> Self {
        // All black, as its frame is.
        Self {
            screen: vec![0; SCREEN],
            narrow: vec![[0.0; SIDE]; ROWS],
            frame: vec![0; PIXELS],
        }
    }

    /// The frame of a screen.
    pub(super) fn shrink(&mut self, screen: &[u8]) -> &[u8] {
        assert_eq!(screen.len(), SCREEN, "a screen");
        let mut changed = [false; ROWS];
        let rows = screen.chunks_exact(COLUMNS);
        let kept = self.screen.chunks_exact_mut(COLUMNS);
        let both = rows.zip(kept).zip(&mut self.narrow).zip(&mut changed);
        for (((row, kept), narrow), changed) in both {
            if row != kept {
                kept.copy_from_slice(row);
                *narrow = narrowed(row);
                *changed = true;
            }
        }
        let cells = ROW_CELLS.iter().zip(self.frame.chunks_exact_mut(SIDE));
        for (cell, out) in cells {
            if changed[cell.start..cell.start + TAPS].contains(&true) {
                average(&self.narrow[cell.start..], cell.weights, out);
            }
        }
        &self.frame
    }
}

/// A row of the screen, shrunk to the columns of a frame.
fn narrowed(row: &[u8]) -> [f32; SIDE] {
    let mut numbers = [0.0; COLUMNS];
    for (number, pixel) in numbers.iter_mut().zip(row) {
        *number = f32::from(*pixel);
    }
    let mut out = [0.0; SIDE];
    for (cell, sum) in COLUMN_CELLS.iter().zip(&mut out) {
        let [a, b, c] = cell.weights;
        if let Some([x, y, z]) = numbers.get(cell.start..cell.start + TAPS) {
            *sum = x * a + y * b + z * c;
        }
    }
    out
}

/// The weighted sum of some rows, rounded.
fn average(rows: &[[f32; SIDE]], weights: [f32; TAPS], out: &mut [u8]) {
    let mut sums = [0.0_f32; SIDE];
    for (row, weight) in rows.iter().zip(weights) {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += weight * value;
        }
    }
    for (pixel, sum) in out.iter_mut().zip(sums) {
        // From 2^23 on, single precision has whole numbers only, so the addition rounds, half to
        // even, and the last bits are the result.
        *pixel = (sum + 8_388_608.0).to_bits() as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_averaged() {
        let mut shrinker = Shrinker::new();
        for grey in [0, 1, 77, 255] {
            let frame = shrinker.shrink(&[grey; SCREEN]);
            assert!(frame.iter().all(|pixel| *pixel == grey), "{grey}");
        }
        // The first frame pixel covers 40/21 columns and 2.5 rows.
        let mut screen = vec![0; SCREEN];
        screen[0] = 210;
        let frame = shrinker.shrink(&screen);
        assert_eq!(frame[0], (210.0_f64 * 21.0 / 40.0 / 2.5).round() as u8);
        assert!(frame[1..].iter().all(|pixel| *pixel == 0));
        screen.fill(0);
        screen[SCREEN - 1] = 210;
        let frame = shrinker.shrink(&screen);
        assert_eq!(frame[PIXELS - 1], 44);
        assert!(frame[..PIXELS - 1].iter().all(|pixel| *pixel == 0));
    }

    #[test]
    fn rows_that_stand_still_are_kept() {
        let mut used = Shrinker::new();
        let mut screen = vec![0; SCREEN];
        for turn in 0..ROWS {
            // Some rows change in every turn, by turns none, one or several.
            for row in (0..ROWS).filter(|row| (row * 7 + turn) % 50 < turn % 4) {
                for (column, pixel) in screen[row * COLUMNS..][..COLUMNS].iter_mut().enumerate() {
                    *pixel = (row * 31 + column * 17 + turn * 101) as u8;
                }
            }
            assert_eq!(used.shrink(&screen), Shrinker::new().shrink(&screen));
        }
    }

    #[test]
    fn every_screen_pixel_counts_once() {
        for size in [ROWS, COLUMNS] {
            let mut covered = vec![0.0_f64; size];
            for cell in cells(size) {
                let sum: f32 = cell.weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6);
                for (place, weight) in cell.weights.iter().enumerate() {
                    covered[cell.start + place] += f64::from(*weight);
                }
            }
            let share = SIDE as f64 / size as f64;
            assert!(covered.iter().all(|c| (c - share).abs() < 1e-6));
        }
    }
}
