//! `brex reproduce coverage`: killed, resumed, cut into parts and joined again, the same bytes come
//! out; what is wrong is said before any work.

mod common;

use common::{Ran, Sandbox, study_files as folder};
use std::collections::BTreeMap;

const STUDY: &str =
    "reproduce coverage --quiet --worlds 6 --demonstrations 2 --conditions as-assumed";

const RESULTS: [&str; 5] = [
    "coverage.csv",
    "reliability.svg",
    "study.json",
    "summary.json",
    "units.jsonl",
];

fn whole(sandbox: &Sandbox) -> (BTreeMap<String, Vec<u8>>, Ran) {
    common::whole_study(sandbox, STUDY, &RESULTS)
}

#[test]
fn a_table_for_people_and_the_same_numbers_for_programs() {
    let sandbox = Sandbox::new();
    let (files, ran) = whole(&sandbox);
    insta::assert_snapshot!(ran.seen());
    let csv = String::from_utf8(files["coverage.csv"].clone()).unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next().unwrap(),
        "condition,method,demonstrations,policy,delta,worlds,held,rate,standard_error,z,\
         mean_margin,not_converged"
    );
    // Two methods, four policies, four deltas.
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 2 * 4 * 4);
    let json = sandbox
        .brex(&format!("{STUDY} --json --threads 1"))
        .expect(0);
    assert_eq!(json.stdout.as_bytes(), files["summary.json"]);
    let summary = json.json();
    assert_eq!(summary["worlds"], 6);
    assert_eq!(summary["inferences"], 12);
    assert_eq!(summary["holds_as_promised"], true);
    let bounds = summary["rows"].as_array().unwrap().iter().flat_map(|row| {
        let bounds = row["bounds"].as_array().unwrap();
        bounds.iter().map(move |bound| (row, bound))
    });
    for (line, (row, bound)) in rows.iter().zip(bounds) {
        assert_eq!(line[0], row["condition"]);
        assert_eq!(line[1], row["method"]);
        assert_eq!(line[3], row["policy"]);
        assert_eq!(line[6], bound["held"].to_string());
        let number = |at: usize| line[at].parse::<f64>().unwrap();
        let (delta, held) = (number(4), number(6));
        assert!((number(7) - held / 6.0).abs() < 1e-5);
        let error = (delta * (1.0 - delta) / 6.0).sqrt();
        assert!((number(8) - error).abs() < 1e-5);
        assert!((number(9) - (held / 6.0 - 1.0 + delta) / error).abs() < 1e-4);
    }
    // Larger deltas give larger bounds, which hold less often and have smaller margins.
    for bounds in rows.chunks(4) {
        let margins: Vec<f64> = bounds
            .iter()
            .map(|line| line[10].parse().unwrap())
            .collect();
        assert!(margins.is_sorted_by(|a, b| a > b), "{margins:?}");
        let held: Vec<u32> = bounds.iter().map(|line| line[6].parse().unwrap()).collect();
        assert!(held.is_sorted_by(|a, b| a >= b), "{held:?}");
    }
}

#[test]
fn resumed_and_joined_the_bytes_are_the_same() {
    let sandbox = Sandbox::new();
    let (expected, ran) = whole(&sandbox);
    // As if killed in the middle of writing the fourth world.
    let units = sandbox.read("whole/units.jsonl");
    assert_eq!(units.lines().count(), 6);
    let begun: usize = units.lines().take(3).map(|line| line.len() + 1).sum();
    sandbox.write("whole/units.jsonl", &units[..begun + 100]);
    for name in ["coverage.csv", "reliability.svg", "summary.json"] {
        std::fs::remove_file(sandbox.path("whole").join(name)).unwrap();
    }
    let again = sandbox.brex(&format!("{STUDY} --out whole")).expect(0);
    assert_eq!(again.stdout, ran.stdout);
    assert!(folder(&sandbox, "whole") == expected);
    // Parts, the last first.
    for part in [3, 2, 1] {
        let words = format!("{STUDY} --shard {part}/3 --out part{part}");
        let shown = sandbox.brex(&words).expect(0).stdout;
        assert!(shown.contains("2 of 6 units are there"), "{shown}");
        assert!(!sandbox.path("part1").join("summary.json").exists());
    }
    let early = sandbox.brex("merge --json part3 part1 --out early");
    assert_eq!(early.expect(0).json()["done"], 4);
    let merged = sandbox
        .brex("merge --quiet part2 part3 part1 --out joined")
        .expect(0);
    assert_eq!(merged.stdout, ran.stdout);
    assert!(folder(&sandbox, "joined") == expected);
    // Damage is not passed over.
    let second = units.lines().nth(1).unwrap();
    for (from, to, problem) in [
        (
            "\"hacker\"",
            "\"optimal\"",
            "expected a row for every condition",
        ),
        ("\"margins\":[", "\"margins\":[0.5,", "expected 4 margins"),
        ("000001", "000006", "is no unit of this study"),
    ] {
        let damaged = second.replacen(from, to, 1);
        assert_ne!(damaged, second);
        sandbox.write("joined/units.jsonl", units.replace(second, &damaged));
        let seen = sandbox.brex("merge joined --out other").expect(2).stderr;
        assert!(seen.contains("joined/units.jsonl: line 2: "), "{seen}");
        assert!(seen.contains(problem), "{seen}");
    }
}

