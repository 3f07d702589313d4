//! `report.html`: a run as one page that a person enjoys reading.

mod clip;
pub(crate) mod page;
mod traces;

pub(crate) use clip::clip;

use crate::commands::run_evaluation::RunEvaluation;
use crate::numbers;
use crate::recorded::RecordedEpisodes;
use crate::run_files::RunFiles;
use anyhow::{Context, Result};
use brex_core::Preferences;
use brex_envs::make;
use brex_store::write_atomic;
use page::{Clip, Kind, Page, Picture};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// What a table of bounds means, whatever its delta.
pub(crate) const ABOUT_BOUNDS: &str = "VaR is the bound: under the posterior, the return lies below \
    it with the probability that stands before the name; higher is better. The true score is not known \
    to the learner.";

/// An evaluation with what to say about it.
pub(crate) struct Judged<'a> {
    pub(crate) title: &'a str,
    pub(crate) words: &'a str,
    pub(crate) evaluation: &'a RunEvaluation,
    pub(crate) returns_svg: String,
}

/// As many demonstrations as a page shows well.
const SHOWN: usize = 18;

/// The places, in a ranking of so many, of those that are shown: from the first to the last in even
/// steps, and those that were added by hand if they are few.
fn shown(count: usize, is_added: impl Fn(usize) -> bool) -> BTreeSet<usize> {
    let added: BTreeSet<usize> = (0..count).filter(|place| is_added(*place)).collect();
    let mut places = if added.len() > SHOWN / 2 {
        BTreeSet::new()
    } else {
        added
    };
    let others: Vec<usize> = (0..count).filter(|place| !places.contains(place)).collect();
    let chosen = numbers::evenly(others.len(), SHOWN - places.len());
    places.extend(chosen.map(|at| others[at]));
    places
}

/// What the page is made from.
pub(crate) struct Report<'a> {
    pub(crate) files: &'a RunFiles,
    pub(crate) evaluations: &'a [Judged<'a>],
    /// What the reader learns first.
    pub(crate) short: Vec<String>,
    pub(crate) next: Vec<String>,
}

