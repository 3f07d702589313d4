//! `--config FILE.toml`: any flag can be set in a file, and the command line wins.
//!
//! The file is turned into the words that one would have typed, and these are put in front of the
//! real ones; so a value from a file is parsed and checked exactly like one from the command line.
//!
//! ```toml
//! seed = 7                  # for every command that has this flag
//! [sample]                  # for one command
//! features = "phi.npy"
//! [reproduce.gridworld]     # for a command of a command
//! worlds = 20
//! ```
//!
//! `run.toml`, which `brex sample` leaves beside its draws, is such a file: its `[made-by]` is for
//! the reader and is passed over.

use crate::exit::BadInput;
use clap::Command;
use std::ffi::OsString;
use std::path::Path;
use toml::{Table, Value};

/// A table of a configuration file that only informs.
pub(crate) const MADE_BY: &str = "made-by";

/// The words to parse: the ones given, with those of the file that `--config` names before them.
pub(crate) fn expand(command: &Command, words: Vec<OsString>) -> Result<Vec<OsString>, BadInput> {
    let Some(path) = value_of(&words, "config") else {
        return Ok(words);
    };
    // Without a command there is nothing to set; clap will say so.
    let Some((at, chosen)) = chosen_command(command, &words) else {
        return Ok(words);
    };
    let path = Path::new(&path);
    let table = read(path)?;
    let added = words_for(command, &chosen, &table, &words)
        .map_err(|problem| BadInput::new(format!("{}: {problem}", path.display())))?;
    let mut all = words;
    all.splice(at + 1..at + 1, added);
    Ok(all)
}

/// Where the subcommand stands among the words, and its definition, below those that it belongs to.
fn chosen_command<'c>(
    command: &'c Command,
    words: &[OsString],
) -> Option<(usize, Vec<&'c Command>)> {
    let (mut last, mut path) = (0, Vec::new());
    for (at, word) in words.iter().enumerate().skip(1) {
        let owner = path.last().copied().unwrap_or(command);
        if let Some(found) = owner.find_subcommand(word) {
            path.push(found);
            last = at;
        }
    }
    (!path.is_empty()).then_some((last, path))
}

/// The value of `--name VALUE` or `--name=VALUE`; the last one counts.
fn value_of(words: &[OsString], name: &str) -> Option<OsString> {
    let flag = format!("--{name}");
    let start = format!("--{name}=");
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        if *word == *flag {
            found = words.get(at + 1).cloned();
        } else if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(&start)) {
            found = Some(value.into());
        }
    }
    found
}

fn is_set(words: &[OsString], name: &str) -> bool {
    let flag = format!("--{name}");
    let start = format!("--{name}=");
    words
        .iter()
        .any(|word| *word == *flag || word.to_string_lossy().starts_with(&start))
}

fn read(path: &Path) -> Result<Table, BadInput> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| BadInput::new(format!("{}: cannot read: {error}", path.display())))?;
    text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| {
            text[..span.start.min(text.len())].matches('\n').count() + 1
        });
        let problem = error.message();
        BadInput::new(format!("{}: line {line}: {problem}", path.display()))
    })
}

/// The words that the file stands for, without what the command line sets itself.
fn words_for(
    command: &Command,
    path: &[&Command],
    table: &Table,
    given: &[OsString],
) -> Result<Vec<OsString>, String> {
    let Some(chosen) = path.last() else {
        return Ok(Vec::new());
    };
    let mut added = Vec::new();
    let mut add = |key: &str, value: &Value| {
        if is_set(given, key) {
            return Ok(());
        }
        push(&mut added, key, value)
    };
    for (key, value) in table {
        match value {
            Value::Table(_) if key == MADE_BY => {}
            Value::Table(section) => {
                let Some(owner) = command.find_subcommand(key) else {
                    return Err(format!("[{key}]: there is no such command"));
                };
                add_section(owner, key, section, path, &mut add)?;
            }
            _ if has_flag(chosen, key) => {
                // A section says it more precisely.
                if !is_in_section(table, path, key) {
                    add(key, value)?;
                }
            }
            _ if command.get_subcommands().any(|other| has_flag(other, key)) => {}
            _ => return Err(format!("{key}: no command has such a setting")),
        }
    }
    Ok(added)
}

/// Adds what a section says, and those inside it, as far as it is for the chosen command.
fn add_section(
    owner: &Command,
    shown: &str,
    section: &Table,
    path: &[&Command],
    add: &mut impl FnMut(&str, &Value) -> Result<(), String>,
) -> Result<(), String> {
    let below = match path.split_first() {
        Some((first, below)) if first.get_name() == owner.get_name() => Some(below),
        _ => None,
    };
    for (key, value) in section {
        if let (Value::Table(inner), Some(nested)) = (value, owner.find_subcommand(key)) {
            let shown = format!("{shown}.{key}");
            add_section(nested, &shown, inner, below.unwrap_or_default(), add)?;
        } else if !has_flag(owner, key) {
            let command = shown.replace('.', " ");
            return Err(format!(
                "[{shown}] {key}: brex {command} has no such setting"
            ));
        } else if below.is_some() {
            add(key, value)?;
        }
    }
    Ok(())
}

