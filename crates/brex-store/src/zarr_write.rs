//! Writes a posterior as Zarr version 3, in the layout that ArviZ and xarray read.
//!
//! Groups `posterior` (`w`), `sample_stats` (`lp` and others) and `log_likelihood`
//! (`preference_label`), each with its coordinates. Metadata are also consolidated in the root, so
//! that a reader opens one file instead of twenty. Chunks are not compressed: draws are noise to a
//! compressor, and what is written should be on the disk at once.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use zarrs::array::builder::{ArrayBuilderDataType, ArrayBuilderFillValue};
use zarrs::array::{Array, ArrayBuilder, ArrayMetadataOptions, Element, FillValue, data_type};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::GroupBuilder;
use zarrs::metadata::v3::{AdditionalFieldV3, AdditionalFieldsV3};

use crate::StoreError;
use crate::error::write_error;
use crate::posterior::{LogLikelihood, POSTERIOR_NAME, PosteriorFile, StatArray};

/// The most bytes in a chunk, if a single draw is not larger.
const CHUNK_BYTES: usize = 4 << 20;

/// Writes `posterior.zarr` into `directory`, which exists and has no such entry.
///
/// The writing itself is not atomic: use it inside an [`AtomicDir`](crate::AtomicDir).
pub fn write_posterior(
    directory: impl AsRef<Path>,
    posterior: &PosteriorFile,
    log_likelihood: Option<LogLikelihood<'_>>,
) -> Result<(), StoreError> {
    let root = directory.as_ref().join(POSTERIOR_NAME);
    check_counts(&root, posterior)?;
    std::fs::create_dir(&root).map_err(write_error(&root))?;
    let mut writer = Writer::new(&root)?;
    let (chains, draws) = (posterior.draws.chains(), posterior.draws.draws_per_chain());
    let library = library_attributes();
    let mut attributes = posterior.attributes.clone();
    attributes.extend(library.clone());

    let dim = posterior.draws.dim();
    writer.group("posterior", &attributes)?;
    writer.coordinates(
        "posterior",
        &[("chain", chains), ("draw", draws), ("feature", dim)],
    )?;
    let all = posterior.draws.as_slice();
    writer.blocks(
        &Variable {
            name: "posterior/w",
            shape: [chains, draws, dim],
            last_dimension: "feature",
        },
        data_type::float64(),
        0.0_f64,
        |chain, block, out: &mut [f64]| {
            let start = (chain * draws + block.start) * dim;
            out.copy_from_slice(&all[start..][..out.len()]);
        },
    )?;

    writer.group("sample_stats", &library)?;
    writer.coordinates("sample_stats", &[("chain", chains), ("draw", draws)])?;
    if let Some(lp) = &posterior.lp {
        writer.stat("lp", [chains, draws], &StatArray::F64(lp.clone()))?;
    }
    for (name, values) in &posterior.sample_stats {
        writer.stat(name, [chains, draws], values)?;
    }

    if let Some(LogLikelihood { preferences, fill }) = log_likelihood {
        writer.group("log_likelihood", &library)?;
        writer.coordinates(
            "log_likelihood",
            &[
                ("chain", chains),
                ("draw", draws),
                ("preference", preferences),
            ],
        )?;
        writer.blocks(
            &Variable {
                name: "log_likelihood/preference_label",
                shape: [chains, draws, preferences],
                last_dimension: "preference",
            },
            data_type::float32(),
            0.0_f32,
            fill,
        )?;
    }
    writer.finish(&library)
}

fn library_attributes() -> Map<String, Value> {
    let version = env!("CARGO_PKG_VERSION");
    [
        ("inference_library", "brex"),
        ("inference_library_version", version),
        ("creation_library", "brex"),
        ("creation_library_version", version),
        ("creation_library_language", "Rust"),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value.into()))
    .collect()
}

fn check_counts(root: &Path, posterior: &PosteriorFile) -> Result<(), StoreError> {
    let expected = posterior.draws.len();
    let lp = posterior.lp.iter().map(|lp| ("lp", lp.len()));
    let others = posterior
        .sample_stats
        .iter()
        .map(|(name, values)| (name.as_str(), values.len()));
    for (what, found) in lp.chain(others) {
        if found != expected {
            return Err(StoreError::Count {
                path: root.to_owned(),
                what: what.to_owned(),
                expected,
                found,
            });
        }
    }
    Ok(())
}

