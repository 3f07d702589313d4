//! Loops compiled for the vector instructions that the processor at hand has.

/// Work to be compiled for the instruction set at hand.
///
/// A closure would do, were it certain to be inlined: what is not inlined is compiled for the
/// oldest processor. So the work is a struct, and `run` has to be marked `#[inline(always)]`, as
/// has everything that it calls.
pub trait Task {
    /// What the work gives.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
}

struct Dispatched<T>(T);

impl<T: Task> pulp::WithSimd for Dispatched<T> {
    type Output = T::Output;
    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> T::Output {
        self.0.run()
    }
}

/// Runs a task with the widest vector instructions that the processor has.
pub fn dispatch<T: Task>(task: T) -> T::Output {
    pulp::Arch::new().dispatch(Dispatched(task))
}

/// Keeps a loop over lanes in the form it is written in.
///
/// The compiler would rather take the same lane of several turns of the loop together, and gather
/// and scatter them at several times the cost. A call of this in the loop's body stops it.
#[inline(always)]
pub fn keep_lanes() {
    std::hint::black_box(());
}

/// `1.5 * 2^23`: adding it rounds a small number to the nearest integer and leaves that integer in
/// the low bits.
const ROUND: f32 = 12_582_912.0;

/// `e^x`, branch-free so that a loop over it vectorises; arguments outside -87 to 88 are moved to
/// the nearer end. Accurate to a few units in the last place.
#[inline(always)]
pub fn exp_lane(x: f32) -> f32 {
    // ln 2 in two parts, the first with trailing zeros, so that n * LN2_HIGH is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x));
    // Taylor's series on |r| <= ln(2)/2; the first term left out is below 6e-9 of the sum.
    let mut sum = 1.0 / 5040.0;
    for coefficient in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = f32::mul_add(sum, r, coefficient);
    }
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    sum * power
}

/// The natural logarithm of a positive normal number, branch-free so that a loop over it
/// vectorises. Accurate to a few units in the last place.
#[inline(always)]
pub fn ln_lane(x: f32) -> f32 {
    // x = 2^e * m with m from sqrt(1/2) to sqrt(2).
    let shifted = x.to_bits().wrapping_sub(0x3f35_04f3);
    let exponent = (shifted as i32) >> 23;
    let mantissa = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172.
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let mut sum = 2.0 / 9.0;
    for coefficient in [2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0] {
        sum = f32::mul_add(sum, s2, coefficient);
    }
    (exponent as f32).mul_add(std::f32::consts::LN_2, s * sum)
}
