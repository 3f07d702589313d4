//! GAIL where the answer is known: what the discriminator can and cannot tell apart, an agent that
//! finds out what experts do, and trainings that go on after a stop as without one.

#![expect(clippy::unwrap_used, reason = "tests")]

mod signals;

use brex_learn::{
    DemonstratedSteps, Device, Gail, GailConfig, GailReward, PlayedSteps, PpoConfig, ResumeError,
    RewardFunction, RewardLesson, RewardState, Trainer, TrainingFile,
};
use signals::{Signals, played, right_for};

fn config() -> GailConfig {
    GailConfig::for_spec(brex_envs::Environment::spec(&Signals::new()))
}

/// The steps of ten experts.
fn experts() -> DemonstratedSteps {
    those_who(|right| right)
}

/// The steps of ten who do something for what would be right.
fn those_who(act: fn(usize) -> usize) -> DemonstratedSteps {
    let mut env = Signals::new();
    let mut steps = DemonstratedSteps::new(brex_envs::Environment::spec(&env), true);
    for seed in 0..10 {
        steps.add(&mut env, &played(seed, act)).unwrap();
    }
    steps
}

/// How well the discriminator tells the experts from somebody who does as `act` says, having learned
/// from both.
fn taught(mut act: impl FnMut(usize) -> usize) -> RewardLesson {
    let experts = experts();
    let observations = (0..experts.len()).map(|at| experts.observation(at).to_vec());
    let observations: Vec<u8> = observations.flatten().collect();
    let actions = (0..experts.len()).map(|at| act(right_for(experts.observation(at))));
    let actions: Vec<usize> = actions.collect();
    let played = PlayedSteps {
        before: &observations,
        actions: &actions,
        after: &observations,
    };
    let config = GailConfig {
        learning_rate: 2e-3,
        entropy: 0.0,
        ..config()
    };
    let mut gail = Gail::new(config, 3, experts, &Device::flex()).unwrap();
    let lessons = (1..=60).map(|update| gail.learn(&played, update).unwrap());
    lessons.last().unwrap()
}

#[test]
fn steps_that_differ_are_told_apart_by_what_is_seen_and_done_together() {
    // Both see the same and both do each action a third of the time.
    let lesson = taught(|right| (right + 1) % 3);
    assert!(lesson.loss < 0.05, "{lesson:?}");
    assert!(lesson.experts_known > 0.99 && lesson.agent_known > 0.99);
}

#[test]
fn steps_that_are_alike_are_not_told_apart() {
    let lesson = taught(|right| right);
    let chance = std::f64::consts::LN_2;
    assert!((lesson.loss - chance).abs() < 0.02, "{lesson:?}");
}

#[test]
fn the_score_is_hidden_and_actions_belong_to_what_was_seen_before() {
    let mut env = Signals::new();
    let episode = played(4, |right| right);
    let mut hidden = DemonstratedSteps::new(brex_envs::Environment::spec(&env), true);
    let mut plain = DemonstratedSteps::new(brex_envs::Environment::spec(&env), false);
    hidden.add(&mut env, &episode).unwrap();
    plain.add(&mut env, &episode).unwrap();
    assert_eq!((hidden.len(), plain.len()), (30, 30));
    for at in 0..30 {
        assert_eq!(hidden.action(at), right_for(hidden.observation(at)));
        assert_eq!(
            (hidden.observation(at)[0], plain.observation(at)[0]),
            (0, at as u8)
        );
    }
}

fn ppo(updates: u64) -> PpoConfig {
    let spec = brex_envs::Environment::spec(&Signals::new()).clone();
    PpoConfig {
        steps: updates * 8 * 32,
        environments: 8,
        horizon: 32,
        minibatches: 4,
        // What follows an action does not depend on it.
        discount: 0.0,
        // Slow enough for two that learn from each other.
        learning_rate: 5e-4,
        ..PpoConfig::for_spec(&spec)
    }
}

/// The mean score of the last hundred episodes, of 30.
fn score_after(reward: Box<dyn RewardFunction>, updates: u64) -> f64 {
    let device = Device::flex();
    let trainer = Trainer::new(ppo(updates), 1, Signals::make, Some(reward), &device);
    let mut trainer = trainer.unwrap();
    while !trainer.is_done() {
        trainer.update().unwrap();
    }
    trainer.recent().unwrap().0
}

