//! Recorded episodes as JSON: environment, version, seed, actions and a checksum.
//!
//! Actions are letters, one each: `a` is action 0. A thousand steps take a kilobyte, and an editor
//! shows what was played. An episode that cannot be played again keeps its frames too, compressed.

use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brex_core::{Episode, EpisodeFrames};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::atomic::write_atomic;
use crate::read::read_bytes;

const FORMAT: &str = "brex episode 1";
/// Letters of the actions in order.
const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Frames of an episode take no more memory than this: a gigabyte is 150,000 of 84 x 84 pixels. A
/// fixed limit, because a still picture compresses without one.
const MOST_PIXELS: usize = 1 << 30;
const COMPRESSION: i32 = 9;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FramesText {
    height: usize,
    width: usize,
    /// The frames one after the other, compressed by zstd, in base64.
    zstd: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EpisodeText {
    format: String,
    environment: String,
    version: u32,
    seed: u64,
    score: f64,
    truncated: bool,
    length: usize,
    /// In hexadecimal digits, because many readers of JSON round large numbers.
    checksum: String,
    actions: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frames: Option<FramesText>,
}

/// Bytes of the frames of an episode, if they are within what is allowed.
fn frames_len(height: usize, width: usize, actions: usize) -> Result<usize, String> {
    let count = actions.saturating_add(1);
    let pixels = height.checked_mul(width).and_then(|n| n.checked_mul(count));
    pixels
        .filter(|pixels| (1..=MOST_PIXELS).contains(pixels))
        .ok_or_else(|| {
            format!(
                "frames: {count} of {height} x {width}; expected 1 to {MOST_PIXELS} pixels in all"
            )
        })
}

fn frames_text(frames: &EpisodeFrames, actions: usize) -> Result<FramesText, String> {
    let (height, width) = (frames.height, frames.width);
    let (found, expected) = (frames.pixels.len(), frames_len(height, width, actions)?);
    if found != expected {
        return Err(format!("frames: {found} pixels; expected {expected}"));
    }
    let packed = zstd::bulk::compress(&frames.pixels, COMPRESSION);
    Ok(FramesText {
        height,
        width,
        zstd: STANDARD.encode(packed.map_err(|error| format!("frames: {error}"))?),
    })
}

fn frames_from_text(text: &FramesText, actions: usize) -> Result<EpisodeFrames, String> {
    let expected = frames_len(text.height, text.width, actions)?;
    let named = |error: String| format!("frames: {error}");
    let packed = STANDARD
        .decode(&text.zstd)
        .map_err(|e| named(e.to_string()))?;
    let decoder = zstd::Decoder::new(&*packed).map_err(|e| named(e.to_string()))?;
    // Memory grows with what really comes, and one byte too many is enough to know.
    let mut pixels = Vec::new();
    let limit = expected as u64 + 1;
    let read = decoder.take(limit).read_to_end(&mut pixels);
    read.map_err(|error| named(error.to_string()))?;
    if pixels.len() != expected {
        let found = pixels.len();
        let more = if found > expected { " or more" } else { "" };
        return Err(format!("frames: {found}{more} pixels; expected {expected}"));
    }
    Ok(EpisodeFrames {
        height: text.height,
        width: text.width,
        pixels,
    })
}

/// Writes an episode. An existing file is an error unless `force` is given.
pub fn write_episode(
    path: impl AsRef<Path>,
    episode: &Episode,
    force: bool,
) -> Result<(), StoreError> {
    let path = path.as_ref();
    let malformed = |problem: String| malformed(path, problem);
    let letters = episode.actions.iter().map(|action| {
        let letter = LETTERS.get(usize::from(*action));
        letter.map(|letter| char::from(*letter)).ok_or(*action)
    });
    let actions: Result<String, u8> = letters.collect();
    let text = EpisodeText {
        format: FORMAT.to_owned(),
        environment: episode.environment.clone(),
        version: episode.version,
        seed: episode.seed,
        score: episode.score,
        truncated: episode.truncated,
        length: episode.actions.len(),
        checksum: format!("{:016x}", episode.checksum),
        actions: actions.map_err(|action| {
            malformed(format!("action {action}: only 52 actions have a letter"))
        })?,
        frames: match &episode.frames {
            Some(frames) => Some(frames_text(frames, episode.actions.len()).map_err(malformed)?),
            None => None,
        },
    };
    let mut bytes = serde_json::to_vec_pretty(&text).map_err(|e| malformed(e.to_string()))?;
    bytes.push(b'\n');
    write_atomic(path, force, |writer| writer.write_all(&bytes))
}

/// Reads an episode.
pub fn read_episode(path: impl AsRef<Path>) -> Result<Episode, StoreError> {
    let path = path.as_ref();
    episode_from_bytes(path, &read_bytes(path)?)
}

/// Reads an episode from the content of a file; `path` is for messages.
pub fn episode_from_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Episode, StoreError> {
    let path = path.as_ref();
    let malformed = |problem: String| malformed(path, problem);
    let text: EpisodeText =
        serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    if text.format != FORMAT {
        let found = text.format;
        return Err(malformed(format!(
            "format is {found:?}; expected {FORMAT:?}"
        )));
    }
    let actions = text.actions.bytes().enumerate().map(|(index, letter)| {
        let action = LETTERS.iter().position(|known| *known == letter);
        action.map(|action| action as u8).ok_or_else(|| {
            let letter = char::from(letter);
            malformed(format!(
                "actions: character {index} is {letter:?}; expected a letter"
            ))
        })
    });
    let actions = actions.collect::<Result<Vec<u8>, StoreError>>()?;
    if actions.len() != text.length {
        let (found, length) = (actions.len(), text.length);
        return Err(malformed(format!("{found} actions; length says {length}")));
    }
    let frames = match &text.frames {
        Some(frames) => Some(frames_from_text(frames, actions.len()).map_err(malformed)?),
        None => None,
    };
    let digits = &text.checksum;
    let checksum = u64::from_str_radix(digits, 16).ok();
    let checksum = checksum.filter(|_| digits.len() == 16 && !digits.starts_with('+'));
    Ok(Episode {
        checksum: checksum.ok_or_else(|| {
            malformed(format!(
                "checksum is {digits:?}; expected 16 hexadecimal digits"
            ))
        })?,
        environment: text.environment,
        version: text.version,
        seed: text.seed,
        actions,
        score: text.score,
        truncated: text.truncated,
        frames,
    })
}

fn malformed(path: &Path, problem: String) -> StoreError {
    StoreError::Malformed {
        path: path.to_owned(),
        format: ".episode",
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode() -> Episode {
        Episode {
            environment: "pocket:breakout".to_owned(),
            version: 1,
            seed: u64::MAX,
            actions: (0..52).chain([0, 3]).collect(),
            score: -2.5,
            truncated: true,
            checksum: 0x00ab_cdef_0123_4567,
            frames: None,
        }
    }

    /// One that keeps its frames, of 2 x 3 pixels.
    fn kept() -> Episode {
        let mut episode = episode();
        let count = 6 * (episode.actions.len() + 1);
        episode.frames = Some(EpisodeFrames {
            height: 2,
            width: 3,
            pixels: (0..count).map(|i| (i * i) as u8).collect(),
        });
        episode
    }

    #[test]
    fn frames_come_back_as_they_were() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.episode");
        write_episode(&path, &kept(), false).unwrap();
        assert_eq!(read_episode(&path).unwrap(), kept());
        let mut short = kept();
        short.frames.as_mut().unwrap().pixels.pop();
        let error = write_episode(&path, &short, true).unwrap_err();
        assert!(
            error.to_string().contains("329 pixels; expected 330"),
            "{error}"
        );
        short.frames.as_mut().unwrap().height = usize::MAX;
        assert!(write_episode(&path, &short, true).is_err());
    }

    #[test]
    fn hostile_frames_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.episode");
        write_episode(&path, &kept(), false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let refused = |changed: String, message: &str| {
            assert_ne!(changed, text, "{message}");
            let error = episode_from_bytes(&path, changed.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        };
        let height = |n: &str| text.replacen("\"height\": 2", &format!("\"height\": {n}"), 1);
        refused(height("0"), "expected 1 to");
        refused(height("3"), "330 pixels; expected 495");
        refused(height("1"), "166 or more pixels; expected 165");
        refused(height("18446744073709551615"), "expected 1 to");
        refused(height("100000000"), "expected 1 to");
        let start = text.find("\"zstd\": \"").unwrap() + 9;
        let end = start + text[start..].find('"').unwrap();
        let packed = |new: &str| format!("{}{new}{}", &text[..start], &text[end..]);
        refused(packed("?"), "frames");
        refused(packed(""), "frames");
        refused(packed(&STANDARD.encode([7; 40])), "frames");
        // Sixty-four megabytes of nothing in a few kilobytes is read no further than is needed.
        let bomb = zstd::bulk::compress(&vec![0; 1 << 26], 3).unwrap();
        refused(packed(&STANDARD.encode(bomb)), "331 or more");
    }

    #[test]
    fn an_episode_comes_back_as_it_was() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.episode");
        write_episode(&path, &episode(), false).unwrap();
        assert_eq!(read_episode(&path).unwrap(), episode());
        let again = write_episode(&path, &episode(), false).unwrap_err();
        assert!(matches!(again, StoreError::Exists { .. }));
        let mut many = episode();
        many.actions.push(52);
        assert!(write_episode(&path, &many, true).is_err());
        assert_eq!(read_episode(&path).unwrap(), episode());
    }

    #[test]
    fn damage_is_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.episode");
        write_episode(&path, &episode(), false).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to, message) in [
            ("brex episode 1", "brex episode 9", "format is"),
            (
                "\"length\": 54",
                "\"length\": 53",
                "54 actions; length says 53",
            ),
            (
                "\"actions\": \"ab",
                "\"actions\": \"a?",
                "character 1 is '?'",
            ),
            ("00abcdef01234567", "+0abcdef01234567", "checksum"),
            ("00abcdef01234567", "abc", "checksum"),
            ("\"seed\": 18446744073709551615", "\"seed\": -1", "line"),
            ("\"version\"", "\"vision\"", "vision"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            let error = episode_from_bytes(&path, changed.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
        for end in 0..text.len() - 2 {
            assert!(episode_from_bytes(&path, &text.as_bytes()[..end]).is_err());
        }
        assert!(episode_from_bytes(&path, &[0xff; 40]).is_err());
    }
}
