//! Recorded episodes as JSON: environment, version, seed, actions and a checksum.
//!
//! Actions are letters, one each: `a` is action 0. A thousand steps take a kilobyte, and an editor
//! shows what was played.

use std::path::Path;

use brex_core::Episode;
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::atomic::write_atomic;
use crate::read::read_bytes;

const FORMAT: &str = "brex episode 1";
/// Letters of the actions in order.
const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

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
        }
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
