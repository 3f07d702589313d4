//! The gradient of a convolution's weights as sums of outer products: each pixel of the output
//! pairs its gradient with the runs of the image that it was made of.

use super::matrix::width;
use super::outer::{Outer, Pair};
use super::plan::{Bordered, Convolution};

/// The sum of outer products that is the gradient of the weights.
#[derive(Debug)]
pub(super) struct WeightPlan {
    pairs: Vec<Pair>,
    per_image: usize,
    row_stride: usize,
    /// Whether filters are the rows of each matrix, rather than its columns.
    filters_first: bool,
    conv: Convolution,
}

impl WeightPlan {
    /// For images and gradients, the latter laid out as `border` says.
    pub(super) fn new(conv: &Convolution, border: &Bordered, group: usize) -> Self {
        let lanes = width().lanes;
        let run = conv.kernel[1] * conv.channels;
        let filters = conv.filters;
        let filters_first =
            run.next_multiple_of(lanes) * filters < filters.next_multiple_of(lanes) * run;
        let [rows, columns] = conv.output();
        let mut pairs = Vec::with_capacity(group * rows * columns);
        for image in 0..group {
            for row in 0..rows {
                for column in 0..columns {
                    let pixel = row * conv.stride[0] * conv.width + column * conv.stride[1];
                    let pixel = image * conv.image_len() + pixel * conv.channels;
                    let place = (border.top + row) * border.width + border.left + column;
                    let place = image * border.len(filters) + place * filters;
                    pairs.push(if filters_first {
                        Pair {
                            left: place,
                            right: pixel,
                        }
                    } else {
                        Pair {
                            left: pixel,
                            right: place,
                        }
                    });
                }
            }
        }
        Self {
            pairs,
            per_image: rows * columns,
            row_stride: conv.width * conv.channels,
            filters_first,
            conv: *conv,
        }
    }

    /// Adds the gradient from `count` images to `sums`, in an order of its own.
    pub(super) fn add(&self, count: usize, images: &[f32], gradients: &[f32], sums: &mut [f32]) {
        let run = self.conv.kernel[1] * self.conv.channels;
        let filters = self.conv.filters;
        let pairs = &self.pairs[..count * self.per_image];
        for (row, matrix) in sums.chunks_mut(run * filters).enumerate() {
            let images = &images[row * self.row_stride..];
            if self.filters_first {
                Outer {
                    left: gradients,
                    right: images,
                    pairs,
                    height: filters,
                    columns: run,
                    matrix,
                }
                .run();
            } else {
                Outer {
                    left: images,
                    right: gradients,
                    pairs,
                    height: run,
                    columns: filters,
                    matrix,
                }
                .run();
            }
        }
    }

    /// Sums in the order of weights: `[filters, channels, kernel rows, kernel columns]`.
    pub(super) fn arrange(&self, sums: &[f32]) -> Vec<f32> {
        let Convolution {
            channels, filters, ..
        } = self.conv;
        let [rows, columns] = self.conv.kernel;
        let run = columns * channels;
        let mut weights = Vec::with_capacity(sums.len());
        for filter in 0..filters {
            for channel in 0..channels {
                for row in 0..rows {
                    for column in 0..columns {
                        let place = column * channels + channel;
                        weights.push(if self.filters_first {
                            sums[(row * filters + filter) * run + place]
                        } else {
                            sums[(row * run + place) * filters + filter]
                        });
                    }
                }
            }
        }
        weights
    }
}
