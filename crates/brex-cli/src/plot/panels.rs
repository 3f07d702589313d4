//! Several panels with one logarithmic axis for all: losses against demonstrations, and whatever
//! falls by orders of magnitude. With a diagonal the other axis is logarithmic too, so that equal
//! factors off it are equally far off.
//!
//! A logarithm has no place for zero. An interval that reaches zero is drawn to the lower edge
//! without an end, and a value of exactly zero is a triangle on that edge.

use super::Reading;
use super::canvas::{Canvas, Stroke};
use super::font::{self, Weight};
use super::frame::{self, Area, PALETTE, Sign};
use super::scale::{Scale, Shape};

const PANEL_WIDTH: f64 = 450.0;
const PANEL_HEIGHT: f64 = 340.0;
const MARGIN: f64 = 24.0;
const DIAGONAL: Stroke = Stroke::solid(frame::MUTED, 1.2);

/// Measured points, joined by a line, and what somebody else printed for them.
#[derive(Debug, Clone)]
pub(crate) struct PanelSeries {
    pub(crate) name: String,
    /// The place of its colour in the palette.
    pub(crate) colour: usize,
    pub(crate) dashed: bool,
    pub(crate) readings: Vec<Reading>,
    pub(crate) printed: Vec<(f64, f64)>,
}

/// One pair of axes.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x_name: String,
    pub(crate) series: Vec<PanelSeries>,
}

/// The whole figure. Series with the same place in their panels have the same name and look.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    pub(crate) title: String,
    pub(crate) y_name: String,
    /// What the bars are.
    pub(crate) readings_name: String,
    /// What the hollow marks are.
    pub(crate) printed_name: String,
    /// Names the line y = x, and draws it.
    pub(crate) diagonal: Option<String>,
    pub(crate) panels: Vec<Panel>,
}

impl Panels {
    /// The figure as SVG, two panels beside each other.
    pub(crate) fn draw(&self) -> String {
        let columns = self.panels.len().clamp(1, 2);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let width = 2.0 * MARGIN + PANEL_WIDTH * columns as f64;
        let inner = width - 2.0 * MARGIN;
        let legend = self.legend();
        let legend_top = 62.0;
        let top = legend_top + frame::legend_height(&legend, inner) + 8.0;
        let height = top + PANEL_HEIGHT * rows as f64 + MARGIN / 2.0;
        let mut canvas = Canvas::new(width, height);
        let title = font::fit(&self.title, frame::TITLE.size, Weight::Bold, inner);
        canvas.text((MARGIN, 36.0), &title, frame::TITLE);
        frame::legend(&mut canvas, (MARGIN, legend_top), inner, &legend);
        let ranges = (self.x_range(), self.range());
        for (index, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + PANEL_WIDTH * (index % columns) as f64;
            let top = top + PANEL_HEIGHT * (index / columns) as f64;
            panel.draw(&mut canvas, (left, top), ranges, &self.y_name);
        }
        canvas.finish(&self.title)
    }

    fn legend(&self) -> Vec<(Sign, String)> {
        let series = self.panels.first().map_or(&[][..], |panel| &panel.series);
        let mut entries: Vec<(Sign, String)> = series
            .iter()
            .map(|series| (Sign::Line(series.stroke(2.2)), series.name.clone()))
            .collect();
        let colour = frame::MUTED;
        entries.push((Sign::Tick { colour }, self.readings_name.clone()));
        if self.all_series().any(|series| !series.printed.is_empty()) {
            entries.push((Sign::Ring { colour }, self.printed_name.clone()));
        }
        let mut readings = self.all_series().flat_map(|series| &series.readings);
        if readings.any(|reading| reading.y <= 0.0) {
            entries.push((Sign::Triangle { colour }, "exactly zero".to_owned()));
        }
        if let Some(name) = &self.diagonal {
            entries.push((Sign::Line(DIAGONAL), name.clone()));
        }
        entries
    }

    fn all_series(&self) -> impl Iterator<Item = &PanelSeries> {
        self.panels.iter().flat_map(|panel| &panel.series)
    }

    /// With a diagonal, all places with some air, the same in every panel; none otherwise.
    fn x_range(&self) -> Option<(f64, f64)> {
        self.diagonal.as_ref()?;
        let readings = self.all_series().flat_map(|series| &series.readings);
        let places = readings.map(|reading| reading.x).filter(|x| *x > 0.0);
        let ends = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
        let (low, high) = places.fold((f64::INFINITY, 0.0), ends);
        Some(if high > 0.0 {
            (low / 1.35, high * 1.35)
        } else {
            (0.01, 1.0)
        })
    }

