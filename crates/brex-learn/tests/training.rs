//! Trainings: the same on any number of threads, and after a stop as without one.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_envs::make;
use brex_learn::{
    CheckpointError, Device, PlayedSteps, PolicyFile, PpoConfig, ResumeError, RewardFunction,
    RewardScale, TrainError, Trainer, TrainingFile, play_episodes,
};

const GAME: &str = "pocket:breakout";

fn small() -> PpoConfig {
    let spec = make(GAME).unwrap().spec().clone();
    PpoConfig {
        steps: 8 * 16 * 4,
        environments: 8,
        horizon: 16,
        epochs: 2,
        minibatches: 2,
        ..PpoConfig::for_spec(&spec)
    }
}

fn begun(config: PpoConfig) -> Trainer {
    Trainer::new(config, 5, || make(GAME), None, &Device::flex()).unwrap()
}

fn after(trainer: &mut Trainer, updates: u64) -> Vec<u8> {
    for _ in 0..updates {
        trainer.update().unwrap();
    }
    TrainingFile::of(trainer, "notes".into())
        .to_bytes()
        .unwrap()
}

#[test]
fn a_training_goes_on_as_if_it_had_not_been_stopped() {
    for ends in [false, true] {
        let config = PpoConfig {
            life_loss_ends: ends,
            episode_ends: ends,
            serve: ends,
            ..small()
        };
        let whole = after(&mut begun(config.clone()), 4);
        let put_down = after(&mut begun(config), 2);
        let file = TrainingFile::from_bytes(&put_down).unwrap();
        assert_eq!(file.to_bytes().unwrap(), put_down);
        let mut resumed = file.resume(|| make(GAME), None, &Device::flex()).unwrap();
        assert_eq!(resumed.updates(), 2);
        assert!(after(&mut resumed, 2) == whole);
        assert!(resumed.is_done());
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| after(&mut begun(small()), 3))
    };
    let one = on(1);
    assert!(one == on(2));
    assert!(one == on(3));
}

#[test]
fn play_is_begun_for_policies_that_learned_so() {
    let waited = |serve: bool| {
        let trainer = begun(PpoConfig { serve, ..small() });
        let bytes = PolicyFile::of(&trainer).to_bytes().unwrap();
        let file = PolicyFile::from_bytes(&bytes).unwrap();
        assert_eq!(file.serve, serve);
        let agent = file.agent(&Device::flex()).unwrap();
        let played = play_episodes(&agent, || make(GAME), 2, 1, |_| true).unwrap();
        let mut waited = 0;
        for episode in played.unwrap() {
            let mut env = make(GAME).unwrap();
            let mut seen = vec![0; env.spec().observation_len()];
            env.reset(episode.seed, &mut seen).unwrap();
            for action in &episode.actions {
                let asked = env.serve();
                waited += usize::from(asked.is_some_and(|asked| asked != usize::from(*action)));
                env.step(usize::from(*action), &mut seen).unwrap();
            }
        }
        waited
    };
    assert_eq!(waited(true), 0);
    assert!(waited(false) > 50);
}

#[test]
fn a_policy_plays_the_same_from_its_file() {
    let mut trainer = begun(small());
    trainer.update().unwrap();
    let bytes = PolicyFile::of(&trainer).to_bytes().unwrap();
    let file = PolicyFile::from_bytes(&bytes).unwrap();
    assert_eq!((file.environment.as_str(), file.update), (GAME, 1));
    let agent = file.agent(&Device::flex()).unwrap();
    let mut env = make(GAME).unwrap();
    let mut seen = vec![0; env.spec().observation_len()];
    env.reset(1, &mut seen).unwrap();
    let random = || brex_core::stream(1, "test", 0);
    let theirs = trainer.agent().act(&[&seen], &mut random());
    assert_eq!(agent.act(&[&seen], &mut random()), theirs);
}

#[test]
fn files_that_are_not_whole_or_not_ours_are_refused() {
    let mut trainer = begun(small());
    let training = after(&mut trainer, 1);
    let policy = PolicyFile::of(&trainer).to_bytes().unwrap();
    for end in [0, 7, 100, policy.len() / 2, policy.len() - 1] {
        let error = PolicyFile::from_bytes(&policy[..end]).unwrap_err();
        assert!(matches!(error, CheckpointError::Damaged { .. }), "{error}");
    }
    for end in [0, 7, 100, training.len() / 2, training.len() - 1] {
        assert!(TrainingFile::from_bytes(&training[..end]).is_err());
    }
    let error = PolicyFile::from_bytes(&training).unwrap_err();
    let text = "the header says \"training 1\"; expected \"policy 1\"";
    assert_eq!(error.to_string(), text);
    assert!(TrainingFile::from_bytes(&policy).is_err());
    // An empty file of somebody else: the length of the header, then the header.
    let mut empty = 2_u64.to_le_bytes().to_vec();
    empty.extend(b"{}");
    let error = PolicyFile::from_bytes(&empty).unwrap_err();
    assert_eq!(error, CheckpointError::Foreign);
}

