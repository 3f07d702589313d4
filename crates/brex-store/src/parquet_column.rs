//! Reads one column of a parquet file, all row groups, in bounded steps.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use half::f16;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::StoreError;
use crate::guard::check_claim;
use crate::parquet_table::{damaged, malformed};

/// Rows that are read at a time.
const BATCH: usize = 8192;

/// How the values of a column are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int32 { unsigned: bool },
    Int64 { unsigned: bool },
    Half,
    Float,
    Double,
    Text,
}

/// Which column to read, and what is known about the file.
pub(crate) struct ColumnRequest<'a> {
    pub(crate) path: &'a Path,
    pub(crate) index: usize,
    pub(crate) descriptor: &'a Arc<ColumnDescriptor>,
    pub(crate) kind: Kind,
    pub(crate) rows: usize,
    pub(crate) size: u64,
}

/// The values of a column.
pub(crate) enum Column {
    /// `width` numbers per row.
    Numbers { values: Vec<f64>, width: usize },
    /// One text per row.
    Text(Vec<String>),
}

/// Reads the column. Missing values are refused.
pub(crate) fn read_column(
    file: &SerializedFileReader<Bytes>,
    request: &ColumnRequest<'_>,
) -> Result<Column, StoreError> {
    let mut numbers = Collector::new(request);
    let mut text = Collector::new(request);
    for group in 0..file.num_row_groups() {
        let fail = |error| damaged(request.path, &error);
        let reader = file
            .get_row_group(group)
            .and_then(|group| group.get_column_reader(request.index))
            .map_err(fail)?;
        match (reader, request.kind) {
            (ColumnReader::BoolColumnReader(r), Kind::Bool) => {
                numbers.collect(r, |v| Ok(f64::from(u8::from(*v))))?;
            }
            (ColumnReader::Int32ColumnReader(r), Kind::Int32 { unsigned }) => {
                numbers.collect(r, |v| {
                    Ok(if unsigned {
                        f64::from(v.cast_unsigned())
                    } else {
                        f64::from(*v)
                    })
                })?;
            }
            (ColumnReader::Int64ColumnReader(r), Kind::Int64 { unsigned }) => {
                numbers.collect(r, |v| {
                    Ok(if unsigned {
                        v.cast_unsigned() as f64
                    } else {
                        *v as f64
                    })
                })?;
            }
            (ColumnReader::FloatColumnReader(r), Kind::Float) => {
                numbers.collect(r, |v| Ok(f64::from(*v)))?;
            }
            (ColumnReader::DoubleColumnReader(r), Kind::Double) => {
                numbers.collect(r, |v| Ok(*v))?;
            }
            (ColumnReader::FixedLenByteArrayColumnReader(r), Kind::Half) => {
                numbers.collect(r, |v| {
                    let bytes = <[u8; 2]>::try_from(v.as_bytes()).map_err(|_| "a half float")?;
                    Ok(f16::from_le_bytes(bytes).to_f64())
                })?;
            }
            (ColumnReader::ByteArrayColumnReader(r), Kind::Text) => {
                text.collect(r, |v| {
                    let text = std::str::from_utf8(v.as_bytes()).map_err(|_| "UTF-8 text")?;
                    Ok(text.to_owned())
                })?;
            }
            _ => return Err(malformed(request.path, "column types differ".to_owned())),
        }
    }
    if request.kind == Kind::Text {
        let (texts, width) = text.finish()?;
        if width != 1 {
            return Err(numbers.problem("expected one text per row, found lists"));
        }
        return Ok(Column::Text(texts));
    }
    let (values, width) = numbers.finish()?;
    Ok(Column::Numbers { values, width })
}

/// Gathers the values of a column and watches that no value is missing and, in a column of lists,
/// that all lists are equally long.
struct Collector<'a, T> {
    request: &'a ColumnRequest<'a>,
    values: Vec<T>,
    /// How many rows have begun.
    rows: usize,
    /// Values per row, once the first row is complete.
    width: Option<usize>,
    /// Values of the row that is being read.
    in_row: usize,
    /// Bytes of memory that the values hold.
    held: u128,
}

/// How much memory a value holds.
trait Held {
    fn held(&self) -> usize;
}

impl Held for f64 {
    fn held(&self) -> usize {
        size_of::<f64>()
    }
}

impl Held for String {
    fn held(&self) -> usize {
        size_of::<String>() + self.len()
    }
}

impl<'a, T: Held> Collector<'a, T> {
    fn new(request: &'a ColumnRequest<'a>) -> Self {
        Self {
            request,
            values: Vec::new(),
            rows: 0,
            width: None,
            in_row: 0,
            held: 0,
        }
    }

    fn problem(&self, problem: &str) -> StoreError {
        let name = self.request.descriptor.path().string();
        StoreError::Missing {
            path: self.request.path.to_owned(),
            problem: format!("column `{name}`: {problem}"),
        }
    }

    fn collect<D: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<D>,
        convert: impl Fn(&D::T) -> Result<T, &'static str>,
    ) -> Result<(), StoreError> {
        let (mut definitions, mut repetitions, mut batch) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            definitions.clear();
            repetitions.clear();
            batch.clear();
            let (records, _, levels) = reader
                .read_records(
                    BATCH,
                    Some(&mut definitions),
                    Some(&mut repetitions),
                    &mut batch,
                )
                .map_err(|error| damaged(self.request.path, &error))?;
            if records == 0 && levels == 0 {
                return Ok(());
            }
            self.follow_levels(&definitions, &repetitions, batch.len())?;
            for value in &batch {
                let value = convert(value)
                    .map_err(|expected| self.problem(&format!("expected {expected}")))?;
                self.held += value.held() as u128;
                self.values.push(value);
                // A dictionary can repeat one long text a million times.
                check_claim(self.request.path, self.held, self.request.size)?;
            }
        }
    }

    /// Counts rows and values per row. Levels are missing where the column has no use for them.
    fn follow_levels(
        &mut self,
        definitions: &[i16],
        repetitions: &[i16],
        values: usize,
    ) -> Result<(), StoreError> {
        let full = self.request.descriptor.max_def_level();
        let is_list = self.request.descriptor.max_rep_level() > 0;
        let levels = if full > 0 { definitions.len() } else { values };
        for at in 0..levels {
            if !is_list || repetitions.get(at) == Some(&0) {
                self.end_row()?;
                self.rows += 1;
            }
            if full > 0 && definitions[at] < full {
                let row = self.rows.saturating_sub(1);
                return Err(self.problem(&format!("row {row} has no value; fill or drop it")));
            }
            self.in_row += 1;
        }
        if self.rows > self.request.rows {
            return Err(malformed(
                self.request.path,
                format!("a column has more than {} rows", self.request.rows),
            ));
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), StoreError> {
        if self.rows > 0 {
            let width = *self.width.get_or_insert(self.in_row);
            if width != self.in_row {
                let row = self.rows - 1;
                let found = self.in_row;
                return Err(self.problem(&format!(
                    "the list in row {row} has {found} values, expected {width} as in row 0"
                )));
            }
        }
        self.in_row = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<(Vec<T>, usize), StoreError> {
        self.end_row()?;
        let width = self.width.unwrap_or(1);
        let complete = self.rows == self.request.rows
            && self.values.len() as u128 == self.rows as u128 * width as u128;
        if complete {
            return Ok((self.values, width));
        }
        Err(malformed(
            self.request.path,
            format!(
                "a column has {} rows, expected {}",
                self.rows, self.request.rows
            ),
        ))
    }
}
