//! Reads comparisons from CSV and from JSONL into rows.

use std::path::Path;

use serde_json::{Map, Value};

use crate::StoreError;
use crate::csv_lines::{CsvLines, without_mark};
use crate::error::excerpt;
use crate::preference_row::{Form, Place, Row};

/// Reads all rows of a CSV file with a header.
pub(crate) fn rows_from_csv(path: &Path, bytes: &[u8]) -> Result<Vec<Row>, StoreError> {
    let mut lines = CsvLines::new(path, bytes);
    let Some(header) = lines.next_line()? else {
        return Err(StoreError::Empty {
            path: path.to_owned(),
            expected: "a header such as worse,better and one comparison a line",
        });
    };
    let names: Vec<String> = header.fields.iter().map(|f| f.to_lowercase()).collect();
    let column = |name: &str| names.iter().position(|found| found == name);
    let form =
        Form::of(|name| column(name).is_some()).ok_or_else(|| StoreError::PreferenceForm {
            path: path.to_owned(),
            line: header.line,
            found: excerpt(&header.fields.join(",")),
            hint: header_hint(&header.fields),
        })?;
    for name in [
        "worse", "better", "chosen", "rejected", "a", "b", "label", "weight",
    ] {
        if names.iter().filter(|found| *found == name).count() > 1 {
            return Err(StoreError::Line {
                path: path.to_owned(),
                line: header.line,
                problem: format!("two columns are called {name}"),
            });
        }
    }
    // The form is there, so its columns are too.
    let [first, second] = form.sides().map(|name| column(name).unwrap_or(0));
    let label = column("label").filter(|_| form == Form::Labelled);
    let weight = column("weight");
    let mut rows = Vec::new();
    while let Some(line) = lines.next_line()? {
        let place = Place {
            path,
            line: line.line,
        };
        let [first_name, second_name] = form.sides();
        rows.push(Row {
            line: line.line,
            form,
            sides: [
                place.side(first_name, &line.fields[first])?,
                place.side(second_name, &line.fields[second])?,
            ],
            label: match label {
                Some(at) => place.label(&line.fields[at])?,
                None => Some(1.0),
            },
            weight: match weight {
                Some(at) => place.weight(&line.fields[at])?,
                None => 1.0,
            },
        });
    }
    if rows.is_empty() {
        return Err(StoreError::Line {
            path: path.to_owned(),
            line: header.line,
            problem: "a header and no comparisons".to_owned(),
        });
    }
    Ok(rows)
}

/// Why the header may not be what was meant.
fn header_hint(fields: &[String]) -> &'static str {
    let numbers = fields.iter().all(|field| field.parse::<f64>().is_ok());
    match fields {
        _ if numbers => "; the first line must be a header",
        [only] if only.contains(';') => "; separate the fields by commas, not semicolons",
        [only] if only.contains('\t') => "; separate the fields by commas, not tabs",
        _ => "",
    }
}

/// Reads all rows of a JSONL file: one object a line, blank lines left out.
pub(crate) fn rows_from_jsonl(path: &Path, bytes: &[u8]) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    for (index, line_bytes) in without_mark(bytes).split(|byte| *byte == b'\n').enumerate() {
        let line = index as u64 + 1;
        let text = std::str::from_utf8(line_bytes).map_err(|_| StoreError::NotUtf8 {
            path: path.to_owned(),
            line,
        })?;
        if !text.trim().is_empty() {
            rows.push(row_from_json(&Place { path, line }, text)?);
        }
    }
    if rows.is_empty() {
        return Err(StoreError::Empty {
            path: path.to_owned(),
            expected: "one JSON object a line, such as {\"worse\": 0, \"better\": 1}",
        });
    }
    Ok(rows)
}

