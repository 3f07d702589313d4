//! Reads features from `.csv`.
//!
//! A first line without numbers is a header; so is one with a field `id` or `length` (in any
//! case). The columns of these names hold ids and lengths, and all others are features. Without a
//! header every column is a feature. What could be read in two ways is refused, because a header
//! read as a row, a row with a slip read as a header, or a row number read as a feature spoils the
//! result without a word.

use std::path::Path;

use brex_core::Matrix;

use crate::StoreError;
use crate::array::Table;
use crate::csv_lines::{CsvLine, CsvLines};
use crate::error::excerpt;

const EXPECTED: &str = "numbers separated by commas, one row per trajectory";

/// Reads the table from the bytes of a file.
pub(crate) fn read_csv(path: &Path, bytes: &[u8]) -> Result<Table, StoreError> {
    let mut lines = CsvLines::new(path, bytes);
    let Some(first) = lines.next_line()? else {
        return Err(StoreError::Empty {
            path: path.to_owned(),
            expected: EXPECTED,
        });
    };
    let mut rows = Rows::default();
    let columns = if first.fields.iter().all(|field| number(field).is_some()) {
        check_counting(path, &first)?;
        let columns = Columns::without_header(first.fields.len());
        rows.add(path, &columns, &first)?;
        columns
    } else {
        Columns::from_header(path, &first)?
    };
    while let Some(line) = lines.next_line()? {
        rows.add(path, &columns, &line)?;
    }
    if rows.count == 0 {
        return Err(StoreError::Line {
            path: path.to_owned(),
            line: first.line,
            problem: "a header and no rows".to_owned(),
        });
    }
    let matrix = Matrix::new(rows.count, columns.features, rows.values).map_err(|error| {
        StoreError::Line {
            path: path.to_owned(),
            line: first.line,
            problem: error.to_string(),
        }
    })?;
    Ok(Table {
        matrix,
        ids: columns.id.map(|_| rows.ids),
        lengths: columns.length.map(|_| rows.lengths),
    })
}

fn number(field: &str) -> Option<f64> {
    field.parse().ok()
}

/// A first line 0,1,2,... is what pandas writes for columns without names.
fn check_counting(path: &Path, first: &CsvLine) -> Result<(), StoreError> {
    let counts = first
        .fields
        .iter()
        .enumerate()
        .all(|(index, field)| *field == index.to_string());
    if counts && first.fields.len() > 2 {
        return Err(StoreError::Line {
            path: path.to_owned(),
            line: first.line,
            problem: "0,1,2,... can be a header or a row; name the columns, or write the row as 0.0,1.0,2.0,..."
                .to_owned(),
        });
    }
    Ok(())
}

/// Which column is what.
struct Columns {
    names: Vec<String>,
    id: Option<usize>,
    length: Option<usize>,
    features: usize,
}

impl Columns {
    fn without_header(count: usize) -> Self {
        Self {
            names: (0..count).map(|index| format!("column {index}")).collect(),
            id: None,
            length: None,
            features: count,
        }
    }

    fn from_header(path: &Path, first: &CsvLine) -> Result<Self, StoreError> {
        let problem = |problem: String| StoreError::Line {
            path: path.to_owned(),
            line: first.line,
            problem,
        };
        let (mut id, mut length) = (None, None);
        for (index, name) in first.fields.iter().enumerate() {
            if name.is_empty() {
                return Err(problem(format!(
                    "column {index} has no name; if it is a row index, leave it out or call it id"
                )));
            }
            let role = match name.to_lowercase().as_str() {
                "id" => &mut id,
                "length" => &mut length,
                _ => continue,
            };
            if role.replace(index).is_some() {
                return Err(problem(format!("two columns are called {name}")));
            }
        }
        let has_numbers = first.fields.iter().any(|field| number(field).is_some());
        if has_numbers && id.is_none() && length.is_none() {
            return Err(problem(
                "words and numbers together; expected a header of names or a row of numbers"
                    .to_owned(),
            ));
        }
        let special = usize::from(id.is_some()) + usize::from(length.is_some());
        Ok(Self {
            names: first
                .fields
                .iter()
                .map(|name| format!("column {:?}", excerpt(name)))
                .collect(),
            id,
            length,
            features: first.fields.len() - special,
        })
    }
}

/// The rows read so far.
#[derive(Default)]
struct Rows {
    count: usize,
    values: Vec<f64>,
    ids: Vec<String>,
    lengths: Vec<f64>,
}

impl Rows {
    fn add(&mut self, path: &Path, columns: &Columns, line: &CsvLine) -> Result<(), StoreError> {
        for (index, field) in line.fields.iter().enumerate() {
            if columns.id == Some(index) {
                self.ids.push(field.clone());
                continue;
            }
            let value = number(field)
                .filter(|value| value.is_finite())
                .ok_or_else(|| StoreError::Field {
                    path: path.to_owned(),
                    line: line.line,
                    field: columns.names[index].clone(),
                    expected: "a finite number",
                    found: excerpt(field),
                })?;
            if columns.length == Some(index) {
                self.lengths.push(value);
            } else {
                self.values.push(value);
            }
        }
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Table, StoreError> {
        read_csv(Path::new("x.csv"), text.as_bytes())
    }

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn with_and_without_a_header() {
        let table = read("1, 2\n3,4\n").unwrap();
        assert_eq!(table.matrix.as_slice(), [1.0, 2.0, 3.0, 4.0]);
        let table = read("x,ID,y,length\n1,a,2,10\n3,b,4,20\n").unwrap();
        assert_eq!(table.matrix.as_slice(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(table.ids, Some(vec!["a".into(), "b".into()]));
        assert_eq!(table.lengths, Some(vec![10.0, 20.0]));
    }

    #[test]
    fn errors_name_line_and_column() {
        assert_eq!(
            message("x,y\n1,2\n\n3,oops\n"),
            "x.csv: line 4, column \"y\": expected a finite number, found \"oops\""
        );
        assert!(message("1,2\n3,nan\n").contains("line 2, column 1"));
        assert!(message("1,2\n3,inf\n").contains("line 2, column 1"));
        assert!(message("").contains("empty"));
        assert!(message("\n\n").contains("empty"));
        assert!(message("x,y\n").contains("no rows"));
        assert!(message("x,id,id\n").contains("two columns"));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        assert!(message("0,1,2\n5,6,7\n").contains("header or a row"));
        assert!(message(",a,b\n0,1,2\n").contains("no name"));
        assert!(message("1.o,2\n3,4\n").contains("words and numbers"));
        assert!(read("id,0,1\na,3,4\n").is_ok());
        assert!(read("0.0,1.0,2.0\n5,6,7\n").is_ok());
    }
}
