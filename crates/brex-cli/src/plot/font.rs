//! The typeface of the figures, carried inside the program: text can be measured, and pictures
//! look the same on a machine without fonts. It is Noto Sans, under the SIL Open Font Licence.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// The families an SVG asks for, best first.
pub(crate) const FAMILY: &str = "Noto Sans, Helvetica Neue, Helvetica, Arial, sans-serif";

/// How heavy the letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

impl Weight {
    /// The font file.
    pub(crate) fn data(self) -> &'static [u8] {
        match self {
            Self::Regular => notosans::REGULAR_TTF,
            Self::Bold => notosans::BOLD_TTF,
        }
    }
}

/// The width in pixels of a text set in `size` pixels. Characters that the font does not have
/// count as wide ones.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let Ok(font) = FontRef::new(weight.data()) else {
        return text.chars().count() as f64 * size * 0.6;
    };
    let letters = font.charmap();
    let metrics = font.glyph_metrics(Size::new(size as f32), LocationRef::default());
    text.chars()
        .map(|letter| {
            letters
                .map(letter)
                .and_then(|glyph| metrics.advance_width(glyph))
                .map_or(size, f64::from)
        })
        .sum()
}

/// The text, or as much of its beginning as fits into `limit` pixels with an ellipsis.
pub(crate) fn fit(text: &str, size: f64, weight: Weight, limit: f64) -> String {
    if width(text, size, weight) <= limit {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    loop {
        let shown: String = kept.iter().collect::<String>().trim_end().to_owned() + "…";
        if kept.is_empty() || width(&shown, size, weight) <= limit {
            return shown;
        }
        kept.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_grow_with_size_and_weight() {
        let regular = width("policy", 10.0, Weight::Regular);
        assert!(regular > 25.0 && regular < 40.0, "{regular}");
        let double = width("policy", 20.0, Weight::Regular);
        assert!((double - 2.0 * regular).abs() < 1e-3);
        assert!(width("policy", 10.0, Weight::Bold) > regular);
    }

    #[test]
    fn long_names_are_cut_and_short_ones_are_not() {
        assert_eq!(fit("short", 12.0, Weight::Regular, 100.0), "short");
        let cut = fit(&"long ".repeat(40), 12.0, Weight::Regular, 100.0);
        assert!(cut.ends_with("g…") || cut.ends_with('…'), "{cut}");
        assert!(width(&cut, 12.0, Weight::Regular) <= 100.0);
        assert!(cut.chars().count() > 8, "{cut}");
    }

    #[test]
    fn the_font_has_the_signs_that_the_figures_use() {
        for weight in [Weight::Regular, Weight::Bold] {
            let font = FontRef::new(weight.data()).unwrap();
            for sign in "−±…%×·–é".chars() {
                assert!(font.charmap().map(sign).is_some(), "{sign:?}");
            }
        }
    }
}
