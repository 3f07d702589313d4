//! Samples of the reward weights, chain by chain.

use crate::ShapeError;

/// Draws of a vector of `dim` values: `chains` chains of `draws` draws each, stored as
/// chain, then draw, then value, all chains equally long.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    chains: usize,
    draws: usize,
    dim: usize,
    data: Vec<f64>,
}

impl Draws {
    /// Wraps `data`, ordered by chain, then draw, then value.
    pub fn new(
        chains: usize,
        draws: usize,
        dim: usize,
        data: Vec<f64>,
    ) -> Result<Self, ShapeError> {
        let rows = chains.saturating_mul(draws);
        if rows.checked_mul(dim) == Some(data.len()) {
            Ok(Self {
                chains,
                draws,
                dim,
                data,
            })
        } else {
            Err(ShapeError {
                rows,
                cols: dim,
                expected: (rows as u128 * dim as u128).to_string(),
                found: data.len(),
            })
        }
    }

    /// The number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// The number of draws in each chain.
    pub fn draws_per_chain(&self) -> usize {
        self.draws
    }

    /// The number of draws in all chains together.
    pub fn len(&self) -> usize {
        self.chains * self.draws
    }

    /// Whether there are no draws.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values a draw has.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// One draw.
    ///
    /// # Panics
    /// If there is no such chain or draw.
    pub fn get(&self, chain: usize, draw: usize) -> &[f64] {
        assert!(draw < self.draws, "draw {draw} of {}", self.draws);
        &self.data[(chain * self.draws + draw) * self.dim..][..self.dim]
    }

    /// All draws: the first chain's in order, then the second's.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.data.chunks_exact(self.dim.max(1))
    }

    /// All values: chain, draw, value.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Gives the values back: chain, draw, value.
    pub fn into_vec(self) -> Vec<f64> {
        self.data
    }

    /// Column `index` of every draw, in order: chains x draws values.
    pub fn column(&self, index: usize) -> Vec<f64> {
        self.iter().map(|draw| draw[index]).collect()
    }

    /// The product of every draw with `vector`, in order: returns `W . Phi`.
    ///
    /// # Panics
    /// If `vector` does not have one value per dimension.
    pub fn times(&self, vector: &[f64]) -> Vec<f64> {
        assert_eq!(vector.len(), self.dim, "vector length");
        self.iter()
            .map(|draw| draw.iter().zip(vector).map(|(w, x)| w * x).sum())
            .collect()
    }

    /// The mean of all draws.
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.dim];
        for draw in self.iter() {
            for (sum, value) in mean.iter_mut().zip(draw) {
                *sum += value;
            }
        }
        let count = self.len().max(1) as f64;
        mean.iter_mut().for_each(|sum| *sum /= count);
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_chain_draw_value() {
        let draws = Draws::new(2, 3, 2, (0..12).map(f64::from).collect()).unwrap();
        assert_eq!(draws.get(1, 2), [10.0, 11.0]);
        assert_eq!(draws.column(1), [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
        assert_eq!(draws.times(&[1.0, -1.0]), [-1.0; 6]);
        assert_eq!(draws.mean(), [5.0, 6.0]);
    }

    #[test]
    fn the_shape_must_fit() {
        assert!(Draws::new(2, 3, 2, vec![0.0; 11]).is_err());
        assert!(Draws::new(usize::MAX, 3, 2, vec![]).is_err());
    }
}
