//! Gridworlds: cells with features, four moves, and moves that may slip to the side.

use crate::{Mdp, MdpError};
use brex_core::{Matrix, Stream};
use rand::RngExt;

/// Why something is not a gridworld.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridworldError {
    /// A list or matrix has not one entry per cell.
    #[error("{what}: {found} entries; expected {rows} x {cols}, one per cell")]
    Cells {
        /// What the entries are.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// Rows of the grid.
        rows: usize,
        /// Columns of the grid.
        cols: usize,
    },
    /// A cell's feature does not exist.
    #[error("cell {cell}: no feature has the number {feature}; there are {count}")]
    Feature {
        /// The cell.
        cell: usize,
        /// The number that is too large.
        feature: usize,
        /// How many features there are.
        count: usize,
    },
    /// The chance to slip is not a probability.
    #[error("the chance to slip is {0}; expected 0 to 1")]
    Slip(f64),
    /// What remains wrong, such as the discount or a feature that is not finite.
    #[error(transparent)]
    Mdp(#[from] MdpError),
}

/// The features of the cells.
#[derive(Debug, Clone, PartialEq)]
pub enum CellFeatures {
    /// Every cell has one of `count` features: a one in its column, zeros elsewhere.
    OneHot {
        /// How many features there are.
        count: usize,
        /// The feature of each cell, row by row.
        cells: Vec<usize>,
    },
    /// Any features: one row per cell.
    Rows(Matrix),
}

/// A grid of cells, which are numbered row by row from the top left. It is checked when it is made
/// an MDP.
///
/// ```
/// use brex_tabular::{GridPicture, Gridworld, draw_gridworld, policy_iteration};
///
/// let mut random = brex_core::stream(1, "worlds", 0);
/// let grid = Gridworld::random(6, 6, 4, 0.1, 0.9, &mut random);
/// let mdp = grid.to_mdp()?;
/// let rewards = mdp.rewards(&[0.5, -0.25, 0.0, 0.25]);
/// let (solution, _policy) = policy_iteration(&mdp, &rewards);
/// let picture = GridPicture::new("A random world", &grid, &rewards, &solution, 1e-9);
/// assert!(draw_gridworld(&picture).starts_with("<svg"));
/// # Ok::<(), brex_tabular::GridworldError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gridworld {
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub cols: usize,
    /// What each cell is like.
    pub features: CellFeatures,
    /// The chance that a move goes to one of the two sides instead, half each.
    pub slip: f64,
    /// The discount.
    pub gamma: f64,
    /// Where an episode ends, cell by cell.
    pub terminals: Vec<bool>,
}

impl Gridworld {
    /// The action that moves up.
    pub const UP: usize = 0;
    /// The action that moves down.
    pub const DOWN: usize = 1;
    /// The action that moves left.
    pub const LEFT: usize = 2;
    /// The action that moves right.
    pub const RIGHT: usize = 3;
    /// How many actions there are.
    pub const ACTIONS: usize = 4;

    /// A grid without terminal cells where each cell has one of `features` features at random, all
    /// equally likely.
    ///
    /// # Panics
    /// If there are no features.
    pub fn random(
        rows: usize,
        cols: usize,
        features: usize,
        slip: f64,
        gamma: f64,
        stream: &mut Stream,
    ) -> Self {
        assert!(features > 0, "at least one feature");
        let cells = (0..rows * cols)
            .map(|_| stream.random_range(0..features))
            .collect();
        let count = features;
        Self {
            rows,
            cols,
            features: CellFeatures::OneHot { count, cells },
            slip,
            gamma,
            terminals: vec![false; rows * cols],
        }
    }

    /// The MDP of this grid, its states being the cells.
    pub fn to_mdp(&self) -> Result<Mdp, GridworldError> {
        if !(0.0..=1.0).contains(&self.slip) {
            return Err(GridworldError::Slip(self.slip));
        }
        let features = self.feature_matrix()?;
        self.check_cells("features", features.rows())?;
        self.check_cells("terminals", self.terminals.len())?;
        let transitions: Vec<_> = (0..features.rows() * Self::ACTIONS)
            .map(|index| self.targets(index / Self::ACTIONS, index % Self::ACTIONS))
            .collect();
        let terminals = self.terminals.clone();
        let mdp = Mdp::new(features, Self::ACTIONS, self.gamma, &transitions, terminals)?;
        Ok(mdp)
    }

    fn check_cells(&self, what: &'static str, found: usize) -> Result<(), GridworldError> {
        let (rows, cols) = (self.rows, self.cols);
        if rows.checked_mul(cols) == Some(found) {
            return Ok(());
        }
        Err(GridworldError::Cells {
            what,
            found,
            rows,
            cols,
        })
    }

    fn feature_matrix(&self) -> Result<Matrix, GridworldError> {
        let (count, cells) = match &self.features {
            CellFeatures::OneHot { count, cells } => (*count, cells),
            CellFeatures::Rows(matrix) => return Ok(matrix.clone()),
        };
        if let Some(cell) = cells.iter().position(|&feature| feature >= count) {
            let feature = cells[cell];
            return Err(GridworldError::Feature {
                cell,
                feature,
                count,
            });
        }
        let one_hot = |cell: usize, feature| f64::from(cells[cell] == feature);
        Ok(Matrix::from_fn(cells.len(), count, one_hot))
    }

