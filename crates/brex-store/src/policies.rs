//! Reads policies: from JSON, or one per row of any table file.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use brex_core::{Matrix, Policy};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::StoreError;
use crate::read::{extension, read_bytes, read_features};

/// Reads the policies to be judged, in the file's order.
///
/// From `.json`: an object with one entry per policy, either expected feature sums,
/// `{"A": {"phi": [...]}}`, or rollouts, `{"A": {"rollouts": [[...], ...]}}`, each with optional
/// `"lengths"` (a list with one number per rollout; with `phi` a number will do). Other keys are
/// ignored. From any table file of [`read_features`](crate::read_features): one policy a row,
/// named by id or row number.
///
/// All policies must have equally many features, and no name may come twice.
pub fn read_policies(path: impl AsRef<Path>) -> Result<Vec<Policy>, StoreError> {
    let path = path.as_ref();
    if extension(path) == "json" {
        return parse(path, &read_bytes(path)?);
    }
    let table = read_features(path).map_err(|error| match error {
        StoreError::UnknownFormat { path, .. } => StoreError::UnknownFormat {
            path,
            expected: ".json, .npy, .npz, .safetensors, .parquet or .csv",
        },
        other => other,
    })?;
    let refuse = |source| StoreError::Policy {
        path: path.to_owned(),
        source,
    };
    (0..table.matrix().rows())
        .map(|row| {
            let matrix = single_row(table.matrix().row(row));
            let lengths = table.lengths().map(|lengths| vec![lengths[row]]);
            Policy::new(table.name(row), matrix, lengths).map_err(refuse)
        })
        .collect()
}

/// Reads policies from the bytes of a JSON file. For fuzzing.
#[doc(hidden)]
pub fn policies_from_bytes(bytes: &[u8]) -> Result<Vec<Policy>, StoreError> {
    parse(Path::new("bytes"), bytes)
}

fn single_row(values: &[f64]) -> Matrix {
    Matrix::from_fn(1, values.len(), |_, column| values[column])
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Policy>, StoreError> {
    let Entries(entries) = serde_json::from_slice(bytes).map_err(|error| {
        let nan = if bytes.windows(3).any(|word| word == b"NaN") {
            "; NaN is not JSON"
        } else {
            ""
        };
        StoreError::Malformed {
            path: path.to_owned(),
            format: "JSON",
            problem: format!("{error}{nan}"),
        }
    })?;
    let mut policies: Vec<Policy> = Vec::with_capacity(entries.len());
    let mut names = HashSet::new();
    for (name, value) in &entries {
        let entry = Entry { path, name, value };
        if !names.insert(name.as_str()) {
            return Err(entry.problem("is there twice; names must differ".to_owned()));
        }
        let policy = entry.read()?;
        if let Some(first) = policies.first() {
            let (expected, found) = (first.rollouts().cols(), policy.rollouts().cols());
            if expected != found {
                return Err(StoreError::PolicyFeatures {
                    path: path.to_owned(),
                    policy: name.clone(),
                    found,
                    first: first.name().to_owned(),
                    expected,
                });
            }
        }
        policies.push(policy);
    }
    if policies.is_empty() {
        return Err(StoreError::Empty {
            path: path.to_owned(),
            expected: "policies, such as {\"A\": {\"phi\": [...]}}",
        });
    }
    Ok(policies)
}

/// The entries of a JSON object in order, with doubles kept so that they can be refused.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with one entry per policy")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// One policy as it stands in the file.
struct Entry<'a> {
    path: &'a Path,
    name: &'a str,
    value: &'a Value,
}

