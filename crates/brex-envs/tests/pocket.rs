//! What every pocket game keeps to, whatever is played.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_envs::{EnvError, Environment, Info, Script, Spec, Step, game_random, make, pocket_names};
use proptest::prelude::*;
use std::collections::HashMap;

/// What 2,000 steps of a fixed sequence of actions show and give, by game and version.
const GOLDEN: &[(&str, u32, u64)] = &[
    ("pocket:breakout", 1, 0x052c_9db1_6a01_5722),
    ("pocket:space-invaders", 1, 0x6e1a_489b_a478_a4a0),
    ("pocket:seaquest", 2, 0xc845_a461_d2f0_d97c),
    ("pocket:beam-rider", 1, 0xa753_4818_1980_de23),
    ("pocket:enduro", 1, 0x710e_2677_bb37_178c),
];

/// An environment with its observation.
struct Player {
    env: Box<dyn Environment>,
    spec: Spec,
    seen: Vec<u8>,
}

impl Player {
    fn new(name: &str) -> Self {
        let env = make(name).unwrap();
        let spec = env.spec().clone();
        let seen = vec![0; spec.observation_len()];
        Self { env, spec, seen }
    }

    fn reset(&mut self, seed: u64) -> Info {
        self.env.reset(seed, &mut self.seen).unwrap()
    }

    fn step(&mut self, action: usize) -> Result<Step, EnvError> {
        self.env.step(action, &mut self.seen)
    }

    /// Bytes of a frame.
    fn plane(&self) -> usize {
        self.spec.height * self.spec.width
    }

    /// The newest frame's rows that show score and lives.
    fn display(&self) -> &[u8] {
        let newest = &self.seen[(self.spec.stack - 1) * self.plane()..];
        let rows = &self.spec.masked_rows[0];
        &newest[rows.start * self.spec.width..rows.end * self.spec.width]
    }
}

/// Displays by what they should show; the same for all games.
#[derive(Default)]
struct Displays {
    by_info: HashMap<(i64, u32), Vec<u8>>,
    by_pixels: HashMap<Vec<u8>, (i64, u32)>,
}

impl Displays {
    /// Score and lives decide the display, and the display tells both: nothing else is in it.
    fn check(&mut self, player: &Player, info: Info) {
        let key = ((info.score as i64).clamp(0, 99_999), info.lives);
        let pixels = player.display().to_vec();
        let first = self.by_info.entry(key).or_insert_with(|| pixels.clone());
        assert_eq!(*first, pixels, "{}: {key:?}", player.spec.name);
        let shown = *self.by_pixels.entry(pixels).or_insert(key);
        assert_eq!(shown, key, "{}: one display for both", player.spec.name);
    }
}

/// Plays actions from a seed and checks every step against the rules of all games.
fn play(name: &str, seed: u64, actions: &[u8], displays: &mut Displays) {
    let (mut player, mut twin) = (Player::new(name), Player::new(name));
    let plane = player.plane();
    let start = player.reset(seed);
    assert_eq!(start, twin.reset(seed));
    assert_eq!(player.seen, twin.seen);
    assert_eq!(start.score, 0.0);
    for frame in player.seen.chunks(plane) {
        assert_eq!(frame, &player.seen[..plane], "the first frame fills all");
    }
    displays.check(&player, start);
    let (mut steps, mut info) = (0, start);
    for action in actions {
        let action = usize::from(*action) % player.spec.actions.len();
        let before = player.seen.clone();
        let step = player.step(action).unwrap();
        assert_eq!(twin.step(action).unwrap(), step);
        assert_eq!(twin.seen, player.seen);
        steps += 1;
        let kept = (player.spec.stack - 1) * plane;
        assert_eq!(player.seen[..kept], before[plane..], "moves by one frame");
        assert_eq!(step.info.score, info.score + step.reward);
        assert!(step.info.lives <= start.lives);
        assert!(!(step.terminated && step.truncated));
        let at_limit = steps >= player.spec.step_limit;
        assert_eq!(step.truncated, at_limit && !step.terminated);
        displays.check(&player, step.info);
        if steps % 16 == 1 {
            check_mask(&player);
        }
        info = step.info;
        if step.terminated || step.truncated {
            check_end(&mut player);
            return;
        }
    }
}

/// The mask blackens its rows in every frame, and touches no others.
fn check_mask(player: &Player) {
    let mut masked = player.seen.clone();
    player.spec.mask(&mut masked);
    let width = player.spec.width;
    for (index, (hidden, plain)) in masked.iter().zip(&player.seen).enumerate() {
        let row = index / width % player.spec.height;
        let expected = if player.spec.is_masked(row) {
            0
        } else {
            *plain
        };
        assert_eq!(*hidden, expected);
    }
}

