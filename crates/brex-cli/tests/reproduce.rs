//! `brex reproduce gridworld` and `brex merge`: killed, resumed, cut into parts and joined again,
//! the same bytes come out; and nothing that is not this study is touched.

mod common;

use common::{Ran, Sandbox, study_files as folder};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// 20 worlds of two tables: 40 units in 6 batches, the last of each table not full.
const STUDY: &str = "reproduce gridworld --quiet --tables 7,9 --worlds 20";

const COMMON_RESULTS: [&str; 6] = [
    "losses.svg",
    "optsubopt.csv",
    "ranked_goodbad.csv",
    "study.json",
    "summary.json",
    "units.jsonl",
];

fn whole(sandbox: &Sandbox) -> (BTreeMap<String, Vec<u8>>, Ran) {
    common::whole_study(sandbox, STUDY, &COMMON_RESULTS)
}

fn lines(sandbox: &Sandbox, name: &str) -> usize {
    let units = std::fs::read(sandbox.path(name).join("units.jsonl"));
    units.map_or(0, |units| {
        units.iter().filter(|byte| **byte == b'\n').count()
    })
}

#[test]
fn the_tables_stand_beside_the_papers() {
    let sandbox = Sandbox::new();
    let ran = sandbox
        .brex("reproduce gridworld --quiet --worlds 3")
        .expect(0);
    assert!(sandbox.files().is_empty());
    insta::assert_snapshot!(ran.seen());
}

#[test]
fn files_are_those_of_the_authors_program() {
    let sandbox = Sandbox::new();
    let (files, ran) = whole(&sandbox);
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let table = text("optsubopt.csv");
    // The first lines of the authors' own output.
    let first = "demos,world,bayesian_irl_loss,bayesian_rex_loss\n\
                 2,0,0.0332481,0.0148807\n2,1,0.0558701,0.620049\n2,2,0.00435192,0.0718238\n";
    assert!(table.starts_with(first), "{table}");
    assert_eq!(table.lines().count(), 1 + 5 * 20);
    let table = text("ranked_goodbad.csv");
    assert!(table.starts_with("top_fraction,world,bayesian_irl_loss,bayesian_rex_loss\n0.05,0,"));
    assert_eq!(table.lines().count(), 1 + 4 * 20);
    insta::assert_snapshot!("study_json", text("study.json"));
    // A finished study is only shown again, also as JSON, on any number of threads.
    let again = sandbox.brex(&format!("{STUDY} --out whole")).expect(0);
    assert_eq!(again.stdout, ran.stdout);
    let json = sandbox
        .brex(&format!("{STUDY} --threads 1 --json"))
        .expect(0);
    assert_eq!(json.stdout, text("summary.json"));
    let summary = json.json();
    let row = &summary["tables"][1]["rows"][0];
    assert_eq!(row["setting"], 0.05);
    assert_eq!(row["bayesian_irl"]["paper"], 1.12);
    let number = |method: &str, key: &str| row[method][key].as_f64().unwrap();
    let difference = number("bayesian_irl", "mean") - number("bayesian_rex", "mean");
    assert!((number("difference", "mean") - difference).abs() < 1e-12);
    assert!(number("difference", "standard_error") > 0.0);
}

#[cfg(unix)]
#[test]
fn killed_and_resumed_the_bytes_are_the_same() {
    let sandbox = Sandbox::new();
    let clock = Instant::now();
    let (expected, _) = whole(&sandbox);
    let time = clock.elapsed();
    let (mut begun, mut kills) = (0, 0);
    for step in 0..8 {
        let name = format!("killed{step}");
        let words = format!("{STUDY} --out {name}");
        // Killed again and again on the way, each time a little later.
        for part in 1..=3 {
            let mut child = sandbox
                .command(&words)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(time.mul_f64(f64::from(step * part) / 20.0));
            let ended = child.try_wait().unwrap().is_some();
            let _ = child.kill();
            child.wait().unwrap();
            kills += usize::from(!ended);
            begun += usize::from(!ended && (1..40).contains(&lines(&sandbox, &name)));
        }
        sandbox.brex(&words).expect(0);
        assert!(folder(&sandbox, &name) == expected, "step {step}");
        let left = common::files_below(&sandbox.path(&name));
        assert!(
            left.keys().all(|name| !name.contains("brex-tmp")),
            "step {step}"
        );
    }
    eprintln!("killed {kills} times, {begun} times with a part of the units");
    assert!(begun > 0, "never killed halfway");
}

