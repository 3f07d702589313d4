//! The authors' demonstrations and what each method is given of them.

use super::glibc_rand::GlibcRand;
use super::world::{ACTIONS, FEATURES, GAMMA, NEXT, STATES, World};
use crate::study::StudyTable;

/// Steps of a demonstration.
pub(crate) const STEPS: usize = 20;

/// One demonstration: states and actions.
type Demonstration = [(usize, usize); STEPS];

/// Which state-action pairs were shown, each counted once.
pub(crate) type Shown = [[bool; ACTIONS]; STATES];

const NONE_SHOWN: Shown = [[false; ACTIONS]; STATES];

/// What the two methods learn from.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    /// For Bayesian IRL: pairs to imitate.
    pub(crate) good: Shown,
    /// For Bayesian IRL: pairs to avoid.
    pub(crate) bad: Shown,
    /// For Bayesian REX: the discounted features of each trajectory.
    pub(crate) features: Vec<[f64; FEATURES]>,
    /// For Bayesian REX: (i, j, whether i is the better one; none if they are as good).
    pub(crate) pairs: Vec<(usize, usize, Option<bool>)>,
}

/// Draws the demonstrations of one table and setting from the world's generator.
pub(crate) fn demonstrate(world: &mut World, table: StudyTable, setting: f64) -> Evidence {
    let count = if table == StudyTable::GoodBad {
        20
    } else {
        setting as usize
    };
    let random_each = if table == StudyTable::OptNoise { 10 } else { 1 };
    let with_optimal = matches!(table, StudyTable::OptSubopt | StudyTable::OptNoise);
    let mut random = world.random.clone();
    let (mut optimal, mut others) = (Vec::new(), Vec::new());
    for start in (0..count).map(|d| d % STATES) {
        if with_optimal {
            optimal.push(optimal_demonstration(world, start, &mut random));
        }
        for _ in 0..random_each {
            others.push(random_demonstration(start, &mut random));
        }
    }
    world.random = random;
    let powers: [f64; STEPS] = std::array::from_fn(|t| GAMMA.powf(t as f64));
    let mut bad = NONE_SHOWN;
    let good = match table {
        StudyTable::OptSubopt | StudyTable::OptNoise => shown(optimal.iter()),
        StudyTable::Ranked => shown(others.iter()),
        StudyTable::GoodBad => {
            let order = best_first(world, &others, &powers);
            let ranked = || order.iter().enumerate();
            let top = setting * count as f64;
            let from = (1.0 - setting) * count as f64;
            let worst = ranked().filter(|(c, _)| *c as f64 >= from);
            bad = shown(worst.map(|(_, &d)| &others[d]));
            let best = ranked().filter(|(c, _)| (*c as f64) < top);
            shown(best.map(|(_, &d)| &others[d]))
        }
    };
    let (trajectories, pairs) = if table == StudyTable::OptNoise {
        let pairs = (0..others.len()).map(|other| (other / random_each, count + other, Some(true)));
        (optimal.iter().chain(&others).collect(), pairs.collect())
    } else {
        let returns: Vec<f64> = others
            .iter()
            .map(|d| discounted(world, d, &powers))
            .collect();
        let pairs = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j)));
        let better = |(i, j): (usize, usize)| {
            let differ = returns[i] != returns[j];
            (i, j, differ.then(|| returns[i] > returns[j]))
        };
        (
            others.iter().collect::<Vec<_>>(),
            pairs.map(better).collect(),
        )
    };
    Evidence {
        good,
        bad,
        features: trajectories
            .into_iter()
            .map(|d| features(world, d, &powers))
            .collect(),
        pairs,
    }
}

fn optimal_demonstration(world: &World, start: usize, random: &mut GlibcRand) -> Demonstration {
    let mut state = start;
    std::array::from_fn(|_| {
        let q = world.q[state];
        let largest = q.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        let best: Vec<usize> = (0..ACTIONS).filter(|&a| largest - q[a] < 1e-4).collect();
        let action = best[random.below(best.len() as u32)];
        // The transition is drawn too, although it is certain.
        random.next();
        let step = (state, action);
        state = NEXT[state][action];
        step
    })
}

fn random_demonstration(start: usize, random: &mut GlibcRand) -> Demonstration {
    let mut state = start;
    std::array::from_fn(|_| {
        random.next();
        let action = random.below(ACTIONS as u32);
        random.next();
        let step = (state, action);
        state = NEXT[state][action];
        step
    })
}

fn shown<'a>(demonstrations: impl Iterator<Item = &'a Demonstration>) -> Shown {
    let mut shown = NONE_SHOWN;
    for &(state, action) in demonstrations.flatten() {
        shown[state][action] = true;
    }
    shown
}

fn discounted(world: &World, demonstration: &Demonstration, powers: &[f64; STEPS]) -> f64 {
    let steps = demonstration.iter().zip(powers);
    steps.map(|((s, _), power)| power * world.reward[*s]).sum()
}

fn features(
    world: &World,
    demonstration: &Demonstration,
    powers: &[f64; STEPS],
) -> [f64; FEATURES] {
    let mut sums = [0.0; FEATURES];
    for ((s, _), power) in demonstration.iter().zip(powers) {
        sums[world.feature[*s]] += power;
    }
    sums
}

/// The demonstrations by their returns in single precision, best first.
fn best_first(world: &World, all: &[Demonstration], powers: &[f64; STEPS]) -> Vec<usize> {
    let returns: Vec<f32> = all
        .iter()
        .map(|d| discounted(world, d, powers) as f32)
        .collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&a, &b| returns[b].total_cmp(&returns[a]));
    order
}
