//! `study.json`: everything that a study's results depend on. Units of different configurations
//! never come together.

use super::read_error;
use crate::exit::BadInput;
use anyhow::Result;
use brex_store::StoreError;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// The file's name.
pub(super) const CONFIGURATION: &str = "study.json";

/// The configuration in a study's folder.
pub(crate) fn read_configuration(directory: &Path) -> Result<Map<String, Value>> {
    let path = directory.join(CONFIGURATION);
    if !path.exists() {
        let shown = directory.display();
        let problem = format!("{shown}: not a study; there is no {CONFIGURATION} in it");
        return Err(BadInput::new(problem).into());
    }
    let text = fs::read_to_string(&path).map_err(read_error(&path))?;
    parsed(&text).map_err(|error| {
        let problem = error.to_string();
        let format = "JSON";
        StoreError::Malformed {
            path,
            format,
            problem,
        }
        .into()
    })
}

/// A configuration as it is read. What is compared has always been read, so that both sides
/// have gone through the same rounding.
pub(super) fn parsed(text: &str) -> serde_json::Result<Map<String, Value>> {
    serde_json::from_str(text)
}

/// Refuses a configuration that is not the one wanted, and names what differs.
pub(crate) fn same_configuration(
    directory: &Path,
    found: &Map<String, Value>,
    wanted: &Map<String, Value>,
    advice: &str,
) -> Result<(), BadInput> {
    let differences = differences("", found, wanted);
    if differences.is_empty() {
        return Ok(());
    }
    let (shown, list) = (directory.display(), differences.join(", "));
    Err(BadInput::new(format!(
        "{shown}: holds a study with another configuration: {list}; {advice}"
    )))
}

fn differences(
    above: &str,
    found: &Map<String, Value>,
    wanted: &Map<String, Value>,
) -> Vec<String> {
    let mut names: Vec<&String> = found.keys().chain(wanted.keys()).collect();
    names.sort();
    names.dedup();
    let mut list = Vec::new();
    for name in names {
        match (found.get(name), wanted.get(name)) {
            (a, b) if a == b => {}
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                list.extend(differences(&format!("{above}{name}."), a, b));
            }
            (a, b) => {
                let shown = |value: Option<&Value>| {
                    value.map_or_else(|| "absent".to_owned(), ToString::to_string)
                };
                list.push(format!(
                    "{above}{name} is {} there and {} here",
                    shown(a),
                    shown(b)
                ));
            }
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_wherever_it_stands() {
        let there = parsed(r#"{"a": 1, "b": {"c": 2, "d": [3]}, "e": "x"}"#).unwrap();
        let here = parsed(r#"{"a": 1, "b": {"c": 2.5, "d": [3]}, "f": null}"#).unwrap();
        let path = Path::new("d");
        let problem = same_configuration(path, &there, &here, "go away").unwrap_err();
        assert_eq!(
            problem.to_string(),
            "d: holds a study with another configuration: b.c is 2 there and 2.5 here, \
             e is \"x\" there and absent here, f is absent there and null here; go away"
        );
        assert!(same_configuration(path, &there, &there, "").is_ok());
    }
}
