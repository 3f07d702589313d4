//! Learning curves: several panels, each with axes of its own, lines for trainings and levels to
//! compare them with.

use super::canvas::{Anchor, Canvas, Stroke};
use super::font::{self, Weight};
use super::frame::{self, Area, PALETTE, Sign};
use super::scale::{Scale, Shape};

const PANEL_WIDTH: f64 = 450.0;
const PANEL_HEIGHT: f64 = 330.0;
const MARGIN: f64 = 24.0;

/// One pair of axes.
#[derive(Debug, Clone)]
pub(crate) struct CurvePanel {
    pub(crate) title: String,
    /// A name and points for each training.
    pub(crate) curves: Vec<(String, Vec<(f64, f64)>)>,
    /// Heights that stand for something.
    pub(crate) levels: Vec<(String, f64)>,
    /// Points that matter, each with the place of its curve.
    pub(crate) dots: Vec<(usize, (f64, f64))>,
}

/// The whole figure. Curves with the same place in their panels have the same name and colour.
#[derive(Debug, Clone)]
pub(crate) struct Curves {
    pub(crate) title: String,
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    pub(crate) panels: Vec<CurvePanel>,
}

impl Curves {
    /// The figure as SVG, two panels beside each other.
    pub(crate) fn draw(&self) -> String {
        let columns = self.panels.len().clamp(1, 2);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let width = 2.0 * MARGIN + PANEL_WIDTH * columns as f64;
        let inner = width - 2.0 * MARGIN;
        let most = self.panels.iter().max_by_key(|panel| panel.curves.len());
        let named = most.map_or(&[][..], |panel| &panel.curves).iter();
        let legend: Vec<(Sign, String)> = named
            .enumerate()
            .map(|(index, (name, _))| (Sign::Line(stroke(index)), name.clone()))
            .collect();
        let legend_top = 62.0;
        let top = legend_top + frame::legend_height(&legend, inner) + 8.0;
        let mut canvas = Canvas::new(width, top + PANEL_HEIGHT * rows as f64 + MARGIN / 2.0);
        let title = font::fit(&self.title, frame::TITLE.size, Weight::Bold, inner);
        canvas.text((MARGIN, 36.0), &title, frame::TITLE);
        frame::legend(&mut canvas, (MARGIN, legend_top), inner, &legend);
        for (index, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + PANEL_WIDTH * (index % columns) as f64;
            let top = top + PANEL_HEIGHT * (index / columns) as f64;
            panel.draw(&mut canvas, (left, top), (&self.x_name, &self.y_name));
        }
        canvas.finish(&self.title)
    }
}

fn stroke(index: usize) -> Stroke {
    Stroke::solid(PALETTE[index % PALETTE.len()], 1.8)
}

impl CurvePanel {
    /// Whether a label at a height is further from the curves at their start than at their end.
    fn is_clearer_at_the_start(&self, height: f64) -> bool {
        let distance = |point: &(f64, f64)| (point.1 - height).abs();
        let all = || self.curves.iter().map(|(_, points)| points);
        let start = all().filter_map(|points| points.first().map(distance));
        let end = all().filter_map(|points| points.last().map(distance));
        start.fold(f64::INFINITY, f64::min) > end.fold(f64::INFINITY, f64::min)
    }

    fn draw(&self, canvas: &mut Canvas, at: (f64, f64), (x_name, y_name): (&str, &str)) {
        let points = || self.curves.iter().flat_map(|(_, points)| points);
        let last = points().map(|point| point.0).fold(1.0, f64::max);
        let heights = points().map(|point| point.1);
        let heights = heights.chain(self.levels.iter().map(|level| level.1));
        let (low, high) = heights.fold((0.0_f64, 1e-9_f64), |(low, high), y| {
            (low.min(y), high.max(y))
        });
        let (top, bottom) = (at.1 + 30.0, at.1 + PANEL_HEIGHT - 62.0);
        let y_scale = Scale::new(Shape::Linear, (low, high * 1.08), (bottom, top));
        let area = Area {
            left: at.0 + 12.0 + 16.0 + frame::y_labels_width(&y_scale) + 8.0,
            top,
            right: at.0 + PANEL_WIDTH - 16.0,
            bottom,
        };
        let x_scale = Scale::new(Shape::Linear, (0.0, last), (area.left, area.right));
        let style = frame::LABEL.bold();
        let title = font::fit(&self.title, style.size, Weight::Bold, PANEL_WIDTH - 16.0);
        canvas.text((at.0, at.1 + 16.0), &title, style);
        frame::x_axis(canvas, area, &x_scale, x_name);
        frame::y_axis(canvas, area, &y_scale, y_name);
        for (index, (_, points)) in self.curves.iter().enumerate() {
            let place = |(x, y): &(f64, f64)| (x_scale.pixel(*x), y_scale.pixel(*y));
            let pixels: Vec<(f64, f64)> = points.iter().map(place).collect();
            canvas.polyline(&pixels, stroke(index));
        }
        for (curve, (x, y)) in &self.dots {
            let colour = PALETTE[*curve % PALETTE.len()];
            canvas.dot((x_scale.pixel(*x), y_scale.pixel(*y)), 4.5, colour);
        }
        for (name, height) in &self.levels {
            let y = y_scale.pixel(*height);
            let ends = ((area.left, y), (area.right, y));
            canvas.line(ends.0, ends.1, Stroke::dashed(frame::MUTED, 1.2));
            let (x, anchor) = if self.is_clearer_at_the_start(*height) {
                (area.left + 6.0, Anchor::Start)
            } else {
                (area.right - 4.0, Anchor::End)
            };
            canvas.text((x, y - 5.0), name, frame::anchored(frame::NOTE, anchor));
        }
    }
}
