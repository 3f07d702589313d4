//! The inner loop of every forward pass and input gradient: many short runs of numbers, each times
//! the same matrix.
//!
//! A *pixel* is a place of the output. Its sum reads up to `rows` runs of `run` contiguous numbers
//! from the input, `row_stride` apart, and multiplies them with a matrix of `rows * run` rows. With
//! channels last this is a convolution without copying patches: a run is a row of the kernel. With
//! one row it is a product of matrices.

use std::array::from_fn;

use pulp::{Simd, WithSimd};

use super::matrix::{Matrix, widest_panel};

/// Where a pixel is read from and where it is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pixel {
    /// Where the first run begins in the input.
    pub(super) from: usize,
    /// Where its columns begin in the output.
    pub(super) to: usize,
    /// The runs that matter; the others are all zeros, or known not to be needed.
    pub(super) rows: [usize; 2],
}

/// Sums to be made, with what happens to them before they are stored.
#[derive(Debug)]
pub(super) struct Gather<'a> {
    pub(super) input: &'a [f32],
    pub(super) output: &'a mut [f32],
    pub(super) pixels: &'a [Pixel],
    pub(super) rows: usize,
    pub(super) run: usize,
    pub(super) row_stride: usize,
    pub(super) matrix: Matrix<'a>,
    /// Added to every pixel; as long as there are columns.
    pub(super) bias: Option<&'a [f32]>,
    /// Adds to what the output holds.
    pub(super) resume: bool,
    /// What negative sums are multiplied with at the end.
    pub(super) slope: f32,
}

impl Gather<'_> {
    /// Does the work with the widest vectors of the machine.
    pub(super) fn run(self) {
        assert_eq!(self.matrix.height, self.rows * self.run, "matrix height");
        if let Some(bias) = self.bias {
            assert_eq!(bias.len(), self.matrix.columns, "length of the bias");
        }
        pulp::Arch::new().dispatch(self);
    }

    #[inline(always)]
    fn panel<S: Simd, const V: usize>(&mut self, simd: S, first: usize) {
        let lanes = S::F32_LANES;
        let matrix = match self.matrix.stride {
            Some(stride) => Rows {
                values: &self.matrix.values[first * lanes..],
                stride,
            },
            None => Rows {
                values: &self.matrix.values[first * lanes * self.matrix.height..],
                stride: V * lanes,
            },
        };
        let wide = (self.matrix.columns - first * lanes).min(V * lanes);
        let bias = match self.bias {
            Some(bias) => load::<S, V>(simd, &bias[first * lanes..][..wide]),
            None => [simd.splat_f32s(0.0); V],
        };
        let place = Place {
            first: first * lanes,
            wide,
        };
        // The tile that leaves the least work undone or done twice.
        let count = self.pixels.len();
        // More sums than sixteen would fit into 32 registers, but the compiler then leaves loops
        // over them rolled up and the sums in memory.
        let largest = if S::REGISTER_COUNT >= 32 { 16 } else { 12 };
        let tile = best(count, largest / V, V);
        match tile {
            12 => self.tiles::<S, 12, V>(simd, matrix, &bias, place),
            8 => self.tiles::<S, 8, V>(simd, matrix, &bias, place),
            6 => self.tiles::<S, 6, V>(simd, matrix, &bias, place),
            4 => self.tiles::<S, 4, V>(simd, matrix, &bias, place),
            _ => self.tiles::<S, 1, V>(simd, matrix, &bias, place),
        }
    }

    #[inline(always)]
    fn tiles<S: Simd, const P: usize, const V: usize>(
        &mut self,
        simd: S,
        matrix: Rows<'_>,
        bias: &[S::f32s; V],
        place: Place,
    ) {
        simd.vectorize(Tiles::<S, P, V> {
            simd,
            gather: self,
            matrix,
            bias,
            place,
        });
    }
}

/// The number of pixels at a time that costs least: what is done twice in the last tile is lost, and
/// small tiles load the matrix more often.
fn best(count: usize, largest: usize, vectors: usize) -> usize {
    let cost = |tile: usize| count.div_ceil(tile) * (tile * vectors + 1).max(6);
    let fits = |tile: &usize| *tile <= count.min(largest);
    [12, 8, 6, 4]
        .into_iter()
        .filter(fits)
        .min_by_key(|&tile| cost(tile))
        .unwrap_or(1)
}

