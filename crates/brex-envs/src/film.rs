//! Films: the frames of an episode, enlarged with sharp pixels, side by side, on a contact sheet.

use crate::environment::Environment;
use crate::recording::{ReplayError, replay};
use brex_core::Episode;

/// The grey between two pictures that stand side by side.
const SEAM: u8 = 96;

/// Grey frames of one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Film {
    width: usize,
    height: usize,
    frames: Vec<Vec<u8>>,
}

impl Film {
    /// The newest frame of every observation of a recorded episode.
    pub fn of_episode(env: &mut dyn Environment, episode: &Episode) -> Result<Self, ReplayError> {
        let spec = env.spec();
        let (width, height) = (spec.width, spec.height);
        let newest = (spec.stack - 1) * width * height;
        let mut frames = Vec::with_capacity(episode.actions.len() + 1);
        replay(env, episode, |observation, _| {
            frames.push(observation[newest..].to_vec());
        })?;
        Ok(Self {
            width,
            height,
            frames,
        })
    }

    /// The frames that an episode kept because it cannot be played again; none if it kept none, or
    /// not one for each observation.
    pub fn of_frames(episode: &Episode) -> Option<Self> {
        let kept = episode.frames.as_ref()?;
        let size = kept
            .height
            .checked_mul(kept.width)
            .filter(|size| *size > 0)?;
        let count = episode.actions.len() + 1;
        (size.checked_mul(count)? == kept.pixels.len()).then(|| Self {
            width: kept.width,
            height: kept.height,
            frames: kept.pixels.chunks_exact(size).map(<[u8]>::to_vec).collect(),
        })
    }

    /// A film of pictures that are there; none if there are none, or one of another size.
    pub fn of_pictures(height: usize, width: usize, frames: Vec<Vec<u8>>) -> Option<Self> {
        let size = height.checked_mul(width).filter(|size| *size > 0)?;
        let fits = !frames.is_empty() && frames.iter().all(|frame| frame.len() == size);
        fits.then_some(Self {
            width,
            height,
            frames,
        })
    }

    /// Columns of every frame.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of every frame.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The frames, row by row; at least one.
    pub fn frames(&self) -> &[Vec<u8>] {
        &self.frames
    }

    /// Every `step`-th frame, and the last.
    pub fn thinned(&self, step: usize) -> Self {
        let last = self.frames.len() - 1;
        let kept = (0..=last).filter(|i| i % step.max(1) == 0 || *i == last);
        Self {
            frames: kept.map(|i| self.frames[i].clone()).collect(),
            ..*self
        }
    }

    /// This film at the left of another; the shorter one stands still at its end.
    pub fn beside(&self, other: &Self) -> Self {
        let gap = 1;
        let width = self.width + gap + other.width;
        let height = self.height.max(other.height);
        let length = self.frames.len().max(other.frames.len());
        let frames = (0..length).map(|i| {
            let mut frame = vec![SEAM; width * height];
            for (film, left) in [(self, 0), (other, self.width + gap)] {
                paste(
                    &mut frame,
                    width,
                    film.frame_or_last(i),
                    film.width,
                    (left, 0),
                );
            }
            frame
        });
        Self {
            width,
            height,
            frames: frames.collect(),
        }
    }

    fn frame_or_last(&self, index: usize) -> &[u8] {
        &self.frames[index.min(self.frames.len() - 1)]
    }

    /// Every pixel as a square of `scale` pixels.
    pub fn enlarged(&self, scale: usize) -> Self {
        let width = self.width * scale;
        let enlarge = |frame: &Vec<u8>| {
            let mut out = Vec::with_capacity(frame.len() * scale * scale);
            for row in frame.chunks_exact(self.width) {
                let start = out.len();
                out.extend(row.iter().flat_map(|p| std::iter::repeat_n(*p, scale)));
                for _ in 1..scale {
                    out.extend_from_within(start..start + width);
                }
            }
            out
        };
        Self {
            width,
            height: self.height * scale,
            frames: self.frames.iter().map(enlarge).collect(),
        }
    }

    /// One picture of at most `count` frames from begin to end, in rows of `columns`.
    pub fn contact_sheet(&self, count: usize, columns: usize) -> Self {
        let last = self.frames.len() - 1;
        let count = count.clamp(1, self.frames.len());
        let columns = columns.clamp(1, count);
        let (cell_width, cell_height) = (self.width + 1, self.height + 1);
        let width = columns * cell_width + 1;
        let height = count.div_ceil(columns) * cell_height + 1;
        let mut sheet = vec![SEAM; width * height];
        for cell in 0..count {
            let frame = &self.frames[cell * last / (count - 1).max(1)];
            let (column, row) = (cell % columns, cell / columns);
            let corner = (column * cell_width + 1, row * cell_height + 1);
            paste(&mut sheet, width, frame, self.width, corner);
        }
        Self {
            width,
            height,
            frames: vec![sheet],
        }
    }
}

/// Copies a picture into a larger one.
fn paste(out: &mut [u8], width: usize, picture: &[u8], columns: usize, corner: (usize, usize)) {
    for (y, row) in picture.chunks_exact(columns).enumerate() {
        let start = (corner.1 + y) * width + corner.0;
        out[start..start + columns].copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn film(length: u8) -> Film {
        Film {
            width: 3,
            height: 2,
            frames: (0..length).map(|i| vec![i; 6]).collect(),
        }
    }

    #[test]
    fn sizes_and_places() {
        let pair = film(2).beside(&film(4));
        assert_eq!((pair.width, pair.height, pair.frames.len()), (7, 2, 4));
        assert_eq!(pair.frames[3][..7], [1, 1, 1, SEAM, 3, 3, 3]);
        let large = film(2).enlarged(3);
        assert_eq!((large.width, large.height), (9, 6));
        assert!(large.frames[1].iter().all(|p| *p == 1) && large.frames[1].len() == 54);
        let sheet = film(9).contact_sheet(5, 3);
        assert_eq!((sheet.width, sheet.height), (13, 7));
        let cell = |column: usize, row: usize| sheet.frames[0][(row * 3 + 1) * 13 + column * 4 + 1];
        let cells = [cell(0, 0), cell(1, 0), cell(2, 0), cell(0, 1), cell(1, 1)];
        assert_eq!(cells, [0, 2, 4, 6, 8]);
        assert_eq!(film(1).contact_sheet(9, 9).frames.len(), 1);
        assert_eq!(film(8).thinned(3).frames.len(), 4);
    }
}
