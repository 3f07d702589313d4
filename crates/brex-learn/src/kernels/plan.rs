//! A convolution and its gradients, each as a list of calls of the inner loops.
//!
//! With channels last, a pixel of the output reads `kernel` runs of the input: that is a `Gather`.
//! The gradient for the input is one as well, of the output's gradient with a border of zeros and
//! the kernel turned round; with a stride, pixels of the input fall into `stride x stride` classes
//! that each see their own part of the kernel. The gradient for the weights is a sum of outer
//! products. A transposed convolution swaps the first two.
//!
//! Where there are fewer channels to write than a vector is long, several neighbouring pixels are
//! taken as the channels of one: the kernel grows by the distance between them and is padded with
//! zeros.

use super::gather::{Gather, Pixel};
use super::matrix::{Panels, width};

/// Sizes of a convolution without padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Convolution {
    /// Channels of the image.
    pub(crate) channels: usize,
    /// Rows of the image.
    pub(crate) height: usize,
    /// Columns of the image.
    pub(crate) width: usize,
    /// Channels of the output.
    pub(crate) filters: usize,
    /// Rows and columns of the kernel.
    pub(crate) kernel: [usize; 2],
    /// Rows and columns between neighbouring places of the kernel.
    pub(crate) stride: [usize; 2],
}

impl Convolution {
    /// Rows and columns of the output.
    pub(crate) fn output(&self) -> [usize; 2] {
        [
            (self.height - self.kernel[0]) / self.stride[0] + 1,
            (self.width - self.kernel[1]) / self.stride[1] + 1,
        ]
    }

    /// Numbers in an image.
    pub(crate) fn image_len(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// Numbers in the output for one image.
    pub(crate) fn output_len(&self) -> usize {
        let [rows, columns] = self.output();
        self.filters * rows * columns
    }

    /// Numbers in the weights, `[filters, channels, kernel rows, kernel columns]`.
    pub(crate) fn weight_len(&self) -> usize {
        self.filters * self.channels * self.kernel[0] * self.kernel[1]
    }
}

/// The output of a convolution, laid out with the border that its input gradient reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bordered {
    pub(super) top: usize,
    pub(super) left: usize,
    pub(super) height: usize,
    pub(super) width: usize,
}

impl Bordered {
    /// No border: for when only the weights want a gradient.
    pub(super) fn bare(conv: &Convolution) -> Self {
        let [height, width] = conv.output();
        Self {
            top: 0,
            left: 0,
            height,
            width,
        }
    }

    /// Zeros wherever a pixel of the image may look.
    pub(super) fn full(conv: &Convolution) -> Self {
        let top = conv.kernel[0].div_ceil(conv.stride[0]) - 1;
        let left = conv.kernel[1].div_ceil(conv.stride[1]) - 1;
        Self {
            top,
            left,
            height: top + (conv.height - 1) / conv.stride[0] + 1,
            width: left + (conv.width - 1) / conv.stride[1] + 1,
        }
    }

    /// Numbers in one image.
    pub(super) fn len(&self, channels: usize) -> usize {
        self.height * self.width * channels
    }
}

/// One call of the gathering loop.
#[derive(Debug)]
struct Step {
    rows: usize,
    run: usize,
    row_stride: usize,
    matrix: Panels,
    bias: Option<Vec<f32>>,
    pixels: Vec<Pixel>,
    per_image: usize,
}

/// All calls for a group of images.
#[derive(Debug)]
pub(super) struct Plan {
    steps: Vec<Step>,
}

/// What a step does, before neighbouring pixels are joined.
struct Sketch {
    /// Rows and columns of the part of the kernel that is seen.
    taps: [usize; 2],
    /// Channels read and written.
    inner: usize,
    outer: usize,
    /// Columns of the input image.
    input_width: usize,
    /// Numbers in an input image and in an output image.
    lens: [usize; 2],
    /// Rows and columns of pixels that are written.
    places: [usize; 2],
    /// The rows of the input that are not all zeros.
    filled: [usize; 2],
    /// The first row and column read, and the steps from one pixel to the next.
    read: [usize; 2],
    read_step: [usize; 2],
    /// The same for what is written, in an image of `write_width` columns.
    write: [usize; 2],
    write_step: [usize; 2],
    write_width: usize,
}

