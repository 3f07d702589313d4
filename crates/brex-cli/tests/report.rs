//! `brex quickstart` with small budgets, and its page in a real browser.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::Sandbox;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes what is wrong with the page into it, once everything is loaded.
const LOOK: &str = r#"<script>
window.problems = [];
window.addEventListener("error", e => window.problems.push("error: " + e.message));
window.addEventListener("load", () => {
  const pictures = [...document.images];
  for (const picture of pictures) {
    const box = picture.getBoundingClientRect();
    if (!picture.complete || picture.naturalWidth === 0) window.problems.push("not shown: " + picture.alt);
    if (box.width < 20 || box.height < 10) window.problems.push("too small: " + picture.alt);
    if (!picture.alt) window.problems.push("without words: " + picture.src.slice(0, 40));
    if (!picture.src.startsWith("data:")) window.problems.push("from elsewhere: " + picture.src);
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth + 1) window.problems.push("wider than the window: " + root.scrollWidth + " of " + root.clientWidth);
  const found = document.createElement("p");
  found.id = "found";
  found.textContent = "LOOKED AT " + pictures.length + " PICTURES; PROBLEMS " + JSON.stringify(window.problems);
  document.body.append(found);
});
</script></head>"#;

fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("BREX_BROWSER").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let everywhere = std::env::split_paths(&path).flat_map(|at| names.map(|name| at.join(name)));
    named
        .into_iter()
        .chain(everywhere)
        .find(|path| path.is_file())
}

/// What a browser makes of a page at a width.
fn looked_at(browser: &Path, page: &Path, home: &Path, width: u32) -> (String, String) {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
        ])
        .arg(format!("--user-data-dir={}", home.display()))
        .arg(format!("--window-size={width},900"))
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn the_page_is_whole_in_a_browser_on_a_desk_and_on_a_phone() {
    let sandbox = Sandbox::new();
    let words = "quickstart --out q --steps 20480 --learner-steps 20480 --updates 20 --rollouts 4 --json --quiet";
    let ran = sandbox.brex(words);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.stderr);
    let result = ran.json();
    for table in ["before", "after"] {
        let rows = result[table].as_array().unwrap();
        assert_eq!(
            rows.len(),
            6,
            "A to D, No-Op and the one that learned from the mean"
        );
        for row in rows {
            for field in ["policy", "mean", "var", "true_score", "length", "warnings"] {
                assert!(!row[field].is_null(), "{table} {field}: {row}");
            }
        }
    }
    let page = sandbox.read("q/report.html");
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"));
    let Some(browser) = browser() else {
        println!("SKIPPED: no browser; install Debian's chromium, or name one in BREX_BROWSER");
        assert!(
            std::env::var_os("BREX_BROWSER").is_none(),
            "the browser that was named"
        );
        return;
    };
    let page = sandbox.write("look.html", page.replace("</head>", LOOK));
    for width in [1200, 500] {
        let (dom, log) = looked_at(&browser, &page, &sandbox.path("profile"), width);
        let found = dom.lines().find(|line| line.contains("id=\"found\""));
        let found = found.unwrap_or_else(|| panic!("the page did not load: {log}"));
        // Eighteen clips, frames redrawn, traces, losses, and two distributions of returns.
        assert!(found.contains("LOOKED AT 24 PICTURES"), "{found}");
        assert!(found.contains("PROBLEMS []"), "{width}: {found}");
        assert!(!log.contains("CONSOLE"), "{log}");
    }
}

#[test]
fn the_same_seed_gives_the_same_page() {
    let sandbox = Sandbox::new();
    for (out, threads) in [("a", 1), ("b", 2)] {
        std::fs::create_dir(sandbox.path(out)).unwrap();
        let small =
            "--steps 10240 --learner-steps 10240 --updates 6 --rollouts 2 --quiet --json --seed 4";
        let mut command =
            sandbox.command(&format!("quickstart --out q {small} --threads {threads}"));
        let ran = command.current_dir(sandbox.path(out)).output().unwrap();
        assert!(matches!(ran.status.code(), Some(0 | 3)));
    }
    assert!(sandbox.read("a/q/report.html") == sandbox.read("b/q/report.html"));
}
