//! The process in which a game runs.
//!
//! ale-py is under the GPL and has no C interface, so it is never linked: it runs in a Python of its
//! own, and brex talks to it over pipes. A watchdog thread kills a worker that does not answer in
//! time, which ends the read that waits for it; so nothing hangs, on any system, without waiting in
//! small pieces. Dropping a worker kills its process and reaps it.

use super::error::AtariError;
use super::games::Game;
use super::protocol::{Greeting, Hello, Outcome, Request, Unreadable, read_frame, read_greeting};
use super::python::AtariPython;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(super) const PROGRAM: &str = include_str!("worker.py");

/// A worker has this long to load Python and its packages, from a slow disk too.
const START_TIMEOUT: Duration = Duration::from_secs(180);

/// Of what a worker writes on standard error, the last bytes are shown.
const SHOWN_STDERR: u64 = 600;

/// No deadline.
const NEVER: u64 = u64::MAX;

/// A process that runs worker.py.
pub(super) struct Worker {
    /// What messages call it.
    game: String,
    python: AtariPython,
    requests: ChildStdin,
    answers: ChildStdout,
    /// What it writes on standard error.
    log: File,
    timeout: Duration,
    guarded: Arc<Guarded>,
    watchdog: Option<JoinHandle<()>>,
}

/// What the watchdog shares with the worker's handle.
struct Guarded {
    child: Mutex<Child>,
    begun: Instant,
    /// Milliseconds after `begun` at which the worker is killed.
    deadline: AtomicU64,
    timed_out: AtomicBool,
    finished: AtomicBool,
}

impl Guarded {
    /// Sets the time at which the worker is killed.
    fn arm(&self, timeout: Duration) {
        let at = self.begun.elapsed() + timeout;
        let at = u64::try_from(at.as_millis()).unwrap_or(NEVER);
        self.deadline.store(at, Ordering::SeqCst);
    }

    fn disarm(&self) {
        self.deadline.store(NEVER, Ordering::SeqCst);
    }

