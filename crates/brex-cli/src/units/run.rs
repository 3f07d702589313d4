//! Runs the units of a study that are not there yet: batches in parallel, in order, each kept as
//! soon as it is done.

use super::{Shard, Study, StudyFolder};
use crate::interrupt;
use crate::progress::Progress;
use anyhow::{Result, anyhow};
use rayon::prelude::*;
use std::sync::Mutex;

/// How a run of units ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All that were asked for are there.
    Done,
    /// The user asked to stop; running batches were finished and kept.
    Stopped,
}

/// Computes what is missing of a part of a study. `compute` is given the positions of units of one
/// batch and returns their results in the same order; it is called from several threads.
pub(crate) fn run_units<S: Study>(
    study: &S,
    folder: &mut StudyFolder<'_, S>,
    shard: Shard,
    (progress, remark): (&Progress, &str),
    compute: impl Fn(&[usize]) -> Result<Vec<S::UnitResult>> + Sync,
) -> Result<Ended> {
    let part = shard.select(study.batches());
    let total = part.iter().map(ExactSizeIterator::len).sum::<usize>();
    let missing: Vec<Vec<usize>> = part
        .into_iter()
        .map(|batch| batch.filter(|unit| !folder.has(*unit)).collect())
        .filter(|batch: &Vec<usize>| !batch.is_empty())
        .collect();
    let mut done = total - missing.iter().map(Vec::len).sum::<usize>();
    progress.update(done as u64, Some(total as u64), remark);
    interrupt::listen();
    let kept = Mutex::new((folder, &mut done));
    // Bridged, so that batches begin in the order of the study.
    missing.iter().par_bridge().try_for_each(|batch| {
        if interrupt::requested() {
            return Ok(());
        }
        let results = compute(batch)?;
        let mut kept = kept
            .lock()
            .map_err(|_| anyhow!("another thread failed while it kept results"))?;
        let (folder, done) = &mut *kept;
        folder.add(batch, &results)?;
        **done += batch.len();
        progress.update(**done as u64, Some(total as u64), remark);
        anyhow::Ok(())
    })?;
    Ok(if done == total {
        Ended::Done
    } else {
        Ended::Stopped
    })
}
