//! Pre-training on real episodes: it learns, goes on after a stop as without one, and its files are
//! checked.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_core::{Preference, Preferences};
use brex_envs::{Recorder, Script, Spec, game_random, make};
use brex_learn::{
    CheckpointError, Device, EncoderFile, EncoderSource, LearnedReward, PlayedSteps,
    PretrainConfig, PretrainError, PretrainShape, Pretrainer, PretrainingFile,
    RankedDemonstrations, RewardFunction, Sampling, SeenEpisode, Squash, replayed_sums,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const GAME: &str = "pocket:breakout";

/// A step that led to what is seen.
fn led_to(after: &[u8]) -> PlayedSteps<'_> {
    PlayedSteps {
        before: &[],
        actions: &[0],
        after,
    }
}

fn spec() -> Spec {
    make(GAME).unwrap().spec().clone()
}

fn played(script: Script, seed: u64) -> brex_core::Episode {
    let mut env = make(GAME).unwrap();
    let mut random = game_random(seed);
    let mut recorder = Recorder::begin(env.as_mut(), seed).unwrap();
    loop {
        let action = env.scripted(script, &mut random).unwrap();
        if let Some(episode) = recorder.step(env.as_mut(), action).unwrap() {
            return episode;
        }
    }
}

/// Six episodes of random and good play, ranked by their scores.
fn demonstrations(held_out: f64) -> RankedDemonstrations {
    let mut episodes: Vec<brex_core::Episode> = (0..6)
        .map(|i| played([Script::Random, Script::Good][i % 2], 10 + i as u64))
        .collect();
    episodes.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mut items = Vec::new();
    for a in 0..6 {
        for b in a + 1..6 {
            if episodes[a].score < episodes[b].score {
                items.push(Preference::strict(a, b));
            }
        }
    }
    let mut env = make(GAME).unwrap();
    let seen = episodes
        .iter()
        .map(|e| SeenEpisode::replayed(env.as_mut(), e).unwrap());
    let preferences = Preferences::new(6, items).unwrap();
    RankedDemonstrations::new(seen.collect(), &preferences, held_out, 1).unwrap()
}

fn config(updates: u64) -> PretrainConfig {
    PretrainConfig {
        updates,
        pairs: 4,
        features: 16,
        redrawn: Some(16),
        held_out: 0.2,
        ..PretrainConfig::for_spec(&spec())
    }
}

fn begun(config: PretrainConfig) -> Pretrainer {
    let shape = PretrainShape::for_spec(&spec(), config.features);
    let data = demonstrations(config.held_out);
    Pretrainer::new(config, 5, shape, data, &Device::flex()).unwrap()
}

fn after(trainer: &mut Pretrainer, updates: u64) -> Vec<u8> {
    for _ in 0..updates {
        trainer.update().unwrap();
    }
    let file = PretrainingFile::of(trainer, &spec(), "notes".into());
    file.to_bytes().unwrap()
}

#[test]
fn good_play_is_told_from_bad() {
    let mut trainer = begun(config(150));
    let mut first = None;
    let mut last = None;
    while !trainer.is_done() {
        let losses = trainer.update().unwrap().losses;
        first.get_or_insert(losses);
        last = Some(losses);
    }
    let (first, last) = (first.unwrap(), last.unwrap());
    assert!(
        last.reconstruction < 0.5 * first.reconstruction,
        "{first:?} {last:?}"
    );
    assert!(last.inverse < first.inverse);
    let check = trainer.check();
    assert!(check.training_accuracy > 0.8, "{check:?}");
    assert!(check.held_out_accuracy.unwrap() > 0.7, "{check:?}");
    assert!(check.collapsed() < 8);
    let drawn = trainer.reconstructions(3);
    assert_eq!(drawn.len(), 3);
    assert!(
        drawn
            .iter()
            .all(|d| d.frame.len() == 576 && d.drawn.len() == 576)
    );
}

