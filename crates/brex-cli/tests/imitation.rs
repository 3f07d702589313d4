//! `brex train --reward DIR:gail` and `brex drex` on the real binary.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Sandbox, files_below};
use serde_json::Value;
use std::collections::BTreeMap;

const PPO: &str = "--environments 8 --horizon 16";
/// Three levels of noise.
const DREX: &str = "--levels 1,0.3,0.01 --rollouts 8 --updates 1000 --quiet --json";
/// Too little to learn much, but enough to be done twice.
const SHORT: &str = "--levels 1,0.3,0.01 --rollouts 5 --updates 100 --quiet --json";

/// A sandbox in which the good script has played pocket Breakout.
fn with_experts() -> Sandbox {
    let sandbox = Sandbox::new();
    let words = "rollout pocket:breakout --policy good --episodes 4 --out experts --quiet";
    sandbox.brex(words).expect(0);
    sandbox
}

/// The same as a run directory, with a policy.
fn with_run() -> Sandbox {
    let sandbox = with_experts();
    std::fs::create_dir_all(sandbox.path("run/policies")).unwrap();
    std::fs::rename(sandbox.path("experts"), sandbox.path("run/episodes")).unwrap();
    let words = format!("train pocket:breakout --steps 128 {PPO} --out plain --quiet");
    sandbox.brex(&words).expect(0);
    let policy = std::fs::read(sandbox.path("plain/policies/000001.safetensors")).unwrap();
    std::fs::write(sandbox.path("run/policies/A.safetensors"), policy).unwrap();
    sandbox
}

/// Without what belongs to the process or knows the time.
fn left(sandbox: &Sandbox, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = files_below(&sandbox.path(name));
    files.retain(|name, _| !name.contains("tfevents") && !name.starts_with('.'));
    files
}

