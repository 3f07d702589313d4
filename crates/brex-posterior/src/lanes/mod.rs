//! Many chains side by side in the lanes of SIMD registers.
//!
//! A [`Lanes`] holds the same quantity of `L` chains. The functions here are plain loops over
//! fixed-size arrays that the compiler turns into vector instructions; they are all inlined into
//! the [`Task`]s given to [`dispatch`], which compiles them for the instruction set the
//! processor has. Every operation is rounded the same way on every instruction set (products that
//! are added are fused explicitly, sums run in a fixed order), so a seed gives the same draws on
//! all of them.

mod functions;
mod product;
mod random;

pub(crate) use brex_core::{Task, dispatch, keep_lanes};
pub(crate) use functions::{cos_sin_turns, exp, ln, sqrt};
pub(crate) use product::Packed;
pub(crate) use random::LaneRandom;

/// One quantity of `L` chains.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lanes<const L: usize>(pub(crate) [f32; L]);

impl<const L: usize> Lanes<L> {
    pub(crate) const ZERO: Self = Self([0.0; L]);

    /// The same value in every lane.
    #[inline(always)]
    pub(crate) fn splat(value: f32) -> Self {
        Self([value; L])
    }

    /// Applies a function to each lane.
    #[inline(always)]
    pub(crate) fn map(self, f: impl Fn(f32) -> f32) -> Self {
        let mut out = self;
        for value in &mut out.0 {
            *value = f(*value);
        }
        out
    }

    /// Combines two quantities lane by lane.
    #[inline(always)]
    pub(crate) fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for (a, b) in out.0.iter_mut().zip(other.0) {
            *a = f(*a, b);
        }
        out
    }

    /// `self * factor + addend`, rounded once.
    #[inline(always)]
    pub(crate) fn mul_add(self, factor: Self, addend: Self) -> Self {
        let mut out = self;
        for lane in 0..L {
            out.0[lane] = out.0[lane].mul_add(factor.0[lane], addend.0[lane]);
        }
        out
    }

    /// `factor * self + addend` with one factor for all lanes.
    #[inline(always)]
    pub(crate) fn scale_add(self, factor: f32, addend: Self) -> Self {
        self.zip(addend, |a, b| factor.mul_add(a, b))
    }

    /// The product with one factor for all lanes.
    #[inline(always)]
    pub(crate) fn scale(self, factor: f32) -> Self {
        self.map(|a| factor * a)
    }
}

impl<const L: usize> std::ops::Add for Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl<const L: usize> std::ops::Sub for Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl<const L: usize> std::ops::Mul for Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl<const L: usize> std::ops::Div for Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
}

impl<const L: usize> std::ops::Neg for Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }
}
