//! `brex coverage`: how often bounds hold on simulated truths, next to how often they should.

use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::input::{PriorName, positive, probability};
use crate::interrupt;
use crate::numbers;
use crate::plot::{Chart, PlotFormat, Reading, Series};
use crate::progress::Progress;
use crate::table::Table;
use crate::terminal::{Style, json_text, print};
use anyhow::Result;
use brex_posterior::{CoverageOptions, CoverageRow, Departure, Prior, coverage};
use brex_store::{StoreError, write_atomic};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A rate this many standard errors off is not chance.
const MOST_STANDARD_ERRORS: f64 = 4.0;

/// Measure how often bounds hold on simulated truths
///
/// In each replicate true weights are drawn from the prior, preferences are answered by the model,
/// and bounds are compared with true returns. A bound at delta should hold in a share of 1 - delta
/// of all replicates, within the standard error; if it does not, the exit code is 3. With
/// --answers-at or --flip the answers depart from the model, and nothing is promised.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many truths
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    replicates: u32,
    /// How many trajectories, each compared with each other
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(2..=2000))]
    trajectories: u32,
    /// How many features each has
    #[arg(long, value_name = "K", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    feature_count: u32,
    /// The prior, from which the truths come too
    #[arg(long, value_enum, default_value_t = PriorName::Sphere)]
    prior: PriorName,
    /// The standard deviation of every weight under the gaussian prior
    #[arg(long, value_name = "SD", default_value_t = 1.0, value_parser = positive)]
    prior_scale: f64,
    /// The inverse temperature of the preferences
    #[arg(long, value_name = "B", default_value_t = 1.0, value_parser = positive)]
    beta: f64,
    /// The share of the posterior below a bound; may be given several times
    #[arg(long, value_name = "D", default_values_t = [0.01, 0.05, 0.1, 0.25], value_delimiter = ',', value_parser = probability)]
    delta: Vec<f64>,
    /// Let the answers have this many times the inverse temperature of the model
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    answers_at: Option<f64>,
    /// Turn this share of the answers round
    #[arg(long, value_name = "SHARE", value_parser = probability, conflicts_with = "answers_at")]
    flip: Option<f64>,
    /// Draw the observed rates against the nominal ones
    #[arg(long, value_name = "FILE.svg|.png")]
    plot: Option<PathBuf>,
    /// Replace an existing plot
    #[arg(long)]
    force: bool,
}

impl Arguments {
    fn options(&self, seed: u64) -> CoverageOptions {
        let departure = match (self.answers_at, self.flip) {
            (Some(factor), _) => Departure::Temperature(factor),
            (None, Some(share)) => Departure::Flipped(share),
            (None, None) => Departure::None,
        };
        CoverageOptions {
            trajectories: self.trajectories as usize,
            features: self.feature_count as usize,
            prior: match self.prior {
                PriorName::Sphere => Prior::Sphere,
                PriorName::Nonnegative => Prior::NonNegative { lowest: 0 },
                PriorName::Gaussian => Prior::Gaussian {
                    scale: self.prior_scale,
                },
            },
            beta: self.beta,
            deltas: self.delta.clone(),
            departure,
            replicates: self.replicates as usize,
            seed,
        }
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let plot = match &arguments.plot {
        Some(path) if !arguments.force && path.exists() => {
            let path = path.clone();
            return Err(StoreError::Exists { path }.into());
        }
        Some(path) => Some((path, PlotFormat::of(path)?)),
        None => None,
    };
    let options = arguments.options(common.seed);
    if options.prior.is_on_sphere() && options.features < 2 {
        let problem = "--feature-count 1: a sphere needs at least 2 features";
        return Err(BadInput::new(problem).into());
    }
    let rows = simulate(&options, common.quiet)?;
    if let Some((path, format)) = plot {
        let picture = format.encode(chart(&rows).draw())?;
        write_atomic(path, arguments.force, |writer| writer.write_all(&picture))?;
    }
    let nominal = rows.iter().all(|row| row.z().abs() <= MOST_STANDARD_ERRORS);
    let promised = options.departure == Departure::None;
    if common.json {
        let rows: Vec<Value> = rows.iter().map(row_json).collect();
        print(&json_text(&rows)?)?;
    } else {
        print(&text(&options, &rows, nominal, Style::for_stdout()))?;
    }
    Ok(if promised && !nominal {
        Outcome::NotTrusted
    } else {
        Outcome::Done
    })
}

fn simulate(options: &CoverageOptions, quiet: bool) -> Result<Vec<CoverageRow>> {
    let progress = Progress::start("coverage", quiet);
    interrupt::listen();
    let rows = coverage(options, &|done| {
        progress.update(done as u64, Some(options.replicates as u64), "replicates");
        if interrupt::requested() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    progress.finish();
    Ok(rows?)
}

fn row_json(row: &CoverageRow) -> Value {
    json!({
        "policy": row.judged.to_string(),
        "delta": row.delta,
        "nominal": row.nominal(),
        "held": row.held,
        "standard_error": row.standard_error,
        "z": row.z(),
        "mean_gap": row.mean_gap,
        "replicates": row.replicates,
    })
}

fn text(options: &CoverageOptions, rows: &[CoverageRow], nominal: bool, style: Style) -> String {
    let mut text = format!(
        "How often the true return was at least the bound, in {} replicates.\n\
         {} trajectories, {} features, prior {}, beta {}; departure from the model: {}.\n\n",
        numbers::count(options.replicates),
        options.trajectories,
        options.features,
        options.prior.name(),
        options.beta,
        options.departure,
    );
    let mut table = Table::new(["policy", "delta", "should hold", "held", "z", "mean gap"]);
    for row in rows {
        table.row([
            row.judged.to_string(),
            row.delta.to_string(),
            numbers::percent(row.nominal()),
            format!(
                "{:.1} ± {:.1} %",
                100.0 * row.held,
                100.0 * row.standard_error
            ),
            format!("{:+.1}", row.z()),
            numbers::significant(row.mean_gap, 3),
        ]);
    }
    text.push_str(&table.show(style));
    text.push_str("\nmean gap: from the bound up to the posterior mean, what caution costs\n");
    let verdict = match (options.departure == Departure::None, nominal) {
        (true, true) => style.green("bounds hold at their nominal rate"),
        (true, false) => style.red("bounds do not hold at their nominal rate"),
        (false, true) => "bounds hold at their nominal rate although the model is wrong".to_owned(),
        (false, false) => {
            style.yellow("bounds do not hold at their nominal rate: the model is wrong here")
        }
    };
    text.push_str(&verdict);
    text.push('\n');
    text
}

/// Observed rates of truths below the bound against the nominal ones.
fn chart(rows: &[CoverageRow]) -> Chart {
    let mut series: BTreeMap<String, Vec<Reading>> = BTreeMap::new();
    for row in rows {
        let (below, half) = (1.0 - row.held, 1.96 * row.standard_error);
        let readings = series.entry(row.judged.to_string()).or_default();
        readings.push(Reading {
            x: row.delta,
            y: below,
            low: (below - half).max(0.0),
            high: (below + half).min(1.0),
        });
    }
    Chart {
        title: "How often the true return lies below the bound".to_owned(),
        x_name: "nominal rate (delta)".to_owned(),
        x_places: Vec::new(),
        y_name: "observed rate, with 95 % intervals".to_owned(),
        series: series
            .into_iter()
            .map(|(name, mut readings)| {
                readings.sort_by(|a, b| a.x.total_cmp(&b.x));
                Series { name, readings }
            })
            .collect(),
        diagonal: Some("exactly nominal".to_owned()),
    }
}