fn gail(reward: GailReward) -> Gail {
    imitating(reward, experts())
}

fn imitating(reward: GailReward, whom: DemonstratedSteps) -> Gail {
    let config = GailConfig { reward, ..config() };
    Gail::new(config, 1, whom, &Device::flex()).unwrap()
}

#[test]
fn an_agent_finds_what_scores_if_those_it_imitates_do() {
    for reward in GailReward::ALL {
        let score = score_after(Box::new(gail(reward)), 100);
        assert!(
            score > 24.0,
            "{reward:?}: {score} of 30; a random one has 10"
        );
        let wrong = imitating(reward, those_who(|right| (right + 1) % 3));
        let score = score_after(Box::new(wrong), 100);
        assert!(
            score < 5.0,
            "{reward:?}: {score} of 30; a random one has 10"
        );
    }
}

fn begun() -> Trainer {
    let reward = Box::new(gail(GailReward::Survive));
    Trainer::new(ppo(6), 5, Signals::make, Some(reward), &Device::flex()).unwrap()
}

fn after(trainer: &mut Trainer, updates: u64) -> Vec<u8> {
    for _ in 0..updates {
        let report = trainer.update().unwrap();
        assert!(report.reward.is_some());
    }
    TrainingFile::of(trainer, "notes".into())
        .to_bytes()
        .unwrap()
}

#[test]
fn a_training_goes_on_as_if_it_had_not_been_stopped_on_any_number_of_threads() {
    let on = |threads: usize, work: &(dyn Fn() -> Vec<u8> + Sync)| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(work)
    };
    let whole = on(1, &|| after(&mut begun(), 6));
    for stop in [0, 1, 4] {
        let put_down = on(2, &|| after(&mut begun(), stop));
        let resumed = on(3, &|| {
            let file = TrainingFile::from_bytes(&put_down).unwrap();
            assert_eq!(file.to_bytes().unwrap(), put_down);
            let reward = Some(Box::new(gail(GailReward::Survive)) as Box<dyn RewardFunction>);
            let trainer = file.resume(Signals::make, reward, &Device::flex());
            after(&mut trainer.unwrap(), 6 - stop)
        });
        assert!(resumed == whole, "stopped after {stop}");
    }
}

#[test]
fn a_training_does_not_go_on_with_a_reward_of_another_kind() {
    let imitated = after(&mut begun(), 1);
    let file = TrainingFile::from_bytes(&imitated).unwrap();
    let error = file
        .resume(Signals::make, None, &Device::flex())
        .err()
        .unwrap();
    assert!(
        matches!(error, ResumeError::Reward { learns: false }),
        "{error}"
    );
    let plain = Trainer::new(ppo(6), 5, Signals::make, None, &Device::flex()).unwrap();
    let plain = TrainingFile::of(&plain, "notes".into()).to_bytes().unwrap();
    // Files of trainings whose reward learns nothing are what they always were.
    let header = String::from_utf8_lossy(&plain[..6000.min(plain.len())]).into_owned();
    assert!(!header.contains("reward_steps") && !header.contains("\"reward."));
    let reward = Some(Box::new(gail(GailReward::Survive)) as Box<dyn RewardFunction>);
    let file = TrainingFile::from_bytes(&plain).unwrap();
    let error = file
        .resume(Signals::make, reward, &Device::flex())
        .err()
        .unwrap();
    assert!(
        matches!(error, ResumeError::Reward { learns: true }),
        "{error}"
    );
}

#[test]
fn what_was_learned_must_fit() {
    let mut gail = gail(GailReward::Both);
    let state = gail.state().unwrap();
    assert!(gail.restore(&state).is_ok());
    let mut short = state.clone();
    short.arrays.remove("network.hidden.weight");
    assert!(gail.restore(&short).is_err());
    let mut wrong = state.clone();
    wrong.arrays.get_mut("network.logit.bias").unwrap().values[0] = f32::NAN;
    assert!(gail.restore(&wrong).is_err());
    let none = RewardState {
        arrays: Default::default(),
        ..state
    };
    assert!(gail.restore(&none).is_err());
}