impl Sketch {
    /// `weight(row, column, inner)` gives the first of the `outer` weights and their distance.
    fn step(
        &self,
        weights: &[f32],
        weight: impl Fn(usize, usize, usize) -> (usize, usize),
        bias: Option<&[f32]>,
        group: usize,
    ) -> Step {
        let (inner, outer) = (self.inner, self.outer);
        let [rows, columns] = self.taps;
        // Pixels that lie side by side in the output can be joined until they fill a vector.
        let joined = if self.write_step[1] == 1 && columns > 0 {
            (width().lanes / outer).clamp(1, self.places[1])
        } else {
            1
        };
        let apart = self.read_step[1];
        let span = if columns == 0 {
            0
        } else {
            columns + (joined - 1) * apart
        };
        let matrix = Panels::pack(rows * span * inner, joined * outer, |k, row| {
            let (at, channel) = (k / inner, k % inner);
            let (tap_row, place) = (at / span, at % span);
            for join in 0..joined {
                let Some(tap) = place.checked_sub(join * apart).filter(|tap| *tap < columns) else {
                    continue;
                };
                let (first, distance) = weight(tap_row, tap, channel);
                let row = &mut row[join * outer..][..outer];
                for (value, weight) in row
                    .iter_mut()
                    .zip(weights[first..].iter().step_by(distance))
                {
                    *value = *weight;
                }
            }
        });
        let mut pixels = Vec::with_capacity(group * self.places[0] * self.places[1]);
        for image in 0..group {
            for row in 0..self.places[0] {
                let top = self.read[0] + row * self.read_step[0];
                let [begin, end] = self.filled.map(|edge| edge.saturating_sub(top).min(rows));
                for column in (0..self.places[1]).step_by(joined) {
                    // The last joined pixels begin early rather than reach over the edge.
                    let column = column.min(self.places[1] - joined);
                    let from = top * self.input_width + self.read[1] + column * self.read_step[1];
                    let to = (self.write[0] + row * self.write_step[0]) * self.write_width
                        + self.write[1]
                        + column * self.write_step[1];
                    pixels.push(Pixel {
                        from: image * self.lens[0] + from * inner,
                        to: image * self.lens[1] + to * outer,
                        rows: [begin, end],
                    });
                }
            }
        }
        Step {
            rows,
            run: span * inner,
            row_stride: self.input_width * inner,
            matrix,
            bias: bias.map(|bias| bias.repeat(joined)),
            per_image: pixels.len() / group,
            pixels,
        }
    }
}

impl Plan {
    /// From images to outputs.
    pub(super) fn correlate(
        conv: &Convolution,
        weights: &[f32],
        bias: Option<&[f32]>,
        group: usize,
    ) -> Self {
        let [kernel_rows, kernel_columns] = conv.kernel;
        let sketch = Sketch {
            taps: conv.kernel,
            inner: conv.channels,
            outer: conv.filters,
            input_width: conv.width,
            lens: [conv.image_len(), conv.output_len()],
            places: conv.output(),
            filled: [0, conv.height],
            read: [0, 0],
            read_step: conv.stride,
            write: [0, 0],
            write_step: [1, 1],
            write_width: conv.output()[1],
        };
        let area = kernel_rows * kernel_columns;
        let weight = |row, column, channel| {
            let first = channel * area + row * kernel_columns + column;
            (first, conv.channels * area)
        };
        Self {
            steps: vec![sketch.step(weights, weight, bias, group)],
        }
    }

    /// From outputs with a full border to images: the input gradient, and the transposed
    /// convolution.
    pub(super) fn spread(
        conv: &Convolution,
        weights: &[f32],
        bias: Option<&[f32]>,
        group: usize,
    ) -> Self {
        let [kernel_rows, kernel_columns] = conv.kernel;
        let [stride_rows, stride_columns] = conv.stride;
        let border = Bordered::full(conv);
        let area = kernel_rows * kernel_columns;
        let mut steps = Vec::new();
        for row in 0..stride_rows.min(conv.height) {
            for column in 0..stride_columns.min(conv.width) {
                let mut taps = [
                    kernel_rows.saturating_sub(row).div_ceil(stride_rows),
                    kernel_columns
                        .saturating_sub(column)
                        .div_ceil(stride_columns),
                ];
                // Pixels that no place of the kernel touches.
                if taps.contains(&0) {
                    taps = [0, 0];
                }
                let sketch = Sketch {
                    taps,
                    inner: conv.filters,
                    outer: conv.channels,
                    input_width: border.width,
                    lens: [border.len(conv.filters), conv.image_len()],
                    places: [
                        (conv.height - 1 - row) / stride_rows + 1,
                        (conv.width - 1 - column) / stride_columns + 1,
                    ],
                    filled: [border.top, border.top + conv.output()[0]],
                    read: [
                        border.top - taps[0].saturating_sub(1),
                        border.left - taps[1].saturating_sub(1),
                    ],
                    read_step: [1, 1],
                    write: [row, column],
                    write_step: conv.stride,
                    write_width: conv.width,
                };
                let weight = |tap_row: usize, tap_column: usize, filter: usize| {
                    let kernel_row = row + stride_rows * (taps[0] - 1 - tap_row);
                    let kernel_column = column + stride_columns * (taps[1] - 1 - tap_column);
                    let first =
                        filter * conv.channels * area + kernel_row * kernel_columns + kernel_column;
                    (first, area)
                };
                steps.push(sketch.step(weights, weight, bias, group));
            }
        }
        Self { steps }
    }

    /// Does all steps for `count` images.
    pub(super) fn apply(&self, count: usize, input: &[f32], output: &mut [f32], slope: f32) {
        for step in &self.steps {
            Gather {
                input,
                output,
                pixels: &step.pixels[..count * step.per_image],
                rows: step.rows,
                run: step.run,
                row_stride: step.row_stride,
                matrix: step.matrix.matrix(),
                bias: step.bias.as_deref(),
                resume: false,
                slope,
            }
            .run();
        }
    }
}