fn row_from_json(place: &Place<'_>, text: &str) -> Result<Row, StoreError> {
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| StoreError::Line {
            path: place.path.to_owned(),
            line: place.line,
            problem: format!("expected a JSON object: {}", without_line(&error)),
        })?;
    let get = |name: &str| {
        object
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    };
    let form = Form::of(|name| get(name).is_some()).ok_or_else(|| {
        let fields: Vec<&str> = object.keys().map(String::as_str).collect();
        StoreError::PreferenceForm {
            path: place.path.to_owned(),
            line: place.line,
            found: excerpt(&fields.join(",")),
            hint: "",
        }
    })?;
    let text_of = |name: &str, expected| match get(name) {
        Some(Value::String(text)) => Ok(text.trim().to_owned()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        other => {
            let found = other.map_or_else(String::new, Value::to_string);
            Err(place.field(name, expected, &found))
        }
    };
    let side = |name: &str| {
        let text = text_of(name, "a row number or an id")?;
        place.side(name, &text)
    };
    let [first, second] = form.sides();
    Ok(Row {
        line: place.line,
        form,
        sides: [side(first)?, side(second)?],
        label: if form == Form::Labelled {
            place.label(&text_of("label", "a, b, tie, skip or a probability")?)?
        } else {
            Some(1.0)
        },
        weight: if get("weight").is_some() {
            place.weight(&text_of("weight", "a finite number of at least 0")?)?
        } else {
            1.0
        },
    })
}

/// The parser's message without its own line number, which is always 1.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.split_once(" at line 1 column ") {
        Some((problem, column)) => format!("{problem} at column {column}"),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> Result<Vec<Row>, StoreError> {
        rows_from_csv(Path::new("p.csv"), text.as_bytes())
    }

    fn jsonl(text: &str) -> Result<Vec<Row>, StoreError> {
        rows_from_jsonl(Path::new("p.jsonl"), text.as_bytes())
    }

    #[test]
    fn csv_in_each_form() {
        let rows = csv("better,worse\n1,0\n").unwrap();
        assert_eq!(rows[0].sides, ["0", "1"]);
        assert_eq!(
            (rows[0].line, rows[0].label, rows[0].weight),
            (2, Some(1.0), 1.0)
        );
        let rows = csv("chosen,rejected,weight\nx,y,2.5\n").unwrap();
        assert_eq!(rows[0].sides, ["y", "x"]);
        assert_eq!(rows[0].weight, 2.5);
        let rows = csv("A,B,label,scoreA,scoreB\n00100,00050,1,352.0,616.0\n").unwrap();
        assert_eq!(rows[0].sides, ["00100", "00050"]);
        assert_eq!(rows[0].label, Some(1.0));
    }

    #[test]
    fn jsonl_in_each_form_with_blank_lines() {
        let text = "{\"worse\": 0, \"better\": 1}\r\n\n{\"a\":\"x\",\"b\":\"y\",\"label\":0.5,\"weight\":2}\n{\"chosen\":3,\"rejected\":4}";
        let rows = jsonl(text).unwrap();
        let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [1, 3, 4]);
        assert_eq!(rows[1].label, Some(0.5));
        assert_eq!(rows[1].weight, 2.0);
        assert_eq!(rows[2].sides, ["4", "3"]);
    }

    #[test]
    fn defects_are_named() {
        let message = |result: Result<Vec<Row>, StoreError>| result.unwrap_err().to_string();
        assert!(message(csv("")).contains("empty"));
        assert!(message(csv("worse,better\n")).contains("no comparisons"));
        assert!(message(csv("worse\n0\n")).contains("a,b,label"));
        assert!(message(csv("0,1\n")).contains("must be a header"));
        assert!(message(csv("worse,better,Worse\n")).contains("two columns"));
        assert!(message(csv("worse;better\n0;1\n")).contains("not semicolons"));
        assert!(message(csv("a,b,label\n0,1,maybe\n")).contains("line 2, label"));
        assert!(message(csv("worse,better\n0,\n")).contains("line 2, better"));
        assert!(message(jsonl("\n\n")).contains("empty"));
        assert!(message(jsonl("{\"worse\":0,\"better\":1}\n[1]")).contains("line 2"));
        assert!(message(jsonl("{\"worse\":0,\"better\":null}")).contains("better"));
        assert!(message(jsonl("{\"worse\":0}")).contains("expected the fields"));
        assert!(message(jsonl("{\"worse\":0")).contains("column"));
    }
}
