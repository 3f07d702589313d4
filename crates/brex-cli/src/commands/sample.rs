//! `brex sample`: from features and preferences to draws of the reward weights, and whether they
//! can be trusted.

use super::sampling_report::{SampleReport, SummaryInputs};
use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::honesty::policies_of;
use crate::input::{InputFiles, ModelFlags, positive, probability};
use crate::interrupt;
use crate::progress::Progress;
use crate::run_directory::{KeepLogLikelihood, RunDirectory, fingerprint, read_to_resume};
use crate::run_files::RunFiles;
use crate::sharpness::Sharpness;
use crate::terminal::{Style, json_text, print, printable, say, warn};
use anyhow::Result;
use brex_core::Policy;
use brex_posterior::{
    EllipticalSlice, Hmc, Length, Prior, Problem, RandomWalk, SampleOptions, Sampler, Stage, sample,
};
use brex_store::{AtomicDir, read_policies, read_run_features};
use serde_json::{Map, json};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Draw reward weights from the posterior
///
/// By default sampling goes on until every weight and every watched return has R-hat below 1.01 and
/// 400 effective draws, or the budget is spent; then the verdict is "not converged" and the exit
/// code is 3. Ctrl-C ends sampling early and keeps what there is.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) files: InputFiles,
    /// The directory to write; it appears when it is complete [of a run directory: posterior]
    #[arg(long, value_name = "DIR", required_unless_present = "run")]
    pub(crate) out: Option<PathBuf>,
    /// Replace an existing directory that brex wrote
    #[arg(long)]
    pub(crate) force: bool,
    /// Go on from the draws in --out, which count too
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) model: ModelFlags,
    #[command(flatten)]
    pub(crate) sampling: SamplingFlags,
    /// Policies whose returns have to converge too (as for `brex evaluate`); of a run directory, those
    /// of its features
    #[arg(long, value_name = "FILE")]
    pub(crate) policies: Option<PathBuf>,
    /// Keep the log likelihood of every preference under every draw
    #[arg(long, value_enum, default_value_t = KeepLogLikelihood::Auto)]
    pub(crate) log_likelihood: KeepLogLikelihood,
}

/// How to sample.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SamplingFlags {
    /// How to draw
    #[arg(long, value_enum, default_value_t = SamplerName::Hmc)]
    pub(crate) sampler: SamplerName,
    /// How many chains; the sampler's own number unless told otherwise
    #[arg(long, value_name = "C")]
    pub(crate) chains: Option<usize>,
    /// Exactly this many draws in all chains together, without a stopping rule
    #[arg(long, value_name = "N", conflicts_with_all = ["max_draws", "max_seconds"])]
    pub(crate) draws: Option<usize>,
    /// Stop at this many draws even if they have not converged
    #[arg(long, value_name = "N")]
    pub(crate) max_draws: Option<usize>,
    /// Stop after this many seconds of sampling even if the draws have not converged
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) max_seconds: Option<f64>,
    /// The quantile that has to converge: the delta of the bounds to come
    #[arg(long, value_name = "D", default_value_t = 0.05, value_parser = probability)]
    pub(crate) delta: f64,
    /// random-walk only: the size of a step [the paper's: 0.005]
    #[arg(long, value_name = "SD", value_parser = positive)]
    pub(crate) step: Option<f64>,
    /// random-walk only: how many steps are thrown away at the start [the paper's: 5000]
    #[arg(long, value_name = "N")]
    pub(crate) burn_in: Option<usize>,
    /// random-walk only: one in so many steps is kept [the paper's: 20]
    #[arg(long, value_name = "N")]
    pub(crate) thinning: Option<usize>,
}

/// The samplers by the names of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SamplerName {
    /// Hamiltonian, in coordinates fitted to the posterior
    Hmc,
    /// The paper's chain, step for step
    RandomWalk,
    /// Elliptical slice sampling, an independent cross-check
    Slice,
}

