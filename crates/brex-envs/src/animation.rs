//! Films as files: GIF, animated PNG, PNG, and MP4 where ffmpeg is installed.

use crate::film::Film;
use std::io::Write;
use std::process::{Command, Stdio};

/// Why a film could not be encoded.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// The picture is larger than the format allows.
    #[error("{width} x {height} pixels are too many for this format; use a smaller scale")]
    TooLarge {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// A GIF could not be encoded.
    #[error("cannot encode the GIF: {0}")]
    Gif(#[from] gif::EncodingError),
    /// A PNG could not be encoded.
    #[error("cannot encode the PNG: {0}")]
    Png(#[from] png::EncodingError),
    /// There is no ffmpeg.
    #[error(
        "an .mp4 needs ffmpeg, which is not installed; install it (Debian: apt-get install ffmpeg) or write a .gif"
    )]
    NoFfmpeg,
    /// ffmpeg failed.
    #[error("ffmpeg failed: {0}")]
    Ffmpeg(String),
}

/// Columns and rows, as the formats count them.
fn size(film: &Film) -> Result<(u16, u16), FilmError> {
    let (width, height) = (film.width(), film.height());
    let side = |n: usize| u16::try_from(n).map_err(|_| FilmError::TooLarge { width, height });
    Ok((side(width)?, side(height)?))
}

/// An endless GIF. Only what changes from frame to frame is kept, so that it stays small.
pub fn encode_gif(film: &Film, frames_per_second: u16) -> Result<Vec<u8>, FilmError> {
    let (width, height) = size(film)?;
    let greys: Vec<u8> = (0..=255_u8).flat_map(|grey| [grey; 3]).collect();
    let mut encoder = gif::Encoder::new(Vec::new(), width, height, &greys)?;
    encoder.set_repeat(gif::Repeat::Infinite)?;
    // Hundredths of a second; players take less than two for a mistake.
    let delay = (100 / frames_per_second.max(1)).max(2);
    let mut before: Option<&Vec<u8>> = None;
    for frame in film.frames() {
        let (left, top, columns, rows) = match before {
            Some(before) => changed(before, frame, usize::from(width)),
            None => (0, 0, width, height),
        };
        let pixels: Vec<u8> = frame
            .chunks_exact(usize::from(width))
            .skip(usize::from(top))
            .take(usize::from(rows))
            .flat_map(|row| &row[usize::from(left)..usize::from(left + columns)])
            .copied()
            .collect();
        encoder.write_frame(&gif::Frame {
            delay,
            left,
            top,
            width: columns,
            height: rows,
            dispose: gif::DisposalMethod::Keep,
            buffer: pixels.into(),
            ..gif::Frame::default()
        })?;
        before = Some(frame);
    }
    Ok(encoder.into_inner()?)
}

/// The rectangle in which two frames differ; one pixel if they do not.
fn changed(before: &[u8], after: &[u8], width: usize) -> (u16, u16, u16, u16) {
    let differ = before.iter().zip(after).enumerate();
    let places = differ
        .filter(|(_, (a, b))| a != b)
        .map(|(i, _)| (i % width, i / width));
    let bounds = places.fold(None, |bounds: Option<[usize; 4]>, (x, y)| {
        Some(bounds.map_or([x, y, x, y], |[x0, y0, x1, y1]| {
            [x0.min(x), y0.min(y), x1.max(x), y1.max(y)]
        }))
    });
    let [x0, y0, x1, y1] = bounds.unwrap_or([0; 4]);
    // All of these are below the sides of a frame, which fit.
    (
        x0 as u16,
        y0 as u16,
        (x1 - x0 + 1) as u16,
        (y1 - y0 + 1) as u16,
    )
}

/// A PNG of one frame, an animated one of several.
pub fn encode_png(film: &Film, frames_per_second: u16) -> Result<Vec<u8>, FilmError> {
    let (width, height) = size(film)?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::from(width), u32::from(height));
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    let count = film.frames().len();
    if count > 1 {
        encoder.set_animated(count as u32, 0)?;
        encoder.set_frame_delay(1, frames_per_second.max(1))?;
    }
    let mut writer = encoder.write_header()?;
    for frame in film.frames() {
        writer.write_image_data(frame)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// The version of ffmpeg, if it is installed.
pub fn ffmpeg_version() -> Option<String> {
    let output = Command::new("ffmpeg").arg("-version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.lines().next()?.strip_prefix("ffmpeg version ")?;
    version.split_whitespace().next().map(str::to_owned)
}

/// An MP4, by ffmpeg.
pub fn encode_mp4(film: &Film, frames_per_second: u16) -> Result<Vec<u8>, FilmError> {
    let failed = |error: std::io::Error| FilmError::Ffmpeg(error.to_string());
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("film.mp4");
    let size = format!("{}x{}", film.width(), film.height());
    let mut child = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "gray"])
        .args(["-s", &size, "-r", &frames_per_second.max(1).to_string()])
        // The codec wants even sides.
        .args(["-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"])
        .args(["-pix_fmt", "yuv420p", "-y"])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => FilmError::NoFfmpeg,
            _ => failed(error),
        })?;
    let written = child.stdin.take().map_or(Ok(()), |mut pipe| {
        film.frames()
            .iter()
            .try_for_each(|frame| pipe.write_all(frame))
    });
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(FilmError::Ffmpeg(said.trim().to_owned()));
    }
    written.map_err(failed)?;
    std::fs::read(&path).map_err(failed)
}
