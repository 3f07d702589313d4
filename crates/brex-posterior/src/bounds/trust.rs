//! Whether a bound may be used.

use std::fmt;

/// The verdict on a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trust {
    /// The draws agree and there are enough of them.
    Converged,
    /// They do not, or there are not.
    NotConverged {
        /// What is wrong with them.
        reason: Doubt,
    },
    /// Nothing can be said: too few draws, or every draw gives the same return.
    Unknown,
}

/// Why a bound has not converged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The chains disagree.
    Rhat {
        /// R-hat of the policy's return.
        rhat: f64,
        /// The largest that is accepted.
        limit: f64,
    },
    /// The quantile rests on too few effective draws.
    Ess {
        /// Effective sample size of the quantile.
        ess: f64,
        /// The smallest that is accepted.
        limit: f64,
    },
    /// Not even one draw lies below the quantile.
    Tail {
        /// How many draws there are.
        draws: usize,
        /// How many there would have to be.
        needed: usize,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rhat { rhat, limit } => write!(f, "R-hat is {rhat:.3}, above {limit}"),
            Self::Ess { ess, limit } => {
                write!(
                    f,
                    "effective sample size of the quantile is {ess:.1}, below {limit}"
                )
            }
            Self::Tail { draws, needed } => {
                write!(f, "{draws} draws have no such quantile, it takes {needed}")
            }
        }
    }
}

impl Trust {
    /// The verdict on the `delta`-quantile of `draws` returns with this R-hat and this effective
    /// sample size of the quantile. A known fault weighs more than something unknown.
    pub(super) fn judge(draws: usize, delta: f64, rhat: Limit, ess: Limit) -> Self {
        let reason = if rhat.value > rhat.limit {
            Doubt::Rhat {
                rhat: rhat.value,
                limit: rhat.limit,
            }
        } else if ess.value < ess.limit {
            Doubt::Ess {
                ess: ess.value,
                limit: ess.limit,
            }
        } else if delta * (draws as f64) < 1.0 {
            let needed = (1.0 / delta).ceil() as usize;
            Doubt::Tail { draws, needed }
        } else if rhat.value.is_nan() || ess.value.is_nan() {
            return Self::Unknown;
        } else {
            return Self::Converged;
        };
        Self::NotConverged { reason }
    }
}

/// A diagnostic and its limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) value: f64,
    pub(super) limit: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(rhat: f64, ess: f64, delta: f64) -> Trust {
        let limit = |value, limit| Limit { value, limit };
        Trust::judge(1000, delta, limit(rhat, 1.01), limit(ess, 400.0))
    }

    #[test]
    fn only_known_and_good_is_converged() {
        assert_eq!(judge(1.01, 400.0, 0.05), Trust::Converged);
        assert_eq!(judge(f64::NAN, 500.0, 0.05), Trust::Unknown);
        assert_eq!(judge(1.0, f64::NAN, 0.05), Trust::Unknown);
        for (rhat, ess, delta, text) in [
            (1.02, f64::NAN, 0.05, "R-hat is 1.020, above 1.01"),
            (f64::INFINITY, 500.0, 0.05, "R-hat is inf, above 1.01"),
            (
                1.0,
                399.9,
                0.05,
                "effective sample size of the quantile is 399.9, below 400",
            ),
            (
                1.0,
                900.0,
                0.0005,
                "1000 draws have no such quantile, it takes 2000",
            ),
        ] {
            match judge(rhat, ess, delta) {
                Trust::NotConverged { reason } => assert_eq!(reason.to_string(), text),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
