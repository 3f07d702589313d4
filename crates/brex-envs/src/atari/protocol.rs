//! What goes over the pipes to the worker and back; worker.py is the other end.
//!
//! A request is two bytes, a kind and a value. An answer begins with four letters that say what it
//! is: `brxh` (hello) and `brxe` (error) are followed by a length and a text, `brxf` (frame) by the
//! reward, the lives, whether the game is over, and the screen. Numbers are little-endian.

use std::io::{self, Read};

/// A request to begin an episode; the value is how many no-ops to begin with.
const RESET: u8 = 0;
/// A request to do an action.
const STEP: u8 = 1;

/// Bytes of a frame's answer before its screen.
const HEADER: usize = 12;
/// No text of a worker is longer.
const LONGEST_TEXT: u32 = 1 << 16;

/// What is asked of the worker.
#[derive(Debug, Clone, Copy)]
pub(super) enum Request {
    /// Begin an episode with this many no-ops.
    Reset(u8),
    /// Do an action for four frames.
    Step(u8),
}

impl Request {
    pub(super) fn bytes(self) -> [u8; 2] {
        match self {
            Self::Reset(noops) => [RESET, noops],
            Self::Step(action) => [STEP, action],
        }
    }
}

/// What the worker says of a step beside the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) reward: i32,
    pub(super) lives: u16,
    pub(super) over: bool,
}

/// The first answer of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Greeting {
    /// It is ready: its versions and what it was asked for.
    Hello(Hello),
    /// It cannot work: what is missing, and why.
    Error { what: String, why: String },
}

/// What a worker that is ready says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) python: String,
    pub(super) ale: String,
    pub(super) numpy: String,
    /// Of a game: its actions. Of a check: the ROMs that are missing.
    pub(super) words: Vec<String>,
}

/// Why an answer cannot be used.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The pipe ended or failed.
    Pipe,
    /// Something else came.
    Garbled {
        found: String,
        expected: &'static str,
    },
}

impl From<io::Error> for Unreadable {
    fn from(_: io::Error) -> Self {
        Self::Pipe
    }
}

fn garbled(found: &[u8], expected: &'static str) -> Unreadable {
    let found = String::from_utf8_lossy(found).into_owned();
    Unreadable::Garbled { found, expected }
}

/// Reads the first answer.
pub(super) fn read_greeting(pipe: &mut impl Read) -> Result<Greeting, Unreadable> {
    let expected = "a greeting";
    let mut head = [0; 8];
    pipe.read_exact(&mut head)?;
    let [a, b, c, d, rest @ ..] = head;
    let length = u32::from_le_bytes(rest);
    let magic = [a, b, c, d];
    if length > LONGEST_TEXT || !matches!(&magic, b"brxh" | b"brxe") {
        return Err(garbled(&head, expected));
    }
    let mut text = vec![0; length as usize];
    pipe.read_exact(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.splitn(if &magic == b"brxh" { 4 } else { 2 }, '\n');
    let mut line = || lines.next().map(str::to_owned);
    let greeting = if &magic == b"brxe" {
        line()
            .zip(line())
            .map(|(what, why)| Greeting::Error { what, why })
    } else {
        let versions = line().zip(line()).zip(line());
        versions.zip(line()).map(|(((python, ale), numpy), words)| {
            let words = words.split_whitespace().map(str::to_owned).collect();
            Greeting::Hello(Hello {
                python,
                ale,
                numpy,
                words,
            })
        })
    };
    greeting.ok_or_else(|| garbled(text.as_bytes(), expected))
}

/// Reads the answer to a request: what happened, and the screen.
pub(super) fn read_frame(pipe: &mut impl Read, screen: &mut [u8]) -> Result<Outcome, Unreadable> {
    let mut header = [0; HEADER];
    pipe.read_exact(&mut header)?;
    let [a, b, c, d, r0, r1, r2, r3, l0, l1, over, zero] = header;
    if [a, b, c, d] != *b"brxf" || over > 1 || zero != 0 {
        return Err(garbled(&header, "a frame"));
    }
    pipe.read_exact(screen)?;
    Ok(Outcome {
        reward: i32::from_le_bytes([r0, r1, r2, r3]),
        lives: u16::from_le_bytes([l0, l1]),
        over: over == 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(magic: &[u8; 4], text: &str) -> Vec<u8> {
        let length = (text.len() as u32).to_le_bytes();
        [magic, &length, text.as_bytes()].concat()
    }

    #[test]
    fn greetings_are_read() {
        let hello = text(b"brxh", "3.11.7\n0.12.1\n2.4.6\nNOOP FIRE");
        let Ok(Greeting::Hello(hello)) = read_greeting(&mut &hello[..]) else {
            panic!("no hello")
        };
        assert_eq!((&*hello.ale, &*hello.words[1]), ("0.12.1", "FIRE"));
        let error = text(b"brxe", "rom\nnone\nat all");
        let Ok(Greeting::Error { what, why }) = read_greeting(&mut &error[..]) else {
            panic!("no error")
        };
        assert_eq!((&*what, &*why), ("rom", "none\nat all"));
    }

    #[test]
    fn garbage_is_told_from_a_closed_pipe() {
        let short = text(b"brxh", "3.11.7\n0.12.1");
        let huge = [&b"brxh"[..], &u32::MAX.to_le_bytes()].concat();
        for bytes in [&b"Welcome to the machine"[..], &short, &huge] {
            let read = read_greeting(&mut &bytes[..]);
            assert!(matches!(read, Err(Unreadable::Garbled { .. })), "{read:?}");
        }
        for bytes in [&b""[..], b"brxh", &text(b"brxh", "abc")[..9]] {
            let read = read_greeting(&mut &bytes[..]);
            assert!(matches!(read, Err(Unreadable::Pipe)), "{read:?}");
        }
    }

    #[test]
    fn frames_are_read() {
        let mut bytes = b"brxf\xfe\xff\xff\xff\x03\x00\x01\x00".to_vec();
        bytes.extend([7; 5]);
        let mut screen = [0; 5];
        let outcome = read_frame(&mut &bytes[..], &mut screen);
        let Ok(outcome) = outcome else {
            panic!("no frame")
        };
        assert_eq!((outcome.reward, outcome.lives, outcome.over), (-2, 3, true));
        assert_eq!(screen, [7; 5]);
        assert!(matches!(
            read_frame(&mut &bytes[..14], &mut screen),
            Err(Unreadable::Pipe)
        ));
        bytes[11] = 1;
        let read = read_frame(&mut &bytes[..], &mut screen);
        assert!(matches!(read, Err(Unreadable::Garbled { .. })));
    }
}
