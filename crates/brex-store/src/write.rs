//! Writers of plain files: matrices and draws as `.npy`, comparisons as CSV.

use std::path::Path;

use brex_core::{Draws, FeatureTable, Matrix, Preferences};

use crate::StoreError;
use crate::atomic::write_atomic;
use crate::npy::write_array;

/// Writes a matrix as `.npy`. An existing file is an error unless `force` is given.
pub fn write_npy(path: impl AsRef<Path>, matrix: &Matrix, force: bool) -> Result<(), StoreError> {
    let shape = [matrix.rows(), matrix.cols()];
    write_atomic(path, force, |writer| {
        write_array(writer, &shape, matrix.as_slice())
    })
}

/// Writes a list of numbers as `.npy`. An existing file is an error unless `force` is given.
pub fn write_npy_vector(
    path: impl AsRef<Path>,
    values: &[f64],
    force: bool,
) -> Result<(), StoreError> {
    write_atomic(path, force, |writer| {
        write_array(writer, &[values.len()], values)
    })
}

/// Writes draws as `.npy`: all chains in order, draws x features. An existing file is an error
/// unless `force` is given.
pub fn write_npy_draws(
    path: impl AsRef<Path>,
    draws: &Draws,
    force: bool,
) -> Result<(), StoreError> {
    let shape = [draws.len(), draws.dim()];
    write_atomic(path, force, |writer| {
        write_array(writer, &shape, draws.as_slice())
    })
}

/// Writes comparisons as CSV in the form `a,b,label`, with a column `weight` unless all are 1.
///
/// With `features` that have ids, trajectories are named by id, otherwise by row number. An
/// existing file is an error unless `force` is given.
pub fn write_preferences_csv(
    path: impl AsRef<Path>,
    preferences: &Preferences,
    features: Option<&FeatureTable>,
    force: bool,
) -> Result<(), StoreError> {
    let weighted = preferences.items().iter().any(|item| item.weight != 1.0);
    let name = |row: usize| {
        features
            .filter(|table| row < table.matrix().rows())
            .map_or_else(|| row.to_string(), |table| table.name(row))
    };
    write_atomic(path, force, |writer| {
        let mut csv = csv::Writer::from_writer(writer);
        let mut header = vec!["a", "b", "label"];
        if weighted {
            header.push("weight");
        }
        csv.write_record(&header)?;
        for item in preferences.items() {
            let label = match item.label {
                0.0 => "a".to_owned(),
                0.5 => "tie".to_owned(),
                1.0 => "b".to_owned(),
                other => other.to_string(),
            };
            let mut record = vec![name(item.a), name(item.b), label];
            if weighted {
                record.push(item.weight.to_string());
            }
            csv.write_record(&record)?;
        }
        csv.flush()
    })
}

#[cfg(test)]
mod tests {
    use brex_core::Preference;

    use super::*;
    use crate::{read_draws, read_matrix, read_preferences};

    #[test]
    fn matrices_and_draws_come_back() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("m.npy");
        let matrix = Matrix::from_fn(3, 2, |i, j| i as f64 + 0.1 * j as f64);
        write_npy(&path, &matrix, false).unwrap();
        assert_eq!(read_matrix(&path).unwrap(), matrix);
        let draws = Draws::new(2, 2, 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        write_npy_draws(&path, &draws, true).unwrap();
        let read = read_draws(&path).unwrap();
        assert_eq!((read.chains(), read.len()), (1, 4));
        assert_eq!(read.as_slice(), draws.as_slice());
    }

    #[test]
    fn preferences_come_back() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("p.csv");
        let mut soft = Preference::tie(1, 2);
        (soft.label, soft.weight) = (0.1 + 0.2, 2.5);
        let items = vec![
            Preference::strict(0, 2),
            Preference::tie(0, 1),
            soft,
            Preference {
                label: 0.0,
                ..Preference::tie(2, 1)
            },
        ];
        let preferences = Preferences::new(3, items).unwrap();
        let table = FeatureTable::new(Matrix::zeros(3, 1)).unwrap();
        let named = table
            .clone()
            .with_ids(vec!["2".into(), "x, \"y\"".into(), "é".into()])
            .unwrap();
        for features in [&table, &named] {
            write_preferences_csv(&path, &preferences, Some(features), true).unwrap();
            let read = read_preferences(&path, features).unwrap();
            assert_eq!(read.preferences, preferences);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("a,b,label,weight\n"), "{text}");
    }
}
