//! The games: their ROMs, actions, masks and limits.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "most games hide one band of rows"
)]

use crate::environment::Spec;
use std::ops::Range;

/// Grows whenever the pictures, the rewards or the beginning of an episode change.
const VERSION: u32 = 1;

/// Rows and columns of a frame.
pub(super) const SIDE: usize = 84;
/// Bytes of a frame.
pub(super) const PIXELS: usize = SIDE * SIDE;
/// Frames of an observation.
pub(super) const STACK: usize = 4;
/// Raw frames of a step.
const SKIP: usize = 4;

/// All directions, without and with fire, as the emulator orders them.
const ALL_ACTIONS: &[&str] = &[
    "noop",
    "fire",
    "up",
    "right",
    "left",
    "down",
    "up-right",
    "up-left",
    "down-right",
    "down-left",
    "up-fire",
    "right-fire",
    "left-fire",
    "down-fire",
    "up-right-fire",
    "up-left-fire",
    "down-right-fire",
    "down-left-fire",
];

/// One game.
pub(super) struct Game {
    /// The name with its family, as `atari:breakout`.
    pub(super) name: &'static str,
    /// The name of its ROM in ale-py.
    pub(super) rom: &'static str,
    /// The emulator's minimal action set.
    pub(super) actions: &'static [&'static str],
    /// The rows that the authors' code hides (`trex_utils.py`).
    masked_rows: &'static [Range<usize>],
    /// After this many raw frames an episode is cut off, as in gym's `NoFrameskip-v4`.
    frame_limit: usize,
}

pub(super) const GAMES: &[Game] = &[
    Game {
        name: "atari:breakout",
        rom: "breakout",
        actions: &["noop", "fire", "right", "left"],
        masked_rows: &[0..10],
        frame_limit: 400_000,
    },
    Game {
        name: "atari:space-invaders",
        rom: "space_invaders",
        actions: &["noop", "fire", "right", "left", "right-fire", "left-fire"],
        masked_rows: &[0..10],
        frame_limit: 300_000,
    },
    Game {
        name: "atari:seaquest",
        rom: "seaquest",
        actions: ALL_ACTIONS,
        masked_rows: &[0..12, 68..84],
        frame_limit: 400_000,
    },
    Game {
        name: "atari:beam-rider",
        rom: "beam_rider",
        actions: &[
            "noop",
            "fire",
            "up",
            "right",
            "left",
            "up-right",
            "up-left",
            "right-fire",
            "left-fire",
        ],
        masked_rows: &[0..16, 73..84],
        frame_limit: 400_000,
    },
    Game {
        name: "atari:enduro",
        rom: "enduro",
        actions: &[
            "noop",
            "fire",
            "right",
            "left",
            "down",
            "down-right",
            "down-left",
            "right-fire",
            "left-fire",
        ],
        masked_rows: &[70..84],
        frame_limit: 400_000,
    },
    Game {
        name: "atari:qbert",
        rom: "qbert",
        actions: &["noop", "fire", "up", "right", "left", "down"],
        masked_rows: &[0..12],
        frame_limit: 400_000,
    },
    Game {
        name: "atari:hero",
        rom: "hero",
        actions: ALL_ACTIONS,
        masked_rows: &[54..84],
        frame_limit: 400_000,
    },
    Game {
        name: "atari:pong",
        rom: "pong",
        actions: &["noop", "fire", "right", "left", "right-fire", "left-fire"],
        masked_rows: &[0..10],
        frame_limit: 400_000,
    },
    Game {
        name: "atari:ms-pacman",
        rom: "ms_pacman",
        actions: &[
            "noop",
            "up",
            "right",
            "left",
            "down",
            "up-right",
            "up-left",
            "down-right",
            "down-left",
        ],
        masked_rows: &[69..84],
        frame_limit: 400_000,
    },
];

impl Game {
    /// The game with a name.
    pub(super) fn by_name(name: &str) -> Option<&'static Self> {
        GAMES.iter().find(|game| game.name == name)
    }

    /// What an agent sees and can do.
    pub(super) fn spec(&self) -> Spec {
        Spec {
            name: self.name,
            version: VERSION,
            actions: self.actions,
            height: SIDE,
            width: SIDE,
            stack: STACK,
            masked_rows: self.masked_rows,
            step_limit: self.frame_limit / SKIP,
        }
    }

    /// Whether the emulator names the same actions in the same order, as `UPRIGHTFIRE`.
    pub(super) fn has_actions<'a>(&self, theirs: impl Iterator<Item = &'a str>) -> bool {
        let ours = self.actions.iter();
        ours.map(|name| name.replace('-', "").to_uppercase())
            .eq(theirs)
    }
}
