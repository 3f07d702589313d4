//! `brex reproduce gridworld`: Tables 7 to 10 of the paper's appendix. A unit is one world of one
//! table, with all settings of that table.

use super::gridworld_sound::SoundArguments;
use super::gridworld_summary::Summary;
use super::{Kept, gridworld_files, gridworld_text, run_study};
use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::terminal::{Style, json_text};
use crate::units::{FORMAT, Results, Shard, Study};
use anyhow::{Context, Result};
use brex_tabular::{
    LossRow, PUBLISHED_BATCH, SoundOptions, StudyTable, published_losses, sound_losses,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;

/// How the experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    /// What the authors' program does, to the digit
    Published,
    /// The experiment as it should be run, with diagnostics
    Sound,
}

/// Bayesian IRL against Bayesian REX in gridworlds: the paper's Tables 7 to 10
///
/// Prints each table beside the paper's. With --out, every finished world is kept: a killed run is
/// resumed by the same command, and parts that were run with --shard are joined by brex merge.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Which tables
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values = ["7", "8", "9", "10"], value_parser = table)]
    tables: Vec<StudyTable>,
    /// How to run the experiment
    #[arg(long, value_enum, default_value_t = Protocol::Published)]
    protocol: Protocol,
    /// How many worlds; the first 100 of protocol published are the paper's
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    worlds: u32,
    /// Keep finished worlds and write the results here; without it they are only printed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run only the i-th of n parts, for several machines
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<Shard>,
    /// Start anew in a folder that holds a gridworld study
    #[arg(long, requires = "out")]
    force: bool,
    #[command(flatten)]
    sound: SoundArguments,
}

fn table(text: &str) -> Result<StudyTable, String> {
    let number = text.trim().parse().ok();
    let table = number.and_then(StudyTable::by_number);
    table.ok_or_else(|| "the paper's gridworld tables are 7, 8, 9 and 10".to_owned())
}

/// The study as `study.json` has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gridworld {
    format: u32,
    kind: String,
    pub(super) protocol: Protocol,
    tables: Vec<u32>,
    pub(super) worlds: usize,
    /// Of the protocol `sound`; the authors' program has nothing to set.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) options: Option<SoundOptions>,
}

impl Gridworld {
    /// What `study.json` calls studies like this.
    pub(crate) const KIND: &'static str = "gridworld";

    fn new(arguments: &Arguments, common: &Common) -> Self {
        let mut tables: Vec<u32> = arguments
            .tables
            .iter()
            .map(|table| table.number())
            .collect();
        tables.sort_unstable();
        tables.dedup();
        let sound = || arguments.sound.options(common.seed);
        Self {
            format: FORMAT,
            kind: Self::KIND.to_owned(),
            protocol: arguments.protocol,
            tables,
            worlds: arguments.worlds as usize,
            options: (arguments.protocol == Protocol::Sound).then(sound),
        }
    }

    /// The tables in order.
    pub(super) fn tables(&self) -> impl Iterator<Item = StudyTable> + '_ {
        self.tables
            .iter()
            .filter_map(|number| StudyTable::by_number(*number))
    }

    /// The table and the world of a unit.
    fn place(&self, unit: usize) -> Option<(StudyTable, usize)> {
        let table = StudyTable::by_number(*self.tables.get(unit / self.worlds)?)?;
        Some((table, unit % self.worlds))
    }

    /// Computes units of one batch, which are of one table.
    fn compute(&self, units: &[usize]) -> Result<Vec<Vec<LossRow>>> {
        let first = units.first().and_then(|unit| self.place(*unit));
        let (table, _) = first.context("a batch without units")?;
        let worlds: Vec<usize> = units.iter().map(|unit| unit % self.worlds).collect();
        Ok(match &self.options {
            None => published_losses(table, &worlds),
            Some(options) => worlds
                .iter()
                .map(|world| sound_losses(table, *world, options))
                .collect(),
        })
    }
}

