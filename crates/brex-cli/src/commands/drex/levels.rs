//! Levels of noise, from much to little.

use crate::exit::BadInput;

/// The levels that the authors' code has for Atari.
pub(super) const PUBLISHED: [f64; 5] = [1.0, 0.75, 0.5, 0.25, 0.01];

/// Some noise, and which level it is, from 1 for the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Level {
    pub(super) number: usize,
    pub(super) noise: f64,
}

/// For clap: a probability, its ends included.
pub(super) fn parse_noise(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(noise) if (0.0..=1.0).contains(&noise) => Ok(noise),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

impl Level {
    /// Levels by their noise, the most first.
    pub(super) fn ordered(noises: &[f64]) -> Result<Vec<Self>, BadInput> {
        let mut noises = noises.to_vec();
        noises.sort_by(|a, b| b.total_cmp(a));
        if let Some(twice) = noises.windows(2).find(|two| two[0] == two[1]) {
            let problem = format!("--levels: {} stands there twice", twice[0]);
            return Err(BadInput::new(problem));
        }
        if !(2..=99).contains(&noises.len()) {
            let found = noises.len();
            return Err(BadInput::new(format!(
                "--levels: there are {found}; expected 2 to 99, to prefer one to another"
            )));
        }
        let numbered = noises.into_iter().enumerate();
        Ok(numbered
            .map(|(index, noise)| Self {
                number: index + 1,
                noise,
            })
            .collect())
    }

    /// The id of one of its episodes, from 0.
    pub(super) fn id(&self, episode: usize) -> String {
        format!("level-{:02}-{:03}", self.number, episode + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noisiest_is_the_first() {
        let levels = Level::ordered(&[0.01, 1.0, 0.5]).unwrap();
        let noises: Vec<f64> = levels.iter().map(|level| level.noise).collect();
        assert_eq!(noises, [1.0, 0.5, 0.01]);
        assert_eq!(levels[2].id(11), "level-03-012");
        assert!(Level::ordered(&[0.5]).is_err());
        assert!(Level::ordered(&[0.5, 0.1, 0.5]).is_err());
        for wrong in ["", "-0.1", "1.01", "NaN", "x"] {
            assert!(parse_noise(wrong).is_err(), "{wrong}");
        }
    }
}
