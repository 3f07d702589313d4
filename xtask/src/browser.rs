//! The browser that pages are looked at with.

use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

fn found() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path);
    let mut all = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
    all.find(|path| path.is_file())
}

/// A Chromium that is there, or Debian's if it can be installed. None, with advice, if neither: then
/// the tests that need one say that they are skipped.
pub(crate) fn ensure() -> Result<Option<PathBuf>> {
    if let Some(named) = std::env::var_os("BREX_BROWSER") {
        return Ok(Some(named.into()));
    }
    if let Some(path) = found() {
        return Ok(Some(path));
    }
    let apt = Path::new("/usr/bin/apt-get");
    if apt.exists() && is_root() {
        eprintln!("installing chromium, to look at pages with");
        for words in [
            &["update", "-qq"][..],
            &[
                "install",
                "-y",
                "-qq",
                "--no-install-recommends",
                "chromium",
            ],
        ] {
            let mut command = Command::new(apt);
            command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
            // Without a network the tests go on without a browser.
            if !command.status().is_ok_and(|status| status.success()) {
                break;
            }
        }
    }
    let path = found();
    if path.is_none() {
        eprintln!(
            "no browser: the page of `brex quickstart` is not looked at; install chromium (Debian: \
             `apt-get install chromium`), or name a browser in BREX_BROWSER"
        );
    }
    Ok(path)
}

fn is_root() -> bool {
    let answer = Command::new("id").arg("-u").output();
    answer.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
