//! `brex reproduce coverage`: how often bounds on a policy's value hold in gridworlds whose truth
//! is known. A unit is one world, with all conditions, numbers of demonstrations and policies.

use super::coverage_summary::Summary;
use super::{Kept, coverage_files, coverage_text, run_study};
use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::terminal::{Style, json_text};
use crate::units::{FORMAT, Results, Shard, Study};
use anyhow::Result;
use brex_tabular::{
    Condition, GridCoverageOptions, GridCoverageRow, JudgedPolicy, Method, StudyError,
    WorldOptions, grid_coverage,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;

/// Each inference of a world has a random stream of its own, of which a world has 1,024.
const MOST_NUMBERS_OF_DEMONSTRATIONS: usize = 100;

/// How the world differs from what the methods assume, by the names of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ConditionName {
    /// Not at all
    AsAssumed,
    /// People are taken to be five times as reliable as they are
    TooSure,
    /// People are taken to be a fifth as reliable as they are
    TooCautious,
    /// One in ten answers is turned round, one in ten actions is taken at random
    Flipped,
}

impl From<ConditionName> for Condition {
    fn from(name: ConditionName) -> Self {
        match name {
            ConditionName::AsAssumed => Self::AsAssumed,
            ConditionName::TooSure => Self::TooSure,
            ConditionName::TooCautious => Self::TooCautious,
            ConditionName::Flipped => Self::Flipped,
        }
    }
}

/// How often bounds on a policy's value hold, in gridworlds whose truth is known
///
/// In each world the truth is drawn from the prior, a demonstrator acts and preferences are
/// answered as the methods assume, or, under the other conditions, not quite so. The bound at
/// delta on a policy's value should hold in a share of 1 - delta of all worlds. If it holds clearly
/// less often where the assumptions are true, the exit code is 3. With --out, every finished world
/// is kept: a killed run is resumed by the same command, and parts that were run with --shard are
/// joined by brex merge.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many worlds
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    worlds: u32,
    /// Numbers of demonstrations; for preferences, each is compared with each other
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [2, 5, 20])]
    demonstrations: Vec<usize>,
    /// The shares of the posterior below a bound
    #[arg(long, value_name = "D,...", value_delimiter = ',', default_values_t = [0.01, 0.05, 0.1, 0.25], allow_negative_numbers = true)]
    delta: Vec<f64>,
    /// The inverse temperature of demonstrator and answers
    #[arg(
        long,
        value_name = "B",
        default_value_t = 5.0,
        allow_negative_numbers = true
    )]
    beta: f64,
    /// How the worlds differ from what the methods assume [default: all of these]
    #[arg(long, value_name = "CONDITION,...", value_delimiter = ',', value_enum)]
    conditions: Vec<ConditionName>,
    /// Rows of the grid
    #[arg(long, value_name = "N", default_value_t = 6)]
    rows: usize,
    /// Columns of the grid
    #[arg(long, value_name = "N", default_value_t = 6)]
    cols: usize,
    /// How many kinds of cell there are, each with its own reward
    #[arg(long, value_name = "K", default_value_t = 4)]
    feature_count: usize,
    /// The chance that a move goes to one of the two sides instead
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    slip: f64,
    /// The discount
    #[arg(
        long,
        value_name = "G",
        default_value_t = 0.9,
        allow_negative_numbers = true
    )]
    gamma: f64,
    /// Steps of a demonstration
    #[arg(long, value_name = "N", default_value_t = 20)]
    steps: usize,
    /// Keep finished worlds and write the results here; without it they are only printed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run only the i-th of n parts, for several machines
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<Shard>,
    /// Start anew in a folder that holds a coverage study
    #[arg(long, requires = "out")]
    force: bool,
}

impl Arguments {
    /// The options, checked. What is given twice counts once.
    fn options(&self, seed: u64) -> Result<GridCoverageOptions, BadInput> {
        let mut demonstrations = self.demonstrations.clone();
        demonstrations.sort_unstable();
        demonstrations.dedup();
        let mut deltas = self.delta.clone();
        deltas.sort_by(f64::total_cmp);
        deltas.dedup();
        let mut conditions: Vec<Condition> =
            self.conditions.iter().map(|name| (*name).into()).collect();
        if conditions.is_empty() {
            conditions = Condition::ALL.to_vec();
        }
        conditions.sort_unstable();
        conditions.dedup();
        let options = GridCoverageOptions {
            world: WorldOptions {
                rows: self.rows,
                cols: self.cols,
                features: self.feature_count,
                slip: self.slip,
                gamma: self.gamma,
                steps: self.steps,
                seed,
                ..WorldOptions::default()
            },
            beta: self.beta,
            demonstrations,
            deltas,
            conditions,
            ..GridCoverageOptions::default()
        };
        options.check().map_err(|error| wrong_flag(&error))?;
        let numbers = options.demonstrations.len();
        if numbers > MOST_NUMBERS_OF_DEMONSTRATIONS {
            let most = MOST_NUMBERS_OF_DEMONSTRATIONS;
            let problem = format!("--demonstrations has {numbers} values; expected at most {most}");
            return Err(BadInput::new(problem));
        }
        Ok(options)
    }
}

