//! Linear layers: products of matrices, made of the same inner loops as convolutions.
//!
//! The output is cut into panels of columns and blocks of rows, which threads take; the inner
//! dimension into blocks whose part of the matrix stays in the second cache.

use rayon::prelude::*;

use super::convolution::{Bent, Gradients, Wanted};
use super::gather::{Gather, Pixel};
use super::images::{add_pixels, unbend};
use super::matrix::{Matrix, Panels, width};
use super::outer::{Outer, Pair};

/// Rows of the output that a thread takes.
const ROWS: usize = 128;
/// Length of a block of the inner dimension.
const DEPTH: usize = 512;
/// Rows of the weight gradient that a thread takes.
const GRADIENT_ROWS: usize = 48;

/// With fewer rows than this, copying a matrix costs more than reading it where it lies.
const FEW_ROWS: usize = 24;

/// What rows are multiplied with.
#[derive(Clone, Copy)]
enum Right<'a> {
    /// A matrix, row after row.
    Plain(&'a [f32]),
    /// The transpose of one.
    Transposed(&'a [f32]),
}

/// `[rows, depth]` times `[depth, columns]`.
fn product(
    left: &[f32],
    right: Right<'_>,
    [rows, depth, columns]: [usize; 3],
    bias: Option<&[f32]>,
    slope: f32,
) -> Vec<f32> {
    let machine = width();
    let wide = machine.lanes * machine.vectors;
    let panels = columns.div_ceil(wide);
    let parts: Vec<Vec<f32>> = (0..panels * rows.div_ceil(ROWS))
        .into_par_iter()
        .map(|task| {
            let first_row = task / panels * ROWS;
            let first = task % panels * wide;
            let wide = wide.min(columns - first);
            let rows = ROWS.min(rows - first_row);
            let bias = bias.map(|bias| &bias[first..first + wide]);
            let mut output = vec![0.0; rows * wide];
            let mut begin = 0;
            loop {
                let end = depth.min(begin + DEPTH);
                let height = end - begin;
                let panels;
                let matrix = match right {
                    Right::Plain(values) => {
                        let values = &values[begin * columns + first..];
                        if rows < FEW_ROWS && wide.is_multiple_of(machine.lanes) {
                            Matrix::lying(values, [height, wide, columns])
                        } else {
                            panels = Panels::pack(height, wide, |k, row| {
                                row.copy_from_slice(&values[k * columns..][..wide]);
                            });
                            panels.matrix()
                        }
                    }
                    Right::Transposed(values) => {
                        let values = &values[first * depth + begin..];
                        panels = Panels::pack_transposed(values, [height, wide, depth]);
                        panels.matrix()
                    }
                };
                let pixels: Vec<Pixel> = (0..rows)
                    .map(|row| Pixel {
                        from: (first_row + row) * depth + begin,
                        to: row * wide,
                        rows: [0, 1],
                    })
                    .collect();
                Gather {
                    input: left,
                    output: &mut output,
                    pixels: &pixels,
                    rows: 1,
                    run: height,
                    row_stride: 0,
                    matrix,
                    bias,
                    resume: begin > 0,
                    slope: if end == depth { slope } else { 1.0 },
                }
                .run();
                begin = end;
                if begin == depth {
                    return output;
                }
            }
        })
        .collect();
    if panels == 1 {
        return parts.concat();
    }
    let mut output = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for panel in 0..panels {
            let wide = wide.min(columns - panel * wide);
            let part = &parts[row / ROWS * panels + panel];
            output.extend_from_slice(&part[row % ROWS * wide..][..wide]);
        }
    }
    output
}

/// The output of a linear layer, `[batch, outputs]`, for weights `[inputs, outputs]`.
pub(crate) fn multiply(
    [batch, inputs, outputs]: [usize; 3],
    x: &[f32],
    weights: &[f32],
    bias: Option<&[f32]>,
    slope: f32,
) -> Vec<f32> {
    let right = Right::Plain(weights);
    product(x, right, [batch, inputs, outputs], bias, slope)
}

/// The gradients of a linear layer.
pub(crate) fn multiply_backward(
    [batch, inputs, outputs]: [usize; 3],
    x: &[f32],
    weights: &[f32],
    bent: Bent<'_>,
    gradients: &[f32],
    wanted: Wanted,
) -> Gradients {
    let mut unbent = vec![0.0; gradients.len()];
    unbend(gradients, Some(bent.output), bent.slope, &mut unbent);
    let input = wanted.input.then(|| {
        let right = Right::Transposed(weights);
        product(&unbent, right, [batch, outputs, inputs], None, 1.0)
    });
    let weight = wanted.weight.then(|| {
        let pairs: Vec<Pair> = (0..batch)
            .map(|row| Pair {
                left: row * inputs,
                right: row * outputs,
            })
            .collect();
        let mut weight = vec![0.0; inputs * outputs];
        weight
            .par_chunks_mut(GRADIENT_ROWS * outputs)
            .enumerate()
            .for_each(|(index, matrix)| {
                Outer {
                    left: &x[index * GRADIENT_ROWS..],
                    right: &unbent,
                    pairs: &pairs,
                    height: matrix.len() / outputs,
                    columns: outputs,
                    matrix,
                }
                .run();
            });
        weight
    });
    let bias = wanted.bias.then(|| {
        let mut bias = vec![0.0; outputs];
        add_pixels(&unbent, outputs, &mut bias);
        bias
    });
    Gradients {
        input,
        weight,
        bias,
    }
}
