//! Developers' commands of brex: `cargo xtask <command>`.
//!
//! Everything that has to be run more than once during development is a command here, so that it
//! is the same on every machine and in CI. Nothing but a Rust toolchain and `python3` is needed.

mod browser;
mod python;
mod step;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use step::Steps;

const HELP: &str = "\
Developers' commands of brex

Usage: cargo xtask <command>

Commands:
  test [STEP...]   every check that CI runs, or only the named ones, in this order:
                   format, lint, test, docs, python
  test --gpu       the networks on a GPU, or on software Vulkan (Debian: mesa-vulkan-drivers);
                   not part of the above, because it compiles for many minutes
  python           make the Python environment of the checks, and print its interpreter
  bench [ARGS...]  the speed of the samplers next to nuts-rs; ARGS go to the benchmark
  bench-atari [GAME...]
                   steps per second of Atari games, next to ale-py's own vector environment
  bench-games      steps per second of the pocket games, next to MinAtar
  bench-nets       times of networks, next to PyTorch
  bench-ppo        steps of PPO a second, next to Stable-Baselines3
  bench-gridworld  the time of the gridworld study, per chain and per MDP
  peers [ARGS...]  the same problems in NumPyro and nutpie, in a Python environment of its own
  help             this text

Python environments are kept under target/ and are remade when their requirements change.
The interpreter is python3, or the one that PYTHON names.
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[String]) -> Result<()> {
    let project = Project::locate()?;
    let Some((command, rest)) = words.split_first() else {
        print!("{HELP}");
        bail!("no command given");
    };
    match command.as_str() {
        "test" => test(&project, rest),
        "python" => {
            expect_no_arguments(command, rest)?;
            let interpreter = project.checks_environment().ensure()?;
            println!("{}", interpreter.display());
            Ok(())
        }
        "bench" => bench(&project, rest),
        "bench-atari" => bench_atari(&project, rest),
        "bench-games" => {
            expect_no_arguments(command, rest)?;
            bench_games(&project)
        }
        "bench-nets" => {
            expect_no_arguments(command, rest)?;
            bench_nets(&project)
        }
        "bench-ppo" => {
            expect_no_arguments(command, rest)?;
            bench_beside(
                &project,
                "bench-ppo",
                "bench --workspace --bench ppo",
                "ppo",
            )
        }
        "bench-gridworld" => {
            expect_no_arguments(command, rest)?;
            let words = "bench -p brex-tabular --bench gridworld";
            Steps::new().run("bench-gridworld", project.cargo(&split(words)))
        }
        "peers" => peers(&project, rest),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("unknown command {other:?}; `cargo xtask help` lists the commands"),
    }
}

fn expect_no_arguments(command: &str, rest: &[String]) -> Result<()> {
    match rest.first() {
        None => Ok(()),
        Some(word) => bail!("`cargo xtask {command}` takes no arguments, found {word:?}"),
    }
}

/// Where things are.
struct Project {
    root: PathBuf,
    target: PathBuf,
}

impl Project {
    /// The root is the folder above this package; the target folder is the one this program was
    /// built into, whatever set it.
    fn locate() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("xtask has no parent folder")?
            .to_owned();
        let program = std::env::current_exe().context("cannot find this program's own path")?;
        let target = program
            .ancestors()
            .nth(2)
            .context("this program is not in a target folder; run it as `cargo xtask`")?
            .to_owned();
        Ok(Self { root, target })
    }

    /// A cargo command in the project's root, building into the same target folder.
    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command
            .args(arguments)
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    fn brex(&self) -> PathBuf {
        let name = format!("brex{}", std::env::consts::EXE_SUFFIX);
        self.target.join("release").join(name)
    }

    fn checks_environment(&self) -> python::Environment {
        python::Environment {
            folder: self.target.join("python"),
            requirements: self.root.join("python-checks/requirements.txt"),
        }
    }

    fn atari_environment(&self) -> python::Environment {
        python::Environment {
            folder: self.target.join("python-atari"),
            requirements: self.root.join("python-checks/atari-requirements.txt"),
        }
    }

    fn peers_environment(&self) -> python::Environment {
        python::Environment {
            folder: self.target.join("python-peers"),
            requirements: self.root.join("benches/requirements.txt"),
        }
    }
}

const TEST_STEPS: [&str; 5] = ["format", "lint", "test", "docs", "python"];