impl Entry<'_> {
    fn problem(&self, problem: String) -> StoreError {
        StoreError::PolicyEntry {
            path: self.path.to_owned(),
            policy: self.name.to_owned(),
            problem,
        }
    }

    fn read(&self) -> Result<Policy, StoreError> {
        let rollouts = match (self.value.get("phi"), self.value.get("rollouts")) {
            (Some(phi), None) => single_row(&self.numbers("phi", phi)?),
            (None, Some(rollouts)) => self.rollouts(rollouts)?,
            (Some(_), Some(_)) => {
                return Err(self.problem("has both phi and rollouts; give one".to_owned()));
            }
            (None, None) => {
                return Err(self.problem("expected \"phi\" or \"rollouts\"".to_owned()));
            }
        };
        let lengths = match self.value.get("lengths") {
            None | Some(Value::Null) => None,
            Some(Value::Number(_)) if rollouts.rows() != 1 => {
                return Err(self.problem(format!(
                    "lengths: expected a list of {}, one per rollout",
                    rollouts.rows()
                )));
            }
            Some(one @ Value::Number(_)) => Some(vec![self.number("lengths", one)?]),
            Some(list) => Some(self.numbers("lengths", list)?),
        };
        Policy::new(self.name, rollouts, lengths).map_err(|source| StoreError::Policy {
            path: self.path.to_owned(),
            source,
        })
    }

    fn number(&self, place: &str, value: &Value) -> Result<f64, StoreError> {
        value.as_f64().ok_or_else(|| {
            let found = crate::error::excerpt(&value.to_string());
            self.problem(format!("{place}: expected a number, found {found}"))
        })
    }

    fn numbers(&self, place: &str, value: &Value) -> Result<Vec<f64>, StoreError> {
        let list = value
            .as_array()
            .ok_or_else(|| self.problem(format!("{place}: expected a list of numbers")))?;
        list.iter()
            .enumerate()
            .map(|(index, value)| self.number(&format!("{place}[{index}]"), value))
            .collect()
    }

    fn rollouts(&self, value: &Value) -> Result<Matrix, StoreError> {
        let list = value
            .as_array()
            .ok_or_else(|| self.problem("rollouts: expected a list of lists".to_owned()))?;
        let mut data = Vec::new();
        let mut cols = 0;
        for (index, rollout) in list.iter().enumerate() {
            let numbers = self.numbers(&format!("rollouts[{index}]"), rollout)?;
            if index == 0 {
                cols = numbers.len();
            } else if numbers.len() != cols {
                return Err(self.problem(format!(
                    "rollouts[{index}] has {} features, expected {cols} as in rollouts[0]",
                    numbers.len()
                )));
            }
            data.extend(numbers);
        }
        Matrix::new(list.len(), cols, data).map_err(|error| self.problem(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Policy>, StoreError> {
        policies_from_bytes(text.as_bytes())
    }

    #[test]
    fn phi_and_rollouts_in_the_order_of_the_file() {
        let policies = read(
            r#"{"Z": {"phi": [1, 2.5], "true_return": 3, "lengths": 10},
                "A": {"rollouts": [[1, 2], [3, 4]], "lengths": [5, 6]}}"#,
        )
        .unwrap();
        assert_eq!(policies[0].name(), "Z");
        assert_eq!(policies[0].expected_features(), [1.0, 2.5]);
        assert_eq!(policies[0].mean_length(), Some(10.0));
        assert_eq!(policies[1].expected_features(), [2.0, 3.0]);
        assert_eq!(policies[1].lengths(), Some(&[5.0, 6.0][..]));
    }

    #[test]
    fn defects_name_the_policy_and_the_place() {
        for (text, part) in [
            ("", "EOF"),
            ("[]", "expected an object"),
            ("{}", "empty"),
            (r#"{"A": 1}"#, "\"A\": expected \"phi\""),
            (r#"{"A": {"phi": 1}}"#, "phi: expected a list"),
            (r#"{"A": {"phi": [1, "x"]}}"#, "phi[1]: expected a number"),
            (r#"{"A": {"phi": [1, NaN]}}"#, "NaN is not JSON"),
            (r#"{"A": {"phi": []}}"#, "no features"),
            (r#"{"A": {"phi": [1], "rollouts": []}}"#, "both"),
            (r#"{"A": {"rollouts": []}}"#, "no features"),
            (r#"{"A": {"rollouts": [[1], [1, 2]]}}"#, "rollouts[1] has 2"),
            (r#"{"A": {"phi": [1], "lengths": 0}}"#, "lengths"),
            (
                r#"{"A": {"rollouts": [[1], [2]], "lengths": 3}}"#,
                "a list of 2",
            ),
            (r#"{"A": {"phi": [1]}, "A": {"phi": [1]}}"#, "twice"),
            (r#"{"A": {"phi": [1]}, "B": {"phi": [1, 2]}}"#, "2 features"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
