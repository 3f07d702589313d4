//! The words of error messages: short, with the file, the place, what was expected and what to do.

mod common;

use common::{POLICIES, Sandbox, draws, npy};

#[test]
fn what_people_read_when_something_is_wrong() {
    let sandbox = Sandbox::with_problem();
    sandbox.write("nan.npy", npy(&[2, 2], &[1.0, 2.0, f64::NAN, 4.0]));
    sandbox.write("cube.npy", npy(&[2, 2, 2], &[0.0; 8]));
    sandbox.write("claims.npy", npy(&[1 << 40, 64], &[0.0; 8]));
    sandbox.write("cut.npy", &npy(&[2, 2], &[0.0; 4])[..20]);
    sandbox.write("empty.csv", "");
    sandbox.write("words.csv", "x,y\n1,2\n1,two\n");
    sandbox.write("itself.csv", "worse,better\na,b\nc,c\n");
    sandbox.write("unknown.csv", "worse,better\na,b\na,bb\n");
    sandbox.write("range.csv", "worse,better\n0,6\n");
    sandbox.write("label.csv", "a,b,label\na,b,better\n");
    sandbox.write("heads.csv", "first,second\na,b\n");
    sandbox.write(
        "broken.jsonl",
        "{\"worse\": \"a\", \"better\": \"b\"}\n{\"worse\": \"a\"\n",
    );
    sandbox.write("draws.npy", draws());
    sandbox.write("policies.json", POLICIES);
    sandbox.write("wide.json", "{\"A\": {\"phi\": [1, 2, 3, 4]}}");
    sandbox.write("c.toml", "sede = 1\n");
    let features = |file: &str| format!("check --features {file} --preferences prefs.csv");
    let preferences = |file: &str| format!("check --features phi.csv --preferences {file}");
    let sample = "sample --features phi.csv --preferences prefs.csv";
    let evaluate = "evaluate --posterior draws.npy --policies";
    let commands = [
        features("no.npy"),
        features("nan.npy"),
        features("cube.npy"),
        features("claims.npy"),
        features("cut.npy"),
        features("empty.csv"),
        features("words.csv"),
        features("phi.txt"),
        preferences("itself.csv"),
        preferences("unknown.csv"),
        preferences("range.csv"),
        preferences("label.csv"),
        preferences("heads.csv"),
        preferences("broken.jsonl"),
        preferences("empty.csv"),
        format!("{sample} --out phi.csv"),
        format!("{sample} --out run --resume"),
        format!("{sample} --out run --draws 10 --chains 3"),
        format!("{sample} --out run --step 0.1"),
        format!("{sample} --out run --prior nonnegative --lowest zz"),
        format!("{sample} --out run --config c.toml"),
        format!("{sample} --out run --policies wide.json"),
        format!("{evaluate} wide.json"),
        format!("{evaluate} policies.json --plot p.pdf"),
        format!("{evaluate} policies.json --plot c.toml"),
        "evaluate --posterior . --policies policies.json".to_owned(),
        "export --posterior draws.npy --draws draws.npy".to_owned(),
        "export --posterior draws.npy --draws draws.txt".to_owned(),
    ];
    let mut seen = String::new();
    for words in commands {
        let ran = sandbox.brex(&words).expect(2);
        assert_eq!(ran.stdout, "", "{words}");
        seen.push_str(&format!("$ brex {words}\n{}\n", ran.stderr));
    }
    insta::assert_snapshot!(seen);
}
