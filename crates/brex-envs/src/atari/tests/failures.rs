//! What happens when the worker or its Python fails, done for real.
#![cfg(unix)]

use super::{game, interpreter};
use crate::atari::error::AtariError;
use crate::atari::games::{PIXELS, STACK};
use crate::atari::protocol::read_greeting;
use crate::atari::python::AtariPython;
use crate::atari::worker::PROGRAM;
use crate::environment::{EnvError, Environment};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENT: Duration = Duration::from_secs(60);

fn signal(signal: &str, id: u32) -> bool {
    let mut command = Command::new("kill");
    command.arg(signal).arg(id.to_string());
    command.stderr(Stdio::null()).status().unwrap().success()
}

/// A process that has ended but was not waited for still takes signals.
fn is_gone(id: u32) -> bool {
    !signal("-0", id)
}

fn atari_error(error: EnvError) -> AtariError {
    match error {
        EnvError::Atari(error) => error,
        other => panic!("{other}"),
    }
}

/// What a reset fails with, if an interpreter is used.
fn refusal(python: impl Into<PathBuf>) -> AtariError {
    let mut env = game("atari:breakout", AtariPython::named(python), PATIENT);
    let error = env.reset(0, &mut [0; STACK * PIXELS]).unwrap_err();
    assert!(env.worker_id().is_none());
    atari_error(error)
}

/// An executable script.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_killed_worker_is_named_and_the_next_reset_starts_another() {
    let Some(python) = interpreter() else { return };
    let mut env = game("atari:pong", python, PATIENT);
    let mut seen = [0; STACK * PIXELS];
    env.reset(0, &mut seen).unwrap();
    env.step(1, &mut seen).unwrap();
    let first = env.worker_id().unwrap();
    assert!(signal("-KILL", first));
    let error = atari_error(env.step(1, &mut seen).unwrap_err());
    assert!(matches!(error, AtariError::Died { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("atari:pong"), "{message}");
    assert!(message.contains("signal: 9"), "{message}");
    assert!(is_gone(first), "a zombie");
    let lost = env.step(1, &mut seen).unwrap_err();
    assert!(matches!(lost, EnvError::NoEpisode { .. }), "{lost}");
    env.reset(0, &mut seen).unwrap();
    env.step(1, &mut seen).unwrap();
    let second = env.worker_id().unwrap();
    drop(env);
    assert!(is_gone(second), "a worker survives");
}

#[test]
fn killing_a_worker_while_it_is_asked_hangs_nothing() {
    let Some(python) = interpreter() else { return };
    let mut env = game("atari:breakout", python, PATIENT);
    let mut seen = [0; STACK * PIXELS];
    env.reset(0, &mut seen).unwrap();
    let id = env.worker_id().unwrap();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        signal("-KILL", id)
    });
    let error = loop {
        match env.step(0, &mut seen) {
            Ok(step) if step.terminated => panic!("it should have lived on"),
            Ok(_) => {}
            Err(error) => break atari_error(error),
        }
    };
    assert!(killer.join().unwrap());
    assert!(matches!(error, AtariError::Died { .. }), "{error}");
    assert!(is_gone(id));
}

#[test]
fn a_hanging_worker_is_killed() {
    let Some(python) = interpreter() else { return };
    let mut env = game("atari:pong", python, Duration::from_millis(700));
    let mut seen = [0; STACK * PIXELS];
    env.reset(0, &mut seen).unwrap();
    let id = env.worker_id().unwrap();
    assert!(signal("-STOP", id));
    let start = Instant::now();
    let error = atari_error(env.step(1, &mut seen).unwrap_err());
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(matches!(error, AtariError::Hanging { .. }), "{error}");
    assert!(error.to_string().contains("did not answer for 0.7 s"));
    assert!(is_gone(id));
    // One that stands still cannot stop its handle from being dropped either.
    env.reset(0, &mut seen).unwrap();
    let id = env.worker_id().unwrap();
    assert!(signal("-STOP", id));
    drop(env);
    assert!(is_gone(id));
}