#[test]
#[cfg(unix)]
fn an_imitation_that_was_killed_ends_as_if_nothing_had_been() {
    let sandbox = with_experts();
    let words = format!(
        "train pocket:breakout --reward experts:gail --steps 7680 {PPO} --save-every 0 --seed 4 \
         --gail-reward both --discriminator-parts 2 --quiet"
    );
    sandbox
        .brex(&format!("{words} --out whole --threads 1"))
        .expect(0);
    let whole = left(&sandbox, "whole");
    let rows = || {
        let text = std::fs::read_to_string(sandbox.path("cut/curve.csv"));
        text.map_or(0, |text| text.lines().count())
    };
    let command = sandbox.command(&format!("{words} --out cut"));
    common::killed_when(command, || rows() >= 8);
    assert!((8..60).contains(&rows()), "killed in the midst: {}", rows());
    let resume = "train pocket:breakout --out cut --resume --quiet";
    for (flags, part) in [
        ("--gail-reward finish", "begun in another way"),
        ("--experts 2", "begun in another way"),
        ("--reward truth", "truth is not the reward"),
    ] {
        let ran = sandbox.brex(&format!("{resume} {flags}")).expect(2);
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    sandbox
        .brex(&format!("{resume} --gail-reward both --json"))
        .expect(0);
    assert!(left(&sandbox, "cut") == whole);
    let curve = sandbox.read("whole/curve.csv");
    let mut lines = curve.lines();
    let head = lines.next().unwrap();
    assert!(head.ends_with(",discriminator_loss,experts_known,agent_known"));
    let loss = |line: &str| {
        line.split(',')
            .rev()
            .nth(2)
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    let first = loss(lines.next().unwrap());
    let last = loss(lines.last().unwrap());
    assert!((first - std::f64::consts::LN_2).abs() < 0.1, "{first}");
    assert!(last < first, "the discriminator learns: {last}");
    sandbox.brex("curves whole -o c.svg").expect(0);
}

#[test]
fn the_best_of_a_run_are_imitated_and_the_policy_joins_it() {
    let sandbox = with_run();
    let words = format!("train pocket:breakout --reward run:gail --steps 256 {PPO} --quiet");
    sandbox
        .brex(&format!("{words} --out imitation --json"))
        .expect(0);
    let policy = std::fs::read(sandbox.path("run/policies/gail.safetensors")).unwrap();
    assert!(policy == left(&sandbox, "imitation")["policies/000002.safetensors"]);
    // Three unless told otherwise.
    sandbox
        .brex(&format!("{words} --out three --experts 3"))
        .expect(0);
    sandbox
        .brex(&format!("{words} --out one --experts 1"))
        .expect(0);
    let state = |name| left(&sandbox, name)["training.safetensors"].clone();
    assert!(state("imitation") == state("three"));
    assert!(state("imitation") != state("one"));
}

#[test]
fn what_cannot_be_imitated_is_refused_before_any_work() {
    let sandbox = with_experts();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    std::fs::create_dir(sandbox.path("torn")).unwrap();
    let whole = std::fs::read(sandbox.path("experts/000000.episode")).unwrap();
    sandbox.write("torn/a.episode", &whole[..whole.len() / 2]);
    let mut words = "rollout pocket:enduro --policy noop --episodes 1 --out other".to_owned();
    words.push_str(" --quiet");
    sandbox.brex(&words).expect(0);
    std::fs::create_dir(sandbox.path("mixed")).unwrap();
    for (from, to) in [("experts", "mixed/a.episode"), ("other", "mixed/b.episode")] {
        std::fs::copy(
            sandbox.path(&format!("{from}/000000.episode")),
            sandbox.path(to),
        )
        .unwrap();
    }
    let train = |source: &str| format!("train pocket:breakout --reward {source}:gail --out x");
    let drex = |source: &str| format!("drex {source} --out x");
    for (words, part) in [
        (train("nowhere"), "nowhere: cannot read"),
        (train("empty"), "empty: holds no .episode files"),
        (train("torn"), "torn/a.episode"),
        (
            train("other"),
            "other/000000.episode: recorded in pocket:enduro",
        ),
        (train("mixed"), "mixed/b.episode: recorded in pocket:enduro"),
        (
            train("experts") + " --experts 5",
            "--experts 5: experts holds 4 episodes",
        ),
        (
            train("experts") + " --discriminator-rate 0",
            "--discriminator-rate: ",
        ),
        (
            "train pocket:breakout --experts 2 --out x".to_owned(),
            "--experts is a setting of --reward DIR:gail only",
        ),
        (
            "train pocket:breakout --reward experts:gale --out x".to_owned(),
            "a directory with :gail",
        ),
        (drex("nowhere"), "nowhere: cannot read"),
        (drex("empty"), "empty: holds no .episode files"),
        (drex("torn"), "torn/a.episode"),
        (drex("mixed"), "mixed/b.episode: recorded in pocket:enduro"),
        (drex("experts") + " --updates 0", "--updates: "),
        (drex("experts") + " --levels 0.5", "--levels: there are 1"),
        (
            drex("experts") + " --levels 0.5,0.5",
            "0.5 stands there twice",
        ),
        (drex("experts") + " --levels 2,0.5", "from 0 to 1"),
        (drex("experts") + " --resume", "x: nothing to go on from"),
    ] {
        let ran = sandbox.brex(&words).expect(2);
        assert!(ran.stderr.contains(part), "{words}: {}", ran.stderr);
        assert!(!sandbox.path("x").exists(), "{words}");
    }
}

#[test]
fn less_noise_is_better_and_pretraining_takes_what_is_left() {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("run/policies")).unwrap();
    let words = "rollout pocket:beam-rider --policy good --episodes 30 --out run/episodes --quiet";
    sandbox.brex(words).expect(0);
    let words = format!("train pocket:beam-rider --steps 128 {PPO} --out plain --quiet");
    sandbox.brex(&words).expect(0);
    let policy = std::fs::read(sandbox.path("plain/policies/000001.safetensors")).unwrap();
    std::fs::write(sandbox.path("run/policies/A.safetensors"), policy).unwrap();
    let result = sandbox
        .brex(&format!("drex run --out drex {DREX}"))
        .expect(0)
        .json();
    let accuracy = result["clone"]["held_out_accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.85, "{accuracy}");
    let levels = result["levels"].as_array().unwrap();
    let of = |name: &'static str| {
        levels
            .iter()
            .map(move |level| level[name].as_f64().unwrap())
    };
    assert_eq!(of("noise").collect::<Vec<f64>>(), [1.0, 0.3, 0.01]);
    let scores: Vec<f64> = of("mean_score").collect();
    assert!(
        2.0 * scores[0] < scores[2] && scores[1] < scores[2],
        "{scores:?}"
    );
    assert_eq!(result["preferences"], 192);
    let agree = result["agree_with_scores"].as_f64().unwrap();
    assert!(agree > 0.7, "{agree}");
    // Every preference is for less noise.
    let text = sandbox.read("drex/preferences.jsonl");
    assert_eq!(text.lines().count(), 192);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let level = |name: &str| line[name].as_str().unwrap()[..8].to_owned();
        assert!(line["label"] == "b" && level("a") < level("b"), "{line}");
    }
    let kept = left(&sandbox, "drex");
    assert_eq!(
        kept.keys()
            .filter(|name| name.ends_with(".episode"))
            .count(),
        24
    );
    for name in [
        "policies/clone.safetensors",
        "policies/A.safetensors",
        "noise.json",
    ] {
        assert!(kept.contains_key(name), "{name}");
    }
    let picture = sandbox.read("drex/noise.svg");
    assert!(picture.contains("pocket:beam-rider: true score by noise"));
    let words = "pretrain drex --updates 12 --pairs 4 --features 8 --redrawn 8 --quiet --json";
    let ran = sandbox.brex(words);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let result = sandbox
        .brex("features drex --rollouts 2 --quiet --json")
        .expect(0);
    let policies = result.json()["policies"].as_array().unwrap().len();
    assert_eq!(policies, 3, "A, the clone and No-Op");
}

