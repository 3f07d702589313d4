//! What the CSV readers share: records with the line they stand on, as an editor counts.

use std::path::Path;

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::StoreError;

/// Reads records one by one. Blank lines are skipped, spaces around fields are dropped, and every
/// record must have as many fields as the first.
pub(crate) struct CsvLines<'a> {
    path: &'a Path,
    reader: Reader<&'a [u8]>,
    bytes: &'a [u8],
    fields: Option<usize>,
    /// Lines before `counted_bytes`.
    counted_lines: u64,
    counted_bytes: usize,
}

/// One record and the line on which it starts, from 1.
pub(crate) struct CsvLine {
    pub(crate) line: u64,
    pub(crate) fields: Vec<String>,
}

impl<'a> CsvLines<'a> {
    pub(crate) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        let bytes = without_mark(bytes);
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(bytes);
        Self {
            path,
            reader,
            bytes,
            fields: None,
            counted_lines: 1,
            counted_bytes: 0,
        }
    }

    /// The next record, or nothing at the end.
    pub(crate) fn next_line(&mut self) -> Result<Option<CsvLine>, StoreError> {
        let mut record = ByteRecord::new();
        let more = self
            .reader
            .read_byte_record(&mut record)
            .map_err(|error| StoreError::Line {
                path: self.path.to_owned(),
                line: self.counted_lines,
                problem: error.to_string(),
            })?;
        if !more {
            return Ok(None);
        }
        let line = self.line_of(&record);
        let fields = record
            .iter()
            .map(|field| std::str::from_utf8(field).map(|text| text.trim().to_owned()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| StoreError::NotUtf8 {
                path: self.path.to_owned(),
                line,
            })?;
        let expected = *self.fields.get_or_insert(fields.len());
        if fields.len() != expected {
            return Err(StoreError::FieldCount {
                path: self.path.to_owned(),
                line,
                expected,
                found: fields.len(),
            });
        }
        Ok(Some(CsvLine { line, fields }))
    }

    /// The line on which the record starts. The reader's own count is that of the blank lines
    /// before the record, so the newlines are counted here.
    fn line_of(&mut self, record: &ByteRecord) -> u64 {
        let start = record.position().map_or(0, |at| at.byte() as usize);
        let blank = self.bytes[start.min(self.bytes.len())..]
            .iter()
            .take_while(|byte| matches!(byte, b'\n' | b'\r'))
            .count();
        let start = start + blank;
        for at in self.counted_bytes..start {
            let next = self.bytes.get(at + 1);
            let ends = match self.bytes[at] {
                b'\n' => true,
                b'\r' => next != Some(&b'\n'),
                _ => false,
            };
            self.counted_lines += u64::from(ends);
        }
        self.counted_bytes = self.counted_bytes.max(start);
        self.counted_lines
    }
}

/// Leaves out the byte-order mark that some editors put first.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, Vec<String>)> {
        let mut lines = CsvLines::new(Path::new("x.csv"), text);
        let mut all = Vec::new();
        while let Some(CsvLine { line, fields }) = lines.next_line().unwrap() {
            all.push((line, fields));
        }
        all
    }

    #[test]
    fn lines_are_counted_as_an_editor_does() {
        let text = b"\xef\xbb\xbfa,b\r\n\r\n\r\n\"x\ny\", 2\n\n3,4";
        let found = lines(text);
        let numbers: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
        assert_eq!(numbers, [1, 4, 7]);
        assert_eq!(found[0].1, ["a", "b"]);
        assert_eq!(found[1].1, ["x\ny", "2"]);
    }

    #[test]
    fn line_ends_of_old_macs_count_too() {
        let numbers: Vec<u64> = lines(b"a\rb\r\rc").iter().map(|(line, _)| *line).collect();
        assert_eq!(numbers, [1, 2, 4]);
    }

    #[test]
    fn every_line_has_as_many_fields_as_the_first() {
        let mut lines = CsvLines::new(Path::new("x.csv"), b"a,b\n1,2\n3\n");
        assert!(lines.next_line().unwrap().is_some());
        assert!(lines.next_line().unwrap().is_some());
        assert!(matches!(
            lines.next_line(),
            Err(StoreError::FieldCount {
                line: 3,
                expected: 2,
                found: 1,
                ..
            })
        ));
    }

    #[test]
    fn text_must_be_utf8() {
        let mut lines = CsvLines::new(Path::new("x.csv"), b"a\n\xff\n");
        assert!(lines.next_line().unwrap().is_some());
        assert!(matches!(
            lines.next_line(),
            Err(StoreError::NotUtf8 { line: 2, .. })
        ));
    }
}
