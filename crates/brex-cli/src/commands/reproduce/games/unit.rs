//! One game with one seed: from demonstrations to all numbers of the tables.

use super::figures::{self, taken_after, thinned_curve};
use super::given;
use super::pictures;
use super::prefix;
use super::result::{Ablated, GameResult, Judgement, Order, Played};
use super::scale::Scale;
use super::tables::PaperTable;
use crate::args::{Command, Common};
use crate::checksum::checksum;
use crate::commands::baseline;
use crate::commands::kept_steps::KeptSteps;
use crate::commands::run_evaluation::RunEvaluation;
use crate::commands::steps::{first_rollout, parsed, rank_by_score};
use crate::numbers;
use crate::run_files::{RunFiles, copy_folder, rollouts_of};
use crate::terminal::json_text;
use anyhow::{Context, Result, bail};
use brex_envs::{Script, make};
use brex_store::read_run_features;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Rollouts that scores of agents are averaged over, as in the paper.
const JUDGED_BY: usize = 30;
/// Demonstrations for GAIL, about as good as the best ranked one.
const EXPERTS: &str = "10";
/// Policies that are kept of an agent; a posterior's is chosen from them.
const CANDIDATES: &str = "10";
/// The paper's other methods that bound returns.
const METHODS: [&str; 2] = ["ensemble", "dropout"];
/// Agents by what they learn from.
pub(super) const LEARNERS: [&str; 7] = [
    "mean", "asked", "map", "trex", "gail", "ensemble", "dropout",
];
/// Losses that pre-training does without, beside all of them.
const ABLATIONS: [&str; 2] = ["ranking", "self-supervised"];

/// What to do, and where.
pub(super) struct Unit<'a> {
    pub(super) game: &'a str,
    pub(super) scale: &'a Scale,
    pub(super) tables: &'a [PaperTable],
    /// The agents that learn; all that the tables need if there are none.
    pub(super) agents: &'a [String],
    /// Whether episodes to look at are kept.
    pub(super) shows: bool,
    pub(super) common: Common,
    /// A directory with demonstrations that exist, and what tells them from others.
    pub(super) given: Option<(&'a Path, &'a str)>,
    /// The run directory.
    pub(super) run: PathBuf,
    /// Where it is written down what was done.
    pub(super) notes: PathBuf,
}

