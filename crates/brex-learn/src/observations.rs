//! Frames as tensors.

use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

/// Observations, each planes of grey bytes, as numbers between 0 and 1 in
/// `[count, frames, rows, columns]`.
///
/// # Panics
/// If an observation has another size.
pub fn observation_tensor(
    observations: &[&[u8]],
    [frames, rows, columns]: [usize; 3],
    device: &Device,
) -> Tensor<4> {
    let pixels = rows * columns;
    let each = frames * pixels;
    // Pixel by pixel with its frames together: the order in which the convolutions read.
    let mut values = vec![0.0_f32; observations.len() * each];
    values
        .par_chunks_mut(each)
        .zip(observations)
        .with_min_len(16)
        .for_each(|(to, from)| {
            assert_eq!(from.len(), each, "an observation");
            for (frame, plane) in from.chunks_exact(pixels).enumerate() {
                let places = to.iter_mut().skip(frame).step_by(frames);
                for (place, byte) in places.zip(plane) {
                    *place = f32::from(*byte) / 255.0;
                }
            }
        });
    let data = TensorData::new(values, [observations.len(), rows, columns, frames]);
    Tensor::<4>::from_data(data, device).permute([0, 3, 1, 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_finds_its_place() {
        let shape = [4, 3, 5];
        let first: Vec<u8> = (0..60).collect();
        let second: Vec<u8> = (100..160).collect();
        let device = Device::flex();
        let tensor = observation_tensor(&[&first, &second], shape, &device);
        assert_eq!(tensor.dims(), [2, 4, 3, 5]);
        let values = tensor.into_data().try_into_vec_as::<f32>().unwrap();
        let expected = first.iter().chain(&second).map(|v| f32::from(*v) / 255.0);
        assert_eq!(values, expected.collect::<Vec<f32>>());
    }
}
