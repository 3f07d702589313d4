//! A gridworld as a picture (SVG): the reward of each cell as a colour and a number, and a policy
//! as arrows.

use crate::colour::{Colour, INK};
use crate::solve::optimal_actions;
use crate::svg::{Text, document, element, wrap};
use crate::{Gridworld, Solution};

const CELL: f64 = 68.0;
const MARGIN: f64 = 24.0;
/// The title and the legend need this much.
const NARROWEST: f64 = 280.0;
const TITLE_SIZE: f64 = 17.0;
const TITLE_LINE: f64 = 23.0;
const MUTED: &str = "#5c6670";
const RULE: &str = "#aab2ba";

/// What to draw. Cells are numbered row by row, actions as in [`Gridworld`].
#[derive(Debug, Clone, PartialEq)]
pub struct GridPicture {
    /// What is written above the grid.
    pub title: String,
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub cols: usize,
    /// The number that gives a cell its colour and is written in it.
    pub rewards: Vec<f64>,
    /// The actions that the policy may take in each cell; none draws no arrow.
    pub actions: Vec<Vec<usize>>,
    /// Where an episode ends: a dot instead of arrows.
    pub terminals: Vec<bool>,
}

impl GridPicture {
    /// A grid with rewards and the best actions, several where they are within `slack` of the
    /// best.
    pub fn new(
        title: impl Into<String>,
        grid: &Gridworld,
        rewards: &[f64],
        solution: &Solution,
        slack: f64,
    ) -> Self {
        let q = &solution.q;
        Self {
            title: title.into(),
            rows: grid.rows,
            cols: grid.cols,
            rewards: rewards.to_vec(),
            actions: (0..q.rows())
                .map(|cell| optimal_actions(q.row(cell), slack))
                .collect(),
            terminals: grid.terminals.clone(),
        }
    }

    /// The largest reward without its sign, at which the colours end; 1 if there is none.
    fn largest(&self) -> f64 {
        let finite = self.rewards.iter().filter(|reward| reward.is_finite());
        let largest = finite.fold(0.0_f64, |largest, reward| largest.max(reward.abs()));
        if largest > 0.0 { largest } else { 1.0 }
    }
}

/// Draws a gridworld.
///
/// # Panics
/// If rewards, actions or terminals have not one entry per cell.
pub fn draw_gridworld(picture: &GridPicture) -> String {
    let cells = picture.rows * picture.cols;
    assert_eq!(picture.rewards.len(), cells, "one reward per cell");
    assert_eq!(picture.actions.len(), cells, "one list of actions per cell");
    assert_eq!(picture.terminals.len(), cells, "one terminal per cell");
    let inner = (picture.cols as f64 * CELL).max(NARROWEST);
    let mut body = String::new();
    let top = draw_title(&mut body, &picture.title, inner);
    let left = MARGIN + (inner - picture.cols as f64 * CELL) / 2.0;
    for cell in 0..cells {
        let x = left + (cell % picture.cols) as f64 * CELL;
        let y = top + (cell / picture.cols) as f64 * CELL;
        draw_cell(&mut body, picture, cell, (x, y));
    }
    let bottom = draw_legend(&mut body, picture, top + picture.rows as f64 * CELL);
    let (width, height) = (inner + 2.0 * MARGIN, bottom + MARGIN);
    document(&picture.title, width, height, &body)
}

/// Writes the title, in as many lines as it needs, and returns where the grid may begin.
fn draw_title(body: &mut String, title: &str, width: f64) -> f64 {
    // Bold letters are a little more than half as wide as high.
    let letters = (width / (0.54 * TITLE_SIZE)) as usize;
    let mut baseline = MARGIN + 13.0;
    for line in wrap(title, letters) {
        let place = Text {
            at: (MARGIN, baseline),
            size: TITLE_SIZE,
            colour: INK,
            style: " font-weight=\"bold\"",
        };
        place.write(body, &line);
        baseline += TITLE_LINE;
    }
    baseline - 5.0
}

