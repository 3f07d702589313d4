//! The inner loop of every weight gradient: a sum of outer products of short runs.
//!
//! Each pair names a run in `left` and a run in `right`; their outer product is added to a matrix
//! of `height` rows and `columns` columns. Numbers of the left run are spread over a vector each,
//! those of the right run fill vectors, so the longer of the two belongs on the right when one is
//! shorter than a vector.

use pulp::{Simd, WithSimd};

use super::gather::{load, store};
use super::matrix::widest_panel;

/// Where the two runs of an outer product begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) left: usize,
    pub(super) right: usize,
}

/// Pairs whose runs stay in the innermost cache while all tiles of the matrix pass over them.
const BLOCK: usize = 128;

/// A sum of outer products, added to `matrix`.
#[derive(Debug)]
pub(super) struct Outer<'a> {
    pub(super) left: &'a [f32],
    pub(super) right: &'a [f32],
    pub(super) pairs: &'a [Pair],
    /// Rows of the matrix: the length of the left runs.
    pub(super) height: usize,
    /// Columns of the matrix: the length of the right runs.
    pub(super) columns: usize,
    /// The matrix, row after row.
    pub(super) matrix: &'a mut [f32],
}

impl Outer<'_> {
    /// Does the work with the widest vectors of the machine.
    pub(super) fn run(self) {
        pulp::Arch::new().dispatch(self);
    }

    #[inline(always)]
    fn panel<S: Simd, const V: usize>(&mut self, simd: S, pairs: &[Pair], first: usize) {
        let wide = (self.columns - first).min(V * S::F32_LANES);
        let largest = if S::REGISTER_COUNT >= 32 { 24 } else { 12 };
        let mut row = 0;
        while row < self.height {
            let place = Place { row, first, wide };
            let most = (largest / V).min(self.height - row);
            row += match most {
                12.. => self.tile::<S, 12, V>(simd, pairs, place),
                8.. => self.tile::<S, 8, V>(simd, pairs, place),
                6.. => self.tile::<S, 6, V>(simd, pairs, place),
                4.. => self.tile::<S, 4, V>(simd, pairs, place),
                2.. => self.tile::<S, 2, V>(simd, pairs, place),
                _ => self.tile::<S, 1, V>(simd, pairs, place),
            };
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const R: usize, const V: usize>(
        &mut self,
        simd: S,
        pairs: &[Pair],
        place: Place,
    ) -> usize {
        if place.wide == V * S::F32_LANES {
            simd.vectorize(Tile::<S, R, V, true> {
                simd,
                outer: self,
                pairs,
                place,
            });
        } else {
            simd.vectorize(Tile::<S, R, V, false> {
                simd,
                outer: self,
                pairs,
                place,
            });
        }
        R
    }
}

impl WithSimd for Outer<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let total = self.columns.div_ceil(S::F32_LANES);
        let widest = widest_panel::<S>();
        for pairs in self.pairs.chunks(BLOCK) {
            let mut first = 0;
            while first < total {
                let column = first * S::F32_LANES;
                match widest.min(total - first) {
                    4 => self.panel::<S, 4>(simd, pairs, column),
                    3 => self.panel::<S, 3>(simd, pairs, column),
                    2 => self.panel::<S, 2>(simd, pairs, column),
                    _ => self.panel::<S, 1>(simd, pairs, column),
                }
                first += widest;
            }
        }
    }
}

/// The part of the matrix that a tile adds to.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    first: usize,
    wide: usize,
}

/// `R` rows and `V` vectors of the matrix. `WHOLE` when the vectors are full.
struct Tile<'a, 'b, S: Simd, const R: usize, const V: usize, const WHOLE: bool> {
    simd: S,
    outer: &'a mut Outer<'b>,
    pairs: &'a [Pair],
    place: Place,
}

impl<S: Simd, const R: usize, const V: usize, const WHOLE: bool> WithSimd
    for Tile<'_, '_, S, R, V, WHOLE>
{
    type Output = ();
    #[inline(always)]
    fn with_simd<T: Simd>(self, _: T) {
        let Self {
            simd,
            outer,
            pairs,
            place,
        } = self;
        let Place { row, first, wide } = place;
        let begin = |r: usize| (row + r) * outer.columns + first;
        let mut sums = [[simd.splat_f32s(0.0); V]; R];
        for r in 0..R {
            sums[r] = load::<S, V>(simd, &outer.matrix[begin(r)..begin(r) + wide]);
        }
        let (left, right) = (outer.left, outer.right);
        for pair in pairs {
            let from = pair.left + row;
            let x = &left[from..from + R];
            let from = pair.right + first;
            let end = from + if WHOLE { V * S::F32_LANES } else { wide };
            let y = load::<S, V>(simd, &right[from..end]);
            for r in 0..R {
                let x = simd.splat_f32s(x[r]);
                for v in 0..V {
                    sums[r][v] = simd.mul_add_f32s(x, y[v], sums[r][v]);
                }
            }
        }
        for r in 0..R {
            let begin = (row + r) * outer.columns + first;
            store::<S, V>(simd, &mut outer.matrix[begin..begin + wide], &sums[r]);
        }
    }
}