impl SamplingFlags {
    /// The sampler with its settings.
    pub(crate) fn sampler(&self) -> Result<Box<dyn Sampler>, BadInput> {
        if self.sampler == SamplerName::RandomWalk {
            let paper = RandomWalk::default();
            return Ok(Box::new(RandomWalk {
                step: self.step.unwrap_or(paper.step),
                burn_in: self.burn_in.unwrap_or(paper.burn_in),
                thinning: self.thinning.unwrap_or(paper.thinning),
            }));
        }
        let given = [
            ("--step", self.step.is_some()),
            ("--burn-in", self.burn_in.is_some()),
            ("--thinning", self.thinning.is_some()),
        ];
        if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
            let problem = "is a setting of --sampler random-walk only";
            return Err(BadInput::new(format!("{flag} {problem}")));
        }
        Ok(match self.sampler {
            SamplerName::Slice => Box::new(EllipticalSlice),
            SamplerName::Hmc | SamplerName::RandomWalk => Box::new(Hmc::default()),
        })
    }

    fn length(&self) -> Length {
        match self.draws {
            Some(draws) => Length::Exactly(draws),
            None => Length::UntilConverged {
                max_draws: self.max_draws,
                max_seconds: self.max_seconds,
            },
        }
    }

    /// What distinguishes draws of one setting from those of another.
    fn attributes(&self, sampler: &dyn Sampler) -> Map<String, serde_json::Value> {
        let mut map = Map::new();
        map.insert("sampler".to_owned(), json!(sampler.name()));
        if self.sampler == SamplerName::RandomWalk {
            let paper = RandomWalk::default();
            map.insert("step".to_owned(), json!(self.step.unwrap_or(paper.step)));
            let burn_in = self.burn_in.unwrap_or(paper.burn_in);
            map.insert("burn_in".to_owned(), json!(burn_in));
            let thinning = self.thinning.unwrap_or(paper.thinning);
            map.insert("thinning".to_owned(), json!(thinning));
        }
        map
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let report = execute(arguments, common)?;
    if common.json {
        print(&json_text(&report.json())?)?;
    } else {
        print(&report.text(Style::for_stdout()))?;
    }
    Ok(report.outcome())
}

