//! A run directory from demonstrations to bounds, by the real binary: pretrain, features, sample,
//! evaluate, train on the learned reward, ask again.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;
mod runs;

use common::{Sandbox, files_below};
use runs::{PRETRAIN, TRAIN, begun, copied, sampled};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Without what belongs to the process or knows the time.
fn left(sandbox: &Sandbox, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = files_below(&sandbox.path(name));
    files.retain(|name, _| {
        !name.contains("tfevents") && !name.starts_with('.') && !name.contains("/.")
    });
    files
}

#[test]
fn from_demonstrations_to_bounds() {
    let sandbox = begun();
    let result = sandbox.brex(&format!("pretrain run {PRETRAIN} --json"));
    assert!(matches!(result.code, Some(0 | 3)), "{}", result.stderr);
    let result = result.json();
    assert_eq!(result["finished"], true);
    assert_eq!(
        (&result["updates"], &result["features"]),
        (&12.into(), &16.into())
    );
    for name in [
        "encoder.safetensors",
        "pretraining/losses.svg",
        "pretraining/redrawn.png",
    ] {
        assert!(sandbox.path("run").join(name).exists(), "{name}");
    }
    assert_eq!(
        sandbox.read("run/pretraining/losses.csv").lines().count(),
        13
    );

    let result = sandbox.brex("features run --rollouts 3 --policy good=good --json");
    let result = result.expect(0).json();
    let names: Vec<&str> = result["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| policy["policy"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["A", "B", "C", "D", "No-Op", "good"]);

    sandbox.brex("check run").expect(0);
    let result = sandbox.brex("sample run --json").expect(0).json();
    assert_eq!(result["converged"], true);
    let ran = sandbox.brex("evaluate run --json").expect(0);
    let result = ran.json();
    let policies = result["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 6);
    for policy in policies {
        for field in ["mean", "var", "true_score", "length"] {
            assert!(policy[field].is_number(), "{field}");
        }
        assert!(policy["warnings"].is_array());
    }
    let noop = policies
        .iter()
        .find(|policy| policy["policy"] == "No-Op")
        .unwrap();
    assert_eq!(
        (&noop["true_score"], &noop["length"]),
        (&0.0.into(), &4000.0.into())
    );
    let repeats = |policy: &&serde_json::Value| {
        let mut warnings = policy["warnings"].as_array().unwrap().iter();
        warnings.any(|warning| warning["kind"] == "repeats")
    };
    let repeating: Vec<_> = policies.iter().filter(repeats).collect();
    assert_eq!(repeating, [noop]);
    assert!(result["rank_correlation"]["length"].is_number());
    assert!(result["rank_correlation"]["untrained_mean"].is_number());
    let page = sandbox.read("run/report.html");
    assert!(page.contains("Rank correlation") && page.contains("data:image/gif"));

    // People get the same numbers as a table, with reasons in words.
    let text = sandbox.brex("evaluate run").expect(0).stdout;
    assert!(
        text.contains("true score") && text.contains("by length alone"),
        "{text}"
    );
}

#[test]
fn loose_files_do_as_well() {
    let sandbox = sampled();
    let words = "--episodes run/episodes --preferences run/preferences.jsonl --out loose";
    let ran = sandbox.brex(&format!("pretrain {words} {PRETRAIN} --quiet"));
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let read = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert!(read("loose/encoder.safetensors") == read("run/encoder.safetensors"));
    let words = "features --episodes run/episodes --encoder loose/encoder.safetensors";
    sandbox
        .brex(&format!("{words} --out phi.safetensors --quiet"))
        .expect(0);
    let words = "sample --features phi.safetensors --preferences run/preferences.jsonl";
    let result = sandbox
        .brex(&format!("{words} --out draws --json"))
        .expect(0)
        .json();
    assert_eq!(result["features"], 16);
}

#[test]
fn the_same_seed_gives_the_same_run_on_any_number_of_threads() {
    let sandbox = begun();
    copied(&sandbox.path("run"), &sandbox.path("other"));
    for (run, threads) in [("run", 1), ("other", 3)] {
        let ran = sandbox.brex(&format!(
            "pretrain {run} {PRETRAIN} --quiet --threads {threads}"
        ));
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
        let words = format!("features {run} --rollouts 3 --quiet --threads {threads}");
        sandbox.brex(&words).expect(0);
    }
    assert!(left(&sandbox, "run") == left(&sandbox, "other"));
}

#[test]
#[cfg(unix)]
fn a_killed_pretraining_goes_on_and_ends_the_same() {
    let sandbox = begun();
    copied(&sandbox.path("run"), &sandbox.path("whole"));
    let words = "--updates 60 --pairs 4 --features 8 --redrawn 8";
    let ran = sandbox.brex(&format!("pretrain whole {words} --quiet"));
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let mut child: Command = sandbox.command(&format!("pretrain run {words} --quiet"));
    let mut child = child
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let state = sandbox.path("run/pretraining/state.safetensors");
    let start = Instant::now();
    while !state.exists() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(150));
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = sandbox.brex("pretrain run --resume --quiet");
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    assert!(left(&sandbox, "run") == left(&sandbox, "whole"));
    // A run can be copied elsewhere and gone on with.
    copied(&sandbox.path("run"), &sandbox.path("elsewhere"));
    sandbox
        .brex("features elsewhere --rollouts 2 --quiet")
        .expect(0);
}

#[test]
fn an_agent_learns_from_the_reward_of_a_run_and_joins_its_policies() {
    let sandbox = sampled();
    for which in ["mean", "map", "trex"] {
        let words = format!("train pocket:breakout --reward run:{which} --steps 512 {TRAIN}");
        let ran = sandbox.brex(&format!("{words} --out {which} --quiet --json"));
        assert_eq!(ran.expect(0).json()["finished"], true);
        assert!(
            sandbox
                .path("run/policies")
                .join(format!("{which}.safetensors"))
                .exists()
        );
    }
    // Rewards are those of the posterior, not of the game: another reward, another curve.
    let curves = ["mean", "map", "trex"].map(|which| sandbox.read(&format!("{which}/curve.csv")));
    assert!(curves[0] != curves[1] && curves[1] != curves[2]);
    let result = sandbox
        .brex("features run --rollouts 3 --json")
        .expect(0)
        .json();
    assert_eq!(result["policies"].as_array().unwrap().len(), 8);
    // Going on needs the same reward.
    sandbox
        .brex("train pocket:breakout --out mean --resume --quiet")
        .expect(0);
    let other = "train pocket:breakout --out mean --resume --reward run:map --quiet";
    let ran = sandbox.brex(other).expect(2);
    assert!(ran.stderr.contains("begun with"), "{}", ran.stderr);
}

#[test]
fn an_episode_is_ranked_among_the_demonstrations() {
    let sandbox = sampled();
    let lines = || sandbox.read("run/preferences.jsonl").lines().count();
    let before = lines();
    let add = "demos run --add run/rollouts/No-Op/000000.episode --rank";
    let result = sandbox
        .brex(&format!("{add} worse-than-all --json"))
        .expect(0)
        .json();
    assert_eq!(result["preferences"], 12);
    assert_eq!(lines(), before + 12);
    // The same again changes nothing; another rank replaces the first.
    let text = sandbox.read("run/preferences.jsonl");
    sandbox.brex(&format!("{add} worse-than-all")).expect(0);
    assert_eq!(sandbox.read("run/preferences.jsonl"), text);
    sandbox.brex(&format!("{add} better-than-all")).expect(0);
    assert_eq!(lines(), before + 12);
    sandbox.brex(&format!("{add} worse-than-all")).expect(0);
    // The encoder stays, the posterior is drawn again.
    sandbox.brex("features run --rollouts 3 --quiet").expect(0);
    let ran = sandbox.brex("sample run").expect(2);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
    sandbox.brex("sample run --force --quiet").expect(0);
    let result = sandbox.brex("evaluate run --json").expect(0).json();
    let last = result["policies"].as_array().unwrap().last().unwrap();
    assert_eq!(last["policy"], "No-Op");
    for (rank, problem) in [
        ("between demo-01 demo-99", "demo-99"),
        ("between demo-01", "two ids"),
        ("best", "better-than-all"),
    ] {
        let ran = sandbox.brex(&format!("{add} {rank}")).expect(2);
        assert!(ran.stderr.contains(problem), "{}", ran.stderr);
    }
}

#[test]
fn what_does_not_fit_is_said_before_any_work() {
    let sandbox = sampled();
    let refused = |words: &str, problem: &str| {
        let ran = sandbox.brex(words).expect(2);
        assert!(ran.stderr.contains(problem), "{words}: {}", ran.stderr);
    };
    refused("pretrain nowhere", "nowhere");
    refused(&format!("pretrain run {PRETRAIN}"), "--force");
    refused("pretrain run --updates 0 --force", "--updates");
    refused("pretrain run --snippets 50 --force", "50-99");
    refused("pretrain run --snippets 9000-9000 --force", "frames");
    refused(
        "train pocket:breakout --reward run:median --out x",
        "run directory",
    );
    refused(
        "train pocket:breakout --reward nowhere:mean --out x",
        "brex pretrain",
    );
    // An encoder of another game.
    refused(
        "train pocket:enduro --reward run:mean --out x",
        "pocket:breakout",
    );
    assert!(!sandbox.path("x").exists());
    // A preference without its episode.
    let text = sandbox.read("run/preferences.jsonl");
    sandbox.write("run/preferences.jsonl", text.replace("demo-03", "demo-33"));
    let missing = "there is no episode run/episodes/demo-33.episode";
    refused("pretrain run --force", missing);
    refused("features run", missing);
    refused("sample run --force", "no features of \"demo-33\"");
    sandbox.write("run/preferences.jsonl", &text);
    // A missing demonstration.
    let (there, away) = (
        sandbox.path("run/episodes/demo-03.episode"),
        sandbox.path("away"),
    );
    std::fs::rename(&there, &away).unwrap();
    refused(
        "features run",
        "there is no episode run/episodes/demo-03.episode",
    );
    std::fs::rename(&away, &there).unwrap();
    // A demonstration of another game, and a damaged one.
    let rollout = "rollout pocket:enduro --policy noop --episodes 1 --out enduro --quiet";
    sandbox.brex(rollout).expect(0);
    let other = sandbox.path("enduro/000000.episode");
    std::fs::copy(&other, sandbox.path("run/episodes/zz.episode")).unwrap();
    refused("features run", "one environment");
    std::fs::remove_file(sandbox.path("run/episodes/zz.episode")).unwrap();
    refused(
        "demos run --add enduro/000000.episode --rank worse-than-all",
        "pocket:enduro",
    );
    // A damaged encoder, and features of another one.
    let encoder = std::fs::read(sandbox.path("run/encoder.safetensors")).unwrap();
    sandbox.write("run/encoder.safetensors", &encoder[..encoder.len() / 2]);
    refused("features run", "encoder.safetensors");
    let ran = sandbox.brex(&format!("pretrain run {PRETRAIN} --seed 1 --force --quiet"));
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    refused(
        "train pocket:breakout --reward run:mean --out x",
        "another encoder",
    );
    std::fs::remove_file(sandbox.path("run/features.safetensors")).unwrap();
    refused("evaluate run", "features.safetensors");
}

#[test]
fn ensembles_and_dropout_judge_the_same_rollouts() {
    let sandbox = sampled();
    let words = "baseline ensemble run --networks 3 --updates 6 --json";
    let first = sandbox.brex(words).expect(0);
    let result = first.json();
    let policies = result["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 5);
    let named = |name: &str| policies.iter().find(|p| p["policy"] == name).unwrap();
    // Every network is measured from policy A, whose mean is therefore nothing.
    assert!(named("A")["mean"].as_f64().unwrap().abs() < 1e-9);
    assert_eq!(named("D")["samples"], 9);
    let picture = sandbox.read("run/baselines/ensemble/returns.svg");
    assert!(picture.contains("sampled return") && !picture.contains("posterior"));
    // Networks are kept: the same again learns nothing and says the same.
    let again = sandbox.brex(&format!("{words} --quiet")).expect(0);
    assert_eq!(again.json(), result);
    assert!(!again.stderr.contains("updates of network"));
    let other = sandbox
        .brex("baseline ensemble run --networks 3 --updates 7")
        .expect(2);
    assert!(other.stderr.contains("--force"), "{}", other.stderr);

    let words = "baseline dropout run --masks 40 --updates 6 --json";
    let result = sandbox.brex(words).expect(0).json();
    let policies = result["policies"].as_array().unwrap();
    let noop = policies.iter().find(|p| p["policy"] == "No-Op").unwrap();
    assert_eq!(
        (&noop["samples"], &noop["length"]),
        (&120.into(), &4000.0.into())
    );
    // The samples are there for anybody.
    let words = "evaluate --returns N=run/baselines/dropout/samples/No-Op.npy --json";
    let judged = sandbox.brex(words).expect(0).json();
    assert_eq!(
        (&judged[0]["mean"], &judged[0]["var"]),
        (&noop["mean"], &noop["var"])
    );
    // Networks that exist are taken as they are, for an ensemble only.
    let there = files_below(&sandbox.path("run/baselines"));
    for (words, part) in [
        (
            "ensemble run --import nowhere.safetensors",
            "nowhere.safetensors: there is no encoder",
        ),
        (
            "ensemble run --import run/encoder.safetensors",
            "holds other networks",
        ),
        ("dropout run --import x.safetensors", "for an ensemble only"),
        (
            "ensemble run --import x.safetensors --networks 3",
            "--networks",
        ),
        (
            "ensemble run --origin Z",
            "has no policy Z, which an ensemble is measured from; choose one with --origin: A, B",
        ),
    ] {
        let ran = sandbox.brex(&format!("baseline {words} --quiet")).expect(2);
        assert!(ran.stderr.contains(part), "{words}: {}", ran.stderr);
    }
    assert!(files_below(&sandbox.path("run/baselines")) == there);
    // One network alone says what its ranking head says, measured from policy A.
    let words = "baseline ensemble run --import run/encoder.safetensors --force --json --quiet";
    let alone = sandbox.brex(words).expect(0).json();
    let heads = sandbox.brex("evaluate run --json --quiet").expect(0).json();
    let of = |judged: &serde_json::Value, name: &str, figure: &str| {
        let mut policies = judged["policies"].as_array().unwrap().iter();
        let found = policies.find(|p| p["policy"] == name).unwrap();
        found[figure].as_f64().unwrap()
    };
    let expected = of(&heads, "D", "trex") - of(&heads, "A", "trex");
    let found = of(&alone, "D", "mean");
    assert!(
        (found - expected).abs() < 1e-3 * expected.abs().max(1.0),
        "{found} {expected}"
    );
    let from_d = sandbox
        .brex(&format!("{words} --origin D"))
        .expect(0)
        .json();
    assert!(of(&from_d, "D", "mean").abs() < 1e-9);
    assert!((of(&from_d, "A", "mean") + found).abs() < 1e-6 * found.abs().max(1.0));
    std::fs::remove_file(sandbox.path("run/features.safetensors")).unwrap();
    let ran = sandbox.brex("baseline dropout run").expect(2);
    assert!(
        ran.stderr.contains("features.safetensors"),
        "{}",
        ran.stderr
    );
}
