//! Ranked demonstrations as the encoder sees them.

use brex_core::{Episode, Preferences, stream};
use brex_envs::{Environment, ReplayError, Spec, replay};
use rand::seq::SliceRandom;

/// Why demonstrations cannot be learned from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DemonstrationError {
    /// There is nothing to compare.
    #[error("there is no strict preference between two demonstrations")]
    NoPreference,
    /// A demonstration is too short.
    #[error("demonstration {index} has {found} frames; at least {expected} are needed")]
    TooShort {
        /// Which one, from 0.
        index: usize,
        /// Its frames.
        found: usize,
        /// How many a snippet has.
        expected: usize,
    },
}

/// What was seen in an episode, with score and lives hidden, and what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenEpisode {
    observations: Vec<u8>,
    each: usize,
    /// The actions; each led to the observation of the same place.
    pub actions: Vec<u8>,
}

impl SeenEpisode {
    /// Plays an episode again. As in the paper, what is seen before the first action is left out.
    pub fn replayed(env: &mut dyn Environment, episode: &Episode) -> Result<Self, ReplayError> {
        let spec: Spec = env.spec().clone();
        let each = spec.observation_len();
        let mut observations = Vec::with_capacity(each * episode.actions.len());
        let mut first = true;
        replay(env, episode, |seen, _| {
            if !std::mem::take(&mut first) {
                let begin = observations.len();
                observations.extend_from_slice(seen);
                spec.mask(&mut observations[begin..]);
            }
        })?;
        Ok(Self {
            observations,
            each,
            actions: episode.actions.clone(),
        })
    }

    /// Frames that are there already, all planes of each together, and the action that led to each.
    /// None if they are not equally many.
    pub fn of_frames(observations: Vec<u8>, actions: Vec<u8>) -> Option<Self> {
        let each = observations.len().checked_div(actions.len())?;
        (each > 0 && each * actions.len() == observations.len()).then_some(Self {
            observations,
            each,
            actions,
        })
    }

    /// How many frames.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// What was seen after an action.
    pub fn observation(&self, at: usize) -> &[u8] {
        &self.observations[at * self.each..][..self.each]
    }
}

/// Demonstrations, and which of two is better.
#[derive(Debug, Clone)]
pub struct RankedDemonstrations {
    pub(crate) episodes: Vec<SeenEpisode>,
    /// Worse and better, to learn from.
    pub(crate) pairs: Vec<[usize; 2]>,
    /// Worse and better, kept back.
    pub(crate) held_out: Vec<[usize; 2]>,
}

impl RankedDemonstrations {
    /// Keeps a share of the strict preferences back, the same ones for the same seed; ties say
    /// nothing about which is better and are left out.
    pub fn new(
        episodes: Vec<SeenEpisode>,
        preferences: &Preferences,
        held_out: f64,
        seed: u64,
    ) -> Result<Self, DemonstrationError> {
        let strict = preferences.items().iter().filter_map(|item| {
            let ways = [[item.b, item.a], [item.a, item.b]];
            (item.label != 0.5).then(|| ways[usize::from(item.label > 0.5)])
        });
        let mut pairs: Vec<[usize; 2]> = strict.collect();
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.is_empty() {
            return Err(DemonstrationError::NoPreference);
        }
        pairs.shuffle(&mut stream(seed, "held out", 0));
        let count = (held_out * pairs.len() as f64).round() as usize;
        let held_out = pairs.split_off(pairs.len() - count.min(pairs.len() - 1));
        Ok(Self {
            episodes,
            pairs,
            held_out,
        })
    }

    /// The demonstrations.
    pub fn episodes(&self) -> &[SeenEpisode] {
        &self.episodes
    }

    /// Refuses a demonstration with fewer frames.
    pub(crate) fn check_lengths(&self, expected: usize) -> Result<(), DemonstrationError> {
        let used = self.pairs.iter().chain(&self.held_out).flatten().copied();
        let mut short = used.filter(|index| self.episodes[*index].len() < expected);
        match short.next() {
            None => Ok(()),
            Some(index) => Err(DemonstrationError::TooShort {
                index,
                found: self.episodes[index].len(),
                expected,
            }),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::networks::PretrainShape;
    use brex_core::Preference;
    use rand::RngExt;

    /// Episodes of noise, each better than the one before.
    pub(crate) fn made_up(shape: &PretrainShape, lengths: &[usize]) -> RankedDemonstrations {
        let each: usize = shape.encoder.observation.iter().product();
        let mut random = stream(9, "made up", 0);
        let episodes = lengths.iter().map(|length| {
            let frames = (0..length * each).map(|_| random.random()).collect();
            let mut action = || random.random_range(0..shape.actions as u8);
            SeenEpisode::of_frames(frames, (0..*length).map(|_| action()).collect()).unwrap()
        });
        let episodes: Vec<SeenEpisode> = episodes.collect();
        let pairs = (1..lengths.len()).map(|at| Preference::strict(at - 1, at));
        let preferences = Preferences::new(lengths.len(), pairs.collect()).unwrap();
        RankedDemonstrations::new(episodes, &preferences, 0.0, 0).unwrap()
    }

    #[test]
    fn some_preferences_are_kept_back_and_ties_left_out() {
        assert!(SeenEpisode::of_frames(vec![0; 9], vec![0; 4]).is_none());
        assert!(SeenEpisode::of_frames(Vec::new(), Vec::new()).is_none());
        let episodes = vec![SeenEpisode::of_frames(vec![0; 4], vec![0; 4]).unwrap(); 6];
        let mut items: Vec<Preference> = (0..6)
            .flat_map(|a| (a + 1..6).map(move |b| Preference::strict(a, b)))
            .collect();
        items.push(Preference::tie(0, 1));
        let preferences = Preferences::new(6, items).unwrap();
        let split = |seed| RankedDemonstrations::new(episodes.clone(), &preferences, 0.2, seed);
        let data = split(1).unwrap();
        assert_eq!((data.pairs.len(), data.held_out.len()), (12, 3));
        assert!(data.pairs.iter().chain(&data.held_out).all(|[a, b]| a < b));
        assert!(data.held_out.iter().all(|pair| !data.pairs.contains(pair)));
        assert_eq!(split(1).unwrap().held_out, data.held_out);
        assert!(data.check_lengths(4).is_ok());
        let error = data.check_lengths(5).unwrap_err();
        assert!(matches!(
            error,
            DemonstrationError::TooShort {
                found: 4,
                expected: 5,
                ..
            }
        ));
        let none = Preferences::new(6, vec![Preference::tie(0, 1)]).unwrap();
        let error = RankedDemonstrations::new(episodes, &none, 0.2, 1).unwrap_err();
        assert_eq!(error, DemonstrationError::NoPreference);
    }
}
