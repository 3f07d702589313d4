//! `brex quickstart --made-up`: features and preferences, and that the trap in them is seen through.

mod common;

use common::Sandbox;

#[test]
fn the_trap_has_a_high_mean_and_a_low_bound() {
    let sandbox = Sandbox::new();
    let ran = sandbox.brex("quickstart --made-up --json").expect(0);
    let found = ran.json();
    assert_eq!(found["check"]["trajectories"], 12);
    assert_eq!(found["check"]["features"], 64);
    assert_eq!(found["check"]["comparisons"], 66);
    assert_eq!(found["sample"]["converged"], true);
    let policies = found["evaluate"].as_array().unwrap();
    assert_eq!(policies[0]["policy"], "expert");
    let mean = |policy: &serde_json::Value| policy["mean"].as_f64().unwrap();
    let trap = policies
        .iter()
        .find(|policy| policy["policy"] == "waits")
        .unwrap();
    assert!(policies.iter().all(|policy| mean(policy) <= mean(trap)));
    assert!(trap["var"].as_f64().unwrap() < policies[0]["var"].as_f64().unwrap() / 2.0);
    assert!(
        ran.stderr.contains("waits has the highest mean"),
        "{}",
        ran.stderr
    );
    for name in [
        "features.csv",
        "preferences.csv",
        "policies.json",
        "returns.svg",
        "posterior",
    ] {
        assert!(
            sandbox.path("brex-quickstart").join(name).exists(),
            "{name}"
        );
    }
}

#[test]
fn the_commands_that_it_shows_do_the_same() {
    let sandbox = Sandbox::new();
    let ran = sandbox
        .brex("quickstart --made-up --out q --seed 3")
        .expect(0);
    let shown: Vec<&str> = ran
        .stdout
        .lines()
        .filter_map(|l| l.strip_prefix("$ brex "))
        .collect();
    assert_eq!(shown.len(), 3);
    let before = sandbox.files();
    for words in shown {
        let force = if words.starts_with("check") {
            ""
        } else {
            "--force"
        };
        sandbox.brex(&format!("{words} {force}")).expect(0);
    }
    assert!(sandbox.files() == before);
    sandbox.brex("quickstart --made-up --out q").expect(2);
    sandbox
        .brex("quickstart --made-up --out q --force --seed 3")
        .expect(0);
    assert!(sandbox.files() == before);
}
