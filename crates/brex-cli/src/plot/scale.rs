//! From values to places on the page, and the round numbers to write beside an axis.
//!
//! Three scales: linear; logarithmic, for what is never negative; and `asinh`, which is linear
//! around zero and logarithmic far from it, on both sides. The last keeps a figure legible when
//! values differ by orders of magnitude and some are negative, where a logarithm would not do.

/// How values become distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// Equal steps are equally far apart.
    Linear,
    /// Equal factors are equally far apart; zero and less are infinitely far down.
    Log,
    /// Linear up to about `knee`, logarithmic beyond it.
    SymmetricLog {
        /// Where linear turns into logarithmic.
        knee: f64,
    },
}

impl Shape {
    /// The coordinate of a value, before it is stretched over the page.
    pub(crate) fn forward(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log if value > 0.0 => value.log10(),
            Self::Log => f64::NEG_INFINITY,
            Self::SymmetricLog { knee } => (value / knee).asinh(),
        }
    }

    /// The value at a coordinate.
    pub(crate) fn backward(self, coordinate: f64) -> f64 {
        match self {
            Self::Linear => coordinate,
            Self::Log => 10.0_f64.powf(coordinate),
            Self::SymmetricLog { knee } => coordinate.sinh() * knee,
        }
    }
}

/// A value and the text that stands for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// An axis: values from `low` to `high` become pixels from `start` to `end`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    shape: Shape,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// A scale over a range of values. A range without width is widened around its value.
    pub(crate) fn new(shape: Shape, range: (f64, f64), pixels: (f64, f64)) -> Self {
        let (low, high) = widen(range);
        Self {
            shape,
            low,
            high,
            start: pixels.0,
            end: pixels.1,
        }
    }

    /// The kind of scale.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// How far along the axis a value is: 0 at its start, 1 at its end, beyond that outside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let (low, high) = (self.shape.forward(self.low), self.shape.forward(self.high));
        (self.shape.forward(value) - low) / (high - low)
    }

    /// The pixel of a share; what is outside lands on the ends.
    pub(crate) fn pixel_of_share(&self, share: f64) -> f64 {
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// The pixel of a value; what is outside lands on the ends.
    pub(crate) fn pixel(&self, value: f64) -> f64 {
        self.pixel_of_share(self.share(value))
    }

    /// About `count` round values inside the range, with their labels.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        match self.shape {
            Shape::Linear => self.linear_ticks(count),
            Shape::Log => self.log_ticks(self.low, count),
            Shape::SymmetricLog { knee } => self.log_ticks(knee, count),
        }
    }

    fn linear_ticks(&self, count: usize) -> Vec<Tick> {
        let step = round_step((self.high - self.low) / count.max(1) as f64);
        let decimals = decimals(step);
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last)
            .map(|index| {
                let value = index as f64 * step;
                let label = label(value, decimals);
                Tick { value, label }
            })
            .collect()
    }

    /// Zero and powers of ten on both sides, every power or every second, third ... one.
    fn log_ticks(&self, knee: f64, count: usize) -> Vec<Tick> {
        let first = (knee.log10() - 1e-9).ceil() as i32;
        let largest = self.low.abs().max(self.high.abs());
        let last = (largest.log10() + 1e-9).floor() as i32;
        let powers = (last - first + 1).max(1) as usize;
        let sides = usize::from(self.low < 0.0) + usize::from(self.high > 0.0);
        let stride = (powers * sides).div_ceil(count.max(1)).max(1);
        let mut values = vec![0.0];
        for power in (first..=last).rev().step_by(stride) {
            let value = 10.0_f64.powi(power);
            values.extend([-value, value]);
        }
        // Where there are few powers, what is between them helps.
        if self.shape == Shape::Log && self.high < 100.0 * self.low {
            for power in first - 1..=last {
                let value = 10.0_f64.powi(power);
                values.extend([2.0 * value, 5.0 * value]);
            }
        }
        // Powers of ten at the very ends of the range are inside.
        let air = 1.0 + 1e-9;
        let inside = |value: f64| match self.shape {
            Shape::Log => value >= self.low / air && value <= self.high * air,
            Shape::Linear | Shape::SymmetricLog { .. } => (self.low..=self.high).contains(&value),
        };
        values.retain(|value| inside(*value));
        if values.len() < 2 {
            values.extend([self.low, self.high]);
        }
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
            .into_iter()
            .map(|value| Tick {
                value,
                label: label(value, decimals(value)),
            })
            .collect()
    }
}

