//! Which checkpoints of a training show what they can do, and which judge.
//!
//! The paper takes checkpoints at fixed updates: its agents improve slowly and evenly. Agents of pocket
//! games improve suddenly, each game and seed at another time, and fixed updates would give a dozen
//! demonstrations that are all clumsy or all good. Theirs are taken by skill, the average score of
//! what a checkpoint plays: in even steps from the first checkpoint to half of what the agent reaches, so that the best of them is far from what can be learned, as the paper's is.

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Updates of the paper's trainings: demonstrations, policies A to D, and the last one.
const PAPER_DEMONSTRATIONS: std::ops::RangeInclusive<u64> = 50..=600;
const PAPER_JUDGES: [u64; 4] = [25, 325, 800, 1450];
pub(super) const PAPER_UPDATES: u64 = 1450;

/// The skill of the best demonstration, as a share of the way from the first checkpoint to the best.
const BEST_DEMONSTRATION: f64 = 0.5;
/// The same for policies A to D: two among the demonstrations, two beyond them.
const JUDGED_SKILLS: [f64; 4] = [0.1, 0.4, 0.7, 1.0];
/// Checkpoints to choose from; close together at the beginning, where agents learn most.
const CANDIDATES: u64 = 64;

/// How checkpoints are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// By their updates, as published.
    Published,
    /// By what the agent scored at that time.
    BySkill,
}

/// A checkpoint: its update and its file.
pub(super) type Checkpoint = (u64, PathBuf);

/// The place of a checkpoint in a list, and its skill if it is known.
pub(super) type Chosen = (usize, Option<f64>);

impl Choice {
    /// The updates to keep checkpoints of.
    pub(super) fn candidates(self, count: usize, updates: u64) -> BTreeSet<u64> {
        match self {
            Self::Published => {
                let all = published(count).chain(PAPER_JUDGES);
                all.map(|paper| scaled(paper, updates)).collect()
            }
            Self::BySkill => (1..=CANDIDATES)
                .map(|n| (n * n * updates).div_ceil(CANDIDATES * CANDIDATES))
                .collect(),
        }
    }

    /// So many checkpoints that demonstrate and the four that judge, by their places in a list that is
    /// not empty, with their skills if these were asked for.
    pub(super) fn choose(
        self,
        count: usize,
        checkpoints: &[Checkpoint],
        skill: impl FnMut(usize) -> Result<f64>,
    ) -> Result<(Vec<Chosen>, Vec<Chosen>)> {
        match self {
            Self::Published => {
                let near = |paper: u64| (nearest(checkpoints, paper), None);
                let demonstrations = published(count).map(near).collect();
                Ok((demonstrations, PAPER_JUDGES.map(near).to_vec()))
            }
            Self::BySkill => {
                let last = checkpoints.len() - 1;
                let mut measured = Measured::of(last, skill)?;
                let step = BEST_DEMONSTRATION / (count.max(2) - 1) as f64;
                let shares: Vec<f64> = (0..count).map(|at| step * at as f64).collect();
                let demonstrations = measured.choose(&shares)?;
                let mut judges = measured.choose(&JUDGED_SKILLS)?;
                judges[JUDGED_SKILLS.len() - 1].0 = last;
                Ok((demonstrations, judges))
            }
        }
    }
}

/// Skills of checkpoints, as far as they were asked for.
struct Measured<F> {
    skill: F,
    known: BTreeMap<usize, f64>,
    last: usize,
}

impl<F: FnMut(usize) -> Result<f64>> Measured<F> {
    /// Of the first and the last one.
    fn of(last: usize, mut skill: F) -> Result<Self> {
        let known = BTreeMap::from([(0, skill(0)?), (last, skill(last)?)]);
        Ok(Self { skill, known, last })
    }

    fn at(&mut self, index: usize) -> Result<f64> {
        if let Some(known) = self.known.get(&index) {
            return Ok(*known);
        }
        let found = (self.skill)(index)?;
        self.known.insert(index, found);
        Ok(found)
    }

