//! Feature sums of a run: of its recorded episodes, and of rollouts of policies.
//!
//! The file is one that [`crate::read_features`] reads: what it holds about the episodes are the
//! features that a posterior is drawn from.

use std::collections::HashMap;
use std::path::Path;

use brex_core::Matrix;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::atomic::write_atomic;
use crate::read::read_bytes;
use crate::tensors::{malformed, open, read_metadata};

const KIND: &str = "features 1";

/// Feature sums of several episodes, one row each, with their lengths and true scores.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeSums {
    /// The sums.
    pub features: Matrix,
    /// The same by an encoder that has learned nothing, if it was tried.
    pub untrained: Option<Matrix>,
    /// Steps of each episode.
    pub lengths: Vec<f64>,
    /// The true score of each episode.
    pub scores: Vec<f64>,
    /// The share of each episode's steps with the action that is taken most often in it. Files of earlier
    /// versions do not have it.
    pub repetition: Option<Vec<f64>>,
}

/// What a run knows of its episodes and policies.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFeatures {
    /// The environment.
    pub environment: String,
    /// Its version.
    pub version: u32,
    /// What tells the encoder from others.
    pub encoder: String,
    /// Features were divided by this number.
    pub scale: f64,
    /// Those of the untrained encoder were divided by this one.
    pub untrained_scale: f64,
    /// Before that, this was taken off them at every frame; empty if nothing was.
    pub untrained_centre: Vec<f64>,
    /// The ids of the recorded episodes.
    pub ids: Vec<String>,
    /// The recorded episodes.
    pub episodes: EpisodeSums,
    /// Policies with their rollouts.
    pub policies: Vec<RunPolicy>,
}

/// A policy of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPolicy {
    /// Its name.
    pub name: String,
    /// What tells its rollouts from others.
    pub played: String,
    /// Its rollouts.
    pub sums: EpisodeSums,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    kind: String,
    environment: String,
    version: u32,
    encoder: String,
    scale: f64,
    untrained_scale: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    untrained_centre: Vec<f64>,
    ids: Vec<String>,
    policies: Vec<PolicyHeader>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyHeader {
    name: String,
    played: String,
}

/// Writes feature sums to a `.safetensors` file. An existing file is an error unless `force` is
/// given.
pub fn write_run_features(
    path: impl AsRef<Path>,
    run: &RunFeatures,
    force: bool,
) -> Result<(), StoreError> {
    let path = path.as_ref();
    let mut arrays: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let mut add = |name: String, shape: Vec<usize>, values: &[f64]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        arrays.push((name, shape, bytes.collect()));
    };
    let mut add_sums = |after: &str, sums: &EpisodeSums| {
        let matrices = [
            ("features", Some(&sums.features)),
            ("untrained", sums.untrained.as_ref()),
        ];
        for (name, matrix) in matrices {
            if let Some(matrix) = matrix {
                let shape = vec![matrix.rows(), matrix.cols()];
                add(format!("{name}{after}"), shape, matrix.as_slice());
            }
        }
        let vectors = [
            ("lengths", Some(&sums.lengths)),
            ("scores", Some(&sums.scores)),
            ("repetition", sums.repetition.as_ref()),
        ];
        for (name, values) in vectors {
            if let Some(values) = values {
                add(format!("{name}{after}"), vec![values.len()], values);
            }
        }
    };
    add_sums("", &run.episodes);
    for (index, policy) in run.policies.iter().enumerate() {
        add_sums(&format!(".{index}"), &policy.sums);
    }
    let policies = run.policies.iter().map(|policy| PolicyHeader {
        name: policy.name.clone(),
        played: policy.played.clone(),
    });
    let header = Header {
        kind: KIND.to_owned(),
        environment: run.environment.clone(),
        version: run.version,
        encoder: run.encoder.clone(),
        scale: run.scale,
        untrained_scale: run.untrained_scale,
        untrained_centre: run.untrained_centre.clone(),
        ids: run.ids.clone(),
        policies: policies.collect(),
    };
    let header = serde_json::to_string(&header).map_err(|e| malformed(path, e.to_string()))?;
    let mut views = Vec::new();
    for (name, shape, bytes) in &arrays {
        let view = TensorView::new(Dtype::F64, shape.clone(), bytes);
        views.push((
            name.as_str(),
            view.map_err(|e| malformed(path, e.to_string()))?,
        ));
    }
    let metadata = HashMap::from([("brex".to_owned(), header)]);
    let bytes = safetensors::serialize(views, Some(metadata));
    let bytes = bytes.map_err(|error| malformed(path, error.to_string()))?;
    write_atomic(path, force, |writer| writer.write_all(&bytes))
}