/// A variable of three dimensions: chain, draw and another.
struct Variable<'a> {
    name: &'a str,
    shape: [usize; 3],
    last_dimension: &'static str,
}

/// Writes groups and arrays, and remembers their metadata for the root.
struct Writer<'a> {
    root: &'a Path,
    store: Arc<FilesystemStore>,
    consolidated: Map<String, Value>,
}

impl<'a> Writer<'a> {
    fn new(root: &'a Path) -> Result<Self, StoreError> {
        let store = FilesystemStore::new(root).map_err(|error| zarr_error(root, &error))?;
        Ok(Self {
            root,
            store: Arc::new(store),
            consolidated: Map::new(),
        })
    }

    fn fail<E: Error + 'static>(&self) -> impl Fn(E) -> StoreError + use<'a, E> {
        let root = self.root;
        move |error| zarr_error(root, &error)
    }

    fn group(&mut self, name: &str, attributes: &Map<String, Value>) -> Result<(), StoreError> {
        let group = GroupBuilder::new()
            .attributes(attributes.clone())
            .build(self.store.clone(), &format!("/{name}"))
            .map_err(self.fail())?;
        group.store_metadata().map_err(self.fail())?;
        let metadata = serde_json::to_value(group.metadata()).map_err(self.fail())?;
        self.consolidated.insert(name.to_owned(), metadata);
        Ok(())
    }

    fn array(
        &mut self,
        name: &str,
        shape: &[usize],
        chunk: &[usize],
        dimensions: &[&str],
        data_type: impl Into<ArrayBuilderDataType>,
        fill: impl Into<ArrayBuilderFillValue>,
    ) -> Result<Array<FilesystemStore>, StoreError> {
        let wide = |sizes: &[usize]| -> Vec<u64> { sizes.iter().map(|n| *n as u64).collect() };
        let array = ArrayBuilder::new(wide(shape), wide(chunk), data_type, fill)
            .dimension_names(Some(dimensions.iter().copied()))
            .build(self.store.clone(), &format!("/{name}"))
            .map_err(self.fail())?;
        let options = ArrayMetadataOptions::default().with_include_zarrs_metadata(false);
        array.store_metadata_opt(&options).map_err(self.fail())?;
        let metadata = serde_json::to_value(array.metadata_opt(&options)).map_err(self.fail())?;
        self.consolidated.insert(name.to_owned(), metadata);
        Ok(array)
    }

    /// Coordinates that count from 0, one array per dimension.
    fn coordinates(&mut self, group: &str, dims: &[(&str, usize)]) -> Result<(), StoreError> {
        for (name, size) in dims {
            let path = format!("{group}/{name}");
            let chunk = [(*size).max(1)];
            let array = self.array(&path, &[*size], &chunk, &[name], data_type::int64(), 0_i64)?;
            if *size > 0 {
                let values: Vec<i64> = (0..*size as i64).collect();
                array.store_chunk(&[0], values).map_err(self.fail())?;
            }
        }
        Ok(())
    }

    /// One value per draw, all in one chunk.
    fn stat(
        &mut self,
        name: &str,
        shape: [usize; 2],
        values: &StatArray,
    ) -> Result<(), StoreError> {
        let path = format!("sample_stats/{name}");
        let chunk = shape.map(|size| size.max(1));
        let dims = ["chain", "draw"];
        let array = match values {
            StatArray::F64(_) => {
                self.array(&path, &shape, &chunk, &dims, data_type::float64(), 0.0_f64)?
            }
            StatArray::I64(_) => {
                self.array(&path, &shape, &chunk, &dims, data_type::int64(), 0_i64)?
            }
            StatArray::Bool(_) => self.array(
                &path,
                &shape,
                &chunk,
                &dims,
                data_type::bool(),
                FillValue::from(false),
            )?,
        };
        if values.is_empty() {
            return Ok(());
        }
        match values {
            StatArray::F64(values) => array.store_chunk(&[0, 0], &values[..]),
            StatArray::I64(values) => array.store_chunk(&[0, 0], &values[..]),
            StatArray::Bool(values) => array.store_chunk(&[0, 0], &values[..]),
        }
        .map_err(self.fail())
    }

