//! Matrices as the inner loops read them: in panels of a few vectors' width.

use pulp::{Simd, WithSimd};

/// A matrix to multiply with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix<'a> {
    pub(super) values: &'a [f32],
    pub(super) height: usize,
    pub(super) columns: usize,
    /// The distance between rows, if the matrix lies as it was found rather than in panels.
    pub(super) stride: Option<usize>,
}

impl<'a> Matrix<'a> {
    /// A matrix as it lies, row after row, each `stride` numbers from the next. It can be used so
    /// only if its columns fill whole vectors.
    pub(super) fn lying(values: &'a [f32], [height, columns, stride]: [usize; 3]) -> Self {
        assert!(
            columns.is_multiple_of(width().lanes),
            "columns are not whole vectors"
        );
        Self {
            values,
            height,
            columns,
            stride: Some(stride),
        }
    }
}

/// A matrix copied into panels of a few vectors' width, padded with zeros to whole vectors, so that
/// it is read from one end to the other.
#[derive(Debug, Clone)]
pub(super) struct Panels {
    values: Vec<f32>,
    height: usize,
    columns: usize,
}

impl Panels {
    /// Packs the matrix whose row `k` is written by `fill(k, row)` into a row of zeros.
    pub(super) fn pack(
        height: usize,
        columns: usize,
        mut fill: impl FnMut(usize, &mut [f32]),
    ) -> Self {
        let Width { lanes, vectors } = width();
        let total = columns.div_ceil(lanes);
        let mut values = vec![0.0; height * total * lanes];
        if total <= vectors {
            // A single panel: its rows are the matrix's.
            for (k, row) in values.chunks_exact_mut(total * lanes).enumerate() {
                fill(k, &mut row[..columns]);
            }
            return Self {
                values,
                height,
                columns,
            };
        }
        let mut row = vec![0.0; total * lanes];
        for k in 0..height {
            row.fill(0.0);
            fill(k, &mut row[..columns]);
            for first in (0..total).step_by(vectors) {
                let wide = vectors.min(total - first) * lanes;
                let begin = first * lanes * height + k * wide;
                values[begin..begin + wide].copy_from_slice(&row[first * lanes..][..wide]);
            }
        }
        Self {
            values,
            height,
            columns,
        }
    }

    /// Packs the transpose of a matrix whose rows are `stride` apart, into a single panel. A line of
    /// the cache is read at a time, and the rows that it is spread over are few enough to stay.
    pub(super) fn pack_transposed(values: &[f32], [height, columns, stride]: [usize; 3]) -> Self {
        const LINE: usize = 16;
        let Width { lanes, vectors } = width();
        assert!(columns <= lanes * vectors, "more columns than a panel has");
        let wide = columns.next_multiple_of(lanes);
        let mut packed = vec![0.0; height * wide];
        for (block, rows) in packed.chunks_mut(LINE * wide).enumerate() {
            for column in 0..columns {
                let from = column * stride + block * LINE;
                let line = &values[from..from + rows.len() / wide];
                for (row, value) in rows.chunks_exact_mut(wide).zip(line) {
                    row[column] = *value;
                }
            }
        }
        Self {
            values: packed,
            height,
            columns,
        }
    }

    /// The matrix.
    pub(super) fn matrix(&self) -> Matrix<'_> {
        Matrix {
            values: &self.values,
            height: self.height,
            columns: self.columns,
            stride: None,
        }
    }
}

/// How wide the machine's vectors are, and how many of them a panel takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width {
    pub(super) lanes: usize,
    pub(super) vectors: usize,
}

/// The width for the machine at hand.
pub(super) fn width() -> Width {
    struct Ask;
    impl WithSimd for Ask {
        type Output = Width;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> Width {
            Width {
                lanes: S::F32_LANES,
                vectors: widest_panel::<S>(),
            }
        }
    }
    pulp::Arch::new().dispatch(Ask)
}

/// Vectors in a panel: as many as leave registers for several pixels.
#[inline(always)]
pub(super) fn widest_panel<S: Simd>() -> usize {
    if S::REGISTER_COUNT >= 32 { 4 } else { 2 }
}
