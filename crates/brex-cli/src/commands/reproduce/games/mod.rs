//! `brex reproduce games`: the paper's experiments on games. A unit is one game with one seed, from
//! the demonstrations to the last table; its steps are kept one by one in a run directory.

mod ablation;
mod agents;
mod anew;
mod choosing;
mod figures;
mod given;
mod judging;
mod page;
mod paper;
mod pictures;
mod prefix;
mod result;
mod scale;
mod sections;
mod seeds;
mod tables;
mod unit;

use crate::args::Common;
use crate::exit::{BadInput, Outcome};
use crate::interrupt;
use crate::terminal::{Style, announce, json_text};
use crate::units::{FORMAT, Results, Shard, Study, StudyFolder, run_in_lanes};
use anew::begin_anew;
use anyhow::{Result, bail};
use brex_envs::make;
use given::BuiltIn;
use result::GameResult;
use scale::Scale;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use tables::PaperTable;
use unit::{LEARNERS, Unit};

const GAMES: &str =
    "pocket:breakout,pocket:space-invaders,pocket:seaquest,pocket:beam-rider,pocket:enduro";
/// Where demonstrations that come with brex are unpacked.
const DEMONSTRATIONS: &str = "demonstrations";
const SUMMARY: &str = "summary.json";
const TABLES: &str = "tables.md";
const REPORT: &str = "report.html";
const LEARNING: &str = "learning.svg";

/// Bayesian REX and its rivals on games: the paper's tables
///
/// For every game and seed: demonstrations, pre-training, the posterior, agents that learn from the
/// mean and the MAP reward, T-REX, GAIL, a T-REX ensemble, MC dropout. Every step is kept in
/// OUT/runs: a killed study goes on with the same command, and parts that were run with --shard are
/// joined by brex merge. OUT/so-far.html shows the games that are done.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Which games
    #[arg(long, value_name = "ENV,...", value_delimiter = ',', default_value = GAMES)]
    games: Vec<String>,
    /// Which tables; all of them unless told otherwise
    #[arg(long, value_name = "TABLE,...", value_delimiter = ',', value_enum)]
    tables: Vec<PaperTable>,
    /// Which agents learn of those that the tables show; all of them unless told otherwise
    #[arg(long, value_name = "AGENT,...", value_delimiter = ',', value_parser = learner)]
    agents: Vec<String>,
    /// How many seeds, from --seed on; 1 with --quick or of emulated games alone, else 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    seeds: Option<u16>,
    /// One seed and small budgets: every table in well under an hour
    #[arg(long)]
    quick: bool,
    /// Take demonstrations and preferences that exist, of one game: a directory as brex demos leaves
    /// it; rollouts of policies A to D, recorded in its folder rollouts, are judged if there are no
    /// policies. Those of atari:breakout come with brex, and are taken if nothing else is asked for
    #[arg(long, value_name = "DIR")]
    demonstrations: Option<PathBuf>,
    /// How many demonstrations, instead of the usual number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=999))]
    count: Option<u16>,
    /// Steps of the agent that demonstrates, instead of the usual number
    #[arg(long, value_name = "N")]
    demonstrator_steps: Option<u64>,
    /// Steps of each agent that learns from a learned reward
    #[arg(long, value_name = "N")]
    learner_steps: Option<u64>,
    /// Updates of each pre-training, and of each network of the baselines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    updates: Option<u64>,
    /// How often an agent's episodes are ranked and the reward is learned again
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=100))]
    rounds: Option<u16>,
    /// Rollouts that each policy is judged by
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    rollouts: Option<u32>,
    /// The directory to write
    #[arg(long, value_name = "DIR", default_value = "brex-games")]
    out: PathBuf,
    /// Run only the i-th of n parts, for several machines
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// How many games and seeds are computed side by side, sharing the threads; as many as there are
    /// threads unless told otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    lanes: Option<u16>,
    /// Start anew in a folder that holds a study of games
    #[arg(long)]
    force: bool,
}

fn learner(text: &str) -> Result<String, String> {
    if LEARNERS.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(format!("expected some of {}", LEARNERS.join(", ")))
}

