//! Features and predicted reward over the steps of two demonstrations.

use crate::commands::features::read_encoder;
use crate::plot::{CurvePanel, Curves};
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use anyhow::Result;
use brex_core::Draws;
use brex_envs::make;
use brex_learn::{Device, SeenEpisode};
use brex_store::{read_draws, read_run_features};

/// Features that are drawn, and draws of the posterior that make the band.
const FEATURES: usize = 5;
const DRAWS: usize = 400;
/// Points of a curve at most.
const POINTS: usize = 240;

/// Features of the frames of an episode, row by row.
struct Trace {
    name: String,
    rows: Vec<Vec<f32>>,
}

/// Predicted reward and features of the best and the worst demonstration; none if the encoder is not
/// the one of the features any more.
pub(super) fn traces(files: &RunFiles, recorded: &RecordedEpisodes) -> Result<Option<[String; 2]>> {
    let spec = recorded.spec()?;
    let run = read_run_features(&files.features)?;
    let (encoder, identity) = read_encoder(&files.encoder, &spec)?;
    if identity != run.encoder {
        return Ok(None);
    }
    let phi = encoder.phi(&Device::flex())?;
    let draws = read_draws(&files.posterior)?;
    let by_score = |a: &usize, b: &usize| {
        let (a, b) = (&recorded.episodes[*a], &recorded.episodes[*b]);
        a.score.total_cmp(&b.score)
    };
    let mut order: Vec<usize> = (0..recorded.ids.len()).collect();
    order.sort_by(by_score);
    let mut env = make(spec.name)?;
    let mut shown = Vec::new();
    for at in [order.last(), order.first()].into_iter().flatten() {
        let seen = SeenEpisode::replayed(env.as_mut(), &recorded.episodes[*at])?;
        let mut rows = Vec::new();
        phi.each_frame(&seen, |features| rows.push(features.to_vec()));
        let name = recorded.ids[*at].clone();
        shown.push(Trace { name, rows });
    }
    let varying = most_varying(&shown);
    let picture = |title: &str, y_name: &str, panels: Vec<CurvePanel>| {
        let curves = Curves {
            title: title.to_owned(),
            x_name: "step".to_owned(),
            y_name: y_name.to_owned(),
            panels,
        };
        curves.draw()
    };
    let rewards = shown.iter().map(|trace| trace.reward(&draws, run.scale));
    let features = shown.iter().map(|trace| trace.features(&varying));
    Ok(Some([
        picture("Predicted reward", "reward of the frame", rewards.collect()),
        picture("Features", "value", features.collect()),
    ]))
}

/// The features with the greatest variance over all frames shown.
fn most_varying(traces: &[Trace]) -> Vec<usize> {
    let rows = || traces.iter().flat_map(|trace| &trace.rows);
    let count = rows().count().max(1) as f64;
    let features = rows().next().map_or(0, Vec::len);
    let variance = |at: usize| {
        let values = || rows().map(|row| f64::from(row[at]));
        let mean = values().sum::<f64>() / count;
        values().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let mut order: Vec<(f64, usize)> = (0..features).map(|at| (variance(at), at)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    order.iter().take(FEATURES).map(|(_, at)| *at).collect()
}

impl Trace {
    fn places(&self) -> impl Iterator<Item = usize> + Clone {
        let step = self.rows.len().div_ceil(POINTS).max(1);
        (0..self.rows.len()).step_by(step)
    }

    fn features(&self, chosen: &[usize]) -> CurvePanel {
        let curve = |at: &usize| {
            let points = self
                .places()
                .map(|t| (t as f64, f64::from(self.rows[t][*at])));
            (format!("feature {at}"), points.collect())
        };
        CurvePanel {
            title: self.name.clone(),
            curves: chosen.iter().map(curve).collect(),
            levels: Vec::new(),
            dots: Vec::new(),
        }
    }

    /// The mean and the 5 % and 95 % quantiles of the reward of each frame.
    fn reward(&self, draws: &Draws, scale: f64) -> CurvePanel {
        let every = draws.len().div_ceil(DRAWS).max(1);
        let some: Vec<&[f64]> = draws.iter().step_by(every).collect();
        let mut curves: [Vec<(f64, f64)>; 3] = Default::default();
        for t in self.places() {
            let reward = |weights: &&[f64]| {
                let pairs = self.rows[t].iter().zip(*weights);
                pairs.map(|(f, w)| f64::from(*f) * w / scale).sum::<f64>()
            };
            let mut rewards: Vec<f64> = some.iter().map(reward).collect();
            rewards.sort_by(f64::total_cmp);
            let count = rewards.len();
            let mean = rewards.iter().sum::<f64>() / count as f64;
            let ends = [count / 20, count - 1 - count / 20].map(|at| rewards[at]);
            for (curve, value) in curves.iter_mut().zip([mean, ends[0], ends[1]]) {
                curve.push((t as f64, value));
            }
        }
        let names = ["mean reward", "5 %", "95 %"].map(str::to_owned);
        CurvePanel {
            title: self.name.clone(),
            curves: names.into_iter().zip(curves).collect(),
            levels: Vec::new(),
            dots: Vec::new(),
        }
    }
}