    /// Checkpoints with these shares of the skill between the first and the last, each another one
    /// where there are enough of that skill. Skill rises with training, by and large: each is looked
    /// for by halves.
    fn choose(&mut self, shares: &[f64]) -> Result<Vec<Chosen>> {
        let (low, high) = (self.at(0)?, self.at(self.last)?);
        let wanted = |share: &f64, (low, high): (f64, f64)| low + share * (high - low);
        for share in shares {
            let (mut below, mut reached) = (0, self.last);
            while below + 1 < reached {
                let middle = usize::midpoint(below, reached);
                if self.at(middle)? < wanted(share, (low, high)) {
                    below = middle;
                } else {
                    reached = middle;
                }
            }
        }
        let skills = rising(&self.known);
        let ends = (skills[&0], skills[&self.last]);
        let widest = shares.windows(2).map(|two| two[1] - two[0]);
        let step = widest.fold(0.0, f64::max) * (ends.1 - ends.0);
        let mut free = skills.clone();
        let mut chosen = Vec::new();
        for share in shares {
            let distance = |skill: &f64| (skill - wanted(share, ends)).abs();
            let near = |among: &BTreeMap<usize, f64>| {
                let all = among.iter().map(|(index, skill)| (*index, distance(skill)));
                all.min_by(|a, b| a.1.total_cmp(&b.1))
            };
            let another = near(&free).filter(|(_, far)| *far <= step);
            let nearest = another.or_else(|| near(&skills));
            let index = nearest.map_or(0, |(index, _)| index);
            free.remove(&index);
            chosen.push(index);
        }
        chosen.sort_unstable();
        let with_skill = |index: usize| (index, skills.get(&index).copied());
        Ok(chosen.into_iter().map(with_skill).collect())
    }
}

/// Skills that never fall, as near as can be to those that were measured: what a few episodes show is
/// mostly luck, and neighbours that contradict each other are averaged.
fn rising(measured: &BTreeMap<usize, f64>) -> BTreeMap<usize, f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for skill in measured.values() {
        pools.push((*skill, 1));
        while let [.., (before, many), (after, more)] = pools[..]
            && before > after
        {
            let together = many + more;
            let total = before * many as f64 + after * more as f64;
            pools.truncate(pools.len() - 2);
            pools.push((total / together as f64, together));
        }
    }
    let spread = pools
        .iter()
        .flat_map(|(skill, many)| std::iter::repeat_n(*skill, *many));
    measured.keys().copied().zip(spread).collect()
}

/// Updates of the paper's demonstrations: every fiftieth for its twelve, closer together or further apart
/// for another number.
fn published(count: usize) -> impl Iterator<Item = u64> {
    let (first, last) = (*PAPER_DEMONSTRATIONS.start(), *PAPER_DEMONSTRATIONS.end());
    let parts = count.max(2) as u64 - 1;
    (0..count as u64).map(move |at| first + (last - first) * at / parts)
}

/// The update of a training that is as far in it as another is in the paper's.
fn scaled(update: u64, updates: u64) -> u64 {
    (update * updates).div_ceil(PAPER_UPDATES).max(1)
}

