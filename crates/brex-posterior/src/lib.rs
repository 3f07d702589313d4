//! The posterior over reward weights.
