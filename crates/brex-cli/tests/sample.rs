//! `brex sample`: what it writes, and that the same seed gives the same bytes.

mod common;

use common::{POLICIES, Sandbox, files_below};

const SAMPLE: &str = "sample --features phi.csv --preferences prefs.csv";

/// Times and what depends on rounding in the sampler, replaced.
fn redacted() -> insta::internals::SettingsBindDropGuard {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+(\.\d+)? (ms|s|min)\b", "[TIME]");
    settings.add_filter(r"\d+\.\d+", "[N]");
    settings.add_filter(r" +\d+  >= 400", " [N]  >= 400");
    settings.add_filter(r"(effective draws, bulk) +\d+", "$1 [N]");
    settings.add_filter(r"at least \d+ effective", "at least [N] effective");
    settings.add_filter(r"(400|1\.01)  (weight|return|log) .*", "$1  [QUANTITY]");
    settings.add_filter(r"  (weight|return|log)\b.*", "  [QUANTITY]");
    settings.add_filter(r"\d+ draws in", "[N] draws in");
    settings.add_filter(r"[0-9],\[N\] draws", "[N] draws");
    settings.bind_to_scope()
}

#[test]
fn a_run_reports_and_leaves_a_whole_directory() {
    let sandbox = Sandbox::with_problem();
    let ran = sandbox
        .brex(&format!("{SAMPLE} --draws 8000 --out run"))
        .expect(0);
    {
        let _guard = redacted();
        insta::assert_snapshot!(ran.seen());
    }
    for name in [
        "posterior.zarr",
        "run.toml",
        "summary.json",
        "state.safetensors",
    ] {
        assert!(sandbox.path("run").join(name).exists(), "{name}");
    }
    let settings = sandbox.read("run/run.toml");
    let settings = settings.replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    insta::assert_snapshot!("run_toml", settings);
    // The policies that go with it can be judged, and draws exported.
    sandbox.write("policies.json", POLICIES);
    sandbox
        .brex("evaluate --posterior run --policies policies.json --plot p.png")
        .expect(0);
    let ran = sandbox
        .brex("export --posterior run --draws d.npy --json")
        .expect(0);
    assert_eq!(ran.json()["draws"], 8000);
    assert_eq!(ran.json()["features"], 3);
}

#[test]
fn json_says_what_programs_need() {
    let sandbox = Sandbox::with_problem();
    let found = sandbox
        .brex(&format!("{SAMPLE} --json --out run"))
        .expect(0)
        .json();
    assert_eq!(found["sampler"], "hmc");
    assert_eq!(found["converged"], true);
    let number = |key: &str| found[key].as_f64().unwrap_or_else(|| panic!("{key}"));
    assert!(number("max_rhat") < 1.01);
    assert!(number("min_ess_tail") >= 400.0 && number("min_ess_bulk") > 400.0);
    assert!(number("draws") >= 400.0 && number("chains") >= 2.0);
    assert!(number("seconds") >= number("warmup_seconds"));
    assert!(number("diagnostics_seconds") >= 0.0);
    let summary: serde_json::Value =
        serde_json::from_str(&sandbox.read("run/summary.json")).unwrap();
    assert_eq!(summary["draws"], found["draws"]);
    assert_eq!(summary["mean_reward"].as_array().unwrap().len(), 3);
    assert!(summary.get("seconds").is_none(), "times do not repeat");
}

