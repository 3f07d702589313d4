//! Agents that learn from the reward of a run, by the real binary: what they begin as, what they are to
//! gather, and which of what they were on the way is taken.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;
mod runs;

use runs::{TRAIN, sampled};
use serde_json::Value;

#[test]
fn agents_of_learned_rewards_begin_as_a_clone_of_the_best() {
    let sandbox = sampled();
    let words = format!("train pocket:breakout --reward run:mean --steps 256 {TRAIN} --quiet");
    for (start, out) in [
        ("", "usual"),
        ("--start clone", "clone"),
        ("--start nothing", "nobody"),
    ] {
        let words = format!("{words} --policies 1 {start} --out {out}");
        sandbox.brex(&words).expect(0);
    }
    let policy =
        |of: &str| std::fs::read(sandbox.path(&format!("{of}/policies/000001.safetensors")));
    let [usual, clone, nobody] = ["usual", "clone", "nobody"].map(|of| policy(of).unwrap());
    assert!(usual == clone && clone != nobody);
    // What it leaves to do it again knows the reward and the start.
    for of in ["usual", "nobody"] {
        let words =
            format!("train pocket:breakout --config {of}/run.toml --out {of}-again --quiet");
        sandbox.brex(&words).expect(0);
        assert!(policy(&format!("{of}-again")).unwrap() == policy(of).unwrap());
    }
    // The clone is of the best by the preferences: with these turned round, it is another one.
    let preferences = sandbox.read("run/preferences.jsonl");
    let turned = preferences.replace("\"label\":\"b\"", "\"label\":\"a\"");
    assert_ne!(turned, preferences);
    std::fs::write(sandbox.path("run/preferences.jsonl"), turned).unwrap();
    let words = format!("{words} --policies 1 --out turned");
    sandbox.brex(&words).expect(0);
    assert!(policy("turned").unwrap() != clone);
    let ran = sandbox.brex("train pocket:breakout --start clone --steps 256 --out x");
    assert!(ran.expect(2).stderr.contains("--start clone"));
    assert!(!sandbox.path("x").exists());
}

#[test]
fn a_posteriors_agents_gather_whole_episodes_and_a_heads_agents_do_not() {
    let sandbox = sampled();
    let settings = |reward: &str, more: &str| {
        let words = format!("train pocket:breakout --reward run:{reward} --steps 256 {TRAIN}");
        sandbox
            .brex(&format!("{words} {more} --quiet --force --out agent"))
            .expect(0);
        let file: toml::Table = sandbox.read("agent/run.toml").parse().unwrap();
        let train = file["train"].clone();
        let number = |name: &str| train[name].as_float().unwrap();
        let lives = train["life-loss-ends"].as_str().unwrap() == "true";
        (number("discount"), number("end-cost"), lives)
    };
    for reward in ["mean", "map", "raw-mean", "raw-map"] {
        assert_eq!(settings(reward, ""), (0.997, 1.0, false), "{reward}");
    }
    // Every frame of a sigmoid is worth something, whether it is wanted or not.
    assert_eq!(settings("trex", ""), (0.99, 0.2, true));
    let told = "--discount 0.9 --end-cost 0.5 --life-loss-ends true";
    for reward in ["mean", "trex"] {
        assert_eq!(settings(reward, told), (0.9, 0.5, true), "{reward}");
    }
}

#[test]
fn of_what_was_kept_on_the_way_the_best_bound_without_a_mark_joins_the_run() {
    let sandbox = sampled();
    let words = format!(
        "train pocket:breakout --steps 1280 {TRAIN} --values-first 0 --learning-rate 0.01 \
         --policies 5 --quiet --json"
    );
    let words = |more: &str| format!("{words} {more}");
    let result = sandbox.brex(&words("--reward run:mean --out agent"));
    let result = result.expect(0).json();
    let written: Value = serde_json::from_str(&sandbox.read("agent/choice.json")).unwrap();
    assert_eq!(result["judged"], written);
    let candidates = written.as_array().unwrap();
    let updates: Vec<u64> = candidates
        .iter()
        .map(|c| c["update"].as_u64().unwrap())
        .collect();
    assert_eq!(updates, [1, 2, 3, 4, 5]);
    let unmarked = candidates
        .iter()
        .filter(|c| c["marks"].as_array().unwrap().is_empty());
    let bound = |candidate: &&Value| candidate["bound"].as_f64().unwrap();
    let best = unmarked.max_by(|a, b| bound(a).total_cmp(&bound(b)));
    let first_or_best = best.unwrap_or(&candidates[0])["update"].as_u64().unwrap();
    let taken = candidates.iter().filter(|c| c["chosen"] == true);
    let taken: Vec<u64> = taken.map(|c| c["update"].as_u64().unwrap()).collect();
    assert_eq!(taken, [first_or_best]);
    let policy = |path: &str| std::fs::read(sandbox.path(path)).unwrap();
    let file = format!("agent/policies/{first_or_best:06}.safetensors");
    assert_eq!(result["policy"], file.as_str());
    assert!(policy("run/policies/mean.safetensors") == policy(&file));
    // A training that is done is judged again, on one thread too, and no other is taken.
    std::fs::remove_file(sandbox.path("agent/choice.json")).unwrap();
    std::fs::remove_file(sandbox.path("run/policies/mean.safetensors")).unwrap();
    let again = sandbox.brex("train pocket:breakout --out agent --resume --threads 1 --quiet");
    again.expect(0);
    let again: Value = serde_json::from_str(&sandbox.read("agent/choice.json")).unwrap();
    assert_eq!(again, written);
    assert!(policy("run/policies/mean.safetensors") == policy(&file));
    // It is the policy that counts, not when it was kept.
    assert!(
        best.is_some(),
        "one without a mark, or the rest says nothing"
    );
    let other = if taken[0] == 1 { 5 } else { 1 };
    let place = |update: u64| sandbox.path(&format!("agent/policies/{update:06}.safetensors"));
    let exchanged = [policy(&file), std::fs::read(place(other)).unwrap()];
    std::fs::write(place(other), &exchanged[0]).unwrap();
    std::fs::write(place(taken[0]), &exchanged[1]).unwrap();
    sandbox
        .brex("train pocket:breakout --out agent --resume --quiet")
        .expect(0);
    let again: Value = serde_json::from_str(&sandbox.read("agent/choice.json")).unwrap();
    assert_eq!(again[usize::try_from(other).unwrap() - 1]["chosen"], true);
    assert!(policy("run/policies/mean.safetensors") == exchanged[0]);
    // Nothing bounds the return of a head's agent: it is the last one.
    let result = sandbox.brex(&words("--reward run:trex --out head"));
    assert_eq!(result.expect(0).json()["judged"], Value::Null);
    assert!(!sandbox.path("head/choice.json").exists());
    let last = policy("head/policies/000005.safetensors");
    assert!(policy("run/policies/trex.safetensors") == last);
}
