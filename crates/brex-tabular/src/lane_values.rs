//! Value iteration for eight rewards at once, in the lanes of vector registers.

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
