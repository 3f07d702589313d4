//! Bad input: a message that names what is wrong and where, exit code 2, and no output left behind.

mod common;

use common::{FEATURES, POLICIES, Sandbox, draws, npy};

/// Runs `brex sample` on a features and a preferences file and expects it to be refused.
#[track_caller]
fn sample_refuses(features: (&str, &[u8]), preferences: (&str, &[u8]), message: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write(features.0, features.1);
    sandbox.write(preferences.0, preferences.1);
    let inputs = format!("--features {} --preferences {}", features.0, preferences.0);
    refuses(&sandbox, &format!("sample {inputs} --out out"), message);
    refuses(&sandbox, &format!("check {inputs}"), message);
}

/// Expects a command to be refused, with every part of `message` in its error, and the directory
/// to be as it was.
#[track_caller]
fn refuses(sandbox: &Sandbox, words: &str, message: &[&str]) {
    let before = sandbox.files();
    let ran = sandbox.brex(words).expect(2);
    assert_eq!(ran.stdout, "", "{words}");
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    for part in message {
        assert!(ran.stderr.contains(part), "no {part:?} in:\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let after = sandbox.files();
    assert_eq!(
        after.keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>()
    );
    assert!(before == after, "{words} changed a file");
}

const PREFS: (&str, &[u8]) = ("prefs.csv", b"worse,better\n0,1\n");

#[test]
fn nan_and_infinite_features() {
    for value in ["nan", "NaN", "inf", "-inf"] {
        let text = format!("x,y\n1,2\n3,{value}\n");
        sample_refuses(("phi.csv", text.as_bytes()), PREFS, &["phi.csv", "finite"]);
    }
    let bytes = npy(&[2, 2], &[1.0, f64::NAN, 3.0, 4.0]);
    sample_refuses(("phi.npy", &bytes), PREFS, &["phi.npy", "row 0", "NaN"]);
    let bytes = npy(&[2, 2], &[1.0, 2.0, f64::INFINITY, 4.0]);
    sample_refuses(("phi.npy", &bytes), PREFS, &["phi.npy", "row 1", "inf"]);
}

#[test]
fn wrong_shapes() {
    let bytes = npy(&[8], &[0.0; 8]);
    sample_refuses(("phi.npy", &bytes), PREFS, &["phi.npy", "shape [8]"]);
    let bytes = npy(&[2, 2, 2], &[0.0; 8]);
    sample_refuses(("phi.npy", &bytes), PREFS, &["phi.npy", "shape [2, 2, 2]"]);
    let bytes = npy(&[0, 4], &[]);
    sample_refuses(("phi.npy", &bytes), PREFS, &["phi.npy"]);
    sample_refuses(("phi.csv", b"x,y\n1,2\n3\n"), PREFS, &["phi.csv", "line 3"]);
}

#[test]
fn empty_files() {
    for name in [
        "phi.npy",
        "phi.npz",
        "phi.safetensors",
        "phi.parquet",
        "phi.csv",
    ] {
        sample_refuses((name, b""), PREFS, &[name]);
    }
    for name in ["prefs.csv", "prefs.jsonl"] {
        sample_refuses(
            ("phi.csv", FEATURES.as_bytes()),
            (name, b""),
            &[name, "empty"],
        );
    }
    let only_header = b"worse,better\n";
    sample_refuses(
        ("phi.csv", FEATURES.as_bytes()),
        ("prefs.csv", only_header),
        &["prefs.csv"],
    );
}

#[test]
fn preferences_that_name_nothing() {
    let table = ("phi.csv", b"x,y\n1,2\n3,4\n".as_slice());
    sample_refuses(
        table,
        ("p.csv", b"worse,better\n0,2\n"),
        &["p.csv", "line 2", "better", "2"],
    );
    sample_refuses(
        table,
        ("p.csv", b"worse,better\n0,1\n-1,0\n"),
        &["p.csv", "line 3", "-1"],
    );
    sample_refuses(
        table,
        ("p.csv", b"worse,better\n0,x\n"),
        &["p.csv", "line 2", "\"x\""],
    );
    let named = ("phi.csv", FEATURES.as_bytes());
    sample_refuses(
        named,
        ("p.csv", b"worse,better\na,b\na,zz\n"),
        &["line 3", "better", "zz"],
    );
    sample_refuses(
        named,
        ("p.jsonl", b"{\"chosen\": \"a\", \"rejected\": \"b\"}\n{\"chosen\": \"a\", \"rejected\": \"zz\"}\n"),
        &["p.jsonl", "line 2", "rejected", "zz"],
    );
}

#[test]
fn a_preference_of_a_row_with_itself() {
    let named = ("phi.csv", FEATURES.as_bytes());
    sample_refuses(
        named,
        ("p.csv", b"worse,better\na,b\nc,c\n"),
        &["line 3", "itself"],
    );
}

#[test]
fn malformed_text() {
    let table = ("phi.csv", b"x,y\n1,2\n3,4\n".as_slice());
    sample_refuses(
        ("phi.csv", b"x,y\n1,two\n3,4\n"),
        PREFS,
        &["phi.csv", "line 2", "two"],
    );
    sample_refuses(
        ("phi.csv", b"x,y\n1,\xff\n3,4\n"),
        PREFS,
        &["phi.csv", "UTF-8"],
    );
    sample_refuses(table, ("p.csv", b"first,second\n0,1\n"), &["p.csv"]);
    sample_refuses(
        table,
        ("p.csv", b"a,b,label\n0,1,better\n"),
        &["p.csv", "line 2", "label"],
    );
    sample_refuses(
        table,
        ("p.csv", b"a,b,label\n0,1,1.5\n"),
        &["p.csv", "line 2", "1.5"],
    );
    sample_refuses(
        table,
        ("p.jsonl", b"{\"worse\": 0, \"better\": 1\n"),
        &["p.jsonl", "line 1"],
    );
    sample_refuses(table, ("p.jsonl", b"[0, 1]\n"), &["p.jsonl", "line 1"]);
    sample_refuses(table, ("p.txt", b"0 1\n"), &["p.txt", ".csv or .jsonl"]);
    sample_refuses(("phi.txt", b"0 1\n"), PREFS, &["phi.txt", ".npy"]);
}

#[test]
fn malformed_and_truncated_binary_files() {
    let good = npy(&[3, 2], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    for length in [1, 6, 9, 40, good.len() - 1] {
        sample_refuses(("phi.npy", &good[..length]), PREFS, &["phi.npy"]);
    }
    for name in ["phi.npy", "phi.npz", "phi.safetensors", "phi.parquet"] {
        sample_refuses(
            (name, b"these are not the bytes of such a file at all"),
            PREFS,
            &[name],
        );
    }
}

#[test]
fn headers_that_claim_terabytes() {
    let claims = npy(&[1 << 40, 64], &[0.0; 8]);
    sample_refuses(
        ("phi.npy", &claims),
        PREFS,
        &["phi.npy", "needs", "found 64"],
    );
    let overflow = npy(&[usize::MAX, usize::MAX], &[0.0; 8]);
    sample_refuses(("phi.npy", &overflow), PREFS, &["phi.npy"]);
    let mut long_header = (1_u64 << 42).to_le_bytes().to_vec();
    long_header.extend(b"{\"features\":{}}");
    sample_refuses(
        ("phi.safetensors", &long_header),
        PREFS,
        &["phi.safetensors"],
    );
    let header = br#"{"features":{"dtype":"F64","shape":[1099511627776,64],"data_offsets":[0,562949953421312]}}"#;
    let mut tensors = (header.len() as u64).to_le_bytes().to_vec();
    tensors.extend(header);
    sample_refuses(("phi.safetensors", &tensors), PREFS, &["phi.safetensors"]);
}

#[test]
fn missing_files() {
    let sandbox = Sandbox::with_problem();
    refuses(
        &sandbox,
        "sample --features no.npy --preferences prefs.csv --out out",
        &["no.npy"],
    );
    refuses(
        &sandbox,
        "sample --features phi.csv --preferences no.csv --out out",
        &["no.csv"],
    );
    refuses(
        &sandbox,
        "check --features . --preferences prefs.csv",
        &["."],
    );
    refuses(
        &sandbox,
        "evaluate --posterior no --policies no.json",
        &["no.json"],
    );
    sandbox.write("policies.json", POLICIES);
    refuses(
        &sandbox,
        "evaluate --posterior no --policies policies.json",
        &["no"],
    );
    refuses(
        &sandbox,
        "evaluate --posterior . --policies policies.json",
        &["posterior.zarr"],
    );
    refuses(&sandbox, "export --posterior no --draws d.npy", &["no"]);
}

#[test]
fn an_existing_output_without_force() {
    let sandbox = Sandbox::with_problem();
    let inputs = "--features phi.csv --preferences prefs.csv";
    std::fs::create_dir(sandbox.path("out")).unwrap();
    sandbox.write("out/mine.txt", "keep me");
    refuses(
        &sandbox,
        &format!("sample {inputs} --out out"),
        &["out", "exists", "--force"],
    );
    let forced = format!("sample {inputs} --out out --force");
    refuses(&sandbox, &forced, &["out", "files that brex did not write"]);
    sandbox.write("draws.npy", draws());
    sandbox.write("policies.json", POLICIES);
    sandbox.write("plot.svg", "mine");
    let evaluate = "evaluate --posterior draws.npy --policies policies.json";
    refuses(
        &sandbox,
        &format!("{evaluate} --plot plot.svg"),
        &["plot.svg", "--force"],
    );
    refuses(
        &sandbox,
        &format!("{evaluate} --out plot.svg"),
        &["plot.svg", "--force"],
    );
    refuses(
        &sandbox,
        &format!("{evaluate} --plot plot.pdf"),
        &["plot.pdf", ".svg or .png"],
    );
    sandbox.write("d.npy", "mine");
    refuses(
        &sandbox,
        "export --posterior draws.npy --draws d.npy",
        &["d.npy", "--force"],
    );
    for quickstart in ["quickstart", "quickstart --made-up"] {
        let words = format!("{quickstart} --out out");
        refuses(&sandbox, &words, &["out", "exists"]);
    }
}

#[test]
fn an_output_that_cannot_be_written() {
    let sandbox = Sandbox::with_problem();
    let inputs = "--features phi.csv --preferences prefs.csv";
    refuses(
        &sandbox,
        &format!("sample {inputs} --out phi.csv/out"),
        &["phi.csv/out"],
    );
}

#[test]
fn policies_that_do_not_fit() {
    let sandbox = Sandbox::new();
    sandbox.write("draws.npy", draws());
    let policies = |text: &str, message: &[&str]| {
        sandbox.write("p.json", text);
        refuses(
            &sandbox,
            "evaluate --posterior draws.npy --policies p.json",
            message,
        );
    };
    policies(
        "{\"A\": {\"phi\": [1, 2]}}",
        &["\"A\"", "2 features", "3 weights"],
    );
    policies(
        "{\"A\": {\"phi\": [1, 2, 3]}, \"B\": {\"phi\": [1]}}",
        &["p.json", "\"B\""],
    );
    policies("{\"A\": {\"phi\": [1, \"x\", 3]}}", &["p.json", "\"A\""]);
    policies(
        "{\"A\": {\"phi\": [1, NaN, 3]}}",
        &["p.json", "NaN is not JSON"],
    );
    policies("{\"A\": {}}", &["p.json", "\"A\""]);
    policies("{}", &["p.json"]);
    policies("[1, 2", &["p.json"]);
    policies(
        "{\"A\": {\"rollouts\": [[1, 2, 3], [1, 2]]}}",
        &["p.json", "\"A\""],
    );
    policies(
        "{\"A\": {\"phi\": [1, 2, 3], \"lengths\": [0]}}",
        &["\"A\"", "lengths"],
    );
}

#[test]
fn draws_that_cannot_be_used() {
    let sandbox = Sandbox::new();
    sandbox.write("policies.json", POLICIES);
    let evaluate = "evaluate --posterior draws.npy --policies policies.json";
    sandbox.write(
        "draws.npy",
        npy(&[2, 3], &[0.0, 1.0, f64::NAN, 0.0, 0.0, 0.0]),
    );
    refuses(&sandbox, evaluate, &["draws.npy", "row 0", "column 2"]);
    sandbox.write("draws.npy", npy(&[0, 3], &[]));
    refuses(&sandbox, evaluate, &["draws.npy"]);
}

#[test]
fn settings_out_of_range() {
    let sandbox = Sandbox::with_problem();
    let inputs = "sample --features phi.csv --preferences prefs.csv --out out";
    for (flags, message) in [
        ("--beta 0", "expected a number above 0"),
        ("--beta nan", "expected a number above 0"),
        ("--draws 0", "draws"),
        ("--chains 0", "chains"),
        ("--draws 10 --chains 3", "draws"),
        ("--delta 1", "probability"),
        ("--step 0.1", "random-walk"),
        ("--lowest a", "nonnegative"),
        ("--prior nonnegative --lowest zz", "zz"),
        ("--prior uniform", "uniform"),
        ("--sampler nuts", "nuts"),
        ("--threads 0", "threads"),
        ("--sampler random-walk --thinning 0", "thinning"),
        ("--draws 10 --max-draws 20", "max-draws"),
        ("--policies no.json", "no.json"),
    ] {
        refuses(&sandbox, &format!("{inputs} {flags}"), &[message]);
    }
}

#[test]
fn configuration_files_that_cannot_be_used() {
    let sandbox = Sandbox::with_problem();
    let check = "check --features phi.csv --preferences prefs.csv --config c.toml";
    refuses(&sandbox, check, &["c.toml", "cannot read"]);
    for (text, message) in [
        ("seed = 1\nseed 2\n", "line 2"),
        ("sede = 1\n", "sede"),
        ("[sample]\nbata = 1\n", "[sample] bata"),
        ("seed = -1\n", "-1"),
        ("seed = 2020-01-01\n", "seed"),
    ] {
        sandbox.write("c.toml", text);
        refuses(&sandbox, check, &[message]);
    }
}
