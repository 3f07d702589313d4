//! Generalised advantage estimation (Schulman et al., 2016).

/// How much better than expected each step was, and what its state was worth in the end.
///
/// Arrays hold one step of all environments after the other. `ends` says how much of what follows a
/// step is lost: nothing, all, or some of it; `last` is the value of what is seen after the last step.
/// An episode that was cut off has an end too: what its last state was worth is part of its reward by
/// then.
pub(crate) fn advantages(
    rewards: &[f32],
    values: &[f32],
    ends: &[f32],
    last: &[f32],
    discount: f32,
    trace: f32,
) -> (Vec<f32>, Vec<f32>) {
    let environments = last.len();
    let mut advantages = vec![0.0; rewards.len()];
    let mut following = last.to_vec();
    let mut carried = vec![0.0_f32; environments];
    for step in (0..rewards.len() / environments).rev() {
        for env in 0..environments {
            let at = step * environments + env;
            let goes_on = 1.0 - ends[at];
            let surprise = rewards[at] + discount * goes_on * following[env] - values[at];
            carried[env] = surprise + discount * trace * goes_on * carried[env];
            advantages[at] = carried[env];
            following[env] = values[at];
        }
    }
    let returns = advantages.iter().zip(values).map(|(a, v)| a + v).collect();
    (advantages, returns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: the discounted sum of surprises up to the end.
    fn by_definition(
        rewards: &[f32],
        values: &[f32],
        ends: &[f32],
        last: f32,
        discount: f32,
        trace: f32,
    ) -> Vec<f32> {
        let next = |t: usize| {
            if t + 1 < values.len() {
                values[t + 1]
            } else {
                last
            }
        };
        (0..rewards.len())
            .map(|from| {
                let (mut sum, mut weight) = (0.0, 1.0);
                for t in from..rewards.len() {
                    let left = 1.0 - ends[t];
                    let ahead = left * discount * next(t);
                    sum += weight * (rewards[t] + ahead - values[t]);
                    if left == 0.0 {
                        break;
                    }
                    weight *= left * discount * trace;
                }
                sum
            })
            .collect()
    }

    /// No end, a whole one, or one that costs a part.
    fn end() -> impl Strategy<Value = f32> {
        prop_oneof![Just(0.0_f32), Just(1.0_f32), 0.0_f32..1.0]
    }

    proptest! {
        #[test]
        fn they_follow_the_definition(
            steps in prop::collection::vec((-2.0_f32..2.0, -2.0_f32..2.0, end()), 1..20),
            last in -2.0_f32..2.0,
            discount in 0.0_f32..1.0,
            trace in 0.0_f32..1.0,
        ) {
            let rewards: Vec<f32> = steps.iter().map(|s| s.0).collect();
            let values: Vec<f32> = steps.iter().map(|s| s.1).collect();
            let ends: Vec<f32> = steps.iter().map(|s| s.2).collect();
            let expected = by_definition(&rewards, &values, &ends, last, discount, trace);
            // Two environments in turns, so that their steps lie between each other.
            let twice = |x: &[f32]| x.iter().flat_map(|v| [*v, -*v]).collect::<Vec<f32>>();
            let both: Vec<f32> = ends.iter().flat_map(|e| [*e, *e]).collect();
            let (found, returns) = advantages(
                &twice(&rewards), &twice(&values), &both, &[last, -last], discount, trace,
            );
            for (t, expected) in expected.iter().enumerate() {
                prop_assert!((found[2 * t] - expected).abs() < 1e-4);
                prop_assert!((found[2 * t + 1] + expected).abs() < 1e-4);
                prop_assert!((returns[2 * t] - found[2 * t] - values[t]).abs() < 1e-5);
            }
        }
    }
}