/// Bounds that fail where the assumptions are true make the exit code 3, here and after a merge.
#[test]
fn bounds_that_fail_as_assumed_are_not_trusted() {
    let sandbox = Sandbox::new();
    whole(&sandbox);
    // Every true value far below every bound.
    let units = sandbox.read("whole/units.jsonl");
    let failing: Vec<String> = units
        .split("\"margins\":[")
        .enumerate()
        .map(|(at, part)| match part.split_once(']') {
            Some((_, rest)) if at > 0 => format!("-1.0,-2.0,-3.0,-4.0]{rest}"),
            _ => part.to_owned(),
        })
        .collect();
    sandbox.write("whole/units.jsonl", failing.join("\"margins\":["));
    let ran = sandbox.brex(&format!("{STUDY} --out whole")).expect(3);
    // Two methods, three policies; six failures of six at delta 0.25 may still be bad luck.
    let line = "Bounds do not hold although the assumptions are true: 18 rates more than 4 standard \
                errors too low";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    let worst = "Bayesian REX: 0.0 % instead of 99 % (random, 2 demonstrations)";
    assert!(ran.stdout.contains(worst), "{}", ran.stdout);
    let merged = sandbox.brex("merge --quiet whole --out joined").expect(3);
    assert_eq!(merged.stdout, ran.stdout);
    let json = sandbox
        .brex(&format!("{STUDY} --out whole --json"))
        .expect(3);
    assert_eq!(json.json()["holds_as_promised"], false);
}

#[test]
fn what_is_wrong_is_said_before_any_work() {
    let sandbox = Sandbox::new();
    let mut seen = String::new();
    for words in [
        "--worlds 0",
        "--demonstrations 1",
        "--demonstrations x",
        "--delta 0",
        "--delta 0.05,1",
        "--beta -1",
        "--beta nan",
        "--conditions perfect",
        "--rows 0",
        "--cols 101",
        "--feature-count 1",
        "--slip 1.5",
        "--gamma 1",
        "--steps 0",
        "--shard 3/2",
    ] {
        let ran = sandbox
            .brex(&format!("reproduce coverage --out new {words}"))
            .expect(2);
        let flag = words.split(' ').find(|word| word.starts_with("--"));
        assert!(
            ran.stderr.contains(flag.unwrap()),
            "{words}: {}",
            ran.stderr
        );
        seen.push_str(&ran.stderr);
    }
    seen.push_str(
        &sandbox
            .brex("reproduce coverage --shard 1/2")
            .expect(2)
            .stderr,
    );
    assert!(sandbox.files().is_empty());
    insta::assert_snapshot!(seen);
}

#[test]
fn only_the_same_study_is_gone_on_with() {
    let sandbox = Sandbox::new();
    let (expected, _) = whole(&sandbox);
    let seen = sandbox
        .brex(&format!("{STUDY} --seed 1 --beta 2 --out whole"))
        .expect(2)
        .stderr;
    let differences = "options.beta is 5.0 there and 2.0 here, options.world.seed is 0 there and 1";
    assert!(seen.contains(differences), "{seen}");
    let gridworld = "reproduce gridworld --quiet --tables 7 --worlds 1";
    let seen = sandbox
        .brex(&format!("{gridworld} --out whole --force"))
        .expect(2)
        .stderr;
    assert!(seen.contains("holds a study of another kind"), "{seen}");
    sandbox.brex(&format!("{gridworld} --out other")).expect(0);
    let seen = sandbox.brex("merge whole other --out joined").expect(2);
    assert!(
        seen.stderr.contains("another configuration"),
        "{}",
        seen.stderr
    );
    assert!(folder(&sandbox, "whole") == expected);
    // What is given twice counts once, in any order.
    let twice = "--demonstrations 2,2 --delta 0.25,0.1,0.05,0.01,0.1";
    let words = STUDY.replace("--demonstrations 2", twice);
    sandbox.brex(&format!("{words} --out whole")).expect(0);
    assert!(folder(&sandbox, "whole") == expected);
    // Started anew on request.
    sandbox
        .brex(&format!("{STUDY} --seed 1 --out whole --force"))
        .expect(0);
    assert!(folder(&sandbox, "whole")["coverage.csv"] != expected["coverage.csv"]);
}
