//! Every sampler against exact posteriors: with two or three weights the posterior can be
//! integrated to as many digits as one likes.
//!
//! For every problem, prior and sampler, and for each weight and return, at 100,000 effective
//! draws: |z| < 4 for the mean and for the probability below the exact 5 % quantile, and the
//! standard deviation within 1 %.

mod compare;
mod exact;
mod prior_only;
mod problems;

use brex_posterior::{EllipticalSlice, Hmc, RandomWalk, Sampler};
use compare::{Comparison, compare};
use exact::{Law, law};
use problems::{Case, cases};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Every case with the exact laws by prior, then by function of the weights.
fn grids() -> &'static [(Case, Vec<Vec<Law>>)] {
    static GRIDS: OnceLock<Vec<(Case, Vec<Vec<Law>>)>> = OnceLock::new();
    GRIDS.get_or_init(|| {
        let with_laws = |case: Case| {
            let vectors = case.vectors();
            let laws = case.priors().map(|prior| {
                let problem = case.problem(prior);
                vectors.par_iter().map(|v| law(&problem, v, 1.0)).collect()
            });
            (case, laws.to_vec())
        };
        cases().into_par_iter().map(with_laws).collect()
    })
}

fn check(sampler_for: impl Fn(&Case) -> Box<dyn Sampler> + Sync, chains: usize) {
    let jobs: Vec<(usize, usize)> = (0..grids().len())
        .flat_map(|case| [(case, 0), (case, 1), (case, 2)])
        .collect();
    let found: Vec<Result<Vec<Comparison>, String>> = jobs
        .par_iter()
        .map(|&(index, prior)| {
            let (case, laws) = &grids()[index];
            let problem = case.problem(case.priors()[prior]);
            let sampler = sampler_for(case);
            compare(
                &problem,
                sampler.as_ref(),
                chains,
                &case.vectors(),
                &laws[prior],
                1,
            )
        })
        .collect();
    let mut failures = Vec::new();
    for ((index, prior), found) in jobs.into_iter().zip(found) {
        let case = &grids()[index].0;
        let prior = case.priors()[prior].name();
        let found = match found {
            Ok(found) => found,
            Err(reason) => {
                println!("{:28} {prior:12} {reason}", case.name);
                failures.push(format!("{} {prior}: {reason}", case.name));
                continue;
            }
        };
        let worst =
            |part: fn(&Comparison) -> f64| found.iter().map(|c| part(c).abs()).fold(0.0, f64::max);
        let line = format!(
            "{:28} {prior:12} mean z {:5.2}  quantile z {:5.2}  sd {:6.3} %",
            case.name,
            worst(|c| c.mean_z),
            worst(|c| c.quantile_z),
            100.0 * worst(|c| c.sd_excess),
        );
        println!("{line}");
        if !found.iter().all(Comparison::passes) {
            failures.push(format!("{line}\n{found:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn hamiltonian_draws_have_the_exact_law() {
    check(|_| Box::new(Hmc::default()), 16);
}

#[test]
fn the_random_walk_has_the_exact_law() {
    let walk = |case: &Case| -> Box<dyn Sampler> {
        Box::new(RandomWalk {
            step: case.step,
            burn_in: 5000,
            thinning: 1,
        })
    };
    check(walk, 4);
}

#[test]
fn elliptical_slices_have_the_exact_law() {
    check(|_| Box::new(EllipticalSlice), 8);
}

#[test]
fn more_points_change_nothing() {
    for case in cases() {
        // The plane of three weights is slow with more points; two weights show the same.
        let slow = case.features.cols() == 3;
        for (prior, laws) in case.priors().iter().zip(&grids()[index_of(&case)].1) {
            if slow && !prior.is_on_sphere() {
                continue;
            }
            let problem = case.problem(*prior);
            for (vector, coarse) in case.vectors().iter().zip(laws).take(4) {
                let fine = law(&problem, vector, 1.6);
                let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * coarse.sd;
                assert!(
                    near(coarse.mean, fine.mean)
                        && near(coarse.sd, fine.sd)
                        && near(coarse.q05, fine.q05),
                    "{} {}: {coarse:?}, finer {fine:?}",
                    case.name,
                    prior.name()
                );
            }
        }
    }
}

fn index_of(case: &Case) -> usize {
    let named = |(other, _): &(Case, _)| other.name == case.name;
    grids()
        .iter()
        .position(named)
        .expect("every case has a grid")
}
