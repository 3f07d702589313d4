//! Reads comparisons and finds the trajectories that they name.
//!
//! How trajectories are named is decided once for the whole file:
//! - if the features have no ids, every name must be a row number, from 0;
//! - if they have ids and at least one name in the file is an id, every name must be an id, also
//!   one that looks like a number (ids win);
//! - if they have ids but no name in the file is one, and all are row numbers that exist, they are
//!   row numbers.

use std::collections::HashMap;
use std::path::Path;

use brex_core::{FeatureTable, Preference, PreferenceError, Preferences};

use crate::StoreError;
use crate::preference_row::Row;
use crate::preference_text::{rows_from_csv, rows_from_jsonl};
use crate::read::{extension, read_bytes};

/// How a file names trajectories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferredBy {
    /// By row number, from 0.
    Row,
    /// By id.
    Id,
}

/// Comparisons with where they came from.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferenceFile {
    /// The comparisons, in the file's order.
    pub preferences: Preferences,
    /// The line of each comparison, from 1, as an editor counts.
    pub lines: Vec<u64>,
    /// How many comparisons were left out because they are labelled `skip`.
    pub skipped: usize,
    /// How the file names trajectories.
    pub referred_by: ReferredBy,
}

/// The formats in which comparisons can come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreferenceFormat {
    /// Comma-separated text with a header.
    Csv,
    /// One JSON object a line.
    Jsonl,
}

/// Reads comparisons between the trajectories of `features` from `.csv` or `.jsonl`.
///
/// A comparison is `worse,better`, `chosen,rejected`, or `a,b,label` with label `a`, `b`, `tie`,
/// `skip` or the probability that b is better; an optional `weight` says how many observations it
/// counts for. Other fields are ignored. Trajectories are named by row number or by id: ids win
/// where the features have them.
pub fn read_preferences(
    path: impl AsRef<Path>,
    features: &FeatureTable,
) -> Result<PreferenceFile, StoreError> {
    let path = path.as_ref();
    let format = match extension(path).as_str() {
        "csv" => PreferenceFormat::Csv,
        "jsonl" => PreferenceFormat::Jsonl,
        _ => {
            return Err(StoreError::UnknownFormat {
                path: path.to_owned(),
                expected: ".csv or .jsonl",
            });
        }
    };
    parse(path, format, &read_bytes(path)?, features)
}

/// Reads comparisons from bytes, as [`read_preferences`] does from a file. For fuzzing.
#[doc(hidden)]
pub fn preferences_from_bytes(
    format: PreferenceFormat,
    bytes: &[u8],
    features: &FeatureTable,
) -> Result<PreferenceFile, StoreError> {
    parse(Path::new("bytes"), format, bytes, features)
}

fn parse(
    path: &Path,
    format: PreferenceFormat,
    bytes: &[u8],
    features: &FeatureTable,
) -> Result<PreferenceFile, StoreError> {
    let rows = match format {
        PreferenceFormat::Csv => rows_from_csv(path, bytes)?,
        PreferenceFormat::Jsonl => rows_from_jsonl(path, bytes)?,
    };
    let names = Names::new(features, &rows);
    let mut items = Vec::with_capacity(rows.len());
    let mut lines = Vec::with_capacity(rows.len());
    let mut skipped = 0;
    for row in &rows {
        let [first_field, second_field] = row.form.sides();
        let a = names.find(path, row, first_field, &row.sides[0])?;
        let b = names.find(path, row, second_field, &row.sides[1])?;
        if a == b {
            return Err(StoreError::SelfPreference {
                path: path.to_owned(),
                line: row.line,
                name: row.sides[0].clone(),
            });
        }
        let Some(label) = row.label else {
            skipped += 1;
            continue;
        };
        let weight = row.weight;
        items.push(Preference {
            a,
            b,
            label,
            weight,
        });
        lines.push(row.line);
    }
    if items.is_empty() {
        let path = path.to_owned();
        return Err(StoreError::AllSkipped { path, skipped });
    }
    let preferences = Preferences::new(features.matrix().rows(), items).map_err(|source| {
        StoreError::Preference {
            path: path.to_owned(),
            line: lines.get(position(&source)).copied().unwrap_or(0),
            source,
        }
    })?;
    Ok(PreferenceFile {
        preferences,
        lines,
        skipped,
        referred_by: names.referred_by,
    })
}

/// Which comparison a defect is about.
fn position(error: &PreferenceError) -> usize {
    match error {
        PreferenceError::OutOfRange { position, .. }
        | PreferenceError::SelfReference { position, .. }
        | PreferenceError::Label { position, .. }
        | PreferenceError::Weight { position, .. } => *position,
    }
}

/// Finds trajectories by what a file calls them.
struct Names<'a> {
    rows: usize,
    by_id: HashMap<&'a str, usize>,
    referred_by: ReferredBy,
}

impl<'a> Names<'a> {
    fn new(features: &'a FeatureTable, rows: &[Row]) -> Self {
        let by_id: HashMap<&str, usize> = features
            .ids()
            .unwrap_or_default()
            .iter()
            .enumerate()
            .map(|(row, id)| (id.as_str(), row))
            .collect();
        let count = features.matrix().rows();
        let sides = || rows.iter().flat_map(|row| row.sides.iter());
        let are_ids = !by_id.is_empty()
            && (sides().any(|name| by_id.contains_key(name.as_str()))
                || !sides().all(|name| name.parse().is_ok_and(|row: usize| row < count)));
        Self {
            rows: count,
            by_id,
            referred_by: if are_ids {
                ReferredBy::Id
            } else {
                ReferredBy::Row
            },
        }
    }

