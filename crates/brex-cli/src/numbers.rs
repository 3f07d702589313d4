//! How numbers are written for people: as many digits as the Monte-Carlo error supports, times and
//! sizes in units that fit.

/// A value with its Monte-Carlo error: the error has one significant digit (two if the first is a
/// one), and the value ends at the same place.
pub(crate) fn with_error(value: f64, error: f64) -> String {
    if !value.is_finite() || !error.is_finite() || error <= 0.0 {
        return significant(value, 4);
    }
    let largest = value.abs().max(error);
    if !(1e-3..1e7).contains(&largest) {
        let power = largest.log10().floor() as i32;
        let unit = 10.0_f64.powi(power);
        return format!("({})e{power}", with_error(value / unit, error / unit));
    }
    let decimals = decimals_of(error);
    format!("{} ± {error:.decimals$}", fixed(value, decimals))
}

/// A value with as many digits as its Monte-Carlo error supports, without the error.
pub(crate) fn as_precise_as(value: f64, error: f64) -> String {
    let text = with_error(value, error);
    match text.split_once(" ± ") {
        Some((value, rest)) if value.starts_with('(') => {
            let power = rest.split_once(')').map_or("", |(_, power)| power);
            format!("{}{power}", &value[1..])
        }
        Some((value, _)) => value.to_owned(),
        None => text,
    }
}

/// Where an error's last significant digit stands.
fn decimals_of(error: f64) -> usize {
    let power = error.log10().floor();
    let leading = error / 10.0_f64.powf(power);
    let digits = if leading < 1.95 { 1.0 } else { 0.0 };
    (digits - power).clamp(0.0, 8.0) as usize
}

/// A number with a fixed number of decimals, and no minus sign in front of nothing.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(size) if size.bytes().all(|byte| matches!(byte, b'0' | b'.')) => size.to_owned(),
        _ => text,
    }
}

/// A value with a number of significant digits, in scientific form when very large or small.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let power = size.log10().floor() as i64;
    let decimals = (digits as i64 - 1 - power).max(0) as usize;
    format!("{value:.decimals$}")
}

/// A value with at most so many significant digits, without zeros at the end.
pub(crate) fn trimmed(value: f64, digits: usize) -> String {
    let text = significant(value, digits);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// A number as C's `%g` prints it: six significant digits, no zeros at the end.
pub(crate) fn six_digits(value: f64) -> String {
    let text = format!("{value:.5e}");
    let Some((digits, power)) = text.split_once('e') else {
        return text;
    };
    let power: i32 = power.parse().unwrap_or(0);
    let trim = |number: &str| {
        if number.contains('.') {
            number
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        } else {
            number.to_owned()
        }
    };
    if (-4..6).contains(&power) {
        return trim(&format!("{value:.*}", (5 - power) as usize));
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim(digits), power.abs())
}

/// A count with its thousands apart.
pub(crate) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time span.
pub(crate) fn seconds(span: f64) -> String {
    match span {
        s if s < 0.01 => format!("{:.1} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => {
            let whole = s.round() as u64;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
        s => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
    }
}

/// A probability with two decimals that never looks certain unless it is.
pub(crate) fn probability(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        1.0 => "1".to_owned(),
        v if v < 0.005 => "<0.01".to_owned(),
        v if v > 0.995 => ">0.99".to_owned(),
        v => format!("{v:.2}"),
    }
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}

/// The mean, and the standard deviation if there are two values at least.
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (
        mean,
        (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
    )
}

/// All places of a list, or so many of them in even steps, the first and the last among them.
pub(crate) fn evenly(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let chosen = count.min(most);
    let (steps, last) = (chosen.saturating_sub(1).max(1), count.saturating_sub(1));
    (0..chosen).map(move |step| (step * last).div_ceil(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_steps_begin_with_the_first_and_end_with_the_last() {
        let chosen = |count, most| evenly(count, most).collect::<Vec<usize>>();
        assert!(chosen(0, 5).is_empty());
        assert_eq!(chosen(1, 5), [0]);
        assert_eq!(chosen(9, 1), [0]);
        assert_eq!(chosen(4, 4), [0, 1, 2, 3]);
        assert_eq!(chosen(100, 4), [0, 33, 66, 99]);
        for (count, most) in [(13, 12), (100, 12), (999, 18)] {
            let chosen = chosen(count, most);
            assert_eq!((chosen[0], chosen[most - 1]), (0, count - 1));
            assert!(chosen.windows(2).all(|two| two[0] < two[1]));
        }
    }

    #[test]
    fn the_error_decides_how_many_digits_a_value_has() {
        assert_eq!(with_error(-1.6877, 0.031), "-1.69 ± 0.03");
        assert_eq!(with_error(-1.6877, 0.0123), "-1.688 ± 0.012");
        assert_eq!(with_error(2009.07, 21.3), "2009 ± 21");
        assert_eq!(with_error(12.43, 0.2), "12.4 ± 0.2");
        assert_eq!(with_error(0.5, 0.0), "0.5000");
        assert_eq!(with_error(3.2e9, 4.1e7), "(3.20 ± 0.04)e9");
        assert_eq!(with_error(2e-6, 3e-8), "(2.00 ± 0.03)e-6");
        assert_eq!(with_error(0.0, 0.0), "0");
        assert_eq!(with_error(-1e-9, 0.03), "0.00 ± 0.03");
        assert_eq!(as_precise_as(12.4277, 0.03), "12.43");
        assert_eq!(as_precise_as(3.2e9, 4.1e7), "3.20e9");
        assert_eq!(as_precise_as(12.4277, 0.0), "12.43");
    }

    #[test]
    fn significant_digits() {
        assert_eq!(significant(1234.567, 3), "1235");
        assert_eq!(significant(0.012_345, 3), "0.0123");
        assert_eq!(significant(1.0e-9, 3), "1.00e-9");
        assert_eq!(significant(f64::NAN, 3), "NaN");
        assert_eq!(trimmed(20.0, 4), "20");
        assert_eq!(trimmed(1200.0, 2), "1200");
        assert_eq!(trimmed(2.5, 4), "2.5");
    }

    #[test]
    fn six_digits_are_those_of_c() {
        let pairs = [
            (0.0, "0"),
            (0.033_248_1, "0.0332481"),
            (2.669_27, "2.66927"),
            (123_456.5, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_1, "0.0001"),
            (0.000_012_3, "1.23e-05"),
            (999_999.5, "1e+06"),
            (0.000_099_999_99, "0.0001"),
            (100.0, "100"),
            (-1e-300, "-1e-300"),
        ];
        for (value, expected) in pairs {
            assert_eq!(six_digits(value), expected);
        }
    }

    #[test]
    fn units_fit() {
        assert_eq!(seconds(0.0012), "1.2 ms");
        assert_eq!(seconds(0.126), "0.13 s");
        assert_eq!(seconds(59.94), "59.9 s");
        assert_eq!(seconds(185.4), "3 min 05 s");
        assert_eq!(seconds(7380.0), "2 h 03 min");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(probability(0.999), ">0.99");
        assert_eq!(probability(1.0), "1");
        assert_eq!(probability(0.376), "0.38");
        assert_eq!(percent(0.05), "5 %");
        assert_eq!(percent(0.0125), "1.25 %");
    }
}