impl WithSimd for Gather<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let total = self.matrix.columns.div_ceil(S::F32_LANES);
        let widest = widest_panel::<S>();
        let mut first = 0;
        while first < total {
            match widest.min(total - first) {
                4 => self.panel::<S, 4>(simd, first),
                3 => self.panel::<S, 3>(simd, first),
                2 => self.panel::<S, 2>(simd, first),
                _ => self.panel::<S, 1>(simd, first),
            }
            first += widest;
        }
    }
}

/// The rows of one panel.
#[derive(Clone, Copy)]
struct Rows<'a> {
    values: &'a [f32],
    stride: usize,
}

/// Which columns of the output a panel writes.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    wide: usize,
}

/// All pixels of one panel, `P` at a time. A function of its own, so that the registers are
/// allotted for it alone.
struct Tiles<'a, 'b, S: Simd, const P: usize, const V: usize> {
    simd: S,
    gather: &'a mut Gather<'b>,
    matrix: Rows<'a>,
    bias: &'a [S::f32s; V],
    place: Place,
}

impl<S: Simd, const P: usize, const V: usize> WithSimd for Tiles<'_, '_, S, P, V> {
    type Output = ();
    #[inline(always)]
    fn with_simd<T: Simd>(self, _: T) {
        let Self {
            simd,
            gather,
            matrix,
            bias,
            place,
        } = self;
        let count = gather.pixels.len();
        let mut next = 0;
        while next < count {
            // The last tile begins early and makes a few sums twice, rather than being smaller.
            // They are not stored twice, for they may be added to what is there.
            let start = next.min(count - P);
            let mut pixels = [gather.pixels[start]; P];
            pixels.copy_from_slice(&gather.pixels[start..start + P]);
            let mut sums = [*bias; P];
            if gather.resume {
                for p in 0..P {
                    let to = pixels[p].to + place.first;
                    let there = &gather.output[to..to + place.wide];
                    sums[p] = load::<S, V>(simd, there);
                }
            }
            let begin = pixels.iter().map(|pixel| pixel.rows[0]).min().unwrap_or(0);
            let end = pixels.iter().map(|pixel| pixel.rows[1]).max().unwrap_or(0);
            for row in begin..end {
                let runs: [&[f32]; P] = from_fn(|p| {
                    let from = pixels[p].from + row * gather.row_stride;
                    &gather.input[from..from + gather.run]
                });
                let first = row * gather.run * matrix.stride;
                for k in 0..gather.run {
                    let at = first + k * matrix.stride;
                    let weights = load::<S, V>(simd, &matrix.values[at..at + V * S::F32_LANES]);
                    for p in 0..P {
                        let x = simd.splat_f32s(runs[p][k]);
                        for v in 0..V {
                            sums[p][v] = simd.mul_add_f32s(x, weights[v], sums[p][v]);
                        }
                    }
                }
            }
            let slope = simd.splat_f32s(gather.slope);
            for p in 0..P {
                // Not a shorter loop: a sum that is found by a changing index lives in memory.
                if p < next - start {
                    continue;
                }
                let to = pixels[p].to + place.first;
                let there = &mut gather.output[to..to + place.wide];
                let mut bent = sums[p];
                for v in 0..V {
                    bent[v] = simd.max_f32s(simd.mul_f32s(bent[v], slope), bent[v]);
                }
                store::<S, V>(simd, there, &bent);
            }
            next = start + P;
        }
    }
}

/// Reads vectors from a slice that may end within the last of them.
#[inline(always)]
pub(super) fn load<S: Simd, const V: usize>(simd: S, from: &[f32]) -> [S::f32s; V] {
    let (whole, tail) = S::as_simd_f32s(from);
    let mut values = [simd.splat_f32s(0.0); V];
    for v in 0..V {
        values[v] = if v < whole.len() {
            whole[v]
        } else {
            simd.partial_load_f32s(tail)
        };
    }
    values
}

/// Writes vectors to a slice that may end within the last of them.
#[inline(always)]
pub(super) fn store<S: Simd, const V: usize>(simd: S, to: &mut [f32], values: &[S::f32s; V]) {
    let (whole, tail) = S::as_mut_simd_f32s(to);
    for v in 0..V {
        if v < whole.len() {
            whole[v] = values[v];
        } else {
            simd.partial_store_f32s(tail, values[v]);
        }
    }
}
