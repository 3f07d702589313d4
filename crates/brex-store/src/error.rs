//! What can go wrong with a file. Every variant names the file, and as precisely as the format
//! allows where in it: an editor's line and a field, or a row and a column.

use std::io;
use std::path::{Path, PathBuf};

use brex_core::{FeatureError, PolicyError, PreferenceError};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused to read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// No room left. Nothing is left behind.
    #[error("{}: the disk is full; free some space or write elsewhere; nothing was left behind", path.display())]
    DiskFull {
        /// The file or directory that was being written.
        path: PathBuf,
    },
    /// The output is there already.
    #[error("{}: already exists; choose another name or overwrite it with --force", path.display())]
    Exists {
        /// The output.
        path: PathBuf,
    },
    /// Overwriting would delete files that brex did not write.
    #[error("{}: holds files that brex did not write, so it is not replaced; choose another directory or empty this one", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// The output has no parent directory to be written into, or no name.
    #[error("{}: not a name that can be written to", path.display())]
    BadTarget {
        /// The output.
        path: PathBuf,
    },
    /// The name does not end in an extension that is known here.
    #[error("{}: unknown kind of file; expected {expected}", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The extensions that are known.
        expected: &'static str,
    },
    /// Not the format that its name says, or damaged.
    #[error("{}: not a usable {format} file: {problem}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The format that was expected.
        format: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The file claims to hold far more than its size can account for.
    #[error("{}: claims {claimed} bytes of data in a file of {size} bytes; refused as damaged or hostile; if it is genuine, save it as .npy", path.display())]
    Inflated {
        /// The file.
        path: PathBuf,
        /// The claim, as text because it may not fit a machine word.
        claimed: String,
        /// Bytes that the file really has.
        size: u64,
    },
    /// The array has another number of dimensions than is needed.
    #[error("{}: {array}: expected {expected}, found shape {found:?}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Which array of the file.
        array: String,
        /// What was expected.
        expected: &'static str,
        /// The shape found.
        found: Vec<usize>,
    },
    /// No array or column of a needed name.
    #[error("{}: {problem}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is missing and what is there.
        problem: String,
    },
    /// A number of a matrix or of draws that is NaN or infinite.
    #[error("{}: row {row}, column {column} is {value}; every value must be a finite number", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Zero-based row; of draws: all chains in order.
        row: usize,
        /// Zero-based column.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// The features are readable but not usable.
    #[error("{}: {source}", path.display())]
    Features {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: FeatureError,
    },
    /// A text file without anything in it.
    #[error("{}: the file is empty; expected {expected}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What should be there.
        expected: &'static str,
    },
    /// Bytes that are not UTF-8.
    #[error("{}: line {line}: not valid UTF-8; save the file as UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A line with too few or too many fields.
    #[error("{}: line {line}: expected {expected} fields as in the first line, found {found}", path.display())]
    FieldCount {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Fields of the first line.
        expected: usize,
        /// Fields of this one.
        found: usize,
    },
    /// A field that does not hold what it should.
    #[error("{}: line {line}, {field}: expected {expected}, found {found:?}", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field or column.
        field: String,
        /// What was expected.
        expected: &'static str,
        /// What stands there, shortened if long.
        found: String,
    },
    /// A line that cannot be read as a whole.
    #[error("{}: line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The columns are none of the forms in which preferences come.
    #[error("{}: line {line}: expected the fields worse,better or a,b,label or chosen,rejected (and optionally weight), found {found}{hint}", path.display())]
    PreferenceForm {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The fields found, joined by commas.
        found: String,
        /// What the reason may be, or nothing.
        hint: &'static str,
    },
    /// An id that no trajectory has.
    #[error("{}: line {line}, {field}: no trajectory has the id {id:?}{}", path.display(), suggestion(closest.as_deref()))]
    UnknownId {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field.
        field: String,
        /// The id.
        id: String,
        /// The id that it may have meant.
        closest: Option<String>,
    },
    /// A word where only row numbers can stand.
    #[error("{}: line {line}, {field}: expected a row number, because the features have no ids; found {found:?}", path.display())]
    NotARow {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field.
        field: String,
        /// What stands there.
        found: String,
    },
    /// A row number beyond the last row.
    #[error("{}: line {line}, {field}: row {found} does not exist; the features have {rows} rows (0 to {})", path.display(), rows.saturating_sub(1))]
    RowOutOfRange {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The field.
        field: String,
        /// The row number as it stands there.
        found: String,
        /// How many rows there are.
        rows: usize,
    },
    /// A trajectory compared with itself.
    #[error("{}: line {line}: trajectory {name} is compared with itself; remove the line", path.display())]
    SelfPreference {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The id or row number.
        name: String,
    },
    /// A comparison that brex-core refuses.
    #[error("{}: line {line}: {source}", path.display())]
    Preference {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        source: PreferenceError,
    },
    /// Every comparison is a `skip`.
    #[error("{}: no comparisons: all {skipped} are labelled skip", path.display())]
    AllSkipped {
        /// The file.
        path: PathBuf,
        /// How many there are.
        skipped: usize,
    },
    /// A policy that brex-core refuses.
    #[error("{}: {source}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: PolicyError,
    },
    /// A policy whose entry cannot be understood.
    #[error("{}: policy {policy:?}: {problem}", path.display())]
    PolicyEntry {
        /// The file.
        path: PathBuf,
        /// Its name.
        policy: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Two policies differ in their number of features.
    #[error("{}: policy {policy:?} has {found} features but policy {first:?} has {expected}", path.display())]
    PolicyFeatures {
        /// The file.
        path: PathBuf,
        /// The policy that differs.
        policy: String,
        /// Its features.
        found: usize,
        /// The first policy.
        first: String,
        /// The first policy's features.
        expected: usize,
    },
    /// What was given to be written does not fit together.
    #[error("{}: {what} has {found} values, expected {expected}", path.display())]
    Count {
        /// The output.
        path: PathBuf,
        /// Which array.
        what: String,
        /// Values needed.
        expected: usize,
        /// Values given.
        found: usize,
    },
}

fn suggestion(closest: Option<&str>) -> String {
    closest.map_or_else(String::new, |id| format!("; did you mean {id:?}?"))
}

/// Turns a failed read into an error that names the file.
pub(crate) fn read_error(path: &Path) -> impl Fn(io::Error) -> StoreError + '_ {
    move |source| StoreError::Read {
        path: path.to_owned(),
        source,
    }
}

/// Turns a failed write into an error that names the output and tells a full disk apart.
pub(crate) fn write_error(path: &Path) -> impl Fn(io::Error) -> StoreError + '_ {
    move |source| {
        let path = crate::temporary::final_name(path);
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull { path }
            }
            io::ErrorKind::AlreadyExists => StoreError::Exists { path },
            _ => StoreError::Write { path, source },
        }
    }
}

/// A piece of a file for an error message: one line of at most 40 characters.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown: String = text.trim().chars().take(40).collect();
    if shown.len() < text.trim().len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart_from_other_failures() {
        let path = Path::new("out");
        let full = write_error(path)(io::ErrorKind::StorageFull.into());
        assert!(matches!(full, StoreError::DiskFull { .. }));
        let denied = write_error(path)(io::ErrorKind::PermissionDenied.into());
        assert!(matches!(denied, StoreError::Write { .. }));
    }

    #[test]
    fn excerpts_are_short() {
        assert_eq!(excerpt(" ab "), "ab");
        assert_eq!(excerpt(&"ä".repeat(100)).chars().count(), 41);
    }
}