/// The place of a checkpoint near an update of the paper's.
fn nearest(checkpoints: &[Checkpoint], paper: u64) -> usize {
    let updates = checkpoints.last().map_or(1, |(update, _)| *update);
    let wanted = scaled(paper, updates);
    let distance = |index: &usize| checkpoints[*index].0.abs_diff(wanted);
    (0..checkpoints.len()).min_by_key(distance).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoints(updates: impl IntoIterator<Item = u64>) -> Vec<Checkpoint> {
        let named = |update: u64| (update, PathBuf::from(update.to_string()));
        updates.into_iter().map(named).collect()
    }

    #[test]
    fn the_papers_updates_are_scaled() {
        let kept = Choice::Published.candidates(12, 145);
        assert_eq!(kept.len(), 16);
        let kept = checkpoints(kept);
        let (demonstrations, judges) = Choice::Published.choose(12, &kept, |_| Ok(0.0)).unwrap();
        let updates =
            |chosen: &[Chosen]| chosen.iter().map(|at| kept[at.0].0).collect::<Vec<u64>>();
        assert_eq!(updates(&demonstrations)[..3], [5, 10, 15]);
        assert_eq!(updates(&judges), [3, 33, 80, 145]);
    }

    #[test]
    fn twelve_are_the_papers() {
        let twelve: Vec<u64> = (1..=12).map(|n| 50 * n).collect();
        assert!(published(12).eq(twelve));
        assert!(published(3).eq([50, 325, 600]));
    }

    /// More than there are checkpoints of that skill: each is taken about as often.
    #[test]
    fn many_demonstrations_rise_as_evenly_as_few() {
        let kept = checkpoints(1..=64);
        let (demonstrations, _) = Choice::BySkill
            .choose(100, &kept, |at| Ok(at as f64))
            .unwrap();
        assert_eq!(demonstrations.len(), 100);
        let mut often: BTreeMap<usize, usize> = BTreeMap::new();
        for (index, _) in &demonstrations {
            *often.entry(*index).or_default() += 1;
        }
        let (first, last) = (often.first_key_value(), often.last_key_value());
        assert_eq!(
            (first.map(|f| f.0), last.map(|l| l.0)),
            (Some(&0), Some(&31))
        );
        assert!(
            often.len() >= 30 && often.values().all(|n| (1..=6).contains(n)),
            "{often:?}"
        );
    }

    #[test]
    fn candidates_begin_with_the_first_update_and_end_with_the_last() {
        for updates in [1, 7, 489, 100_000] {
            let kept = Choice::BySkill.candidates(12, updates);
            let first = kept.first().copied();
            assert!(first.is_some_and(|first| first <= 1 + updates / 4000));
            assert_eq!(kept.last(), Some(&updates));
        }
    }

    /// An agent that learns nothing for long, and then all at once; and how few are asked.
    #[test]
    fn demonstrations_rise_in_even_steps_whenever_the_agent_learns() {
        for sudden in [20.0, 250.0] {
            let at = |update: u64| (update as f64 - sudden) / 30.0;
            let score = |update: u64| 10.0 + 100.0 / (1.0 + (-at(update)).exp());
            let kept = checkpoints(Choice::BySkill.candidates(12, 489));
            let mut asked = 0;
            let skill = |index: usize| {
                asked += 1;
                Ok(score(kept[index].0))
            };
            let (demonstrations, judges) = Choice::BySkill.choose(12, &kept, skill).unwrap();
            let (low, high) = (score(1), score(489));
            for (at, (index, _)) in demonstrations.iter().enumerate() {
                let wanted = low + (high - low) * 0.5 / 11.0 * at as f64;
                let reached = score(kept[*index].0);
                assert!(
                    (reached - wanted).abs() < 12.0,
                    "{at}: {reached} for {wanted}"
                );
            }
            let different: BTreeSet<usize> = demonstrations.iter().map(|at| at.0).collect();
            assert!(different.len() >= 10, "{different:?}");
            let judged: Vec<f64> = judges.iter().map(|at| score(kept[at.0].0)).collect();
            assert!(judged.is_sorted() && judged[2] > low + (high - low) * 0.5);
            assert!(asked < 30, "{asked} of {} played", kept.len());
        }
    }

    /// An agent that goes from nothing to all between two checkpoints, and forgets once on the way.
    #[test]
    fn no_checkpoint_of_quite_another_skill_is_taken() {
        let skills = [1.0, 2.0, 10.0, 1.0, 12.0, 45.0, 46.0, 90.0, 95.0, 100.0];
        let kept = checkpoints(1..=10);
        let (demonstrations, _) = Choice::BySkill
            .choose(12, &kept, |at| Ok(skills[at]))
            .unwrap();
        let shown: Vec<f64> = demonstrations.iter().map(|at| skills[at.0]).collect();
        assert!(shown.is_sorted(), "{shown:?}");
        assert!(shown[11] < 50.0, "{shown:?}");
    }

    #[test]
    fn contradictions_are_averaged() {
        let measured = [1.0, 5.0, 3.0, 4.0, 9.0, 2.0, 12.0].into_iter().enumerate();
        let skills: Vec<f64> = rising(&measured.collect()).into_values().collect();
        let expected = [1.0, 4.0, 4.0, 4.0, 5.5, 5.5, 12.0];
        let apart = skills.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-12, "{skills:?}");
    }

    #[test]
    fn too_few_checkpoints_are_taken_twice() {
        let kept = checkpoints([1, 2, 3, 4]);
        let (demonstrations, judges) = Choice::BySkill
            .choose(12, &kept, |at| Ok(at as f64))
            .unwrap();
        assert_eq!((demonstrations.len(), judges.len()), (12, 4));
        assert_eq!(judges[3].0, 3);
    }
}
