//! The work of a backward pass in blocks of the batch: threads take blocks, a block goes through its
//! images in groups, and what blocks find for the weights is added in their order. Blocks depend on
//! the batch alone, so the number of threads changes nothing.

use super::{Gradients, Wanted};
use rayon::prelude::*;

/// How a batch is divided, and how long what is wanted is.
pub(super) struct Blocks {
    pub(super) batch: usize,
    pub(super) block: usize,
    pub(super) group: usize,
    /// Numbers of the gradient of one input.
    pub(super) input: usize,
    pub(super) weight: usize,
    pub(super) bias: usize,
    pub(super) wanted: Wanted,
}

/// A group of images, and where to put what is found for them; what is not wanted has no length.
pub(super) struct Group<'a> {
    pub(super) begin: usize,
    pub(super) count: usize,
    pub(super) input: &'a mut [f32],
    pub(super) weight: &'a mut [f32],
    pub(super) bias: &'a mut [f32],
}

impl Blocks {
    /// Does `each` for every group; `scratch` is made once a block.
    pub(super) fn run<S>(
        &self,
        scratch: impl Fn() -> S + Sync,
        each: impl Fn(&mut S, Group<'_>) + Sync,
    ) -> Gradients {
        let length = |wanted: bool, length: usize| if wanted { length } else { 0 };
        let wanted = self.wanted;
        let one = length(wanted.input, self.input);
        let mut input = vec![0.0; self.batch * one];
        // Without an input gradient there are still blocks, of nothing to write.
        let mut blocks: Vec<&mut [f32]> = input.chunks_mut((self.block * one).max(1)).collect();
        blocks.resize_with(self.batch.div_ceil(self.block), || &mut []);
        let parts: Vec<(Vec<f32>, Vec<f32>)> = blocks
            .into_par_iter()
            .enumerate()
            .map(|(index, input)| {
                let mut scratch = scratch();
                let mut weight = vec![0.0; length(wanted.weight, self.weight)];
                let mut bias = vec![0.0; length(wanted.bias, self.bias)];
                let first = index * self.block;
                let end = self.batch.min(first + self.block);
                for begin in (first..end).step_by(self.group) {
                    let count = self.group.min(end - begin);
                    let group = Group {
                        begin,
                        count,
                        input: &mut input[(begin - first) * one..][..count * one],
                        weight: &mut weight,
                        bias: &mut bias,
                    };
                    each(&mut scratch, group);
                }
                (weight, bias)
            })
            .collect();
        let (weights, biases): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        Gradients {
            input: wanted.input.then_some(input),
            weight: wanted.weight.then(|| total(weights)),
            bias: wanted.bias.then(|| total(biases)),
        }
    }
}

/// Adds what the blocks found, in their order.
fn total(parts: Vec<Vec<f32>>) -> Vec<f32> {
    let add = |mut sum: Vec<f32>, part: Vec<f32>| {
        for (sum, part) in sum.iter_mut().zip(part) {
            *sum += part;
        }
        sum
    };
    parts.into_iter().reduce(add).unwrap_or_default()
}