#[test]
fn draws_that_have_not_converged_have_exit_code_3() {
    let sandbox = Sandbox::with_problem();
    let words = format!("{SAMPLE} --draws 40 --chains 2 --out run");
    let ran = sandbox.brex(&words).expect(3);
    assert!(ran.stdout.contains("not converged: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("fewer than 400"), "{}", ran.stdout);
    let ran = sandbox.brex(&format!("{words} --force --json")).expect(3);
    assert_eq!(ran.json()["draws"], 40);
    assert_eq!(ran.json()["converged"], false);
    // Bounds from them are refused.
    sandbox.write("policies.json", POLICIES);
    let evaluate = "evaluate --posterior run --policies policies.json";
    let ran = sandbox.brex(evaluate).expect(3);
    assert!(ran.stdout.contains("not converged"), "{}", ran.stdout);
    let ran = sandbox.brex(&format!("{evaluate} --json")).expect(3);
    assert!(ran.json()[0]["var"].is_null() && ran.json()[0]["refused"].is_string());
    let ran = sandbox
        .brex(&format!("{evaluate} --json --untrusted"))
        .expect(3);
    assert!(ran.json()[0]["var"].is_number() && ran.json()[0]["refused"].is_null());
}

#[test]
fn every_sampler_and_prior_runs() {
    let sandbox = Sandbox::with_problem();
    for sampler in ["hmc", "random-walk", "slice"] {
        for prior in ["sphere", "nonnegative", "gaussian"] {
            let flags =
                format!("--sampler {sampler} --prior {prior} --draws 2000 --out run --force");
            let ran = sandbox.brex(&format!("{SAMPLE} --json {flags}"));
            assert!(matches!(ran.code, Some(0 | 3)), "{flags}: {}", ran.stderr);
            assert_eq!(ran.json()["sampler"], sampler);
            assert_eq!(ran.json()["prior"], prior);
            assert_eq!(ran.json()["draws"], 2000);
        }
    }
    let flags = "--sampler random-walk --step 0.2 --burn-in 10 --thinning 3 --draws 100 --out walk";
    let ran = sandbox.brex(&format!("{SAMPLE} {flags}"));
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    assert!(sandbox.read("walk/run.toml").contains("step = 0.2"));
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let sandbox = Sandbox::with_problem();
    for sampler in ["hmc", "random-walk", "slice"] {
        let words = format!("{SAMPLE} --quiet --sampler {sampler} --draws 2000 --force");
        let mut first = None;
        for threads in [1, 2, 5] {
            sandbox.brex(&format!("{words} --threads {threads} --out run"));
            let files = files_below(&sandbox.path("run"));
            assert!(!files.is_empty());
            assert!(
                *first.get_or_insert(files.clone()) == files,
                "{sampler}, {threads} threads"
            );
        }
        sandbox.brex(&format!("{words} --seed 1 --out run"));
        assert!(
            first != Some(files_below(&sandbox.path("run"))),
            "the seed does nothing"
        );
    }
}

#[test]
fn a_run_that_goes_on_equals_one_that_was_never_stopped() {
    let sandbox = Sandbox::with_problem();
    for sampler in ["hmc", "random-walk", "slice"] {
        let words = format!("{SAMPLE} --quiet --sampler {sampler}");
        let once = sandbox.path("once");
        let _ = std::fs::remove_dir_all(&once);
        sandbox.brex(&format!("{words} --draws 4000 --out once"));
        sandbox.brex(&format!("{words} --draws 1600 --out twice --force"));
        sandbox.brex(&format!("{words} --draws 4000 --out twice --resume"));
        let (once, twice) = (files_below(&once), files_below(&sandbox.path("twice")));
        for (name, content) in &once {
            assert!(
                twice.get(name) == Some(content),
                "{sampler}: {name} differs"
            );
        }
        assert_eq!(once.len(), twice.len());
    }
}

#[test]
fn going_on_with_something_else_is_refused() {
    let sandbox = Sandbox::with_problem();
    sandbox
        .brex(&format!("{SAMPLE} --draws 8000 --out run --quiet"))
        .expect(0);
    let before = files_below(&sandbox.path("run"));
    for (flags, what) in [
        ("--prior gaussian", "prior"),
        ("--beta 2", "beta"),
        ("--evidence trajectory", "evidence"),
        ("--seed 5", "seed"),
        ("--sampler slice", "sampler"),
        ("--chains 3", "chains"),
    ] {
        let words = format!("{SAMPLE} --draws 9600 --out run --resume {flags}");
        let ran = sandbox.brex(&words).expect(2);
        assert!(
            ran.stderr.contains("cannot go on") && ran.stderr.contains(what),
            "{}",
            ran.stderr
        );
    }
    sandbox.write("prefs.csv", "worse,better\na,b\n");
    let ran = sandbox
        .brex(&format!("{SAMPLE} --draws 9600 --out run --resume"))
        .expect(2);
    assert!(ran.stderr.contains("inputs"), "{}", ran.stderr);
    sandbox
        .brex(&format!("{SAMPLE} --out no --resume"))
        .expect(2);
    assert!(files_below(&sandbox.path("run")) == before);
}

#[test]
fn run_toml_does_it_again() {
    let sandbox = Sandbox::with_problem();
    let flags = "--sampler slice --prior nonnegative --beta 0.5 --seed 9 --draws 1000 --chains 4";
    sandbox.brex(&format!("{SAMPLE} {flags} --out first"));
    sandbox.brex("sample --config first/run.toml --out second");
    assert!(files_below(&sandbox.path("first")) == files_below(&sandbox.path("second")));
}

#[test]
fn beta_is_found_by_keeping_the_best_trajectories_back() {
    let sandbox = Sandbox::new();
    // Returns are what the first feature says, but answers are only right three times in four.
    let rows = (0..24).map(|i| format!("{},{}\n", 10 * i, (i * 7) % 5));
    sandbox.write("phi.csv", format!("x,y\n{}", rows.collect::<String>()));
    let mut answers = String::from("worse,better\n");
    for a in 0..24 {
        for b in a + 1..24 {
            let (worse, better) = if (a * 5 + b * 3) % 4 == 0 {
                (b, a)
            } else {
                (a, b)
            };
            answers.push_str(&format!("{worse},{better}\n"));
        }
    }
    sandbox.write("prefs.csv", &answers);
    let ran = sandbox
        .brex(&format!("{SAMPLE} --beta auto --out found"))
        .expect(0);
    assert!(
        ran.stdout.contains("the best 10 of 24 trajectories"),
        "{}",
        ran.stdout
    );
    let summary: serde_json::Value =
        serde_json::from_str(&sandbox.read("found/summary.json")).unwrap();
    let beta = summary["beta"].as_f64().unwrap();
    assert!((0.001..0.1).contains(&beta), "{beta}");
    let tried = summary["beta_tried"].as_array().unwrap();
    let loss = |beta: f64| {
        let one = tried.iter().find(|one| one["beta"] == beta).unwrap();
        one["loss"].as_f64().unwrap()
    };
    assert!(loss(beta) < 0.69 && loss(beta) < loss(1.0), "{tried:?}");
    // The same again: found again, and the same bytes; going on too.
    sandbox
        .brex("sample --config found/run.toml --out again")
        .expect(0);
    assert!(files_below(&sandbox.path("found")) == files_below(&sandbox.path("again")));
    sandbox
        .brex(&format!("{SAMPLE} --beta auto --out found --resume"))
        .expect(0);
    let ran = sandbox.brex(&format!("{SAMPLE} --beta {beta} --out found --resume"));
    assert!(ran.expect(2).stderr.contains("beta_from"));
}

#[test]
fn too_few_trajectories_leave_beta_at_one() {
    let sandbox = Sandbox::with_problem();
    sandbox.write("prefs.csv", "worse,better\na,b\nb,c\n");
    let ran = sandbox
        .brex(&format!("{SAMPLE} --beta auto --out run"))
        .expect(0);
    assert!(ran.stdout.contains("beta 1: 3 compared"), "{}", ran.stdout);
    let check = "check --features phi.csv --preferences prefs.csv --beta auto";
    sandbox.brex(check).expect(0);
}

#[test]
fn the_lowest_trajectory_is_found_or_named() {
    let sandbox = Sandbox::with_problem();
    let words = format!("{SAMPLE} --prior nonnegative --draws 2000 --force --out run");
    let ran = sandbox.brex(&words);
    assert!(
        ran.stderr
            .contains("trajectory a is taken to be not negative"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.brex(&format!("{words} --lowest c"));
    assert!(
        ran.stderr.contains("trajectory c is taken"),
        "{}",
        ran.stderr
    );
    let ran = sandbox.brex(&format!("{words} --lowest 3"));
    assert!(
        ran.stderr.contains("trajectory d is taken"),
        "{}",
        ran.stderr
    );
}

#[test]
fn quiet_says_nothing_on_standard_error() {
    let sandbox = Sandbox::with_problem();
    let words = format!("{SAMPLE} --prior nonnegative --draws 4000 --quiet --out run");
    let ran = sandbox.brex(&words).expect(0);
    assert_eq!(ran.stderr, "");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let sandbox = Sandbox::with_problem();
    let words = format!("{SAMPLE} --sampler random-walk --draws 40000000 --chains 2 --out run");
    let child = sandbox
        .command(&words)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let id = child.id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .unwrap();
    assert!(killed.success());
    let ran = common::Ran::from(child.wait_with_output().unwrap());
    assert!(
        matches!(ran.code, Some(0 | 3)),
        "{:?} {}",
        ran.code,
        ran.stderr
    );
    assert!(ran.stderr.contains("interrupted"), "{}", ran.stderr);
    let summary: serde_json::Value =
        serde_json::from_str(&sandbox.read("run/summary.json")).unwrap();
    assert_eq!(summary["stopped"], true);
    assert!(summary["draws"].as_u64().unwrap() > 0);
}
