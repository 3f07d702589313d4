//! `brex improve` on the real binary.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Sandbox, files_below};
use serde_json::Value;
use std::collections::BTreeMap;

/// Little, but all of it.
const FLAGS: &str = "--rounds 2 --steps 4096 --episodes 2 --updates 6 --quiet";

/// A sandbox with a run: three demonstrations, ranked, and an agent that learned next to nothing.
fn with_run() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("run/episodes")).unwrap();
    std::fs::create_dir_all(sandbox.path("run/policies")).unwrap();
    for (at, policy) in ["noop", "random", "good"].into_iter().enumerate() {
        let words =
            format!("rollout pocket:beam-rider --policy {policy} --episodes 1 --out {policy}");
        sandbox.brex(&format!("{words} --seed 3 --quiet")).expect(0);
        let from = sandbox.path(&format!("{policy}/000000.episode"));
        let to = sandbox.path(&format!("run/episodes/demo-{at}.episode"));
        std::fs::copy(from, to).unwrap();
    }
    let line =
        |a: u8, b: u8| format!("{{\"a\":\"demo-{a}\",\"b\":\"demo-{b}\",\"label\":\"b\"}}\n");
    let lines = [line(0, 1), line(0, 2), line(1, 2)].concat();
    sandbox.write("run/preferences.jsonl", lines);
    let words =
        "train pocket:beam-rider --steps 128 --environments 8 --horizon 16 --out plain --quiet";
    sandbox.brex(words).expect(0);
    let policy = sandbox.path("plain/policies/000001.safetensors");
    std::fs::copy(policy, sandbox.path("run/policies/mean.safetensors")).unwrap();
    sandbox
}

/// Without what belongs to the process or knows the time.
fn left(sandbox: &Sandbox, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = files_below(&sandbox.path(name));
    files.retain(|name, _| {
        !name.contains("tfevents") && !name.contains("/.") && !name.starts_with('.')
    });
    files
}

fn names(result: &Value, which: impl Fn(&Value) -> bool) -> Vec<String> {
    let played = result["played"].as_array().unwrap().iter();
    let names = played.filter(|entry| which(entry));
    names
        .map(|entry| entry["policy"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_policy_that_ranks_best_is_left_and_all_that_was_ranked() {
    let sandbox = with_run();
    let before = left(&sandbox, "run");
    let words = format!("improve run --out better {FLAGS} --json");
    let result = sandbox.brex(&words).expect(0).json();
    assert!(left(&sandbox, "run") == before, "the source stays as it is");
    let all = names(&result, |_| true);
    assert_eq!(all, ["mean", "round-1", "round-2"]);
    assert_eq!(result["episodes_ranked"], 6);
    assert_eq!(result["demonstrations"], 3);
    let kept = names(&result, |entry| entry["kept"] == true);
    assert_eq!(kept[0], "mean");
    let champion = kept.last().unwrap();
    assert_eq!(result["improved"], champion.as_str());
    let files = left(&sandbox, "better");
    let improved = &files["policies/improved.safetensors"];
    let of = |name: &str| match name {
        "mean" => "improve/mean.safetensors".to_owned(),
        round => format!("improve/{round}/training/policies/000002.safetensors"),
    };
    for name in &all {
        assert_eq!(files[&of(name)] == *improved, name == champion, "{name}");
    }
    let episodes = files.keys().filter(|name| name.starts_with("episodes/"));
    assert_eq!(episodes.count(), 3 + 6);
    for name in ["encoder.safetensors", "features.safetensors", "improve.svg"] {
        assert!(files.contains_key(name), "{name}");
    }
    // Rounds take turns in how they learn.
    let turns = ["round-1", "round-2"].map(|round| {
        let path = format!("better/improve/{round}/training/run.toml");
        let settings: toml::Table = sandbox.read(&path).parse().unwrap();
        let train = &settings["train"];
        (
            train["end-cost"].as_float().unwrap(),
            train["learning-rate"].as_float().unwrap(),
        )
    });
    assert_eq!(turns, [(0.0, 1e-3), (1.0, 5e-4)]);
    // Every preference is for the higher score.
    let score = |id: &Value| {
        let path = format!("better/episodes/{}.episode", id.as_str().unwrap());
        let episode: Value = serde_json::from_str(&sandbox.read(&path)).unwrap();
        episode["score"].as_f64().unwrap()
    };
    let text = sandbox.read("better/preferences.jsonl");
    assert!(text.lines().count() > 3);
    for line in text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
    {
        assert!(score(&line["a"]) < score(&line["b"]), "{line}");
    }
}

#[test]
#[cfg(unix)]
fn killed_and_resumed_it_leaves_the_same() {
    let sandbox = with_run();
    let words = format!("improve run {FLAGS}");
    sandbox
        .brex(&format!("{words} --out whole --threads 1"))
        .expect(0);
    let begun = || sandbox.path("cut/improve/round-1/training").exists();
    common::killed_when(sandbox.command(&format!("{words} --out cut")), begun);
    assert!(
        !sandbox.path("cut/improve.json").exists(),
        "killed in the midst"
    );
    let other = words.replace("--steps 4096", "--steps 8192");
    let ran = sandbox
        .brex(&format!("{other} --out cut --resume"))
        .expect(2);
    assert!(
        ran.stderr.contains("begun with other settings"),
        "{}",
        ran.stderr
    );
    sandbox
        .brex(&format!("{words} --out cut --resume"))
        .expect(0);
    let (mut whole, cut) = (left(&sandbox, "whole"), left(&sandbox, "cut"));
    whole.retain(|name, content| cut.get(name) != Some(content));
    // These name the directory that they are in.
    let differ: Vec<&String> = whole
        .keys()
        .filter(|name| !name.ends_with("training.safetensors") && !name.ends_with("/run.toml"))
        .collect();
    assert!(differ.is_empty(), "{differ:?}");
}

#[test]
fn what_cannot_be_improved_is_refused_before_any_work() {
    let sandbox = with_run();
    std::fs::create_dir_all(sandbox.path("unranked/episodes")).unwrap();
    for name in ["demo-0", "demo-1"] {
        let file = format!("episodes/{name}.episode");
        let from = sandbox.path(&format!("run/{file}"));
        std::fs::copy(from, sandbox.path(&format!("unranked/{file}"))).unwrap();
    }
    for (words, part) in [
        ("improve nowhere --out x", "nowhere/episodes: cannot read"),
        ("improve unranked --out x", "unranked/preferences.jsonl"),
        ("improve run --out x --resume", "x: nothing to go on from"),
        ("improve run --out x --rounds 0", "--rounds"),
        ("improve run --out run", "run"),
    ] {
        let ran = sandbox.brex(&format!("{words} --quiet")).expect(2);
        assert!(ran.stderr.contains(part), "{words}: {}", ran.stderr);
        assert!(!sandbox.path("x").exists(), "{words}");
    }
    let words = "train pocket:enduro --start run/policies/mean.safetensors --steps 128 --out x";
    let ran = sandbox.brex(&format!("{words} --quiet")).expect(2);
    assert!(
        ran.stderr.contains("was trained in pocket:beam-rider"),
        "{}",
        ran.stderr
    );
}
