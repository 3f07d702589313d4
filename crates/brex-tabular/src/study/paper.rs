//! The average losses that the paper prints, Tables 7 to 10.

use super::StudyTable;

/// The paper's average losses of Bayesian IRL and of Bayesian REX in a setting, if it prints them.
pub fn paper_losses(table: StudyTable, setting: f64) -> Option<(f64, f64)> {
    let row: &[(f64, f64, f64)] = match table {
        StudyTable::OptSubopt => &[
            (2.0, 0.044, 1.779),
            (5.0, 0.033, 0.421),
            (10.0, 0.020, 0.019),
            (20.0, 0.009, 0.006),
            (30.0, 0.006, 0.006),
        ],
        StudyTable::Ranked => &[
            (2.0, 3.512, 1.796),
            (5.0, 3.319, 0.393),
            (10.0, 2.791, 0.026),
            (20.0, 3.078, 0.006),
            (30.0, 3.158, 0.006),
        ],
        StudyTable::GoodBad => &[
            (0.05, 1.120, 0.006),
            (0.1, 0.843, 0.006),
            (0.25, 1.124, 0.006),
            (0.5, 2.111, 0.006),
        ],
        StudyTable::OptNoise => &[
            (2.0, 0.045, 0.051),
            (5.0, 0.034, 0.045),
            (10.0, 0.018, 0.040),
            (20.0, 0.009, 0.034),
            (30.0, 0.006, 0.034),
        ],
    };
    let found = row.iter().find(|entry| entry.0 == setting)?;
    Some((found.1, found.2))
}
