//! The observation as the published T-REX reward networks want it.

use super::games::{PIXELS, SIDE, STACK};
use crate::environment::Spec;

/// Turns an Atari observation into 84 x 84 x 4 numbers from 0 to 1: rows, columns, frames from the
/// oldest to the newest, with the rows that show score and lives black (`preprocess` of the authors'
/// `trex_utils.py`).
///
/// # Panics
/// If the observation is not four frames of 84 x 84 pixels.
pub fn trex_observation(spec: &Spec, observation: &[u8]) -> Vec<f32> {
    assert_eq!(observation.len(), STACK * PIXELS, "an Atari observation");
    let mut numbers = vec![0.0; STACK * PIXELS];
    for (frame, plane) in observation.chunks_exact(PIXELS).enumerate() {
        for (row, pixels) in plane.chunks_exact(SIDE).enumerate() {
            if spec.is_masked(row) {
                continue;
            }
            for (column, pixel) in pixels.iter().enumerate() {
                numbers[(row * SIDE + column) * STACK + frame] = f32::from(*pixel) / 255.0;
            }
        }
    }
    numbers
}
