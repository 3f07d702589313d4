//! The published T-REX networks on the real games: imported as encoders, they judge recorded episodes of
//! agents that learned here. What needs the emulator or the networks says so where they are missing.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail")]

mod common;
mod runs;

use common::{Sandbox, has_emulator, reference};
use runs::copied;
use serde_json::Value;
use std::path::Path;

/// Recorded episodes that each policy is judged by.
const EPISODES: usize = 3;

/// The evaluation of recorded policies of a game, of random play and of No-Op by a published network, for all
/// policies the most skilled first.
fn judged(game: &str, network: &str, recorded: &[&str]) -> Option<Vec<Value>> {
    let network = reference(&format!("trex-nets/{network}.safetensors"))?;
    if !has_emulator() {
        return None;
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/atari-{game}"));
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("run")).unwrap();
    copied(&data.join("episodes"), &sandbox.path("run/episodes"));
    let preferences = std::fs::read(data.join("preferences.jsonl")).unwrap();
    sandbox.write("run/preferences.jsonl", preferences);
    let mut words = format!(
        "features run --quiet --rollouts {EPISODES} --max-steps 2000 --policy random=random"
    );
    for name in recorded {
        let folder = sandbox.path(name);
        std::fs::create_dir(&folder).unwrap();
        for at in 0..EPISODES {
            let file = format!("{at:06}.episode");
            std::fs::copy(
                data.join("rollouts").join(name).join(&file),
                folder.join(file),
            )
            .unwrap();
        }
        words.push_str(&format!(" --policy {name}={name}"));
    }
    let import = format!("pretrain run --quiet --import {}", network.display());
    sandbox.brex(&import).expect(0);
    sandbox.brex(&words).expect(0);
    sandbox.brex("sample run --quiet").expect(0);
    let evaluation = sandbox.brex("evaluate run --json --quiet").expect(0).json();
    let mut policies = evaluation["policies"].as_array().unwrap().clone();
    let score = |policy: &Value| policy["true_score"].as_f64().unwrap();
    policies.sort_by(|a, b| score(b).total_cmp(&score(a)));
    Some(policies)
}

fn names(policies: &[Value]) -> Vec<&str> {
    policies
        .iter()
        .map(|policy| policy["policy"].as_str().unwrap())
        .collect()
}

#[track_caller]
fn assert_falls(what: &str, values: &[f64]) {
    assert!(
        values.windows(2).all(|pair| pair[0] > pair[1]),
        "{what}: {values:?}"
    );
}

/// What the network itself foretells is in the order of the scores, from a trained agent to No-Op.
#[test]
fn space_invaders_is_foretold_in_the_order_of_skill() {
    let Some(policies) = judged("space-invaders", "space_invaders", &["D"]) else {
        return;
    };
    assert_eq!(names(&policies), ["D", "random", "No-Op"]);
    let trex: Vec<f64> = policies
        .iter()
        .map(|policy| policy["trex"].as_f64().unwrap())
        .collect();
    assert_falls("T-REX", &trex);
}

/// Snippets of equal length leave a constant a step unknown, so that sums over episodes of different lengths
/// say nothing here; what a step is worth does, and the posterior's bound puts the sums right.
#[test]
fn breakout_is_judged_in_the_order_of_skill_by_the_step_and_by_the_bound() {
    let Some(policies) = judged("breakout", "breakout", &["A", "B", "D"]) else {
        return;
    };
    let skilled = ["D", "B"];
    assert_eq!(names(&policies)[..2], skilled);
    assert_eq!(names(&policies)[4], "No-Op");
    let bounds: Vec<f64> = [0, 1, 4]
        .map(|at| policies[at]["var"].as_f64().unwrap())
        .to_vec();
    assert_falls("bound", &bounds);
    let a_step =
        |policy: &Value| policy["trex"].as_f64().unwrap() / policy["length"].as_f64().unwrap();
    let a = policies
        .iter()
        .find(|policy| policy["policy"] == "A")
        .unwrap();
    assert_falls(
        "T-REX a step",
        &[a_step(&policies[0]), a_step(&policies[1]), a_step(a)],
    );
}