#[test]
fn a_pretraining_goes_on_as_if_it_had_not_been_stopped() {
    let whole = after(&mut begun(config(6)), 6);
    let put_down = after(&mut begun(config(6)), 3);
    let file = PretrainingFile::from_bytes(&put_down).unwrap();
    assert_eq!(file.to_bytes().unwrap(), put_down);
    let mut resumed = file.resume(demonstrations(0.2), &Device::flex()).unwrap();
    assert_eq!(resumed.updates(), 3);
    assert!(after(&mut resumed, 3) == whole);
    assert!(resumed.is_done());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| after(&mut begun(config(3)), 3))
    };
    assert!(on(1) == on(3));
}

#[test]
fn whole_demonstrations_can_be_compared() {
    let mut trainer = begun(PretrainConfig {
        pairs: 1,
        sampling: Sampling::Whole,
        redrawn: None,
        ..config(2)
    });
    let losses = trainer.update().unwrap().losses;
    assert!(losses.total.is_finite() && losses.forward > 0.0);
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let shape = PretrainShape::for_spec(&spec(), 16);
    let long = PretrainConfig {
        sampling: Sampling::Snippets {
            shortest: 100_000,
            longest: 100_000,
            abreast: 0.0,
        },
        ..config(1)
    };
    let error = Pretrainer::new(long, 5, shape, demonstrations(0.0), &Device::flex());
    assert!(matches!(
        error.err(),
        Some(PretrainError::Demonstrations(_))
    ));
    let wrong = PretrainConfig {
        learning_rate: f64::NAN,
        ..config(1)
    };
    assert_eq!(wrong.check().unwrap_err().field, "learning_rate");
}

#[test]
fn centred_features_have_no_mean_over_the_demonstrations_and_rank_as_before() {
    let lens: BTreeSet<usize> = demonstrations(0.2)
        .episodes()
        .iter()
        .map(SeenEpisode::len)
        .collect();
    assert!(lens.len() > 1, "they are not equally long: {lens:?}");
    let of = |centred: bool| {
        let mut trainer = begun(PretrainConfig {
            centred,
            ..config(2)
        });
        after(&mut trainer, 2);
        let file = EncoderFile::of(&trainer, &spec());
        assert_eq!(file.is_centred(), centred);
        let phi = file.phi(&Device::flex()).unwrap();
        let (weights, bias) = file.reward();
        let (mut sums, mut rewards) = ([0.0; 16], Vec::new());
        let mut squares = 0.0;
        let given = demonstrations(0.2);
        for episode in given.episodes() {
            // Each demonstration counts the same, however long it is.
            let weight = 1.0 / (given.episodes().len() * episode.len()) as f64;
            phi.each_frame(episode, |features| {
                let pairs = features.iter().zip(weights);
                rewards.push(pairs.map(|(f, w)| f64::from(*f) * w).sum::<f64>() + bias);
                for (sum, value) in sums.iter_mut().zip(features) {
                    *sum += weight * f64::from(*value);
                    squares += weight * f64::from(*value).powi(2);
                }
            });
        }
        let norm = f64::sqrt(squares);
        assert!(
            (norm / file.norm - 1.0).abs() < 1e-3,
            "{norm}, {}",
            file.norm
        );
        (sums, rewards)
    };
    let (means, rewards) = of(true);
    assert!(means.iter().all(|mean| mean.abs() < 1e-4), "{means:?}");
    let (plain_means, plain_rewards) = of(false);
    assert!(plain_means.iter().any(|mean| mean.abs() > 1e-2));
    for (centred, plain) in rewards.iter().zip(&plain_rewards) {
        assert!((centred - plain).abs() < 1e-3);
    }
}

/// Frames that follow each other and look alike are encoded once, and count as often as they were seen.
#[test]
fn who_waits_is_seen_as_long_as_it_waits() {
    let mut trainer = begun(config(2));
    after(&mut trainer, 2);
    let file = EncoderFile::of(&trainer, &spec());
    let phi = file.phi(&Device::flex()).unwrap();
    let episode = played(Script::Noop, 3);
    let mut env = make(GAME).unwrap();
    let seen = SeenEpisode::replayed(env.as_mut(), &episode).unwrap();
    let (mut sum, mut squares) = ([0.0; 16], 0.0);
    phi.each_frame(&seen, |features| {
        for (sum, value) in sum.iter_mut().zip(features) {
            *sum += f64::from(*value);
            squares += f64::from(*value).powi(2);
        }
    });
    let streamed = replayed_sums(&[&phi], env.as_mut(), &episode).unwrap();
    assert_eq!(streamed[0].length, episode.actions.len());
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
    let values = streamed[0].values.iter().zip(sum);
    assert!(values.into_iter().all(|(a, b)| near(*a, b)), "{streamed:?}");
    assert!(near(streamed[0].squares, squares));
}

