//! What is believed about the reward weights before any preference is seen.

/// A prior over the reward weights `w`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// Uniform on the unit sphere: the paper's.
    Sphere,
    /// Uniform on the half of the unit sphere where the return of one trajectory is not negative.
    ///
    /// This is the paper's prior on the lowest-ranked demonstration as its authors ran it. The
    /// formula printed in the paper, `exp(beta w . Phi_1) < 0`, can never hold; what was meant, and
    /// coded, is `w . Phi_1 >= 0`.
    NonNegative {
        /// The row whose return is not negative.
        lowest: usize,
    },
    /// Independent normal weights with mean 0 and this standard deviation: for embeddings, where
    /// the scale of the reward is not fixed to 1.
    Gaussian {
        /// The standard deviation of every weight.
        scale: f64,
    },
}

impl Prior {
    /// The name that the command line uses.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere => "sphere",
            Self::NonNegative { .. } => "nonnegative",
            Self::Gaussian { .. } => "gaussian",
        }
    }

    /// Whether the weights have length 1.
    pub fn is_on_sphere(&self) -> bool {
        !matches!(self, Self::Gaussian { .. })
    }
}
