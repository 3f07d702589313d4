//! Convolutions and transposed convolutions over a batch, spread over threads.
//!
//! The batch is cut into a number of blocks that depends on its size alone. Weight gradients are
//! summed within a block and then over blocks in their order, so the number of threads changes
//! nothing.

use rayon::prelude::*;

use super::images::{Images, add_pixels, unbend};
use super::plan::{Bordered, Convolution, Plan};
use super::weight_plan::WeightPlan;

/// Which gradients are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// That of the layer's input.
    pub(crate) input: bool,
    /// That of its weights.
    pub(crate) weight: bool,
    /// That of its bias.
    pub(crate) bias: bool,
}

/// The gradients that were wanted; the input's with channels last.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Gradients {
    /// That of the layer's input.
    pub(crate) input: Option<Vec<f32>>,
    /// That of its weights.
    pub(crate) weight: Option<Vec<f32>>,
    /// That of its bias.
    pub(crate) bias: Option<Vec<f32>>,
}

/// A layer's output with channels last, and what its activation does to negative numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bent<'a> {
    /// The output.
    pub(crate) output: &'a [f32],
    /// What negative numbers were multiplied with.
    pub(crate) slope: f32,
}

/// Images in a block.
fn block_len(batch: usize) -> usize {
    batch.div_ceil(if batch >= 128 { 16 } else { 8 }).max(1)
}

/// Images that are handled at once: more of them where each has few pixels, for the inner loops
/// take pixels in tiles.
fn group_len(pixels: usize, block: usize) -> usize {
    256_usize.div_ceil(pixels.max(1)).min(block).max(1)
}

/// The output with channels last: `[batch, rows, columns, filters]`.
pub(crate) fn convolve(
    conv: &Convolution,
    images: Images<'_>,
    weights: &[f32],
    bias: Option<&[f32]>,
    slope: f32,
) -> Vec<f32> {
    let batch = images.values.len() / conv.image_len();
    let [rows, columns] = conv.output();
    let block = block_len(batch);
    let group = group_len(rows * columns, block);
    let plan = Plan::correlate(conv, weights, bias, group);
    let mut output = vec![0.0; batch * conv.output_len()];
    output
        .par_chunks_mut(block * conv.output_len())
        .enumerate()
        .for_each(|(index, output)| {
            let mut scratch = Vec::new();
            let mut begin = index * block;
            for output in output.chunks_mut(group * conv.output_len()) {
                let count = output.len() / conv.output_len();
                let images = images.range(
                    begin,
                    begin + count,
                    conv.image_len(),
                    conv.channels,
                    &mut scratch,
                );
                plan.apply(count, images, output, slope);
                begin += count;
            }
        });
    output
}

/// The output of a transposed convolution with channels last: `[batch, height, width, channels]`.
///
/// `conv` is the convolution that it transposes: its output is the input here.
pub(crate) fn convolve_transposed(
    conv: &Convolution,
    inputs: Images<'_>,
    weights: &[f32],
    bias: Option<&[f32]>,
    slope: f32,
) -> Vec<f32> {
    let batch = inputs.values.len() / conv.output_len();
    let block = block_len(batch);
    let group = group_len(conv.height * conv.width, block);
    let border = Bordered::full(conv);
    let plan = Plan::spread(conv, weights, bias, group);
    let mut output = vec![0.0; batch * conv.image_len()];
    output
        .par_chunks_mut(block * conv.image_len())
        .enumerate()
        .for_each(|(index, output)| {
            let mut scratch = Vec::new();
            let mut bordered = vec![0.0; group * border.len(conv.filters)];
            let mut begin = index * block;
            for output in output.chunks_mut(group * conv.image_len()) {
                let count = output.len() / conv.image_len();
                let inputs = inputs.range(
                    begin,
                    begin + count,
                    conv.output_len(),
                    conv.filters,
                    &mut scratch,
                );
                surround(conv, &border, inputs, None, &mut bordered);
                plan.apply(count, &bordered, output, slope);
                begin += count;
            }
        });
    output
}

/// Copies outputs into the middle of their borders, undoing the activation.
fn surround(
    conv: &Convolution,
    border: &Bordered,
    gradients: &[f32],
    bent: Option<Bent<'_>>,
    bordered: &mut [f32],
) {
    let [_, columns] = conv.output();
    let line = columns * conv.filters;
    let slope = bent.map_or(1.0, |bent| bent.slope);
    let images = gradients
        .chunks(conv.output_len())
        .zip(bordered.chunks_mut(border.len(conv.filters)));
    for (image, (gradients, bordered)) in images.enumerate() {
        for (row, gradient) in gradients.chunks(line).enumerate() {
            let from = image * conv.output_len() + row * line;
            let to = ((border.top + row) * border.width + border.left) * conv.filters;
            let output = bent.map(|bent| &bent.output[from..from + line]);
            unbend(gradient, output, slope, &mut bordered[to..to + line]);
        }
    }
}

/// Adds what the blocks found, in their order.
fn total(parts: impl Iterator<Item = Vec<f32>>) -> Vec<f32> {
    parts
        .reduce(|mut sum, part| {
            for (sum, part) in sum.iter_mut().zip(part) {
                *sum += part;
            }
            sum
        })
        .unwrap_or_default()
}

