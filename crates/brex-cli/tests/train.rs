//! `brex train`, `rollout --policy FILE` and `demos` on the real binary.

mod common;

use common::Sandbox;
use std::collections::{BTreeMap, BTreeSet};

/// Ten updates of 128 steps.
const SMALL: &str = "train pocket:breakout --steps 1280 --environments 8 --horizon 16 --quiet";

/// What a training leaves, without what knows the time or belongs to the process.
fn left(sandbox: &Sandbox, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = common::files_below(&sandbox.path(name));
    files.retain(|name, _| !name.starts_with("tensorboard/") && !name.starts_with('.'));
    files
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    for (out, flags) in [
        ("a", "--threads 1"),
        ("b", "--threads 2"),
        ("c", "--seed 1"),
    ] {
        let ran = sandbox.brex(&format!("{SMALL} --out {out} {flags} --json"));
        let result = ran.expect(0).json();
        assert_eq!(result["finished"], true);
        assert_eq!(
            (&result["updates"], &result["steps"]),
            (&10.into(), &1280.into())
        );
    }
    let a = left(&sandbox, "a");
    assert!(a == left(&sandbox, "b"));
    assert!(a["curve.csv"] != left(&sandbox, "c")["curve.csv"]);
    let kept = a
        .keys()
        .filter(|name| name.starts_with("policies/"))
        .count();
    assert_eq!(kept, 10);
    assert_eq!(sandbox.read("a/curve.csv").lines().count(), 11);
    assert!(sandbox.read("a/curve.svg").contains("pocket:breakout"));
    let events = std::fs::read(sandbox.path("a/tensorboard/events.out.tfevents.brex"));
    assert!(events.unwrap().len() > 1000);
}

#[test]
fn curves_of_several_trainings_make_one_picture() {
    let sandbox = Sandbox::new();
    for seed in [0, 1] {
        let words = format!("{SMALL} --out {seed} --seed {seed}");
        sandbox.brex(&words).expect(0);
    }
    let result = sandbox.brex("curves 0 1 -o c.svg --json").expect(0).json();
    assert_eq!(result["trainings"][1]["seed"], 1);
    let picture = sandbox.read("c.svg");
    for part in ["pocket:breakout", "seed 0", "seed 1", "good", "random"] {
        assert!(picture.contains(part), "{part}");
    }
    sandbox.brex("curves 0 1 -o c.svg").expect(2);
    sandbox.brex("curves 2 -o d.svg").expect(2);
}

#[test]
fn the_settings_it_leaves_do_it_again() {
    let sandbox = Sandbox::new();
    let flags = "--seed 3 --learning-rate 0.002 --life-loss-ends true --reward-scale sign";
    sandbox.brex(&format!("{SMALL} {flags} --out a")).expect(0);
    let again = "train pocket:breakout --config a/run.toml --out b --quiet";
    sandbox.brex(again).expect(0);
    assert!(left(&sandbox, "a") == left(&sandbox, "b"));
}

#[test]
#[cfg(unix)]
fn killed_and_taken_up_again_it_ends_as_if_nothing_had_been() {
    let sandbox = Sandbox::new();
    let words = SMALL.replace("--steps 1280", "--steps 12800 --save-every 0");
    sandbox.brex(&format!("{words} --out whole")).expect(0);
    let whole = left(&sandbox, "whole");
    let rows = || {
        let text = std::fs::read_to_string(sandbox.path("cut/curve.csv"));
        text.map_or(0, |text| text.lines().count())
    };
    let command = sandbox.command(&format!("{words} --out cut"));
    common::killed_when(command, || rows() >= 8);
    assert!(
        (8..100).contains(&rows()),
        "killed in the midst of it: {}",
        rows()
    );
    let ran = sandbox.brex("train pocket:breakout --out cut --resume --quiet --json");
    assert_eq!(ran.expect(0).json()["updates"], 100);
    assert!(left(&sandbox, "cut") == whole);
}

#[test]
fn what_cannot_be_resumed_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.brex(&format!("{SMALL} --out a")).expect(0);
    let refused = |words: &str, part: &str| {
        let ran = sandbox.brex(words).expect(2);
        assert!(ran.stderr.contains(part), "{words}: {}", ran.stderr);
    };
    refused(&format!("{SMALL} --out a"), "a: already exists");
    let resume = "train pocket:breakout --resume --out";
    refused(&format!("{resume} b"), "b: nothing to go on from");
    refused(
        &format!("{resume} a --steps 9"),
        "steps is 1280 there and 9 here",
    );
    refused(
        &format!("{resume} a --seed 9"),
        "the seed is 0 there and 9 here",
    );
    refused(
        "train pocket:enduro --resume --out a",
        "the environment is pocket:breakout there and pocket:enduro here",
    );
    let state = std::fs::read(sandbox.path("a/training.safetensors")).unwrap();
    sandbox.write("a/training.safetensors", &state[..state.len() - 10]);
    refused(
        &format!("{resume} a"),
        "training.safetensors: not a whole safetensors file",
    );
    let policy = std::fs::read(sandbox.path("a/policies/000010.safetensors")).unwrap();
    sandbox.write("a/training.safetensors", &policy);
    refused(
        &format!("{resume} a"),
        "the header says \"policy 1\"; expected \"training 1\"",
    );
    refused("train pocket:pong --out c", "no environment is called");
    refused(&format!("{SMALL} --out c --discount 2"), "--discount");
    refused(&format!("{SMALL} --out c --keep 11"), "updates 1 to 10");
    assert!(!sandbox.path("c").exists());
}

