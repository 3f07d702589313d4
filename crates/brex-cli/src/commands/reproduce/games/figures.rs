//! Pictures of a study of games: how agents learned, and how well returns were predicted.

use super::paper::paper;
use super::result::{GameResult, JudgedPolicy, Judgement};
use crate::commands::train::taken_update;
use crate::numbers;
use crate::plot::{
    Chart, CurvePanel, Curves, DrawnBound, DrawnFrom, Reading, Ridge, Ridgeline, Series,
};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// Points of a learning curve that are kept.
const POINTS: usize = 40;
/// Returns of a policy under the posterior that are kept.
const RETURNS: usize = 101;
/// Policies whose returns are drawn.
pub(super) const DRAWN: [&str; 9] = [
    "A", "B", "C", "D", "mean", "asked", "map", "No-Op", "hacker",
];

/// Returns at even steps of probability, from the least to the greatest.
pub(super) fn thinned_returns(returns: &[f64]) -> Vec<f64> {
    let mut sorted = returns.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.len() <= RETURNS {
        return sorted;
    }
    let (last, steps) = (sorted.len() - 1, RETURNS - 1);
    let at = |step: usize| sorted[(step * last + steps / 2) / steps];
    (0..RETURNS).map(at).collect()
}

/// A training's learning curve, thinned: steps and recent scores.
pub(super) fn thinned_curve(training: &Path) -> Result<Vec<[f64; 2]>> {
    let rows = numbers_of(training, ["steps", "score"])?;
    let every = rows.len().div_ceil(POINTS).max(1);
    // The last row always counts.
    let kept = rows.iter().rev().step_by(every).rev();
    Ok(kept
        .filter_map(|[steps, score]| Some([(*steps)?, (*score)?]))
        .collect())
}

/// After how many steps the policy was taken that a training came to, if it was chosen among several.
pub(super) fn taken_after(training: &Path) -> Result<Option<f64>> {
    let Some(update) = taken_update(training)? else {
        return Ok(None);
    };
    let rows = numbers_of(training, ["update", "steps"])?;
    let taken = rows.iter().find(|row| row[0] == Some(update as f64));
    Ok(taken.and_then(|row| row[1]))
}

/// Two columns of a training's log; cells may be empty.
fn numbers_of(training: &Path, columns: [&str; 2]) -> Result<Vec<[Option<f64>; 2]>> {
    let path = training.join("curve.csv");
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let places = columns.map(|name| heads.iter().position(|head| *head == name));
    let [Some(first), Some(second)] = places else {
        let [first, second] = columns;
        bail!("{}: has no columns {first} and {second}", path.display());
    };
    let rows = lines.map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        [first, second].map(|at| cells.get(at)?.parse().ok())
    });
    Ok(rows.collect())
}

/// The height of a curve at a place between its ends: that of the nearest point.
fn nearest(points: &[[f64; 2]], place: f64) -> Option<(f64, f64)> {
    let distance = |point: &&[f64; 2]| (point[0] - place).abs();
    let nearest = points
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some((nearest[0], nearest[1]))
}

/// True scores of agents while they learned, the first seed of every game, all in one picture.
pub(super) fn learning(games: &[String], results: &[&[&GameResult]]) -> String {
    let title = "True scores while learning";
    drawn(title, learning_panels(games, results))
}

/// The same, a picture for each game that has curves.
pub(super) fn learning_by_game(games: &[String], results: &[&[&GameResult]]) -> Vec<String> {
    let panels = learning_panels(games, results).into_iter();
    let some = panels.filter(|panel| !panel.curves.is_empty());
    some.map(|mut panel| drawn(&std::mem::take(&mut panel.title), vec![panel]))
        .collect()
}

fn drawn(title: &str, panels: Vec<CurvePanel>) -> String {
    let figure = Curves {
        title: title.to_owned(),
        x_name: "steps".to_owned(),
        y_name: "score".to_owned(),
        panels,
    };
    figure.draw()
}

