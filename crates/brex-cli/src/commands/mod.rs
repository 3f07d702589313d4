//! The commands, one file each: arguments, what they call, and what they print. No algorithm lives
//! here.

pub(crate) mod baseline;
pub(crate) mod check;
mod cloning;
pub(crate) mod coverage;
pub(crate) mod curves;
pub(crate) mod demos;
pub(crate) mod doctor;
pub(crate) mod drex;
pub(crate) mod envs;
pub(crate) mod evaluate;
mod evaluation_json;
mod evaluation_report;
pub(crate) mod export;
pub(crate) mod features;
mod findings;
pub(crate) mod improve;
mod kept_steps;
pub(crate) mod merge;
pub(crate) mod pretrain;
pub(crate) mod quickstart;
pub(crate) mod render;
pub(crate) mod reproduce;
pub(crate) mod rollout;
pub(crate) mod run_evaluation;
pub(crate) mod sample;
mod sampling_report;
mod steps;
pub(crate) mod train;