#[test]
fn a_worker_ends_by_itself_when_nobody_asks_any_more() {
    let Some(python) = interpreter() else { return };
    let mut child = Command::new(&python.interpreter)
        .args(["-u", "-c", PROGRAM, "play", "pong"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    read_greeting(child.stdout.as_mut().unwrap()).unwrap();
    drop(child.stdin.take());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < PATIENT, "it lives on");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "{status}");
}

#[test]
fn a_missing_interpreter_is_named_with_the_remedy() {
    let error = refusal("/no/such/python");
    assert!(matches!(error, AtariError::NoPython { .. }), "{error}");
    let message = error.to_string();
    for part in ["/no/such/python", "brex doctor --fix", "BREX_PYTHON"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn missing_packages_are_named_with_the_remedy() {
    let Some(python) = interpreter() else { return };
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().join("empty");
    let mut make = Command::new(&python.interpreter);
    make.args(["-m", "venv", "--without-pip"]).arg(&empty);
    assert!(make.status().unwrap().success());
    let bare = empty.join("bin/python");
    let error = refusal(&bare);
    let AtariError::NoPackage { package, why, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(package, "numpy");
    assert!(why.contains("No module named 'numpy'"), "{why}");
    assert!(error.to_string().contains("pip install ale-py=="));
    // With numpy, but without ale-py.
    let mut find = Command::new(&python.interpreter);
    let code = "import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))";
    let packages = find.args(["-c", code]).output().unwrap().stdout;
    let packages = PathBuf::from(String::from_utf8(packages).unwrap().trim());
    let library = std::fs::read_dir(empty.join("lib")).unwrap().next();
    let library = library.unwrap().unwrap().path().join("site-packages");
    for name in ["numpy", "numpy.libs"] {
        std::os::unix::fs::symlink(packages.join(name), library.join(name)).unwrap();
    }
    let error = refusal(&bare);
    let AtariError::NoPackage { package, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(package, "ale-py");
}

#[test]
fn a_missing_rom_and_an_old_python_are_told_apart() {
    let Some(python) = interpreter() else { return };
    let home = tempfile::tempdir().unwrap();
    let real = python.interpreter.display();
    let line = format!("ALE_ROMS_DIR=/ exec {real} \"$@\"");
    let error = refusal(script(home.path(), "no-roms", &line));
    assert!(matches!(error, AtariError::NoRom { .. }), "{error}");
    assert!(error.to_string().contains("breakout"), "{error}");
    let line = format!(
        "exec {real} -c 'import sys; sys.version_info = (3, 8, 1); exec(sys.argv.pop(1))' \"$3\" $4 $5"
    );
    let error = refusal(script(home.path(), "old", &line));
    let AtariError::OldPython { version, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(version, "3.8.1");
}

#[test]
fn what_is_not_python_is_told() {
    let home = tempfile::tempdir().unwrap();
    let error = refusal(script(
        home.path(),
        "chatty",
        "echo Good morning, how are you",
    ));
    assert!(matches!(error, AtariError::Garbled { .. }), "{error}");
    assert!(error.to_string().contains("Good mor"), "{error}");
    let error = refusal(script(home.path(), "sulky", "echo go away >&2; exit 7"));
    assert!(matches!(error, AtariError::NoStart { .. }), "{error}");
    assert!(
        error.to_string().contains("exit status: 7: go away"),
        "{error}"
    );
    let plain = home.path().join("plain");
    std::fs::write(&plain, "not a program").unwrap();
    let error = refusal(plain);
    assert!(matches!(error, AtariError::NoStart { .. }), "{error}");
}

#[test]
fn garbage_in_the_middle_of_an_episode_is_told() {
    let Some(python) = interpreter() else { return };
    let home = tempfile::tempdir().unwrap();
    // The real worker's greeting, and then somebody else's words.
    let line = format!(
        "{} \"$@\" < /dev/null; echo Segmentation fault; exec sleep 60",
        python.interpreter.display()
    );
    let broken = AtariPython::named(script(home.path(), "broken", &line));
    let mut env = game("atari:pong", broken, PATIENT);
    let error = atari_error(env.reset(0, &mut [0; STACK * PIXELS]).unwrap_err());
    let AtariError::Garbled { expected, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*expected, "a frame");
}
