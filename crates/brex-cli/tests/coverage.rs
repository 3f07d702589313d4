//! `brex coverage`: the table, its JSON and its figure.

mod common;

use common::Sandbox;

#[test]
fn bounds_hold_at_their_nominal_rate() {
    let sandbox = Sandbox::new();
    let words = "coverage --replicates 400 --feature-count 16 --trajectories 8 --quiet";
    let ran = sandbox.brex(&format!("{words} --plot c.svg")).expect(0);
    assert!(
        ran.stdout.contains("bounds hold at their nominal rate"),
        "{}",
        ran.stdout
    );
    assert!(sandbox.read("c.svg").contains("exactly nominal"));
    let rows = sandbox
        .brex(&format!("{words} --json --threads 1"))
        .expect(0)
        .json();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!((number("nominal") + number("delta") - 1.0).abs() < 1e-12);
        assert!((number("held") - number("nominal")).abs() <= 4.0 * number("standard_error"));
        assert!(number("mean_gap") > 0.0);
    }
    sandbox.brex(&format!("{words} --plot c.svg")).expect(2);
}

#[test]
fn answers_that_depart_from_the_model_are_said_to() {
    let sandbox = Sandbox::new();
    let words = "coverage --replicates 200 --feature-count 4 --trajectories 12 --beta 3 --flip 0.4";
    let ran = sandbox.brex(words).expect(0);
    assert!(
        ran.stdout.contains("40 % of answers flipped"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("do not hold"), "{}", ran.stdout);
    sandbox.brex("coverage --feature-count 1").expect(2);
    sandbox.brex("coverage --flip 0.1 --answers-at 2").expect(2);
}