impl Arguments {
    fn scale(&self, usual: &Scale) -> Scale {
        Scale {
            demonstrator_steps: self.demonstrator_steps.unwrap_or(usual.demonstrator_steps),
            count: self.count.unwrap_or(usual.count),
            learner_steps: self.learner_steps.unwrap_or(usual.learner_steps),
            updates: self.updates.unwrap_or(usual.updates),
            baseline_updates: self.updates.unwrap_or(usual.baseline_updates),
            rounds: self.rounds.unwrap_or(usual.rounds),
            rollouts: self.rollouts.unwrap_or(usual.rollouts),
            ..usual.clone()
        }
    }

    /// Demonstrations that come with brex, unless others are asked for or some are to be made.
    fn built_in(&self) -> Option<BuiltIn> {
        let others = self.demonstrations.is_some()
            || self.count.is_some()
            || self.demonstrator_steps.is_some();
        if others {
            return None;
        }
        BuiltIn::of(&self.games)
    }

    /// Where demonstrations are that exist.
    fn given(&self) -> Option<PathBuf> {
        let unpacked = || self.out.join(DEMONSTRATIONS);
        let built_in = self.built_in().map(|_| unpacked());
        self.demonstrations.clone().or(built_in)
    }
}

/// The study as `study.json` has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Games {
    format: u32,
    kind: String,
    games: Vec<String>,
    tables: Vec<PaperTable>,
    /// The agents that learn, if not all do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    agents: Vec<String>,
    first_seed: u64,
    seeds: u64,
    /// For each game.
    scales: Vec<Scale>,
    /// What tells given demonstrations from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    demonstrations: Option<String>,
}

impl Games {
    /// What `study.json` calls studies like this.
    pub(crate) const KIND: &'static str = "games";

    fn new(arguments: &Arguments, common: &Common) -> Result<Self> {
        let mut games = Vec::new();
        let mut scales = Vec::new();
        let mut emulated = true;
        for game in &arguments.games {
            let env = make(game).map_err(|error| BadInput::new(format!("--games: {error}")))?;
            if games.contains(game) {
                return Err(BadInput::new(format!("--games: {game} is there twice")).into());
            }
            games.push(game.clone());
            emulated &= env.spec().is_atari();
            let usual = match (env.spec().is_atari(), arguments.quick) {
                (true, _) => &Scale::ATARI,
                (false, true) => &Scale::QUICK,
                (false, false) => &Scale::FULL,
            };
            scales.push(arguments.scale(usual));
        }
        let demonstrations = match &arguments.demonstrations {
            Some(directory) => Some(given::identity(directory, &games)?),
            None => arguments.built_in().map(BuiltIn::identity),
        };
        let mut tables = arguments.tables.clone();
        if tables.is_empty() {
            tables = PaperTable::ALL.to_vec();
        }
        tables.sort_unstable();
        tables.dedup();
        let mut agents = arguments.agents.clone();
        agents.sort_unstable();
        agents.dedup();
        let usual = if arguments.quick || emulated { 1 } else { 3 };
        Ok(Self {
            format: FORMAT,
            kind: Self::KIND.to_owned(),
            games,
            tables,
            agents,
            first_seed: common.seed,
            seeds: u64::from(arguments.seeds.unwrap_or(usual)),
            scales,
            demonstrations,
        })
    }

    /// The game of a unit, and its seed.
    fn place(&self, unit: usize) -> (usize, u64) {
        let seeds = self.seeds as usize;
        (unit / seeds, self.first_seed + (unit % seeds) as u64)
    }

    fn compute(&self, unit: usize, arguments: &Arguments, common: &Common) -> Result<GameResult> {
        let out = &arguments.out;
        let (game, seed) = self.place(unit);
        let name = format!("{}-{seed}", self.games[game].replace(':', "-"));
        let given = arguments.given();
        let unit = Unit {
            game: &self.games[game],
            scale: &self.scales[game],
            tables: &self.tables,
            agents: &self.agents,
            shows: seed == self.first_seed,
            common: Common {
                seed,
                ..common.clone()
            },
            given: given.as_deref().zip(self.demonstrations.as_deref()),
            run: out.join("runs").join(&name),
            notes: out.join("steps").join(&name),
        };
        unit.compute()
    }
}

impl Study for Games {
    type UnitResult = GameResult;

