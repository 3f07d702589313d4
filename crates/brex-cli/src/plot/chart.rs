//! Lines and points with error bars over two axes: coverage against its nominal rate, and whatever
//! changes with something.

use super::canvas::{Canvas, Stroke};
use super::font::{self, Weight};
use super::frame::{self, Area, PALETTE, Sign};
use super::scale::{Scale, Shape, Tick};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 520.0;
const MARGIN: f64 = 24.0;

/// One measured point with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reading {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Points that belong together, joined by a line.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) readings: Vec<Reading>,
}

/// The whole figure.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x_name: String,
    /// What stands at 0, 1, 2 ... instead of numbers, if there are names.
    pub(crate) x_places: Vec<String>,
    pub(crate) y_name: String,
    pub(crate) series: Vec<Series>,
    /// Names the line y = x, and draws it, with the same range on both axes.
    pub(crate) diagonal: Option<String>,
}

impl Chart {
    /// The figure as SVG.
    pub(crate) fn draw(&self) -> String {
        let (mut xs, mut ys) = self.ranges();
        if self.diagonal.is_some() {
            xs = (xs.0.min(ys.0), xs.1.max(ys.1));
            ys = xs;
        }
        let inner = WIDTH - 2.0 * MARGIN;
        let legend = self.legend();
        let legend_top = 62.0;
        let top = legend_top + frame::legend_height(&legend, inner);
        let bottom = HEIGHT - 62.0;
        let y_scale = Scale::new(Shape::Linear, padded(ys), (bottom, top));
        let area = Area {
            left: MARGIN + 12.0 + 16.0 + frame::y_labels_width(&y_scale) + 8.0,
            top,
            right: WIDTH - MARGIN,
            bottom,
        };
        let x_scale = Scale::new(Shape::Linear, padded(xs), (area.left, area.right));
        let mut canvas = Canvas::new(WIDTH, HEIGHT);
        let title = font::fit(&self.title, frame::TITLE.size, Weight::Bold, inner);
        canvas.text((MARGIN, 36.0), &title, frame::TITLE);
        frame::legend(&mut canvas, (MARGIN, legend_top), inner, &legend);
        if self.x_places.is_empty() {
            frame::x_axis(&mut canvas, area, &x_scale, &self.x_name);
        } else {
            let places = self.x_places.iter().enumerate();
            let places = places.map(|(at, name)| Tick {
                value: at as f64,
                label: name.clone(),
            });
            frame::x_axis_at(&mut canvas, area, &x_scale, places.collect(), &self.x_name);
        }
        frame::y_axis(&mut canvas, area, &y_scale, &self.y_name);
        if self.diagonal.is_some() {
            let (low, high) = padded(xs);
            let place = |value| (x_scale.pixel(value), y_scale.pixel(value));
            canvas.line(place(low), place(high), Stroke::dashed(frame::MUTED, 1.3));
        }
        for (index, series) in self.series.iter().enumerate() {
            let colour = PALETTE[index % PALETTE.len()];
            // Bars at the same place stand side by side.
            let aside = (index as f64 - (self.series.len() - 1) as f64 / 2.0) * 4.0;
            series.draw(&mut canvas, (&x_scale, &y_scale), aside, colour);
        }
        canvas.finish(&self.title)
    }

    fn legend(&self) -> Vec<(Sign, String)> {
        let series = self.series.iter().zip(PALETTE.iter().cycle());
        let series = series.map(|(series, colour)| {
            let sign = Sign::Line(Stroke::solid(colour, 2.2));
            (sign, series.name.clone())
        });
        let diagonal = self.diagonal.iter().map(|name| {
            let sign = Sign::Line(Stroke::dashed(frame::MUTED, 1.3));
            (sign, name.clone())
        });
        series.chain(diagonal).collect()
    }

    /// The smallest ranges that hold every reading with its interval.
    fn ranges(&self) -> ((f64, f64), (f64, f64)) {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let grow = |range: (f64, f64), value: f64| {
            if value.is_finite() {
                (range.0.min(value), range.1.max(value))
            } else {
                range
            }
        };
        let (mut xs, mut ys) = (none, none);
        for reading in self.series.iter().flat_map(|series| &series.readings) {
            xs = grow(xs, reading.x);
            for value in [reading.y, reading.low, reading.high] {
                ys = grow(ys, value);
            }
        }
        let known = |range: (f64, f64)| {
            if range.0 <= range.1 {
                range
            } else {
                (0.0, 1.0)
            }
        };
        (known(xs), known(ys))
    }
}

impl Series {
    fn draw(
        &self,
        canvas: &mut Canvas,
        (xs, ys): (&Scale, &Scale),
        aside: f64,
        colour: &'static str,
    ) {
        let known = self
            .readings
            .iter()
            .filter(|r| r.x.is_finite() && r.y.is_finite());
        let points: Vec<_> = known
            .clone()
            .map(|r| (xs.pixel(r.x) + aside, ys.pixel(r.y)))
            .collect();
        canvas.polyline(&points, Stroke::solid(colour, 2.0));
        let thin = Stroke::solid(colour, 1.4);
        for reading in known {
            let x = xs.pixel(reading.x) + aside;
            let ends = [ys.pixel(reading.low), ys.pixel(reading.high)];
            canvas.line((x, ends[0]), (x, ends[1]), thin);
            for end in ends {
                canvas.line((x - 4.0, end), (x + 4.0, end), thin);
            }
        }
        for point in points {
            canvas.dot(point, 4.6, colour);
        }
    }
}

/// A range with some air at both ends, but none below zero where nothing is negative.
fn padded((low, high): (f64, f64)) -> (f64, f64) {
    let air = (high - low) * 0.05;
    let floor = if low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
    ((low - air).max(floor), high + air)
}
