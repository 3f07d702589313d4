//! Rules that every reader of hostile bytes follows.
//!
//! - Nothing is allocated because a header says so: a claim is first compared with the bytes that
//!   are really there ([`check_claim`]).
//! - Compressed data may be larger than the file, but only up to a ratio that real data does not
//!   reach ([`MAX_INFLATION`]); small claims always pass ([`FREE_CLAIM`]).
//! - Decoders of other people that may panic on damaged bytes run inside [`contain`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

use crate::StoreError;

/// How many times larger than the file the decoded data may be.
const MAX_INFLATION: u128 = 200;

/// Decoded data of up to this many bytes is allowed whatever the file's size: a constant column
/// compresses without limit.
const FREE_CLAIM: u128 = 64 << 20;

thread_local! {
    /// Whether this thread is inside [`contain`].
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Refuses decoded data of `claimed` bytes if a file of `size` bytes cannot plausibly hold it.
pub(crate) fn check_claim(path: &Path, claimed: u128, size: u64) -> Result<(), StoreError> {
    let fits_memory = usize::try_from(claimed).is_ok();
    if fits_memory && claimed <= FREE_CLAIM.max(MAX_INFLATION * u128::from(size)) {
        return Ok(());
    }
    Err(StoreError::Inflated {
        path: path.to_owned(),
        claimed: claimed.to_string(),
        size,
    })
}

/// The number of elements of `shape`, if it can be counted.
pub(crate) fn element_count(shape: &[usize]) -> Option<usize> {
    // A zero anywhere makes the product zero, however large the other dimensions are.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |n, dim| n.checked_mul(*dim))
}

/// Runs a decoder that may panic on damaged input, and turns the panic into an error.
///
/// The decoders behind this guard return errors for what their authors thought of, but arithmetic
/// and slicing deep inside them can still panic on bytes made to hurt. They work on borrowed bytes
/// and own what they build, so nothing half-changed survives the unwinding.
///
/// The message of such a panic would only puzzle: the first call puts a hook before the program's
/// own one that keeps silent on a thread that is in here, and passes on everything else.
pub(crate) fn contain<T>(
    path: &Path,
    format: &'static str,
    decode: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !CONTAINED.get() {
                before(info);
            }
        }));
    });
    let outer = CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    CONTAINED.set(outer);
    result.unwrap_or_else(|_| {
        Err(StoreError::Malformed {
            path: path.to_owned(),
            format,
            problem: "its structure is damaged".to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_measured_against_the_file() {
        let path = Path::new("x");
        assert!(check_claim(path, 64 << 20, 10).is_ok());
        assert!(check_claim(path, (64 << 20) + 1, 10).is_err());
        assert!(check_claim(path, 200 << 30, 1 << 30).is_ok());
        assert!(check_claim(path, (200 << 30) + 1, 1 << 30).is_err());
        assert!(check_claim(path, u128::MAX, u64::MAX).is_err());
    }

    #[test]
    fn counting_does_not_overflow() {
        assert_eq!(element_count(&[2, 3]), Some(6));
        assert_eq!(element_count(&[usize::MAX, 2]), None);
        assert_eq!(element_count(&[usize::MAX, usize::MAX, 0]), Some(0));
        assert_eq!(element_count(&[]), Some(1));
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let caught = contain::<()>(Path::new("x"), "test", || panic!("damaged"));
        assert!(matches!(caught, Err(StoreError::Malformed { .. })));
    }
}