#[test]
fn an_encoder_comes_back_from_its_file() {
    let mut trainer = begun(config(2));
    after(&mut trainer, 2);
    let file = EncoderFile::of(&trainer, &spec());
    let bytes = file.to_bytes().unwrap();
    let read = EncoderFile::from_bytes(&bytes).unwrap();
    assert_eq!(read, file);
    let updates = match &read.source {
        EncoderSource::Pretrained { updates, .. } => *updates,
        EncoderSource::Trex => 0,
    };
    assert_eq!(updates, 2);
    // The sums that are streamed are the sums over what was seen.
    let (phi, episode) = (read.phi(&Device::flex()).unwrap(), played(Script::Good, 3));
    let mut env = make(GAME).unwrap();
    let seen = SeenEpisode::replayed(env.as_mut(), &episode).unwrap();
    let mut sum = [0.0; 16];
    phi.each_frame(&seen, |features| {
        for (sum, value) in sum.iter_mut().zip(features) {
            *sum += f64::from(*value);
        }
    });
    let streamed = replayed_sums(&[&phi], env.as_mut(), &episode).unwrap();
    assert_eq!(streamed[0].values, sum);
    assert_eq!(streamed[0].length, episode.actions.len());
    // A reward is linear in them.
    let weights: Vec<f64> = (0..16).map(|i| f64::from(i) - 7.5).collect();
    let mut reward = LearnedReward::new(phi.clone(), weights.clone(), 0.25, Squash::Nothing);
    let mut given = [0.0];
    reward.score(&led_to(seen.observation(4)), &mut given);
    let features = phi.features(&[seen.observation(4)]);
    let expected: f64 = features
        .iter()
        .zip(&weights)
        .map(|(f, w)| f64::from(*f) * w)
        .sum();
    let plain = expected + 0.25;
    assert!((f64::from(given[0]) - plain).abs() < 1e-5);
    // Squashed, its sign stays if it is to.
    let sigmoid = 1.0 / (1.0 + (-plain).exp());
    for (squash, expected) in [
        (Squash::Sigmoid, sigmoid),
        (Squash::FromZero, sigmoid - 0.5),
    ] {
        let mut reward = LearnedReward::new(phi.clone(), weights.clone(), 0.25, squash);
        reward.score(&led_to(seen.observation(4)), &mut given);
        assert!((f64::from(given[0]) - expected).abs() < 1e-6, "{squash:?}");
    }

    for end in [0, 7, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(EncoderFile::from_bytes(&bytes[..end]).is_err());
    }
    let other = after(&mut begun(config(1)), 1);
    let error = EncoderFile::from_bytes(&other).unwrap_err();
    assert!(matches!(error, CheckpointError::Kind { .. }), "{error}");
    let error = PretrainingFile::from_bytes(&bytes).unwrap_err();
    assert!(matches!(error, CheckpointError::Kind { .. }), "{error}");
}

/// A published T-REX network, if the reference data are there (see brex-store's tests).
fn published(game: &str) -> Option<Vec<u8>> {
    let given = std::env::var_os("BREX_REFERENCE").map(PathBuf::from);
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let above = above.map(|directory| directory.join("shared/reference"));
    let mut places = given.into_iter().chain(above);
    let found =
        places.find_map(|at| std::fs::read(at.join(format!("trex-nets/{game}.safetensors"))).ok());
    if found.is_none() {
        eprintln!("skipped: no reference data trex-nets; set BREX_REFERENCE to their directory");
    }
    found
}

