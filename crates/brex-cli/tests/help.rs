//! What the command says about itself.

mod common;

use common::Sandbox;

#[test]
fn help_of_every_command() {
    let sandbox = Sandbox::new();
    for command in [
        "",
        "quickstart",
        "check",
        "sample",
        "evaluate",
        "export",
        "coverage",
        "reproduce",
        "reproduce gridworld",
        "reproduce coverage",
        "reproduce games",
        "merge",
        "doctor",
        "train",
        "improve",
        "demos",
        "drex",
        "pretrain",
        "features",
        "baseline",
        "curves",
        "rollout",
    ] {
        let ran = sandbox.brex(&format!("{command} --help")).expect(0);
        let name = if command.is_empty() { "brex" } else { command };
        let name = name.replace(' ', "_");
        insta::assert_snapshot!(format!("help_{name}"), ran.stdout);
    }
}

#[test]
fn wrong_usage_has_exit_code_2() {
    let sandbox = Sandbox::new();
    for words in [
        "",
        "sampel",
        "sample",
        "sample --features",
        "export --posterior x",
        "--seed x check",
    ] {
        let ran = sandbox.brex(words).expect(2);
        assert!(ran.stderr.contains("--help"), "{words}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{words}");
    }
    let ran = sandbox.brex("--version").expect(0);
    assert_eq!(
        ran.stdout,
        concat!("brex ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
