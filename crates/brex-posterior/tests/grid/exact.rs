//! The exact law of a linear function of the weights, for two or three weights, by quadrature.
//!
//! The first coordinate runs along the function's own vector, so that its law is a density in one
//! dimension: on the sphere of the angle `t` to the vector (`w . v = -|v| cos t`), under the Gaussian
//! prior of the component along it. The other coordinates are integrated out at every point: a sum
//! over two points (two weights), a periodic trapezoid over the circle or Gauss-Legendre over the
//! arc inside the half-space (three weights), a trapezoid over the line or plane (Gaussian). All
//! these rules converge exponentially; how many points they need follows from how steep the
//! likelihood is. Nothing here uses the likelihood or the subspaces of the crate.

use brex_core::Preference;
use brex_posterior::{Prior, Problem};
use std::f64::consts::{PI, TAU};

/// Nodes and weights of the eight-point Gauss-Legendre rule on -1 to 1, the positive half.
const HALF_RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Under the Gaussian prior nothing is farther out than this many standard deviations.
const EDGE: f64 = 7.5;

/// The law of one function of the weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Law {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    /// The 5 % quantile.
    pub(crate) q05: f64,
    /// The fourth central moment over the fourth power of the standard deviation: 3 if normal.
    pub(crate) kurtosis: f64,
}

/// Node and weight number `index` of the rule on 0 to 1.
fn rule(index: usize) -> (f64, f64) {
    let (node, weight) = HALF_RULE[index % 4];
    let node = if index < 4 { -node } else { node };
    (0.5 + 0.5 * node, 0.5 * weight)
}

/// A problem in coordinates whose first runs along a vector.
struct Turned<'a> {
    preferences: &'a [Preference],
    /// `beta` times the feature sums in the new coordinates; unused ones are zero.
    rows: Vec<[f64; 3]>,
    k: usize,
    /// The standard deviation of the Gaussian prior.
    scale: Option<f64>,
    half_space: Option<[f64; 3]>,
    /// Subtracted from every log likelihood, so that none overflows and few vanish.
    reference: f64,
    /// How many points a unit of length needs.
    steepness: f64,
}

/// The exact law of `w . vector`; `finer` multiplies the number of points in each dimension.
pub(crate) fn law(problem: &Problem<'_>, vector: &[f64], finer: f64) -> Law {
    let turned = Turned::new(problem, vector);
    let length = norm(vector) * turned.scale.unwrap_or(1.0);
    let panels = turned.density(finer);
    let moment = |power: i32, about: f64| -> f64 {
        let nodes = panels.iter().flat_map(Panel::nodes);
        nodes
            .map(|node| node.mass * (length * node.value - about).powi(power))
            .sum()
    };
    let total = moment(0, 0.0);
    let mean = moment(1, 0.0) / total;
    let variance = moment(2, mean) / total;
    Law {
        mean,
        sd: variance.sqrt(),
        q05: length * quantile(&panels, 0.05 * total),
        kurtosis: moment(4, mean) / total / (variance * variance),
    }
}

/// A part of the range of the first coordinate with the density at the nodes of the rule.
struct Panel {
    segment: (f64, f64),
    start: f64,
    width: f64,
    density: [f64; 8],
    on_sphere: bool,
}

struct Node {
    value: f64,
    mass: f64,
}

/// Within a segment, `u` from 0 to 1 is bent so that square roots at its ends become smooth.
fn bend((from, to): (f64, f64), u: f64) -> (f64, f64) {
    let t = from + (to - from) * u * u * (3.0 - 2.0 * u);
    (t, (to - from) * 6.0 * u * (1.0 - u))
}

impl Panel {
    /// What the function is at a place of the panel, over the length of its vector.
    fn value(&self, u: f64) -> f64 {
        let (t, _) = bend(self.segment, u);
        if self.on_sphere { -t.cos() } else { t }
    }

    fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        (0..8).map(|index| {
            let (node, weight) = rule(index);
            Node {
                value: self.value(self.start + self.width * node),
                mass: self.width * weight * self.density[index],
            }
        })
    }

    fn mass(&self) -> f64 {
        self.nodes().map(|node| node.mass).sum()
    }

    /// The mass up to `part` (0 to 1) of the panel, from the polynomial through the nodes.
    fn mass_below(&self, part: f64) -> f64 {
        let interpolated = |at: f64| -> f64 {
            (0..8)
                .map(|i| {
                    let others = (0..8).filter(|j| *j != i);
                    let basis: f64 = others
                        .map(|j| (at - rule(j).0) / (rule(i).0 - rule(j).0))
                        .product();
                    basis * self.density[i]
                })
                .sum()
        };
        let sum: f64 = (0..8)
            .map(|index| rule(index).1 * interpolated(part * rule(index).0))
            .sum();
        self.width * part * sum
    }
}

