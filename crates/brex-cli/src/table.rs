//! Tables on the terminal: names to the left, numbers to the right, two spaces between columns and
//! a rule below the head. Legible without colour, and stable enough for snapshots.

use crate::terminal::{Style, printable};
use unicode_width::UnicodeWidthStr;

/// Names longer than this are cut, so that the numbers stay in sight.
const LONGEST: usize = 40;

/// Which side a column leans to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table that is filled row by row and then shown.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose first column is text and whose others are numbers.
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        let columns = heads.into_iter().enumerate().map(|(index, head)| {
            let align = if index == 0 {
                Align::Left
            } else {
                Align::Right
            };
            (head.to_owned(), align)
        });
        Self {
            columns: columns.collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a column to the right. To be called before rows are added.
    pub(crate) fn column(&mut self, head: impl Into<String>, align: Align) {
        self.columns.push((head.into(), align));
    }

    /// Adds a row. Missing cells stay empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells
            .into_iter()
            .map(|cell| cut(&printable(&cell)))
            .collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// The table as text, each line ended.
    pub(crate) fn show(&self, style: Style) -> String {
        let heads: Vec<String> = self.columns.iter().map(|(head, _)| head.clone()).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|index| {
                let cells = self.rows.iter().map(|row| row[index].width());
                cells.fold(heads[index].width(), usize::max)
            })
            .collect();
        let mut text = style.bold(&self.line(&heads, &widths));
        text.push('\n');
        let total = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        text.push_str(&style.dim(&"─".repeat(total)));
        text.push('\n');
        for row in &self.rows {
            text.push_str(&self.line(row, &widths));
            text.push('\n');
        }
        text
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let mut text = String::new();
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let gap = " ".repeat(width - cell.width());
            let (before, after) = match self.columns[index].1 {
                Align::Left => ("", gap.as_str()),
                Align::Right => (gap.as_str(), ""),
            };
            let space = if index == 0 { "" } else { "  " };
            text.extend([space, before, cell, after]);
        }
        text.truncate(text.trim_end().len());
        text
    }
}

fn cut(cell: &str) -> String {
    if cell.width() <= LONGEST {
        return cell.to_owned();
    }
    let mut text = String::new();
    for letter in cell.chars() {
        text.push(letter);
        if text.width() >= LONGEST - 1 {
            break;
        }
    }
    text + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["policy", "mean"]);
        table.column("note", Align::Left);
        table.row(["A".into(), "-1.69 ± 0.03".into(), "trap".into()]);
        table.row(["日本".into(), "7".into()]);
        let expected = "\
policy          mean  note
──────────────────────────
A       -1.69 ± 0.03  trap
日本               7
";
        assert_eq!(table.show(Style::plain()), expected);
    }

    #[test]
    fn long_and_hostile_names_stay_in_their_column() {
        let mut table = Table::new(["policy", "mean"]);
        table.row(["x".repeat(100), "1".into()]);
        table.row(["a\n\u{1b}[31mb".into(), "2".into()]);
        let shown = table.show(Style::plain());
        assert!(shown.lines().all(|line| line.width() <= 46), "{shown}");
        assert_eq!(shown.lines().count(), 4);
        assert!(!shown.contains('\u{1b}'));
    }
}