    /// A large variable, block by block: `fill` is asked for one block of one chain at a time.
    fn blocks<T: Element + Clone + Default>(
        &mut self,
        variable: &Variable<'_>,
        data_type: impl Into<ArrayBuilderDataType>,
        fill_value: impl Into<ArrayBuilderFillValue>,
        mut fill: impl FnMut(usize, std::ops::Range<usize>, &mut [T]),
    ) -> Result<(), StoreError> {
        let [chains, draws, width] = variable.shape;
        let block = block_length(draws, width * size_of::<T>());
        let chunk = [1, block, width.max(1)];
        let dims = ["chain", "draw", variable.last_dimension];
        let array = self.array(
            variable.name,
            &variable.shape,
            &chunk,
            &dims,
            data_type,
            fill_value,
        )?;
        if width == 0 {
            return Ok(());
        }
        // A chunk is always stored whole; the end of the last one lies beyond the array.
        let mut buffer = vec![T::default(); block * width];
        for chain in 0..chains {
            for start in (0..draws).step_by(block) {
                let end = draws.min(start + block);
                let used = (end - start) * width;
                fill(chain, start..end, &mut buffer[..used]);
                buffer[used..].fill(T::default());
                let indices = [chain as u64, (start / block) as u64, 0];
                array
                    .store_chunk(&indices, &buffer[..])
                    .map_err(self.fail())?;
            }
        }
        Ok(())
    }

    /// Writes the root with everybody's metadata.
    fn finish(self, attributes: &Map<String, Value>) -> Result<(), StoreError> {
        let consolidated = json!({ "kind": "inline", "metadata": self.consolidated });
        let fields = AdditionalFieldsV3::from([(
            "consolidated_metadata".to_owned(),
            AdditionalFieldV3::new(consolidated, false),
        )]);
        let group = GroupBuilder::new()
            .attributes(attributes.clone())
            .additional_fields(fields)
            .build(self.store.clone(), "/")
            .map_err(self.fail())?;
        group.store_metadata().map_err(self.fail())
    }
}

/// Draws in a block: as few blocks as fit the limit, all about equally long.
fn block_length(draws: usize, bytes_per_draw: usize) -> usize {
    let most = (CHUNK_BYTES / bytes_per_draw.max(1)).max(1);
    let blocks = draws.div_ceil(most).max(1);
    draws.div_ceil(blocks).max(1)
}

/// Finds the operating system's error inside, so that a full disk is called a full disk.
fn zarr_error(path: &Path, error: &(dyn Error + 'static)) -> StoreError {
    let mut cause = Some(error);
    while let Some(inner) = cause {
        let found = inner
            .downcast_ref::<io::Error>()
            .or_else(|| inner.downcast_ref::<Arc<io::Error>>().map(Arc::as_ref))
            .or_else(|| storage_cause(inner));
        if let Some(found) = found {
            let copy = match found.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(found.kind(), found.to_string()),
            };
            return write_error(path)(copy);
        }
        cause = inner.source();
    }
    StoreError::Write {
        path: path.to_owned(),
        source: io::Error::other(error.to_string()),
    }
}

/// Errors that are shown as the error inside them do not name it as their source.
fn storage_cause<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    use zarrs::array::{ArrayError, CodecError};
    use zarrs::storage::StorageError;
    if let Some(ArrayError::StorageError(inner)) = error.downcast_ref() {
        return storage_cause(inner);
    }
    if let Some(ArrayError::CodecError(inner)) = error.downcast_ref() {
        return storage_cause(inner);
    }
    match error.downcast_ref() {
        Some(CodecError::StorageError(inner)) => return storage_cause(inner),
        Some(CodecError::IOError(inner)) => return Some(inner),
        _ => {}
    }
    match error.downcast_ref() {
        Some(StorageError::IOError(inner)) => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_even_and_small() {
        assert_eq!(block_length(1000, 512), 1000);
        assert_eq!(block_length(10_000, 512), 5000);
        assert_eq!(block_length(10, 100 << 20), 1);
        assert_eq!(block_length(0, 8), 1);
        assert_eq!(block_length(5, 0), 5);
    }

    #[test]
    fn a_full_disk_is_found_inside_other_errors() {
        use zarrs::array::ArrayError;
        use zarrs::storage::StorageError;
        let full = || io::Error::from_raw_os_error(28);
        let path = Path::new("x");
        let storage = StorageError::from(full());
        assert!(matches!(
            zarr_error(path, &storage),
            StoreError::DiskFull { .. }
        ));
        let array = ArrayError::from(StorageError::from(full()));
        assert!(matches!(
            zarr_error(path, &array),
            StoreError::DiskFull { .. }
        ));
    }
}
