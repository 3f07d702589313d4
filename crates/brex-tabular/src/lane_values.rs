//! Value iteration for eight rewards at once, in the lanes of vector registers.

use crate::Mdp;
use crate::lanes::{LANES, Lanes};
use brex_core::keep_lanes;

/// Where actions lead, in the form that the sweeps need.
pub(crate) trait Successors {
    /// How many states there are.
    fn states(&self) -> usize;
    /// How many actions there are.
    fn actions(&self) -> usize;
    /// The expected value after an action.
    fn after(&self, state: usize, action: usize, values: &[Lanes]) -> Lanes;
    /// Whether nothing follows a state.
    fn ends(&self, state: usize) -> bool;
}

/// In-place sweeps that go on from `values`, in each lane until no value changes by more than
/// `tolerance`: then the lane is copied to `settled`. What `values` holds in the end does not matter.
/// Gives the number of sweeps.
#[inline(always)]
pub(crate) fn iterate_values(
    model: &impl Successors,
    gamma: f64,
    tolerance: f64,
    rewards: &[Lanes],
    values: &mut [Lanes],
    settled: &mut [Lanes],
) -> usize {
    let gamma = Lanes::splat(gamma);
    let mut active = [true; LANES];
    let mut sweeps = 0;
    while active.contains(&true) {
        let mut change = Lanes::ZERO;
        for s in 0..model.states() {
            let value = if model.ends(s) {
                rewards[s]
            } else {
                rewards[s] + gamma * best(model, s, values)
            };
            change = change.max((value - values[s]).map(f64::abs));
            values[s] = value;
            keep_lanes();
        }
        for lane in 0..LANES {
            if active[lane] && change.0[lane] <= tolerance {
                active[lane] = false;
                for (settled, value) in settled.iter_mut().zip(&*values) {
                    settled.0[lane] = value.0[lane];
                }
            }
        }
        sweeps += 1;
    }
    sweeps
}

/// The value after the best action.
#[inline(always)]
fn best(model: &impl Successors, state: usize, values: &[Lanes]) -> Lanes {
    let mut best = model.after(state, 0, values);
    for action in 1..model.actions() {
        best = best.max(model.after(state, action, values));
    }
    best
}

/// Buffers of [`settle_differences`].
pub(crate) struct Settling {
    between: Vec<Lanes>,
    /// How each value changed over the last two sweeps.
    change: Vec<Lanes>,
}

impl Settling {
    pub(crate) fn new(states: usize) -> Self {
        Self {
            between: vec![Lanes::ZERO; states],
            change: vec![Lanes::ZERO; states],
        }
    }
}

/// A discount very near 1 could take for ever.
const MOST_SWEEPS: usize = 100_000;

/// Sweeps that go on from `values` until differences between values are right to `tolerance` in
/// every lane. Gives the number of sweeps.
///
/// In-place sweeps would be fewer, but each state waits for the one before; these do not wait. Once
/// every path runs in a cycle of one or two states, what two sweeps change shrinks by the discount
/// squared, state by state; then the rest of the series is added at once. That is a guess like any
/// other start: only a sweep that changes all values alike ends the iteration.
#[inline(always)]
pub(crate) fn settle_differences(
    model: &impl Successors,
    gamma: f64,
    tolerance: f64,
    rewards: &[Lanes],
    values: &mut [Lanes],
    work: &mut Settling,
) -> usize {
    let rest = gamma / (1.0 - gamma);
    let series = gamma * gamma / (1.0 - gamma * gamma);
    work.change.fill(Lanes::splat(f64::INFINITY));
    let mut sweeps = 0;
    loop {
        for s in 0..model.states() {
            work.between[s] = backed_up(model, gamma, rewards, s, values);
            keep_lanes();
        }
        let mut low = Lanes::splat(f64::INFINITY);
        let mut high = Lanes::splat(f64::NEG_INFINITY);
        let (mut uneven, mut largest) = (Lanes::ZERO, Lanes::ZERO);
        for s in 0..model.states() {
            let value = backed_up(model, gamma, rewards, s, &work.between);
            let last = value - work.between[s];
            low = low.zip(last, |a, b| if a < b { a } else { b });
            high = high.max(last);
            let change = value - values[s];
            let expected = work.change[s].map(|c| gamma * gamma * c);
            uneven = uneven.max((change - expected).map(f64::abs));
            largest = largest.max(change.map(f64::abs));
            work.change[s] = change;
            values[s] = value;
            keep_lanes();
        }
        sweeps += 2;
        let settled = (0..LANES).all(|lane| (high.0[lane] - low.0[lane]) * rest <= tolerance);
        if settled || sweeps >= MOST_SWEEPS {
            return sweeps;
        }
        let factor = uneven.zip(largest, |u, l| if u < 1e-3 * l { series } else { 0.0 });
        if factor != Lanes::ZERO {
            for (value, change) in values.iter_mut().zip(&work.change) {
                *value = *value + factor * *change;
                keep_lanes();
            }
        }
    }
}

