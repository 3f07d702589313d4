//! Finite Markov decision processes whose reward is linear in the features of a state.

use brex_core::Matrix;

/// Why something is not a Markov decision process.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MdpError {
    /// There is no state or no action.
    #[error("an MDP needs at least one {0}")]
    Empty(&'static str),
    /// The discount is not in [0, 1).
    #[error("the discount gamma is {0}; expected at least 0 and below 1")]
    Discount(f64),
    /// A feature is not finite.
    #[error("feature {feature} of state {state} is {value}; expected a finite number")]
    Feature {
        /// The state.
        state: usize,
        /// The feature's column.
        feature: usize,
        /// What was found.
        value: f64,
    },
    /// A list has the wrong length.
    #[error("{what}: {found} entries; expected {expected}")]
    Length {
        /// What the list holds.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A successor does not exist.
    #[error("state {state}, action {action}: no state has the number {successor}")]
    Successor {
        /// The state.
        state: usize,
        /// The action.
        action: usize,
        /// The number that is too large.
        successor: usize,
    },
    /// Probabilities do not make a distribution.
    #[error(
        "state {state}, action {action}: the probabilities of the successors sum to {sum}, or one is outside 0 to 1"
    )]
    Probabilities {
        /// The state.
        state: usize,
        /// The action.
        action: usize,
        /// Their sum.
        sum: f64,
    },
}

/// A finite MDP: being in state `s` gives `w . phi(s)`, then an action leads on, discounted by
/// `gamma`. A terminal state gives its reward once and ends the episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Mdp {
    actions: usize,
    gamma: f64,
    features: Matrix,
    terminal: Vec<bool>,
    /// The successors of (state, action) stand at `starts[state * actions + action]` and up to the
    /// next start.
    starts: Vec<u32>,
    successors: Vec<u32>,
    probabilities: Vec<f64>,
}

impl Mdp {
    /// An MDP with the given features (one row per state) and, state by state and action by
    /// action, the possible successors with their probabilities.
    pub fn new(
        features: Matrix,
        actions: usize,
        gamma: f64,
        transitions: &[Vec<(usize, f64)>],
        terminal: Vec<bool>,
    ) -> Result<Self, MdpError> {
        let states = features.rows();
        if states == 0 {
            return Err(MdpError::Empty("state"));
        }
        if actions == 0 {
            return Err(MdpError::Empty("action"));
        }
        if !(0.0..1.0).contains(&gamma) {
            return Err(MdpError::Discount(gamma));
        }
        for state in 0..states {
            for (feature, &value) in features.row(state).iter().enumerate() {
                if !value.is_finite() {
                    return Err(MdpError::Feature {
                        state,
                        feature,
                        value,
                    });
                }
            }
        }
        let length = |what, found, expected| MdpError::Length {
            what,
            found,
            expected,
        };
        // A product that overflows is no number of transitions either.
        if states.checked_mul(actions) != Some(transitions.len()) {
            let found = transitions.len();
            return Err(length("transitions", found, states.saturating_mul(actions)));
        }
        if terminal.len() != states {
            return Err(length("terminal states", terminal.len(), states));
        }
        let mut mdp = Self {
            actions,
            gamma,
            features,
            terminal,
            starts: vec![0],
            successors: Vec::new(),
            probabilities: Vec::new(),
        };
        for (index, targets) in transitions.iter().enumerate() {
            let (state, action) = (index / actions, index % actions);
            let sum: f64 = targets.iter().map(|target| target.1).sum();
            let fair = targets.iter().all(|t| (0.0..=1.0).contains(&t.1));
            if !fair || (sum - 1.0).abs() > 1e-9 {
                return Err(MdpError::Probabilities { state, action, sum });
            }
            for &(successor, probability) in targets {
                if successor >= states {
                    return Err(MdpError::Successor {
                        state,
                        action,
                        successor,
                    });
                }
                mdp.successors.push(successor as u32);
                mdp.probabilities.push(probability);
            }
            mdp.starts.push(mdp.successors.len() as u32);
        }
        Ok(mdp)
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.features.rows()
    }

    /// How many actions there are in every state.
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The discount.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The features, one row per state.
    pub fn features(&self) -> &Matrix {
        &self.features
    }

    /// Whether an episode ends in a state.
    pub fn is_terminal(&self, state: usize) -> bool {
        self.terminal[state]
    }

    /// The successors of an action with their probabilities. What a terminal state's successors
    /// are does not matter.
    pub fn successors(
        &self,
        state: usize,
        action: usize,
    ) -> impl Iterator<Item = (usize, f64)> + '_ {
        let index = state * self.actions + action;
        let range = self.starts[index] as usize..self.starts[index + 1] as usize;
        let pairs = self.successors[range.clone()]
            .iter()
            .zip(&self.probabilities[range]);
        pairs.map(|(&successor, &probability)| (successor as usize, probability))
    }

    /// The reward of every state under weights `w`.
    pub fn rewards(&self, weights: &[f64]) -> Vec<f64> {
        (0..self.states())
            .map(|state| {
                let features = self.features.row(state).iter();
                features.zip(weights).map(|(f, w)| f * w).sum()
            })
            .collect()
    }
}