    /// Ends the process if it runs, and says how it ended. No zombie is left.
    fn end(&self) -> String {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is ending by itself should say how: its pipe closes a moment before.
        for _ in 0..50 {
            match child.try_wait() {
                Ok(Some(status)) => return status.to_string(),
                Ok(None) if self.finished.load(Ordering::SeqCst) => break,
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Err(_) => break,
            }
        }
        let _ = child.kill();
        match child.wait() {
            Ok(_) => "its pipe was closed".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Kills the process whenever the deadline has passed.
    fn watch(&self, tick: Duration) {
        while !self.finished.load(Ordering::SeqCst) {
            std::thread::park_timeout(tick);
            let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(NEVER);
            if now > self.deadline.load(Ordering::SeqCst) {
                self.timed_out.store(true, Ordering::SeqCst);
                let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = child.kill();
                return;
            }
        }
    }
}

impl Worker {
    /// Starts a game.
    pub(super) fn play(
        game: &Game,
        python: &AtariPython,
        timeout: Duration,
    ) -> Result<Self, AtariError> {
        let (worker, hello) = Self::start(game.name, &["play", game.rom], python, timeout)?;
        if !game.has_actions(hello.words.iter().map(String::as_str)) {
            return Err(AtariError::OtherActions {
                game: game.name.to_owned(),
                version: hello.ale,
                found: hello.words.join(" "),
                remedy: python.remedy(),
            });
        }
        Ok(worker)
    }

    /// Asks what is installed; the words of the answer are the ROMs that are missing.
    pub(super) fn check(python: &AtariPython, roms: &[&str]) -> Result<Hello, AtariError> {
        let words = [&["check"], roms].concat();
        let (_, hello) = Self::start("check", &words, python, START_TIMEOUT)?;
        Ok(hello)
    }

    fn start(
        game: &str,
        words: &[&str],
        python: &AtariPython,
        timeout: Duration,
    ) -> Result<(Self, Hello), AtariError> {
        let failed = |error: std::io::Error| python.not_started(error.to_string());
        let log = tempfile::tempfile().map_err(failed)?;
        let mut command = Command::new(&python.interpreter);
        command
            .args(["-u", "-c", PROGRAM])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.try_clone().map_err(failed)?);
        // Ctrl-C on a terminal goes to the whole group of processes; it is for brex alone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => AtariError::NoPython {
                python: python.shown(),
                remedy: python.remedy(),
            },
            _ => failed(error),
        })?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(python.not_started("it has no pipes".to_owned()));
        };
        let guarded = Arc::new(Guarded {
            child: Mutex::new(child),
            begun: Instant::now(),
            deadline: AtomicU64::new(NEVER),
            timed_out: AtomicBool::new(false),
            finished: AtomicBool::new(false),
        });
        let tick = (timeout / 10).clamp(Duration::from_millis(10), Duration::from_secs(1));
        let shared = Arc::clone(&guarded);
        let watchdog = std::thread::Builder::new()
            .name("atari watchdog".to_owned())
            .spawn(move || shared.watch(tick));
        let mut worker = Self {
            game: game.to_owned(),
            python: python.clone(),
            requests,
            answers,
            log,
            timeout: START_TIMEOUT,
            guarded,
            watchdog: None,
        };
        worker.watchdog = Some(watchdog.map_err(failed)?);
        let hello = worker.greet(words)?;
        worker.timeout = timeout;
        Ok((worker, hello))
    }

    fn greet(&mut self, words: &[&str]) -> Result<Hello, AtariError> {
        self.guarded.arm(self.timeout);
        let greeting = read_greeting(&mut self.answers);
        self.guarded.disarm();
        let (what, why) = match greeting {
            Ok(Greeting::Hello(hello)) => return Ok(hello),
            Ok(Greeting::Error { what, why }) => (what, why),
            Err(unreadable) => {
                let error = self.explain(unreadable);
                return Err(match error {
                    AtariError::Died { status, stderr, .. } if stderr.is_empty() => {
                        self.python.not_started(status)
                    }
                    AtariError::Died { status, stderr, .. } => {
                        self.python.not_started(format!("{status}: {stderr}"))
                    }
                    other => other,
                });
            }
        };
        let python = self.python.shown();
        let remedy = self.python.remedy();
        Err(match what.as_str() {
            "python" => AtariError::OldPython {
                python,
                version: why,
                remedy,
            },
            "rom" => AtariError::NoRom {
                python,
                rom: words.last().copied().unwrap_or_default().to_owned(),
                why,
                remedy,
            },
            _ => AtariError::NoPackage {
                python,
                package: what,
                why,
                remedy,
            },
        })
    }

    /// Asks, and waits for what happened and the screen.
    pub(super) fn ask(
        &mut self,
        request: Request,
        screen: &mut [u8],
    ) -> Result<Outcome, AtariError> {
        self.guarded.arm(self.timeout);
        let sent = self.requests.write_all(&request.bytes());
        let answer = match sent {
            Ok(()) => read_frame(&mut self.answers, screen),
            Err(_) => Err(Unreadable::Pipe),
        };
        self.guarded.disarm();
        answer.map_err(|unreadable| self.explain(unreadable))
    }

    /// Ends the process, and says what went wrong.
    fn explain(&mut self, unreadable: Unreadable) -> AtariError {
        let game = self.game.clone();
        if let Unreadable::Garbled { found, expected } = unreadable {
            return AtariError::Garbled {
                game,
                python: self.python.shown(),
                found,
                expected,
                remedy: self.python.remedy(),
            };
        }
        let status = self.guarded.end();
        let stderr = self.stderr();
        if self.guarded.timed_out.load(Ordering::SeqCst) {
            let waited = self.timeout;
            return AtariError::Hanging {
                game,
                waited,
                stderr,
            };
        }
        AtariError::Died {
            game,
            status,
            stderr,
        }
    }

    /// The end of what the worker wrote on standard error, on one line.
    fn stderr(&mut self) -> String {
        let mut text = Vec::new();
        let length = self.log.seek(SeekFrom::End(0)).unwrap_or(0);
        let start = SeekFrom::Start(length.saturating_sub(SHOWN_STDERR));
        if self.log.seek(start).is_ok() {
            // What cannot be read cannot be shown.
            let _ = self.log.read_to_end(&mut text);
        }
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        lines[lines.len().saturating_sub(4)..].join(" | ")
    }

    /// The process, for tests that harm it.
    #[cfg(test)]
    pub(super) fn id(&self) -> u32 {
        let child = self.guarded.child.lock();
        child.unwrap_or_else(PoisonError::into_inner).id()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.guarded.finished.store(true, Ordering::SeqCst);
        let _ = self.guarded.end();
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.thread().unpark();
            // It only waits and kills; there is nothing to hear from it.
            let _ = watchdog.join();
        }
    }
}
