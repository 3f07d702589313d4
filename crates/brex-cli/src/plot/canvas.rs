//! A page to draw on: the few SVG shapes that the figures need, in pixels from the top left.
//!
//! Numbers are written with two decimals, so that the same figure is the same bytes everywhere.

use super::font::{FAMILY, Weight};
use std::fmt::Write;

/// A point on the page.
pub(crate) type Point = (f64, f64);

/// How a line is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stroke {
    pub(crate) colour: &'static str,
    pub(crate) width: f64,
    pub(crate) dashed: bool,
}

impl Stroke {
    /// A continuous line.
    pub(crate) const fn solid(colour: &'static str, width: f64) -> Self {
        Self {
            colour,
            width,
            dashed: false,
        }
    }

    /// A dashed line.
    pub(crate) const fn dashed(colour: &'static str, width: f64) -> Self {
        Self {
            colour,
            width,
            dashed: true,
        }
    }

    fn attributes(self) -> String {
        let Stroke { colour, width, .. } = self;
        let dashes = if self.dashed {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        format!("stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}")
    }
}

/// Which point of a text stands at the given place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextStyle {
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) colour: &'static str,
    pub(crate) anchor: Anchor,
}

impl TextStyle {
    /// Regular text.
    pub(crate) const fn new(size: f64, colour: &'static str, anchor: Anchor) -> Self {
        Self {
            size,
            weight: Weight::Regular,
            colour,
            anchor,
        }
    }

    /// The same in bold.
    pub(crate) const fn bold(mut self) -> Self {
        self.weight = Weight::Bold;
        self
    }

    fn attributes(self) -> String {
        let anchor = match self.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = match self.weight {
            Weight::Regular => "",
            Weight::Bold => " font-weight=\"bold\"",
        };
        format!(
            "font-size=\"{}\" fill=\"{}\"{weight}{anchor}",
            self.size, self.colour
        )
    }
}

/// A white page that grows by what is drawn on it, the last thing on top.
#[derive(Debug)]
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

impl Canvas {
    /// An empty page.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            body: String::new(),
        }
    }

    fn element(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: Point, to: Point, stroke: Stroke) {
        self.element(format_args!(
            "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" {}/>",
            from.0,
            from.1,
            to.0,
            to.1,
            stroke.attributes()
        ));
    }

    /// A line through all points.
    pub(crate) fn polyline(&mut self, points: &[Point], stroke: Stroke) {
        self.element(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>",
            list(points),
            stroke.attributes()
        ));
    }

    /// A filled area without outline.
    pub(crate) fn polygon(&mut self, points: &[Point], fill: &str, opacity: f64) {
        self.element(format_args!(
            "<polygon points=\"{}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>",
            list(points)
        ));
    }

    /// A filled rectangle without outline.
    pub(crate) fn rect(&mut self, at: Point, size: Point, fill: &str, opacity: f64) {
        self.element(format_args!(
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>",
            at.0, at.1, size.0, size.1
        ));
    }

    /// A disc with a white rim, so that it stands out on a line.
    pub(crate) fn dot(&mut self, at: Point, radius: f64, fill: &str) {
        self.element(format_args!(
            "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"#ffffff\" stroke-width=\"1.2\"/>",
            at.0, at.1
        ));
    }

    /// A circle that shows what is below it.
    pub(crate) fn ring(&mut self, at: Point, radius: f64, colour: &str) {
        self.element(format_args!(
            "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{radius}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"/>",
            at.0, at.1
        ));
    }

    /// A text on its baseline.
    pub(crate) fn text(&mut self, at: Point, text: &str, style: TextStyle) {
        self.element(format_args!(
            "<text x=\"{:.2}\" y=\"{:.2}\" {}>{}</text>",
            at.0,
            at.1,
            style.attributes(),
            escape(text)
        ));
    }

    /// A text that reads from bottom to top.
    pub(crate) fn text_upwards(&mut self, at: Point, text: &str, style: TextStyle) {
        self.element(format_args!(
            "<text transform=\"translate({:.2} {:.2}) rotate(-90)\" {}>{}</text>",
            at.0,
            at.1,
            style.attributes(),
            escape(text)
        ));
    }

    /// The page as an SVG document; `title` is what a screen reader says.
    pub(crate) fn finish(self, title: &str) -> String {
        let Self {
            width,
            height,
            body,
        } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" font-family=\"{FAMILY}\">\n\
             <title>{}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n",
            escape(title)
        )
    }
}

fn list(points: &[Point]) -> String {
    let mut text = String::with_capacity(points.len() * 14);
    for (x, y) in points {
        let _ = write!(text, "{x:.2},{y:.2} ");
    }
    text.truncate(text.trim_end().len());
    text
}

/// Makes a text safe inside XML. Characters that XML cannot hold at all become a replacement sign.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_document() {
        assert_eq!(escape("<a b=\"c\">&"), "&lt;a b=&quot;c&quot;&gt;&amp;");
        assert_eq!(escape("a\u{1}b\nc"), "a\u{fffd}b c");
    }

    #[test]
    fn numbers_have_two_decimals() {
        let mut canvas = Canvas::new(10.0, 10.0);
        canvas.polyline(&[(1.0 / 3.0, 2.0), (3.0, 4.0)], Stroke::solid("#000", 1.0));
        assert!(
            canvas
                .finish("t")
                .contains("points=\"0.33,2.00 3.00,4.00\"")
        );
    }
}