fn draw_cell(body: &mut String, picture: &GridPicture, cell: usize, (x, y): (f64, f64)) {
    let reward = picture.rewards[cell];
    let colour = Colour::diverging(reward / picture.largest());
    let (fill, ink) = (colour.hex(), colour.ink());
    element(
        body,
        format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill}\" stroke=\"{RULE}\"/>"
        ),
    );
    let number = Text {
        at: (x + CELL / 2.0, y + 15.5),
        size: 12.0,
        colour: ink,
        style: " text-anchor=\"middle\"",
    };
    number.write(body, &format_reward(reward, picture.largest()));
    let centre = (x + CELL / 2.0, y + 42.0);
    if picture.terminals[cell] {
        draw_dot(body, centre, ink);
        return;
    }
    let actions = &picture.actions[cell];
    // One arrow stands in the middle; several start there.
    let from = if actions.len() == 1 { -10.2 } else { 0.0 };
    for &action in actions {
        draw_arrow(body, centre, action, from, ink);
    }
}

fn draw_dot(body: &mut String, (x, y): (f64, f64), ink: &str) {
    element(
        body,
        format_args!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"5.5\" fill=\"{ink}\"/>"),
    );
}

/// An arrow that begins `from` a point in its own direction. It is drawn to the right and turned.
fn draw_arrow(body: &mut String, (x, y): (f64, f64), action: usize, from: f64, ink: &str) {
    let degrees = match action {
        Gridworld::UP => 270,
        Gridworld::DOWN => 90,
        Gridworld::LEFT => 180,
        _ => 0,
    };
    element(
        body,
        format_args!(
            "<path transform=\"translate({x:.2} {y:.2}) rotate({degrees}) translate({from:.2})\" \
             fill=\"{ink}\" d=\"M-1.1 -1.1H13V-5.2L21.5 0L13 5.2V1.1H-1.1Z\"/>"
        ),
    );
}

/// Draws the scale of colours and what the signs mean below the grid, and returns where it ends.
fn draw_legend(body: &mut String, picture: &GridPicture, grid_end: f64) -> f64 {
    let top = grid_end + 18.0;
    let width = 150.0;
    draw_scale(body, (MARGIN, top), width);
    let largest = picture.largest();
    let note = |at, style| Text {
        at,
        size: 11.5,
        colour: MUTED,
        style,
    };
    for (share, style) in [
        (-1.0, ""),
        (0.0, " text-anchor=\"middle\""),
        (1.0, " text-anchor=\"end\""),
    ] {
        let x = MARGIN + (share + 1.0) / 2.0 * width;
        let label = if share == 0.0 {
            "0".to_owned()
        } else {
            format_reward(share * largest, largest)
        };
        note((x, top + 27.0), style).write(body, &label);
    }
    note((MARGIN + width + 8.0, top + 10.5), "").write(body, "reward");
    let signs = MARGIN + width + 66.0;
    if picture.actions.iter().any(|actions| !actions.is_empty()) {
        draw_arrow(body, (signs, top + 6.5), Gridworld::RIGHT, 0.0, MUTED);
        note((signs + 28.0, top + 10.5), "").write(body, "action");
    }
    if picture.terminals.contains(&true) {
        draw_dot(body, (signs + 10.0, top + 23.0), MUTED);
        note((signs + 28.0, top + 27.0), "").write(body, "end");
    }
    top + 29.0
}

/// The scale of colours as a bar of stripes. A gradient would need a name, and names clash when
/// several pictures stand in one page.
fn draw_scale(body: &mut String, (x, y): (f64, f64), width: f64) {
    const STRIPES: u32 = 75;
    let stripe = width / f64::from(STRIPES);
    for index in 0..STRIPES {
        let share = (2.0 * f64::from(index) + 1.0) / f64::from(STRIPES) - 1.0;
        let fill = Colour::diverging(share).hex();
        let left = x + f64::from(index) * stripe;
        element(
            body,
            format_args!(
                "<rect x=\"{left:.2}\" y=\"{y:.2}\" width=\"{stripe:.2}\" height=\"13\" fill=\"{fill}\" shape-rendering=\"crispEdges\"/>"
            ),
        );
    }
    element(
        body,
        format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"13\" fill=\"none\" stroke=\"{RULE}\"/>"
        ),
    );
}

