//! The authors' worlds: 6 x 6 cells, one of four features each, and the truth about them.

use super::glibc_rand::GlibcRand;

pub(crate) const SIDE: usize = 6;
pub(crate) const STATES: usize = SIDE * SIDE;
pub(crate) const ACTIONS: usize = 4;
pub(crate) const FEATURES: usize = 4;
pub(crate) const GAMMA: f64 = 0.9;
/// Sweeps end when no value changes by more than this.
pub(crate) const TOLERANCE: f64 = 0.001;

/// Where each action leads: UP, DOWN, LEFT, RIGHT; moving off the grid stays.
pub(crate) const NEXT: [[usize; ACTIONS]; STATES] = successors();

const fn successors() -> [[usize; ACTIONS]; STATES] {
    let mut next = [[0; ACTIONS]; STATES];
    let mut s = 0;
    while s < STATES {
        let (row, col) = (s / SIDE, s % SIDE);
        next[s] = [
            if row == 0 { s } else { s - SIDE },
            if row == SIDE - 1 { s } else { s + SIDE },
            if col == 0 { s } else { s - 1 },
            if col == SIDE - 1 { s } else { s + 1 },
        ];
        s += 1;
    }
    next
}

/// One of a kind for each state and action.
pub(crate) type ActionValues = [[f64; ACTIONS]; STATES];

/// A world with its true reward and its solution.
#[derive(Debug, Clone)]
pub(crate) struct World {
    /// The feature of each cell.
    pub(crate) feature: [usize; STATES],
    /// The true reward of each cell.
    pub(crate) reward: [f64; STATES],
    /// The mean true value of the best policy over all cells.
    pub(crate) value: f64,
    /// The true action values.
    pub(crate) q: ActionValues,
    /// The generator, at the point where demonstrations begin.
    pub(crate) random: GlibcRand,
}

impl World {
    /// World number `number`, from 0.
    pub(crate) fn new(number: usize) -> Self {
        let seed = 132_u32.wrapping_add((number as u32).wrapping_mul(3));
        let mut random = GlibcRand::new(seed);
        let mut feature = [0; STATES];
        // The number of cells was taken for the side, so that 36 times as many are drawn.
        for cell in 0..STATES * STATES {
            let drawn = random.below(FEATURES as u32);
            if cell < STATES {
                feature[cell] = drawn;
            }
        }
        let weights = draw_weights(&mut random);
        let reward = feature.map(|f| weights[f]);
        let mut values = [0.0; STATES];
        iterate_values(&reward, &mut values);
        iterate_policy(&reward, &mut values, &mut random);
        Self {
            feature,
            reward,
            value: mean(&values),
            q: action_values(&reward, &values),
            random,
        }
    }
}

/// Four Laplace draws, scaled so that their absolute values sum to 1.
fn draw_weights(random: &mut GlibcRand) -> [f64; FEATURES] {
    let mut weights = [0.0_f64; FEATURES];
    for weight in &mut weights {
        let z = random.unit();
        *weight = if z < 0.5 {
            (2.0 * z).ln()
        } else {
            -(2.0 - 2.0 * z).ln()
        };
    }
    let sum: f64 = weights.iter().map(|w| w.abs()).sum();
    weights.map(|w| w / sum)
}

pub(crate) fn mean(values: &[f64; STATES]) -> f64 {
    values.iter().sum::<f64>() / STATES as f64
}

/// In-place sweeps of value iteration, going on from the given values.
pub(crate) fn iterate_values(reward: &[f64; STATES], values: &mut [f64; STATES]) {
    loop {
        let mut change = 0.0_f64;
        for s in 0..STATES {
            let best =
                NEXT[s].iter().fold(
                    -10_000.0,
                    |best, &n| {
                        if values[n] > best { values[n] } else { best }
                    },
                );
            let value = reward[s] + GAMMA * best;
            change = change.max((value - values[s]).abs());
            values[s] = value;
        }
        if change <= TOLERANCE {
            return;
        }
    }
}

/// Policy iteration from a random policy, with 30 sweeps for each evaluation.
fn iterate_policy(reward: &[f64; STATES], values: &mut [f64; STATES], random: &mut GlibcRand) {
    let mut policy = [0; STATES];
    for action in &mut policy {
        *action = random.below(ACTIONS as u32);
    }
    loop {
        for _ in 0..30 {
            for s in 0..STATES {
                values[s] = reward[s] + GAMMA * values[NEXT[s][policy[s]]];
            }
        }
        let mut changed = false;
        for s in 0..STATES {
            let of = |action: usize| values[NEXT[s][action]];
            let best = first_largest(std::array::from_fn(of));
            if of(best) > of(policy[s]) {
                policy[s] = best;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

pub(crate) fn first_largest(values: [f64; ACTIONS]) -> usize {
    (1..ACTIONS).fold(0, |best, a| if values[a] > values[best] { a } else { best })
}

/// `Q(s, a) = R(s) + gamma V(s')`.
pub(crate) fn action_values(reward: &[f64; STATES], values: &[f64; STATES]) -> ActionValues {
    std::array::from_fn(|s| NEXT[s].map(|n| reward[s] + GAMMA * values[n]))
}

impl World {
    /// The loss of the policy that is greedy for the given weights.
    pub(crate) fn loss(&self, weights: &[f64; FEATURES]) -> f64 {
        let reward = self.feature.map(|f| weights[f]);
        let mut values = [0.0; STATES];
        iterate_values(&reward, &mut values);
        let policy = action_values(&reward, &values).map(first_largest);
        let mut values = [0.0_f64; STATES];
        loop {
            let mut change = 0.0_f64;
            for s in 0..STATES {
                let value = self.reward[s] + GAMMA * values[NEXT[s][policy[s]]];
                change = change.max((value - values[s]).abs());
                values[s] = value;
            }
            if change <= TOLERANCE {
                return (self.value - mean(&values)).abs();
            }
        }
    }
}
