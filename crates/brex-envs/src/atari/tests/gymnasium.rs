//! Our frames beside those of Gymnasium's `AtariPreprocessing`, pixel by pixel.

use super::interpreter;
use crate::atari::env::noops;
use crate::atari::games::PIXELS;
use crate::{Script, game_random, make};
use std::path::Path;
use std::process::Command;

const STEPS: usize = 250;

#[test]
fn frames_are_those_of_gymnasium() {
    let Some(python) = interpreter() else { return };
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/atari/tests/reference_frames.py");
    let mut compared = 0;
    for (name, theirs) in [
        ("atari:breakout", "Breakout"),
        ("atari:space-invaders", "SpaceInvaders"),
        ("atari:seaquest", "Seaquest"),
        ("atari:beam-rider", "BeamRider"),
        ("atari:enduro", "Enduro"),
        ("atari:qbert", "Qbert"),
        ("atari:hero", "Hero"),
        ("atari:pong", "Pong"),
        ("atari:ms-pacman", "MsPacman"),
    ] {
        let seed = 11;
        let mut env = make(name).unwrap();
        let mut seen = vec![0; env.spec().observation_len()];
        let newest = seen.len() - PIXELS;
        env.reset(seed, &mut seen).unwrap();
        let mut ours = seen[newest..].to_vec();
        let mut random = game_random(seed);
        let mut actions = String::new();
        for _ in 0..STEPS {
            let action = env.scripted(Script::Random, &mut random).unwrap();
            actions.push(char::from(b'a' + action as u8));
            // The last frame of a game is another one there.
            if env.step(action, &mut seen).unwrap().terminated {
                break;
            }
            ours.extend_from_slice(&seen[newest..]);
        }
        let output = Command::new(&python.interpreter)
            .arg(&program)
            .args([theirs, &noops(seed).to_string(), &actions])
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        if stderr.contains("missing: ") {
            eprintln!("skipped: {stderr}");
            return;
        }
        assert!(output.status.success(), "{name}: {stderr}");
        assert_eq!(output.stdout.len(), ours.len(), "{name}: frames");
        let differ = output.stdout.iter().zip(&ours).filter(|(a, b)| a != b);
        assert_eq!(differ.count(), 0, "{name}: pixels that differ");
        compared += ours.len();
    }
    assert!(compared > 9 * 150 * PIXELS, "only {compared} pixels");
    eprintln!("{compared} pixels are the same");
}