    /// The cell that a move leads to if it does not slip. A move off the grid stays.
    pub fn neighbour(&self, cell: usize, action: usize) -> usize {
        let (row, col) = (cell / self.cols, cell % self.cols);
        match action {
            Self::UP if row > 0 => cell - self.cols,
            Self::DOWN if row + 1 < self.rows => cell + self.cols,
            Self::LEFT if col > 0 => cell - 1,
            Self::RIGHT if col + 1 < self.cols => cell + 1,
            _ => cell,
        }
    }

    /// Where an action may lead, every cell once, and how likely.
    fn targets(&self, cell: usize, action: usize) -> Vec<(usize, f64)> {
        let sides = match action {
            Self::UP | Self::DOWN => [Self::LEFT, Self::RIGHT],
            _ => [Self::UP, Self::DOWN],
        };
        let side = self.slip / 2.0;
        let mut targets: Vec<(usize, f64)> = Vec::with_capacity(3);
        for (action, probability) in [
            (action, 1.0 - self.slip),
            (sides[0], side),
            (sides[1], side),
        ] {
            let to = self.neighbour(cell, action);
            match targets.iter_mut().find(|target| target.0 == to) {
                Some(target) => target.1 += probability,
                None if probability > 0.0 => targets.push((to, probability)),
                None => {}
            }
        }
        targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brex_core::stream;

    fn grid(rows: usize, cols: usize, slip: f64) -> Gridworld {
        Gridworld::random(rows, cols, 3, slip, 0.9, &mut stream(1, "grid test", 0))
    }

    fn successors(mdp: &Mdp, state: usize, action: usize) -> Vec<(usize, f64)> {
        mdp.successors(state, action).collect()
    }

    #[test]
    fn moves_go_where_they_say_and_stop_at_the_edge() {
        let mdp = grid(2, 3, 0.0).to_mdp().unwrap();
        let ends = |state| [0, 1, 2, 3].map(|action| successors(&mdp, state, action)[0].0);
        assert_eq!(ends(0), [0, 3, 0, 1]);
        assert_eq!(ends(4), [1, 4, 3, 5]);
        assert_eq!(ends(5), [2, 5, 4, 5]);
        let certain = successors(&mdp, 4, Gridworld::UP);
        assert_eq!(certain, [(1, 1.0)]);
    }

    #[test]
    fn a_slip_goes_to_either_side() {
        let mdp = grid(3, 3, 0.5).to_mdp().unwrap();
        let middle = |action| successors(&mdp, 4, action);
        assert_eq!(middle(Gridworld::UP), [(1, 0.5), (3, 0.25), (5, 0.25)]);
        assert_eq!(middle(Gridworld::RIGHT), [(5, 0.5), (1, 0.25), (7, 0.25)]);
        // Up and left both stay in the corner.
        assert_eq!(successors(&mdp, 0, Gridworld::UP), [(0, 0.75), (1, 0.25)]);
        let always = grid(3, 3, 1.0).to_mdp().unwrap();
        assert_eq!(
            successors(&always, 4, Gridworld::LEFT),
            [(1, 0.5), (7, 0.5)]
        );
    }

    #[test]
    fn random_cells_have_one_feature_each_and_all_features_occur() {
        let mdp = grid(10, 10, 0.1).to_mdp().unwrap();
        let features = mdp.features();
        assert!(
            features
                .iter_rows()
                .all(|row| row.iter().sum::<f64>() == 1.0)
        );
        assert!(features.column_means().iter().all(|&share| share > 0.15));
        assert_eq!(grid(10, 10, 0.1), grid(10, 10, 0.1));
    }

    #[test]
    fn arbitrary_features_and_terminal_cells_are_kept() {
        let mut grid = grid(1, 2, 0.0);
        let features = Matrix::new(2, 2, vec![0.5, -1.0, 2.0, 0.0]).unwrap();
        grid.features = CellFeatures::Rows(features.clone());
        grid.terminals[1] = true;
        let mdp = grid.to_mdp().unwrap();
        assert_eq!(mdp.features(), &features);
        assert!(!mdp.is_terminal(0) && mdp.is_terminal(1));
    }

    #[test]
    fn a_bad_grid_is_refused_with_the_reason() {
        let message = |change: fn(&mut Gridworld)| {
            let mut grid = grid(2, 2, 0.0);
            change(&mut grid);
            grid.to_mdp().unwrap_err().to_string()
        };
        assert!(message(|g| g.slip = f64::NAN).contains("slip is NaN"));
        assert!(message(|g| g.slip = 1.1).contains("slip is 1.1"));
        assert!(message(|g| g.gamma = 1.0).contains("gamma is 1"));
        assert!(message(|g| g.rows = 3).contains("features: 4 entries; expected 3 x 2"));
        assert!(message(|g| g.rows = usize::MAX).contains("features: 4 entries"));
        assert!(message(|g| g.terminals = vec![]).contains("terminals: 0 entries"));
        let cells = vec![0, 1, 2, 3];
        let (mut grid, count) = (grid(2, 2, 0.0), 3);
        grid.features = CellFeatures::OneHot { count, cells };
        let error = grid.to_mdp().unwrap_err();
        let (cell, feature) = (3, 3);
        assert_eq!(
            error,
            GridworldError::Feature {
                cell,
                feature,
                count
            }
        );
        let empty = Gridworld::random(0, 5, 1, 0.0, 0.5, &mut stream(1, "grid test", 0));
        assert_eq!(
            empty.to_mdp().unwrap_err(),
            GridworldError::Mdp(MdpError::Empty("state"))
        );
    }
}
