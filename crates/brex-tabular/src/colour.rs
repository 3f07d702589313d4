//! A diverging scale of colours for values around zero: blue below, white at zero, orange above.
//!
//! Blue and orange stay apart for every kind of colour vision. The blue end is darker than the
//! orange one, so that the two also differ in greyscale.

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Colour([f64; 3]);

const NEGATIVE: Colour = Colour([33.0, 88.0, 145.0]);
const NEUTRAL: Colour = Colour([255.0, 255.0, 255.0]);
const POSITIVE: Colour = Colour([236.0, 138.0, 31.0]);

/// The colour of something that is not a number.
const UNKNOWN: Colour = Colour([208.0, 208.0, 208.0]);

/// What is written on light and on dark colours.
pub(crate) const INK: &str = "#22272e";
const PAPER: &str = "#ffffff";

impl Colour {
    /// The colour of a share from -1 (blue) to 1 (orange); what is outside lands on the ends.
    pub(crate) fn diverging(share: f64) -> Self {
        if share.is_nan() {
            return UNKNOWN;
        }
        let end = if share < 0.0 { NEGATIVE } else { POSITIVE };
        let strength = share.abs().min(1.0);
        Self([0, 1, 2].map(|i| NEUTRAL.0[i] + strength * (end.0[i] - NEUTRAL.0[i])))
    }

    /// The colour as SVG writes it.
    pub(crate) fn hex(self) -> String {
        let [red, green, blue] = self.0.map(|channel| channel.round() as u8);
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// The colour to write in on this one: the one with more contrast.
    pub(crate) fn ink(self) -> &'static str {
        // At 0.22 ink and paper have about the same contrast, by the formula of the WCAG.
        if self.luminance() > 0.22 { INK } else { PAPER }
    }

    /// The relative luminance of the WCAG, from 0 (black) to 1 (white).
    fn luminance(self) -> f64 {
        let linear = self.0.map(|channel| {
            let share = channel / 255.0;
            if share <= 0.04045 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn the_ends_and_the_middle_are_the_named_colours() {
        assert_eq!(Colour::diverging(0.0).hex(), "#ffffff");
        assert_eq!(Colour::diverging(-1.0).hex(), "#215891");
        assert_eq!(Colour::diverging(7.0).hex(), "#ec8a1f");
        assert_eq!(Colour::diverging(f64::NAN).hex(), "#d0d0d0");
    }

    #[test]
    fn text_is_legible_on_every_colour() {
        let ink = Colour([34.0, 39.0, 46.0]).luminance();
        for step in -100..=100 {
            let colour = Colour::diverging(f64::from(step) / 100.0);
            let written = if colour.ink() == INK { ink } else { 1.0 };
            let contrast = contrast(written, colour.luminance());
            // No colour between the two can give both ink and paper more than 3.9.
            assert!(contrast > 3.7, "{step}: {contrast}");
        }
    }

    #[test]
    fn both_sides_differ_in_greyscale() {
        let end = |share| Colour::diverging(share).luminance();
        assert!(contrast(end(-1.0), end(1.0)) > 2.5);
        let grey = (-100..=0).map(|step| end(f64::from(step) / 100.0));
        assert!(grey.is_sorted());
    }
}
