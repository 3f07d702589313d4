//! `brex quickstart --made-up`: features and preferences that it makes up, for those who have their
//! own. Each step is the very command that is shown.

use super::Arguments;
use crate::args::{self, Command, Common};
use crate::commands::{check, evaluate, sample};
use crate::example_problem::ExampleProblem;
use crate::exit::Outcome;
use crate::terminal::{Style, json_text, print};
use anyhow::{Result, bail};
use brex_store::{AtomicDir, write_atomic};
use clap::Parser;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::Path;

pub(super) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    write_problem(arguments, common.seed)?;
    let mut results = Map::new();
    let mut outcome = Outcome::Done;
    for words in steps(&arguments.out, common.seed) {
        if !common.json {
            let shown: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            print(&format!("$ {}\n", shown.join(" ")))?;
        }
        let (name, result, step) = run_step(&words, common)?;
        results.insert(name.to_owned(), result);
        if step == Outcome::NotTrusted {
            outcome = step;
        }
    }
    if common.json {
        print(&json_text(&results)?)?;
    } else {
        let out = arguments.out.display();
        print(&format!(
            "The policy \"waits\" lives long and does nothing. Its mean is high because it is long; \
             its bound is low.\nEverything is in {out}; look at {}\n",
            arguments.out.join("returns.svg").display()
        ))?;
    }
    Ok(outcome)
}

/// Writes the files that a user would bring.
fn write_problem(arguments: &Arguments, seed: u64) -> Result<()> {
    let problem = ExampleProblem::generate(seed);
    let out = AtomicDir::create(&arguments.out, arguments.force)?;
    let files = [
        ("features.csv", &problem.features_csv),
        ("preferences.csv", &problem.preferences_csv),
        ("policies.json", &problem.policies_json),
    ];
    for (name, text) in files {
        let path = out.path().join(name);
        write_atomic(path, false, |writer| writer.write_all(text.as_bytes()))?;
    }
    out.commit()?;
    Ok(())
}

/// The commands, word by word.
fn steps(out: &Path, seed: u64) -> [Vec<OsString>; 3] {
    let file = |name: &str| out.join(name).into_os_string();
    let words = |command: &str, flags: &[(&str, OsString)]| {
        let mut words: Vec<OsString> = vec!["brex".into(), command.into()];
        for (flag, value) in flags {
            words.push(flag.into());
            words.push(value.clone());
        }
        if command != "check" && seed != 0 {
            words.push("--seed".into());
            words.push(seed.to_string().into());
        }
        words
    };
    let features = ("--features", file("features.csv"));
    let preferences = ("--preferences", file("preferences.csv"));
    let policies = ("--policies", file("policies.json"));
    [
        words("check", &[features.clone(), preferences.clone()]),
        words(
            "sample",
            &[features, preferences, ("--out", file("posterior"))],
        ),
        words(
            "evaluate",
            &[
                ("--posterior", file("posterior")),
                policies,
                ("--plot", file("returns.svg")),
            ],
        ),
    ]
}

/// Runs one command: its name, its result as JSON, and how it turned out.
fn run_step(words: &[OsString], common: &Common) -> Result<(&'static str, Value, Outcome)> {
    let parsed = args::Arguments::try_parse_from(words)?;
    let show = |text: String| -> Result<()> {
        if !common.json {
            print(&format!("{text}\n"))?;
        }
        Ok(())
    };
    match &parsed.command {
        Command::Check(arguments) => {
            let checked = check::execute(arguments, common)?;
            show(checked.text(Style::for_stdout()))?;
            Ok(("check", checked.json()?, Outcome::Done))
        }
        Command::Sample(arguments) => {
            let report = sample::execute(arguments, common)?;
            show(report.text(Style::for_stdout()))?;
            let json = serde_json::to_value(report.json())?;
            Ok(("sample", json, report.outcome()))
        }
        Command::Evaluate(arguments) => {
            let judged = evaluate::execute(arguments, common)?;
            show(judged.text(Style::for_stdout()))?;
            judged.remark(common);
            Ok(("evaluate", judged.json()?, judged.outcome()))
        }
        other => bail!("not a step of quickstart: {other:?}"),
    }
}