impl Unit<'_> {
    fn has(&self, table: PaperTable) -> bool {
        self.tables.contains(&table)
    }

    fn wants(&self, reward: &str) -> bool {
        let asked_for = self.agents.is_empty() || self.agents.iter().any(|name| name == reward);
        asked_for && self.tables.iter().any(|table| table.needs(reward))
    }

    /// Does what is not done yet.
    pub(super) fn compute(&self) -> Result<GameResult> {
        let files = RunFiles::of(&self.run);
        let mut steps = KeptSteps::new(self.notes.clone(), &self.run, &self.common)?;
        let run = self.run.display().to_string();
        let judge = self.judging(&run)?;
        let judge: Vec<&str> = judge.iter().map(String::as_str).collect();
        self.demonstrate(&mut steps, &run)?;
        let updates = self.scale.updates.to_string();
        let learn = ["pretrain", &run, "--updates", &updates];
        steps.step("pretrain", &learn, Some(&self.run.join("pretraining")))?;
        steps.step("features", &judge, None)?;
        steps.step("sample", &["sample", &run], None)?;
        if self.wants("mean") {
            self.learn(&mut steps, &run, "mean")?;
        }
        if self.wants("asked") && self.scale.rounds > 0 {
            self.improve(&mut steps, &run)?;
        }
        for reward in ["map", "trex"] {
            if self.wants(reward) {
                self.learn(&mut steps, &run, reward)?;
            }
        }
        if self.wants("gail") {
            self.imitate(&mut steps, &run)?;
        }
        let mut ablation = BTreeMap::new();
        if self.has(PaperTable::Ablation) {
            for losses in ABLATIONS {
                ablation.insert(losses.to_owned(), self.ablate(&mut steps, losses)?);
            }
        }
        let baselines = self.has(PaperTable::Baselines);
        if baselines {
            for method in METHODS {
                let words = self.baseline_words(&run, method);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                steps.step(&format!("networks-{method}"), &words, None)?;
                if self.wants(method) {
                    self.learn(&mut steps, &run, method)?;
                }
            }
        }
        steps.step("features-of-all", &judge, None)?;
        // The returns of the agents have to converge too.
        steps.step("sample-of-all", &["sample", &run], None)?;
        let mut judgements = BTreeMap::new();
        let mut keep = |name: &str, text: &str| -> Result<()> {
            let judgement: Judgement = serde_json::from_str(text)
                .with_context(|| format!("{name} of {} cannot be read", self.game))?;
            judgements.insert(name.to_owned(), judgement);
            Ok(())
        };
        keep("before", &steps.text("before", || self.evaluate(&run))?)?;
        if self.has(PaperTable::Prefix) {
            let compared = ["D", "mean", "hacker"].into_iter();
            let compared: Vec<&str> = compared
                .filter(|name| rollouts_of(&files, name).exists())
                .collect();
            let text = steps.text("prefix", || {
                prefix::judged(
                    &files,
                    self.game,
                    &compared,
                    self.scale.prefix,
                    &self.common,
                )
            });
            keep("prefix", &text?)?;
        }
        if baselines {
            for method in METHODS {
                keep(method, &steps.text(method, || self.baseline(&run, method))?)?;
            }
        }
        let features = read_run_features(&files.features)?;
        let demonstrations = steps.text("demonstrations", || {
            let sums = &features.episodes;
            Ok(json_text(&Played::of(sums, sums.scores.len()))?)
        })?;
        let (mut learned, mut curves) = (BTreeMap::new(), BTreeMap::new());
        let mut taken = BTreeMap::new();
        for policy in &features.policies {
            if LEARNERS.contains(&policy.name.as_str()) {
                learned.insert(policy.name.clone(), Played::of(&policy.sums, JUDGED_BY));
                let training = self.run.join("learned").join(&policy.name);
                if training.exists() {
                    curves.insert(policy.name.clone(), thinned_curve(&training)?);
                    if let Some(steps) = taken_after(&training)? {
                        taken.insert(policy.name.clone(), steps);
                    }
                }
            }
        }
        if self.has(PaperTable::Ablation) {
            let all = Ablated {
                held_out_accuracy: held_out(&self.run)?,
                order: judgements
                    .get("before")
                    .map(order_of_ladder)
                    .unwrap_or_default(),
                played: learned.get("mean").cloned().unwrap_or_default(),
            };
            ablation.insert("all".to_owned(), all);
        }
        // Before episodes of agents are ranked among the demonstrations.
        let clips = if self.shows {
            steps.text("clips", || {
                Ok(json_text(&pictures::clips(&files, self.game, &learned)?)?)
            })?
        } else {
            "[]".to_owned()
        };
        if self.has(PaperTable::Risk) {
            self.ask(&mut steps, &files, &run)?;
            steps.step("features-asked", &judge, None)?;
            steps.step("sample-asked", &["sample", &run], None)?;
            let after = steps.text("after", || self.evaluate(&run))?;
            let after = serde_json::from_str(&after).context("the second evaluation")?;
            judgements.insert("after".to_owned(), after);
        }
        Ok(GameResult {
            demonstrations: serde_json::from_str(&demonstrations)?,
            clips: serde_json::from_str(&clips)?,
            learned,
            curves,
            taken,
            judgements,
            ablation,
        })
    }

    /// The command that plays rollouts and sums features over them.
    fn judging(&self, run: &str) -> Result<Vec<String>> {
        let rollouts = self.scale.rollouts.to_string();
        let words = ["features", run, "--rollouts", &rollouts];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        if let Some(steps) = self.scale.max_steps {
            words.extend(["--max-steps".to_owned(), steps.to_string()]);
        }
        let scripts = make(self.game)?.scripts().len();
        if scripts == Script::ALL.len() {
            words.push("--ladder".to_owned());
        }
        if let Some((directory, _)) = self.given {
            for (name, folder) in given::recorded_policies(directory)? {
                words.extend([
                    "--policy".to_owned(),
                    format!("{name}={}", folder.display()),
                ]);
            }
        }
        Ok(words)
    }

    fn demonstrate(&self, steps: &mut KeptSteps, run: &str) -> Result<()> {
        if let Some((directory, identity)) = self.given {
            let name = format!("given-{}", checksum(identity.as_bytes()));
            steps.text(&name, || {
                given::copy(directory, &self.run)?;
                Ok(String::new())
            })?;
            return Ok(());
        }
        let count = self.scale.demonstrator_steps.to_string();
        let rollouts = self.scale.rollouts.to_string();
        let demonstrations = self.scale.count.to_string();
        let words = [
            "demos",
            self.game,
            "--out",
            run,
            "--count",
            &demonstrations,
            "--steps",
            &count,
            "--episodes",
            &rollouts,
        ];
        steps.step("demos", &words, Some(&self.run.join("training")))
    }

    /// An agent learns from a reward of a run.
    fn learn(&self, steps: &mut KeptSteps, run: &str, reward: &str) -> Result<()> {
        let out = Path::new(run).join("learned").join(reward);
        let source = format!("{run}:{reward}");
        self.train(
            steps,
            &format!("learn-{}-{reward}", stem(run)),
            &source,
            &out,
            &[],
        )
    }

    fn train(
        &self,
        steps: &mut KeptSteps,
        name: &str,
        source: &str,
        out: &Path,
        more: &[&str],
    ) -> Result<()> {
        let (count, shown) = (
            self.scale.learner_steps.to_string(),
            out.display().to_string(),
        );
        // Emulated games are slow to judge by.
        let kept = if self.given.is_none() {
            CANDIDATES
        } else {
            "1"
        };
        let words = [
            "train",
            self.game,
            "--reward",
            source,
            "--steps",
            &count,
            "--policies",
            kept,
            "--out",
            &shown,
        ];
        let words = [&words, more].concat();
        steps.step(name, &words, Some(out))
    }

    /// Rounds of ranking what was learned and of learning again, beginning with the agent that learned
    /// from the mean reward.
    fn improve(&self, steps: &mut KeptSteps, run: &str) -> Result<()> {
        let out = self.run.join("asked");
        let (rounds, count, updates, shown) = (
            self.scale.rounds.to_string(),
            self.scale.learner_steps.to_string(),
            self.scale.baseline_updates.to_string(),
            out.display().to_string(),
        );
        let words = [
            "improve",
            run,
            "--rounds",
            &rounds,
            "--steps",
            &count,
            "--updates",
            &updates,
            "--out",
            &shown,
        ];
        steps.step("improve", &words, Some(&out))?;
        let from = RunFiles::of(&out).policies.join("improved.safetensors");
        self.joins(steps, "asked", || Ok(from))
    }

    /// A policy that was trained elsewhere is one of the run's.
    fn joins(
        &self,
        steps: &mut KeptSteps,
        name: &str,
        from: impl FnOnce() -> Result<PathBuf>,
    ) -> Result<()> {
        let to = RunFiles::of(&self.run).policies;
        steps.text(&format!("{name}-joins"), || {
            let from = from()?;
            fs::copy(&from, to.join(format!("{name}.safetensors")))
                .with_context(|| format!("{}: cannot copy", from.display()))?;
            Ok(String::new())
        })?;
        Ok(())
    }

    /// GAIL, from the ten best demonstrations: of as many as there are in pocket games they are as good as
    /// the best; of the few of an Atari game, the usual number.
    fn imitate(&self, steps: &mut KeptSteps, run: &str) -> Result<()> {
        let out = self.run.join("learned").join("gail");
        let source = format!("{run}:gail");
        let experts: &[&str] = match self.given {
            None => &["--experts", EXPERTS],
            Some(_) => &[],
        };
        self.train(steps, "learn-gail", &source, &out, experts)
    }

    /// Pre-trains without some of the losses, on the same demonstrations and rollouts.
    fn ablate(&self, steps: &mut KeptSteps, losses: &str) -> Result<Ablated> {
        let directory = self.run.join(format!("ablation-{losses}"));
        let run = directory.display().to_string();
        let files = RunFiles::of(&self.run);
        steps.text(&format!("copied-{losses}"), || {
            if directory.exists() {
                fs::remove_dir_all(&directory).with_context(|| run.clone())?;
            }
            let folders = [&files.episodes, &files.policies, &files.rollouts];
            for folder in folders.into_iter().filter(|folder| folder.exists()) {
                copy_folder(
                    folder,
                    &directory.join(folder.file_name().unwrap_or_default()),
                )?;
            }
            let copied = RunFiles::of(&directory);
            for name in LEARNERS {
                forget(&copied, name)?;
            }
            let to = copied.preferences;
            fs::copy(&files.preferences, &to).with_context(|| format!("{}", to.display()))?;
            Ok(String::new())
        })?;
        let updates = self.scale.updates.to_string();
        let words = ["pretrain", &run, "--updates", &updates, "--losses", losses];
        let begun = directory.join("pretraining");
        steps.step(&format!("pretrain-{losses}"), &words, Some(&begun))?;
        let judge = self.judging(&run)?;
        let judge: Vec<&str> = judge.iter().map(String::as_str).collect();
        steps.step(&format!("features-{losses}"), &judge, None)?;
        steps.step(&format!("sample-{losses}"), &["sample", &run], None)?;
        let judged = steps.text(&format!("judged-{losses}"), || self.evaluate(&run))?;
        let judged: Judgement = serde_json::from_str(&judged).context(run.clone())?;
        if self.wants("mean") {
            self.learn(steps, &run, "mean")?;
        }
        steps.step(&format!("features-learned-{losses}"), &judge, None)?;
        let features = read_run_features(&RunFiles::of(&directory).features)?;
        let mean = features
            .policies
            .iter()
            .find(|policy| policy.name == "mean");
        let sums = mean.map(|policy| &policy.sums);
        Ok(Ablated {
            held_out_accuracy: held_out(&directory)?,
            order: order_of_ladder(&judged),
            played: sums.map_or_else(Played::default, |sums| Played::of(sums, JUDGED_BY)),
        })
    }

    fn evaluate(&self, run: &str) -> Result<String> {
        let words = ["evaluate", run].map(str::to_owned);
        let Command::Evaluate(arguments) = parsed(&words, self.common.seed)?.command else {
            bail!("not an evaluation");
        };
        let judged = RunEvaluation::execute(&arguments, Path::new(run), &self.common)?;
        let mut json = serde_json::to_value(judged.json())?;
        let policies = json["policies"].as_array_mut();
        for (policy, index) in policies.into_iter().flatten().zip(judged.order()) {
            let judged = &judged.evaluation.policies[index];
            if figures::DRAWN.contains(&judged.name.as_str()) {
                policy["returns"] = figures::thinned_returns(&judged.returns).into();
            }
        }
        Ok(json_text(&json)?)
    }

    fn baseline_words(&self, run: &str, method: &str) -> Vec<String> {
        let updates = self.scale.baseline_updates.to_string();
        let mut words = vec!["baseline", method, run, "--updates", &updates];
        let networks = self.scale.networks.to_string();
        if method == "ensemble" {
            words.extend(["--networks", &networks]);
        }
        words.into_iter().map(str::to_owned).collect()
    }

    /// The evaluation by networks that are there.
    fn baseline(&self, run: &str, method: &str) -> Result<String> {
        let words = self.baseline_words(run, method);
        let Command::Baseline(arguments) = parsed(&words, self.common.seed)?.command else {
            bail!("not a baseline");
        };
        Ok(json_text(
            &baseline::execute(&arguments, &self.common)?.json(),
        )?)
    }

    /// An episode of the agent that learned from the MAP reward and one of No-Op are ranked.
    fn ask(&self, steps: &mut KeptSteps, files: &RunFiles, run: &str) -> Result<()> {
        let there = |name: &&str| rollouts_of(files, name).exists();
        for name in ["map", "No-Op"].into_iter().filter(there) {
            let episode = first_rollout(files, name).display().to_string();
            let rank = match name {
                "No-Op" => vec!["worse-than-all".to_owned()],
                _ => {
                    let text = steps.text("rank-of-map", || {
                        Ok(rank_by_score(files, &first_rollout(files, name))?.join("\n"))
                    })?;
                    text.lines().map(str::to_owned).collect()
                }
            };
            let mut words = vec!["demos", run, "--add", &episode, "--rank"];
            words.extend(rank.iter().map(String::as_str));
            steps.step(&format!("ask-{name}"), &words, None)?;
        }
        Ok(())
    }
}