/// After the end nothing can be done but to begin again.
fn check_end(player: &mut Player) {
    let last = player.seen.clone();
    let name = player.spec.name.to_owned();
    assert_eq!(player.step(0), Err(EnvError::NoEpisode { name }));
    assert_eq!(player.seen, last);
    for script in Script::ALL {
        assert_eq!(player.env.scripted(script, &mut game_random(0)), None);
    }
    player.reset(1);
    player.step(0).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_play_keeps_the_rules(seed: u64, actions in prop::collection::vec(0_u8..252, 1..600)) {
        let mut displays = Displays::default();
        for name in pocket_names() {
            play(name, seed, &actions, &mut displays);
        }
    }

    /// Held keys get farther than keys that are struck at random.
    #[test]
    fn held_actions_keep_the_rules(seed: u64, held in prop::collection::vec((0_u8..252, 1_usize..60), 1..40)) {
        let mut displays = Displays::default();
        let actions: Vec<u8> = held.iter().flat_map(|(action, count)| vec![*action; *count]).collect();
        for name in pocket_names() {
            play(name, seed, &actions, &mut displays);
        }
    }
}

#[test]
fn every_script_comes_to_an_end() {
    for name in pocket_names() {
        let mut displays = Displays::default();
        for script in Script::ALL {
            let mut player = Player::new(name);
            player.reset(11);
            let (mut random, mut actions) = (game_random(12), Vec::new());
            loop {
                let action = player.env.scripted(script, &mut random).unwrap();
                actions.push(action as u8);
                let step = player.step(action).unwrap();
                if step.terminated || step.truncated {
                    break;
                }
                assert!(actions.len() < player.spec.step_limit, "{name}, {script:?}");
            }
            play(name, 11, &actions, &mut displays);
        }
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_changes_nothing() {
    for name in pocket_names() {
        let (mut player, mut twin) = (Player::new(name), Player::new(name));
        let no_episode = EnvError::NoEpisode {
            name: name.to_owned(),
        };
        assert_eq!(player.step(0), Err(no_episode));
        player.reset(3);
        twin.reset(3);
        let actions = player.spec.actions.len();
        let unknown = EnvError::UnknownAction {
            name: name.to_owned(),
            action: actions,
            actions,
        };
        assert_eq!(player.step(actions), Err(unknown));
        let buffer = EnvError::Buffer {
            name: name.to_owned(),
            found: 7,
            expected: player.seen.len(),
        };
        assert_eq!(player.env.step(0, &mut [0; 7]), Err(buffer.clone()));
        assert_eq!(player.env.reset(4, &mut [0; 7]), Err(buffer));
        for _ in 0..20 {
            assert_eq!(player.step(1), twin.step(1));
            assert_eq!(player.seen, twin.seen);
        }
    }
}

#[test]
fn specs_are_sound() {
    for name in pocket_names() {
        let spec = Player::new(name).spec;
        assert_eq!((spec.name, spec.actions[0]), (name, "noop"));
        assert_eq!((spec.height, spec.width, spec.stack), (24, 24, 4));
        assert_eq!(spec.observation_len(), 4 * 24 * 24);
        assert!(spec.version >= 1 && spec.step_limit >= 1_000);
        let mut names = spec.actions.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), spec.actions.len(), "{name}: action names");
    }
}

#[test]
fn games_look_and_pay_as_they_always_did() {
    let mut wrong = Vec::new();
    for name in pocket_names() {
        let version = Player::new(name).spec.version;
        let line = (name, version, fingerprint(name));
        if !GOLDEN.contains(&line) {
            wrong.push(format!("    ({:?}, {}, {:#018x}),", line.0, line.1, line.2));
        }
    }
    assert!(
        wrong.is_empty(),
        "if this change is meant, raise VERSION and put into GOLDEN:\n{}",
        wrong.join("\n")
    );
    for (name, ..) in GOLDEN {
        assert!(pocket_names().any(|game| game == *name), "no game {name}");
    }
}

#[test]
fn threads_do_not_matter() {
    for name in pocket_names() {
        let alone = fingerprint(name);
        let together = std::thread::scope(|scope| {
            let other = scope.spawn(|| fingerprint(name));
            (fingerprint(name), other.join().unwrap())
        });
        assert_eq!(together, (alone, alone), "{name}");
    }
}

/// FNV-1a over all that 2,000 steps show and give; the actions are often held for a while.
fn fingerprint(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    let mut player = Player::new(name);
    let (mut episode, mut state, mut action) = (0, 1_u64, 0);
    player.reset(episode);
    add(&player.seen);
    for _ in 0..2_000 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let roll = (state >> 33) as usize;
        if roll.is_multiple_of(3) {
            action = roll / 3 % player.spec.actions.len();
        }
        let step = player.step(action).unwrap();
        add(&player.seen);
        add(&(step.reward as i64).to_le_bytes());
        add(&[
            step.info.lives as u8,
            step.terminated.into(),
            step.truncated.into(),
        ]);
        if step.terminated || step.truncated {
            episode += 1;
            player.reset(episode);
            add(&player.seen);
        }
    }
    hash
}