#[test]
fn parts_joined_are_the_whole() {
    let sandbox = Sandbox::new();
    let (expected, ran) = whole(&sandbox);
    for parts in [1, 2, 7] {
        let mut folders = String::new();
        // The last first: the order does not matter.
        for part in (1..=parts).rev() {
            let name = format!("part{part}of{parts}");
            let words = format!("{STUDY} --shard {part}/{parts} --out {name}");
            let shown = sandbox.brex(&words).expect(0).stdout;
            if parts > 1 {
                assert!(shown.contains(" of 40 units are there"), "{shown}");
                assert!(!sandbox.path(&name).join("summary.json").exists());
            }
            folders.push_str(&format!(" {name}"));
        }
        let out = format!("joined{parts}");
        let merged = sandbox
            .brex(&format!("merge --quiet{folders} --out {out}"))
            .expect(0);
        assert_eq!(merged.stdout, ran.stdout);
        assert!(folder(&sandbox, &out) == expected, "{parts} parts");
    }
    // Parts one after the other into one folder come to the same.
    for part in [2, 1] {
        sandbox
            .brex(&format!("{STUDY} --shard {part}/2 --out both"))
            .expect(0);
    }
    assert!(folder(&sandbox, "both") == expected);
    // Joined too early, the folder can be gone on from.
    let early = sandbox
        .brex("merge --json part1of7 part3of7 --out early")
        .expect(0)
        .json();
    assert_eq!((&early["done"], &early["of"]), (&12.into(), &40.into()));
    sandbox.brex(&format!("{STUDY} --out early")).expect(0);
    assert!(folder(&sandbox, "early") == expected);
}

#[test]
fn a_torn_last_line_is_done_again_and_other_damage_is_not_passed_over() {
    let sandbox = Sandbox::new();
    let (expected, _) = whole(&sandbox);
    let units = sandbox.read("whole/units.jsonl");
    let words = format!("{STUDY} --out whole");
    for cut in [1, 2, 30, 700] {
        sandbox.write("whole/units.jsonl", &units[..units.len() - cut]);
        sandbox.brex(&words).expect(0);
        assert!(folder(&sandbox, "whole") == expected, "cut {cut}");
    }
    let third = units.lines().nth(2).unwrap();
    let damages = [
        (
            third.replace("\"world\":2", "\"world\":3"),
            "expected rows of world 2",
        ),
        (
            third.replace("7/000002", "7/000020"),
            "is no unit of this study",
        ),
        (third[..third.len() / 2].to_owned(), "not a finished unit"),
        (third.replace("7/000002", "7/00\u{fffd}002"), "is no unit"),
        (String::new(), "not a finished unit"),
        (
            third.replace("\"setting\":5.0", "\"setting\":6.0"),
            "expected the settings",
        ),
        (
            third.replace("\"loss\":", "\"lose\":"),
            "not a finished unit",
        ),
    ];
    for (damaged, problem) in damages {
        sandbox.write("whole/units.jsonl", units.replace(third, &damaged));
        for words in [words.as_str(), "merge whole --out other"] {
            let seen = sandbox.brex(words).expect(2).stderr;
            assert!(seen.contains("whole/units.jsonl: line 3: "), "{seen}");
            assert!(seen.contains(problem), "{seen}");
        }
        assert!(!sandbox.path("other").exists());
    }
    // The same unit twice is no damage if it is the same result.
    sandbox.write("whole/units.jsonl", format!("{units}{third}\n"));
    sandbox.brex(&words).expect(0);
    assert!(folder(&sandbox, "whole") == expected);
    let other = third.replacen("\"loss\":0.0", "\"loss\":0.1", 1);
    assert_ne!(other, third);
    sandbox.write("whole/units.jsonl", format!("{units}{other}\n"));
    let seen = sandbox.brex(&words).expect(2).stderr;
    assert!(
        seen.contains("line 41: unit 7/000002 stands here twice"),
        "{seen}"
    );
}