fn test(project: &Project, only: &[String]) -> Result<()> {
    if only.iter().any(|word| word == "--gpu") {
        expect_no_arguments("test --gpu", &only[1..])?;
        // Says on which adapter it runs, or that there is none.
        let words = "test --workspace --release --features wgpu --test gpu -- --nocapture";
        let mut command = project.cargo(&split(words));
        if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            // Graphics drivers complain without one.
            command.env("XDG_RUNTIME_DIR", &project.target);
        }
        return Steps::new().run("gpu", command);
    }
    if let Some(unknown) = only.iter().find(|w| !TEST_STEPS.contains(&w.as_str())) {
        bail!(
            "unknown step {unknown:?}; expected {}",
            TEST_STEPS.join(", ")
        );
    }
    let chosen = |name: &str| only.is_empty() || only.iter().any(|word| word == name);
    let mut steps = Steps::new();
    if chosen("format") {
        steps.run("format", project.cargo(&["fmt", "--all", "--check"]))?;
    }
    if chosen("lint") {
        let words = "clippy --workspace --all-targets --release -- -D warnings";
        steps.run("lint", project.cargo(&split(words)))?;
    }
    if chosen("test") {
        let interpreter = steps.call("atari", || project.atari_environment().ensure())?;
        let mut command = project.cargo(&["test", "--workspace", "--release"]);
        command.env("BREX_PYTHON", interpreter);
        if let Some(browser) = steps.call("browser", browser::ensure)? {
            command.env("BREX_BROWSER", browser);
        }
        // A snapshot that differs is a failure, never a new file in the tree.
        command.env("INSTA_UPDATE", "no");
        steps.run("test", command)?;
    }
    if chosen("docs") {
        let mut command = project.cargo(&["doc", "--workspace", "--no-deps", "--release"]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        steps.run("docs", command)?;
    }
    if chosen("python") {
        // What the tests were built from holds the binary too; building the one package would
        // compile its dependencies again, with fewer features.
        let words = "test --workspace --release --no-run --quiet";
        steps.run("build", project.cargo(&split(words)))?;
        let interpreter = steps.call("environment", || project.checks_environment().ensure())?;
        let mut command = Command::new(interpreter);
        command
            .args([
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                "python-checks",
            ])
            .current_dir(&project.root)
            .env("BREX_BIN", project.brex())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        steps.run("python", command)?;
    }
    steps.finish();
    Ok(())
}

fn bench(project: &Project, arguments: &[String]) -> Result<()> {
    let mut command = project.cargo(&split("bench -p brex-posterior --bench samplers --"));
    command.args(arguments);
    Steps::new().run("bench", command)
}

fn bench_games(project: &Project) -> Result<()> {
    let bench = "bench -p brex-envs --bench pocket";
    bench_beside(project, "bench-games", bench, "games")
}

fn bench_nets(project: &Project) -> Result<()> {
    let bench = "bench --workspace --bench nets";
    bench_beside(project, "bench-nets", bench, "nets")
}

/// Runs `benches/NAME.py` in an environment of its own, with the command that starts brex's side.
fn bench_beside(project: &Project, step: &'static str, bench: &str, name: &str) -> Result<()> {
    let mut steps = Steps::new();
    let words = format!("{bench} --no-run --quiet");
    steps.run("build", project.cargo(&split(&words)))?;
    let environment = python::Environment {
        folder: project.target.join(format!("python-{name}")),
        requirements: project
            .root
            .join(format!("benches/{name}-requirements.txt")),
    };
    let interpreter = steps.call("environment", || environment.ensure())?;
    let words = format!("{bench} --quiet");
    let ours = project.cargo(&split(&words));
    let mut command = Command::new(interpreter);
    command
        .arg(project.root.join(format!("benches/{name}.py")))
        .arg(ours.get_program())
        .args(ours.get_args())
        .current_dir(&project.root)
        .env("CARGO_TARGET_DIR", &project.target);
    steps.run(step, command)
}

fn bench_atari(project: &Project, games: &[String]) -> Result<()> {
    let mut steps = Steps::new();
    let words = "bench -p brex-envs --bench atari --no-run --quiet";
    steps.run("build", project.cargo(&split(words)))?;
    let interpreter = steps.call("environment", || project.atari_environment().ensure())?;
    let ours = project.cargo(&split("bench -p brex-envs --bench atari --quiet --"));
    let mut command = Command::new(&interpreter);
    command
        .arg(project.root.join("benches/atari.py"))
        .args(games)
        .arg("--brex")
        .arg(ours.get_program())
        .args(ours.get_args())
        .current_dir(&project.root)
        .env("BREX_PYTHON", &interpreter)
        .env("CARGO_TARGET_DIR", &project.target);
    steps.run("bench-atari", command)
}

fn peers(project: &Project, arguments: &[String]) -> Result<()> {
    let named = arguments
        .iter()
        .filter(|word| ["S", "M", "L"].contains(&word.as_str()));
    let mut problems: Vec<&str> = named.map(String::as_str).collect();
    if problems.is_empty() {
        problems.push("S");
    }
    let folder = project.target.join("problems");
    let mut steps = Steps::new();
    steps.run(
        "build",
        project.cargo(&split("build --release -p brex-cli")),
    )?;
    let mut write = project.cargo(&split("bench -p brex-posterior --bench samplers --"));
    write.args(&problems).arg("--write").arg(&folder);
    steps.run("problems", write)?;
    let interpreter = steps.call("environment", || project.peers_environment().ensure())?;
    let mut command = Command::new(interpreter);
    command
        .arg(project.root.join("benches/peers.py"))
        .arg("--problems")
        .arg(&folder)
        .args(arguments)
        .current_dir(&project.root)
        .env("BREX_BIN", project.brex());
    steps.run("peers", command)
}

fn split(words: &str) -> Vec<&str> {
    words.split_whitespace().collect()
}