/// The error with the name that the setting has on the command line.
fn wrong_flag(error: &StudyError) -> BadInput {
    let flag = match error.name {
        "features" => "feature-count",
        other => other,
    };
    let (value, expected) = (error.value, error.expected);
    BadInput::new(format!("--{flag} is {value}; expected {expected}"))
}

/// The study as `study.json` has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Coverage {
    format: u32,
    kind: String,
    worlds: usize,
    pub(super) options: GridCoverageOptions,
}

impl Coverage {
    /// What `study.json` calls studies like this.
    pub(crate) const KIND: &'static str = "coverage";

    /// What the rows of a world are about, in order.
    fn expected(&self) -> impl Iterator<Item = (Condition, usize, Method, JudgedPolicy)> + '_ {
        let options = &self.options;
        let settings = options.conditions.iter().flat_map(|condition| {
            let counts = options.demonstrations.iter();
            counts.map(|count| (*condition, *count))
        });
        settings.flat_map(|(condition, count)| {
            Method::ALL.into_iter().flat_map(move |method| {
                JudgedPolicy::ALL.map(move |policy| (condition, count, method, policy))
            })
        })
    }

    fn summary(&self, units: &[&Vec<GridCoverageRow>]) -> Summary {
        Summary::of(&self.options.deltas, units)
    }
}

impl Study for Coverage {
    type UnitResult = Vec<GridCoverageRow>;

    fn is_usable(&self) -> Result<(), String> {
        let options = &self.options;
        options.check().map_err(|error| error.to_string())?;
        let nothing = self.worlds == 0
            || options.demonstrations.is_empty()
            || options.deltas.is_empty()
            || options.conditions.is_empty();
        if self.format != FORMAT || nothing {
            return Err("it is not from this version of brex".to_owned());
        }
        Ok(())
    }

    fn units(&self) -> Vec<String> {
        (0..self.worlds)
            .map(|world| format!("{world:06}"))
            .collect()
    }

    fn batches(&self) -> Vec<Range<usize>> {
        (0..self.worlds).map(|world| world..world + 1).collect()
    }

    fn check(&self, _unit: usize, result: &Vec<GridCoverageRow>) -> Result<(), String> {
        let found = result
            .iter()
            .map(|row| (row.condition, row.demonstrations, row.method, row.policy));
        if !found.eq(self.expected()) {
            return Err(
                "expected a row for every condition, number of demonstrations, method and policy"
                    .to_owned(),
            );
        }
        let deltas = self.options.deltas.len();
        if result.iter().any(|row| row.margins.len() != deltas) {
            return Err(format!("expected {deltas} margins in every row"));
        }
        let mut margins = result.iter().flat_map(|row| &row.margins);
        if margins.any(|margin| !margin.is_finite()) {
            return Err("a margin is not finite".to_owned());
        }
        Ok(())
    }

    fn results(&self, units: &[&Vec<GridCoverageRow>]) -> Result<Results> {
        let summary = self.summary(units);
        let json = json_text(&summary)?;
        let files = [
            (coverage_files::TABLE, coverage_files::csv(&summary)),
            (coverage_files::SUMMARY, json.clone()),
            (coverage_files::FIGURE, coverage_files::figure(&summary)),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text)).to_vec();
        let text = coverage_text::text(&self.options, &summary, Style::for_stdout());
        Ok(Results { files, text, json })
    }

    fn outcome(&self, units: &[&Vec<GridCoverageRow>]) -> Outcome {
        match self.summary(units).holds_as_promised {
            Some(false) => Outcome::NotTrusted,
            Some(true) | None => Outcome::Done,
        }
    }

    fn result_names() -> Vec<String> {
        coverage_files::NAMES.map(str::to_owned).to_vec()
    }
}

pub(super) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let study = Coverage {
        format: FORMAT,
        kind: Coverage::KIND.to_owned(),
        worlds: arguments.worlds as usize,
        options: arguments.options(common.seed)?,
    };
    let kept = Kept {
        out: arguments.out.as_deref(),
        shard: arguments.shard.unwrap_or_default(),
        force: arguments.force,
    };
    let compute = |units: &[usize]| {
        let worlds = units.iter();
        Ok(worlds
            .map(|world| grid_coverage(*world, &study.options))
            .collect())
    };
    run_study(&study, &kept, ("coverage", "worlds"), common, compute)
}