impl Report<'_> {
    /// Writes the page into the run directory.
    pub(crate) fn write(&self) -> Result<()> {
        let html = self.html()?;
        let path = &self.files.report;
        Ok(write_atomic(path, true, |writer| {
            writer.write_all(html.as_bytes())
        })?)
    }

    fn html(&self) -> Result<String> {
        let recorded = RecordedEpisodes::read(&self.files.episodes)?;
        let preferences = recorded.preferences(&self.files.preferences)?.preferences;
        let game = recorded.environment().to_owned();
        let title = format!("What {game} is about, learned from preferences");
        let lead = format!(
            "{} recorded episodes, {} preferences between them, a posterior over rewards, and what \
             it says about {} policies.",
            recorded.ids.len(),
            preferences.items().len(),
            self.evaluations
                .first()
                .map_or(0, |e| e.evaluation.run.policies.len())
        );
        let mut page = Page::new(&title, &lead);
        page.section("In short").list("short", &self.short);
        self.demonstrations(&mut page, &recorded, &preferences)?;
        self.encoder(&mut page, &recorded)?;
        self.posterior(&mut page)?;
        for judged in self.evaluations {
            self.evaluation(&mut page, judged);
        }
        page.section("What to do next").commands(&self.next);
        Ok(page.finish(&title))
    }

    fn demonstrations(
        &self,
        page: &mut Page,
        recorded: &RecordedEpisodes,
        preferences: &Preferences,
    ) -> Result<()> {
        let mut env = make(recorded.environment())?;
        let wins = wins(preferences, recorded.ids.len());
        let mut order: Vec<usize> = (0..recorded.ids.len()).collect();
        order.sort_by(|a, b| wins[*b].total_cmp(&wins[*a]));
        let is_added = |place: usize| !recorded.ids[order[place]].starts_with("demo-");
        let mut clips = Vec::new();
        let places = shown(order.len(), is_added);
        for place in &places {
            let at = order[*place];
            let episode = &recorded.episodes[at];
            let score = numbers::trimmed(episode.score, 5);
            clips.push(Clip {
                name: recorded.ids[at].clone(),
                gif: clip(env.as_mut(), episode)?,
                lines: vec![
                    format!("rank {}", place + 1),
                    format!("true score {score}"),
                    format!("{} steps", numbers::count(episode.actions.len())),
                ],
            });
        }
        let mut words =
            "Only which of two episodes is better was told to the learner: neither the \
                         score nor the rows of the picture that show it."
                .to_owned();
        if clips.len() < order.len() {
            let (some, all) = (clips.len(), order.len());
            words.push_str(&format!(
                " Shown are {some} of {all}, from the best to the worst."
            ));
        }
        page.section("The demonstrations, best first")
            .text(&words)
            .clips(&clips);
        Ok(())
    }

    fn encoder(&self, page: &mut Page, recorded: &RecordedEpisodes) -> Result<()> {
        let mut section = page.section("What the encoder sees");
        section.text(
            "phi(s) turns frames into a few numbers, learned by ranking snippets of episodes and by \
             tasks that need no ranking. The reward is a weighted sum of them.",
        );
        let folder = self.files.directory.join("pretraining");
        let redrawn = fs::read(folder.join("redrawn.png"));
        if let Ok(bytes) = &redrawn {
            section.figure(&Picture {
                kind: Kind::Png,
                bytes,
                name: "frames and what the decoder draws of them",
                caption: "Above: frames of the demonstrations, without score and lives. Below: what \
                          the decoder draws from their features alone. What is missing there is \
                          what the reward cannot see.",
            });
        }
        if let Some([rewards, features]) = traces::traces(self.files, recorded)? {
            section.figure(&Picture {
                kind: Kind::Svg,
                bytes: rewards.as_bytes(),
                name: "predicted reward over the best and the worst demonstration",
                caption: "What the posterior gives for each step of the best demonstration and of \
                          the worst: its mean, and the band of 90 %.",
            });
            section.figure(&Picture {
                kind: Kind::Svg,
                bytes: features.as_bytes(),
                name: "features over the best and the worst demonstration",
                caption: "The five features that vary most, over the same steps.",
            });
        }
        if let Ok(bytes) = fs::read(folder.join("losses.svg")) {
            section.figure(&Picture {
                kind: Kind::Svg,
                bytes: &bytes,
                name: "losses of pre-training",
                caption: "Pre-training: how many snippet pairs are ranked right, and every loss.",
            });
        }
        Ok(())
    }

    fn posterior(&self, page: &mut Page) -> Result<()> {
        let path = self.files.posterior.join("summary.json");
        let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        let summary: Value = serde_json::from_str(&text)?;
        let number = |name: &str, digits: usize| {
            summary[name]
                .as_f64()
                .map_or_else(String::new, |v| numbers::trimmed(v, digits))
        };
        let count = |name: &str| number(name, 9);
        let heads = [
            "draws",
            "chains",
            "R-hat",
            "effective draws of the bound",
            "preferences",
            "that count as",
            "beta",
            "features",
        ];
        let row = vec![
            count("draws"),
            count("chains"),
            number("max_rhat", 5),
            number("min_ess_quantile", 4),
            count("preferences"),
            number("evidence", 4),
            number("beta", 4),
            count("features"),
        ];
        let verdict = summary["verdict"].as_str().unwrap_or_default();
        let mut words = "Rewards that explain the preferences, drawn until every quantity that \
                         matters has converged."
            .to_owned();
        if summary["evidence"].as_f64() < summary["preferences"].as_f64() {
            words.push_str(
                " Preferences that come from one ranking are not independent facts: together they \
                 count about once for each episode.",
            );
        }
        if summary["beta_tried"].is_array() {
            words.push_str(
                " Beta is how sharp they are taken to be, as foretells those of the best episodes \
                 from those of the others.",
            );
        }
        page.section("The posterior")
            .text(&words)
            .table(&heads, &[row])
            .text(&format!("Verdict: {verdict}."));
        Ok(())
    }

    fn evaluation(&self, page: &mut Page, judged: &Judged<'_>) {
        let (heads, rows) = judged.evaluation.cells();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        page.section(judged.title)
            .text(judged.words)
            .table(&heads, &rows)
            .text(&judged.evaluation.honesty.text().replace('\n', " "))
            .list("warnings", &judged.evaluation.warnings())
            .figure(&Picture {
                kind: Kind::Svg,
                bytes: judged.returns_svg.as_bytes(),
                name: "distributions of the policies' returns with their bounds",
                caption: "What each policy's return may be, given the preferences. The mark is the \
                          bound.",
            });
    }
}

/// How often each episode was preferred, a tie counting half.
fn wins(preferences: &Preferences, count: usize) -> Vec<f64> {
    let mut wins = vec![0.0; count];
    for item in preferences.items() {
        wins[item.b] += item.label * item.weight;
        wins[item.a] += (1.0 - item.label) * item.weight;
    }
    wins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_shown_and_of_many_the_first_the_last_and_the_added() {
        assert!(shown(0, |_| false).is_empty());
        assert_eq!(shown(14, |place| place == 3).len(), 14);
        for count in [19, 37, 102, 1000] {
            let places = shown(count, |place| place == 1 || place == count - 2);
            assert_eq!(places.len(), SHOWN);
            for place in [0, 1, count - 2, count - 1] {
                assert!(places.contains(&place), "{place} of {count}");
            }
            // Nobody is special where all are.
            let places = shown(count, |_| true);
            assert_eq!(places.len(), SHOWN);
            assert!(places.contains(&0) && places.contains(&(count - 1)));
        }
    }
}
