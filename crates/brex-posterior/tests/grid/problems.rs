//! Problems with two or three weights, whose posteriors can be integrated.

use brex_core::{Matrix, Preference, Preferences, stream};
use brex_posterior::{Prior, Problem};
use rand::RngExt;
use rand_distr::StandardNormal;

/// `3 * default_rng(3).standard_normal((3, 3))` of numpy: the benchmark problem K3a, of rank 2.
const K3A: [[f64; 3]; 3] = [
    [6.1227573641555475, -7.666995093942545, 1.2542965401773365],
    [
        -1.7033088183837894,
        -1.3579478763313375,
        -0.6467914892692976,
    ],
    [-6.059958387441753, -0.6957971329325684, -2.595639228824825],
];

/// `2 * standard_normal((6, 3))` from the same generator: the benchmark problem K3b, of rank 3.
const K3B: [[f64; 3]; 6] = [
    [6.645999033289765, 0.4515732264558435, -0.7052615886831908],
    [
        -0.5625748363027008,
        -1.3360926922179002,
        -2.1103011024102427,
    ],
    [-0.7816019544693095, 0.9638907770135717, -0.4771072131467334],
    [1.9155174059195281, -0.39960425813316, 0.048519130153329246],
    [3.091641702425624, 1.0902110453752891, -1.010457471228036],
    [-0.3656779491954698, 1.0810502635096042, 3.8701760681977055],
];

/// A problem without its prior.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) features: Matrix,
    pub(crate) preferences: Preferences,
    pub(crate) beta: f64,
    /// The standard deviation of the Gaussian prior.
    pub(crate) scale: f64,
    /// The row of the half-space prior. Where the data contradict the half-space, a rare second mode
    /// makes standard deviations hard to measure; such rows are avoided.
    pub(crate) lowest: usize,
    /// The step of the random walk: the paper's is made for 64 weights.
    pub(crate) step: f64,
}

impl Case {
    fn new(name: &'static str, features: Matrix, items: Vec<Preference>) -> Self {
        let preferences = Preferences::new(features.rows(), items).expect("rows exist and differ");
        Self {
            name,
            features,
            preferences,
            beta: 1.0,
            scale: 0.5,
            lowest: 0,
            step: 0.5,
        }
    }

    fn ranked(name: &'static str, features: Matrix) -> Self {
        let items = Preferences::full_ranking(features.rows()).items().to_vec();
        Self::new(name, features, items)
    }

    /// The three priors.
    pub(crate) fn priors(&self) -> [Prior; 3] {
        let (scale, lowest) = (self.scale, self.lowest);
        [
            Prior::Sphere,
            Prior::NonNegative { lowest },
            Prior::Gaussian { scale },
        ]
    }

    pub(crate) fn problem(&self, prior: Prior) -> Problem<'_> {
        Problem::new(&self.features, &self.preferences, prior, self.beta)
            .expect("the parts fit together")
    }

    /// The vectors whose products with the weights are looked at: one per weight, and the feature
    /// sums of the trajectories (at most eight).
    pub(crate) fn vectors(&self) -> Vec<Vec<f64>> {
        let k = self.features.cols();
        let axis = |j: usize| (0..k).map(|i| f64::from(u8::from(i == j))).collect();
        let step = self.features.rows().div_ceil(8);
        let rows = self.features.iter_rows().step_by(step).map(<[f64]>::to_vec);
        (0..k).map(axis).chain(rows).collect()
    }
}

fn normal(rows: usize, cols: usize, scale: f64, index: u64) -> Matrix {
    let mut random = stream(11, "grid", index);
    Matrix::from_fn(rows, cols, |_, _| {
        scale * random.sample::<f64, _>(StandardNormal)
    })
}

fn scaled(features: &Matrix, factor: f64) -> Matrix {
    Matrix::from_fn(features.rows(), features.cols(), |i, j| {
        factor * features.row(i)[j]
    })
}

/// Rows that differ along one direction only, and lie off the origin.
fn on_a_line(rows: usize, k: usize) -> Matrix {
    let direction = [1.1, -0.7, 0.4];
    let offset = [0.5, 1.5, -1.0];
    Matrix::from_fn(rows, k, |i, j| offset[j] + i as f64 * direction[j])
}

/// Ties, soft labels and weights, one comparison for each pair of neighbours and one further on.
fn soft(rows: usize) -> Vec<Preference> {
    (0..rows)
        .flat_map(|a| [(a, (a + 1) % rows), (a, (a + 2) % rows)])
        .enumerate()
        .map(|(index, (a, b))| Preference {
            a,
            b,
            label: [1.0, 0.5, 0.2, 0.9][index % 4],
            weight: [1.0, 3.0, 0.25, 1.5, 0.0][index % 5],
        })
        .collect()
}

pub(crate) fn cases() -> Vec<Case> {
    let k3a = Matrix::from_fn(3, 3, |i, j| K3A[i][j]);
    let k3b = Matrix::from_fn(6, 3, |i, j| K3B[i][j]);
    let both_ways: Vec<Preference> = Preferences::full_ranking(6)
        .items()
        .iter()
        .flat_map(|p| [*p, Preference::strict(p.b, p.a)])
        .collect();
    let sparse: Vec<Preference> = (0..40)
        .map(|i| Preference::strict(i % 20, (i * 7 + 3) % 20))
        .filter(|p| p.a != p.b)
        .collect();
    vec![
        Case::ranked("K3a", k3a.clone()),
        Case::ranked("K3b", k3b.clone()),
        Case {
            scale: 1.5,
            lowest: 1,
            step: 1.0,
            ..Case::ranked("two weights, rank 1", on_a_line(3, 2))
        },
        Case {
            scale: 1.0,
            lowest: 4,
            ..Case::new("two weights, rank 2, soft", normal(5, 2, 1.5, 0), soft(5))
        },
        Case {
            scale: 1.0,
            ..Case::ranked("three weights, rank 1", on_a_line(4, 3))
        },
        Case {
            beta: 0.6,
            lowest: 4,
            ..Case::new("three weights, rank 3, soft", normal(7, 3, 1.5, 1), soft(7))
        },
        Case {
            scale: 0.02,
            step: 0.05,
            ..Case::ranked("K3a, features x 20", scaled(&k3a, 20.0))
        },
        Case {
            scale: 1.0,
            lowest: 3,
            step: 0.05,
            ..Case::ranked("two weights, features x 20", normal(4, 2, 20.0, 2))
        },
        Case {
            scale: 1.0,
            step: 1.0,
            ..Case::ranked("K3b, nearly flat", scaled(&k3b, 0.01))
        },
        Case {
            scale: 1.0,
            ..Case::new("K3b, contradictory", scaled(&k3b, 0.3), both_ways)
        },
        Case {
            step: 0.4,
            ..Case::new("twenty trajectories", normal(20, 3, 1.0, 3), sparse)
        },
    ]
}