#[test]
fn a_training_that_goes_wild_stops_with_its_update_and_the_last_good_state() {
    let sandbox = Sandbox::new();
    let ran = sandbox.brex(&format!(
        "{SMALL} --out a --learning-rate 1e30 --save-every 0"
    ));
    let ran = ran.expect(1);
    for part in [
        "update ",
        "not finite",
        "the last good state is a/training.safetensors",
    ] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
}

#[test]
fn a_policy_plays_from_its_file() {
    let sandbox = Sandbox::new();
    sandbox.brex(&format!("{SMALL} --out a")).expect(0);
    let play = "rollout pocket:breakout --policy a/policies/000010.safetensors";
    for (out, threads) in [("one", 1), ("two", 2)] {
        let words = format!("{play} --episodes 40 --threads {threads} --out {out} --quiet --json");
        let result = sandbox.brex(&words).expect(0).json();
        assert_eq!(result["episodes"], 40);
    }
    let folder = |name: &str| common::files_below(&sandbox.path(name));
    assert!(folder("one") == folder("two"));
    sandbox
        .brex("render one/000033.episode -o clip.png")
        .expect(0);
    let refused = |words: &str, part: &str| {
        let ran = sandbox.brex(words).expect(2);
        assert!(ran.stderr.contains(part), "{words}: {}", ran.stderr);
    };
    refused(
        "rollout pocket:enduro --policy a/policies/000010.safetensors",
        "the policy was trained in pocket:breakout version 1; this is pocket:enduro",
    );
    refused(
        "rollout pocket:enduro --policy gone.safetensors",
        "gone.safetensors: cannot read",
    );
    refused("rollout pocket:enduro --policy best", "a .safetensors file");
    // A policy that leaves some of the actions to luck: other episodes, the same for the same seed.
    let noisy = "rollout pocket:breakout --policy a/policies/000010.safetensors:0.5+random";
    for name in ["noisy", "again"] {
        let words = format!("{noisy} --episodes 40 --out {name} --quiet");
        sandbox.brex(&words).expect(0);
    }
    assert!(folder("noisy") == folder("again"));
    assert!(folder("noisy") != folder("one"));
    refused(
        "rollout pocket:breakout --policy a/policies/000010.safetensors:2+random",
        "as FILE.safetensors:0.5+random",
    );
}

#[test]
fn demonstrations_are_ranked_by_their_scores() {
    let sandbox = Sandbox::new();
    let words =
        "demos pocket:breakout --steps 3840 --environments 8 --horizon 16 --episodes 3 --count 12";
    let ran = sandbox.brex(&format!("{words} --out a --quiet --json"));
    // So short a training need not give policies in their order, and then it says so.
    assert!([Some(0), Some(3)].contains(&ran.code), "{}", ran.stderr);
    let result = ran.json();
    let demonstrations = result["demonstrations"].as_array().unwrap();
    let scores: BTreeMap<String, f64> = demonstrations
        .iter()
        .map(|d| {
            (
                d["id"].as_str().unwrap().to_owned(),
                d["score"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(scores.len(), 12);
    let rising: Vec<f64> = demonstrations
        .iter()
        .map(|d| d["score"].as_f64().unwrap())
        .collect();
    assert!(rising.is_sorted(), "{rising:?}");
    // By their scores, whoever played them: not one checkpoint's, and any of the 30 updates may be.
    let updates: BTreeSet<u64> = demonstrations
        .iter()
        .map(|d| d["update"].as_u64().unwrap())
        .collect();
    assert!(
        updates.len() > 3 && updates.last() <= Some(&30),
        "{updates:?}"
    );
    let mut strict = 0;
    for (id, score) in &scores {
        strict += scores.values().filter(|other| *other > score).count();
        let path = format!("a/episodes/{id}.episode");
        assert!(
            sandbox
                .read(&path)
                .contains(&format!("\"score\": {score:.1}"))
        );
    }
    let lines = sandbox.read("a/preferences.jsonl");
    assert_eq!(lines.lines().count(), strict);
    for line in lines.lines() {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(pair["label"], "b");
        let score = |side: &str| scores[pair[side].as_str().unwrap()];
        assert!(score("a") < score("b"), "{line}");
    }
    for policy in ["A", "B", "C", "D"] {
        let words = format!(
            "rollout pocket:breakout --policy a/policies/{policy}.safetensors --episodes 1"
        );
        sandbox.brex(&words).expect(0);
    }
    sandbox
        .brex("render a/episodes/demo-12.episode -o clip.gif --every 8")
        .expect(0);
    // The same checkpoints give the same demonstrations.
    let ran = sandbox
        .brex("demos pocket:breakout --from a/training --episodes 3 --count 12 --out b --quiet");
    assert!([Some(0), Some(3)].contains(&ran.code), "{}", ran.stderr);
    assert_eq!(
        sandbox.read("a/demonstrations.json"),
        sandbox.read("b/demonstrations.json")
    );
    // Agents that know next to nothing wait long for their launches, unless play is begun for them.
    let words = "demos pocket:breakout --from a/training --episodes 3 --count 12 --serve false";
    let waiting = sandbox.brex(&format!("{words} --out c --quiet --json"));
    let lengths = |result: &serde_json::Value| -> Vec<f64> {
        let policies = result["policies"].as_array().unwrap().iter();
        policies
            .map(|policy| policy["mean_length"].as_f64().unwrap())
            .collect()
    };
    let (begun, waited) = (lengths(&result), lengths(&waiting.json()));
    // 400 steps of flight, and for each of eight balls ten steps of waiting and three of launching. How
    // long they wait by themselves is luck, and another one on every kind of processor.
    let most = 400.0 + 8.0 * 13.0;
    assert!(begun.iter().all(|length| *length <= most), "{begun:?}");
    let total = |lengths: &[f64]| lengths.iter().sum::<f64>();
    assert!(total(&waited) > total(&begun), "{waited:?} {begun:?}");
}