/// The first seed's curves for every game; a level for the best demonstration, dots where agents were stopped.
fn learning_panels(games: &[String], results: &[&[&GameResult]]) -> Vec<CurvePanel> {
    let panels = games.iter().zip(results).filter_map(|(game, seeds)| {
        let first = seeds.first()?;
        let curves = first.curves.iter().map(|(name, points)| {
            let points = points.iter().map(|[x, y]| (*x, *y));
            (name.clone(), points.collect())
        });
        let dots = first.curves.iter().enumerate();
        let dots = dots.filter_map(|(at, (name, points))| {
            Some((at, nearest(points, *first.taken.get(name)?)?))
        });
        Some(CurvePanel {
            title: paper(game)
                .map_or(game.as_str(), |paper| paper.name)
                .to_owned(),
            curves: curves.collect(),
            levels: vec![("best demonstration".to_owned(), first.demonstrations.best())],
            dots: dots.collect(),
        })
    });
    panels.collect()
}

/// Predicted returns against true scores, down to the bound, a line for every seed.
pub(super) fn predicted(game: &str, seeds: &[&GameResult]) -> Option<String> {
    let mut series = Vec::new();
    for (index, result) in seeds.iter().enumerate() {
        let judged = result.judgements.get("before")?;
        let mut readings: Vec<Reading> = judged
            .policies
            .iter()
            .filter_map(|policy| {
                Some(Reading {
                    x: policy.true_score,
                    y: policy.mean / policy.length,
                    low: policy.var? / policy.length,
                    high: policy.mean / policy.length,
                })
            })
            .collect();
        readings.sort_by(|a, b| a.x.total_cmp(&b.x));
        let order = judged.rank_correlation.and_then(|order| order.mean);
        let order = order.map_or_else(String::new, |value| numbers::fixed(value, 2));
        series.push(Series {
            name: format!("seed {index}: rank correlation of returns {order}"),
            readings,
        });
    }
    let name = paper(game).map_or(game, |paper| paper.name);
    let figure = Chart {
        title: format!("{name}: predicted return a step, with its bound, against the true score"),
        x_name: "true score".to_owned(),
        x_places: Vec::new(),
        y_name: "predicted return a step".to_owned(),
        series,
        diagonal: None,
    };
    Some(figure.draw())
}

/// What returns may be under the posterior, the highest bound first.
pub(super) fn returns(title: &str, judged: &Judgement) -> Option<String> {
    let mut drawn: Vec<&JudgedPolicy> = judged
        .policies
        .iter()
        .filter(|policy| !policy.returns.is_empty())
        .collect();
    let bound = |policy: &JudgedPolicy| policy.var.unwrap_or(f64::NEG_INFINITY);
    drawn.sort_by(|a, b| bound(b).total_cmp(&bound(a)));
    let rows = drawn.iter().map(|policy| Ridge {
        name: policy.policy.clone(),
        returns: policy.returns.clone(),
        mean: policy.mean,
        mean_error: policy.mean_mcse,
        bound: policy.var.map(|value| DrawnBound {
            value,
            error: policy.var_mcse.unwrap_or_default(),
        }),
    });
    let figure = Ridgeline {
        title: title.to_owned(),
        from: DrawnFrom::Posterior,
        delta: 0.05,
        rows: rows.collect(),
    };
    (!figure.rows.is_empty()).then(|| figure.draw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_are_thinned_from_end_to_end() {
        let many: Vec<f64> = (0..5001).rev().map(f64::from).collect();
        let thinned = thinned_returns(&many);
        assert_eq!(thinned.len(), RETURNS);
        assert_eq!(
            (thinned[0], thinned[50], thinned[100]),
            (0.0, 2500.0, 5000.0)
        );
        assert_eq!(thinned_returns(&[3.0, 1.0, 2.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn curves_are_thinned_to_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = "update,steps,score\n".to_owned();
        for row in 1..=100 {
            let score = if row < 10 {
                String::new()
            } else {
                (row * 2).to_string()
            };
            text.push_str(&format!("{row},{},{score}\n", row * 64));
        }
        fs::write(folder.path().join("curve.csv"), text).unwrap();
        let points = thinned_curve(folder.path()).unwrap();
        assert!((20..=POINTS).contains(&points.len()));
        assert_eq!(points.last(), Some(&[6400.0, 200.0]));
        assert!(points.iter().all(|[steps, score]| steps / 32.0 == *score));
        assert_eq!(nearest(&points, 6399.0), Some((6400.0, 200.0)));

        assert_eq!(taken_after(folder.path()).unwrap(), None);
        let choice = r#"[{"update": 30, "chosen": false}, {"update": 60, "chosen": true}]"#;
        fs::write(folder.path().join("choice.json"), choice).unwrap();
        assert_eq!(taken_after(folder.path()).unwrap(), Some(3840.0));
    }
}
