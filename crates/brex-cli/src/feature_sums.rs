//! Feature sums of many episodes, each played again once for all encoders.

use crate::progress::Progress;
use anyhow::Result;
use brex_core::Episode;
use brex_envs::{ReplayError, make};
use brex_learn::{FeatureSum, Phi, replayed_sums};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// For each episode the sums of its features by each encoder.
pub(crate) fn feature_sums(
    encoders: &[&Phi],
    environment: &str,
    episodes: &[Episode],
    quiet: bool,
) -> Result<Vec<Vec<FeatureSum>>> {
    let progress = Progress::start("features", quiet);
    let (done, total) = (AtomicU64::new(0), episodes.len() as u64);
    let sums = episodes.par_iter().map_init(
        || None,
        |spare, episode| {
            let env = match spare {
                Some(env) => env,
                None => spare.insert(make(environment)?),
            };
            let sums = replayed_sums(encoders, env.as_mut(), episode);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress.update(done, Some(total), "episodes");
            sums
        },
    );
    let sums = sums.collect::<Result<Vec<_>, ReplayError>>()?;
    progress.finish();
    Ok(sums)
}