/// Reads what [`write_run_features`] wrote.
pub fn read_run_features(path: impl AsRef<Path>) -> Result<RunFeatures, StoreError> {
    let path = path.as_ref();
    run_features_from_bytes(path, &read_bytes(path)?)
}

/// Reads feature sums from bytes, as [`read_run_features`] does from a file. For fuzzing.
#[doc(hidden)]
pub fn run_features_from_bytes(path: &Path, bytes: &[u8]) -> Result<RunFeatures, StoreError> {
    let file = open(path, bytes)?;
    let foreign = || malformed(path, "not feature sums that brex features wrote".to_owned());
    let header = read_metadata(path, bytes, "brex")?.ok_or_else(foreign)?;
    let kind: serde_json::Value = serde_json::from_str(&header).map_err(|_| foreign())?;
    if kind.get("kind").and_then(|kind| kind.as_str()) != Some(KIND) {
        return Err(foreign());
    }
    let header: Header = serde_json::from_str(&header)
        .map_err(|error| malformed(path, format!("metadata `brex`: {error}")))?;
    for scale in [header.scale, header.untrained_scale] {
        if !(scale.is_finite() && scale > 0.0) {
            return Err(malformed(path, format!("a scale is {scale}")));
        }
    }
    let reader = Reader { path, file: &file };
    let episodes = reader.sums("")?;
    let features = episodes.features.cols();
    if episodes.features.rows() != header.ids.len() {
        let (rows, ids) = (episodes.features.rows(), header.ids.len());
        return Err(malformed(path, format!("{rows} episodes, but {ids} ids")));
    }
    let mut policies = Vec::new();
    for (index, PolicyHeader { name, played }) in header.policies.into_iter().enumerate() {
        let sums = reader.sums(&format!(".{index}"))?;
        if sums.features.cols() != features {
            let found = sums.features.cols();
            let problem = format!("policy {name:?} has {found} features, episodes {features}");
            return Err(malformed(path, problem));
        }
        policies.push(RunPolicy { name, played, sums });
    }
    Ok(RunFeatures {
        environment: header.environment,
        version: header.version,
        encoder: header.encoder,
        scale: header.scale,
        untrained_scale: header.untrained_scale,
        untrained_centre: header.untrained_centre,
        ids: header.ids,
        episodes,
        policies,
    })
}

/// Dimensions and numbers.
type Shaped = (Vec<usize>, Vec<f64>);

struct Reader<'a> {
    path: &'a Path,
    file: &'a SafeTensors<'a>,
}

