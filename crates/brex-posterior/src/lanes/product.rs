//! A matrix times the lanes of many chains: `out[i] = sum over j of a[i][j] * x[j]`.
//!
//! The matrix is packed in panels of [`PANEL`] rows, column by column within a panel, so that the
//! inner loop reads it in order and keeps one accumulator per row in registers. Each sum runs over
//! `j` in order, whatever the instruction set and the number of threads.

use super::{Lanes, Task, dispatch};
use rayon::prelude::*;

/// Rows of a panel: six rows of sixteen lanes fill the registers of AVX2 without spilling.
const PANEL: usize = 6;

/// Products with more multiplications than this are shared among threads.
const PARALLEL_WORK: usize = 4_000_000;

/// A matrix packed for products with lanes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packed {
    rows: usize,
    cols: usize,
    panels: Vec<f32>,
}

impl Packed {
    /// Packs the matrix with `value(i, j)` in row `i`, column `j`.
    pub(crate) fn from_fn(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f32) -> Self {
        let mut panels = Vec::with_capacity(rows.div_ceil(PANEL) * cols * PANEL);
        for start in (0..rows).step_by(PANEL) {
            for j in 0..cols {
                panels.extend(
                    (start..start + PANEL).map(|i| if i < rows { value(i, j) } else { 0.0 }),
                );
            }
        }
        Self { rows, cols, panels }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Whether a product with `L` lanes is worth sharing among threads.
    fn is_large(&self, lanes: usize) -> bool {
        self.rows * self.cols * lanes > PARALLEL_WORK
    }

    /// `out = start + self * x`, where `start` gives the first value of each row.
    #[inline(always)]
    pub(crate) fn times<const L: usize>(
        &self,
        x: &[Lanes<L>],
        start: impl Fn(usize) -> f32 + Sync,
        out: &mut [Lanes<L>],
    ) {
        let out = &mut out[..self.rows];
        if self.cols == 0 {
            for (i, out) in out.iter_mut().enumerate() {
                *out = Lanes::splat(start(i));
            }
            return;
        }
        let size = self.cols * PANEL;
        if self.is_large(L) {
            out.par_chunks_mut(PANEL)
                .zip(self.panels.par_chunks_exact(size))
                .enumerate()
                .with_min_len(16)
                .for_each(|(index, (out, panel))| {
                    let start = |i| start(index * PANEL + i);
                    dispatch(PanelTimes {
                        panel,
                        x,
                        start,
                        out,
                    });
                });
        } else {
            let panels = self.panels.chunks_exact(size);
            for (index, (out, panel)) in out.chunks_mut(PANEL).zip(panels).enumerate() {
                panel_times(panel, x, |i| start(index * PANEL + i), out);
            }
        }
    }
}

/// One panel's rows, on a thread of their own.
struct PanelTimes<'a, const L: usize, F> {
    panel: &'a [f32],
    x: &'a [Lanes<L>],
    start: F,
    out: &'a mut [Lanes<L>],
}

impl<const L: usize, F: Fn(usize) -> f32> Task for PanelTimes<'_, L, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        panel_times(self.panel, self.x, self.start, self.out);
    }
}

/// One panel's rows.
#[inline(always)]
fn panel_times<const L: usize>(
    panel: &[f32],
    x: &[Lanes<L>],
    start: impl Fn(usize) -> f32,
    out: &mut [Lanes<L>],
) {
    let mut sums = [Lanes::ZERO; PANEL];
    for (column, x) in panel.chunks_exact(PANEL).zip(x) {
        for row in 0..PANEL {
            sums[row] = x.scale_add(column[row], sums[row]);
        }
    }
    for (i, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
        *out = sum.map(|sum| sum + start(i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_plain_product_for_odd_shapes() {
        for (rows, cols) in [(1, 1), (5, 3), (6, 7), (13, 0), (0, 4), (700, 400)] {
            let value = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f32 - 11.0;
            let packed = Packed::from_fn(rows, cols, value);
            let x: Vec<Lanes<16>> = (0..cols)
                .map(|j| Lanes(std::array::from_fn(|lane| ((j + lane) % 5) as f32)))
                .collect();
            let mut out = vec![Lanes::ZERO; rows];
            packed.times(&x, |i| i as f32, &mut out);
            for (i, out) in out.iter().enumerate() {
                for lane in 0..16 {
                    let plain: f32 = (0..cols).map(|j| value(i, j) * x[j].0[lane]).sum();
                    assert_eq!(out.0[lane], plain + i as f32, "{rows} x {cols}, row {i}");
                }
            }
        }
    }
}
