//! What experts saw and what they did then: the pairs that imitation learns from.
//!
//! Other than for learned rewards, which are given for what an action led to, the observation of a
//! pair is the one that the action was chosen for.

use brex_core::Episode;
use brex_envs::{Environment, ReplayError, Spec, replay};

/// Observations and the actions that were chosen for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemonstratedSteps {
    spec: Spec,
    hides_score: bool,
    observations: Vec<u8>,
    actions: Vec<u8>,
}

impl DemonstratedSteps {
    /// None yet. What judges an agent must not see the score, so that rows with score and lives are
    /// blackened for it; a policy sees all that policies see.
    pub fn new(spec: &Spec, hides_score: bool) -> Self {
        Self {
            spec: spec.clone(),
            hides_score,
            observations: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// Adds one step.
    ///
    /// # Panics
    /// If the observation has another size, or there is no such action.
    pub fn push(&mut self, observation: &[u8], action: u8) {
        assert!(usize::from(action) < self.spec.actions.len(), "an action");
        assert_eq!(observation.len(), self.spec.observation_len(), "its size");
        let begin = self.observations.len();
        self.observations.extend_from_slice(observation);
        if self.hides_score {
            self.spec.mask(&mut self.observations[begin..]);
        }
        self.actions.push(action);
    }

    /// Plays an episode again and adds all of its steps. What is seen after its last action belongs
    /// to no step.
    pub fn add(&mut self, env: &mut dyn Environment, episode: &Episode) -> Result<(), ReplayError> {
        let mut steps = Self::new(&self.spec, self.hides_score);
        let mut actions = episode.actions.iter();
        // An action that there is not is refused by the environment, with an error.
        let known = |action: &&u8| usize::from(**action) < self.spec.actions.len();
        replay(env, episode, |seen, _| {
            if let Some(action) = actions.next().filter(known) {
                steps.push(seen, *action);
            }
        })?;
        self.observations.extend(steps.observations);
        self.actions.extend(steps.actions);
        Ok(())
    }

    /// What is seen and done there.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How many steps.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// What was seen.
    pub fn observation(&self, at: usize) -> &[u8] {
        let each = self.spec.observation_len();
        &self.observations[at * each..][..each]
    }

    /// What was done then.
    pub fn action(&self, at: usize) -> usize {
        usize::from(self.actions[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_envs::{make, record};

    #[test]
    fn each_action_stands_beside_what_it_was_chosen_for() {
        let mut env = make("pocket:breakout").unwrap();
        let spec = env.spec().clone();
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let mut turn = 0;
        let act = |_: &dyn Environment, _: &[u8]| {
            turn += 1;
            turn % 3
        };
        let episode = record(env.as_mut(), 3, act, |o| seen.push(o.to_vec())).unwrap();
        let mut plain = DemonstratedSteps::new(&spec, false);
        plain.add(env.as_mut(), &episode).unwrap();
        plain.add(env.as_mut(), &episode).unwrap();
        let mut hidden = DemonstratedSteps::new(&spec, true);
        hidden.add(env.as_mut(), &episode).unwrap();
        let count = episode.actions.len();
        assert_eq!((plain.len(), hidden.len()), (2 * count, count));
        assert_eq!(seen.len(), count + 1);
        for at in 0..count {
            assert_eq!(plain.observation(at), seen[at]);
            assert_eq!(plain.observation(at + count), seen[at]);
            assert_eq!(plain.action(at), (at + 1) % 3);
            spec.mask(&mut seen[at]);
            assert_eq!(hidden.observation(at), seen[at]);
        }
    }

    #[test]
    fn an_episode_that_is_not_as_recorded_adds_nothing() {
        let mut env = make("pocket:breakout").unwrap();
        let mut steps = DemonstratedSteps::new(env.spec(), true);
        let mut episode = record(env.as_mut(), 3, |_, _| 0, |_| {}).unwrap();
        episode.checksum ^= 1;
        assert!(steps.add(env.as_mut(), &episode).is_err());
        episode.actions[0] = 200;
        assert!(steps.add(env.as_mut(), &episode).is_err());
        assert!(steps.is_empty());
    }
}
