//! How the command ends: 0 done, 1 failed, 2 wrong usage or bad input, 3 done but not to be
//! trusted.
//!
//! Commands return `anyhow` errors. What the user can put right carries a [`BadInput`], or is one
//! of the library errors that speak about input, anywhere in its chain.

use brex_posterior::SampleError;
use std::process::ExitCode;

/// Something that the user gave is not usable: the message says what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadInput(String);

impl BadInput {
    /// Wraps a message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// How a command that ran to its end turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The answer can be used.
    Done,
    /// There is an answer, but it is not to be trusted; the reason has been printed.
    NotTrusted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::NotTrusted => Self::from(3),
        }
    }
}

/// The exit code of an error.
pub(crate) fn code_of(error: &anyhow::Error) -> ExitCode {
    if error.chain().any(is_bad_input) {
        ExitCode::from(2)
    } else {
        ExitCode::FAILURE
    }
}

fn is_bad_input(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.is::<BadInput>()
        || cause.is::<brex_core::FeatureError>()
        || cause.is::<brex_core::PreferenceError>()
        || cause.is::<brex_core::PolicyError>()
        || cause.is::<brex_core::ShapeError>()
        || cause.is::<brex_posterior::ProblemError>()
        || cause.is::<brex_posterior::EvaluateError>()
        || cause.is::<brex_store::StoreError>()
        || cause.downcast_ref().is_some_and(is_bad_setting)
}

/// Samplers fail for reasons of their own too; only these are the user's to put right.
fn is_bad_setting(error: &SampleError) -> bool {
    matches!(error, SampleError::Setting { .. } | SampleError::State(_))
}

/// The error with its causes on one line, without saying twice what an error says of its cause.
pub(crate) fn message_of(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// Whether an error is only that nobody reads the output any more (`brex ... | head`).
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_are_named_once() {
        let source = std::io::Error::other("no luck");
        let path = "f".into();
        let store = brex_store::StoreError::Read { path, source };
        let error = anyhow::Error::from(store).context("reading");
        assert_eq!(message_of(&error), "reading: f: cannot read: no luck");
    }

    #[test]
    fn what_the_user_can_put_right_has_code_2() {
        let code = |error: anyhow::Error| format!("{:?}", code_of(&error));
        let two = format!("{:?}", ExitCode::from(2));
        assert_eq!(code(BadInput::new("x").into()), two);
        let inner: Result<(), BadInput> = Err(BadInput::new("x"));
        assert_eq!(code(inner.context("y").unwrap_err()), two);
        assert_eq!(code(SampleError::State("s".into()).into()), two);
        assert_ne!(code(SampleError::Stopped.into()), two);
        assert_ne!(code(anyhow::anyhow!("bug")), two);
    }
}
