//! Problems to measure and test samplers on.
//!
//! Three sizes: a ranking of a few demonstrations, as in the paper; some hundred trajectories with
//! thousands of comparisons; and a reward head on the features of a language model. Where truth is
//! needed it is a random direction, and comparisons follow the Bradley-Terry model of that truth.

use crate::algebra;
use crate::likelihood::sigmoid;
use brex_core::{Matrix, Preference, Preferences, Stream, stream};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Which benchmark problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchmarkProblem {
    /// 12 ranked demonstrations, all 66 pairs, 64 features: the paper's shape. Longer
    /// demonstrations are better ones, and all share a common direction.
    S,
    /// 200 trajectories, 5,000 of their pairs, 256 features with a power-law spectrum.
    M,
    /// 20,000 segments, 50,000 random pairs, 1,024 features with a power-law spectrum.
    L,
}

impl BenchmarkProblem {
    /// All of them, smallest first.
    pub const ALL: [Self; 3] = [Self::S, Self::M, Self::L];

    /// The letter it goes by.
    pub fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::M => "M",
            Self::L => "L",
        }
    }
}

/// Feature sums and comparisons of a benchmark problem. The same seed gives the same problem.
pub fn benchmark_problem(which: BenchmarkProblem, seed: u64) -> (Matrix, Preferences) {
    let random = &mut stream(seed, "benchmark problem", which as u64);
    match which {
        BenchmarkProblem::S => (
            ranked_demonstrations(12, 64, random),
            Preferences::full_ranking(12),
        ),
        BenchmarkProblem::M => {
            let features = power_law(200, 256, 2.0, random);
            let all = Preferences::full_ranking(200);
            let pairs: Vec<(usize, usize)> = rand::seq::index::sample(random, all.len(), 5000)
                .iter()
                .map(|index| (all.items()[index].a, all.items()[index].b))
                .collect();
            compare(features, &pairs, random)
        }
        BenchmarkProblem::L => {
            let rows = 20_000;
            let features = power_law(rows, 1024, 1.0, random);
            let pairs: Vec<(usize, usize)> = (0..50_000)
                .map(|_| {
                    let first = random.random_range(0..rows);
                    (first, (first + random.random_range(1..rows)) % rows)
                })
                .collect();
            compare(features, &pairs, random)
        }
    }
}

/// Demonstrations from worst to best: every step adds a direction that all share, one in proportion
/// to quality, and noise; better demonstrations live longer.
fn ranked_demonstrations(rows: usize, k: usize, random: &mut Stream) -> Matrix {
    let mut qualities: Vec<f64> = (0..rows).map(|_| random.random()).collect();
    qualities.sort_by(f64::total_cmp);
    let (common, good) = (unit_vector(k, random), unit_vector(k, random));
    let mut features = Matrix::zeros(rows, k);
    for (i, quality) in qualities.into_iter().enumerate() {
        let length = 1000.0 + 2000.0 * quality * (0.8 + 0.4 * random.random::<f64>());
        for (j, value) in features.row_mut(i).iter_mut().enumerate() {
            let noise = normal(random) / (k as f64).sqrt();
            *value = length * (0.03 * common[j] + 0.02 * quality * good[j] + 0.01 * noise);
        }
    }
    features
}

/// Normal features whose standard deviations fall with the square root of the direction's rank,
/// in a random orthogonal basis; `scale` is the root mean square of a feature.
fn power_law(rows: usize, k: usize, scale: f64, random: &mut Stream) -> Matrix {
    let mean_square = (1..=k).map(|rank| 1.0 / rank as f64).sum::<f64>() / k as f64;
    let spectrum: Vec<f64> = (1..=k)
        .map(|rank| scale / (rank as f64 * mean_square).sqrt())
        .collect();
    let rotation = rotation(k, random);
    let along = Matrix::from_fn(rows, k, |_, j| spectrum[j] * normal(random));
    algebra::product(&along, &rotation)
}