/// The gradients of a convolution.
pub(crate) fn convolve_backward(
    conv: &Convolution,
    images: Images<'_>,
    weights: &[f32],
    bent: Bent<'_>,
    gradients: Images<'_>,
    wanted: Wanted,
) -> Gradients {
    let batch = images.values.len() / conv.image_len();
    let [rows, columns] = conv.output();
    let block = block_len(batch);
    let group = group_len(rows * columns, block);
    let border = if wanted.input {
        Bordered::full(conv)
    } else {
        Bordered::bare(conv)
    };
    let spread = wanted
        .input
        .then(|| Plan::spread(conv, weights, None, group));
    let weigh = WeightPlan::new(conv, &border, group);
    let mut input = vec![
        0.0;
        if wanted.input {
            batch * conv.image_len()
        } else {
            0
        }
    ];
    // Without an input gradient there are still blocks, of nothing to write.
    let mut blocks: Vec<&mut [f32]> = input.chunks_mut(block * conv.image_len()).collect();
    blocks.resize_with(batch.div_ceil(block), || &mut []);
    let parts: Vec<(Vec<f32>, Vec<f32>)> = blocks
        .into_par_iter()
        .enumerate()
        .map(|(index, input)| {
            let mut scratch = [Vec::new(), Vec::new()];
            let [image_scratch, gradient_scratch] = &mut scratch;
            let mut bordered = vec![0.0; group * border.len(conv.filters)];
            let mut weight = vec![0.0; if wanted.weight { conv.weight_len() } else { 0 }];
            let mut bias = vec![0.0; if wanted.bias { conv.filters } else { 0 }];
            let end = batch.min((index + 1) * block);
            for begin in (index * block..end).step_by(group) {
                let count = group.min(end - begin);
                let gradients = gradients.range(
                    begin,
                    begin + count,
                    conv.output_len(),
                    conv.filters,
                    gradient_scratch,
                );
                let bent = Bent {
                    output: &bent.output[begin * conv.output_len()..][..gradients.len()],
                    slope: bent.slope,
                };
                surround(conv, &border, gradients, Some(bent), &mut bordered);
                let bordered = &bordered[..count * border.len(conv.filters)];
                if wanted.bias {
                    // Zeros of the border add nothing.
                    add_pixels(bordered, conv.filters, &mut bias);
                }
                if wanted.weight {
                    let images = images.range(
                        begin,
                        begin + count,
                        conv.image_len(),
                        conv.channels,
                        image_scratch,
                    );
                    weigh.add(count, images, bordered, &mut weight);
                }
                if let Some(spread) = &spread {
                    let from = (begin - index * block) * conv.image_len();
                    let input = &mut input[from..from + count * conv.image_len()];
                    spread.apply(count, bordered, input, 1.0);
                }
            }
            (weight, bias)
        })
        .collect();
    let (weights, biases): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    Gradients {
        input: wanted.input.then_some(input),
        weight: wanted
            .weight
            .then(|| weigh.arrange(&total(weights.into_iter()))),
        bias: wanted.bias.then(|| total(biases.into_iter())),
    }
}

/// The gradients of a transposed convolution.
///
/// `conv` is the convolution that it transposes: `inputs` are in the shape of its output,
/// `gradients` in that of its images.
pub(crate) fn convolve_transposed_backward(
    conv: &Convolution,
    inputs: Images<'_>,
    weights: &[f32],
    bent: Bent<'_>,
    gradients: Images<'_>,
    wanted: Wanted,
) -> Gradients {
    let batch = inputs.values.len() / conv.output_len();
    let [rows, columns] = conv.output();
    let block = block_len(batch);
    let group = group_len(rows * columns, block);
    let correlate = wanted
        .input
        .then(|| Plan::correlate(conv, weights, None, group));
    let weigh = WeightPlan::new(conv, &Bordered::bare(conv), group);
    let mut input = vec![
        0.0;
        if wanted.input {
            batch * conv.output_len()
        } else {
            0
        }
    ];
    let mut blocks: Vec<&mut [f32]> = input.chunks_mut(block * conv.output_len()).collect();
    blocks.resize_with(batch.div_ceil(block), || &mut []);
    let parts: Vec<(Vec<f32>, Vec<f32>)> = blocks
        .into_par_iter()
        .enumerate()
        .map(|(index, input)| {
            let mut scratch = [Vec::new(), Vec::new()];
            let [input_scratch, gradient_scratch] = &mut scratch;
            let mut unbent = vec![0.0; group * conv.image_len()];
            let mut weight = vec![0.0; if wanted.weight { conv.weight_len() } else { 0 }];
            let mut bias = vec![0.0; if wanted.bias { conv.channels } else { 0 }];
            let end = batch.min((index + 1) * block);
            for begin in (index * block..end).step_by(group) {
                let count = group.min(end - begin);
                let gradients = gradients.range(
                    begin,
                    begin + count,
                    conv.image_len(),
                    conv.channels,
                    gradient_scratch,
                );
                let unbent = &mut unbent[..gradients.len()];
                let output = &bent.output[begin * conv.image_len()..][..gradients.len()];
                unbend(gradients, Some(output), bent.slope, unbent);
                if wanted.bias {
                    add_pixels(unbent, conv.channels, &mut bias);
                }
                if wanted.weight {
                    let inputs = inputs.range(
                        begin,
                        begin + count,
                        conv.output_len(),
                        conv.filters,
                        input_scratch,
                    );
                    weigh.add(count, unbent, inputs, &mut weight);
                }
                if let Some(correlate) = &correlate {
                    let from = (begin - index * block) * conv.output_len();
                    let input = &mut input[from..from + count * conv.output_len()];
                    correlate.apply(count, unbent, input, 1.0);
                }
            }
            (weight, bias)
        })
        .collect();
    let (weights, biases): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    Gradients {
        input: wanted.input.then_some(input),
        weight: wanted
            .weight
            .then(|| weigh.arrange(&total(weights.into_iter()))),
        bias: wanted.bias.then(|| total(biases.into_iter())),
    }
}
