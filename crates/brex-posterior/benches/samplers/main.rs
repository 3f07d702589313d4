//! How fast the samplers are: effective draws per second on the problems S, M and L, next to
//! nuts-rs with a hand-written gradient on the same target, and to the paper's walk. Everything
//! runs on one core; runs of different samplers take turns. nuts-rs is measured twice: with a
//! gradient tuned as far as that goes, and with the plain one (see `target.rs`).

mod agreement;
mod arguments;
mod check_l;
mod measure;
mod nuts;
mod summary;
mod target;
mod whitened;

use anyhow::{Context, Result};
use arguments::{Arguments, HELP};
use brex_core::{Matrix, Preferences};
use brex_posterior::{
    BenchmarkProblem, Prior, Problem, RandomWalk, benchmark_problem, sampler_by_name,
};
use measure::{Limit, Run};
use std::path::Path;
use summary::Summary;

fn main() -> Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    if arguments.help {
        print!("{HELP}");
        return Ok(());
    }
    if let Some(folder) = &arguments.write_to {
        return write_problems(&arguments, folder);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    if arguments.check_l {
        let (features, preferences) = load(&arguments, BenchmarkProblem::L)?;
        return check_l::check(&features, &preferences, arguments.seed);
    }
    for &which in &arguments.problems {
        let (features, preferences) = load(&arguments, which)?;
        let problem = Problem::new(&features, &preferences, Prior::Sphere, 1.0)?;
        let summaries = pool.install(|| measure_all(&arguments, which, &problem))?;
        if arguments.json {
            for summary in &summaries {
                println!("{}", summary.json(which, &summaries));
            }
            continue;
        }
        println!(
            "\n{}: {} trajectories, {} comparisons, {} features; CPU seconds of one core",
            which.name(),
            features.rows(),
            preferences.len(),
            features.cols()
        );
        println!("{}", summary::heading());
        for summary in &summaries {
            println!("{}", summary.line());
        }
        if let Some(line) = summaries.first().and_then(|s| s.comparison(&summaries)) {
            println!("{line}");
        }
    }
    Ok(())
}

/// How long a run is by default.
fn limit(arguments: &Arguments, which: BenchmarkProblem, sampler: &str) -> Limit {
    let (seconds, draws) = match (which, sampler) {
        (BenchmarkProblem::S, "nuts-rs" | "nuts-rs-plain") => (20.0, 24_000),
        (BenchmarkProblem::S, _) => (20.0, 100_000),
        (BenchmarkProblem::M, "nuts-rs" | "nuts-rs-plain") => (60.0, 6_000),
        (BenchmarkProblem::M, _) => (60.0, 100_000),
        (BenchmarkProblem::L, _) => (120.0, 4_000),
    };
    Limit {
        draws,
        seconds: arguments.seconds.unwrap_or(seconds),
    }
}

/// Runs every sampler in turn, as often as asked. One that runs out of time is not run again.
fn measure_all(
    arguments: &Arguments,
    which: BenchmarkProblem,
    problem: &Problem<'_>,
) -> Result<Vec<Summary>> {
    let mut runs: Vec<Vec<Run>> = vec![Vec::new(); arguments.samplers.len()];
    for turn in 0..arguments.runs as u64 {
        for (name, runs) in arguments.samplers.iter().zip(&mut runs) {
            if runs.last().is_some_and(|run| run.cut_short) {
                continue;
            }
            eprintln!("{} {name}, run {}", which.name(), turn + 1);
            let limit = limit(arguments, which, name);
            let seed = arguments.seed + turn;
            runs.push(match sampler_by_name(name) {
                Some(sampler) => measure::run_sampler(problem, sampler.as_ref(), seed, limit)?.0,
                None => measure::run_nuts(problem, name == "nuts-rs-plain", seed, limit)?,
            });
        }
    }
    let summaries = arguments.samplers.iter().zip(&runs).map(|(name, runs)| {
        let walk = name == "random-walk";
        Summary::of(name, runs, walk.then(|| RandomWalk::default().thinning))
    });
    Ok(summaries.collect())
}

fn load(arguments: &Arguments, which: BenchmarkProblem) -> Result<(Matrix, Preferences)> {
    let Some(folder) = &arguments.read_from else {
        return Ok(benchmark_problem(which, arguments.seed));
    };
    let folder = folder.join(which.name());
    let features = brex_store::read_features(folder.join("features.npy"))?;
    let file = brex_store::read_preferences(folder.join("preferences.csv"), &features)?;
    Ok((features.matrix().clone(), file.preferences))
}

fn write_problems(arguments: &Arguments, folder: &Path) -> Result<()> {
    for &which in &arguments.problems {
        let (features, preferences) = benchmark_problem(which, arguments.seed);
        let folder = folder.join(which.name());
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        brex_store::write_npy(folder.join("features.npy"), &features, true)?;
        let path = folder.join("preferences.csv");
        brex_store::write_preferences_csv(path, &preferences, None, true)?;
    }
    Ok(())
}