fn quantile(panels: &[Panel], mut wanted: f64) -> f64 {
    for panel in panels {
        let mass = panel.mass();
        if wanted <= mass {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if panel.mass_below(middle) < wanted {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            return panel.value(panel.start + panel.width * low);
        }
        wanted -= mass;
    }
    panic!("the masses of the panels add up to the total");
}

impl<'a> Turned<'a> {
    fn new(problem: &Problem<'a>, vector: &[f64]) -> Self {
        let k = vector.len();
        let basis = basis_along(vector);
        let turn = |row: &[f64], factor: f64| {
            let mut out = [0.0; 3];
            for (out, direction) in out.iter_mut().zip(&basis) {
                *out = factor * row.iter().zip(direction).map(|(a, b)| a * b).sum::<f64>();
            }
            out
        };
        let scale = match problem.prior() {
            Prior::Gaussian { scale } => Some(scale),
            Prior::Sphere | Prior::NonNegative { .. } => None,
        };
        let features = problem.features();
        let rows: Vec<[f64; 3]> = features
            .iter_rows()
            .map(|row| turn(row, problem.beta()))
            .collect();
        let gap = |p: &Preference| {
            let difference: Vec<f64> = (0..3).map(|i| rows[p.b][i] - rows[p.a][i]).collect();
            norm(&difference)
        };
        let items = problem.preferences().items();
        let steepest = items.iter().map(gap).fold(0.0, f64::max);
        let mut turned = Self {
            preferences: items,
            k,
            scale,
            half_space: match problem.prior() {
                Prior::NonNegative { lowest } => Some(turn(features.row(lowest), 1.0)),
                Prior::Sphere | Prior::Gaussian { .. } => None,
            },
            reference: 0.0,
            steepness: scale.unwrap_or(1.0) * steepest,
            rows,
        };
        turned.reference = turned.highest();
        turned
    }

    /// Roughly the largest log likelihood, from a coarse scan of where the prior puts its mass.
    fn highest(&self) -> f64 {
        let mut best = f64::NEG_INFINITY;
        for i in 0..=60 {
            for j in 0..60 {
                let (t, turn) = (PI * f64::from(i) / 60.0, TAU * f64::from(j) / 60.0);
                let around = if self.k == 2 {
                    [1.0, 0.0]
                } else {
                    [turn.cos(), turn.sin()]
                };
                let length = self.scale.map_or(1.0, |scale| 3.0 * scale);
                let across = length * t.sin();
                let w = [-length * t.cos(), across * around[0], across * around[1]];
                best = best.max(self.log_likelihood(w));
            }
        }
        best
    }

    fn log_likelihood(&self, w: [f64; 3]) -> f64 {
        let log_sigmoid = |g: f64| g.min(0.0) - (-g.abs()).exp().ln_1p();
        self.preferences
            .iter()
            .map(|p| {
                let (a, b) = (&self.rows[p.a], &self.rows[p.b]);
                let g: f64 = (0..3).map(|i| w[i] * (b[i] - a[i])).sum();
                // log sigma(-g) = log sigma(g) - g.
                p.weight * (log_sigmoid(g) - (1.0 - p.label) * g)
            })
            .sum()
    }

    fn likelihood(&self, w: [f64; 3]) -> f64 {
        (self.log_likelihood(w) - self.reference).exp()
    }

    /// The density of the first coordinate, in panels.
    fn density(&self, finer: f64) -> Vec<Panel> {
        let (edges, per_unit) = match self.scale {
            Some(_) => (vec![-EDGE, EDGE], (0.35 * self.steepness).max(2.5)),
            None => (self.kinks(), (0.4 * self.steepness).max(12.0)),
        };
        let mut panels = Vec::new();
        for ends in edges.windows(2) {
            let segment = (ends[0], ends[1]);
            let count = (finer * per_unit * (ends[1] - ends[0])).ceil().max(4.0);
            for panel in 0..count as usize {
                let mut panel = Panel {
                    segment,
                    start: panel as f64 / count,
                    width: 1.0 / count,
                    density: [0.0; 8],
                    on_sphere: self.scale.is_none(),
                };
                for index in 0..8 {
                    let u = panel.start + panel.width * rule(index).0;
                    let (t, stretch) = bend(segment, u);
                    panel.density[index] = stretch * self.density_at(t, finer);
                }
                panels.push(panel);
            }
        }
        panels
    }

    /// Where the density on the sphere is not smooth: the ends, and where the wall of the
    /// half-space touches the circle around the vector.
    fn kinks(&self) -> Vec<f64> {
        let mut edges = vec![0.0, PI];
        if let Some(wall) = self.half_space {
            let across = norm(&wall[1..]);
            let touch = (across / norm(&wall)).acos();
            edges.extend([touch, PI - touch]);
        }
        edges.sort_by(f64::total_cmp);
        edges.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
        edges
    }

    fn density_at(&self, t: f64, finer: f64) -> f64 {
        match self.scale {
            None if self.k == 2 => [-1.0, 1.0]
                .into_iter()
                .map(|side| [-t.cos(), side * t.sin(), 0.0])
                .filter(|w| self.is_inside(*w))
                .map(|w| self.likelihood(w))
                .sum(),
            None => t.sin() * self.circle(t, finer),
            Some(scale) => self.plane(t, scale, finer),
        }
    }

    fn is_inside(&self, w: [f64; 3]) -> bool {
        self.half_space
            .is_none_or(|wall| (0..3).map(|i| w[i] * wall[i]).sum::<f64>() >= 0.0)
    }

    /// The likelihood on the circle at angle `t` from the vector, integrated inside the half-space.
    fn circle(&self, t: f64, finer: f64) -> f64 {
        let at =
            |turn: f64| self.likelihood([-t.cos(), t.sin() * turn.cos(), t.sin() * turn.sin()]);
        let count = (finer * 6.0 * self.steepness).max(64.0).ceil();
        let (middle, half) = match self.half_space {
            None => (0.0, PI),
            Some(wall) => {
                let across = t.sin() * norm(&wall[1..]);
                let half = (t.cos() * wall[0] / across).clamp(-1.0, 1.0).acos();
                (wall[2].atan2(wall[1]), half)
            }
        };
        if half == PI {
            let step = TAU / count;
            return step
                * (0..count as usize)
                    .map(|i| at(step * i as f64))
                    .sum::<f64>();
        }
        let parts = (count * half / PI / 4.0).ceil().max(4.0);
        let width = 2.0 * half / parts;
        let mut sum = 0.0;
        for part in 0..parts as usize {
            for index in 0..8 {
                let (node, weight) = rule(index);
                let turn = middle - half + width * (part as f64 + node);
                sum += width * weight * at(turn);
            }
        }
        sum
    }

    /// The likelihood and the prior at component `t`, integrated over the other components.
    fn plane(&self, t: f64, scale: f64, finer: f64) -> f64 {
        let step = (1.6 / self.steepness).min(0.5) / finer;
        let most = (EDGE / step).ceil() as i64;
        let normal = |square: f64| (-0.5 * square).exp();
        let mut sum = 0.0;
        for i in -most..=most {
            let p = step * i as f64;
            let range = if self.k == 2 { 0..=0 } else { -most..=most };
            for j in range {
                let q = step * j as f64;
                if p * p + q * q <= EDGE * EDGE {
                    let w = [scale * t, scale * p, scale * q];
                    sum += normal(t * t + p * p + q * q) * self.likelihood(w);
                }
            }
        }
        sum
    }
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// An orthonormal basis whose first vector points along `vector`.
fn basis_along(vector: &[f64]) -> Vec<Vec<f64>> {
    let k = vector.len();
    let mut basis: Vec<Vec<f64>> = vec![vector.iter().map(|v| v / norm(vector)).collect()];
    while basis.len() < k {
        // Of the axes, that which is farthest from the span so far.
        let rest = |axis: usize| {
            let mut rest: Vec<f64> = (0..k).map(|i| f64::from(u8::from(i == axis))).collect();
            for direction in basis.iter().chain(&basis) {
                let along: f64 = rest.iter().zip(direction).map(|(a, b)| a * b).sum();
                for (value, part) in rest.iter_mut().zip(direction) {
                    *value -= along * part;
                }
            }
            rest
        };
        let next = (0..k)
            .map(rest)
            .max_by(|a, b| norm(a).total_cmp(&norm(b)))
            .expect("there is an axis");
        let length = norm(&next);
        basis.push(next.iter().map(|v| v / length).collect());
    }
    basis
}