#[test]
fn what_is_there_is_not_made_again_and_threads_change_nothing() {
    let sandbox = with_experts();
    // So hasty a clone need not be better than noise, and then that is said.
    let made = |words: &str| {
        let ran = sandbox.brex(words);
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    };
    made(&format!("drex experts --out a {SHORT} --threads 1"));
    made(&format!("drex experts --out b {SHORT} --threads 2"));
    let whole = left(&sandbox, "a");
    assert!(whole == left(&sandbox, "b"));
    // As if stopped after the first level and a file of the second.
    for name in [
        "preferences.jsonl",
        "noise.json",
        "noise.svg",
        "episodes/level-02-002.episode",
        "episodes/level-03-001.episode",
    ] {
        std::fs::remove_file(sandbox.path("b").join(name)).unwrap();
    }
    let written = |name: &str| {
        let path = sandbox.path("b").join(name);
        std::fs::metadata(path).unwrap().modified().unwrap()
    };
    let kept = [
        "policies/clone.safetensors",
        "episodes/level-01-001.episode",
    ];
    let before = kept.map(written);
    made(&format!("drex experts --out b {SHORT} --resume"));
    assert!(left(&sandbox, "b") == whole);
    assert_eq!(kept.map(written), before);
    let other = SHORT.replace("--rollouts 5", "--rollouts 6");
    let ran = sandbox
        .brex(&format!("drex experts --out b {other} --resume"))
        .expect(2);
    assert!(
        ran.stderr.contains("begun with other settings"),
        "{}",
        ran.stderr
    );
    made("drex experts --config a/run.toml --out c --quiet");
    assert!(left(&sandbox, "c") == whole);
}

#[test]
fn a_clone_of_noise_is_not_to_be_trusted() {
    let sandbox = Sandbox::new();
    let words = "rollout pocket:enduro --policy noop --episodes 2 --out idle --quiet";
    sandbox.brex(words).expect(0);
    let flags = "--levels 1,0.01 --rollouts 3 --updates 50 --quiet";
    let ran = sandbox
        .brex(&format!("drex idle --out run {flags}"))
        .expect(3);
    assert!(ran.stderr.contains("not to be trusted"), "{}", ran.stderr);
    assert!(sandbox.path("run/noise.json").exists());
}
