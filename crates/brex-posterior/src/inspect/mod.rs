//! What is in the features and preferences, before anything is sampled.
//!
//! Nothing here is an error: duplicates, contradictions and cycles are data that the likelihood
//! can use. But somebody who expected none of them wants to know. Everything takes linear time, or
//! n log n, so that it can run on 50,000 comparisons without being asked for.
//!
//! Comparisons of weight 0 are counted as such and left out of everything else.

mod answers;
mod cycles;
mod graph;
mod lowest;
mod scale;

pub use answers::{Answers, Contradiction};
pub use cycles::{Cycle, cycles};
pub use graph::{ComparisonGraph, Degrees};
pub use lowest::lowest_ranked;
pub use scale::FeatureScale;

use brex_core::{FeatureTable, Preference, Preferences};

/// What is in the features and preferences.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// The comparisons one by one.
    pub answers: Answers,
    /// The comparisons as a graph.
    pub graph: ComparisonGraph,
    /// Groups of trajectories in which preferences run in a circle, the largest group first.
    pub cycles: Vec<Cycle>,
    /// The trajectory ranked lowest: see [`lowest_ranked`].
    pub lowest_ranked: Option<usize>,
    /// How large the features and their differences are.
    pub scale: FeatureScale,
}

/// Looks at features and the preferences over their rows.
///
/// # Panics
/// If the preferences are about another number of trajectories than there are rows.
pub fn inspect(features: &FeatureTable, preferences: &Preferences) -> Inspection {
    assert_eq!(
        features.matrix().rows(),
        preferences.trajectories(),
        "one row of features per trajectory"
    );
    Inspection {
        answers: Answers::of(preferences),
        graph: ComparisonGraph::of(preferences),
        cycles: cycles(preferences),
        lowest_ranked: lowest_ranked(preferences),
        scale: FeatureScale::of(features.matrix(), preferences),
    }
}

/// The comparisons that count.
fn weighted(preferences: &Preferences) -> impl Iterator<Item = &Preference> {
    preferences.items().iter().filter(|item| item.weight > 0.0)
}
