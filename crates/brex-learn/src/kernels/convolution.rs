//! Convolutions and transposed convolutions over a batch, spread over threads.
//!
//! The batch is cut into a number of blocks that depends on its size alone. Weight gradients are
//! summed within a block and then over blocks in their order, so the number of threads changes
//! nothing.

use rayon::prelude::*;

use super::blocks::Blocks;
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
    let blocks = Blocks {
        batch,
        block,
        group,
        input: conv.image_len(),
        weight: conv.weight_len(),
        bias: conv.filters,
        wanted,
    };
    let scratch = || {
        let bordered = vec![0.0; group * border.len(conv.filters)];
        (Vec::new(), Vec::new(), bordered)
    };
    let found = blocks.run(
        scratch,
        |(image_scratch, gradient_scratch, bordered), group| {
            let (begin, end) = (group.begin, group.begin + group.count);
            let (len, filters) = (conv.output_len(), conv.filters);
            let gradients = gradients.range(begin, end, len, filters, gradient_scratch);
            let bent = Bent {
                output: &bent.output[begin * len..][..gradients.len()],
                slope: bent.slope,
            };
            surround(conv, &border, gradients, Some(bent), bordered);
            let bordered = &bordered[..group.count * border.len(filters)];
            if wanted.bias {
                // Zeros of the border add nothing.
                add_pixels(bordered, filters, group.bias);
            }
            if wanted.weight {
                let (len, channels) = (conv.image_len(), conv.channels);
                let images = images.range(begin, end, len, channels, image_scratch);
                weigh.add(group.count, images, bordered, group.weight);
            }
            if let Some(spread) = &spread {
                spread.apply(group.count, bordered, group.input, 1.0);
            }
        },
    );
    found.arranged(&weigh)
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
    let blocks = Blocks {
        batch,
        block,
        group,
        input: conv.output_len(),
        weight: conv.weight_len(),
        bias: conv.channels,
        wanted,
    };
    let scratch = || {
        let unbent = vec![0.0; group * conv.image_len()];
        (Vec::new(), Vec::new(), unbent)
    };
    let found = blocks.run(
        scratch,
        |(input_scratch, gradient_scratch, unbent), group| {
            let (begin, end) = (group.begin, group.begin + group.count);
            let (len, channels) = (conv.image_len(), conv.channels);
            let gradients = gradients.range(begin, end, len, channels, gradient_scratch);
            let unbent = &mut unbent[..gradients.len()];
            let output = &bent.output[begin * len..][..gradients.len()];
            unbend(gradients, Some(output), bent.slope, unbent);
            if wanted.bias {
                add_pixels(unbent, channels, group.bias);
            }
            if wanted.weight {
                let (len, filters) = (conv.output_len(), conv.filters);
                let inputs = inputs.range(begin, end, len, filters, input_scratch);
                weigh.add(group.count, unbent, inputs, group.weight);
            }
            if let Some(correlate) = &correlate {
                correlate.apply(group.count, unbent, group.input, 1.0);
            }
        },
    );
    found.arranged(&weigh)
}

impl Gradients {
    /// With the weights in the order of the layer's.
    fn arranged(mut self, plan: &WeightPlan) -> Self {
        self.weight = self.weight.map(|weight| plan.arrange(&weight));
        self
    }
}
