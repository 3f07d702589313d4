//! Runs units that are long and use several threads themselves: some of them side by side, each with
//! its share of the threads. Training a small network uses two threads by half and sixteen hardly at
//! all; two trainings on a thread each are done sooner.

use super::{Study, StudyFolder};
use crate::interrupt;
use anyhow::{Context, Error, Result, anyhow};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Computes units in order, `lanes` of them at a time, and keeps each as soon as it is done; `kept` is
/// told how many of how many that makes. When one fails, the others are asked to stop, and what is
/// wrong with the first is the error.
pub(crate) fn run_in_lanes<S: Study>(
    folder: &mut StudyFolder<'_, S>,
    units: &[usize],
    lanes: usize,
    compute: impl Fn(usize) -> Result<S::UnitResult> + Sync,
    kept: impl Fn(usize, (usize, usize)) + Sync,
) -> Result<()> {
    let threads = rayon::current_num_threads();
    let next = AtomicUsize::new(0);
    let folder = Mutex::new(folder);
    let failures: Mutex<Vec<Error>> = Mutex::new(Vec::new());
    let broken = || anyhow!("another thread failed while it kept results");
    let begin = |at: usize, unit: usize| -> Result<()> {
        let share = share_of(threads, lanes, units.len() - at);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(share);
        let pool = pool.build().context("cannot start the threads")?;
        let result = pool.install(|| compute(unit))?;
        let mut folder = folder.lock().map_err(|_| broken())?;
        folder.add(&[unit], &[result])?;
        kept(unit, folder.progress());
        Ok(())
    };
    let lane = || {
        while !interrupt::requested() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = units.get(at) else { return };
            if let Err(error) = begin(at, *unit) {
                if let Ok(mut failures) = failures.lock() {
                    failures.push(error);
                }
                interrupt::request();
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(lane);
        }
    });
    let failures = failures.into_inner().map_err(|_| broken())?;
    match failures.into_iter().next() {
        Some(first) => Err(first),
        None => Ok(()),
    }
}

/// The threads of a unit that is begun while `waiting` are left, itself among them: the last ones need
/// not leave room for others.
fn share_of(threads: usize, lanes: usize, waiting: usize) -> usize {
    threads.div_ceil(lanes.min(waiting).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_shared_among_those_that_run_and_the_last_has_them_all() {
        let shares = |threads: usize, lanes: usize, units: usize| -> Vec<usize> {
            let waiting = (1..=units).rev();
            waiting
                .map(|waiting| share_of(threads, lanes, waiting))
                .collect()
        };
        assert_eq!(shares(2, 2, 5), [1, 1, 1, 1, 2]);
        assert_eq!(shares(16, 4, 5), [4, 4, 6, 8, 16]);
        assert_eq!(shares(2, 1, 3), [2, 2, 2]);
        assert_eq!(shares(3, 2, 3), [2, 2, 3]);
    }
}