impl Study for Gridworld {
    type UnitResult = Vec<LossRow>;

    fn is_usable(&self) -> Result<(), String> {
        if let Some(options) = &self.options {
            options.check().map_err(|error| error.to_string())?;
        }
        let mut tables = self.tables.iter();
        let known = tables.all(|number| StudyTable::by_number(*number).is_some());
        let fits = self.options.is_some() == (self.protocol == Protocol::Sound);
        if self.format != FORMAT || self.worlds == 0 || !known || !fits {
            return Err("it is not from this version of brex".to_owned());
        }
        Ok(())
    }

    fn units(&self) -> Vec<String> {
        let worlds = |table: StudyTable| {
            (0..self.worlds).map(move |world| format!("{}/{world:06}", table.number()))
        };
        self.tables().flat_map(worlds).collect()
    }

    fn batches(&self) -> Vec<Range<usize>> {
        let together = match self.protocol {
            Protocol::Published => PUBLISHED_BATCH,
            // Chains until convergence are long; what is done should be kept soon.
            Protocol::Sound => 1,
        };
        let starts = |first: usize| (first..first + self.worlds).step_by(together);
        (0..self.tables.len())
            .map(|table| table * self.worlds)
            .flat_map(|first| {
                let end = first + self.worlds;
                starts(first).map(move |start| start..(start + together).min(end))
            })
            .collect()
    }

    fn check(&self, unit: usize, result: &Vec<LossRow>) -> Result<(), String> {
        let (table, world) = self.place(unit).ok_or("no such unit")?;
        let settings = result.iter().map(|row| row.setting);
        if !settings.eq(table.settings().iter().copied()) {
            return Err(format!("expected the settings {:?}", table.settings()));
        }
        if result.iter().any(|row| row.world != world) {
            return Err(format!("expected rows of world {world}"));
        }
        let losses = result.iter().flat_map(|row| [row.irl.loss, row.rex.loss]);
        if losses.into_iter().any(|loss| !loss.is_finite()) {
            return Err("a loss is not finite".to_owned());
        }
        Ok(())
    }

    fn results(&self, units: &[&Vec<LossRow>]) -> Result<Results> {
        let tables: Vec<_> = self.tables().zip(units.chunks(self.worlds)).collect();
        let summary = Summary::of(self.protocol, &tables);
        let json = json_text(&summary)?;
        let mut files: Vec<(String, String)> = tables
            .iter()
            .map(|(table, worlds)| gridworld_files::csv(*table, worlds))
            .collect();
        files.push((gridworld_files::SUMMARY.to_owned(), json.clone()));
        let figure = gridworld_files::figure(&summary);
        files.push((gridworld_files::FIGURE.to_owned(), figure));
        let text = gridworld_text::text(self, &summary, Style::for_stdout());
        Ok(Results { files, text, json })
    }

    fn result_names() -> Vec<String> {
        let tables = StudyTable::ALL.into_iter().map(gridworld_files::csv_name);
        let others = [gridworld_files::SUMMARY, gridworld_files::FIGURE].map(str::to_owned);
        tables.chain(others).collect()
    }
}

pub(super) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    if arguments.protocol == Protocol::Published
        && let Some(flag) = arguments.sound.first_given()
    {
        let problem =
            format!("{flag} needs --protocol sound: the authors' program has nothing to set");
        return Err(BadInput::new(problem).into());
    }
    let study = Gridworld::new(arguments, common);
    if let Some(options) = &study.options {
        options
            .check()
            .map_err(|error| BadInput::new(format!("--{error}")))?;
    }
    let kept = Kept {
        out: arguments.out.as_deref(),
        shard: arguments.shard.unwrap_or_default(),
        force: arguments.force,
    };
    let remark = match study.tables.len() {
        1 => "worlds".to_owned(),
        several => format!("worlds of {several} tables"),
    };
    let compute = |units: &[usize]| study.compute(units);
    run_study(&study, &kept, ("gridworld", &remark), common, compute)
}
