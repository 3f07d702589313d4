//! Stacks of convolutions: how they are written down, and what they leave of an image.

use serde::{Deserialize, Serialize};

/// One convolution with square filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvolutionShape {
    /// How many filters.
    pub filters: usize,
    /// Their side.
    pub kernel: usize,
    /// How far they move.
    pub stride: usize,
}

/// Convolutions from (filters, side, stride).
pub(crate) fn convolution_shapes(layers: &[(usize, usize, usize)]) -> Vec<ConvolutionShape> {
    layers
        .iter()
        .map(|&(filters, kernel, stride)| ConvolutionShape {
            filters,
            kernel,
            stride,
        })
        .collect()
}

/// Whether a count is one that a file may ask for.
pub(crate) fn is_modest(count: usize) -> bool {
    (1..=4096).contains(&count)
}

/// What convolutions leave of an image, as channels, rows and columns; none if it is too small.
fn convolved(image: [usize; 3], layers: &[ConvolutionShape]) -> Option<[usize; 3]> {
    through(image, layers, |side, layer| {
        let rest = side.checked_sub(layer.kernel)?;
        Some(rest / layer.stride + 1)
    })
}

/// How many numbers that is; none if it is more than a layer could take.
pub(crate) fn convolved_len(image: [usize; 3], layers: &[ConvolutionShape]) -> Option<usize> {
    let len = convolved(image, layers)?.iter().product();
    (len <= MOST_INPUTS).then_some(len)
}

/// Inputs of a linear layer at most.
pub(crate) const MOST_INPUTS: usize = 1 << 20;

/// What transposed convolutions make of an image.
pub(crate) fn deconvolved(image: [usize; 3], layers: &[ConvolutionShape]) -> Option<[usize; 3]> {
    through(image, layers, |side, layer| {
        Some((side - 1) * layer.stride + layer.kernel)
    })
}

fn through(
    image: [usize; 3],
    layers: &[ConvolutionShape],
    side: impl Fn(usize, &ConvolutionShape) -> Option<usize>,
) -> Option<[usize; 3]> {
    let [mut channels, mut rows, mut columns] = image;
    if layers.len() > 16 || ![channels, rows, columns].into_iter().all(is_modest) {
        return None;
    }
    for layer in layers {
        let sound = [layer.filters, layer.kernel, layer.stride];
        if !sound.into_iter().all(is_modest) {
            return None;
        }
        (rows, columns) = (side(rows, layer)?, side(columns, layer)?);
        channels = layer.filters;
        if ![rows, columns].into_iter().all(is_modest) {
            return None;
        }
    }
    Some([channels, rows, columns])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_convolutions_undo_the_sizes() {
        let down = convolution_shapes(&[(16, 4, 2), (32, 3, 2)]);
        assert_eq!(convolved([4, 24, 24], &down), Some([32, 5, 5]));
        let up = convolution_shapes(&[(16, 3, 2), (4, 4, 2)]);
        assert_eq!(deconvolved([32, 5, 5], &up), Some([4, 24, 24]));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let layers = |layer| convolution_shapes(&[layer]);
        for layer in [
            (16, 25, 1),
            (16, 0, 1),
            (16, 3, 0),
            (0, 3, 1),
            (1 << 40, 3, 1),
        ] {
            assert_eq!(convolved([4, 24, 24], &layers(layer)), None);
        }
        assert_eq!(deconvolved([4, 24, 24], &layers((4, 3, 4000))), None);
        assert_eq!(convolved([0, 24, 24], &[]), None);
    }
}
