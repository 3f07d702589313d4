//! `brex reproduce games` on the real binary: every table, killed and gone on with, cut into parts
//! and joined again.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::Sandbox;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Too little to learn anything, but every step is done.
const TINY: &str = "--seeds 1 --count 12 --demonstrator-steps 32768 --learner-steps 2048 --updates 4 \
                    --rounds 1 --rollouts 2 --quiet";
const RESULTS: [&str; 5] = [
    "units.jsonl",
    "summary.json",
    "tables.md",
    "learning.svg",
    "report.html",
];

fn results(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let read = |name: &&str| sandbox.read(&format!("{folder}/{name}"));
    RESULTS.iter().map(read).collect()
}

/// How many steps of the study are done.
fn done(sandbox: &Sandbox, folder: &str) -> usize {
    let Ok(games) = std::fs::read_dir(sandbox.path(folder).join("steps")) else {
        return 0;
    };
    let notes = games.flat_map(|game| std::fs::read_dir(game.unwrap().path()).unwrap());
    let names = notes.map(|note| note.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".done")).count()
}

#[test]
fn killed_at_any_step_the_study_ends_with_the_same_bytes() {
    let sandbox = Sandbox::new();
    let words = format!("reproduce games --games pocket:breakout {TINY}");
    sandbox
        .brex(&format!("{words} --out whole --threads 1"))
        .expect(0);
    let steps = done(&sandbox, "whole");
    assert!(steps > 25, "{steps}");
    let times = sandbox.read("whole/steps/pocket-breakout-0/times.csv");
    let seconds = |line: &str| {
        line.strip_prefix("pretrain,")?
            .split(',')
            .next()?
            .parse()
            .ok()
    };
    let taken: Option<f64> = times.lines().find_map(seconds);
    assert!(taken.is_some_and(|seconds| seconds >= 0.0), "{times}");
    for stop in [1, steps / 3, 2 * steps / 3] {
        let command = sandbox.command(&format!("{words} --out cut"));
        common::killed_when(command, || done(&sandbox, "cut") >= stop);
        assert!(
            (stop..steps).contains(&done(&sandbox, "cut")),
            "in the midst"
        );
    }
    sandbox.brex(&format!("{words} --out cut")).expect(0);
    assert_eq!(results(&sandbox, "cut"), results(&sandbox, "whole"));
    // All is there: nothing is done again.
    let clock = Instant::now();
    let again = sandbox.brex(&format!("{words} --out cut")).expect(0);
    assert!(
        again
            .stdout
            .contains("Policy evaluation: Breakout (pocket)")
    );
    assert!(clock.elapsed() < Duration::from_secs(5));
    let summary: Value = serde_json::from_str(&sandbox.read("whole/summary.json")).unwrap();
    let unit = &summary["units"][0];
    for agent in [
        "mean", "asked", "map", "trex", "gail", "ensemble", "dropout",
    ] {
        let scores = unit["learned"][agent]["scores"].as_array().unwrap();
        assert_eq!(scores.len(), 2, "{agent}");
    }
    let clips = unit["clips"].as_array().unwrap().iter();
    let clips: Vec<(&str, &str)> = clips
        .map(|clip| {
            (
                clip["name"].as_str().unwrap(),
                clip["gif"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(clips.len(), 8);
    let scores = unit["demonstrations"]["scores"].as_array().unwrap();
    let best = scores.iter().map(|score| score.as_f64().unwrap());
    let shown = unit["clips"][0]["score"].as_f64();
    assert_eq!(shown, Some(best.fold(0.0, f64::max)), "of those given");
    let page = sandbox.read("whole/report.html");
    for (name, gif) in clips {
        assert!(gif.starts_with("R0lGODlh"), "{name} is a GIF");
        assert!(page.contains(gif), "{name} is on the page");
    }
    for (judged, drawn) in [("before", 9), ("after", 9), ("prefix", 0), ("ensemble", 0)] {
        let policies = unit["judgements"][judged]["policies"].as_array().unwrap();
        let outlines = policies.iter().filter_map(|p| p["returns"].as_array());
        let outlines: Vec<usize> = outlines.map(Vec::len).collect();
        assert_eq!(outlines, vec![101; drawn], "{judged}");
    }
    for judged in ["before", "after", "prefix", "ensemble", "dropout"] {
        assert!(
            unit["judgements"][judged]["policies"].is_array(),
            "{judged}"
        );
    }
    let prefix = &unit["judgements"]["prefix"]["policies"];
    let longest = prefix
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["length"].as_f64().unwrap());
    assert!(longest.fold(0.0, f64::max) <= 200.0);
    for losses in ["ranking", "self-supervised", "all"] {
        assert!(
            unit["ablation"][losses]["order"]["policies"].as_u64() > Some(10),
            "{losses}"
        );
    }
}

/// What later steps of the first study changed, the posterior and what is ranked, is not what the agent
/// that joins in the second one learns from.
#[test]
fn with_more_agents_a_study_begun_anew_ends_as_if_nothing_had_been_there() {
    let sandbox = Sandbox::new();
    let tiny = TINY.replace("--quiet", "");
    let words =
        format!("reproduce games --games pocket:breakout --tables policy-evaluation,risk {tiny}");
    let run = |agents: &str, out: &str| {
        let words = format!("{words} --agents {agents} --out {out}");
        sandbox.brex(&words).expect(0).stderr
    };
    run("mean,map", "fresh");
    run("mean", "grown");
    let said = run("mean,map", "grown --force");
    for command in ["brex demos", "brex pretrain", "brex train"] {
        let first = said.lines().find(|line| line.contains(command)).unwrap();
        assert!(
            first.ends_with(" --resume"),
            "nothing long is done again: {first}"
        );
    }
    assert_eq!(results(&sandbox, "grown"), results(&sandbox, "fresh"));
}

/// A study that begins with what another one left, where A is known by recorded rollouts only.
#[test]
fn demonstrations_that_exist_are_taken() {
    let sandbox = Sandbox::new();
    let first =
        format!("reproduce games --games pocket:breakout --tables policy-evaluation {TINY}");
    sandbox.brex(&format!("{first} --out first")).expect(0);
    let run = "first/runs/pocket-breakout-0";
    for policy in ["A", "mean", "map"] {
        std::fs::remove_file(sandbox.path(&format!("{run}/policies/{policy}.safetensors")))
            .unwrap();
    }
    sandbox
        .brex(&format!("{first} --demonstrations {run} --out second"))
        .expect(0);
    let judged = |study: &str| -> Value {
        let text = sandbox.read(&format!("{study}/summary.json"));
        let summary: Value = serde_json::from_str(&text).unwrap();
        summary["units"][0]["judgements"]["before"]["policies"].clone()
    };
    let (before, after) = (judged("first"), judged("second"));
    let find = |judged: &Value, name: &str| {
        let mut policies = judged.as_array().unwrap().iter();
        policies
            .find(|policy| policy["policy"] == name)
            .cloned()
            .unwrap()
    };
    for policy in ["A", "B", "D", "No-Op", "mean"] {
        assert_eq!(find(&before, policy), find(&after, policy), "{policy}");
    }
    let both = "--games pocket:breakout,pocket:enduro";
    let ran = sandbox.brex(&format!(
        "reproduce games {both} --demonstrations {run} --out third"
    ));
    let ran = ran.expect(2);
    assert!(
        ran.stderr.contains("ask for that game alone"),
        "{}",
        ran.stderr
    );
}

#[test]
fn parts_that_are_joined_are_the_whole() {
    let sandbox = Sandbox::new();
    let words = format!(
        "reproduce games --games pocket:breakout,pocket:space-invaders --tables prefix {TINY}"
    );
    sandbox.brex(&format!("{words} --out whole")).expect(0);
    for part in 1..=2 {
        let ran = sandbox
            .brex(&format!("{words} --out part{part} --shard {part}/2"))
            .expect(0);
        assert!(ran.stdout.contains("1 of 2 units"), "{}", ran.stdout);
        // What is done is there to be looked at, and nothing else.
        let page = sandbox.read(&format!("part{part}/so-far.html"));
        let names = ["Breakout (pocket)", "Space Invaders (pocket)"];
        assert!(page.contains(names[part - 1]) && !page.contains(names[2 - part]));
        // It is there again if nothing is left to compute.
        let path = sandbox.path(&format!("part{part}/so-far.html"));
        std::fs::remove_file(&path).unwrap();
        let again = format!("{words} --out part{part} --shard {part}/2");
        let ran = sandbox.brex(&again.replace("--quiet", "")).expect(0);
        assert!(ran.stderr.contains("so-far.html"), "{}", ran.stderr);
        assert_eq!(std::fs::read_to_string(path).unwrap(), page);
    }
    assert!(!sandbox.path("whole/so-far.html").exists());
    sandbox
        .brex("merge part2 part1 --out joined --quiet")
        .expect(0);
    assert_eq!(results(&sandbox, "joined"), results(&sandbox, "whole"));
    // One after the other instead of side by side.
    let ran = sandbox.brex(&format!("{words} --out one --lanes 1"));
    ran.expect(0);
    assert_eq!(results(&sandbox, "one"), results(&sandbox, "whole"));
}

/// The lane that fails says what is wrong, the other one is stopped and nothing of it is lost.
#[test]
fn what_is_wrong_in_one_lane_is_said_and_mended_and_gone_on_from() {
    let sandbox = Sandbox::new();
    let words = format!(
        "reproduce games --games pocket:breakout,pocket:space-invaders --tables prefix {TINY}"
    );
    let words = format!("{} --threads 2 --out study", words.replace("--quiet", ""));
    let begun = || done(&sandbox, "study") >= 1;
    common::killed_when(sandbox.command(&words), begun);
    let (notes, aside) = (
        sandbox.path("study/steps/pocket-breakout-0"),
        sandbox.path("aside"),
    );
    std::fs::rename(&notes, &aside).unwrap();
    std::fs::write(&notes, "not a folder").unwrap();
    let ran = sandbox.brex(&words);
    let ran = ran.expect(1);
    assert!(ran.stderr.contains("pocket-breakout-0"), "{}", ran.stderr);
    assert!(!sandbox.path("study/summary.json").exists());
    std::fs::remove_file(&notes).unwrap();
    std::fs::rename(&aside, &notes).unwrap();
    let ran = sandbox.brex(&words);
    let ran = ran.expect(0);
    for done in ["1 of 2", "2 of 2"] {
        assert!(ran.stderr.contains(done), "{}", ran.stderr);
    }
    assert!(sandbox.path("study/summary.json").exists());
}

#[test]
fn what_cannot_be_is_refused_before_any_work() {
    let sandbox = Sandbox::new();
    for (flags, part) in [
        ("--games pocket:chess", "no environment is called"),
        ("--games pocket:enduro,pocket:enduro", "is there twice"),
        ("--tables 17", "invalid value"),
        ("--agents mean,nobody", "expected some of mean, asked"),
        ("--seeds 0", "invalid value"),
    ] {
        let ran = sandbox
            .brex(&format!("reproduce games {flags} --out study"))
            .expect(2);
        assert!(ran.stderr.contains(part), "{flags}: {}", ran.stderr);
        assert!(!sandbox.path("study").exists(), "{flags}");
    }
}
