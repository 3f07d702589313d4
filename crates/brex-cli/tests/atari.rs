//! Atari games on the real binary. What needs the emulator needs `BREX_PYTHON`, which `cargo xtask
//! test` provides; without it such a test says so and does nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail")]
#![cfg(unix)]

mod common;

use common::{Ran, Sandbox, has_emulator};
use std::path::Path;
use std::process::Command;

/// A command that finds no Python and no environment of brex.
fn without_python(sandbox: &Sandbox, words: &str) -> Command {
    let mut command = sandbox.command(words);
    command
        .env_remove("BREX_PYTHON")
        .env("PYTHON", "no-such-python")
        .env("XDG_DATA_HOME", sandbox.path("data"));
    command
}

fn run(mut command: Command) -> Ran {
    command.output().unwrap().into()
}

#[test]
fn games_are_listed_without_python() {
    let sandbox = Sandbox::new();
    let list = run(without_python(&sandbox, "envs --json"))
        .expect(0)
        .json();
    let atari = list.as_array().unwrap().iter();
    let atari = atari.filter(|env| env["name"].as_str().unwrap().starts_with("atari:"));
    assert_eq!(atari.clone().count(), 9);
    let seaquest = atari.clone().find(|env| env["name"] == "atari:seaquest");
    let seaquest = seaquest.unwrap();
    assert_eq!(seaquest["masked_rows"].to_string(), "[[0,12],[68,84]]");
    assert_eq!(seaquest["actions"].as_array().unwrap().len(), 18);
    assert!(!sandbox.path("data").exists());
}

#[test]
fn what_is_missing_is_said_before_any_work() {
    let sandbox = Sandbox::new();
    let good = "rollout atari:breakout --policy good --out x";
    let ran = run(without_python(&sandbox, good)).expect(2);
    assert!(
        ran.stderr.contains("there are noop, random"),
        "{}",
        ran.stderr
    );
    let play = "rollout atari:breakout --policy random --out x";
    let ran = run(without_python(&sandbox, play)).expect(1);
    assert!(
        ran.stderr.contains("no-such-python is missing"),
        "{}",
        ran.stderr
    );
    let mut command = without_python(&sandbox, play);
    command.env("BREX_PYTHON", "/no/such/python");
    let ran = run(command).expect(1);
    assert!(ran.stderr.contains("/no/such/python"), "{}", ran.stderr);
    assert!(ran.stderr.contains("brex doctor --fix"), "{}", ran.stderr);
    assert!(!sandbox.path("x").exists());
}

#[test]
fn episodes_are_recorded_and_rendered_in_processes_of_their_own() {
    if !has_emulator() {
        return;
    }
    let sandbox = Sandbox::new();
    for (out, threads) in [("one", 1), ("two", 2)] {
        let play = "rollout atari:breakout --policy random --episodes 3 --seed 3 --quiet --json";
        let words = format!("{play} --out {out} --threads {threads}");
        let result = sandbox.brex(&words).expect(0).json();
        assert!(result["mean_length"].as_f64().unwrap() > 50.0);
    }
    let folder = |name| common::files_below(&sandbox.path(name));
    assert_eq!(folder("one"), folder("two"));
    let episode = "one/000001.episode";
    let words = format!("render {episode} -o sheet.png --scale 1");
    sandbox.brex(&words).expect(0);
    assert!(sandbox.path("sheet.png").exists());
    let changed = sandbox
        .read(episode)
        .replacen("\"seed\": ", "\"seed\": 1", 1);
    sandbox.write("other.episode", changed);
    let ran = sandbox.brex("render other.episode -o x.gif").expect(2);
    assert!(ran.stderr.contains("episode"), "{}", ran.stderr);
}

#[test]
fn doctor_says_what_is_missing() {
    let sandbox = Sandbox::new();
    let ran = run(without_python(&sandbox, "doctor --json")).expect(3);
    let report = ran.json();
    assert_eq!(report["ready"], false);
    let checks = report["checks"].as_array().unwrap();
    let check = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
    assert_eq!(check("python")["state"], "missing");
    assert_eq!(check("environment")["state"], "missing");
    assert_eq!(check("environment")["mend"], "brex doctor --fix");
    let text = run(without_python(&sandbox, "doctor")).expect(3).stdout;
    assert!(text.contains("apt install python3"), "{text}");
    assert!(!sandbox.path("data").exists());
    let ran = run(without_python(&sandbox, "doctor --fix")).expect(1);
    assert!(
        ran.stderr.contains("no-such-python is missing"),
        "{}",
        ran.stderr
    );
}