/// Whether a section of the chosen command, or of one that it belongs to, sets a flag.
fn is_in_section(table: &Table, path: &[&Command], flag: &str) -> bool {
    let mut section = table;
    for command in path {
        match section.get(command.get_name()).and_then(Value::as_table) {
            Some(inner) if inner.contains_key(flag) => return true,
            Some(inner) => section = inner,
            None => return false,
        }
    }
    false
}

fn has_flag(command: &Command, name: &str) -> bool {
    let known = |argument: &clap::Arg| argument.get_long() == Some(name);
    name != "config" && command.get_arguments().any(known)
}

/// Adds `--key value`; a list sets the flag several times, a switch stands alone.
fn push(words: &mut Vec<OsString>, key: &str, value: &Value) -> Result<(), String> {
    let mut pair = |text: String| words.push(format!("--{key}={text}").into());
    match value {
        Value::String(text) => pair(text.clone()),
        Value::Integer(number) => pair(number.to_string()),
        Value::Float(number) => pair(number.to_string()),
        Value::Boolean(true) => words.push(format!("--{key}").into()),
        Value::Boolean(false) => {}
        Value::Array(items) => {
            for item in items {
                if matches!(item, Value::Array(_) | Value::Table(_) | Value::Boolean(_)) {
                    return Err(format!("{key}: expected a list of texts or numbers"));
                }
                push(words, key, item)?;
            }
        }
        Value::Datetime(_) | Value::Table(_) => {
            return Err(format!("{key}: expected a text, a number, true or false"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    fn command() -> Command {
        let flag = |name: &'static str| Arg::new(name).long(name);
        Command::new("brex")
            .subcommand(Command::new("sample").args(["seed", "beta", "json"].map(flag)))
            .subcommand(Command::new("check").args(["seed"].map(flag)))
            .subcommand(
                Command::new("reproduce")
                    .subcommand(Command::new("gridworld").args(["seed", "worlds"].map(flag))),
            )
    }

    fn words(toml: &str, given: &str) -> Result<Vec<String>, String> {
        let given: Vec<OsString> = given.split(' ').map(Into::into).collect();
        let command = command();
        let (_, chosen) = chosen_command(&command, &given).unwrap();
        let added = words_for(&command, &chosen, &toml.parse().unwrap(), &given)?;
        Ok(added
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect())
    }

    #[test]
    fn values_become_words() {
        let found = words("seed = 3\nbeta = 0.5\njson = true", "brex sample");
        assert_eq!(found.unwrap(), ["--beta=0.5", "--json", "--seed=3"]);
        assert_eq!(
            words("seed = [1, 2]", "brex check").unwrap(),
            ["--seed=1", "--seed=2"]
        );
    }

    #[test]
    fn the_command_line_wins_and_a_section_beats_the_top() {
        assert!(
            words("seed = 3", "brex sample --seed 4")
                .unwrap()
                .is_empty()
        );
        assert!(
            words("seed = 3", "brex sample --seed=4")
                .unwrap()
                .is_empty()
        );
        let both = "seed = 3\n[sample]\nseed = 5";
        assert_eq!(words(both, "brex sample").unwrap(), ["--seed=5"]);
        assert_eq!(words(both, "brex check").unwrap(), ["--seed=3"]);
    }

    #[test]
    fn what_belongs_to_another_command_is_passed_over_and_the_unknown_is_not() {
        assert!(words("beta = 2", "brex check").unwrap().is_empty());
        assert!(
            words("[sample]\nbeta = 2", "brex check")
                .unwrap()
                .is_empty()
        );
        assert!(
            words("[made-by]\nbrex = \"0.1.0\"", "brex check")
                .unwrap()
                .is_empty()
        );
        assert!(
            words("sede = 2", "brex check")
                .unwrap_err()
                .contains("sede")
        );
        assert!(
            words("[sample]\nsede = 2", "brex check")
                .unwrap_err()
                .contains("[sample] sede")
        );
        assert!(
            words("[simple]\nseed = 2", "brex check")
                .unwrap_err()
                .contains("[simple]")
        );
        assert!(words("seed = { a = 1 }", "brex check").is_err());
    }

    #[test]
    fn a_command_of_a_command_has_a_section_inside_a_section() {
        let file = "seed = 3\n[reproduce.gridworld]\nworlds = 5\nseed = 4";
        let found = words(file, "brex reproduce gridworld").unwrap();
        assert_eq!(found, ["--seed=4", "--worlds=5"]);
        assert_eq!(words(file, "brex check").unwrap(), ["--seed=3"]);
        let unknown = words("[reproduce.gridworld]\nworld = 5", "brex check").unwrap_err();
        assert!(unknown.contains("[reproduce.gridworld] world: brex reproduce gridworld has no"));
        let given: Vec<OsString> = ["brex", "reproduce", "--seed", "1", "gridworld"]
            .map(Into::into)
            .into();
        let command = command();
        let (at, path) = chosen_command(&command, &given).unwrap();
        assert_eq!((at, path.len()), (4, 2));
    }

    #[test]
    fn the_last_value_of_a_flag_counts() {
        let words: Vec<OsString> = ["brex", "--config", "a", "sample", "--config=b"]
            .map(Into::into)
            .into();
        assert_eq!(value_of(&words, "config"), Some("b".into()));
        assert_eq!(value_of(&words, "seed"), None);
    }
}
