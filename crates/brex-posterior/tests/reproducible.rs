//! The same seed gives the same draws: on any number of threads, and whether or not the run was
//! interrupted.

use brex_core::{Matrix, Preferences};
use brex_posterior::{
    BenchmarkProblem, EllipticalSlice, Hmc, Length, Prior, Problem, RandomWalk, Run, SampleError,
    SampleOptions, Sampled, Sampler, Stage, benchmark_problem, sample,
};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

const PRIORS: [Prior; 3] = [
    Prior::Sphere,
    Prior::NonNegative { lowest: 0 },
    Prior::Gaussian { scale: 1.0 },
];

fn samplers() -> [Box<dyn Sampler>; 3] {
    let walk = RandomWalk {
        burn_in: 50,
        thinning: 2,
        ..RandomWalk::default()
    };
    [
        Box::new(Hmc::default()),
        Box::new(walk),
        Box::new(EllipticalSlice),
    ]
}

fn options(chains: usize, draws_each: usize, seed: u64) -> SampleOptions {
    SampleOptions {
        chains: Some(chains),
        length: Length::Exactly(chains * draws_each),
        seed,
        ..SampleOptions::default()
    }
}

fn run(
    problem: &Problem<'_>,
    sampler: &dyn Sampler,
    options: &SampleOptions,
    previous: Option<Sampled>,
) -> Run {
    sample(problem, sampler, options, previous, &|_| {
        ControlFlow::Continue(())
    })
    .unwrap_or_else(|error| panic!("{}: {error}", sampler.name()))
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().expect("threads can be made").install(work)
}

/// The paper's shape, and one in few dimensions, which the Hamiltonian sampler treats differently.
fn small_problems() -> [(Matrix, Preferences); 2] {
    let (features, _) = benchmark_problem(BenchmarkProblem::S, 7);
    let narrow = Matrix::from_fn(12, 5, |i, j| features.row(i)[j]);
    [
        (features, Preferences::full_ranking(12)),
        (narrow, Preferences::full_ranking(12)),
    ]
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for (features, preferences) in small_problems() {
        for prior in PRIORS {
            let problem = Problem::new(&features, &preferences, prior, 1.0).unwrap();
            for sampler in samplers() {
                let with = |threads| {
                    let options = options(40, 12, 3);
                    on_threads(threads, || {
                        run(&problem, sampler.as_ref(), &options, None).sampled
                    })
                };
                let one = with(1);
                assert!(one == with(2), "{} {}", sampler.name(), prior.name());
                assert!(one == with(5), "{} {}", sampler.name(), prior.name());
            }
        }
    }
}

#[test]
fn products_that_are_shared_among_threads_change_nothing() {
    // 1,200 x 256 x 16 lanes: more multiplications than one thread is left alone with.
    let (some, _) = benchmark_problem(BenchmarkProblem::M, 7);
    let features = Matrix::from_fn(1200, 256, |i, j| {
        some.row(i % 200)[(j + i / 200) % 256] / 4.0
    });
    let items = Preferences::full_ranking(60).items().to_vec();
    let spread = items.iter().enumerate().map(|(index, p)| {
        brex_core::Preference::strict(p.a + index % 20 * 60, p.b + index % 19 * 60)
    });
    let preferences =
        Preferences::new(1200, spread.filter(|p| p.a != p.b).collect()).expect("rows exist");
    for prior in PRIORS {
        let problem = Problem::new(&features, &preferences, prior, 1.0).unwrap();
        let with = |threads| {
            on_threads(threads, || {
                run(&problem, &Hmc::default(), &options(16, 3, 3), None).sampled
            })
        };
        let one = with(1);
        assert!(one == with(2), "{}", prior.name());
        assert!(one == with(5), "{}", prior.name());
    }
}

#[test]
fn an_interrupted_run_continues_as_if_nothing_had_happened() {
    for (features, preferences) in small_problems() {
        for prior in PRIORS {
            let problem = Problem::new(&features, &preferences, prior, 1.0).unwrap();
            for sampler in samplers() {
                for chains in [1, 8, 16, 20] {
                    let whole = run(&problem, sampler.as_ref(), &options(chains, 31, 5), None);
                    let part = run(&problem, sampler.as_ref(), &options(chains, 9, 5), None);
                    let rest = run(
                        &problem,
                        sampler.as_ref(),
                        &options(chains, 31, 5),
                        Some(part.sampled),
                    );
                    let context = format!("{} {} {chains}", sampler.name(), prior.name());
                    assert!(whole.sampled == rest.sampled, "{context} chains");
                }
            }
        }
    }
}

#[test]
fn another_seed_gives_other_draws() {
    let [(features, preferences), _] = small_problems();
    let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap();
    for sampler in samplers() {
        let with = |seed| run(&problem, sampler.as_ref(), &options(4, 5, seed), None).sampled;
        let (one, other) = (with(1), with(2));
        let pairs = one.draws.as_slice().iter().zip(other.draws.as_slice());
        assert_eq!(pairs.filter(|(a, b)| a == b).count(), 0);
        // Nor do the chains of one run repeat each other.
        assert_ne!(one.draws.get(0, 0), one.draws.get(1, 0));
    }
}

#[test]
fn a_watcher_can_stop_at_any_stage() {
    let [(features, preferences), _] = small_problems();
    let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap();
    for sampler in samplers() {
        for stage in [Stage::SetUp, Stage::WarmUp] {
            if sampler.name() != "hmc" && stage == Stage::SetUp {
                continue;
            }
            let watch = |progress: &brex_posterior::Progress| {
                if progress.stage == stage {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let stopped = sample(
                &problem,
                sampler.as_ref(),
                &options(16, 400, 1),
                None,
                &watch,
            );
            assert_eq!(stopped.err(), Some(SampleError::Stopped), "{stage:?}");
        }
        let seen = AtomicUsize::new(0);
        let watch = |progress: &brex_posterior::Progress| {
            let sampling = progress.stage == Stage::Sampling;
            if sampling && seen.fetch_add(1, Ordering::Relaxed) == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = options(16, 100_000, 1);
        let stopped = sample(&problem, sampler.as_ref(), &options, None, &watch).unwrap();
        assert!(stopped.stopped);
        let sampled = stopped.sampled;
        assert_eq!(sampled.draws.chains(), 16);
        assert!((1..100_000).contains(&sampled.draws.draws_per_chain()));
        assert_eq!(sampled.log_likelihood.len(), sampled.draws.len());
        assert_eq!(sampled.acceptance.len(), sampled.draws.len());
        assert_eq!(sampled.diverging.len(), sampled.draws.len());
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_as_if_it_had_not_been() {
    let [(features, preferences), _] = small_problems();
    let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0).unwrap();
    for sampler in samplers() {
        let seen = AtomicUsize::new(0);
        let watch = |progress: &brex_posterior::Progress| {
            let sampling = progress.stage == Stage::Sampling;
            if sampling && seen.fetch_add(1, Ordering::Relaxed) == 1 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = options(16, 25, 1);
        let part = sample(&problem, sampler.as_ref(), &options, None, &watch).unwrap();
        assert!(part.stopped && part.sampled.draws.draws_per_chain() < 25);
        let rest = run(&problem, sampler.as_ref(), &options, Some(part.sampled));
        let whole = run(&problem, sampler.as_ref(), &options, None);
        assert!(rest.sampled == whole.sampled, "{}", sampler.name());
    }
}
