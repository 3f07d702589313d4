//! Images as the kernels want them: channels last, several at once.

use brex_core::{Task, dispatch};

/// A batch of images.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Images<'a> {
    /// The numbers, image after image.
    pub(crate) values: &'a [f32],
    /// Whether the channels of a pixel lie together, rather than the pixels of a channel.
    pub(crate) channels_last: bool,
}

impl<'a> Images<'a> {
    /// Images `begin..end` of `size` numbers each, channels last; `scratch` holds them if they have
    /// to be rearranged.
    pub(super) fn range<'b>(
        &self,
        begin: usize,
        end: usize,
        size: usize,
        channels: usize,
        scratch: &'b mut Vec<f32>,
    ) -> &'b [f32]
    where
        'a: 'b,
    {
        let values = &self.values[begin * size..end * size];
        if self.channels_last || channels == 1 {
            return values;
        }
        scratch.resize(values.len(), 0.0);
        for (from, to) in values.chunks(size).zip(scratch.chunks_mut(size)) {
            dispatch(Rearrange { from, to, channels });
        }
        scratch
    }
}

/// One image from planes to pixels.
struct Rearrange<'a> {
    from: &'a [f32],
    to: &'a mut [f32],
    channels: usize,
}

impl Task for Rearrange<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { from, to, channels } = self;
        let plane = from.len() / channels;
        if channels == 4 {
            // Frames are stacked in fours; this is the one rearrangement that is large.
            let (pixels, _) = to.as_chunks_mut::<4>();
            let (a, rest) = from.split_at(plane);
            let (b, rest) = rest.split_at(plane);
            let (c, d) = rest.split_at(plane);
            for ((((pixel, a), b), c), d) in pixels.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *pixel = [*a, *b, *c, *d];
            }
            return;
        }
        for (index, pixel) in to.chunks_exact_mut(channels).enumerate() {
            for (channel, value) in pixel.iter_mut().enumerate() {
                *value = from[channel * plane + index];
            }
        }
    }
}

/// Undoes an activation: multiplies `gradient` with `slope` where the layer's output is not
/// positive.
pub(super) fn unbend(gradient: &[f32], output: Option<&[f32]>, slope: f32, into: &mut [f32]) {
    match output {
        Some(output) if slope != 1.0 => dispatch(Unbend {
            gradient,
            output,
            slope,
            into,
        }),
        _ => into.copy_from_slice(gradient),
    }
}

struct Unbend<'a> {
    gradient: &'a [f32],
    output: &'a [f32],
    slope: f32,
    into: &'a mut [f32],
}

impl Task for Unbend<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for ((into, g), y) in self.into.iter_mut().zip(self.gradient).zip(self.output) {
            *into = if *y > 0.0 { *g } else { *g * self.slope };
        }
    }
}

/// Adds each pixel of `channels` numbers to `sums`.
pub(super) fn add_pixels(pixels: &[f32], channels: usize, sums: &mut [f32]) {
    for pixel in pixels.chunks_exact(channels) {
        for (sum, value) in sums.iter_mut().zip(pixel) {
            *sum += value;
        }
    }
}
