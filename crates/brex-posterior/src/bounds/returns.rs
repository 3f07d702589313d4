//! Returns `w . Phi` of every draw for every policy.

use rayon::prelude::*;

/// Values of draws taken together, so that they stay in the cache while the policies pass.
const BLOCK: usize = 4096;
/// Independent partial sums of a dot product; they let the compiler use vector instructions.
const LANES: usize = 8;

/// The dot product. Always adds in the same order.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// One vector of returns per vector of features, in the order of the draws. Draws and features
/// have `dim` values each, at least one.
pub(super) fn returns<Phi>(draws: &[f64], dim: usize, features: &[Phi]) -> Vec<Vec<f64>>
where
    Phi: AsRef<[f64]> + Sync,
{
    let blocks: Vec<Vec<f64>> = draws
        .par_chunks(BLOCK.div_ceil(dim) * dim)
        .map(|block| {
            let products = features
                .iter()
                .flat_map(|phi| block.chunks_exact(dim).map(|draw| dot(draw, phi.as_ref())));
            products.collect()
        })
        .collect();
    let mut all = vec![Vec::with_capacity(draws.len() / dim); features.len()];
    for block in &blocks {
        let size = block.len() / features.len().max(1);
        for (returns, part) in all.iter_mut().zip(block.chunks_exact(size.max(1))) {
            returns.extend_from_slice(part);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::Draws;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn returns_are_the_products_of_draws_and_features(
            dim in 1_usize..20,
            count in 1_usize..200,
            policies in 1_usize..4,
        ) {
            let value = |i: usize| ((i * 7919) % 1009) as f64 / 100.0 - 5.0;
            let draws = Draws::new(1, count, dim, (0..count * dim).map(value).collect()).unwrap();
            let features: Vec<Vec<f64>> =
                (0..policies).map(|p| (0..dim).map(|j| value(p * 31 + j)).collect()).collect();
            for (found, phi) in returns(draws.as_slice(), dim, &features).iter().zip(&features) {
                let expected = draws.times(phi);
                prop_assert_eq!(found.len(), expected.len());
                for (one, other) in found.iter().zip(&expected) {
                    prop_assert!((one - other).abs() < 1e-9);
                }
            }
        }
    }
}
