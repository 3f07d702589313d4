//! Temporary siblings of an output, and moving them into place.
//!
//! An output called `NAME` is written as `.NAME.brex-tmp-PID-N` in the same directory, so that the
//! last step is a rename within one file system. While it is written it is locked; the operating
//! system drops the lock when the process ends, however it ends. A temporary sibling without a
//! lock was left by a killed process and is removed before the next output of that name is
//! written.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::StoreError;
use crate::error::write_error;

/// What comes between the output's name and the number of the process.
const INFIX: &str = ".brex-tmp-";

/// The path as it will be called in the end, for messages: the temporary name is nobody's concern.
pub(crate) fn final_name(path: &Path) -> PathBuf {
    path.iter()
        .map(|part| {
            let name = part
                .to_str()
                .and_then(|part| part.strip_prefix('.')?.split_once(INFIX));
            name.map_or(part, |(name, _)| OsStr::new(name))
        })
        .collect()
}

/// An output to be: where it goes, and what had to be made for it.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) target: PathBuf,
    parent: PathBuf,
    /// Directories above the target that were not there, outermost first.
    made: Vec<PathBuf>,
}

impl Destination {
    /// Prepares `target`: makes the directories above it and removes what killed processes left.
    pub(crate) fn prepare(target: &Path) -> Result<Self, StoreError> {
        if target.file_name().is_none() {
            let path = target.to_owned();
            return Err(StoreError::BadTarget { path });
        }
        // What a link points to is replaced, not the link.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let missing: Vec<PathBuf> = parent
            .ancestors()
            .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
            .map(Path::to_owned)
            .collect();
        let mut destination = Self {
            target,
            parent,
            made: Vec::new(),
        };
        for directory in missing.into_iter().rev() {
            match fs::create_dir(&directory) {
                Ok(()) => destination.made.push(directory),
                // Somebody else made it meanwhile, and it is theirs to remove.
                Err(_) if directory.is_dir() => {}
                Err(error) => {
                    destination.abandon();
                    return Err(write_error(&directory)(error));
                }
            }
        }
        destination.remove_stale();
        Ok(destination)
    }

    fn prefix(&self) -> OsString {
        let mut prefix = OsString::from(".");
        prefix.push(self.target.file_name().unwrap_or_default());
        prefix.push(INFIX);
        prefix
    }

    /// A name beside the target that nobody else uses.
    pub(crate) fn temporary(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut name = self.prefix();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        name.push(format!("{}-{count}", std::process::id()));
        self.parent.join(name)
    }

    /// Removes temporary siblings that no living process holds. Only an attempt: what cannot be
    /// removed does not stop the work.
    fn remove_stale(&self) {
        let prefix = self.prefix();
        let Ok(entries) = fs::read_dir(&self.parent) else {
            return;
        };
        for entry in entries.flatten() {
            let ours = entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(prefix.as_encoded_bytes());
            // Opening a pipe would wait for its other end.
            let plain = entry
                .file_type()
                .is_ok_and(|kind| kind.is_dir() || kind.is_file());
            if ours
                && plain
                && let Ok(file) = File::open(entry.path())
                && file.try_lock().is_ok()
            {
                remove(&entry.path());
            }
        }
    }

    /// Makes the rename last through a power failure.
    pub(crate) fn sync_parent(&self) -> Result<(), StoreError> {
        sync(&self.parent).map_err(write_error(&self.parent))
    }

    /// Removes the directories that were made for an output that did not come about.
    pub(crate) fn abandon(&mut self) {
        for directory in self.made.drain(..).rev() {
            // Fails if somebody else has put something there meanwhile; then it stays.
            drop(fs::remove_dir(directory));
        }
    }
}

/// Takes the lock that tells others that `file` is being written. File systems without locks are
/// used without.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
        Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Removes a file or a whole directory, as far as possible.
pub(crate) fn remove(path: &Path) {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    drop(if is_directory {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    });
}

/// Brings a file or directory to the disk.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    // Directories cannot be opened on every system; then there is nothing to be done.
    match File::open(path) {
        Ok(file) => file.sync_all(),
        Err(_) if cfg!(not(unix)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Moves `from` to `to`, which must not exist.
pub(crate) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            Err(error) if unsupported(error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

/// Puts `from` in the place of `to`; what was there is removed. Where the system can exchange two
/// names at once, a kill at any moment leaves the old or the new one. Elsewhere it may leave
/// neither, but never a half.
pub(crate) fn replace(from: &Path, to: &Path, aside: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE) {
            Ok(()) => {
                remove(from);
                return Ok(());
            }
            Err(error) if unsupported(error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    fs::rename(to, aside)?;
    if let Err(error) = fs::rename(from, to) {
        // Put the old one back; if that fails too, the first error is the one to report.
        drop(fs::rename(aside, to));
        return Err(error);
    }
    remove(aside);
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_use_the_final_name() {
        let path = Path::new("/a/.out.brex-tmp-12-0/posterior.zarr");
        assert_eq!(final_name(path), Path::new("/a/out/posterior.zarr"));
        assert_eq!(final_name(Path::new("b/.hidden")), Path::new("b/.hidden"));
    }

    /// Lanes of a study begin in a folder that none of them has made yet.
    #[test]
    fn several_may_make_the_same_directories() {
        const OUTPUTS: usize = 8;
        let folder = tempfile::tempdir().unwrap();
        for round in 0..200 {
            let together = std::sync::Barrier::new(OUTPUTS);
            let prepare = |at: usize| {
                let target = folder.path().join(format!("{round}/runs/games/{at}"));
                together.wait();
                Destination::prepare(&target).map(|_| ())
            };
            std::thread::scope(|scope| {
                let outputs: Vec<_> = (0..OUTPUTS)
                    .map(|at| {
                        scope.spawn({
                            let prepare = &prepare;
                            move || prepare(at)
                        })
                    })
                    .collect();
                for output in outputs {
                    output.join().unwrap().unwrap();
                }
            });
        }
    }
}
