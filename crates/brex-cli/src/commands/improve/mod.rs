//! `brex improve`: an agent learns from a learned reward, and a person says after a while whether it
//! plays better.
//!
//! A reward that was learned from demonstrations is wrong where none of them has been, and an agent that
//! looks for what pays goes there. So what it does there is shown to somebody, who ranks it among the
//! demonstrations; the reward is learned again, knowing better; and another agent tries. The one whose
//! episodes rank best is kept.

mod contest;
mod rounds;

use crate::args::Common;
use crate::atari::prepare;
use crate::checksum::checksum;
use crate::exit::Outcome;
use crate::interrupt;
use crate::recorded::RecordedEpisodes;
use crate::run_files::{RunFiles, SETTINGS, check_settings, copy_folder, write_text};
use crate::terminal::{Style, json_text, print, say};
use crate::units::take_lock;
use anyhow::{Context, Result};
use brex_envs::Spec;
use brex_store::{AtomicDir, write_atomic};
use rounds::Rounds;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the trainings and the played episodes are.
const WORK: &str = "improve";
/// The agent of the run's mean reward, if there is one.
const MEAN: &str = "mean.safetensors";

/// Learn, rank what was learned, and learn again
///
/// In each round the encoder and the posterior are learned from all that is ranked by then, an agent
/// learns from the mean reward, and some of its episodes are ranked among the demonstrations, by the
/// true score, which stands in for a person. In pocket games odd rounds differ: snippets are compared
/// that begin at the same step, ends cost the agent nothing, and it learns faster. The agent whose episodes
/// rank best is kept; the one that learned from the run's own mean
/// reward takes part, if there is one. Leaves a run directory with the policy `improved`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A run directory with demonstrations and preferences; it stays as it is
    #[arg(value_name = "DIR")]
    source: PathBuf,
    /// The run directory to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Rounds of learning and ranking
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
    /// Steps of each round's agent [default: 600000 for pocket games, 2000000 for Atari]
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Episodes of each policy that are ranked
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    episodes: u16,
    /// Updates of each pre-training [default: that of `brex pretrain`]
    #[arg(long, value_name = "N")]
    updates: Option<u64>,
    /// Go on where an earlier call with the same flags was stopped
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Replace an existing directory
    #[arg(long)]
    force: bool,
}

impl Arguments {
    fn steps(&self, spec: &Spec) -> u64 {
        let usual = if spec.is_atari() { 2_000_000 } else { 600_000 };
        self.steps.unwrap_or(usual)
    }
}

pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<Outcome> {
    let from = RunFiles::of(&arguments.source);
    let recorded = RecordedEpisodes::read(&from.episodes)?;
    let spec = recorded.spec()?;
    recorded.preferences(&from.preferences)?;
    prepare(spec.name, common.quiet)?;
    let settings = settings(arguments, common, &spec, &recorded)?;
    if arguments.resume {
        check_settings(&arguments.out, &settings)?;
    } else {
        let out = AtomicDir::create(&arguments.out, arguments.force)?;
        begin(&from, out.path(), &settings)?;
        out.commit()?;
    }
    let _lock = take_lock(&arguments.out)?;
    interrupt::listen();
    let mut rounds = Rounds::new(arguments, common, &spec, &recorded)?;
    let champion = match rounds.run() {
        Ok(champion) => champion,
        Err(error) if !interrupt::requested() => return Err(error),
        Err(_) => {
            say("stopped; to go on: the same command with --resume");
            return Ok(Outcome::Done);
        }
    };
    let files = RunFiles::of(&arguments.out);
    let bytes = fs::read(&champion).with_context(|| format!("{}", champion.display()))?;
    let improved = files.policies.join("improved.safetensors");
    write_atomic(&improved, true, |writer| writer.write_all(&bytes))?;
    let contests = &rounds.contests;
    let json = json_text(&contests.json())?;
    write_text(&arguments.out.join("improve.json"), &json)?;
    write_text(&arguments.out.join("improve.svg"), &contests.picture())?;
    if common.json {
        print(&json)?;
        return Ok(Outcome::Done);
    }
    print(&contests.text(Style::for_stdout()))?;
    let (out, improved) = (arguments.out.display(), improved.display());
    say(&format!(
        "written to {out}\nlook at {out}/improve.svg\n\
         next: brex rollout {} --policy {improved} --episodes 100",
        spec.name
    ));
    Ok(Outcome::Done)
}

/// A run with the demonstrations, preferences and policies of another.
fn begin(from: &RunFiles, directory: &Path, settings: &str) -> Result<()> {
    let to = RunFiles::of(directory);
    let work = directory.join(WORK);
    fs::create_dir_all(&work).with_context(|| format!("{}", work.display()))?;
    copy_folder(&from.episodes, &to.episodes)?;
    fs::create_dir_all(&to.policies).with_context(|| format!("{}", to.policies.display()))?;
    if from.policies.is_dir() {
        copy_folder(&from.policies, &to.policies)?;
    }
    let mean = to.policies.join(MEAN);
    if mean.exists() {
        fs::rename(&mean, work.join(MEAN)).with_context(|| format!("{}", mean.display()))?;
    }
    let preferences = fs::read_to_string(&from.preferences);
    let preferences = preferences.with_context(|| format!("{}", from.preferences.display()))?;
    write_text(&to.preferences, &preferences)?;
    Ok(write_text(&directory.join(SETTINGS), settings)?)
}

/// The settings as a file that `--config` takes, with what tells the source from others.
fn settings(
    arguments: &Arguments,
    common: &Common,
    spec: &Spec,
    recorded: &RecordedEpisodes,
) -> Result<String> {
    use toml::{Table, Value};
    let number = |value: u64| Value::String(value.to_string());
    let mut flags = Table::from_iter([
        ("rounds".to_owned(), number(arguments.rounds.into())),
        ("steps".to_owned(), number(arguments.steps(spec))),
        ("episodes".to_owned(), number(arguments.episodes.into())),
        ("seed".to_owned(), number(common.seed)),
    ]);
    if let Some(updates) = arguments.updates {
        flags.insert("updates".to_owned(), number(updates));
    }
    let files = RunFiles::of(&arguments.source);
    let mean = fs::read(files.policies.join(MEAN)).unwrap_or_default();
    let preferences = fs::read(&files.preferences);
    let preferences = preferences.with_context(|| format!("{}", files.preferences.display()))?;
    let made_by = Table::from_iter([
        ("brex".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ("environment".to_owned(), spec.name.into()),
        ("demonstrations".to_owned(), recorded.identity().into()),
        ("preferences".to_owned(), checksum(&preferences).into()),
        ("mean-agent".to_owned(), checksum(&mean).into()),
    ]);
    let file = Table::from_iter([
        ("improve".to_owned(), Value::Table(flags)),
        (crate::config::MADE_BY.to_owned(), Value::Table(made_by)),
    ]);
    let text = toml::to_string(&file).context("cannot write the settings as TOML")?;
    Ok(format!(
        "# To do it again: brex improve SOURCE --config run.toml --out DIR\n\n{text}"
    ))
}