    fn is_usable(&self) -> Result<(), String> {
        let known = self.games.iter().all(|game| make(game).is_ok());
        let fits = self.games.len() == self.scales.len() && self.seeds > 0;
        if self.format != FORMAT || !known || !fits || self.games.is_empty() {
            return Err("it is not from this version of brex".to_owned());
        }
        Ok(())
    }

    fn units(&self) -> Vec<String> {
        let seeds = self.first_seed..self.first_seed + self.seeds;
        let units = self.games.iter().flat_map(|game| {
            let seeds = seeds.clone();
            seeds.map(move |seed| format!("{game}/{seed}"))
        });
        units.collect()
    }

    fn batches(&self) -> Vec<Range<usize>> {
        let count = self.games.len() * self.seeds as usize;
        (0..count).map(|unit| unit..unit + 1).collect()
    }

    fn check(&self, _unit: usize, result: &GameResult) -> Result<(), String> {
        if result.demonstrations.scores.is_empty() {
            return Err("has no demonstrations".to_owned());
        }
        if !result.judgements.contains_key("before") {
            return Err("has no evaluation".to_owned());
        }
        Ok(())
    }

    fn results(&self, units: &[&GameResult]) -> Result<Results> {
        let by_game: Vec<&[&GameResult]> = units.chunks(self.seeds as usize).collect();
        let sections = sections::of(&self.games, &self.tables, self.first_seed, &by_game);
        let json = json_text(&sections::json(&self.games, &by_game, units))?;
        let files = vec![
            (SUMMARY.to_owned(), json.clone()),
            (TABLES.to_owned(), sections::markdown(&sections)),
            (
                LEARNING.to_owned(),
                figures::learning(&self.games, &by_game),
            ),
            (
                REPORT.to_owned(),
                page::page(&sections, &self.games, &by_game),
            ),
        ];
        Ok(Results {
            files,
            text: sections::text(&sections, Style::for_stdout()),
            json,
        })
    }

    /// The games of which all seeds are there.
    fn so_far(&self, units: &BTreeMap<usize, &GameResult>) -> Option<String> {
        let seeds = self.seeds as usize;
        let mut games = Vec::new();
        let mut by_game = Vec::new();
        for (at, game) in self.games.iter().enumerate() {
            let of_game = units.range(at * seeds..(at + 1) * seeds);
            let of_game: Vec<&GameResult> = of_game.map(|(_, result)| *result).collect();
            if of_game.len() == seeds {
                games.push(game.clone());
                by_game.push(of_game);
            }
        }
        if games.is_empty() {
            return None;
        }
        let by_game: Vec<&[&GameResult]> = by_game.iter().map(Vec::as_slice).collect();
        let sections = sections::of(&games, &self.tables, self.first_seed, &by_game);
        Some(page::page(&sections, &games, &by_game))
    }

    fn result_names() -> Vec<String> {
        [SUMMARY, TABLES, LEARNING, REPORT]
            .map(str::to_owned)
            .to_vec()
    }
}

pub(super) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let study = Games::new(arguments, common)?;
    let mut folder = StudyFolder::open(&study, &arguments.out, arguments.force)?;
    if arguments.force {
        begin_anew(&arguments.out)?;
    }
    if let Some(built_in) = arguments.built_in() {
        built_in.unpack(&arguments.out.join(DEMONSTRATIONS), arguments.force)?;
    }
    let shard = arguments.shard.unwrap_or_default();
    interrupt::listen();
    let part = shard.select(study.batches()).into_iter().flatten();
    let missing: Vec<usize> = part.filter(|unit| !folder.has(*unit)).collect();
    let threads = rayon::current_num_threads();
    let lanes = arguments.lanes.map_or(threads, usize::from);
    let lanes = lanes.clamp(1, missing.len().max(1));
    let names = study.units();
    let compute = |unit: usize| study.compute(unit, arguments, common);
    run_in_lanes(&mut folder, &missing, lanes, compute, |unit, (done, of)| {
        if !common.quiet {
            announce(&format!("{} is done, {done} of {of}", names[unit]));
        }
    })?;
    if interrupt::requested() {
        bail!("stopped; what was done is kept, and the same command goes on from there");
    }
    let progress = folder.progress();
    let outcome = folder.outcome();
    let results = folder.finish()?;
    super::report(results.as_ref(), progress, Some(&arguments.out), common)?;
    Ok(outcome)
}
