//! A policy to be judged: its expected feature sums, or rollouts to estimate them from.

use crate::Matrix;

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// No rollouts or no features.
    #[error("policy {policy:?}: no features")]
    Empty {
        /// Its name.
        policy: String,
    },
    /// A feature that is NaN or infinite.
    #[error(
        "policy {policy:?}: rollout {row}, feature {column} is {value}; expected a finite number"
    )]
    NotFinite {
        /// Its name.
        policy: String,
        /// Zero-based rollout.
        row: usize,
        /// Zero-based feature.
        column: usize,
        /// What stands there.
        value: f64,
    },
    /// Lengths are not one per rollout, or not positive.
    #[error("policy {policy:?}: lengths: expected {rows} positive numbers, one per rollout")]
    Lengths {
        /// Its name.
        policy: String,
        /// How many rollouts there are.
        rows: usize,
    },
}

/// A policy by name, with one row of feature sums per rollout. Expected feature sums that were
/// computed exactly are a single row.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    name: String,
    rollouts: Matrix,
    lengths: Option<Vec<f64>>,
}

impl Policy {
    /// Checks and wraps a policy. With more than one row, the rows are rollouts of the policy and
    /// its expected feature sums are their mean.
    pub fn new(
        name: impl Into<String>,
        rollouts: Matrix,
        lengths: Option<Vec<f64>>,
    ) -> Result<Self, PolicyError> {
        let policy = name.into();
        if rollouts.rows() == 0 || rollouts.cols() == 0 {
            return Err(PolicyError::Empty { policy });
        }
        if let Some(at) = rollouts.as_slice().iter().position(|v| !v.is_finite()) {
            return Err(PolicyError::NotFinite {
                policy,
                row: at / rollouts.cols(),
                column: at % rollouts.cols(),
                value: rollouts.as_slice()[at],
            });
        }
        if let Some(lengths) = &lengths {
            let positive = lengths.iter().all(|v| v.is_finite() && *v > 0.0);
            if lengths.len() != rollouts.rows() || !positive {
                let rows = rollouts.rows();
                return Err(PolicyError::Lengths { policy, rows });
            }
        }
        Ok(Self {
            name: policy,
            rollouts,
            lengths,
        })
    }

    /// The policy's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One row of feature sums per rollout.
    pub fn rollouts(&self) -> &Matrix {
        &self.rollouts
    }

    /// The length of each rollout, if known.
    pub fn lengths(&self) -> Option<&[f64]> {
        self.lengths.as_deref()
    }

    /// The mean length of a rollout, if known.
    pub fn mean_length(&self) -> Option<f64> {
        let lengths = self.lengths.as_ref()?;
        Some(lengths.iter().sum::<f64>() / lengths.len() as f64)
    }

    /// Expected feature sums: the mean over rollouts.
    pub fn expected_features(&self) -> Vec<f64> {
        self.rollouts.column_means()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_features_are_the_mean_of_the_rollouts() {
        let rollouts = Matrix::new(2, 2, vec![1.0, 2.0, 3.0, 6.0]).unwrap();
        let policy = Policy::new("A", rollouts, Some(vec![10.0, 20.0])).unwrap();
        assert_eq!(policy.expected_features(), [2.0, 4.0]);
        assert_eq!(policy.mean_length(), Some(15.0));
    }

    #[test]
    fn lengths_must_fit() {
        let rollouts = Matrix::zeros(2, 2);
        assert!(Policy::new("A", rollouts.clone(), Some(vec![1.0])).is_err());
        assert!(Policy::new("A", rollouts, Some(vec![1.0, -1.0])).is_err());
    }
}
