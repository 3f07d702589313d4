//! Eight chains side by side in the lanes of vector registers, in double precision.
//!
//! Plain loops over fixed-size arrays, all inlined into the tasks given to [`brex_core::dispatch`].
//! No lane ever looks at another, so a chain is the same whatever runs beside it.

/// How many chains run side by side.
pub(crate) const LANES: usize = 8;

/// One quantity of every chain.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

impl Lanes {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);

    /// The same value in every lane.
    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    /// Applies a function to each lane.
    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = self;
        for value in &mut out.0 {
            *value = f(*value);
        }
        out
    }

    /// Combines two quantities lane by lane.
    #[inline(always)]
    pub(crate) fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self;
        for (a, b) in out.0.iter_mut().zip(other.0) {
            *a = f(*a, b);
        }
        out
    }

    /// The larger of two in each lane.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    /// Takes the lanes of `self` where `chosen` is positive, of `other` elsewhere.
    #[inline(always)]
    pub(crate) fn choose(self, other: Self, chosen: Self) -> Self {
        let mut out = other;
        for lane in 0..LANES {
            out.0[lane] = if chosen.0[lane] > 0.0 {
                self.0[lane]
            } else {
                other.0[lane]
            };
        }
        out
    }
}

impl std::ops::Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl std::ops::Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl std::ops::Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

/// `e^x` for `x` up to 0, to a unit in the last place; below -708 it stays at `e^-708`.
#[inline(always)]
pub(crate) fn exp(x: Lanes) -> Lanes {
    /// `1.5 * 2^52`: adding it rounds to an integer and leaves that in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// ln 2 in two parts, the first with trailing zeros, so that its multiples are exact.
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    x.map(|x| {
        let x = if x > -708.0 { x } else { -708.0 };
        let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND);
        let n = shifted - ROUND;
        let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
        // Taylor's series on |r| <= ln(2)/2; the first term left out is below 1e-17.
        let mut sum = 1.0 / 6_227_020_800.0;
        for coefficient in [
            1.0 / 479_001_600.0,
            1.0 / 39_916_800.0,
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
            1.0,
        ] {
            sum = f64::mul_add(sum, r, coefficient);
        }
        let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
        sum * power
    })
}

/// The natural logarithm of numbers from 1 to 8.
#[inline(always)]
pub(crate) fn ln(x: Lanes) -> Lanes {
    x.map(|x| {
        // x = 2^e m with m from 3/4 to 3/2, and ln m = 2 atanh((m - 1) / (m + 1)).
        let doubled = (if x > 1.5 { 1.0 } else { 0.0 })
            + (if x > 3.0 { 1.0 } else { 0.0 })
            + (if x > 6.0 { 1.0 } else { 0.0 });
        let m = x
            * (if x > 1.5 { 0.5 } else { 1.0 })
            * (if x > 3.0 { 0.5 } else { 1.0 })
            * (if x > 6.0 { 0.5 } else { 1.0 });
        let f = m - 1.0;
        let s = f / (2.0 + f);
        let s2 = s * s;
        let mut sum = 2.0 / 27.0;
        for odd in [
            2.0 / 25.0,
            2.0 / 23.0,
            2.0 / 21.0,
            2.0 / 19.0,
            2.0 / 17.0,
            2.0 / 15.0,
            2.0 / 13.0,
            2.0 / 11.0,
            2.0 / 9.0,
            2.0 / 7.0,
            2.0 / 5.0,
            2.0 / 3.0,
            2.0,
        ] {
            sum = f64::mul_add(sum, s2, odd);
        }
        f64::mul_add(doubled, std::f64::consts::LN_2, s * sum)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elementary_functions_are_accurate() {
        for i in 0..70_000 {
            let x = f64::from(i) * -0.01;
            let got = exp(Lanes::splat(x)).0[3];
            assert!((got / x.exp() - 1.0).abs() < 4e-16, "exp {x}: {got}");
            let y = 1.0 + f64::from(i) * 1e-4;
            let got = ln(Lanes::splat(y)).0[3];
            assert!((got - y.ln()).abs() < 5e-16, "ln {y}: {got}");
        }
        assert!(exp(Lanes::splat(-1e9)).0[0] < 1e-300);
        assert_eq!(exp(Lanes::ZERO).0[0], 1.0);
        assert_eq!(ln(Lanes::splat(1.0)).0[0], 0.0);
    }
}
