//! `brex envs`, `rollout` and `render` on the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail")]

mod common;

use common::{Ran, Sandbox};

#[track_caller]
fn refused(ran: Ran, part: &str) {
    let ran = ran.expect(2);
    assert!(ran.stderr.contains(part), "{}", ran.stderr);
}

fn is_pocket(env: &serde_json::Value) -> bool {
    env["name"].as_str().unwrap().starts_with("pocket:")
}

#[test]
fn every_game_is_listed_and_played_by_every_script() {
    let sandbox = Sandbox::new();
    let list = sandbox.brex("envs --json").expect(0).json();
    let list = list.as_array().unwrap();
    let list: Vec<_> = list.iter().filter(|env| is_pocket(env)).collect();
    assert_eq!(list.len(), 5);
    for env in list {
        let name = env["name"].as_str().unwrap();
        let play = |policy| {
            let words = format!("rollout {name} --policy {policy} --episodes 20 --quiet --json");
            sandbox.brex(&words).expect(0).json()
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
    let sandbox = Sandbox::new();
    for (out, threads) in [("one", 1), ("two", 2)] {
        let play = "rollout pocket:space-invaders --policy random --episodes 5 --seed 3 --quiet";
        let words = format!("{play} --out {out} --threads {threads}");
        sandbox.brex(&words).expect(0);
    }
    let folder = |name| common::files_below(&sandbox.path(name));
    assert_eq!(folder("one"), folder("two"));
    for index in 0..5 {
        let name = format!("one/{index:06}.episode");
        assert!(sandbox.read(&name).len() < 20_000);
    }
    let (a, b) = ("one/000000.episode", "one/000001.episode");
    for (words, file, magic) in [
        (
            format!("render {a} -o clip.gif"),
            "clip.gif",
            &b"GIF89a"[..],
        ),
        (
            format!("render {a} {b} -o pair.apng --scale 2"),
            "pair.apng",
            b"\x89PNG",
        ),
        (
            format!("render {a} -o sheet.png --frames 12"),
            "sheet.png",
            b"\x89PNG",
        ),
    ] {
        sandbox.brex(&words).expect(0);
        let bytes = std::fs::read(sandbox.path(file)).unwrap();
        assert!(bytes.starts_with(magic), "{file}");
    }
    let again = sandbox.brex(&format!("render {a} -o clip.gif"));
    refused(again, "already exists");
    let unknown = sandbox.brex(&format!("render {a} -o clip.bmp"));
    refused(unknown, ".gif");
    damaged_episodes_are_refused(&sandbox, &sandbox.read(a));
}

fn damaged_episodes_are_refused(sandbox: &Sandbox, text: &str) {
    let checksum = text.find("\"checksum\": \"").unwrap() + 13;
    let mut wrong = text.to_owned();
    let other = if wrong[checksum..].starts_with("0bad") {
        "1bad"
    } else {
        "0bad"
    };
    wrong.replace_range(checksum..checksum + 4, other);
    sandbox.write("wrong.episode", wrong);
    refused(sandbox.brex("render wrong.episode -o w.gif"), "differs");
    let longer = text.replacen("\"actions\": \"", "\"actions\": \"a", 1);
    sandbox.write("longer.episode", longer);
    refused(
        sandbox.brex("render longer.episode -o w.gif"),
        "length says",
    );
    assert!(!sandbox.path("w.gif").exists());
}

#[test]
fn an_episode_that_keeps_its_frames_needs_no_environment() {
    let sandbox = Sandbox::new();
    let episode = brex_core::Episode {
        environment: "robot:arm".to_owned(),
        version: 1,
        seed: 0,
        actions: vec![0, 1],
        score: 0.0,
        truncated: true,
        checksum: 0,
        frames: Some(brex_core::EpisodeFrames {
            height: 4,
            width: 5,
            pixels: (0..60).collect(),
        }),
    };
    brex_store::write_episode(sandbox.path("arm.episode"), &episode, false).unwrap();
    let render = "render arm.episode -o arm.apng --scale 2 --json";
    let result = sandbox.brex(render).expect(0).json();
    assert_eq!(result["frames"], 3);
    assert_eq!(
        (&result["width"], &result["height"]),
        (&10.into(), &8.into())
    );
}

#[test]
fn mixtures_play_worse_than_the_best_of_them() {
    let sandbox = Sandbox::new();
    let score = |policy: &str| {
        let words = format!("rollout pocket:enduro --policy {policy} --episodes 20 --quiet --json");
        let result = sandbox.brex(&words).expect(0).json();
        assert_eq!(result["policy"], policy);
        result["mean_score"].as_f64().unwrap()
    };
    let (good, mixed, random) = (score("good"), score("good:0.75+random"), score("random"));
    assert!(random < mixed && mixed < good, "{random} {mixed} {good}");
    let words = "rollout pocket:enduro --policy good:2+random";
    refused(sandbox.brex(words), "good:0.5+random");
}

#[test]
fn what_does_not_exist_is_named() {
    let sandbox = Sandbox::new();
    let chess = sandbox.brex("rollout pocket:chess --policy noop --out x");
    refused(chess, "pocket:breakout");
    let clever = sandbox.brex("rollout pocket:breakout --policy clever");
    refused(clever, "noop, random, good, hacker");
    refused(sandbox.brex("render none.episode -o a.gif"), "none.episode");
    assert!(sandbox.files().is_empty());
}

#[test]
fn a_film_is_made_by_ffmpeg_or_the_lack_of_it_is_named() {
    let sandbox = Sandbox::new();
    let play = "rollout pocket:enduro --policy noop --episodes 1 --out a --quiet";
    sandbox.brex(play).expect(0);
    let words = "render a/000000.episode -o film.mp4 --every 50 --scale 3";
    let missing = sandbox.command(words).env("PATH", "").output().unwrap();
    let missing = Ran::from(missing).expect(1);
    let part = "an .mp4 needs ffmpeg, which is not installed";
    assert!(missing.stderr.contains(part), "{}", missing.stderr);
    assert!(!sandbox.path("film.mp4").exists());
    let ffmpeg = std::process::Command::new("ffmpeg")
        .arg("-version")
        .output();
    if ffmpeg.is_err() {
        eprintln!("skipped: there is no ffmpeg");
        return;
    }
    sandbox.brex(words).expect(0);
    let film = std::fs::read(sandbox.path("film.mp4")).unwrap();
    assert_eq!(&film[4..8], b"ftyp", "the mark of an MP4 file");
}
