//! The authors' proposal: a walk on the surface where the absolute weights sum to 1.
//!
//! Pairs of weights are moved along their own diamond `|a| + |b| = constant`, one after another, all
//! six of them, in an order that a permutation gives.

use super::glibc_rand::GlibcRand;
use super::world::FEATURES;

/// The length of the walk for each pair.
const STEP: f64 = 0.01;
/// What is too short to count.
const SHORT: f64 = 1e-4;

/// Proposes weights from `weights`. Draws nine numbers.
pub(crate) fn propose(weights: &[f64; FEATURES], random: &mut GlibcRand) -> [f64; FEATURES] {
    let mut order = [0, 1, 2, 3];
    for unsorted in (1..FEATURES).rev() {
        let other = random.below(unsorted as u32);
        order.swap(other, unsorted);
    }
    let mut weights = *weights;
    for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        let (i, j) = (order[a], order[b]);
        let clockwise = random.below(2) == 0;
        if weights[i].abs() >= SHORT || weights[j].abs() >= SHORT {
            (weights[i], weights[j]) = walk(weights[i], weights[j], clockwise);
        }
    }
    weights
}

/// Walks along the diamond through `(a, b)`.
fn walk(a: f64, b: f64, clockwise: bool) -> (f64, f64) {
    // Clockwise: ++, +-, --, -+. The other way: ++, -+, --, +-. Walking clockwise, |a| grows in the
    // first and third of these; the other way it shrinks there.
    let place = |first: bool, second: bool| match (first, second) {
        (true, true) => 0,
        (false, false) => 2,
        (true, false) => 1,
        (false, true) => 3,
    };
    let (positive_a, positive_b) = (a >= 0.0, b >= 0.0);
    let mut quadrant = if clockwise {
        place(positive_a, positive_b)
    } else {
        place(positive_b, positive_a)
    };
    let (mut a, mut b) = (a.abs(), b.abs());
    let slack = a + b;
    let mut left = STEP;
    while left.abs() >= SHORT {
        let grows = (quadrant % 2 == 0) == clockwise;
        let mut step = left;
        if grows && a + left > slack {
            step = slack - a;
            quadrant += 1;
        } else if !grows && a - left < 0.0 {
            step = a;
            quadrant += 1;
        }
        let change = if grows { step } else { -step };
        a += change;
        b -= change;
        left -= step;
    }
    let (negative_first, negative_second) = match quadrant % 4 {
        0 => (false, false),
        1 => (false, true),
        2 => (true, true),
        _ => (true, false),
    };
    let (negative_a, negative_b) = if clockwise {
        (negative_first, negative_second)
    } else {
        (negative_second, negative_first)
    };
    let signed = |value: f64, negative: bool| if negative { -value } else { value };
    (signed(a, negative_a), signed(b, negative_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_on_the_surface_and_goes_round_both_ways() {
        let mut random = GlibcRand::new(5);
        let mut weights = [-0.25; FEATURES];
        let mut seen = [false; 16];
        for _ in 0..20_000 {
            weights = propose(&weights, &mut random);
            let sum: f64 = weights.iter().map(|w| w.abs()).sum();
            assert!((sum - 1.0).abs() < 1e-9);
            let signs = weights
                .iter()
                .fold(0, |bits, w| 2 * bits + usize::from(*w > 0.0));
            seen[signs] = true;
        }
        assert!(seen.iter().all(|&seen| seen));
    }

    #[test]
    fn corners_are_passed() {
        let close = |got: (f64, f64), want: (f64, f64)| {
            assert!(
                (got.0 - want.0).abs() < 1e-15 && (got.1 - want.1).abs() < 1e-15,
                "{got:?}"
            );
        };
        close(walk(0.5, 0.5, true), (0.51, 0.49));
        close(walk(0.5, 0.5, false), (0.49, 0.51));
        // Past (1, 0): 0.004 up to the corner, 0.006 beyond.
        close(walk(0.996, 0.004, true), (0.994, -0.006));
        close(walk(0.004, 0.996, false), (-0.006, 0.994));
        close(walk(-0.996, -0.004, true), (-0.994, 0.006));
    }
}