/// Rank correlations over the policies that did not learn from a reward.
fn order_of_ladder(judged: &Judgement) -> Order {
    let counts = |name: &str| !LEARNERS.contains(&name);
    let counted = judged.policies.iter().filter(|one| counts(&one.policy));
    Order {
        policies: counted.count(),
        mean: judged.order(|policy| Some(policy.mean), counts),
        bound: judged.order(|policy| policy.var, counts),
        ..Order::default()
    }
}

/// Takes a policy and its rollouts out of a run, if they are there.
pub(super) fn forget(files: &RunFiles, name: &str) -> Result<()> {
    let policy = files.policies.join(format!("{name}.safetensors"));
    if policy.exists() {
        fs::remove_file(&policy).with_context(|| format!("{}", policy.display()))?;
    }
    let rollouts = rollouts_of(files, name);
    if rollouts.exists() {
        fs::remove_dir_all(&rollouts).with_context(|| format!("{}", rollouts.display()))?;
    }
    Ok(())
}

fn stem(run: &str) -> String {
    let name = Path::new(run).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The share of kept-back pairs that a pre-training ranks right, from its log.
fn held_out(run: &Path) -> Result<Option<f64>> {
    let path = run.join("pretraining").join("losses.csv");
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let mut lines = text.lines();
    let heads = lines.next().unwrap_or_default();
    let Some(column) = heads
        .split(',')
        .position(|head| head == "held_out_accuracy")
    else {
        bail!("{}: has no column held_out_accuracy", path.display());
    };
    let mut known = lines.filter_map(|line| line.split(',').nth(column)?.parse().ok());
    Ok(known.next_back())
}

/// Rank correlations as a table has them.
pub(super) fn two_digits(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| numbers::fixed(value, 2))
}
