//! `brex render`: pictures of recorded episodes.

use crate::args::Common;
use crate::atari::prepare;
use crate::exit::{BadInput, Outcome};
use crate::numbers;
use crate::terminal::{json_text, print};
use anyhow::{Context, Result};
use brex_envs::{EnvError, Film, ReplayError, encode_gif, encode_mp4, encode_png, make};
use brex_store::{StoreError, read_episode, write_atomic};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Make a picture of a recorded episode, or of two side by side
///
/// The episode is played again, and it is an error if it does not come out as it was recorded. One
/// that keeps its frames, because it cannot be played again, is shown from these.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// An episode that `brex rollout` recorded
    #[arg(value_name = "EPISODE")]
    episode: PathBuf,
    /// A second one, to stand at the right of the first
    #[arg(value_name = "EPISODE")]
    other: Option<PathBuf>,
    /// What to write: a film as .gif, .apng or .mp4 (by ffmpeg), a contact sheet as .png
    #[arg(short, long, value_name = "FILE.gif|.apng|.mp4|.png")]
    out: PathBuf,
    /// Pixels for each pixel
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    scale: u16,
    /// Frames a second
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=60))]
    fps: u16,
    /// Show every N-th frame only
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    every: u16,
    /// Frames on a contact sheet
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(1..=1000))]
    frames: u16,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gif,
    AnimatedPng,
    Mp4,
    ContactSheet,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, BadInput> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("gif") => Ok(Self::Gif),
            Some("apng") => Ok(Self::AnimatedPng),
            Some("mp4") => Ok(Self::Mp4),
            Some("png") => Ok(Self::ContactSheet),
            _ => Err(BadInput::new(format!(
                "{}: end the name with .gif, .apng, .mp4 or .png",
                path.display()
            ))),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let kind = Kind::of(&arguments.out)?;
    if !arguments.force && arguments.out.exists() {
        let path = arguments.out.clone();
        return Err(StoreError::Exists { path }.into());
    }
    let mut film = film(&arguments.episode, common.quiet)?;
    if let Some(other) = &arguments.other {
        film = film.beside(&self::film(other, common.quiet)?);
    }
    let steps = film.frames().len();
    film = match kind {
        Kind::ContactSheet => film.contact_sheet(usize::from(arguments.frames), 6),
        _ => film.thinned(usize::from(arguments.every)),
    };
    let film = film.enlarged(usize::from(arguments.scale));
    let bytes = match kind {
        Kind::Gif => encode_gif(&film, arguments.fps),
        Kind::AnimatedPng | Kind::ContactSheet => encode_png(&film, arguments.fps),
        Kind::Mp4 => encode_mp4(&film, arguments.fps),
    };
    let bytes = bytes.with_context(|| arguments.out.display().to_string())?;
    write_atomic(&arguments.out, arguments.force, |writer| {
        writer.write_all(&bytes)
    })?;
    let (width, height) = (film.width(), film.height());
    if common.json {
        let result = json!({
            "file": arguments.out.display().to_string(),
            "frames": film.frames().len(),
            "width": width,
            "height": height,
            "bytes": bytes.len(),
        });
        print(&json_text(&result)?)?;
    } else {
        print(&format!(
            "{}: {} frames of an episode, {width} x {height} pixels, {} bytes\n",
            arguments.out.display(),
            numbers::count(steps),
            numbers::count(bytes.len())
        ))?;
    }
    Ok(Outcome::Done)
}

/// The frames of an episode: played again, unless it keeps them.
fn film(path: &Path, quiet: bool) -> Result<Film> {
    let episode = read_episode(path)?;
    let bad = |problem: String| BadInput::new(format!("{}: {problem}", path.display()));
    if let Some(film) = Film::of_frames(&episode) {
        return Ok(film);
    }
    let mut env = make(&episode.environment).map_err(|error| bad(error.to_string()))?;
    prepare(&episode.environment, quiet)?;
    match Film::of_episode(env.as_mut(), &episode) {
        // The episode is not to blame.
        Err(ReplayError::Env(error @ EnvError::Atari(_))) => Err(error.into()),
        film => Ok(film.map_err(|error| bad(error.to_string()))?),
    }
}
