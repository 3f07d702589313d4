//! Layers on plain slices of numbers, fast on a CPU: no burn in here.
//!
//! Images have their channels last. Two inner loops do all the work: `gather` makes sums of
//! products for a few output pixels at a time, held in registers and read straight from the image;
//! `outer` adds up outer products, for the gradients of weights. `plan` and `weight_plan` say which
//! numbers meet in a convolution and its gradients; `convolution` and `linear` spread the work over
//! threads, in `blocks` that do not depend on how many threads there are.

mod blocks;
mod convolution;
mod gather;
mod images;
mod linear;
mod matrix;
mod outer;
mod plan;
#[cfg(test)]
mod tests;
mod weight_plan;

pub(crate) use convolution::{
    Bent, Gradients, Wanted, convolve, convolve_backward, convolve_transposed,
    convolve_transposed_backward,
};
pub(crate) use images::Images;
pub(crate) use linear::{multiply, multiply_backward};
pub(crate) use plan::Convolution;