/// A reward with as many decimals as the largest one needs, and a minus sign that is as wide as a
/// digit.
fn format_reward(reward: f64, largest: f64) -> String {
    let text = if !reward.is_finite() {
        reward.to_string()
    } else if !(1e-3..1e6).contains(&largest) {
        format!("{reward:.1e}")
    } else {
        // Three digits of the largest.
        let decimals = (2.0 - largest.log10().floor()).clamp(0.0, 5.0) as usize;
        format!("{reward:.decimals$}")
    };
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| c == '0' || c == '.') => zero.to_owned(),
        Some(digits) => format!("\u{2212}{digits}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy_iteration;
    use brex_core::stream;

    fn picture() -> GridPicture {
        GridPicture {
            title: "Safe & <sound>".to_owned(),
            rows: 1,
            cols: 3,
            rewards: vec![-0.5, 0.0, 0.25],
            actions: vec![vec![Gridworld::RIGHT], vec![0, 1, 2, 3], vec![]],
            terminals: vec![false, false, true],
        }
    }

    fn count(svg: &str, what: &str) -> usize {
        svg.matches(what).count()
    }

    #[test]
    fn a_cell_has_its_colour_number_and_arrows() {
        let svg = draw_gridworld(&picture());
        for expected in [
            "fill=\"#215891\"",
            ">\u{2212}0.500<",
            ">0.000<",
            ">0.250<",
            "<title>Safe &amp; &lt;sound&gt;</title>",
        ] {
            assert!(svg.contains(expected), "{expected}");
        }
        // One, four and no arrows, and one in the legend; one dot, and one in the legend.
        assert_eq!(count(&svg, "rotate("), 6);
        assert_eq!(count(&svg, "rotate(270)"), 1);
        assert_eq!(count(&svg, "rotate(180)"), 1);
        assert_eq!(count(&svg, "<circle"), 2);
    }

    #[test]
    fn a_grid_is_drawn_with_all_best_actions() {
        let mut grid = Gridworld::random(2, 2, 1, 0.0, 0.9, &mut stream(1, "picture test", 0));
        grid.terminals[3] = true;
        let rewards = [0.0, 0.0, 0.0, 1.0];
        let (solution, _) = policy_iteration(&grid.to_mdp().unwrap(), &rewards);
        let picture = GridPicture::new("ties", &grid, &rewards, &solution, 1e-9);
        let (down, right) = (Gridworld::DOWN, Gridworld::RIGHT);
        assert_eq!(
            picture.actions[..3],
            [vec![down, right], vec![down], vec![right]]
        );
        assert_eq!(picture.terminals, grid.terminals);
    }

    #[test]
    fn odd_pictures_are_drawn_too() {
        let mut odd = picture();
        odd.rewards = vec![f64::NAN, f64::NEG_INFINITY, 0.0];
        let svg = draw_gridworld(&odd);
        assert!(svg.contains(">NaN<") && svg.contains(">\u{2212}inf<"));
        let empty = GridPicture {
            title: String::new(),
            rows: 0,
            cols: 0,
            rewards: vec![],
            actions: vec![],
            terminals: vec![],
        };
        assert!(draw_gridworld(&empty).ends_with("</svg>\n"));
    }

    #[test]
    fn rewards_have_three_digits_of_the_largest() {
        let format = |reward, largest| format_reward(reward, largest);
        assert_eq!(format(0.4567, 0.5), "0.457");
        assert_eq!(format(-1.234, 9.0), "\u{2212}1.23");
        assert_eq!(format(-0.0001, 9.0), "0.00");
        assert_eq!(format(123.4, 500.0), "123");
        assert_eq!(format(-1234e6, 2e9), "\u{2212}1.2e9");
        assert_eq!(format(0.0, 2e-9), "0.0e0");
    }
}
