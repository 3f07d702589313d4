//! `brex doctor`: what brex needs from outside, what is there, and what mends the rest.

use crate::args::Common;
use crate::exit::Outcome;
use crate::terminal::{Style, json_text, print, printable, say};
use anyhow::Result;
use brex_envs::{AtariPackages, AtariReport, ffmpeg_version};
use serde_json::{Value, json};

/// Say what brex needs from outside and whether it is there
///
/// Everything but Atari and .mp4 films works without anything else. The Atari games need Python and
/// ale-py: from the interpreter that BREX_PYTHON names, or else from an environment of brex's own
/// in the user's data folder, which is made when a game is first played, or by --fix.
///
/// Exit code 0 if the Atari games can be played, 3 if something for them is missing. ffmpeg is
/// optional.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Make brex's own Python environment, or mend it
    #[arg(long)]
    fix: bool,
}

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// Not there, and not needed for what is there.
    Optional,
    Missing,
}

/// One line of the report.
struct Line {
    name: &'static str,
    state: State,
    detail: String,
    /// The command that mends it.
    mend: Option<String>,
}

const FIX: &str = "brex doctor --fix";

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let mut report = AtariReport::look();
    if arguments.fix && report.packages.is_err() {
        let mut tell = |text: &str| {
            if !common.quiet {
                say(text);
            }
        };
        report.mend(&mut tell)?;
        report = AtariReport::look();
    }
    let lines = [
        system(&report),
        environment(&report),
        packages(&report),
        roms(&report),
        ffmpeg(),
    ];
    let ready = lines.iter().all(|line| line.state != State::Missing);
    if common.json {
        let lines: Vec<Value> = lines.iter().map(as_json).collect();
        print(&json_text(&json!({ "ready": ready, "checks": lines }))?)?;
    } else {
        let style = Style::for_stdout();
        let mut text: String = lines.iter().map(|line| as_text(line, style)).collect();
        text.push_str(if ready {
            "\nthe Atari games can be played\n"
        } else {
            "\nthe Atari games cannot be played; everything else can be used\n"
        });
        print(&text)?;
    }
    Ok(if ready {
        Outcome::Done
    } else {
        Outcome::NotTrusted
    })
}

fn line(name: &'static str, state: State, detail: impl Into<String>, mend: Option<&str>) -> Line {
    Line {
        name,
        state,
        detail: detail.into(),
        mend: mend.map(str::to_owned),
    }
}

/// The Python that environments are made with. Where the games have their own, it is not needed.
fn system(report: &AtariReport) -> Line {
    match &report.system_version {
        Ok(version) => {
            let detail = format!("{} is Python {version}", report.system);
            line("python", State::Ok, detail, None)
        }
        Err(problem) if report.packages.is_ok() => line("python", State::Optional, problem, None),
        Err(problem) => line("python", State::Missing, problem, None),
    }
}

fn environment(report: &AtariReport) -> Line {
    let name = "environment";
    match &report.python {
        Some(python) => {
            let whose = if python.foreign {
                "named by BREX_PYTHON"
            } else {
                "brex's own"
            };
            let detail = format!("{}, {whose}", python.interpreter.display());
            line(name, State::Ok, detail, None)
        }
        None => {
            let detail = match &report.own_folder {
                Some(folder) => format!("{} is not made yet", folder.display()),
                None => "there is no folder for the user's data; set HOME".to_owned(),
            };
            line(name, State::Missing, detail, Some(FIX))
        }
    }
}

fn packages(report: &AtariReport) -> Line {
    let name = "ale-py";
    match &report.packages {
        Ok(found) => {
            let AtariPackages { ale, numpy, .. } = found;
            let mut detail = format!("{ale}, with numpy {numpy} and Python {}", found.python);
            if let Some(pinned) = &found.pinned_ale {
                detail.push_str(&format!(
                    "; episodes recorded with {pinned} may not come out the same"
                ));
            }
            line(name, State::Ok, detail, None)
        }
        Err(problem) => {
            let foreign = report.python.as_ref().is_some_and(|python| python.foreign);
            // Somebody else's interpreter is not brex's to change; the problem says what to do.
            let mend = (!foreign).then_some(FIX);
            line(name, State::Missing, problem, mend)
        }
    }
}

fn roms(report: &AtariReport) -> Line {
    let name = "roms";
    match &report.packages {
        Ok(found) if found.missing_roms.is_empty() => {
            line(name, State::Ok, format!("all {} games", found.roms), None)
        }
        Ok(found) => {
            let detail = format!("not there: {}", found.missing_roms.join(" "));
            let mend = "pip install --force-reinstall ale-py";
            line(name, State::Missing, detail, Some(mend))
        }
        Err(_) => line(name, State::Missing, "they come with ale-py", None),
    }
}

fn ffmpeg() -> Line {
    let name = "ffmpeg";
    match ffmpeg_version() {
        Some(version) => line(name, State::Ok, version, None),
        None => {
            let detail = "not installed; only films as .mp4 need it";
            let mend = "apt-get install ffmpeg";
            line(name, State::Optional, detail, Some(mend))
        }
    }
}

fn as_json(line: &Line) -> Value {
    let state = match line.state {
        State::Ok => "ok",
        State::Optional => "optional",
        State::Missing => "missing",
    };
    json!({ "name": line.name, "state": state, "detail": line.detail, "mend": line.mend })
}

fn as_text(line: &Line, style: Style) -> String {
    // Padded before it is coloured: colour has no width.
    let state = match line.state {
        State::Ok => style.green("ok      "),
        State::Optional => style.dim("optional"),
        State::Missing => style.red("missing "),
    };
    let mut text = format!("{state}  {:<11}  {}\n", line.name, printable(&line.detail));
    if let Some(mend) = &line.mend {
        text.push_str(&format!("{:23}mend it with `{mend}`\n", ""));
    }
    text
}
