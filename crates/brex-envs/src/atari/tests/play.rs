//! What the games show and give.

use super::interpreter;
use crate::atari::env::noops;
use crate::atari::games::{GAMES, PIXELS, SIDE, STACK};
use crate::environment::Environment;
use crate::{EnvError, Script, VectorEnv, game_random, make, record, replay, trex_observation};
use brex_core::EpisodeSum;
use rand::RngExt;

/// The sum of what 300 random steps show and give, and the score, with ale-py 0.12.1.
const GOLDEN: &[(&str, u64, f64)] = &[
    ("atari:breakout", 0xf09b_2cf9_bf1b_8cb1, 0.0),
    ("atari:space-invaders", 0x6feb_8c5e_7960_c15c, 80.0),
    ("atari:seaquest", 0xa7d9_7ba4_8052_3cee, 60.0),
    ("atari:beam-rider", 0x4beb_87a1_22ba_6444, 176.0),
    ("atari:enduro", 0x8b40_b6fe_0729_ebe9, 0.0),
    ("atari:qbert", 0xf73a_6e4d_aaa4_a969, 0.0),
    ("atari:hero", 0x99e5_aa2d_8955_cb8e, 0.0),
    ("atari:pong", 0x085b_2668_9665_0042, -6.0),
    ("atari:ms-pacman", 0xd73c_f273_9f6c_84e5, 120.0),
];

const SHOWN: usize = STACK * PIXELS;

/// Checks what an observation for the published networks has to be.
fn check_trex(env: &dyn Environment, observation: &[u8]) {
    let spec = env.spec();
    let numbers = trex_observation(spec, observation);
    assert_eq!(numbers.len(), 84 * 84 * 4);
    let mut masked = observation.to_vec();
    spec.mask(&mut masked);
    for (index, number) in numbers.iter().enumerate() {
        let (frame, column, row) = (index % 4, index / 4 % 84, index / 4 / 84);
        let pixel = masked[frame * PIXELS + row * SIDE + column];
        assert_eq!(*number, f32::from(pixel) / 255.0, "{}", spec.name);
        assert!((0.0..=1.0).contains(number));
        assert!(*number == 0.0 || !spec.is_masked(row));
    }
}

#[test]
fn a_new_life_is_begun_with_fire() {
    let Some(_) = interpreter() else { return };
    let mut env = make("atari:breakout").unwrap();
    let mut seen = vec![0; SHOWN];
    let start = env.reset(5, &mut seen).unwrap();
    assert_eq!(env.serve(), None);
    let lost = |env: &mut dyn Environment, seen: &mut [u8]| {
        (0..500).any(|_| env.step(0, seen).unwrap().info.lives < start.lives)
    };
    assert!(lost(env.as_mut(), &mut seen));
    let fire = env.serve().unwrap();
    assert_eq!(env.spec().actions[fire], "fire");
    env.step(fire, &mut seen).unwrap();
    assert_eq!(env.serve(), None);
}

#[test]
fn nine_games_run_as_they_always_did() {
    let Some(_) = interpreter() else { return };
    assert_eq!(GAMES.len(), 9);
    let mut wrong = Vec::new();
    for game in GAMES {
        let name = game.name;
        let mut env = make(name).unwrap();
        let mut seen = vec![1; SHOWN];
        let start = env.reset(5, &mut seen).unwrap();
        assert_eq!(start.score, 0.0);
        assert!(seen[..SHOWN - PIXELS].iter().all(|p| *p == 0), "{name}");
        assert!(seen[SHOWN - PIXELS..].iter().any(|p| *p > 0), "{name}");
        let mut sum = EpisodeSum::default();
        sum.add(&seen, 0.0);
        let mut random = game_random(1);
        let (mut score, mut hidden) = (0.0, 0);
        for _ in 0..300 {
            let before = seen.clone();
            let action = env.scripted(Script::Random, &mut random).unwrap();
            let step = env.step(action, &mut seen).unwrap();
            assert_eq!(seen[..SHOWN - PIXELS], before[PIXELS..], "{name}");
            score += step.reward;
            assert_eq!(step.info.score, score);
            sum.add(&seen, step.reward);
            let newest = seen[SHOWN - PIXELS..].chunks_exact(SIDE).enumerate();
            for (_, pixels) in newest.filter(|(row, _)| env.spec().is_masked(*row)) {
                hidden += pixels.iter().filter(|p| **p > 0).count();
            }
            if step.terminated {
                let ended = env.step(0, &mut seen);
                assert!(matches!(ended, Err(EnvError::NoEpisode { .. })));
                score = env.reset(6, &mut seen).unwrap().score;
            }
        }
        check_trex(&*env, &seen);
        assert!(hidden > 0, "{name}: the mask hides nothing");
        if !GOLDEN.contains(&(name, sum.value(), score)) {
            wrong.push(format!("    ({name:?}, {:#018x}, {score:?}),", sum.value()));
        }
    }
    let wrong = wrong.join("\n");
    assert!(
        wrong.is_empty(),
        "if this is meant, raise VERSION; GOLDEN:\n{wrong}"
    );
}

