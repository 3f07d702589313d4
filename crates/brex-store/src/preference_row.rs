//! One comparison as it stands in a file, before it is known which trajectories it names.
//!
//! Three forms are understood, in CSV and JSONL alike; names of fields in any case:
//! - `worse,better`;
//! - `chosen,rejected`, as in data for language models;
//! - `a,b,label`, with label `a`, `b`, `tie` or `skip`, or the probability that b is better.
//!
//! `weight` is optional in all three, and other fields are ignored.

use std::path::Path;

use crate::StoreError;
use crate::error::excerpt;

/// The fields of a form, in the order first trajectory, second trajectory (the better one).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    WorseBetter,
    RejectedChosen,
    Labelled,
}

impl Form {
    /// The form that these fields make, if exactly one does.
    pub(crate) fn of(has: impl Fn(&str) -> bool) -> Option<Self> {
        let labelled = has("a") && has("b") && has("label");
        let found = [
            (has("worse") && has("better"), Self::WorseBetter),
            (has("rejected") && has("chosen"), Self::RejectedChosen),
            (labelled, Self::Labelled),
        ];
        let mut forms = found.iter().filter(|(complete, _)| *complete);
        match (forms.next(), forms.next()) {
            (Some((_, form)), None) => Some(*form),
            _ => None,
        }
    }

    /// The fields that name the two trajectories.
    pub(crate) fn sides(self) -> [&'static str; 2] {
        match self {
            Self::WorseBetter => ["worse", "better"],
            Self::RejectedChosen => ["rejected", "chosen"],
            Self::Labelled => ["a", "b"],
        }
    }
}

/// One comparison with its line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) line: u64,
    pub(crate) form: Form,
    /// What the file calls the two trajectories.
    pub(crate) sides: [String; 2],
    /// The probability that the second is better; nothing for `skip`.
    pub(crate) label: Option<f64>,
    pub(crate) weight: f64,
}

/// Where a field stands, for error messages.
pub(crate) struct Place<'a> {
    pub(crate) path: &'a Path,
    pub(crate) line: u64,
}

impl Place<'_> {
    pub(crate) fn field(&self, field: &str, expected: &'static str, found: &str) -> StoreError {
        StoreError::Field {
            path: self.path.to_owned(),
            line: self.line,
            field: field.to_owned(),
            expected,
            found: excerpt(found),
        }
    }

    /// The label: the probability that b is better, or nothing for `skip`.
    pub(crate) fn label(&self, text: &str) -> Result<Option<f64>, StoreError> {
        match text.to_lowercase().as_str() {
            "a" => return Ok(Some(0.0)),
            "b" => return Ok(Some(1.0)),
            "tie" => return Ok(Some(0.5)),
            "skip" => return Ok(None),
            _ => {}
        }
        text.parse()
            .ok()
            .filter(|label| (0.0..=1.0).contains(label))
            .map(Some)
            .ok_or_else(|| {
                self.field(
                    "label",
                    "a, b, tie, skip or the probability from 0 to 1 that b is better",
                    text,
                )
            })
    }

    /// The weight: a finite number that is not negative.
    pub(crate) fn weight(&self, text: &str) -> Result<f64, StoreError> {
        text.parse()
            .ok()
            .filter(|weight: &f64| weight.is_finite() && *weight >= 0.0)
            .ok_or_else(|| self.field("weight", "a finite number of at least 0", text))
    }

    /// The name of a trajectory: anything but nothing.
    pub(crate) fn side(&self, field: &str, text: &str) -> Result<String, StoreError> {
        if text.is_empty() {
            return Err(self.field(field, "a row number or an id", text));
        }
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_their_fields() {
        let form = |fields: &[&str]| Form::of(|name| fields.contains(&name));
        assert_eq!(form(&["worse", "better", "x"]), Some(Form::WorseBetter));
        assert_eq!(form(&["chosen", "rejected"]), Some(Form::RejectedChosen));
        assert_eq!(form(&["a", "b", "label"]), Some(Form::Labelled));
        assert_eq!(form(&["a", "b"]), None);
        assert_eq!(form(&["a", "b", "label", "worse", "better"]), None);
    }

    #[test]
    fn labels_and_weights() {
        let place = Place {
            path: Path::new("x"),
            line: 3,
        };
        assert_eq!(place.label("A").unwrap(), Some(0.0));
        assert_eq!(place.label("b").unwrap(), Some(1.0));
        assert_eq!(place.label("Tie").unwrap(), Some(0.5));
        assert_eq!(place.label("skip").unwrap(), None);
        assert_eq!(place.label("0.25").unwrap(), Some(0.25));
        for bad in ["", "c", "1.5", "-0.1", "nan", "2"] {
            assert!(place.label(bad).is_err(), "{bad}");
        }
        assert_eq!(place.weight("0").unwrap(), 0.0);
        for bad in ["", "-1", "inf", "nan", "x"] {
            assert!(place.weight(bad).is_err(), "{bad}");
        }
    }
}
