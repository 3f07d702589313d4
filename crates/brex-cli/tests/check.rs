//! `brex check` on clean and on odd data.

mod common;

use common::{PREFERENCES, Sandbox};

#[test]
fn clean_data() {
    let sandbox = Sandbox::with_problem();
    let ran = sandbox
        .brex("check --features phi.csv --preferences prefs.csv")
        .expect(0);
    insta::assert_snapshot!(ran.seen());
}

#[test]
fn odd_data() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "phi.csv",
        "id,x,y,bias\na,1,2,1\nb,2,3,1\nc,0,1,1\nd,5,5,1\ne,6,6,1\nlonely,7,1,1\nd again,5,5,1\n",
    );
    sandbox.write(
        "prefs.csv",
        "a,b,label,weight\na,b,b,1\na,b,b,1\nb,a,b,1\nb,c,b,1\nc,a,b,1\nd,e,tie,1\nd,d again,a,1\na,c,0.3,2\nb,c,skip,1\na,c,b,0\n",
    );
    let words = "check --features phi.csv --preferences prefs.csv";
    let ran = sandbox.brex(words).expect(0);
    insta::assert_snapshot!(ran.seen());
    let found = sandbox.brex(&format!("{words} --json")).expect(0).json();
    for (key, expected) in [
        ("trajectories", 7),
        ("features", 3),
        ("comparisons", 9),
        ("skipped", 1),
        ("ties", 1),
        ("soft", 1),
        ("weightless", 1),
        ("contradictions", 1),
        ("never_compared", 1),
    ] {
        assert_eq!(found[key], expected, "{key}");
    }
}

#[test]
fn names_from_files_cannot_play_tricks_on_the_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("phi.csv", "id,x\n\u{1b}[2Jevil,1\nb,2\nc,3\n");
    sandbox.write("prefs.csv", "worse,better\nb,c\n");
    let ran = sandbox
        .brex("check --features phi.csv --preferences prefs.csv")
        .expect(0);
    assert!(ran.stdout.contains("evil"));
    assert!(!ran.stdout.contains('\u{1b}'));
}

#[test]
fn flags_can_come_from_a_file_and_the_command_line_wins() {
    let sandbox = Sandbox::with_problem();
    sandbox.write("few.csv", "worse,better\na,b\n");
    sandbox.write(
        "c.toml",
        "json = true\n[check]\nfeatures = \"phi.csv\"\npreferences = \"prefs.csv\"\n",
    );
    let ran = sandbox.brex("check --config c.toml").expect(0);
    assert_eq!(ran.json()["comparisons"], PREFERENCES.lines().count() - 1);
    let ran = sandbox
        .brex("check --config c.toml --preferences few.csv")
        .expect(0);
    assert_eq!(ran.json()["comparisons"], 1);
}
