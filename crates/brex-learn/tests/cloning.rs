//! Behaviour cloning of somebody whose rule is known, and noise that makes a clone worse.

#![expect(clippy::unwrap_used, reason = "tests")]

mod signals;

use brex_core::Episode;
use brex_envs::{Environment, Script, game_random, make, record};
use brex_learn::{
    Choice, CloneConfig, CloneError, Cloner, DemonstratedSteps, Device, PolicyFile, play_episodes,
    play_noisy_episodes,
};
use signals::{Signals, played};

fn steps_of(env: &mut dyn Environment, episodes: &[Episode]) -> DemonstratedSteps {
    let mut steps = DemonstratedSteps::new(env.spec(), false);
    for episode in episodes {
        steps.add(env, episode).unwrap();
    }
    steps
}

fn cloned(steps: DemonstratedSteps, updates: u64) -> Cloner {
    let config = CloneConfig {
        updates,
        between_looks: 50,
        ..CloneConfig::for_spec(steps.spec())
    };
    let mut cloner = Cloner::new(config, 2, steps, &Device::flex()).unwrap();
    while !cloner.is_done() {
        cloner.update().unwrap();
    }
    cloner
}

fn signals(act: impl Fn(usize) -> usize) -> DemonstratedSteps {
    let episodes: Vec<Episode> = (0..10).map(|seed| played(seed, &act)).collect();
    steps_of(&mut Signals::new(), &episodes)
}

fn mean_score(episodes: &[Episode]) -> f64 {
    episodes.iter().map(|e| e.score).sum::<f64>() / episodes.len() as f64
}

#[test]
fn a_rule_is_recovered_and_played() {
    let cloner = cloned(signals(|right| right), 300);
    let check = cloner.best();
    assert!(check.accuracy > 0.99 && check.loss < 0.05, "{check:?}");
    assert!(cloner.training_check().accuracy > 0.99);
    let bytes = cloner.policy().to_bytes().unwrap();
    let agent = PolicyFile::from_bytes(&bytes)
        .unwrap()
        .agent(&Device::flex())
        .unwrap();
    let played = play_episodes(&agent, Signals::make, 20, 7, |_| true)
        .unwrap()
        .unwrap();
    assert!(mean_score(&played) > 28.0, "{}", mean_score(&played));
    // Somebody else's rule gives another clone.
    let wrong = cloned(signals(|right| (right + 1) % 3), 300);
    let played = play_episodes(&wrong.agent(), Signals::make, 20, 7, |_| true);
    assert!(mean_score(&played.unwrap().unwrap()) < 2.0);
}

#[test]
fn the_script_of_a_real_game_is_recovered() {
    let mut env = make("pocket:breakout").unwrap();
    let mut random = game_random(0);
    let mut episodes = Vec::new();
    for seed in 0..60 {
        let act =
            |env: &dyn Environment, _: &[u8]| env.scripted(Script::Good, &mut random).unwrap_or(0);
        episodes.push(record(env.as_mut(), seed, act, |_| {}).unwrap());
    }
    let cloner = cloned(steps_of(env.as_mut(), &episodes), 4000);
    let check = cloner.best();
    assert!(check.accuracy > 0.95, "{check:?}");
}

#[test]
fn what_cannot_be_known_is_not_pretended() {
    // Actions by the turn of the player, whatever is seen: a third is right by luck.
    let mut turn = 0;
    let mut episodes = Vec::new();
    for seed in 0..10 {
        episodes.push(played(seed, |_| {
            turn = (turn * 5 + 7) % 31;
            turn % 3
        }));
    }
    let cloner = cloned(steps_of(&mut Signals::new(), &episodes), 3000);
    let check = cloner.best();
    assert!((check.loss - 3.0_f64.ln()).abs() < 0.1, "{check:?}");
    assert!((0.15..0.5).contains(&check.accuracy), "{check:?}");
    assert!(
        cloner.updates() < 3000,
        "it stops when it learns nothing more"
    );
}

#[test]
fn noise_makes_a_clone_worse_by_as_much_as_it_must() {
    let agent = cloned(signals(|right| right), 300).agent();
    for choice in [Choice::Drawn, Choice::MostProbable] {
        let mut before = f64::INFINITY;
        for noise in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let how = (noise, choice);
            let played = play_noisy_episodes(&agent, how, Signals::make, 60, 3, |_| true);
            let score = mean_score(&played.unwrap().unwrap());
            // Of thirty steps, those without noise are right, and a third of the others.
            let expected = 30.0 * (1.0 - noise * 2.0 / 3.0);
            assert!(
                (score - expected).abs() < 1.2,
                "{how:?}: {score}, not {expected}"
            );
            assert!(score < before);
            before = score;
        }
    }
    let stopped = play_noisy_episodes(&agent, (0.5, Choice::Drawn), Signals::make, 60, 3, |done| {
        done < 10
    });
    assert!(stopped.unwrap().is_none());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let cloner = cloned(signals(|right| right), 60);
            let noisy = play_noisy_episodes(
                &cloner.agent(),
                (0.3, Choice::Drawn),
                Signals::make,
                40,
                1,
                |_| true,
            );
            (cloner.policy().to_bytes().unwrap(), noisy.unwrap().unwrap())
        })
    };
    assert!(on(1) == on(3));
}

#[test]
fn too_little_and_settings_that_cannot_be_are_refused() {
    let spec = Signals::new().spec().clone();
    let config = CloneConfig::for_spec(&spec);
    let none = DemonstratedSteps::new(&spec, false);
    let error = Cloner::new(config, 0, none, &Device::flex()).err().unwrap();
    let (found, expected) = (0, 20);
    assert_eq!(error, CloneError::TooFew { found, expected });
    let wrong = CloneConfig {
        held_out: 0.0,
        ..config
    };
    let error = Cloner::new(wrong, 0, signals(|right| right), &Device::flex());
    let text = error.err().unwrap().to_string();
    assert_eq!(text, "held_out is 0; expected above 0, at most 0.5");
}