#[test]
fn only_the_same_study_is_gone_on_with() {
    let sandbox = Sandbox::new();
    let small = "reproduce gridworld --quiet --tables 7 --worlds 2";
    sandbox.brex(&format!("{small} --out run")).expect(0);
    let before = folder(&sandbox, "run");
    let other = "reproduce gridworld --quiet --tables 10 --worlds 1";
    let refused = |words: &str| sandbox.brex(words).expect(2).stderr;
    let mut seen = refused(&format!("{other} --out run"));
    assert!(folder(&sandbox, "run") == before);
    // Something else, with and without force.
    std::fs::create_dir(sandbox.path("photos")).unwrap();
    sandbox.write("photos/cat.jpg", "meow");
    sandbox.write("file", "text");
    for words in ["--out photos", "--out photos --force", "--out file"] {
        seen.push_str(&refused(&format!("{small} {words}")));
    }
    assert_eq!(common::files_below(&sandbox.path("photos")).len(), 1);
    seen.push_str(&refused("merge photos --out joined"));
    seen.push_str(&refused("merge run nowhere --out joined"));
    for shard in ["0/2", "3/2", "x"] {
        seen.push_str(&refused(&format!("{small} --out part --shard {shard}")));
    }
    seen.push_str(&refused(&format!("{small} --shard 1/2")));
    seen.push_str(&refused("reproduce gridworld --tables 6"));
    insta::assert_snapshot!(seen);
    assert!(!sandbox.path("part").exists() && !sandbox.path("joined").exists());
    // Started anew on request, nothing of the old results stays.
    sandbox
        .brex(&format!("{other} --out run --force"))
        .expect(0);
    let after = folder(&sandbox, "run");
    assert!(after.contains_key("optnoise.csv") && !after.contains_key("optsubopt.csv"));
    assert_eq!(lines(&sandbox, "run"), 1);
}

#[test]
fn overlapping_parts_must_agree() {
    let sandbox = Sandbox::new();
    let small = "reproduce gridworld --quiet --tables 7 --worlds 10";
    sandbox.brex(&format!("{small} --out a")).expect(0);
    sandbox
        .brex(&format!("{small} --shard 2/2 --out b"))
        .expect(0);
    sandbox.brex("merge a b a --out joined").expect(0);
    assert!(folder(&sandbox, "joined") == folder(&sandbox, "a"));
    let seen = sandbox.brex("merge a b --out joined").expect(2).stderr;
    assert!(seen.contains("joined: already exists"), "{seen}");
    sandbox.brex("merge a b --out joined --force").expect(0);
    let units = sandbox.read("b/units.jsonl");
    sandbox.write(
        "b/units.jsonl",
        units.replacen("\"loss\":0.", "\"loss\":1.", 1),
    );
    let seen = sandbox.brex("merge a b --out other").expect(2).stderr;
    let expected = "unit 7/000008 has one result in a and another in b";
    assert!(seen.contains(expected), "{seen}");
    sandbox
        .brex("reproduce gridworld --quiet --tables 7 --worlds 1 --out c")
        .expect(0);
    let seen = sandbox.brex("merge a c --out other").expect(2).stderr;
    assert!(
        seen.contains("c: holds a study with another configuration"),
        "{seen}"
    );
    assert!(seen.contains("worlds is 1 there and 10 here"), "{seen}");
    assert!(!sandbox.path("other").exists());
}

#[cfg(unix)]
#[test]
fn one_process_at_a_time_and_ctrl_c_keeps_what_is_done() {
    let sandbox = Sandbox::new();
    // Longer than anybody waits.
    let words = "reproduce gridworld --tables 7 --worlds 100000 --threads 1 --out long";
    let child = sandbox
        .command(words)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while lines(&sandbox, "long") == 0 {
        assert!(Instant::now() < deadline, "nothing is done");
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = sandbox.brex(words).expect(2).stderr;
    assert!(
        seen.contains("long: another brex is at work here"),
        "{seen}"
    );
    let id = child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    assert!(kill.unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap()).expect(1);
    assert!(ran.stderr.contains("stopped; "), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the same command goes on from there"),
        "{}",
        ran.stderr
    );
    let kept = lines(&sandbox, "long");
    assert!(kept > 0 && kept.is_multiple_of(8), "{kept}");
    assert!(
        ran.stderr.contains(&format!("{kept} of 100000 units")),
        "{}",
        ran.stderr
    );
}
