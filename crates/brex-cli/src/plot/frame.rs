//! What every figure has around its data: colours, title, legend, axes with ticks and a grid.

use super::canvas::{Anchor, Canvas, Point, Stroke, TextStyle};
use super::font::{self, Weight};
use super::scale::{Scale, Tick};

/// Colours that stay apart for every kind of colour vision (Okabe and Ito), on white.
pub(crate) const PALETTE: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];
pub(crate) const INK: &str = "#22272e";
pub(crate) const MUTED: &str = "#5c6670";
pub(crate) const RULE: &str = "#c4cbd2";
pub(crate) const GRID: &str = "#e9ecef";

pub(crate) const TITLE: TextStyle = TextStyle::new(17.0, INK, Anchor::Start).bold();
pub(crate) const NOTE: TextStyle = TextStyle::new(12.5, MUTED, Anchor::Start);
pub(crate) const LABEL: TextStyle = TextStyle::new(12.5, INK, Anchor::Start);

/// A text style with another anchor.
pub(crate) const fn anchored(mut style: TextStyle, anchor: Anchor) -> TextStyle {
    style.anchor = anchor;
    style
}

/// The sign in front of a legend's entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sign {
    /// A filled patch.
    Patch { fill: &'static str, opacity: f64 },
    /// An upright tick with a small horizontal bar.
    Tick { colour: &'static str },
    /// A dot.
    Dot { colour: &'static str },
    /// A hollow mark.
    Ring { colour: &'static str },
    /// A triangle that points down.
    Triangle { colour: &'static str },
    /// A short line.
    Line(Stroke),
}

const SIGN_WIDTH: f64 = 16.0;
const SIGN_GAP: f64 = 6.0;
const ENTRY_GAP: f64 = 22.0;
pub(crate) const LEGEND_LINE: f64 = 20.0;

/// Places the entries of a legend on lines no longer than `limit`: offset and line of each, and
/// how many lines there are.
fn place(entries: &[(Sign, String)], limit: f64) -> (Vec<(f64, usize)>, usize) {
    let (mut x, mut line) = (0.0, 0);
    let mut places = Vec::with_capacity(entries.len());
    for (_, text) in entries {
        let width = SIGN_WIDTH + SIGN_GAP + font::width(text, NOTE.size, Weight::Regular);
        if x > 0.0 && x + width > limit {
            (x, line) = (0.0, line + 1);
        }
        places.push((x, line));
        x += width + ENTRY_GAP;
    }
    (places, line + 1)
}

/// The height of a legend.
pub(crate) fn legend_height(entries: &[(Sign, String)], limit: f64) -> f64 {
    if entries.is_empty() {
        return 0.0;
    }
    place(entries, limit).1 as f64 * LEGEND_LINE
}

/// Draws a legend with its first baseline at `at`.
pub(crate) fn legend(canvas: &mut Canvas, at: Point, limit: f64, entries: &[(Sign, String)]) {
    let (places, _) = place(entries, limit);
    for ((sign, text), (offset, line)) in entries.iter().zip(places) {
        let x = at.0 + offset;
        let baseline = at.1 + line as f64 * LEGEND_LINE;
        let middle = baseline - 4.3;
        match *sign {
            Sign::Patch { fill, opacity } => {
                canvas.rect((x, middle - 6.0), (SIGN_WIDTH, 12.0), fill, opacity);
            }
            Sign::Tick { colour } => {
                error_tick(
                    canvas,
                    x + SIGN_WIDTH / 2.0,
                    (middle - 7.0, middle + 7.0),
                    5.0,
                    colour,
                );
            }
            Sign::Dot { colour } => canvas.dot((x + SIGN_WIDTH / 2.0, middle), 4.2, colour),
            Sign::Ring { colour } => canvas.ring((x + SIGN_WIDTH / 2.0, middle), 5.4, colour),
            Sign::Triangle { colour } => {
                triangle(canvas, (x + SIGN_WIDTH / 2.0, middle + 4.0), colour);
            }
            Sign::Line(stroke) => canvas.line((x, middle), (x + SIGN_WIDTH, middle), stroke),
        }
        let limit = (limit - offset - SIGN_WIDTH - SIGN_GAP).max(40.0);
        let text = font::fit(text, NOTE.size, Weight::Regular, limit);
        canvas.text((x + SIGN_WIDTH + SIGN_GAP, baseline), &text, NOTE);
    }
}

/// A triangle whose tip points down to `at`: the value lies below what the axis can show.
pub(crate) fn triangle(canvas: &mut Canvas, at: Point, colour: &str) {
    let corners = [at, (at.0 - 5.5, at.1 - 9.0), (at.0 + 5.5, at.1 - 9.0)];
    canvas.polygon(&corners, colour, 1.0);
}

/// An upright tick from `ys.0` to `ys.1` with a horizontal bar of `reach` pixels to both sides.
pub(crate) fn error_tick(
    canvas: &mut Canvas,
    x: f64,
    ys: (f64, f64),
    reach: f64,
    colour: &'static str,
) {
    canvas.line((x, ys.0), (x, ys.1), Stroke::solid(colour, 2.0));
    if reach > 3.0 {
        let middle = (ys.0 + ys.1) / 2.0;
        let thin = Stroke::solid(colour, 1.3);
        canvas.line((x - reach, middle), (x + reach, middle), thin);
        for end in [x - reach, x + reach] {
            canvas.line((end, middle - 3.0), (end, middle + 3.0), thin);
        }
    }
}

/// The rectangle that data are drawn into.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

/// Draws the horizontal axis: grid, ticks, labels that do not touch, and the axis' name.
pub(crate) fn x_axis(canvas: &mut Canvas, area: Area, scale: &Scale, name: &str) {
    x_axis_at(canvas, area, scale, scale.ticks(8), name);
}

/// The same with ticks of one's own, from left to right.
pub(crate) fn x_axis_at(
    canvas: &mut Canvas,
    area: Area,
    scale: &Scale,
    ticks: Vec<Tick>,
    name: &str,
) {
    let style = anchored(NOTE, Anchor::Middle);
    let mut free_from = f64::NEG_INFINITY;
    for Tick { value, label } in ticks {
        let x = scale.pixel(value);
        canvas.line((x, area.top), (x, area.bottom), Stroke::solid(GRID, 1.0));
        canvas.line(
            (x, area.bottom),
            (x, area.bottom + 5.0),
            Stroke::solid(RULE, 1.0),
        );
        let half = font::width(&label, style.size, Weight::Regular) / 2.0;
        if x - half >= free_from {
            canvas.text((x, area.bottom + 20.0), &label, style);
            free_from = x + half + 8.0;
        }
    }
    let ends = ((area.left, area.bottom), (area.right, area.bottom));
    canvas.line(ends.0, ends.1, Stroke::solid(RULE, 1.0));
    let middle = (area.left + area.right) / 2.0;
    let style = anchored(LABEL, Anchor::Middle);
    canvas.text((middle, area.bottom + 42.0), name, style);
}

/// The room that the labels of a vertical axis need.
pub(crate) fn y_labels_width(scale: &Scale) -> f64 {
    scale
        .ticks(8)
        .iter()
        .map(|tick| font::width(&tick.label, NOTE.size, Weight::Regular))
        .fold(0.0, f64::max)
}

/// Draws the vertical axis.
pub(crate) fn y_axis(canvas: &mut Canvas, area: Area, scale: &Scale, name: &str) {
    let style = anchored(NOTE, Anchor::End);
    for Tick { value, label } in scale.ticks(8) {
        let y = scale.pixel(value);
        canvas.line((area.left, y), (area.right, y), Stroke::solid(GRID, 1.0));
        canvas.text((area.left - 8.0, y + 4.4), &label, style);
    }
    let ends = ((area.left, area.top), (area.left, area.bottom));
    canvas.line(ends.0, ends.1, Stroke::solid(RULE, 1.0));
    let x = area.left - 8.0 - y_labels_width(scale) - 16.0;
    let middle = (area.top + area.bottom) / 2.0;
    canvas.text_upwards((x, middle), name, anchored(LABEL, Anchor::Middle));
}