/// Widens a range that has no width.
fn widen((low, high): (f64, f64)) -> (f64, f64) {
    if high - low > (low.abs() + high.abs()) * 1e-9 {
        return (low, high);
    }
    let middle = low / 2.0 + high / 2.0;
    let half = (middle.abs() * 0.1).max(if middle == 0.0 { 1.0 } else { 1e-300 });
    (middle - half, middle + half)
}

/// The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10.0_f64.powf(step.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|candidate| *candidate >= step * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// How many decimals a number with few significant digits needs.
fn decimals(value: f64) -> usize {
    (0..12)
        .find(|places| {
            let scaled = value.abs() * 10.0_f64.powi(*places);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1e-300)
        })
        .unwrap_or(12) as usize
}

/// A number as it is written in a figure: with a minus sign, thousands apart, powers for the very
/// large and the very small.
pub(crate) fn label(value: f64, decimals: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    if !(1e-4..1e6).contains(&size) {
        let text = format!("{size:e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits: f64 = digits.parse().unwrap_or(1.0);
        let digits = format!("{digits:.2}");
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{sign}{digits}e{}", power.replace('-', "−"));
    }
    let text = format!("{size:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    format!("{sign}{}{rest}", thousands(whole))
}

/// Digits in groups of three from five digits on.
fn thousands(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_owned();
    }
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(shape: Shape, low: f64, high: f64) -> Vec<String> {
        let scale = Scale::new(shape, (low, high), (0.0, 100.0));
        scale.ticks(6).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn linear_ticks_are_round_numbers() {
        assert_eq!(
            labels(Shape::Linear, 0.0, 1.0),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(Shape::Linear, -7.3, 12.1), ["−5", "0", "5", "10"]);
        assert_eq!(
            labels(Shape::Linear, 0.0, 60_000.0),
            [
                "0", "10,000", "20,000", "30,000", "40,000", "50,000", "60,000"
            ]
        );
        assert_eq!(labels(Shape::Linear, 0.0, 4e9).last().unwrap(), "4e9");
    }

    #[test]
    fn log_ticks_are_powers_of_ten_on_both_sides() {
        let shape = Shape::SymmetricLog { knee: 1.0 };
        assert_eq!(
            labels(shape, -50.0, 3000.0),
            ["−10", "0", "10", "1000"].map(str::to_owned),
        );
    }

    #[test]
    fn a_logarithm_has_the_powers_of_ten_at_its_ends_and_zero_below_them() {
        assert_eq!(
            labels(Shape::Log, 0.001, 10.0),
            ["0.001", "0.01", "0.1", "1", "10"]
        );
        assert_eq!(
            labels(Shape::Log, 0.007, 0.35),
            ["0.01", "0.02", "0.05", "0.1", "0.2"]
        );
        let scale = Scale::new(Shape::Log, (0.001, 10.0), (100.0, 0.0));
        assert_eq!(scale.pixel(0.1), 50.0);
        assert_eq!(scale.pixel(0.0), 100.0);
        assert_eq!(scale.pixel(-3.0), 100.0);
    }

    #[test]
    fn both_shapes_can_be_undone() {
        for shape in [Shape::Linear, Shape::SymmetricLog { knee: 0.3 }] {
            for value in [-1e4, -1.0, 0.0, 0.2, 77.0] {
                let back = shape.backward(shape.forward(value));
                assert!((back - value).abs() <= 1e-9 * value.abs(), "{back} {value}");
            }
        }
    }

    #[test]
    fn a_range_without_width_still_has_a_middle() {
        for value in [0.0, 5.0, -1e-200, 1e200] {
            let scale = Scale::new(Shape::Linear, (value, value), (0.0, 100.0));
            assert!((scale.pixel(value) - 50.0).abs() < 1e-6, "{value}");
            assert!(!scale.ticks(6).is_empty(), "{value}");
        }
    }
}
