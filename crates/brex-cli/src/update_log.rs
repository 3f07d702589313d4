//! A table with a row for each update of something that learns: as CSV, and for TensorBoard.
//!
//! The CSV holds nothing that depends on the clock, so that the same seed gives the same bytes.

use crate::exit::BadInput;
use brex_store::EventFile;

/// The columns after `update`: their names, and what TensorBoard calls them (nothing: not shown).
pub(crate) type Columns = &'static [(&'static str, &'static str)];

/// One update. A number is absent where there was nothing to measure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogRow {
    pub(crate) update: u64,
    pub(crate) values: Vec<Option<f64>>,
}

impl LogRow {
    fn line(&self) -> String {
        let mut line = self.update.to_string();
        for value in &self.values {
            line.push(',');
            if let Some(value) = value {
                line.push_str(&value.to_string());
            }
        }
        line.push('\n');
        line
    }

    fn parse(line: &str, columns: usize) -> Option<Self> {
        let mut fields = line.split(',');
        let update = fields.next()?.parse().ok()?;
        let mut values = Vec::with_capacity(columns);
        for field in fields {
            let value = (!field.is_empty()).then(|| field.parse());
            values.push(value.transpose().ok()?);
        }
        (values.len() == columns).then_some(Self { update, values })
    }
}

fn header(columns: Columns) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    format!("update,{}\n", names.join(","))
}

/// All rows as CSV.
pub(crate) fn to_csv(columns: Columns, rows: &[LogRow]) -> String {
    let mut text = header(columns);
    text.extend(rows.iter().map(LogRow::line));
    text
}

/// Rows from CSV, up to an update; what was written later is forgotten, because it comes again.
pub(crate) fn from_csv(columns: Columns, text: &str, until: u64) -> Result<Vec<LogRow>, BadInput> {
    let Some(rest) = text.strip_prefix(&header(columns)) else {
        return Err(BadInput::new(
            "line 1 is not the header of such a learning curve",
        ));
    };
    let mut rows = Vec::new();
    let wanted = usize::try_from(until).unwrap_or(usize::MAX);
    for (index, line) in rest.lines().enumerate().take(wanted) {
        let row = LogRow::parse(line, columns.len());
        let Some(row) = row.filter(|row| row.update == index as u64 + 1) else {
            let (line, update) = (index + 2, index + 1);
            let problem = format!("line {line} is not update {update}");
            return Err(BadInput::new(problem));
        };
        rows.push(row);
    }
    if (rows.len() as u64) < until {
        let problem = format!("ends at update {}, the training at {until}", rows.len());
        return Err(BadInput::new(problem));
    }
    Ok(rows)
}

/// Adds a row to what TensorBoard shows, at a step of its own counting.
pub(crate) fn add_to_events(
    columns: Columns,
    events: &mut EventFile,
    row: &LogRow,
    step: u64,
    seconds: f64,
) {
    let named = columns.iter().zip(&row.values);
    let values: Vec<(&str, f64)> = named
        .filter_map(|((_, name), value)| Some((*name, (*value)?)))
        .filter(|(name, _)| !name.is_empty())
        .collect();
    events.scalars(seconds, step, &values);
}

/// Seconds since 1970, which TensorBoard wants to know.
pub(crate) fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// At most some hundred points of a curve, thinned to what can be told apart; the last one stays.
pub(crate) fn thinned<T>(rows: &[T]) -> impl Iterator<Item = &T> {
    let every = rows.len().div_ceil(300).max(1);
    let chosen = rows.iter().enumerate();
    chosen
        .filter(move |(index, _)| index % every == 0 || index + 1 == rows.len())
        .map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: Columns = &[("a", "charts/a"), ("b", ""), ("c", "charts/c")];

    fn row(update: u64) -> LogRow {
        let value = Some(0.1 + update as f64);
        let values = vec![value, None, value];
        LogRow { update, values }
    }

    #[test]
    fn rows_come_back_up_to_the_update() {
        let rows: Vec<LogRow> = (1..=5).map(row).collect();
        let text = to_csv(COLUMNS, &rows);
        let from = |text: &str, until| from_csv(COLUMNS, text, until);
        assert_eq!(from(&text, 5).unwrap(), rows);
        assert_eq!(from(&text, 3).unwrap(), rows[..3]);
        // A row that was being written when the power failed.
        let torn = &text[..text.len() - 6];
        assert_eq!(from(torn, 4).unwrap(), rows[..4]);
        assert!(from(torn, 5).is_err());
        assert!(from("a,b\n1,2\n", 0).is_err());
        assert!(from(&text, 6).is_err());
    }

    #[test]
    fn the_last_point_stays() {
        let rows: Vec<u64> = (1..=1000).collect();
        let kept: Vec<u64> = thinned(&rows).copied().collect();
        assert!(kept.len() <= 302 && kept.first() == Some(&1) && kept.last() == Some(&1000));
    }
}
