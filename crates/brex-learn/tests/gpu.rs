//! A GPU learns what the processor learns. Where there is none, Mesa's software Vulkan (Debian's
//! mesa-vulkan-drivers) is one; without any the tests say so and pass.

#![expect(clippy::unwrap_used, reason = "tests")]

use brex_envs::make;
use brex_learn::{
    Arrays, Device, DeviceKind, PolicyFile, PolicyNetwork, PolicyShape, PpoConfig, Trainer,
    UpdateStatistics, observation_tensor,
};

const GAME: &str = "pocket:breakout";

fn gpu() -> Option<Device> {
    let found = DeviceKind::Wgpu.devices().unwrap().into_iter().next();
    match &found {
        Some(device) => println!("on {device:?}"),
        None => println!("SKIPPED: wgpu finds no adapter; Debian's mesa-vulkan-drivers has one"),
    }
    found
}

/// What a network says to two pictures, and how its parameters should move.
fn outputs(game: &str, device: &Device) -> Vec<f32> {
    let device = device.clone().autodiff();
    let env = make(game).unwrap();
    let shape = PolicyShape::for_spec(env.spec());
    let network = PolicyNetwork::new(&shape, 3, &device);
    let size: usize = shape.observation.iter().product();
    let pictures = [7_usize, 11].map(|step| (0..size).map(|i| (i * step % 251) as u8).collect());
    let seen: [&Vec<u8>; 2] = [&pictures[0], &pictures[1]];
    let seen = seen.map(|picture: &Vec<u8>| picture.as_slice());
    let (logits, values) = network.forward(observation_tensor(&seen, shape.observation, &device));
    let numbers = |data: burn::tensor::TensorData| data.try_into_vec_as::<f32>().unwrap();
    let mut all = numbers(logits.clone().into_data());
    all.extend(numbers(values.clone().into_data()));
    let loss = logits.square().sum() * 100.0 + values.square().sum();
    let gradients = burn::optim::GradientsParams::from_grads(loss.backward(), &network);
    let mut adam = brex_learn::Adam::new(brex_learn::AdamConfig::default());
    let (_, norm) = adam.step(network, gradients, 0.0);
    all.push(norm as f32);
    // A tenth of the gradient is the mean after one step.
    let means = adam
        .state()
        .into_iter()
        .filter(|(name, _)| name.ends_with(".mean"));
    all.extend(means.flat_map(|(_, array)| array.values));
    all
}

#[test]
fn networks_and_their_gradients_are_those_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    for game in [GAME, "atari:breakout"] {
        let (there, here) = (outputs(game, &gpu), outputs(game, &Device::flex()));
        assert_eq!(there.len(), here.len());
        let largest = here
            .iter()
            .fold(0.0_f32, |most, value| most.max(value.abs()));
        for (index, (there, here)) in there.iter().zip(&here).enumerate() {
            let allowed = 1e-4 * here.abs() + 1e-5 * largest;
            assert!(
                (there - here).abs() <= allowed,
                "{game} {index}: {there} {here}"
            );
        }
    }
}

fn trained(device: &Device) -> (Vec<UpdateStatistics>, Arrays, Arrays) {
    let spec = make(GAME).unwrap().spec().clone();
    let config = PpoConfig {
        steps: 8 * 32 * 3,
        environments: 8,
        horizon: 32,
        epochs: 2,
        minibatches: 2,
        ..PpoConfig::for_spec(&spec)
    };
    let mut trainer = Trainer::new(config, 5, || make(GAME), None, device).unwrap();
    let start = PolicyFile::of(&trainer).parameters;
    let mut statistics = Vec::new();
    while !trainer.is_done() {
        statistics.push(trainer.update().unwrap().statistics);
    }
    (statistics, start, PolicyFile::of(&trainer).parameters)
}

#[test]
fn a_training_is_that_of_the_processor() {
    let Some(gpu) = gpu() else { return };
    let (there, start, end) = trained(&gpu);
    let (here, same_start, expected) = trained(&Device::flex());
    assert_eq!(start, same_start);
    for (there, here) in there.iter().zip(&here) {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * (1.0 + b.abs());
        assert!(
            near(there.policy_loss, here.policy_loss),
            "{there:?} {here:?}"
        );
        assert!(
            near(there.value_loss, here.value_loss),
            "{there:?} {here:?}"
        );
        assert!(near(there.entropy, here.entropy), "{there:?} {here:?}");
    }
    // Adam's first steps have the size of the learning rate whatever the gradient's, so single
    // parameters with hardly any gradient may part; all together must not.
    let (mut moved, mut apart) = (0.0, 0.0);
    for (name, from) in &start {
        let ways = from.values.iter().zip(&expected[name].values);
        for ((from, to), there) in ways.zip(&end[name].values) {
            moved += f64::from(to - from).powi(2);
            apart += f64::from(there - to).powi(2);
        }
    }
    assert!(moved > 0.0);
    let share = (apart / moved).sqrt();
    println!("parameters end {share:.1e} of their way apart");
    assert!(share < 0.01, "{share}");
}
