//! The study as one page for the browser.

use super::figures;
use super::pictures;
use super::sections::{Section, Seeds, title_of};
use crate::report::page::{Clip, Kind, Page, Picture};

/// For the browser.
pub(super) fn page(sections: &[Section], games: &[String], results: &[Seeds<'_>]) -> String {
    let title = "Bayesian REX on games";
    let mut page = Page::new(title, "The paper's experiments, done again.");
    learning(&mut page, games, results);
    for section in sections {
        let heads: Vec<&str> = section.heads.iter().map(String::as_str).collect();
        page.section(&section.title)
            .text(&section.words)
            .table(&heads, &section.rows);
    }
    predicted(&mut page, games, results);
    for (which, when) in [("before", ""), ("after", ", after asking")] {
        returns(&mut page, games, results, which, when);
    }
    clips(&mut page, games, results);
    page.finish(title)
}

/// A picture for each game, so that they are large enough on a phone.
fn learning(page: &mut Page, games: &[String], results: &[Seeds<'_>]) {
    let drawn = figures::learning_by_game(games, results);
    if drawn.is_empty() {
        return;
    }
    let pictures = drawn.iter().map(|figure| Picture {
        kind: Kind::Svg,
        bytes: figure.as_bytes(),
        name: "learning curves of a game",
        caption: "",
    });
    page.section("Learning from learned rewards")
        .text(
            "True scores; the first seed of each game. The level is its best demonstration. Where an agent was \
             stopped, a dot shows after how many steps.",
        )
        .side_by_side(&pictures.collect::<Vec<Picture<'_>>>());
}

fn predicted(page: &mut Page, games: &[String], results: &[Seeds<'_>]) {
    let mut section = page.section("Predicted and true");
    for (game, seeds) in games.iter().zip(results) {
        if let Some(figure) = figures::predicted(game, seeds) {
            section.figure(&Picture {
                kind: Kind::Svg,
                bytes: figure.as_bytes(),
                name: &format!(
                    "predicted returns against true scores in {}",
                    title_of(game)
                ),
                caption: "Every policy is a point; a bar reaches down to its bound.",
            });
        }
    }
}

/// What returns may be under the posterior of the first seeds.
fn returns(page: &mut Page, games: &[String], results: &[Seeds<'_>], which: &str, when: &str) {
    let mut drawn = Vec::new();
    for (game, seeds) in games.iter().zip(results) {
        let judged = seeds.first().and_then(|first| first.judgements.get(which));
        let title = format!("{}{when}: returns under the posterior", title_of(game));
        drawn.extend(judged.and_then(|judged| figures::returns(&title, judged)));
    }
    if drawn.is_empty() {
        return;
    }
    let mut section = page.section(&format!("What returns may be{when}"));
    for figure in &drawn {
        section.figure(&Picture {
            kind: Kind::Svg,
            bytes: figure.as_bytes(),
            name: "distributions of the policies' returns with their bounds",
            caption: "The first seed, the highest bound first.",
        });
    }
}

fn clips(page: &mut Page, games: &[String], results: &[Seeds<'_>]) {
    for (game, seeds) in games.iter().zip(results) {
        let kept = seeds.first().map_or(&[][..], |first| &first.clips);
        let clips: Vec<Clip> = kept.iter().filter_map(pictures::for_page).collect();
        if !clips.is_empty() {
            page.section(&format!("Episodes: {}", title_of(game)))
                .text("The best demonstration, and an agent for each reward that was learned from it and the others.")
                .clips(&clips);
        }
    }
}