    fn find(&self, path: &Path, row: &Row, field: &str, name: &str) -> Result<usize, StoreError> {
        let (path, line, field) = (path.to_owned(), row.line, field.to_owned());
        if self.referred_by == ReferredBy::Id {
            return self
                .by_id
                .get(name)
                .copied()
                .ok_or_else(|| StoreError::UnknownId {
                    path,
                    line,
                    field,
                    id: crate::error::excerpt(name),
                    closest: self.closest(name),
                });
        }
        let found = crate::error::excerpt(name);
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            return Err(StoreError::NotARow {
                path,
                line,
                field,
                found,
            });
        }
        name.parse()
            .ok()
            .filter(|index: &usize| *index < self.rows)
            .ok_or(StoreError::RowOutOfRange {
                path,
                line,
                field,
                found,
                rows: self.rows,
            })
    }

    /// The id that differs least from `name`, if it is near.
    fn closest(&self, name: &str) -> Option<String> {
        const LONGEST: usize = 64;
        if name.len() > LONGEST {
            return None;
        }
        self.by_id
            .iter()
            .filter(|(id, _)| id.len() <= LONGEST && id.len().abs_diff(name.len()) <= 8)
            .map(|(id, row)| (edit_distance(name, id), *row, *id))
            .min()
            .filter(|(distance, ..)| *distance <= 1 + name.chars().count() / 4)
            .map(|(_, _, id)| id.to_owned())
    }
}

/// How many characters have to be inserted, deleted or replaced (Levenshtein).
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use brex_core::Matrix;

    use super::*;

    fn features(ids: Option<&[&str]>) -> FeatureTable {
        let table = FeatureTable::new(Matrix::zeros(3, 1)).unwrap();
        match ids {
            None => table,
            Some(ids) => table
                .with_ids(ids.iter().map(|id| (*id).to_owned()).collect())
                .unwrap(),
        }
    }

    fn read(text: &str, ids: Option<&[&str]>) -> Result<PreferenceFile, StoreError> {
        preferences_from_bytes(PreferenceFormat::Csv, text.as_bytes(), &features(ids))
    }

    fn pairs(file: &PreferenceFile) -> Vec<(usize, usize)> {
        file.preferences
            .items()
            .iter()
            .map(|p| (p.a, p.b))
            .collect()
    }

    #[test]
    fn rows_where_there_are_no_ids() {
        let file = read("worse,better\n0,2\n1,2\n", None).unwrap();
        assert_eq!(pairs(&file), [(0, 2), (1, 2)]);
        assert_eq!(file.lines, [2, 3]);
        assert_eq!(file.referred_by, ReferredBy::Row);
    }

    #[test]
    fn ids_win_even_if_they_look_like_rows() {
        let ids: Option<&[&str]> = Some(&["2", "1", "0"]);
        let file = read("worse,better\n0,2\n", ids).unwrap();
        assert_eq!(pairs(&file), [(2, 0)]);
        assert_eq!(file.referred_by, ReferredBy::Id);
        let ids: Option<&[&str]> = Some(&["00050", "00100", "00150"]);
        let file = read("A,B,label\n00100,00050,1\n", ids).unwrap();
        assert_eq!(pairs(&file), [(1, 0)]);
    }

    #[test]
    fn row_numbers_also_work_beside_ids() {
        let ids: Option<&[&str]> = Some(&["x", "y", "z"]);
        let file = read("worse,better\n0,2\n", ids).unwrap();
        assert_eq!(pairs(&file), [(0, 2)]);
        assert_eq!(file.referred_by, ReferredBy::Row);
        let mixed = read("worse,better\n0,z\n", ids).unwrap_err();
        assert!(matches!(mixed, StoreError::UnknownId { line: 2, .. }));
    }

    #[test]
    fn defects_name_line_and_field() {
        let ids: Option<&[&str]> = Some(&["alpha", "beta", "gamma"]);
        let message = |text, ids| read(text, ids).unwrap_err().to_string();
        assert_eq!(
            message("worse,better\nalpha,gamm\n", ids),
            "bytes: line 2, better: no trajectory has the id \"gamm\"; did you mean \"gamma\"?"
        );
        assert!(!message("worse,better\nalpha,qqqqq\n", ids).contains("did you mean"));
        assert_eq!(
            message("worse,better\n0,1\n\n1,3\n", None),
            "bytes: line 4, better: row 3 does not exist; the features have 3 rows (0 to 2)"
        );
        assert!(message("worse,better\n0,x\n", None).contains("expected a row number"));
        assert!(message("worse,better\n0,-1\n", None).contains("expected a row number"));
        assert!(message("worse,better\n1,1\n", None).contains("with itself"));
        assert!(
            message("worse,better\n1,99999999999999999999999\n", None).contains("does not exist")
        );
    }

    #[test]
    fn skips_are_left_out_and_counted() {
        let file = read("a,b,label\n0,1,skip\n0,2,tie\n1,2,a\n", None).unwrap();
        assert_eq!((file.skipped, file.preferences.len()), (1, 2));
        assert_eq!(file.lines, [3, 4]);
        let labels: Vec<f64> = file.preferences.items().iter().map(|p| p.label).collect();
        assert_eq!(labels, [0.5, 0.0]);
        assert!(matches!(
            read("a,b,label\n0,1,skip\n", None),
            Err(StoreError::AllSkipped { skipped: 1, .. })
        ));
    }

    #[test]
    fn distances_between_words() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "ab"), 2);
        assert_eq!(edit_distance("same", "same"), 0);
    }
}
