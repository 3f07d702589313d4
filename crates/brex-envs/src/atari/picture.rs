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
const TAPS: usize = 4;

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

/// Shrinks a screen to a frame.
pub(super) fn shrink(screen: &[u8], frame: &mut [u8]) {
    assert_eq!((screen.len(), frame.len()), (SCREEN, PIXELS), "sizes");
    let columns = &*COLUMN_CELLS;
    let mut narrow = [[0.0_f32; SIDE]; ROWS];
    for (row, out) in screen.chunks_exact(COLUMNS).zip(&mut narrow) {
        for (cell, sum) in columns.iter().zip(out) {
            let pixels = &row[cell.start..cell.start + TAPS];
            let mut total = 0.0;
            for (pixel, weight) in pixels.iter().zip(cell.weights) {
                total += f32::from(*pixel) * weight;
            }
            *sum = total;
        }
    }
    for (cell, out) in ROW_CELLS.iter().zip(frame.chunks_exact_mut(SIDE)) {
        let mut sums = [0.0_f32; SIDE];
        for (row, weight) in narrow[cell.start..].iter().zip(cell.weights) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += weight * value;
            }
        }
        for (pixel, sum) in out.iter_mut().zip(sums) {
            *pixel = sum.round_ties_even() as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_averaged() {
        let mut frame = vec![0; PIXELS];
        for grey in [0, 1, 77, 255] {
            shrink(&[grey; SCREEN], &mut frame);
            assert!(frame.iter().all(|pixel| *pixel == grey), "{grey}");
        }
        // The first frame pixel covers 40/21 columns and 2.5 rows.
        let mut screen = vec![0; SCREEN];
        screen[0] = 210;
        shrink(&screen, &mut frame);
        assert_eq!(frame[0], (210.0_f64 * 21.0 / 40.0 / 2.5).round() as u8);
        assert!(frame[1..].iter().all(|pixel| *pixel == 0));
        screen.fill(0);
        screen[SCREEN - 1] = 210;
        shrink(&screen, &mut frame);
        assert_eq!(frame[PIXELS - 1], 44);
        assert!(frame[..PIXELS - 1].iter().all(|pixel| *pixel == 0));
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
