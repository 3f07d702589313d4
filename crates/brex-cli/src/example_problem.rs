//! The problem that `brex quickstart` makes up: 12 ranked demonstrations with 64 features and four
//! policies to judge, shaped like the paper's Atari data.
//!
//! Every step of a demonstration has features in a direction that all share, plus some in the
//! direction that the true reward pays for, the more the better the demonstration is; better ones
//! also live longer. One policy is a trap, like the paper's No-Op: it lives very long and does
//! nothing of what is paid for, and shows features that no demonstration shows. Its mean return
//! under the posterior is high only because it is long; its bound tells.

use brex_core::{Stream, stream};
use rand::RngExt;
use rand_distr::StandardNormal;
use std::fmt::Write;

const FEATURES: usize = 64;
const DEMONSTRATIONS: usize = 12;
const ROLLOUTS: usize = 20;

/// Feature sums of one trajectory and its length in steps.
struct Trajectory {
    steps: f64,
    features: Vec<f64>,
}

/// The files of the problem, as text.
pub(crate) struct ExampleProblem {
    pub(crate) features_csv: String,
    pub(crate) preferences_csv: String,
    pub(crate) policies_json: String,
}

/// What kind of behaviour a trajectory shows, per step.
struct Directions {
    shared: Vec<f64>,
    rewarded: Vec<f64>,
    idle: Vec<f64>,
}

impl Directions {
    fn new(random: &mut Stream) -> Self {
        let shared = unit(random);
        let rewarded = unit(random);
        let idle = unit(random);
        Self {
            shared,
            rewarded,
            idle,
        }
    }

    /// `steps` steps that show `quality` of what is rewarded and `idleness` of what is not known.
    fn trajectory(
        &self,
        random: &mut Stream,
        steps: f64,
        quality: f64,
        idleness: f64,
    ) -> Trajectory {
        let noise: Vec<f64> = (0..FEATURES)
            .map(|_| random.sample::<f64, _>(StandardNormal) / (FEATURES as f64).sqrt())
            .collect();
        let steps = steps.round();
        let features = (0..FEATURES)
            .map(|j| {
                let step = 0.03 * self.shared[j]
                    + 0.02 * quality * self.rewarded[j]
                    + 0.02 * idleness * self.idle[j]
                    + 0.01 * noise[j];
                steps * step
            })
            .collect();
        Trajectory { steps, features }
    }
}

fn unit(random: &mut Stream) -> Vec<f64> {
    let vector: Vec<f64> = (0..FEATURES)
        .map(|_| random.sample(StandardNormal))
        .collect();
    let length = vector.iter().map(|v: &f64| v * v).sum::<f64>().sqrt();
    vector.into_iter().map(|v| v / length).collect()
}

impl ExampleProblem {
    /// The problem of a seed.
    pub(crate) fn generate(seed: u64) -> Self {
        let random = &mut stream(seed, "quickstart", 0);
        let directions = Directions::new(random);
        let mut qualities: Vec<f64> = (0..DEMONSTRATIONS).map(|_| random.random()).collect();
        qualities.sort_by(f64::total_cmp);
        let demonstrations: Vec<Trajectory> = qualities
            .iter()
            .map(|quality| {
                let steps = 1000.0 + 2000.0 * quality * random.random_range(0.8..1.2);
                directions.trajectory(random, steps, *quality, 0.0)
            })
            .collect();
        // Name, quality, mean length, idleness.
        let policies = [
            ("beginner", 0.3, 1500.0, 0.0),
            ("skilled", 0.8, 2600.0, 0.0),
            ("expert", 1.1, 3200.0, 0.0),
            ("waits", 0.0, 9000.0, 0.6),
        ];
        let policies: Vec<(&str, Vec<Trajectory>)> = policies
            .into_iter()
            .map(|(name, quality, steps, idleness)| {
                let rollouts = (0..ROLLOUTS).map(|_| {
                    let steps = steps * random.random_range(0.9..1.1);
                    let quality = quality * random.random_range(0.8..1.2);
                    directions.trajectory(random, steps, quality, idleness)
                });
                (name, rollouts.collect())
            })
            .collect();
        Self {
            features_csv: features_csv(&demonstrations),
            preferences_csv: preferences_csv(),
            policies_json: policies_json(&policies),
        }
    }
}

fn name(demonstration: usize) -> String {
    format!("demo-{:02}", demonstration + 1)
}

/// One line per demonstration, the worst first: id, length, features.
fn features_csv(demonstrations: &[Trajectory]) -> String {
    let mut text = String::from("id,length");
    for feature in 0..FEATURES {
        let _ = write!(text, ",f{feature}");
    }
    text.push('\n');
    for (index, trajectory) in demonstrations.iter().enumerate() {
        let _ = write!(text, "{},{}", name(index), trajectory.steps);
        for value in &trajectory.features {
            let _ = write!(text, ",{value:.6}");
        }
        text.push('\n');
    }
    text
}

/// Every pair of the ranking.
fn preferences_csv() -> String {
    let mut text = String::from("worse,better\n");
    for worse in 0..DEMONSTRATIONS {
        for better in worse + 1..DEMONSTRATIONS {
            let _ = writeln!(text, "{},{}", name(worse), name(better));
        }
    }
    text
}

fn policies_json(policies: &[(&str, Vec<Trajectory>)]) -> String {
    let mut text = String::from("{\n");
    for (index, (name, rollouts)) in policies.iter().enumerate() {
        let lengths: Vec<String> = rollouts.iter().map(|t| t.steps.to_string()).collect();
        let rows: Vec<String> = rollouts
            .iter()
            .map(|trajectory| {
                let row: Vec<String> = trajectory
                    .features
                    .iter()
                    .map(|v| format!("{v:.6}"))
                    .collect();
                format!("      [{}]", row.join(", "))
            })
            .collect();
        let comma = if index + 1 < policies.len() { "," } else { "" };
        let _ = write!(
            text,
            "  \"{name}\": {{\n    \"lengths\": [{}],\n    \"rollouts\": [\n{}\n    ]\n  }}{comma}\n",
            lengths.join(", "),
            rows.join(",\n")
        );
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_problem_has_the_promised_shape_and_depends_on_the_seed_only() {
        let problem = ExampleProblem::generate(1);
        assert_eq!(problem.features_csv.lines().count(), 13);
        assert!(
            problem
                .features_csv
                .lines()
                .all(|line| line.split(',').count() == 66)
        );
        assert_eq!(problem.preferences_csv.lines().count(), 67);
        let policies: serde_json::Value = serde_json::from_str(&problem.policies_json).unwrap();
        assert_eq!(policies.as_object().unwrap().len(), 4);
        assert_eq!(
            policies["waits"]["rollouts"][19].as_array().unwrap().len(),
            64
        );
        assert_eq!(
            problem.features_csv,
            ExampleProblem::generate(1).features_csv
        );
        assert_ne!(
            problem.features_csv,
            ExampleProblem::generate(2).features_csv
        );
    }
}
