//! The figure of `brex evaluate --plot`: one row per policy with the distribution of its return
//! under the posterior, the lower bound and the part of the posterior below it.
//!
//! Outlines are scaled to the same height, because their widths differ too much for equal areas.
//! When returns differ by orders of magnitude the axis becomes logarithmic on both sides of zero.

use super::canvas::{Anchor, Canvas, Stroke};
use super::density::Outline;
use super::font::{self, Weight};
use super::frame::{self, Area, Sign};
use super::scale::{Scale, Shape};
use crate::numbers;

const WIDTH: f64 = 940.0;
const MARGIN: f64 = 24.0;
const LONGEST_NAME: f64 = 190.0;
const BODY: &str = "#7fb2d6";
const BODY_LINE: &str = "#2f6f9f";
const TAIL: &str = "#e8833a";
const BOUND: &str = "#b34700";
const MEAN: &str = "#16425f";

/// Policies whose largest returns differ by more than this get a logarithmic axis.
const LINEAR_UP_TO: f64 = 50.0;

/// A lower bound as it is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrawnBound {
    pub(crate) value: f64,
    /// Its Monte-Carlo standard error.
    pub(crate) error: f64,
}

/// One policy.
#[derive(Debug, Clone)]
pub(crate) struct Ridge {
    pub(crate) name: String,
    /// The return under every draw.
    pub(crate) returns: Vec<f64>,
    pub(crate) mean: f64,
    /// The Monte-Carlo standard error of the mean; decides how many digits are shown.
    pub(crate) mean_error: f64,
    /// Absent where the bound was refused.
    pub(crate) bound: Option<DrawnBound>,
}

/// What returns are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrawnFrom {
    /// The posterior over weights.
    Posterior,
    /// What another method samples.
    Samples,
}

impl DrawnFrom {
    /// Its name, and what it does below a bound.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Posterior => ("posterior", "lies"),
            Self::Samples => ("samples", "lie"),
        }
    }

    /// What the axis shows.
    fn axis(self) -> &'static str {
        match self {
            Self::Posterior => "return under the posterior",
            Self::Samples => "sampled return",
        }
    }
}

/// The whole figure; the rows are drawn from top to bottom as given.
#[derive(Debug, Clone)]
pub(crate) struct Ridgeline {
    pub(crate) title: String,
    pub(crate) from: DrawnFrom,
    /// The share of what is drawn from below the bounds.
    pub(crate) delta: f64,
    pub(crate) rows: Vec<Ridge>,
}

impl Ridgeline {
    /// The figure as SVG.
    pub(crate) fn draw(&self) -> String {
        let count = self.rows.len().max(1) as f64;
        let row_height = (580.0 / count).clamp(26.0, 66.0);
        let names = Column::of("policy", self.rows.iter().map(|row| row.name.clone()));
        let bounds = Column::of(
            &format!("{}-VaR", self.delta),
            self.rows.iter().map(Ridge::bound_label),
        );
        let means = Column::of(
            "mean",
            self.rows
                .iter()
                .map(|row| signed(&numbers::as_precise_as(row.mean, row.mean_error))),
        );
        let legend = self.legend();
        let inner = WIDTH - 2.0 * MARGIN;
        let legend_top = 62.0;
        let head = legend_top + frame::legend_height(&legend, inner) + 14.0;
        let area = Area {
            left: MARGIN + names.width.min(LONGEST_NAME) + 16.0,
            top: head + 8.0,
            right: WIDTH - MARGIN - bounds.width - means.width - 18.0 - 18.0,
            bottom: head + 8.0 + count * row_height + 8.0,
        };
        let scale = self.scale(area);
        let mut canvas = Canvas::new(WIDTH, area.bottom + 62.0);
        let title = font::fit(&self.title, frame::TITLE.size, Weight::Bold, inner);
        canvas.text((MARGIN, 36.0), &title, frame::TITLE);
        frame::legend(&mut canvas, (MARGIN, legend_top), inner, &legend);
        let mut name = self.from.axis().to_owned();
        if matches!(scale.shape(), Shape::SymmetricLog { .. }) {
            name.push_str(" (logarithmic away from zero)");
        }
        frame::x_axis(&mut canvas, area, &scale, &name);
        let (bounds_end, means_end) = (area.right + 18.0 + bounds.width, WIDTH - MARGIN);
        let note = frame::anchored(frame::NOTE, Anchor::End);
        canvas.text((bounds_end, head), &bounds.head, note);
        canvas.text((means_end, head), &means.head, note);
        for (index, row) in self.rows.iter().enumerate() {
            let base = area.top + (index + 1) as f64 * row_height;
            row.draw(&mut canvas, area, &scale, base, row_height);
            let text = base - (row_height * 0.22).min(9.0);
            let name = font::fit(&row.name, frame::LABEL.size, Weight::Regular, LONGEST_NAME);
            let style = frame::anchored(frame::LABEL, Anchor::End);
            canvas.text((area.left - 16.0, text), &name, style);
            let mut style = style;
            style.colour = MEAN;
            canvas.text((means_end, text), &means.cells[index], style);
            style.colour = BOUND;
            canvas.text((bounds_end, text), &bounds.cells[index], style.bold());
        }
        canvas.finish(&self.title)
    }

