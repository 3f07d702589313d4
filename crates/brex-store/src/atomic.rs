//! Outputs that are either whole or absent.
//!
//! Files and directories are written under a temporary name, brought to the disk and renamed. A
//! killed process, a full disk or an error on the way leaves no half output under the name that
//! was asked for.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::error::write_error;
use crate::temporary::{self, Destination};

/// A file in every directory that is written here: the sign that it may be replaced.
const MARK: &str = ".brex";
const MARK_TEXT: &str = "Written by brex, which replaces this directory when told --force.\n";

/// A directory that appears under its name only when it is complete.
///
/// ```no_run
/// # fn main() -> Result<(), brex_store::StoreError> {
/// let out = brex_store::AtomicDir::create("run", false)?;
/// std::fs::write(out.path().join("summary.json"), "{}").ok();
/// out.commit()
/// # }
/// ```
#[derive(Debug)]
pub struct AtomicDir {
    destination: Destination,
    path: PathBuf,
    force: bool,
    /// Held while the directory is written, so that no other process takes it for a left-over.
    _lock: Option<File>,
    committed: bool,
}

impl AtomicDir {
    /// Starts a directory that will be called `target`.
    ///
    /// If `target` exists, that is an error, unless `force` is given and it is a directory that is
    /// empty or was written here; then it is replaced when the new one is committed.
    pub fn create(target: impl AsRef<Path>, force: bool) -> Result<Self, StoreError> {
        let target = target.as_ref();
        check_target(target, force)?;
        let mut destination = Destination::prepare(target)?;
        match make_directory(&destination) {
            Ok((path, lock)) => Ok(Self {
                destination,
                path,
                force,
                _lock: lock,
                committed: false,
            }),
            Err(error) => {
                destination.abandon();
                Err(write_error(target)(error))
            }
        }
    }

    /// Where to write the files meanwhile.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Brings everything to the disk and gives the directory its name.
    pub fn commit(mut self) -> Result<(), StoreError> {
        let target = self.destination.target.clone();
        let fail = write_error(&target);
        sync_tree(&self.path).map_err(&fail)?;
        check_target(&target, self.force)?;
        if target.exists() {
            let aside = self.destination.temporary();
            temporary::replace(&self.path, &target, &aside).map_err(&fail)?;
        } else {
            temporary::rename_to_free(&self.path, &target).map_err(&fail)?;
        }
        self.committed = true;
        self.destination.sync_parent()
    }
}

impl Drop for AtomicDir {
    fn drop(&mut self) {
        if !self.committed {
            temporary::remove(&self.path);
            self.destination.abandon();
        }
    }
}

/// Makes the temporary directory and locks it.
fn make_directory(destination: &Destination) -> io::Result<(PathBuf, Option<File>)> {
    loop {
        let path = destination.temporary();
        match fs::create_dir(&path) {
            Ok(()) => {}
            // Left by a process that had the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        let lock = File::open(&path).ok();
        let locked = lock
            .as_ref()
            .is_none_or(|file| temporary::lock(file).is_ok());
        // Between making and locking it, another process may have taken it for a left-over.
        if !locked || !path.exists() {
            continue;
        }
        if let Err(error) = fs::write(path.join(MARK), MARK_TEXT) {
            temporary::remove(&path);
            return Err(error);
        }
        return Ok((path, lock));
    }
}

fn check_target(target: &Path, force: bool) -> Result<(), StoreError> {
    if fs::symlink_metadata(target).is_err() {
        return Ok(());
    }
    let path = target.to_owned();
    if !force {
        return Err(StoreError::Exists { path });
    }
    let mut entries = fs::read_dir(target).map_err(write_error(target))?;
    let replaceable = target.join(MARK).is_file() || entries.next().is_none();
    if replaceable {
        Ok(())
    } else {
        Err(StoreError::NotOurs { path })
    }
}

fn sync_tree(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_tree(&entry.path())?;
        } else {
            temporary::sync(&entry.path())?;
        }
    }
    temporary::sync(directory)
}