/// An orthogonal matrix from the QR decomposition of a normal one.
fn rotation(k: usize, random: &mut Stream) -> Matrix {
    let normals = faer::Mat::from_fn(k, k, |_, _| normal(random));
    faer::set_global_parallelism(faer::Par::Seq);
    let q = normals.qr().compute_thin_Q();
    Matrix::from_fn(k, k, |i, j| q[(i, j)])
}

/// Answers the comparisons by the Bradley-Terry model of a random truth.
fn compare(
    features: Matrix,
    pairs: &[(usize, usize)],
    random: &mut Stream,
) -> (Matrix, Preferences) {
    let returns = features.times(&unit_vector(features.cols(), random));
    let answers = pairs.iter().map(|&(first, second)| {
        if random.random::<f64>() < sigmoid(returns[second] - returns[first]) {
            Preference::strict(first, second)
        } else {
            Preference::strict(second, first)
        }
    });
    let preferences = Preferences::new(features.rows(), answers.collect())
        .expect("both rows of every pair exist and differ");
    (features, preferences)
}

fn unit_vector(k: usize, random: &mut Stream) -> Vec<f64> {
    let vector: Vec<f64> = (0..k).map(|_| normal(random)).collect();
    let length = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    vector.iter().map(|v| v / length).collect()
}

fn normal(random: &mut Stream) -> f64 {
    random.sample(StandardNormal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_as_stated_and_seeds_repeat() {
        for (which, rows, cols, pairs) in [
            (BenchmarkProblem::S, 12, 64, 66),
            (BenchmarkProblem::M, 200, 256, 5000),
        ] {
            let (features, preferences) = benchmark_problem(which, 7);
            assert_eq!((features.rows(), features.cols()), (rows, cols));
            assert_eq!(preferences.len(), pairs);
            assert_eq!((features.clone(), preferences), benchmark_problem(which, 7));
            assert_ne!(features, benchmark_problem(which, 8).0);
        }
    }

    #[test]
    fn pairs_of_m_are_distinct_and_answers_can_contradict_the_truth() {
        let (_, preferences) = benchmark_problem(BenchmarkProblem::M, 1);
        let mut pairs: Vec<_> = preferences
            .items()
            .iter()
            .map(|p| (p.a.min(p.b), p.a.max(p.b)))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 5000);
        let turned = preferences.items().iter().filter(|p| p.a > p.b).count();
        assert!((2000..3000).contains(&turned), "{turned} of 5000 turned");
    }

    #[test]
    fn the_spectrum_falls_as_stated_and_the_basis_is_orthogonal() {
        let random = &mut stream(3, "test", 0);
        let basis = rotation(20, random);
        let identity = algebra::transposed_product(&basis, &basis);
        for i in 0..20 {
            for j in 0..20 {
                let expected = f64::from(u8::from(i == j));
                assert!((identity.row(i)[j] - expected).abs() < 1e-12);
            }
        }
        let features = power_law(4000, 8, 2.0, random);
        let mut covariance = algebra::transposed_product(&features, &features);
        covariance
            .as_mut_slice()
            .iter_mut()
            .for_each(|v| *v /= 4000.0);
        let (mut variances, _) = algebra::symmetric_eigen(&covariance).unwrap();
        variances.reverse();
        let total: f64 = variances.iter().sum();
        assert!(
            (total / 8.0 - 4.0).abs() < 0.3,
            "mean square {}",
            total / 8.0
        );
        for (rank, variance) in variances.iter().enumerate() {
            let ratio = variances[0] / variance / (rank + 1) as f64;
            assert!((0.8..1.25).contains(&ratio), "direction {rank}: {ratio}");
        }
    }

    #[test]
    fn the_feature_sums_of_s_are_long() {
        let (features, _) = benchmark_problem(BenchmarkProblem::S, 7);
        for row in features.iter_rows() {
            let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!((25.0..150.0).contains(&length), "{length}");
        }
    }
}
