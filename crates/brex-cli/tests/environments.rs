//! `brex envs`, `rollout` and `render` on the real binary.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::{Command, Output};

fn brex(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brex"));
    command.args(words).arg("--quiet").current_dir(folder);
    command.output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(output: &Output, part: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(part), "{said}");
}

#[test]
fn every_game_is_listed_and_played_by_every_script() {
    let home = tempfile::tempdir().unwrap();
    let list = json(&brex(home.path(), &["envs", "--json"]));
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 5);
    for env in list {
        let name = env["name"].as_str().unwrap();
        let play = |policy| {
            let words = [
                "rollout",
                name,
                "--policy",
                policy,
                "--episodes",
                "20",
                "--json",
            ];
            json(&brex(home.path(), &words))
        };
        let score = |result: &serde_json::Value| result["mean_score"].as_f64().unwrap();
        let (noop, random, good) = (play("noop"), play("random"), play("good"));
        let hacker = play("hacker");
        assert_eq!(random["policy"], "random");
        assert_eq!(random["episodes"], 20);
        assert!(random["sd_score"].is_number() && random["mean_length"].is_number());
        assert!(
            score(&good) > 5.0 * score(&random),
            "{name}: {good} {random}"
        );
        assert!(score(&noop) <= 0.0, "{name}: {noop}");
        assert!(score(&hacker) <= 0.05 * score(&good), "{name}: {hacker}");
    }
}

#[test]
fn episodes_are_the_same_on_any_number_of_threads_and_can_be_rendered() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    for (out, threads) in [("one", "1"), ("two", "2")] {
        let words = ["rollout", "pocket:space-invaders", "--policy", "random"];
        let more = [
            "--episodes",
            "5",
            "--seed",
            "3",
            "--out",
            out,
            "--threads",
            threads,
        ];
        let output = brex(home.path(), &[&words[..], &more[..]].concat());
        assert!(output.status.success(), "{output:?}");
    }
    for index in 0..5 {
        let name = format!("{index:06}.episode");
        let read = |folder: &str| std::fs::read(at(folder).join(&name)).unwrap();
        assert_eq!(read("one"), read("two"));
        assert!(read("one").len() < 20_000);
    }
    let (a, b) = ("one/000000.episode", "one/000001.episode");
    for (words, magic) in [
        (vec!["render", a, "-o", "clip.gif"], &b"GIF89a"[..]),
        (
            vec!["render", a, b, "-o", "pair.apng", "--scale", "2"],
            &b"\x89PNG"[..],
        ),
        (
            vec!["render", a, "-o", "sheet.png", "--frames", "12"],
            &b"\x89PNG"[..],
        ),
    ] {
        let output = brex(home.path(), &words);
        assert!(output.status.success(), "{output:?}");
        let file = words
            .iter()
            .skip_while(|word| **word != "-o")
            .nth(1)
            .unwrap();
        assert!(
            std::fs::read(at(file)).unwrap().starts_with(magic),
            "{file}"
        );
    }
    refused(
        &brex(home.path(), &["render", a, "-o", "clip.gif"]),
        "already exists",
    );
    refused(&brex(home.path(), &["render", a, "-o", "clip.bmp"]), ".gif");
    let text = std::fs::read_to_string(at(a)).unwrap();
    let score = text.find("\"checksum\": \"").unwrap() + 13;
    let mut wrong = text.clone();
    wrong.replace_range(score..score + 4, "0bad");
    std::fs::write(at("wrong.episode"), wrong).unwrap();
    refused(
        &brex(home.path(), &["render", "wrong.episode", "-o", "w.gif"]),
        "differs",
    );
    let short = text.replacen("\"actions\": \"", "\"actions\": \"a", 1);
    std::fs::write(at("short.episode"), short).unwrap();
    refused(
        &brex(home.path(), &["render", "short.episode", "-o", "w.gif"]),
        "length says",
    );
    assert!(!at("w.gif").exists());
}

#[test]
fn what_does_not_exist_is_named() {
    let home = tempfile::tempdir().unwrap();
    let words = ["rollout", "pocket:chess", "--policy", "noop", "--out", "x"];
    refused(&brex(home.path(), &words), "pocket:breakout");
    assert!(!home.path().join("x").exists());
    let words = ["rollout", "pocket:breakout", "--policy", "clever"];
    refused(&brex(home.path(), &words), "noop, random, good, hacker");
    refused(
        &brex(home.path(), &["render", "none.episode", "-o", "a.gif"]),
        "none.episode",
    );
}