/// Writes a file that appears under its name only when it is complete. An existing file is an
/// error unless `force` is given.
pub fn write_atomic(
    path: impl AsRef<Path>,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), StoreError> {
    let path = path.as_ref();
    if !force && fs::symlink_metadata(path).is_ok() {
        let path = path.to_owned();
        return Err(StoreError::Exists { path });
    }
    let mut destination = Destination::prepare(path)?;
    let temporary = destination.temporary();
    let written = write_and_rename(&temporary, &destination.target, force, write);
    if let Err(error) = written {
        temporary::remove(&temporary);
        destination.abandon();
        return Err(write_error(path)(error));
    }
    destination.sync_parent()
}

fn write_and_rename(
    temporary: &Path,
    target: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = File::create_new(temporary)?;
    temporary::lock(&file)?;
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    let file = buffered
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    if force {
        fs::rename(temporary, target)
    } else {
        temporary::rename_to_free(temporary, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn commit(target: &Path, force: bool, text: &str) -> Result<(), StoreError> {
        let out = AtomicDir::create(target, force)?;
        fs::create_dir(out.path().join("sub")).unwrap();
        fs::write(out.path().join("sub/file"), text).unwrap();
        out.commit()
    }

    #[test]
    fn a_directory_appears_whole_and_is_replaced_only_by_force() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let out = AtomicDir::create(&target, false).unwrap();
        assert!(!target.exists());
        drop(out);
        assert!(names(home.path()).is_empty());
        commit(&target, false, "old").unwrap();
        assert!(matches!(
            AtomicDir::create(&target, false),
            Err(StoreError::Exists { .. })
        ));
        commit(&target, true, "new").unwrap();
        let text = fs::read_to_string(target.join("sub/file")).unwrap();
        assert_eq!(text, "new");
        assert_eq!(names(home.path()), ["out"]);
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_one() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        commit(&target, false, "old").unwrap();
        let out = AtomicDir::create(&target, true).unwrap();
        fs::write(out.path().join("half"), "x").unwrap();
        drop(out);
        assert_eq!(fs::read_to_string(target.join("sub/file")).unwrap(), "old");
        assert_eq!(names(home.path()), ["out"]);
    }

    #[test]
    fn foreign_directories_are_not_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("thesis");
        fs::create_dir(&target).unwrap();
        commit(&target, true, "into an empty one").unwrap();
        let target = home.path().join("photos");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("precious"), "x").unwrap();
        assert!(matches!(
            AtomicDir::create(&target, true),
            Err(StoreError::NotOurs { .. })
        ));
        assert!(target.join("precious").exists());
        assert!(matches!(
            AtomicDir::create("/", true),
            Err(StoreError::NotOurs { .. } | StoreError::BadTarget { .. })
        ));
    }

    #[test]
    fn a_target_that_appears_meanwhile_is_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let out = AtomicDir::create(&target, false).unwrap();
        fs::create_dir(&target).unwrap();
        assert!(matches!(out.commit(), Err(StoreError::Exists { .. })));
        assert_eq!(names(home.path()), ["out"]);
    }

    #[test]
    fn left_overs_of_killed_processes_go_and_those_of_living_ones_stay() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("out");
        let stale = home.path().join(".out.brex-tmp-1-0");
        fs::create_dir(&stale).unwrap();
        fs::write(stale.join("half"), "x").unwrap();
        let other = home.path().join(".other.brex-tmp-1-0");
        fs::create_dir(&other).unwrap();
        let living = AtomicDir::create(&target, false).unwrap();
        assert!(!stale.exists() && other.exists());
        let second = AtomicDir::create(&target, false).unwrap();
        assert!(living.path().exists());
        second.commit().unwrap();
        assert!(matches!(living.commit(), Err(StoreError::Exists { .. })));
    }

    #[test]
    fn directories_above_are_made_and_removed_again() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("a/b/out");
        drop(AtomicDir::create(&target, false).unwrap());
        assert!(names(home.path()).is_empty());
        commit(&target, false, "x").unwrap();
        assert!(target.join("sub/file").exists());
    }

    #[test]
    fn a_file_is_whole_or_absent() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("made/file");
        let full = write_atomic(&path, false, |writer| {
            writer.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(matches!(full, Err(StoreError::DiskFull { .. })));
        assert!(names(home.path()).is_empty());
        write_atomic(&path, false, |writer| writer.write_all(b"one")).unwrap();
        let again = write_atomic(&path, false, |writer| writer.write_all(b"two"));
        assert!(matches!(again, Err(StoreError::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write_atomic(&path, true, |writer| writer.write_all(b"two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(&home.path().join("made")), ["file"]);
    }
}