/// The value of a state one step further.
#[inline(always)]
fn backed_up(
    model: &impl Successors,
    gamma: f64,
    rewards: &[Lanes],
    state: usize,
    values: &[Lanes],
) -> Lanes {
    if model.ends(state) {
        rewards[state]
    } else {
        rewards[state] + best(model, state, values).map(|v| gamma * v)
    }
}

/// The moves of an MDP in the form that suits them.
pub(crate) enum Moves {
    /// Every action leads to one state.
    Certain(CertainMoves),
    /// Actions lead to one of several states.
    Uncertain(UncertainMoves),
}

impl Moves {
    pub(crate) fn of(mdp: &Mdp) -> Self {
        let (states, actions) = (mdp.states(), mdp.actions());
        let ends: Vec<bool> = (0..states).map(|s| mdp.is_terminal(s)).collect();
        let pairs = || (0..states).flat_map(|s| (0..actions).map(move |a| (s, a)));
        let certain: Vec<u32> = pairs()
            .filter_map(|(s, a)| {
                let mut likely = mdp.successors(s, a).filter(|next| next.1 > 0.0);
                let first = likely.next()?;
                likely.next().is_none().then_some(first.0 as u32)
            })
            .collect();
        if certain.len() == states * actions {
            return Self::Certain(CertainMoves {
                actions,
                next: certain,
                ends,
            });
        }
        let mut moves = UncertainMoves {
            actions,
            starts: vec![0],
            next: Vec::new(),
            ends,
        };
        for (s, a) in pairs() {
            moves.next.extend(mdp.successors(s, a));
            moves.starts.push(moves.next.len());
        }
        Self::Uncertain(moves)
    }
}

pub(crate) struct CertainMoves {
    actions: usize,
    next: Vec<u32>,
    ends: Vec<bool>,
}

impl Successors for CertainMoves {
    #[inline(always)]
    fn states(&self) -> usize {
        self.ends.len()
    }
    #[inline(always)]
    fn actions(&self) -> usize {
        self.actions
    }
    #[inline(always)]
    fn after(&self, state: usize, action: usize, values: &[Lanes]) -> Lanes {
        values[self.next[state * self.actions + action] as usize]
    }
    #[inline(always)]
    fn ends(&self, state: usize) -> bool {
        self.ends[state]
    }
}

pub(crate) struct UncertainMoves {
    actions: usize,
    starts: Vec<usize>,
    next: Vec<(usize, f64)>,
    ends: Vec<bool>,
}

impl Successors for UncertainMoves {
    #[inline(always)]
    fn states(&self) -> usize {
        self.ends.len()
    }
    #[inline(always)]
    fn actions(&self) -> usize {
        self.actions
    }
    #[inline(always)]
    fn after(&self, state: usize, action: usize, values: &[Lanes]) -> Lanes {
        let index = state * self.actions + action;
        let mut sum = Lanes::ZERO;
        for (next, probability) in &self.next[self.starts[index]..self.starts[index + 1]] {
            sum = sum + values[*next].map(|v| probability * v);
            keep_lanes();
        }
        sum
    }
    #[inline(always)]
    fn ends(&self, state: usize) -> bool {
        self.ends[state]
    }
}