#[test]
fn masks_are_those_of_the_authors() {
    let rows = |name| {
        let spec = make(name).unwrap().spec().clone();
        (0..84)
            .filter(|row| spec.is_masked(*row))
            .collect::<Vec<_>>()
    };
    for (name, hidden) in [
        ("atari:breakout", vec![0..=9]),
        ("atari:space-invaders", vec![0..=9]),
        ("atari:pong", vec![0..=9]),
        ("atari:beam-rider", vec![0..=15, 73..=83]),
        ("atari:enduro", vec![70..=83]),
        ("atari:seaquest", vec![0..=11, 68..=83]),
        ("atari:qbert", vec![0..=11]),
        ("atari:hero", vec![54..=83]),
        ("atari:ms-pacman", vec![69..=83]),
    ] {
        let expected: Vec<usize> = hidden.into_iter().flatten().collect();
        assert_eq!(rows(name), expected, "{name}");
    }
}

#[test]
fn a_recorded_episode_comes_back_in_a_fresh_process_and_in_a_used_one() {
    let Some(_) = interpreter() else { return };
    // In Beam Rider, Hero and Seaquest a plain reset leaves traces of the episode before.
    for name in ["atari:breakout", "atari:beam-rider", "atari:hero"] {
        let mut env = make(name).unwrap();
        let mut random = game_random(2);
        let count = env.spec().actions.len();
        let act = |_: &dyn Environment, _: &[u8]| random.random_range(0..count);
        let episode = record(&mut *env, 77, act, |_| {}).unwrap();
        assert!(episode.actions.len() > 100 && !episode.truncated);
        replay(&mut *env, &episode, |_, _| {}).unwrap();
        drop(env);
        let mut rewards = 0.0;
        replay(&mut *make(name).unwrap(), &episode, |_, r| rewards += r).unwrap();
        assert_eq!(rewards, episode.score);
    }
}

#[test]
fn threads_do_not_matter() {
    let Some(_) = interpreter() else { return };
    let play = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut envs = VectorEnv::new(3, 4, || make("atari:space-invaders")).unwrap();
            let mut seen = vec![0; 3 * SHOWN];
            envs.reset(&mut seen).unwrap();
            let (mut sum, mut random) = (EpisodeSum::default(), game_random(3));
            let mut ended = Vec::new();
            for _ in 0..500 {
                let actions = [0; 3].map(|_| random.random_range(0..6));
                for step in envs.step(&actions, &mut seen).unwrap() {
                    sum.add(&[], step.step.reward);
                    ended.extend(step.ended);
                }
                sum.add(&seen, 0.0);
            }
            (sum, ended)
        })
    };
    let one = play(1);
    assert!(!one.1.is_empty(), "no episode ended");
    assert!(one == play(2));
}

#[test]
fn no_ops_are_between_1_and_30_and_all_occur() {
    let mut seen = [0; 31];
    for seed in 0..2_000 {
        seen[usize::from(noops(seed))] += 1;
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|count| *count > 30), "{seen:?}");
}
