//! Reads a posterior from a Zarr store: which groups and variables, and how they fit together.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::StoreError;
use crate::error::read_error;
use crate::posterior::{PosteriorFile, StatArray};
use crate::read::draws_from;
use crate::zarr_array::{ZarrArray, zarr_error};

/// Variables of a group beyond this number are not looked at.
const MAX_VARIABLES: usize = 200;

/// Where the files of a Zarr store come from.
pub(crate) trait Store {
    /// The file called `key`, if there is one.
    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Its size; 0 if there is none.
    fn size(&self, key: &str) -> Result<u64, StoreError>;
    /// The names of what is in a group, sorted.
    fn children(&self, group: &str) -> Result<Vec<String>, StoreError>;
}

/// A store in a directory.
pub(crate) struct DirectoryStore {
    root: PathBuf,
}

impl DirectoryStore {
    pub(crate) fn new(root: &Path) -> Self {
        let root = root.to_owned();
        Self { root }
    }
}

impl Store for DirectoryStore {
    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.root.join(key);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(read_error(&path)(error)),
        }
    }

    fn size(&self, key: &str) -> Result<u64, StoreError> {
        let path = self.root.join(key);
        match fs::metadata(&path) {
            Ok(found) => Ok(found.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(read_error(&path)(error)),
        }
    }

    fn children(&self, group: &str) -> Result<Vec<String>, StoreError> {
        let path = self.root.join(group);
        let mut names: Vec<String> = fs::read_dir(&path)
            .map_err(read_error(&path))?
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .take(MAX_VARIABLES)
            .collect();
        names.sort();
        Ok(names)
    }
}

/// A store in memory, for tests and fuzzing.
impl Store for BTreeMap<String, Vec<u8>> {
    fn read(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.get(key).cloned())
    }

    fn size(&self, key: &str) -> Result<u64, StoreError> {
        Ok(self.get(key).map_or(0, |bytes| bytes.len() as u64))
    }

    fn children(&self, group: &str) -> Result<Vec<String>, StoreError> {
        let mut names: Vec<String> = self
            .keys()
            .filter_map(|key| {
                key.strip_prefix(group)?
                    .strip_prefix('/')?
                    .split('/')
                    .next()
            })
            .map(str::to_owned)
            .take(MAX_VARIABLES)
            .collect();
        names.dedup();
        Ok(names)
    }
}

/// Reads the groups `posterior` and `sample_stats`.
pub(crate) fn read_groups(path: &Path, store: &dyn Store) -> Result<PosteriorFile, StoreError> {
    let attributes = read_attributes(path, store)?;
    let weights = open_weights(path, store)?;
    check_dimensions(path, &weights)?;
    let &[chains, draws, dim] = weights.shape() else {
        return Err(StoreError::Shape {
            path: path.to_owned(),
            array: "w".to_owned(),
            expected: "three dimensions (chain, draw, feature)",
            found: weights.shape().to_vec(),
        });
    };
    let StatArray::F64(values) = weights.read()? else {
        return Err(zarr_error(path, "w: expected real numbers".to_owned()));
    };
    let draws = draws_from(path, chains, draws, dim, values)?;
    let shape = [chains, draws.draws_per_chain()];
    let mut sample_stats = read_stats(path, store, shape)?;
    let lp = match sample_stats.remove("lp") {
        Some(StatArray::F64(values)) => Some(values),
        Some(_) => return Err(zarr_error(path, "lp: expected real numbers".to_owned())),
        None => None,
    };
    Ok(PosteriorFile {
        draws,
        lp,
        sample_stats,
        attributes,
    })
}

/// The attributes of group `posterior`.
fn read_attributes(path: &Path, store: &dyn Store) -> Result<Map<String, Value>, StoreError> {
    let Some(text) = store.read("posterior/zarr.json")? else {
        return Err(zarr_error(path, "no group `posterior`".to_owned()));
    };
    let mut json: Map<String, Value> = serde_json::from_slice(&text)
        .map_err(|error| zarr_error(path, format!("posterior: {error}")))?;
    match json.remove("attributes") {
        Some(Value::Object(attributes)) => Ok(attributes),
        _ => Ok(Map::new()),
    }
}

/// The variable `w`, or the only other one of three dimensions.
fn open_weights<'a>(path: &'a Path, store: &'a dyn Store) -> Result<ZarrArray<'a>, StoreError> {
    if let Some(array) = ZarrArray::open(path, store, "posterior/w")? {
        return Ok(array);
    }
    let mut found = Vec::new();
    for name in store.children("posterior")? {
        if let Ok(Some(array)) = ZarrArray::open(path, store, &format!("posterior/{name}"))
            && array.shape().len() == 3
        {
            found.push(array);
        }
    }
    if found.len() == 1
        && let Some(only) = found.pop()
    {
        return Ok(only);
    }
    Err(zarr_error(
        path,
        format!(
            "group `posterior` has no variable `w` and {} others of three dimensions",
            found.len()
        ),
    ))
}

/// Dimensions that have names must have the right ones.
fn check_dimensions(path: &Path, array: &ZarrArray<'_>) -> Result<(), StoreError> {
    let names = array.dimensions();
    let is = |axis: usize, expected: &str| names.get(axis).is_some_and(|name| name == expected);
    if names.is_empty() || (is(0, "chain") && is(1, "draw")) {
        return Ok(());
    }
    Err(zarr_error(
        path,
        format!(
            "w: expected the dimensions chain, draw, feature; found {}",
            crate::error::excerpt(&names.join(", "))
        ),
    ))
}

/// Everything in `sample_stats` that has one value per draw.
fn read_stats(
    path: &Path,
    store: &dyn Store,
    shape: [usize; 2],
) -> Result<BTreeMap<String, StatArray>, StoreError> {
    let mut stats = BTreeMap::new();
    if store.read("sample_stats/zarr.json")?.is_none() {
        return Ok(stats);
    }
    for name in store.children("sample_stats")? {
        let array = ZarrArray::open(path, store, &format!("sample_stats/{name}"));
        // Statistics of other kinds, that others wrote, are none of our business.
        let Ok(Some(array)) = array else { continue };
        if array.shape() != shape {
            if name == "lp" {
                return Err(zarr_error(
                    path,
                    format!("lp: expected shape {shape:?}, found {:?}", array.shape()),
                ));
            }
            continue;
        }
        stats.insert(name, array.read()?);
    }
    Ok(stats)
}

/// Reads a posterior whose variable `w` has the given metadata and a single chunk. For fuzzing.
#[doc(hidden)]
pub fn posterior_from_bytes(metadata: &[u8], chunk: &[u8]) -> Result<PosteriorFile, StoreError> {
    let store = BTreeMap::from([
        ("posterior/zarr.json".to_owned(), b"{}".to_vec()),
        ("posterior/w/zarr.json".to_owned(), metadata.to_vec()),
        ("posterior/w/c/0/0/0".to_owned(), chunk.to_vec()),
    ]);
    read_groups(Path::new("bytes"), &store)
}
