//! Reads NumPy's `.npz`: a zip archive of `.npy` files, stored or deflated.
//!
//! Against zip bombs: an entry's data must be as long as its own header says, that length must be
//! plausible for the compressed bytes behind it, and only the arrays that are needed are inflated.

use std::io::{Read, Seek};
use std::path::Path;

use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use crate::StoreError;
use crate::array::{Array, Table, choose_features};
use crate::guard::contain;
use crate::npy::{read_header, read_npy};

/// More arrays than this are not looked through.
const MAX_ENTRIES: usize = 1000;

/// Reads `features` (or the only matrix), and `ids` and `lengths` if they are there.
pub(crate) fn read_npz<R: Read + Seek>(
    path: &Path,
    reader: R,
    size: u64,
) -> Result<Table, StoreError> {
    contain(path, "npz", || {
        let archive = ZipArchive::new(reader).map_err(|error| zip_error(path, &error))?;
        let mut archive = Archive { archive, size };
        let arrays = list_arrays(path, &mut archive)?;
        let features = choose_features(path, &arrays)?;
        let has = |name: &str| arrays.iter().any(|(found, _)| found == name);
        let matrix = read_entry(path, &mut archive, features)?.into_matrix(path)?;
        let ids = if has("ids") {
            Some(read_entry(path, &mut archive, "ids")?.into_ids(path)?)
        } else {
            None
        };
        let lengths = if has("lengths") {
            Some(read_entry(path, &mut archive, "lengths")?.into_vector(path)?)
        } else {
            None
        };
        Ok(Table {
            matrix,
            ids,
            lengths,
        })
    })
}

/// An open archive and how many bytes it really has.
struct Archive<R> {
    archive: ZipArchive<R>,
    size: u64,
}

/// Name and number of dimensions of every array. Arrays whose header cannot be read count as
/// having none: one that is not needed may be of any kind.
fn list_arrays<R: Read + Seek>(
    path: &Path,
    Archive { archive, .. }: &mut Archive<R>,
) -> Result<Vec<(String, usize)>, StoreError> {
    if archive.len() > MAX_ENTRIES {
        return Err(StoreError::Malformed {
            path: path.to_owned(),
            format: "npz",
            problem: format!("{} entries are more than {MAX_ENTRIES}", archive.len()),
        });
    }
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive
            .by_index(index)
            .map_err(|error| zip_error(path, &error))?;
        let name = entry.name().map_err(|error| zip_error(path, &error))?;
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
            continue;
        };
        let dimensions = read_header(&mut entry).map_or(0, |(header, _)| header.shape.len());
        arrays.push((name, dimensions));
    }
    Ok(arrays)
}

fn read_entry<R: Read + Seek>(
    path: &Path,
    Archive { archive, size }: &mut Archive<R>,
    name: &str,
) -> Result<Array, StoreError> {
    let mut entry: ZipFile<'_, R> = archive
        .by_name(&format!("{name}.npy"))
        .map_err(|error| zip_error(path, &error))?;
    // The compressed size is a claim too; the archive's own size is not.
    let (total, stored) = (entry.size(), entry.compressed_size().min(*size));
    read_npy(path, name, &mut entry, total, stored)
}

fn zip_error(path: &Path, error: &ZipError) -> StoreError {
    StoreError::Malformed {
        path: path.to_owned(),
        format: "npz",
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;
    use crate::npy::write_array;

    fn archive(arrays: &[(&str, &[usize], Vec<f64>)], method: CompressionMethod) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, shape, values) in arrays {
            let options = SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{name}.npy"), options).unwrap();
            let mut bytes = Vec::new();
            write_array(&mut bytes, shape, values).unwrap();
            zip.write_all(&bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn read(bytes: &[u8]) -> Result<Table, StoreError> {
        read_npz(Path::new("x.npz"), Cursor::new(bytes), bytes.len() as u64)
    }

    #[test]
    fn stored_and_deflated_archives_give_the_same_table() {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let bytes = archive(
                &[
                    ("features", &[2, 2], vec![1.0, 2.0, 3.0, 4.0]),
                    ("other", &[1, 1], vec![0.0]),
                    ("lengths", &[2], vec![10.0, 20.0]),
                    ("ids", &[2], vec![7.0, 8.0]),
                ],
                method,
            );
            let table = read(&bytes).unwrap();
            assert_eq!(table.matrix.as_slice(), [1.0, 2.0, 3.0, 4.0]);
            assert_eq!(table.lengths, Some(vec![10.0, 20.0]));
            assert_eq!(table.ids, Some(vec!["7".into(), "8".into()]));
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_inflated() {
        // 72 MB of zeros in 70 kB.
        let bytes = include_bytes!("../tests/corpus/npz/bomb");
        assert!(matches!(
            read(bytes).unwrap_err(),
            StoreError::Inflated { .. }
        ));
    }

    #[test]
    fn an_archive_without_a_matrix_names_what_it_has() {
        let bytes = archive(&[("a", &[1], vec![0.0])], CompressionMethod::Stored);
        let message = read(&bytes).unwrap_err().to_string();
        assert!(message.contains("found a"), "{message}");
        assert!(read(b"PK").is_err());
        assert!(read(&[]).is_err());
    }
}
