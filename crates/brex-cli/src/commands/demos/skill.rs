//! Which checkpoints of a training show what they can do, and which judge.
//!
//! The paper takes checkpoints at fixed updates: its agents improve slowly and evenly. Agents of pocket
//! games improve suddenly, each game and seed at another time, and fixed updates would give
//! demonstrations that are all clumsy or all good. Theirs are taken by skill, the average score of
//! what a checkpoint plays: all up to a third of what the agent reaches demonstrate, so that the best
//! demonstration is far from what can be learned, as the paper's is. Which of their episodes are
//! demonstrations is said by [`spread`](mod@super::spread).

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Updates of the paper's trainings: demonstrations, policies A to D, and the last one.
const PAPER_DEMONSTRATIONS: std::ops::RangeInclusive<u64> = 50..=600;
const PAPER_JUDGES: [u64; 4] = [25, 325, 800, 1450];
pub(super) const PAPER_UPDATES: u64 = 1450;

/// The skill of the best demonstration, as a share of the way from the first checkpoint to the best.
const BEST_DEMONSTRATION: f64 = 0.35;
/// The same for policies A to D: two among the demonstrations, two beyond them.
const JUDGED_SKILLS: [f64; 4] = [0.1, 0.4, 0.7, 1.0];
/// By how much the scores of policies A to D rise from one to the next at least, as a share of the way
/// from the first to the last.
const LEAST_STEP: f64 = 0.1;
/// How often policies A to D are chosen again at most.
const CHOSEN_AGAIN: usize = 6;
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

/// Checkpoints by their places in a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    /// Those that demonstrate.
    pub(super) demonstrators: Vec<usize>,
    /// What a demonstration may score at most; if there is none, each demonstrator shows one episode.
    pub(super) most: Option<f64>,
    /// The policies A to D.
    pub(super) judges: Vec<usize>,
    /// What checkpoints scored on average, of those that were asked to play.
    pub(super) skills: BTreeMap<usize, f64>,
}

