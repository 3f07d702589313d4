//! The few pieces of SVG that a picture is made of.
//!
//! Places are written with two decimals, so that the same picture is the same bytes everywhere.

use std::fmt::Write;

/// The fonts to use, best first.
const FAMILY: &str = "Noto Sans, Helvetica Neue, Helvetica, Arial, sans-serif";

/// A white page with the elements of `body`; `title` is what a screen reader says.
pub(crate) fn document(title: &str, width: f64, height: f64, body: &str) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" font-family=\"{FAMILY}\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

/// How a text is set: its baseline, and what it looks like.
pub(crate) struct Text<'a> {
    pub(crate) at: (f64, f64),
    pub(crate) size: f64,
    pub(crate) colour: &'a str,
    /// Further attributes, with a space in front.
    pub(crate) style: &'a str,
}

impl Text<'_> {
    /// Writes a text at its place.
    pub(crate) fn write(&self, body: &mut String, text: &str) {
        let ((x, y), size, colour, style) = (self.at, self.size, self.colour, self.style);
        let text = escape(text);
        element(
            body,
            format_args!(
                "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" fill=\"{colour}\"{style}>{text}</text>"
            ),
        );
    }
}

/// Adds one element to the body of a picture.
pub(crate) fn element(body: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = body.write_fmt(element);
    body.push('\n');
}

/// Makes a text safe inside XML. Characters that XML cannot hold at all become a replacement sign.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// Cuts a text between words into lines of about `letters` letters.
pub(crate) fn wrap(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let length = word.chars().count() + 1;
        match lines.last_mut() {
            Some(line) if line.chars().count() + length <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_break_out_of_the_document() {
        assert_eq!(escape("<a> & b"), "&lt;a&gt; &amp; b");
        assert_eq!(escape("a\u{1}b\nc"), "a\u{fffd}b c");
    }

    #[test]
    fn titles_are_cut_between_words() {
        assert_eq!(wrap("a bb ccc dd", 6), ["a bb", "ccc dd"]);
        assert_eq!(wrap("unbreakable a", 5), ["unbreakable", "a"]);
    }
}
