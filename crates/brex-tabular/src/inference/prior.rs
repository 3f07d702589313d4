//! Priors over reward weights of a fixed size: only their direction matters.

use serde::{Deserialize, Serialize};

/// Which weights are possible; all of them equally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightPrior {
    /// Absolute values sum to 1: the prior of the paper's gridworlds.
    #[default]
    AbsoluteSum,
    /// Squares sum to 1: the paper's prior elsewhere.
    Sphere,
}

impl WeightPrior {
    /// The size of a vector, which is 1 for weights.
    #[inline(always)]
    pub fn size(self, vector: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::AbsoluteSum => vector.map(f64::abs).sum(),
            Self::Sphere => vector.map(|v| v * v).sum::<f64>().sqrt(),
        }
    }

    /// Draws weights.
    pub fn draw(self, dim: usize, random: &mut impl rand::Rng) -> Vec<f64> {
        use rand_distr::{Distribution, Exp1, StandardNormal};
        let mut weights: Vec<f64> = (0..dim)
            .map(|_| match self {
                // A Laplace number is an exponential one with a random sign.
                Self::AbsoluteSum => {
                    let size: f64 = Exp1.sample(random);
                    if random.next_u32() & 1 == 0 {
                        size
                    } else {
                        -size
                    }
                }
                Self::Sphere => StandardNormal.sample(random),
            })
            .collect();
        let size = self.size(weights.iter().copied());
        weights.iter_mut().for_each(|w| *w /= size);
        weights
    }
}