impl Chosen {
    /// Chooses the policies A to D again if they did not come out in the order of their scores, or too
    /// close to each other. `judged` gives their scores, over more episodes than they were chosen by,
    /// which count from then on.
    pub(super) fn set_right(&mut self, mut judged: impl FnMut(usize) -> Result<f64>) -> Result<()> {
        for _ in 0..CHOSEN_AGAIN {
            let scores = self.judges.iter().map(|at| judged(*at));
            let scores = scores.collect::<Result<Vec<f64>>>()?;
            if are_apart(&scores) || self.skills.is_empty() {
                return Ok(());
            }
            self.skills.extend(self.judges.iter().copied().zip(scores));
            self.judges = judges_of(&self.skills);
        }
        Ok(())
    }
}

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

    /// The checkpoints that demonstrate, so many of them if they are published ones, and the four that
    /// judge, from a list that is not empty.
    pub(super) fn choose(
        self,
        count: usize,
        checkpoints: &[Checkpoint],
        skill: impl FnMut(usize) -> Result<f64>,
    ) -> Result<Chosen> {
        match self {
            Self::Published => {
                let near = |paper: u64| nearest(checkpoints, paper);
                Ok(Chosen {
                    demonstrators: published(count).map(near).collect(),
                    most: None,
                    judges: PAPER_JUDGES.map(near).to_vec(),
                    skills: BTreeMap::new(),
                })
            }
            Self::BySkill => {
                let last = checkpoints.len() - 1;
                let mut measured = Measured::of(last, skill)?;
                for share in JUDGED_SKILLS {
                    measured.look_for(share)?;
                }
                let judges = judges_of(&measured.known);
                let (demonstrators, most) = measured.up_to(BEST_DEMONSTRATION)?;
                Ok(Chosen {
                    demonstrators,
                    most: Some(most),
                    judges,
                    skills: measured.known,
                })
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

    /// Looks for the first checkpoint with a share of the skill between the first and the last, by
    /// halves: skill rises with training, by and large.
    fn look_for(&mut self, share: f64) -> Result<()> {
        let (low, high) = (self.at(0)?, self.at(self.last)?);
        let (mut below, mut reached) = (0, self.last);
        while below + 1 < reached {
            let middle = usize::midpoint(below, reached);
            if self.at(middle)? < low + share * (high - low) {
                below = middle;
            } else {
                reached = middle;
            }
        }
        Ok(())
    }

    /// All checkpoints up to the last one that has no more than a share of the skill, and the score of
    /// that share.
    fn up_to(&mut self, share: f64) -> Result<(Vec<usize>, f64)> {
        self.look_for(share)?;
        let skills = rising(&self.known);
        let most = share_of(&skills, share);
        let within = skills.iter().filter(|(_, skill)| **skill <= most);
        let last = within.map(|(index, _)| *index).max().unwrap_or(0);
        Ok(((0..=last).collect(), most))
    }
}

/// Whether scores rise, each by a good part of the way from the first to the last.
fn are_apart(scores: &[f64]) -> bool {
    let way = scores
        .last()
        .zip(scores.first())
        .map_or(0.0, |(l, f)| l - f);
    let mut steps = scores.windows(2).map(|two| two[1] - two[0]);
    way > 0.0 && steps.all(|step| step >= LEAST_STEP * way)
}

/// The score of a share of the way from the first checkpoint to the last, by skills that never fall.
fn share_of(skills: &BTreeMap<usize, f64>, share: f64) -> f64 {
    let first = skills.first_key_value().map_or(0.0, |(_, skill)| *skill);
    let last = skills.last_key_value().map_or(0.0, |(_, skill)| *skill);
    first + share * (last - first)
}

/// The policies A to D: those whose skills are nearest to the shares that they are to have, each another
/// one if there are as many, and the last checkpoint.
fn judges_of(measured: &BTreeMap<usize, f64>) -> Vec<usize> {
    let skills = rising(measured);
    let mut free = skills.clone();
    let mut chosen = Vec::new();
    for share in JUDGED_SKILLS {
        let wanted = share_of(&skills, share);
        let among = if free.is_empty() { &skills } else { &free };
        let distance = |skill: &f64| (skill - wanted).abs();
        let near = among
            .iter()
            .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        let index = near.map_or(0, |(index, _)| *index);
        free.remove(&index);
        chosen.push(index);
    }
    chosen.sort_unstable();
    if let (Some(judge), Some(last)) = (chosen.last_mut(), skills.keys().next_back()) {
        *judge = *last;
    }
    chosen
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
        let chosen = Choice::Published.choose(12, &kept, |_| Ok(0.0)).unwrap();
        let updates = |places: &[usize]| places.iter().map(|at| kept[*at].0).collect::<Vec<u64>>();
        assert_eq!(updates(&chosen.demonstrators)[..3], [5, 10, 15]);
        assert_eq!(updates(&chosen.judges), [3, 33, 80, 145]);
        assert_eq!(chosen.most, None);
    }

    #[test]
    fn twelve_are_the_papers() {
        let twelve: Vec<u64> = (1..=12).map(|n| 50 * n).collect();
        assert!(published(12).eq(twelve));
        assert!(published(3).eq([50, 325, 600]));
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
    fn the_first_third_of_the_skill_demonstrates_whenever_the_agent_learns() {
        for sudden in [20.0, 250.0] {
            let at = |update: u64| (update as f64 - sudden) / 30.0;
            let score = |update: u64| 10.0 + 100.0 / (1.0 + (-at(update)).exp());
            let kept = checkpoints(Choice::BySkill.candidates(12, 489));
            let mut asked = 0;
            let skill = |index: usize| {
                asked += 1;
                Ok(score(kept[index].0))
            };
            let chosen = Choice::BySkill.choose(12, &kept, skill).unwrap();
            let (low, high) = (score(1), score(489));
            let most = low + (high - low) * 0.35;
            assert!((chosen.most.unwrap() - most).abs() < 1e-9);
            let last = *chosen.demonstrators.last().unwrap();
            assert!(chosen.demonstrators.iter().copied().eq(0..=last));
            let (there, next) = (score(kept[last].0), score(kept[last + 1].0));
            assert!(there <= most && next > most, "{there} {next} {most}");
            let judged: Vec<f64> = chosen.judges.iter().map(|at| score(kept[*at].0)).collect();
            assert!(judged.is_sorted() && judged[2] > most, "{judged:?}");
            assert!(asked < 30, "{asked} of {} played", kept.len());
        }
    }

    /// An agent that goes from nothing to all between two checkpoints, and forgets once on the way.
    #[test]
    fn no_checkpoint_of_quite_another_skill_demonstrates() {
        let skills = [1.0, 2.0, 10.0, 1.0, 12.0, 45.0, 46.0, 90.0, 95.0, 100.0];
        let kept = checkpoints(1..=10);
        let chosen = Choice::BySkill.choose(12, &kept, |at| Ok(skills[at]));
        assert_eq!(chosen.unwrap().demonstrators, [0, 1, 2, 3, 4]);
    }

    /// Even an agent that learned nothing leaves something to look at.
    #[test]
    fn an_agent_that_does_not_learn_demonstrates_and_judges_all_the_same() {
        let kept = checkpoints([1, 2, 3, 4]);
        let chosen = Choice::BySkill.choose(12, &kept, |_| Ok(3.0)).unwrap();
        assert_eq!((chosen.judges.len(), chosen.most), (4, Some(3.0)));
        assert!(!chosen.demonstrators.is_empty());
        let falling = |at: usize| Ok(-(at as f64));
        let chosen = Choice::BySkill.choose(12, &kept, falling).unwrap();
        assert_eq!(chosen.judges.last(), Some(&3));
        assert!(!chosen.demonstrators.is_empty());
    }

    /// One of them was lucky when it was chosen.
    #[test]
    fn policies_that_do_not_come_out_in_order_are_chosen_again() {
        let truth = [10.0, 12.0, 20.0, 45.0, 46.0, 55.0, 60.0, 40.0, 90.0, 100.0];
        let kept = checkpoints(1..=10);
        let luck = |at: usize| Ok(truth[at] + if at == 7 { 35.0 } else { 0.0 });
        let mut chosen = Choice::BySkill.choose(12, &kept, luck).unwrap();
        let scores = |judges: &[usize]| judges.iter().map(|at| truth[*at]).collect::<Vec<f64>>();
        let first = scores(&chosen.judges);
        assert!(!first.is_sorted(), "{first:?}");
        let mut asked = 0;
        let judged = |at: usize| {
            asked += 1;
            Ok(truth[at])
        };
        chosen.set_right(judged).unwrap();
        let then = scores(&chosen.judges);
        assert!(are_apart(&then), "{then:?}");
        assert!(!are_apart(&[10.0, 30.0, 31.0, 60.0]) && !are_apart(&[5.0; 4]));
        assert_eq!(chosen.judges.last(), Some(&9));
        assert!(asked <= 4 * CHOSEN_AGAIN);
        // Those that are in order stay, and so do published ones.
        let before = chosen.judges.clone();
        chosen.set_right(|at| Ok(at as f64)).unwrap();
        assert_eq!(chosen.judges, before);
        let mut published = Choice::Published.choose(12, &kept, |_| Ok(0.0)).unwrap();
        let before = published.judges.clone();
        published.set_right(|_| Ok(1.0)).unwrap();
        assert_eq!(published.judges, before);
    }

    #[test]
    fn contradictions_are_averaged() {
        let measured = [1.0, 5.0, 3.0, 4.0, 9.0, 2.0, 12.0].into_iter().enumerate();
        let skills: Vec<f64> = rising(&measured.collect()).into_values().collect();
        let expected = [1.0, 4.0, 4.0, 4.0, 5.5, 5.5, 12.0];
        let apart = skills.iter().zip(expected).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-12, "{skills:?}");
    }
}