    /// Whole powers of ten around all points and upper ends of intervals. Lower ends, which may be
    /// anywhere down to zero, do not stretch it.
    fn range(&self) -> (f64, f64) {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        let mut include = |value: f64| {
            if value.is_finite() && value > 0.0 {
                low = low.min(value);
                high = high.max(value);
            }
        };
        for series in self.all_series() {
            series
                .readings
                .iter()
                .for_each(|reading| include(reading.y));
            series.printed.iter().for_each(|(_, y)| include(*y));
        }
        for reading in self.all_series().flat_map(|series| &series.readings) {
            include(reading.high.max(reading.y));
            if self.diagonal.is_some() {
                include(reading.x);
            }
        }
        if high == 0.0 {
            return (0.01, 1.0);
        }
        let power = |value: f64| 10.0_f64.powf(value);
        // A point on the lower edge would hide whether it is zero.
        let lowest = power((low / 1.3).log10().floor());
        (lowest, power(high.log10().ceil()).max(10.0 * lowest))
    }
}

impl Panel {
    fn draw(
        &self,
        canvas: &mut Canvas,
        at: (f64, f64),
        (x_range, y_range): (Option<(f64, f64)>, (f64, f64)),
        y_name: &str,
    ) {
        let (top, bottom) = (at.1 + 30.0, at.1 + PANEL_HEIGHT - 62.0);
        let y_scale = Scale::new(Shape::Log, y_range, (bottom, top));
        let area = Area {
            left: at.0 + 12.0 + 16.0 + frame::y_labels_width(&y_scale) + 8.0,
            top,
            right: at.0 + PANEL_WIDTH - 12.0,
            bottom,
        };
        let pixels = (area.left, area.right);
        let x_scale = match x_range {
            Some(range) => Scale::new(Shape::Log, range, pixels),
            None => {
                let xs = self.series.iter().flat_map(|series| &series.readings);
                let last = xs.map(|reading| reading.x).fold(0.0, f64::max);
                Scale::new(Shape::Linear, (0.0, last * 1.04), pixels)
            }
        };
        let style = frame::LABEL.bold();
        let title = font::fit(&self.title, style.size, Weight::Bold, PANEL_WIDTH - 16.0);
        canvas.text((at.0, at.1 + 16.0), &title, style);
        frame::x_axis(canvas, area, &x_scale, &self.x_name);
        frame::y_axis(canvas, area, &y_scale, y_name);
        if let Some((low, high)) = x_range {
            let (low, high) = (low.max(y_range.0), high.min(y_range.1));
            let place = |value| (x_scale.pixel(value), y_scale.pixel(value));
            canvas.line(place(low), place(high), DIAGONAL);
        }
        for (index, series) in self.series.iter().enumerate() {
            // Bars at the same place stand side by side, many of them closer.
            let gap = (18.0 / self.series.len() as f64).clamp(5.0, 8.0);
            let aside = (index as f64 - (self.series.len() - 1) as f64 / 2.0) * gap;
            series.draw(canvas, (&x_scale, &y_scale), (aside, bottom));
        }
    }
}

impl PanelSeries {
    fn stroke(&self, width: f64) -> Stroke {
        let colour = PALETTE[self.colour % PALETTE.len()];
        if self.dashed {
            Stroke::dashed(colour, width)
        } else {
            Stroke::solid(colour, width)
        }
    }

    fn draw(&self, canvas: &mut Canvas, (xs, ys): (&Scale, &Scale), (aside, bottom): (f64, f64)) {
        let stroke = self.stroke(2.0);
        let colour = stroke.colour;
        let place = |x: f64, y: f64| (xs.pixel(x) + aside, ys.pixel(y));
        let points: Vec<_> = self.readings.iter().map(|r| place(r.x, r.y)).collect();
        // A line down to the edge would claim values on its way.
        for joined in self.readings.windows(2).zip(points.windows(2)) {
            if joined.0.iter().all(|reading| reading.y > 0.0) {
                canvas.line(joined.1[0], joined.1[1], stroke);
            }
        }
        let thin = Stroke::solid(colour, 1.4);
        for reading in &self.readings {
            let (x, low) = place(reading.x, reading.low);
            let (_, high) = place(reading.x, reading.high);
            canvas.line((x, low), (x, high), thin);
            let ends = [low, high].into_iter().filter(|end| *end < bottom);
            for end in ends {
                canvas.line((x - 4.0, end), (x + 4.0, end), thin);
            }
        }
        for (reading, point) in self.readings.iter().zip(points) {
            if reading.y > 0.0 {
                canvas.dot(point, 4.2, colour);
            } else {
                frame::triangle(canvas, point, colour);
            }
        }
        for (x, y) in &self.printed {
            canvas.ring(place(*x, *y), 7.0, colour);
        }
    }
}
