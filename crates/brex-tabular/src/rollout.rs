//! Episodes: a policy followed for some steps, and the feature sums that it collects.

use crate::{Mdp, StochasticPolicy};
use brex_core::Stream;
use rand::RngExt;

/// A state and what was done in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The state.
    pub state: usize,
    /// The action.
    pub action: usize,
}

/// Follows a policy from `start` for at most `steps` steps. A terminal state is the last step; its
/// action is drawn like any other and leads nowhere.
///
/// # Panics
/// If there is no such state, or the policy is for other states or actions.
pub fn rollout(
    mdp: &Mdp,
    policy: &StochasticPolicy,
    start: usize,
    steps: usize,
    stream: &mut Stream,
) -> Vec<Step> {
    assert!(start < mdp.states(), "the start is a state");
    assert!(policy.fits(mdp), "the policy is for another MDP");
    let mut episode = Vec::new();
    let mut state = start;
    while episode.len() < steps {
        let choices = policy.probabilities().row(state);
        let action = draw(choices.iter().copied().enumerate(), stream);
        episode.push(Step { state, action });
        if mdp.is_terminal(state) {
            break;
        }
        state = draw(mdp.successors(state, action), stream);
    }
    episode
}

/// One of the items, each with its probability. If rounding leaves a gap at the end, it belongs to
/// the last item that can happen at all.
fn draw(items: impl Iterator<Item = (usize, f64)>, stream: &mut Stream) -> usize {
    let mut left: f64 = stream.random();
    let mut last = 0;
    for (item, probability) in items.filter(|item| item.1 > 0.0) {
        last = item;
        left -= probability;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// The feature sums of an episode, `sum over t of gamma^t phi(s_t)`. A gamma of 1 gives the plain
/// sums.
///
/// # Panics
/// If a step's state does not exist.
pub fn discounted_features(mdp: &Mdp, episode: &[Step], gamma: f64) -> Vec<f64> {
    let mut sums = vec![0.0; mdp.features().cols()];
    let mut weight = 1.0;
    for step in episode {
        for (sum, feature) in sums.iter_mut().zip(mdp.features().row(step.state)) {
            *sum += weight * feature;
        }
        weight *= gamma;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::{Matrix, stream};

    /// 0 -> 1 -> 2, which is terminal; action 1 stays.
    fn chain() -> Mdp {
        let to = |state| vec![(state, 1.0)];
        let transitions = [to(1), to(0), to(2), to(1), to(2), to(2)];
        let features = Matrix::new(3, 2, vec![1.0, 0.0, 0.0, 1.0, 3.0, 5.0]).unwrap();
        Mdp::new(features, 2, 0.5, &transitions, vec![false, false, true]).unwrap()
    }

    fn states(episode: &[Step]) -> Vec<usize> {
        episode.iter().map(|step| step.state).collect()
    }

    #[test]
    fn an_episode_ends_after_a_terminal_state_or_when_time_is_up() {
        let mdp = chain();
        let mut stream = stream(1, "rollout test", 0);
        let go = StochasticPolicy::deterministic(&mdp, &[0, 0, 0]).unwrap();
        let mut follow = |start, steps| states(&rollout(&mdp, &go, start, steps, &mut stream));
        assert_eq!(follow(0, 10), [0, 1, 2]);
        assert_eq!(follow(0, 2), [0, 1]);
        assert_eq!(follow(2, 10), [2]);
        assert!(follow(0, 0).is_empty());
        let stay = StochasticPolicy::deterministic(&mdp, &[1, 1, 1]).unwrap();
        let episode = rollout(&mdp, &stay, 1, 4, &mut stream);
        assert_eq!(
            episode,
            [Step {
                state: 1,
                action: 1
            }; 4]
        );
    }

    #[test]
    fn the_same_stream_gives_the_same_episode() {
        let mdp = chain();
        let policy = StochasticPolicy::uniform(&mdp);
        let follow = |index| {
            let mut stream = stream(7, "rollout test", index);
            rollout(&mdp, &policy, 0, 50, &mut stream)
        };
        assert_eq!(follow(3), follow(3));
        let different = (1..20).any(|index| follow(index) != follow(0));
        assert!(different);
    }

    #[test]
    fn features_are_summed_with_and_without_discount() {
        let mdp = chain();
        let episode = [0, 1, 2].map(|state| Step { state, action: 0 });
        assert_eq!(discounted_features(&mdp, &episode, 1.0), [4.0, 6.0]);
        assert_eq!(discounted_features(&mdp, &episode, 0.5), [1.75, 1.75]);
        assert_eq!(discounted_features(&mdp, &[], 0.5), [0.0, 0.0]);
    }

    #[test]
    fn draws_follow_the_probabilities_and_never_give_what_cannot_happen() {
        let mut stream = stream(5, "rollout test", 0);
        let chances = [(4, 0.0), (7, 0.2), (2, 0.0), (9, 0.8), (3, 0.0)];
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[draw(chances.into_iter(), &mut stream)] += 1;
        }
        assert_eq!(seen[7] + seen[9], 10_000);
        // Five standard errors of a share of 0.2 in 10,000 draws.
        assert!((f64::from(seen[7]) - 2_000.0).abs() < 200.0);
        // Probabilities that fall short of one.
        let short = [(1, 1e-12), (6, 0.0)];
        assert!((0..100).all(|_| draw(short.into_iter(), &mut stream) == 1));
    }
}