    fn legend(&self) -> Vec<(Sign, String)> {
        let share = numbers::percent(self.delta);
        let (whole, lies) = self.from.words();
        vec![
            (
                Sign::Tick { colour: BOUND },
                format!("bound ({}-VaR) and its Monte-Carlo error", self.delta),
            ),
            (
                Sign::Patch {
                    fill: TAIL,
                    opacity: 0.75,
                },
                format!("{share} of the {whole} {lies} below the bound"),
            ),
            (
                Sign::Patch {
                    fill: BODY,
                    opacity: 0.75,
                },
                format!("the rest of the {whole}"),
            ),
            (Sign::Dot { colour: MEAN }, "mean".to_owned()),
        ]
    }

    /// A scale over all but the outermost returns of every policy.
    fn scale(&self, area: Area) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut sizes = Vec::new();
        for row in &self.rows {
            let (from, to) = row.range();
            low = low.min(from);
            high = high.max(to);
            sizes.push(from.abs().max(to.abs()));
        }
        sizes.retain(|size| *size > 0.0);
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let shape = if largest > LINEAR_UP_TO * smallest {
            // Policies with next to no return must not stretch the axis over endless decades.
            let knee = smallest.max(largest * 1e-6) / 2.0;
            Shape::SymmetricLog { knee }
        } else {
            Shape::Linear
        };
        if !(low.is_finite() && high.is_finite()) {
            (low, high) = (0.0, 1.0);
        }
        let (from, to) = (shape.forward(low), shape.forward(high));
        let padding = (to - from) * 0.03;
        let range = (shape.backward(from - padding), shape.backward(to + padding));
        Scale::new(shape, range, (area.left, area.right))
    }
}

impl Ridge {
    /// What has to be on the page: nearly all returns, the mean and the bound.
    fn range(&self) -> (f64, f64) {
        let mut sorted: Vec<f64> = self
            .returns
            .iter()
            .copied()
            .filter(|v| v.is_finite())
            .collect();
        sorted.sort_by(f64::total_cmp);
        let marks = [Some(self.mean), self.bound.map(|bound| bound.value)];
        let marks = marks
            .into_iter()
            .flatten()
            .filter(|value| value.is_finite());
        let ends = sorted.len().checked_sub(1).into_iter().flat_map(|last| {
            let at = |share: f64| sorted[(last as f64 * share).round() as usize];
            [at(0.001), at(0.999)]
        });
        ends.chain(marks)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
    }

    fn bound_label(&self) -> String {
        match self.bound {
            Some(bound) => signed(&numbers::with_error(bound.value, bound.error)),
            None => "not converged".to_owned(),
        }
    }

    fn draw(&self, canvas: &mut Canvas, area: Area, scale: &Scale, base: f64, row_height: f64) {
        canvas.line(
            (area.left, base),
            (area.right, base),
            Stroke::solid(frame::RULE, 1.0),
        );
        let full = row_height * 0.84;
        let values = self.returns.iter().filter(|value| value.is_finite());
        let shares: Vec<f64> = values.map(|value| scale.share(*value)).collect();
        let place =
            |(share, height): (f64, f64)| (scale.pixel_of_share(share), base - full * height);
        let bound = self.bound.map(|bound| scale.share(bound.value));
        if let Some(outline) = Outline::of(&shares) {
            let cut = bound.unwrap_or(f64::NEG_INFINITY);
            let at_cut = bound.map(|cut| (cut, outline.height(cut)));
            let tail = outline.points.iter().copied().filter(|(x, _)| *x < cut);
            let body = outline.points.iter().copied().filter(|(x, _)| *x >= cut);
            let tail: Vec<_> = tail.chain(at_cut).map(place).collect();
            let body: Vec<_> = at_cut.into_iter().chain(body).map(place).collect();
            canvas.polygon(&closed(&tail, base), TAIL, 0.75);
            canvas.polygon(&closed(&body, base), BODY, 0.75);
            let line: Vec<_> = outline.points.iter().copied().map(place).collect();
            canvas.polyline(&line, Stroke::solid(BODY_LINE, 1.1));
        } else {
            let mut pixels: Vec<f64> = shares.into_iter().map(|s| place((s, 0.0)).0).collect();
            pixels.dedup_by(|a, b| (*a - *b).abs() < 0.5);
            for x in pixels {
                canvas.line((x, base), (x, base - full), Stroke::solid(BODY_LINE, 2.4));
            }
        }
        if let Some(bound) = self.bound {
            let x = scale.pixel(bound.value);
            let reach = (scale.pixel(bound.value + bound.error) - x)
                .max(x - scale.pixel(bound.value - bound.error));
            let tall = (row_height * 0.5).min(26.0);
            frame::error_tick(canvas, x, (base - tall, base + 3.0), reach, BOUND);
        }
        canvas.dot(
            (scale.pixel(self.mean), base - (row_height * 0.14).min(7.0)),
            4.4,
            MEAN,
        );
    }
}

/// An area between a line and the row's baseline.
fn closed(line: &[(f64, f64)], base: f64) -> Vec<(f64, f64)> {
    let ends = [line.last(), line.first()];
    let ground = ends.into_iter().flatten().map(|(x, _)| (*x, base));
    line.iter().copied().chain(ground).collect()
}

/// A column of text beside the figure.
struct Column {
    head: String,
    cells: Vec<String>,
    width: f64,
}

impl Column {
    fn of(head: &str, cells: impl Iterator<Item = String>) -> Self {
        let cells: Vec<String> = cells.collect();
        let width = cells
            .iter()
            .map(|cell| font::width(cell, frame::LABEL.size, Weight::Bold))
            .fold(
                font::width(head, frame::NOTE.size, Weight::Regular),
                f64::max,
            );
        Self {
            head: head.to_owned(),
            cells,
            width,
        }
    }
}

/// A number with a true minus sign.
fn signed(number: &str) -> String {
    number.replace('-', "−")
}