#[test]
fn doctor_knows_an_interpreter_that_works() {
    if !has_emulator() {
        return;
    }
    let sandbox = Sandbox::new();
    let report = sandbox.brex("doctor --json").expect(0).json();
    assert_eq!(report["ready"], true);
    let text = sandbox.brex("doctor").expect(0).stdout;
    for part in ["named by BREX_PYTHON", "all 9 games", "can be played"] {
        assert!(text.contains(part), "{text}");
    }
}

/// Installs from the package index, as a first use does; two at once.
#[test]
fn doctor_makes_an_environment_and_two_at_once_do_not_disturb_each_other() {
    if !has_emulator() {
        return;
    }
    let sandbox = Sandbox::new();
    let command = |words: &str| {
        let mut command = without_python(&sandbox, words);
        command.env_remove("PYTHON");
        command
    };
    let data = sandbox.path("data/brex/python");
    // What an interrupted installation leaves: something, and no stamp.
    std::fs::create_dir_all(data.join("lib")).unwrap();
    run(command("doctor")).expect(3);
    let ran: Vec<Ran> = std::thread::scope(|scope| {
        let start = || scope.spawn(|| run(command("doctor --fix")));
        let both = [start(), start()];
        both.map(|one| one.join().unwrap()).into()
    });
    for ran in ran {
        let ran = ran.expect(0);
        assert!(ran.stdout.contains("brex's own"), "{}", ran.stdout);
    }
    let play = "rollout atari:pong --policy noop --episodes 1 --json";
    let ran = run(command(play)).expect(0);
    assert_eq!(ran.json()["mean_score"], -21.0);
    assert!(!ran.stderr.contains("making"), "{}", ran.stderr);
    // Damage is seen and mended.
    let library = std::fs::read_dir(data.join("lib")).unwrap().next();
    let packages = library.unwrap().unwrap().path().join("site-packages");
    std::fs::remove_dir_all(packages.join("ale_py")).unwrap();
    let ran = run(command("doctor")).expect(3);
    assert!(ran.stdout.contains("ale_py"), "{}", ran.stdout);
    run(command("doctor --fix")).expect(0);
}

/// The demonstrations that come with the project, played again by the emulator.
#[test]
fn the_demonstrations_of_breakout_replay_exactly() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/atari-breakout");
    let text = std::fs::read_to_string(data.join("demonstrations.json")).unwrap();
    let table: serde_json::Value = serde_json::from_str(&text).unwrap();
    let listed = table["demonstrations"].as_array().unwrap();
    assert_eq!(
        (&table["environment"], listed.len()),
        (&"atari:breakout".into(), 12)
    );
    for row in listed {
        let path = data
            .join("episodes")
            .join(format!("{}.episode", row["id"].as_str().unwrap()));
        let episode = brex_store::read_episode(&path).unwrap();
        assert_eq!(episode.score, row["score"].as_f64().unwrap());
        assert_eq!(
            episode.actions.len() as u64,
            row["length"].as_u64().unwrap()
        );
        assert!(std::fs::metadata(&path).unwrap().len() < 10_000);
    }
    if !has_emulator() {
        return;
    }
    // Replaying checks every frame and reward against the checksum of the recording.
    let sandbox = Sandbox::new();
    let (episodes, preferences) = (data.join("episodes"), data.join("preferences.jsonl"));
    let words = format!(
        "pretrain --episodes {} --preferences {} --out run --json --quiet --updates 1 --redrawn 2",
        episodes.display(),
        preferences.display()
    );
    let ran = sandbox.brex(&format!("{words} --snippets 10-10 --held-out 0"));
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    assert_eq!(ran.json()["environment"], "atari:breakout");
}

/// Nobody has to know where the project keeps them.
#[test]
fn a_study_of_breakout_begins_with_the_demonstrations_that_come_with_brex() {
    if !has_emulator() {
        return;
    }
    let sandbox = Sandbox::new();
    let words = "reproduce games --games atari:breakout --tables policy-evaluation --quiet --out s";
    let pretraining = sandbox.path("s/runs/atari-breakout-0/pretraining");
    common::killed_when(sandbox.command(words), || pretraining.exists());
    let study: serde_json::Value = serde_json::from_str(&sandbox.read("s/study.json")).unwrap();
    assert_eq!(study["seeds"], 1);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/atari-breakout");
    for file in ["episodes/demo-12.episode", "preferences.jsonl"] {
        let here = sandbox.path("s/runs/atari-breakout-0").join(file);
        assert!(std::fs::read(here).unwrap() == std::fs::read(own.join(file)).unwrap());
    }
}