/// The network by plain loops, as PyTorch's names describe it.
fn by_hand(file: &safetensors::SafeTensors<'_>, frame: &[u8]) -> (Vec<f64>, f64) {
    let get = |name: &str| -> (Vec<usize>, Vec<f64>) {
        let view = file.tensor(name).unwrap();
        let (chunks, _) = view.data().as_chunks::<4>();
        let values = chunks.iter().map(|c| f64::from(f32::from_le_bytes(*c)));
        (view.shape().to_vec(), values.collect())
    };
    let leaky = |x: f64| if x > 0.0 { x } else { 0.01 * x };
    let mut image: Vec<f64> = frame.iter().map(|byte| f64::from(*byte) / 255.0).collect();
    let (mut channels, mut side) = (4, 84);
    for (layer, stride) in [3, 2, 1, 1].into_iter().enumerate() {
        let (shape, weight) = get(&format!("conv{}.weight", layer + 1));
        let (_, bias) = get(&format!("conv{}.bias", layer + 1));
        let (filters, kernel) = (shape[0], shape[2]);
        let out = (side - kernel) / stride + 1;
        let mut next = vec![0.0; filters * out * out];
        for f in 0..filters {
            for y in 0..out {
                for x in 0..out {
                    let mut sum = bias[f];
                    for c in 0..channels {
                        for ky in 0..kernel {
                            for kx in 0..kernel {
                                let (row, column) = (y * stride + ky, x * stride + kx);
                                sum += image[(c * side + row) * side + column]
                                    * weight[((f * channels + c) * kernel + ky) * kernel + kx];
                            }
                        }
                    }
                    next[(f * out + y) * out + x] = leaky(sum);
                }
            }
        }
        (image, channels, side) = (next, filters, out);
    }
    let dense = |name: &str, input: &[f64]| -> Vec<f64> {
        let (_, weight) = get(&format!("{name}.weight"));
        let (_, bias) = get(&format!("{name}.bias"));
        let rows = weight.chunks(input.len()).zip(bias);
        rows.map(|(row, bias)| row.iter().zip(input).map(|(w, x)| w * x).sum::<f64>() + bias)
            .collect()
    };
    let features: Vec<f64> = dense("fc1", &image).into_iter().map(leaky).collect();
    let reward = dense("fc2", &features)[0];
    (features, reward)
}

#[test]
fn published_networks_give_the_features_and_rewards_of_their_formula() {
    for (name, game) in [
        ("breakout", "atari:breakout"),
        ("beam_rider", "atari:beam-rider"),
        ("space_invaders", "atari:space-invaders"),
    ] {
        let Some(bytes) = published(name) else { return };
        let env = make(game).unwrap();
        let file = EncoderFile::from_trex(&bytes, env.spec()).unwrap();
        assert_eq!(file.shape.feature_count(), 64);
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let frame: Vec<u8> = (0..4 * 84 * 84).map(|i| (i * 37 % 256) as u8).collect();
        let (features, reward) = by_hand(&tensors, &frame);
        let phi = file.phi(&Device::flex()).unwrap();
        for (found, expected) in phi.features(&[&frame]).iter().zip(&features) {
            assert!((f64::from(*found) - expected).abs() < 1e-4 * (1.0 + expected.abs()));
        }
        let (weights, bias) = file.reward();
        let mut learned = LearnedReward::new(phi, weights.to_vec(), bias, Squash::Nothing);
        let mut given = [0.0];
        learned.score(&led_to(&frame), &mut given);
        assert!((f64::from(given[0]) - reward).abs() < 1e-3 * (1.0 + reward.abs()));
        // It comes back from a file of brex's own.
        let again = EncoderFile::from_bytes(&file.to_bytes().unwrap()).unwrap();
        assert_eq!(again, file);
        // Pocket games show smaller frames.
        let error = EncoderFile::from_trex(&bytes, &spec()).unwrap_err();
        assert!(error.to_string().contains("84"), "{error}");
        let error = EncoderFile::from_bytes(&bytes).unwrap_err();
        assert_eq!(error, CheckpointError::Foreign);
    }
}