impl Reader<'_> {
    fn array(&self, name: &str) -> Result<Option<Shaped>, StoreError> {
        let Ok(view) = self.file.tensor(name) else {
            return Ok(None);
        };
        let wrong = |problem: String| malformed(self.path, format!("array `{name}`: {problem}"));
        if view.dtype() != Dtype::F64 {
            let found = view.dtype();
            return Err(wrong(format!("holds {found:?}; expected F64")));
        }
        let (chunks, _) = view.data().as_chunks::<8>();
        let values: Vec<f64> = chunks.iter().map(|b| f64::from_le_bytes(*b)).collect();
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(wrong(format!("number {at} is {}", values[at]))),
            None => Ok(Some((view.shape().to_vec(), values))),
        }
    }

    fn matrix(&self, name: &str) -> Result<Option<Matrix>, StoreError> {
        let wrong = |problem: &str| malformed(self.path, format!("array `{name}`: {problem}"));
        let Some((shape, values)) = self.array(name)? else {
            return Ok(None);
        };
        let &[rows, cols] = shape.as_slice() else {
            return Err(wrong("is not a matrix"));
        };
        if rows == 0 || cols == 0 {
            return Err(wrong("is empty"));
        }
        let matrix = Matrix::new(rows, cols, values);
        Ok(Some(matrix.map_err(|error| wrong(&error.to_string()))?))
    }

    fn sums(&self, after: &str) -> Result<EpisodeSums, StoreError> {
        let name = |name: &str| format!("{name}{after}");
        let missing =
            |name: &str| malformed(self.path, format!("array `{name}{after}` is missing"));
        let features = self.matrix(&name("features"))?;
        let features = features.ok_or_else(|| missing("features"))?;
        let untrained = self.matrix(&name("untrained"))?;
        let rows = features.rows();
        if let Some(other) = untrained.as_ref().map(Matrix::rows)
            && other != rows
        {
            let problem = format!("array `untrained{after}` has {other} rows; expected {rows}");
            return Err(malformed(self.path, problem));
        }
        let known = |which: &str| match self.array(&name(which))? {
            Some((_, values)) if values.len() != rows => {
                let found = values.len();
                let problem =
                    format!("array `{which}{after}` has {found} numbers; expected {rows}");
                Err(malformed(self.path, problem))
            }
            found => Ok(found.map(|(_, values)| values)),
        };
        let vector = |which: &str| known(which)?.ok_or_else(|| missing(which));
        let lengths = vector("lengths")?;
        if let Some(wrong) = lengths.iter().find(|length| **length < 1.0) {
            let problem = format!("array `lengths{after}`: a length is {wrong}");
            return Err(malformed(self.path, problem));
        }
        let repetition = known("repetition")?;
        let shares = repetition.iter().flatten();
        if let Some(wrong) = shares.copied().find(|share| !(0.0..=1.0).contains(share)) {
            let problem = format!("array `repetition{after}`: a share is {wrong}");
            return Err(malformed(self.path, problem));
        }
        Ok(EpisodeSums {
            features,
            untrained,
            scores: vector("scores")?,
            lengths,
            repetition,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_features;

    fn sums(rows: usize, untrained: bool) -> EpisodeSums {
        let matrix = |by: f64| Matrix::from_fn(rows, 3, |r, c| by * (r * 3 + c) as f64);
        EpisodeSums {
            features: matrix(0.5),
            untrained: untrained.then(|| matrix(2.0)),
            lengths: (1..=rows).map(|n| n as f64).collect(),
            scores: (0..rows).map(|n| n as f64 * 10.0).collect(),
            repetition: untrained.then(|| vec![0.75; rows]),
        }
    }

    fn policy(name: &str, sums: EpisodeSums) -> RunPolicy {
        RunPolicy {
            name: name.to_owned(),
            played: format!("{name} played"),
            sums,
        }
    }

    fn run() -> RunFeatures {
        RunFeatures {
            environment: "pocket:breakout".to_owned(),
            version: 1,
            encoder: "0123".to_owned(),
            scale: 2.5,
            untrained_scale: 0.5,
            untrained_centre: vec![0.25, -1.0, 3.0],
            ids: vec!["x".to_owned(), "y".to_owned()],
            episodes: sums(2, true),
            policies: vec![policy("A", sums(3, true)), policy("b.c/d", sums(1, false))],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("features.safetensors");
        write_run_features(&path, &run(), false).unwrap();
        assert_eq!(read_run_features(&path).unwrap(), run());
        assert!(write_run_features(&path, &run(), false).is_err());
        let first = std::fs::read(&path).unwrap();
        write_run_features(&path, &run(), true).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
        // A posterior can be drawn from the same file.
        let table = read_features(&path).unwrap();
        assert_eq!(table.matrix(), &run().episodes.features);
        assert_eq!(table.ids(), Some(&run().ids[..]));
        assert_eq!(table.lengths(), Some(&[1.0, 2.0][..]));
    }

    #[test]
    fn damage_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("features.safetensors");
        write_run_features(&path, &run(), false).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for end in (0..whole.len()).step_by(7) {
            assert!(run_features_from_bytes(&path, &whole[..end]).is_err());
        }
        let other = safetensors::serialize(Vec::<(&str, TensorView<'_>)>::new(), None).unwrap();
        let error = run_features_from_bytes(&path, &other).unwrap_err();
        assert!(error.to_string().contains("brex features"));
    }

    #[test]
    fn numbers_that_do_not_fit_are_named() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("features.safetensors");
        let refused = |change: fn(&mut RunFeatures), named: &str| {
            let mut run = run();
            change(&mut run);
            write_run_features(&path, &run, true).unwrap();
            let error = read_run_features(&path).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        };
        refused(|run| run.scale = -1.0, "scale");
        refused(|run| run.untrained_scale = 0.0, "scale");
        refused(|run| run.ids.truncate(1), "ids");
        refused(|run| run.policies[0].sums.scores.truncate(2), "scores.0");
        refused(|run| run.policies[1].sums.lengths[0] = 0.0, "lengths.1");
        refused(|run| run.episodes.scores[1] = f64::NAN, "scores");
        refused(
            |run| run.episodes.repetition = Some(vec![0.5]),
            "repetition",
        );
        refused(
            |run| run.policies[0].sums.repetition = Some(vec![0.5, 1.5, 0.0]),
            "repetition.0",
        );
        refused(
            |run| run.policies[0].sums.features = Matrix::zeros(3, 2),
            "\"A\"",
        );
    }
}
