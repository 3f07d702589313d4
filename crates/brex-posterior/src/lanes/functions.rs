//! Elementary functions on lanes, in single precision, branch-free so that they vectorise.
//!
//! The standard library's versions are calls that handle one number at a time. These are accurate
//! to a few units in the last place on the ranges that the samplers use; the tests measure it.

use super::Lanes;
use brex_core::{exp_lane, ln_lane};

/// `1.5 * 2^23`: adding it rounds a small number to the nearest integer and leaves that integer in
/// the low bits.
const ROUND: f32 = 12_582_912.0;

/// `e^x`; arguments outside -87 to 88 are moved to the nearer end.
#[inline(always)]
pub(crate) fn exp<const L: usize>(x: Lanes<L>) -> Lanes<L> {
    x.map(exp_lane)
}

/// The natural logarithm of a positive normal number.
#[inline(always)]
pub(crate) fn ln<const L: usize>(x: Lanes<L>) -> Lanes<L> {
    x.map(ln_lane)
}

/// Cosine and sine of `turns` full turns, for `turns` from 0 to 1.
#[inline(always)]
pub(crate) fn cos_sin_turns<const L: usize>(turns: Lanes<L>) -> (Lanes<L>, Lanes<L>) {
    let mut cosine = Lanes::ZERO;
    let mut sine = Lanes::ZERO;
    for lane in 0..L {
        let shifted = turns.0[lane].mul_add(4.0, ROUND);
        let quarter = shifted.to_bits() & 3;
        let rest = turns.0[lane].mul_add(4.0, -(shifted - ROUND));
        // |a| <= pi/4.
        let a = rest * std::f32::consts::FRAC_PI_2;
        let a2 = a * a;
        let mut s = 1.0 / 362_880.0;
        for coefficient in [-1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0] {
            s = f32::mul_add(s, a2, coefficient);
        }
        s *= a;
        let mut c = 1.0 / 40_320.0;
        for coefficient in [-1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0] {
            c = f32::mul_add(c, a2, coefficient);
        }
        let swap = quarter & 1 == 1;
        let (x, y) = if swap { (s, c) } else { (c, s) };
        let cosine_sign = ((quarter + 1) & 2) << 30;
        let sine_sign = (quarter & 2) << 30;
        cosine.0[lane] = f32::from_bits(x.to_bits() ^ cosine_sign);
        sine.0[lane] = f32::from_bits(y.to_bits() ^ sine_sign);
    }
    (cosine, sine)
}

/// The square root of a number that is not negative.
#[inline(always)]
pub(crate) fn sqrt<const L: usize>(x: Lanes<L>) -> Lanes<L> {
    x.map(f32::sqrt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(from: f32, to: f32) -> impl Iterator<Item = Lanes<8>> {
        (0..20_000).map(move |i| {
            Lanes(std::array::from_fn(|lane| {
                let t = (i * 8 + lane) as f32 / 160_000.0;
                from + (to - from) * t
            }))
        })
    }

    #[test]
    fn exp_is_accurate_to_three_units_in_the_last_place() {
        for x in sweep(-86.0, 87.0) {
            for (value, x) in exp(x).0.into_iter().zip(x.0) {
                let exact = f64::from(x).exp();
                assert!((f64::from(value) / exact - 1.0).abs() < 3.0e-7, "exp({x})");
            }
        }
        assert!(exp(Lanes::<8>::splat(-1e9)).0[0] > 0.0);
        assert!(exp(Lanes::<8>::splat(1e9)).0[0].is_finite());
    }

    #[test]
    fn ln_is_accurate_near_one_and_far_away() {
        for x in sweep(1e-6, 3.0).chain(sweep(1.0, 1e9)) {
            for (value, x) in ln(x).0.into_iter().zip(x.0) {
                let exact = f64::from(x).ln();
                let error = (f64::from(value) - exact).abs();
                assert!(error < 3e-7 * exact.abs() + 1e-7, "ln({x}) = {value}");
            }
        }
    }

    #[test]
    fn cosine_and_sine_of_a_turn() {
        for turns in sweep(0.0, 1.0) {
            let (c, s) = cos_sin_turns(turns);
            for lane in 0..8 {
                let angle = f64::from(turns.0[lane]) * std::f64::consts::TAU;
                assert!((f64::from(c.0[lane]) - angle.cos()).abs() < 5e-7);
                assert!((f64::from(s.0[lane]) - angle.sin()).abs() < 5e-7);
            }
        }
    }
}