/// Samples and writes the directory.
pub(crate) fn execute(arguments: &Arguments, common: &Common) -> Result<SampleReport> {
    let sampler = arguments.sampling.sampler()?;
    let out_path = arguments.out();
    let inputs = arguments.files.read()?;
    let features = inputs.features.matrix();
    let policies = match &arguments.policies {
        Some(path) => policies_for(path, features.cols())?,
        None => policies_of_run(&arguments.files)?,
    };
    let prior = arguments.model.prior(&inputs)?;
    let model = &arguments.model;
    let evidence = model.evidence(&arguments.files);
    let preferences = evidence.weigh(&inputs.preferences.preferences);
    let sharpness = model.sharpness(features, &preferences, prior, common)?;
    let problem = Problem::new(features, &preferences, prior, sharpness.beta())?;
    if let Prior::NonNegative { lowest } = prior
        && !common.quiet
    {
        let name = printable(&inputs.features.name(lowest));
        say(&format!(
            "the return of trajectory {name} is taken to be not negative"
        ));
    }
    let mut attributes = arguments.sampling.attributes(sampler.as_ref());
    attributes.insert("prior".to_owned(), json!(prior.name()));
    if !prior.is_on_sphere() {
        attributes.insert("prior_scale".to_owned(), json!(arguments.model.prior_scale));
    }
    if let Prior::NonNegative { lowest } = prior {
        attributes.insert("lowest".to_owned(), json!(lowest));
    }
    sharpness.note(&mut attributes);
    evidence.note(&mut attributes);
    attributes.insert("seed".to_owned(), json!(common.seed));
    attributes.insert("inputs".to_owned(), json!(fingerprint(&inputs)));
    let previous = match arguments.resume {
        true => Some(read_to_resume(&out_path, &attributes)?),
        false => None,
    };
    if let (Some(previous), Some(chains)) = (&previous, arguments.sampling.chains)
        && previous.draws.chains() != chains
    {
        let then = previous.draws.chains();
        let out = out_path.display();
        let problem = format!("{out}: cannot go on: chains was {then} then and is {chains} now");
        return Err(BadInput::new(problem).into());
    }
    let out = AtomicDir::create(&out_path, arguments.force || arguments.resume)?;
    let options = SampleOptions {
        chains: arguments.sampling.chains,
        length: arguments.sampling.length(),
        seed: common.seed,
        delta: arguments.sampling.delta,
        policies: policies.iter().map(Policy::expected_features).collect(),
    };
    let progress = Progress::start("sampling", common.quiet);
    let watch = |now: &brex_posterior::Progress| {
        let exact = matches!(options.length, Length::Exactly(_));
        let (stage, total) = match now.stage {
            Stage::SetUp => ("set-up", now.total),
            Stage::WarmUp => ("warm-up", now.total),
            Stage::Sampling if exact => ("draws", now.total),
            // The total is a limit that is hardly ever reached.
            Stage::Sampling => ("draws, until they have converged", None),
        };
        progress.update(now.done as u64, total.map(|total| total as u64), stage);
        if interrupt::requested() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    interrupt::listen();
    let run = sample(&problem, sampler.as_ref(), &options, previous, &watch);
    progress.finish();
    let run = run?;
    let draws = run.sampled.draws.len();
    let comparisons = problem.preferences().len();
    let keep_log_likelihood = arguments.log_likelihood.keeps(draws, comparisons);
    if !keep_log_likelihood && arguments.log_likelihood == KeepLogLikelihood::Auto && !common.quiet
    {
        say(
            "the log likelihood of every preference is left out, because it is large; \
             --log-likelihood always keeps it",
        );
    }
    let inputs = SummaryInputs {
        problem: &problem,
        sharpness: &sharpness,
        evidence,
        sampler: sampler.name(),
        seed: common.seed,
        delta: options.delta,
        out: &out_path,
        run: arguments.files.run.as_deref(),
    };
    let report = SampleReport::new(&inputs, &run)?;
    let directory = RunDirectory {
        problem: &problem,
        sampled: run.sampled,
        keep_log_likelihood,
        attributes,
        settings: arguments.settings(&sharpness, common),
        summary: report.summary(keep_log_likelihood),
    };
    directory.write(out)?;
    if run.stopped {
        warn("interrupted: what was drawn until then is kept");
    }
    Ok(report)
}

/// Those of a run directory, whose bounds will be asked for.
fn policies_of_run(files: &InputFiles) -> Result<Vec<Policy>> {
    if files.run.is_none() {
        return Ok(Vec::new());
    }
    match read_run_features(files.features()) {
        Ok(run) => policies_of(&run, false),
        // Features may come from elsewhere.
        Err(_) => Ok(Vec::new()),
    }
}

/// The policies whose returns have to converge too.
fn policies_for(path: &Path, features: usize) -> Result<Vec<Policy>> {
    let policies = read_policies(path)?;
    let found = |policy: &Policy| policy.rollouts().cols();
    match policies.iter().find(|policy| found(policy) != features) {
        None => Ok(policies),
        Some(policy) => Err(BadInput::new(format!(
            "{}: policy {:?} has {} features, the trajectories have {features}; \
             both must come from the same encoder",
            path.display(),
            policy.name(),
            found(policy)
        ))
        .into()),
    }
}

impl Arguments {
    /// Where the draws go.
    pub(crate) fn out(&self) -> PathBuf {
        let run = || RunFiles::of(self.files.run.as_deref().unwrap_or(Path::new(".")));
        self.out.clone().unwrap_or_else(|| run().posterior)
    }

    /// All settings that the draws depend on, as a table for `--config`.
    fn settings(&self, sharpness: &Sharpness, common: &Common) -> toml::Table {
        let mut table = toml::Table::new();
        let mut set = |key: &str, value: toml::Value| {
            table.insert(key.to_owned(), value);
        };
        let path = |path: &PathBuf| toml::Value::String(path.display().to_string());
        let number = |value: usize| toml::Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
        set("features", path(&self.files.features()));
        set("preferences", path(&self.files.preferences()));
        if let Some(policies) = &self.policies {
            set("policies", path(policies));
        }
        let sampling = &self.sampling;
        set("sampler", name_of(&sampling.sampler));
        set("prior", name_of(&self.model.prior));
        set("prior-scale", self.model.prior_scale.into());
        set("beta", sharpness.setting());
        set("evidence", name_of(&self.model.evidence(&self.files)));
        if let Some(lowest) = &self.model.lowest {
            set("lowest", toml::Value::String(lowest.clone()));
        }
        set("delta", sampling.delta.into());
        let seed = i64::try_from(common.seed).map_or_else(
            |_| toml::Value::String(common.seed.to_string()),
            toml::Value::Integer,
        );
        set("seed", seed);
        set("log-likelihood", name_of(&self.log_likelihood));
        let counts = [
            ("chains", sampling.chains),
            ("draws", sampling.draws),
            ("max-draws", sampling.max_draws),
            ("burn-in", sampling.burn_in),
            ("thinning", sampling.thinning),
        ];
        for (key, value) in counts {
            if let Some(value) = value {
                set(key, number(value));
            }
        }
        for (key, value) in [
            ("max-seconds", sampling.max_seconds),
            ("step", sampling.step),
        ] {
            if let Some(value) = value {
                set(key, value.into());
            }
        }
        table
    }
}

/// What the command line calls a choice.
fn name_of(choice: &impl clap::ValueEnum) -> toml::Value {
    let name = choice.to_possible_value();
    let name = name.map_or(String::new(), |value| value.get_name().to_owned());
    toml::Value::String(name)
}
