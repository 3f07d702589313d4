//! What the binary formats have in common: named arrays of numbers or text, and the table of
//! features that is put together from them.

use std::path::Path;

use brex_core::{FeatureTable, Matrix};

use crate::StoreError;

/// The values of an array, row-major.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    /// Numbers of any kind, widened to `f64`.
    Numbers(Vec<f64>),
    /// Text, as ids come.
    Text(Vec<String>),
}

/// An array as it stood in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Values,
}

impl Array {
    /// The numbers and the shape; text is refused.
    fn into_numbers(self, path: &Path) -> Result<(Vec<f64>, Vec<usize>, String), StoreError> {
        match self.values {
            Values::Numbers(numbers) => Ok((numbers, self.shape, self.name)),
            Values::Text(_) => Err(StoreError::Missing {
                path: path.to_owned(),
                problem: format!("{}: expected numbers, found text", self.name),
            }),
        }
    }

    /// A matrix, if there are two dimensions.
    pub(crate) fn into_matrix(self, path: &Path) -> Result<Matrix, StoreError> {
        let (numbers, shape, name) = self.into_numbers(path)?;
        if let [rows, cols] = shape[..]
            && let Ok(matrix) = Matrix::new(rows, cols, numbers)
        {
            return Ok(matrix);
        }
        Err(shape_error(
            path,
            name,
            "two dimensions (row, column)",
            shape,
        ))
    }

    /// A list of numbers, if there is one dimension.
    pub(crate) fn into_vector(self, path: &Path) -> Result<Vec<f64>, StoreError> {
        let (numbers, shape, name) = self.into_numbers(path)?;
        if shape.len() == 1 {
            return Ok(numbers);
        }
        Err(shape_error(path, name, "one dimension", shape))
    }

    /// Numbers of three dimensions (chain, draw, value) or two (draw, value: a single chain).
    pub(crate) fn into_chains(
        self,
        path: &Path,
    ) -> Result<(usize, usize, usize, Vec<f64>), StoreError> {
        let (numbers, shape, name) = self.into_numbers(path)?;
        match shape[..] {
            [chains, draws, dim] => Ok((chains, draws, dim, numbers)),
            [draws, dim] => Ok((1, draws, dim, numbers)),
            _ => Err(shape_error(
                path,
                name,
                "two dimensions (draw, feature) or three (chain, draw, feature)",
                shape,
            )),
        }
    }

    /// One name per entry of a one-dimensional array; whole numbers are names too.
    pub(crate) fn into_ids(self, path: &Path) -> Result<Vec<String>, StoreError> {
        if self.shape.len() != 1 {
            return Err(shape_error(path, self.name, "one dimension", self.shape));
        }
        match self.values {
            Values::Text(text) => Ok(text),
            Values::Numbers(numbers) => Ok(numbers.iter().map(f64::to_string).collect()),
        }
    }
}

fn shape_error(
    path: &Path,
    array: String,
    expected: &'static str,
    found: Vec<usize>,
) -> StoreError {
    StoreError::Shape {
        path: path.to_owned(),
        array,
        expected,
        found,
    }
}

/// A matrix with the ids and lengths that came along, before it is checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) matrix: Matrix,
    pub(crate) ids: Option<Vec<String>>,
    pub(crate) lengths: Option<Vec<f64>>,
}

impl Table {
    /// Checks everything that a table of features must keep to.
    pub(crate) fn into_features(self, path: &Path) -> Result<FeatureTable, StoreError> {
        let refuse = |source| StoreError::Features {
            path: path.to_owned(),
            source,
        };
        let mut features = FeatureTable::new(self.matrix).map_err(refuse)?;
        if let Some(ids) = self.ids {
            features = features.with_ids(ids).map_err(refuse)?;
        }
        if let Some(lengths) = self.lengths {
            features = features.with_lengths(lengths).map_err(refuse)?;
        }
        Ok(features)
    }
}

impl From<Matrix> for Table {
    fn from(matrix: Matrix) -> Self {
        Self {
            matrix,
            ids: None,
            lengths: None,
        }
    }
}

/// Which of several arrays holds the features: the one called `features`, else the only one with
/// two dimensions. `arrays` lists name and number of dimensions.
pub(crate) fn choose_features<'a>(
    path: &Path,
    arrays: &'a [(String, usize)],
) -> Result<&'a str, StoreError> {
    if let Some((name, _)) = arrays.iter().find(|(name, _)| name == "features") {
        return Ok(name);
    }
    let flat: Vec<&str> = arrays
        .iter()
        .filter(|(_, dimensions)| *dimensions == 2)
        .map(|(name, _)| name.as_str())
        .collect();
    if let [name] = flat[..] {
        return Ok(name);
    }
    let names: Vec<&str> = arrays
        .iter()
        .map(|(name, _)| name.as_str())
        .take(8)
        .collect();
    Err(StoreError::Missing {
        path: path.to_owned(),
        problem: format!(
            "no array is called `features` and {} have two dimensions; found {}",
            flat.len(),
            if names.is_empty() {
                "no arrays".to_owned()
            } else {
                names.join(", ")
            }
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_are_found_by_name_or_by_being_alone() {
        let path = Path::new("x");
        let list = |items: &[(&str, usize)]| -> Vec<(String, usize)> {
            items.iter().map(|(n, d)| ((*n).to_owned(), *d)).collect()
        };
        let named = list(&[("other", 2), ("features", 2)]);
        assert_eq!(choose_features(path, &named).unwrap(), "features");
        let alone = list(&[("phi", 2), ("lengths", 1)]);
        assert_eq!(choose_features(path, &alone).unwrap(), "phi");
        assert!(choose_features(path, &list(&[("a", 2), ("b", 2)])).is_err());
        assert!(choose_features(path, &[]).is_err());
    }
}