#[test]
fn damage_inside_never_panics() {
    let mut trainer = begun(small());
    let training = after(&mut trainer, 1);
    let policy = PolicyFile::of(&trainer).to_bytes().unwrap();
    let mut random = 9_u64;
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % below
    };
    for _ in 0..300 {
        for file in [&policy, &training] {
            let mut damaged = file.clone();
            for _ in 0..3 {
                // The header is at the front, and damage there is the most dangerous.
                let at = next(3000.min(damaged.len()));
                damaged[at] = next(256) as u8;
            }
            let _ = PolicyFile::from_bytes(&damaged);
            if let Ok(file) = TrainingFile::from_bytes(&damaged) {
                let _ = file.to_bytes();
            }
        }
    }
}

#[test]
fn another_game_is_refused() {
    let bytes = after(&mut begun(small()), 1);
    let file = TrainingFile::from_bytes(&bytes).unwrap();
    let other = file.resume(|| make("pocket:enduro"), None, &Device::flex());
    let error = other.err().unwrap();
    assert!(matches!(error, ResumeError::Environment { .. }), "{error}");
}

struct Broken;

impl RewardFunction for Broken {
    fn score(&mut self, _: &PlayedSteps<'_>, rewards: &mut [f32]) {
        rewards.fill(f32::NAN);
    }
}

#[test]
fn a_reward_that_is_no_number_stops_the_training_with_its_update() {
    let config = PpoConfig {
        reward_scale: RewardScale::Raw,
        ..small()
    };
    let reward = Some(Box::new(Broken) as Box<dyn RewardFunction>);
    let trainer = Trainer::new(config, 0, || make(GAME), reward, &Device::flex());
    let error = trainer.unwrap().update().unwrap_err();
    assert!(
        matches!(error, TrainError::NotFinite { update: 1, .. }),
        "{error}"
    );
}

/// Pays for what is seen, whatever was done.
struct Brightness {
    each: usize,
    paid: std::sync::mpsc::Sender<f32>,
}

impl RewardFunction for Brightness {
    fn score(&mut self, played: &PlayedSteps<'_>, rewards: &mut [f32]) {
        let (before, after) = (played.seen_before(), played.seen_after());
        assert_eq!((before.len(), after.len()), (128, 128));
        for seen in before.iter().chain(&after) {
            for plane in seen.chunks_exact(24 * 24) {
                assert!(plane[..24 * 5].iter().all(|pixel| *pixel == 0), "hidden");
            }
        }
        // In each of the eight environments, what an action leads to is what the next one is chosen
        // for; no episode ends so soon.
        assert!(before != after && after[..120] == before[8..]);
        for (seen, reward) in played.after.chunks_exact(self.each).zip(rewards) {
            *reward = seen.iter().map(|pixel| f32::from(*pixel)).sum::<f32>() / 1e5;
            self.paid.send(*reward).unwrap();
        }
    }
}

#[test]
fn a_reward_function_replaces_the_truth_and_sees_no_score() {
    let each = make(GAME).unwrap().spec().observation_len();
    let (paid, received) = std::sync::mpsc::channel();
    let reward = Some(Box::new(Brightness { each, paid }) as Box<dyn RewardFunction>);
    let config = PpoConfig {
        reward_scale: RewardScale::Raw,
        ..small()
    };
    let trainer = Trainer::new(config, 0, || make(GAME), reward, &Device::flex());
    let report = trainer.unwrap().update().unwrap();
    let paid: Vec<f32> = received.try_iter().collect();
    assert_eq!(paid.len(), 8 * 16);
    let mean = paid.iter().map(|value| f64::from(*value)).sum::<f64>() / 128.0;
    assert!(mean > 0.0 && (report.mean_reward - mean).abs() < 1e-6);
}

#[test]
fn settings_that_cannot_be_are_named() {
    let config = PpoConfig {
        discount: 1.5,
        ..small()
    };
    let error = Trainer::new(config, 0, || make(GAME), None, &Device::flex());
    let text = error.err().unwrap().to_string();
    assert_eq!(text, "discount is 1.5; expected a number from 0 to 1");
}

#[test]
fn who_begins_as_somebody_first_learns_what_to_expect() {
    let mut teacher = begun(small());
    after(&mut teacher, 2);
    let policy = PolicyFile::of(&teacher);
    let mut trainer = begun(PpoConfig {
        values_first: 2,
        ..small()
    });
    assert!(PolicyFile::of(&trainer).parameters != policy.parameters);
    trainer.begin_as(&policy).unwrap();
    assert!(PolicyFile::of(&trainer).parameters == policy.parameters);
    after(&mut trainer, 2);
    let changed = |trainer: &Trainer| {
        let now = PolicyFile::of(trainer).parameters;
        let names = policy.parameters.iter();
        let names = names.filter(|(name, before)| now[*name] != **before);
        names.map(|(name, _)| name.clone()).collect::<Vec<String>>()
    };
    let names = changed(&trainer);
    assert!(!names.is_empty() && names.iter().all(|name| name.starts_with("value")));
    after(&mut trainer, 1);
    assert!(
        changed(&trainer)
            .iter()
            .any(|name| name.starts_with("policy"))
    );
    let mut other = policy.clone();
    other
        .parameters
        .retain(|name, _| !name.starts_with("hidden"));
    assert!(trainer.begin_as(&other).is_err());
}
