//! The Monte-Carlo error of a quantile: half the width of the interval between the order
//! statistics at the 16 % and 84 % points of the beta distribution that the quantile's effective
//! sample size implies (section 4.4 of Vehtari et al.).

use statrs::function::{beta::beta_reg, gamma::ln_gamma};

/// Plus and minus one standard deviation of a normal distribution, to the digits ArviZ uses.
const ONE_SIGMA: [f64; 2] = [0.158_655_3, 0.841_344_7];

/// The Monte-Carlo error of the `probability`-quantile of `sorted`. NaN if `ess` is.
pub(super) fn quantile_error(sorted: &[f64], probability: f64, ess: f64) -> f64 {
    if ess.is_nan() {
        return f64::NAN;
    }
    let probability = probability.clamp(0.0, 1.0);
    let (a, b) = (ess * probability + 1.0, ess * (1.0 - probability) + 1.0);
    let last = (sorted.len() - 1) as f64;
    let place = |p| (beta_quantile(a, b, p) * sorted.len() as f64 - 1.0).clamp(0.0, last);
    let low = sorted[place(ONE_SIGMA[0]).floor() as usize];
    let high = sorted[place(ONE_SIGMA[1]).ceil() as usize];
    (high - low) / 2.0
}

/// The quantile of a beta distribution with both parameters at least 1, by Newton's method inside a
/// shrinking bracket, so that it always ends.
fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    let log_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    let mut x = a / (a + b);
    for _ in 0..200 {
        let excess = beta_reg(a, b, x) - probability;
        if excess > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let log_density = (a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - log_beta;
        let newton = x - excess / log_density.exp();
        let next = if low < newton && newton < high {
            newton
        } else {
            (low + high) / 2.0
        };
        if (next - x).abs() <= 1e-15 * x {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_quantiles_agree_with_scipy() {
        for (ess, probability, low, high) in [
            (
                400.0,
                0.05,
                0.041_217_627_138_297_46,
                0.063_263_548_417_017_35,
            ),
            (
                1e5,
                0.05,
                0.049_319_765_260_095_13,
                0.050_698_234_436_357_35,
            ),
            (1e5, 0.95, 0.949_301_765_563_642_7, 0.950_680_234_739_904_8),
            (1e7, 0.5, 0.499_841_886_162_906_1, 0.500_158_113_837_093_9),
            (3.3, 0.01, 0.042_671_745_257_604_74, 0.357_246_185_069_773_3),
        ] {
            let (a, b) = (ess * probability + 1.0, ess * (1.0 - probability) + 1.0);
            for (level, expected) in ONE_SIGMA.into_iter().zip([low, high]) {
                let found = beta_quantile(a, b, level);
                assert!((found / expected - 1.0).abs() < 1e-11, "{ess} {found}");
            }
        }
    }

    #[test]
    fn extreme_shapes_end() {
        for (a, b) in [(1.0, 1.0), (1.0, 1e8), (1e8, 1.0), (1e9, 1e9)] {
            for level in ONE_SIGMA {
                let found = beta_quantile(a, b, level);
                assert!(
                    (beta_reg(a, b, found) - level).abs() < 1e-6,
                    "{a} {b} {found}"
                );
            }
        }
    }
}
