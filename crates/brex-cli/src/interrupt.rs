//! Ctrl-C: the first one asks long work to end with what it has, the second one ends the program.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTENING: Once = Once::new();

/// The exit code of a program that was interrupted, by convention of Unix shells.
const INTERRUPTED: i32 = 130;

/// From now on Ctrl-C is a request. Where the system does not allow that, it stays what it was.
pub(crate) fn listen() {
    LISTENING.call_once(|| {
        let _ = ctrlc::set_handler(|| {
            if REQUESTED.swap(true, Ordering::SeqCst) {
                std::process::exit(INTERRUPTED);
            }
        });
    });
}

/// Asks all long work to end, as Ctrl-C does.
pub(crate) fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Whether somebody asked to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
